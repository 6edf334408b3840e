"""Limits on the sizes of clusters."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError

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
            raise ParameterConflictError(
                Message(
                    "{min_size} should be <= {max_size}.",
                    shell="{min_size} is more than {max_size}.",
                    min_size=Parameter("min_size", min_size),
                    max_size=Parameter("max_size", max_size),
                )
            )
        total = weights.total
        if n_clusters * most < total * (1 - ROUNDING):
            raise _limit_conflict("max_size", n_clusters * most, ">=", weights)
        if n_clusters * least > total * (1 + ROUNDING):
            raise _limit_conflict("min_size", n_clusters * least, "<=", weights)
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
                raise ParameterConflictError(
                    Message(
                        "{n_rows} rows cannot be divided into {n_clusters} clusters within {min_size} "
                        "and {max_size}.",
                        n_rows=n, n_clusters=n_clusters, min_size=Parameter("min_size"),
                        max_size=Parameter("max_size"),
                    )
                )  # fmt: skip
        elif weights.values.max() > self.max_weight * (1 + ROUNDING):
            raise ParameterConflictError(
                Message(
                    "{sample_weight} contains the weight {weight:g}, which is more than {max_size}.",
                    sample_weight=Parameter("sample_weight"),
                    weight=weights.values.max() * weights.unit,
                    max_size=Parameter("max_size", self.max_weight * weights.unit),
                )
            )

    def at_least_min(self, weight: Floats) -> NDArray[np.bool_]:
        """Return a mask of the weights that are not below the minimum."""
        return np.asarray(weight >= self.min_weight * (1 - ROUNDING))

    def at_most_max(self, weight: Floats) -> NDArray[np.bool_]:
        """Return a mask of the weights that are not above the maximum."""
        return np.asarray(weight <= self.max_weight * (1 + ROUNDING))


def _limit_conflict(
    name: str, bound: float, relation: str, weights: RowWeights
) -> ParameterConflictError:
    """Return the error for a limit that k clusters cannot satisfy with these rows."""
    is_weighted = weights.values is not None or weights.unit != 1
    return ParameterConflictError(
        Message(
            "n_clusters * {limit} = {bound:g} should be {relation} {unit} = {total:g}: {problem}.",
            shell="{clusters} * {limit} = {bound:g} should be {relation} {shell_unit} = {total:g}: "
            "{problem}.",
            clusters=Parameter("n_clusters"),
            limit=Parameter(name),
            bound=bound,
            relation=relation,
            unit="the sum of the weights" if is_weighted else "n_samples",
            shell_unit="the sum of the weights" if is_weighted else "the number of rows",
            total=weights.total,
            problem="there is no room for all rows"
            if name == "max_size"
            else "there are not enough rows",
        )
    )
