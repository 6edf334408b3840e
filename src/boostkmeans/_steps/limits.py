"""Limits on the sizes of clusters."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._data.weights import RowWeights

# Relative tolerance: sums of weights are rounded.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Limits:
    """The minimum and maximum weight of a cluster, in the units of the core."""

    min_weight: float = 0.0
    max_weight: float = math.inf

    @classmethod
    def from_sizes(
        cls, min_size: float | None, max_size: float | None, weights: RowWeights, n_clusters: int
    ) -> "Limits | None":
        """Check the user's limits against the rows. Return None without limits."""
        least, most = min_size or 0.0, math.inf if max_size is None else max_size
        if least == 0 and most == math.inf:
            return None
        if least > most:
            raise ValueError(f"min_size={min_size} should be <= max_size={max_size}.")
        total = weights.total
        plain = weights.values is None and weights.unit == 1
        unit = "n_samples" if plain else "the sum of the weights"
        if n_clusters * most < total * (1 - ROUNDING):
            raise ValueError(
                f"n_clusters * max_size = {n_clusters * most:g} should be >= {unit} = {total:g}: "
                "the clusters cannot hold all rows."
            )
        if n_clusters * least > total * (1 + ROUNDING):
            raise ValueError(
                f"n_clusters * min_size = {n_clusters * least:g} should be <= {unit} = {total:g}: "
                "there are too few rows."
            )
        limits = cls(least / weights.unit, most / weights.unit)
        limits._check_rows(weights, n_clusters)
        return limits

    def _check_rows(self, weights: RowWeights, n_clusters: int) -> None:
        """Check that whole rows can satisfy the limits."""
        if weights.values is None:
            n = weights.n_positive
            most = math.floor(min(self.max_weight, n) * (1 + ROUNDING))
            least = math.ceil(self.min_weight * (1 - ROUNDING))
            if n_clusters * most < n or n_clusters * least > n:
                raise ValueError(
                    f"{n} rows cannot be divided into {n_clusters} clusters within min_size and max_size."
                )
        elif weights.values.max() > self.max_weight * (1 + ROUNDING):
            raise ValueError(
                f"sample_weight has a row of weight {weights.values.max() * weights.unit:g}, which "
                f"exceeds max_size={self.max_weight * weights.unit:g}."
            )

    def at_least_min(self, weight: Floats) -> NDArray[np.bool_]:
        """Return True for weights that are not below the minimum."""
        return np.asarray(weight >= self.min_weight * (1 - ROUNDING))

    def at_most_max(self, weight: Floats) -> NDArray[np.bool_]:
        """Return True for weights that are not above the maximum."""
        return np.asarray(weight <= self.max_weight * (1 + ROUNDING))
