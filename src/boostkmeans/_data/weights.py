"""Row weights, brought into the form that the core computes with."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans._data.rows import Floats


@dataclass(frozen=True)
class RowWeights:
    """Weights scaled by a power of two to at most 1, or none if all are equal."""

    values: Floats | None
    unit: float
    """What a weight of 1 here is to the user."""
    total: float
    """Sum of the weights, as the user gave them."""
    n_positive: int
    """Rows with a weight above 0: those that take part."""

    @classmethod
    def of(cls, sample_weight: ArrayLike | None, n_rows: int) -> "RowWeights":
        """Checks the user's weights. Equal ones count as none, times their value."""
        if sample_weight is None:
            return cls(None, 1.0, float(n_rows), n_rows)
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.ndim == 0:
            weights = np.full(n_rows, float(weights))
        _check(weights, n_rows)
        if (weights == weights[0]).all():
            return cls(None, float(weights[0]), float(weights[0]) * n_rows, n_rows)
        exponent = math.frexp(float(weights.max()))[1]
        return cls(
            np.ascontiguousarray(np.ldexp(weights, -exponent)),
            math.ldexp(1.0, exponent),
            float(weights.sum()),
            int(np.count_nonzero(weights)),
        )

    def total_of(self, values: Floats, where: slice = slice(None)) -> float:
        """Sum of a value for each of these rows, by the user's weights."""
        total = values.sum() if self.values is None else values @ self.values[where]
        return float(total) * self.unit


def _check(weights: Floats, n_rows: int) -> None:
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != n_rows:
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected ({n_rows},): one weight for each row."
        )
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity: all weights must be finite.")
    if (weights < 0).any():
        row = int((weights < 0).argmax())
        raise ValueError(
            f"Negative values in data passed to sample_weight: {weights[row]:g} at row {row}."
        )
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
