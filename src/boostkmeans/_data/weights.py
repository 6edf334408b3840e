"""Row weights in the form that the core uses."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._data.user_input import accepted_weights
from boostkmeans._runtime.errors import (
    InvalidValuesError,
    Message,
    Parameter,
    ParameterConflictError,
    ParameterError,
)

# Sums of weights must be less than this number: the unit of the weights, a power of two of at least the
# largest weight, is then a float64.
MAX_TOTAL = 2.0**1023


@dataclass(frozen=True)
class RowWeights:
    """Row weights. `values` are scaled by a power of two to at most 1, or None if all are equal."""

    values: Floats | None
    unit: float
    """Factor that converts `values` to the user's weights."""
    total: float
    """Sum of the user's weights."""
    n_positive: int
    """Number of rows of positive weight."""

    @classmethod
    def of(cls, sample_weight: ArrayLike | None, n_rows: int) -> "RowWeights":
        """Check and scale the user's weights. Equal weights are represented by `unit` alone."""
        if sample_weight is None:
            return cls(None, 1.0, float(n_rows), n_rows)
        weights = accepted_weights(sample_weight)
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
        """Return the sum of `values`, weighted with the user's weights."""
        total = values.sum() if self.values is None else values @ self.values[where]
        return float(total) * self.unit

    def totals_by(
        self, labels: NDArray[np.int32], values: Floats, n_clusters: int, where: slice = slice(None)
    ) -> Floats:
        """Return the sums of `values` by cluster, weighted with the user's weights."""
        weighted = values if self.values is None else values * self.values[where]
        totals: Floats = np.bincount(labels, weights=weighted, minlength=n_clusters).astype(np.float64)
        return totals * self.unit


def check_total(total: float) -> None:
    """Raise InvalidValuesError if the sum of all weights is too large for float64."""
    if total >= MAX_TOTAL:
        raise InvalidValuesError(
            Message(
                "The sum of sample_weight is too large for float64. Divide all weights by a large "
                "number.",
                shell="The sum of the weights of {parameter} is too large for float64. Divide all "
                "weights by a large number.",
                parameter=Parameter("sample_weight"),
            )
        )


def _check(weights: Floats, n_rows: int) -> None:
    parameter = Parameter("sample_weight")
    if weights.ndim != 1:
        raise ParameterError("sample_weight", "a scalar or a 1D array with one weight per row", weights)
    if len(weights) != n_rows:
        raise ParameterConflictError(
            Message(
                "sample_weight.shape == ({n_weights},), expected ({n_rows},): one weight per row.",
                shell="{parameter} has {n_weights} values for {n_rows} rows: one weight per row is "
                "needed.",
                n_weights=len(weights), n_rows=n_rows, parameter=parameter,
            )
        )  # fmt: skip
    if not np.isfinite(weights).all():
        raise InvalidValuesError(
            Message(
                "Input sample_weight contains NaN or infinity: all weights must be finite.",
                shell="{parameter} contains NaN or infinity: all weights must be finite.",
                parameter=parameter,
            )
        )
    if (weights < 0).any():
        row = int((weights < 0).argmax())
        raise InvalidValuesError(
            Message(
                "Negative values in data passed to sample_weight: {weight:g} at row {row}.",
                shell="Negative weights in {parameter}: {weight:g} at row {row}.",
                weight=weights[row], row=row, parameter=parameter,
            )
        )  # fmt: skip
    with np.errstate(over="ignore"):
        check_total(float(weights.sum()))
    if not weights.any():
        raise InvalidValuesError(
            Message(
                "Sample weights must contain at least one non-zero number.",
                shell="All weights of {parameter} are 0: at least one must be positive.",
                parameter=parameter,
            )
        )
