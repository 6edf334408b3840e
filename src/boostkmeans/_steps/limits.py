"""Limits on the sizes of clusters: what they mean."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.rows import Floats
from boostkmeans._data.weights import RowWeights

# Sums of weights are rounded, limits are not meant to be.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Limits:
    """The weight that each cluster has at least and at most, by the weights of the core."""

    least: float = 0.0
    most: float = math.inf

    @classmethod
    def of(
        cls, min_size: float | None, max_size: float | None, weights: RowWeights, n_clusters: int
    ) -> "Limits":
        """Checks the user's limits against the rows."""
        least, most = min_size or 0.0, math.inf if max_size is None else max_size
        if least > most:
            raise ValueError(f"min_size={min_size} should be <= max_size={max_size}.")
        total = weights.total
        plain = weights.values is None and weights.unit == 1
        unit = "n_samples" if plain else "the sum of the weights"
        if n_clusters * most < total * (1 - ROUNDING):
            raise ValueError(
                f"n_clusters * max_size = {n_clusters * most:g} should be >= {unit} = {total:g}: "
                "there is no room for all rows."
            )
        if n_clusters * least > total * (1 + ROUNDING):
            raise ValueError(
                f"n_clusters * min_size = {n_clusters * least:g} should be <= {unit} = {total:g}: "
                "there are not enough rows."
            )
        limits = cls(least / weights.unit, most / weights.unit)
        limits._check_rows(weights, n_clusters)
        return limits

    def _check_rows(self, weights: RowWeights, n_clusters: int) -> None:
        """That whole rows can do it: they are not to be divided."""
        if weights.values is None:
            n = weights.n_positive
            most = math.floor(min(self.most, n) * (1 + ROUNDING))
            least = math.ceil(self.least * (1 - ROUNDING))
            if n_clusters * most < n or n_clusters * least > n:
                raise ValueError(
                    f"{n} rows cannot be put into {n_clusters} clusters with min_size and max_size "
                    "as they are: rows are not to be divided."
                )
        elif weights.values.max() > self.most * (1 + ROUNDING):
            raise ValueError(
                f"sample_weight has a row of {weights.values.max() * weights.unit:g}, heavier than "
                f"max_size={self.most * weights.unit:g}."
            )

    def __bool__(self) -> bool:
        return bool(self.least > 0 or self.most < math.inf)

    def enough(self, weight: Floats) -> NDArray[np.bool_]:
        """Whether clusters have no less than that."""
        return np.asarray(weight >= self.least * (1 - ROUNDING))

    def not_too_much(self, weight: Floats) -> NDArray[np.bool_]:
        """Whether clusters have no more than that."""
        return np.asarray(weight <= self.most * (1 + ROUNDING))


NO_LIMITS = Limits()
