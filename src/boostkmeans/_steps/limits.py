"""Limits on the sizes of clusters: what they mean."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.rows import Floats
from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError

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
        """That whole rows can do it: they are not to be divided."""
        if weights.values is None:
            n = weights.n_positive
            most = math.floor(min(self.most, n) * (1 + ROUNDING))
            least = math.ceil(self.least * (1 - ROUNDING))
            if n_clusters * most < n or n_clusters * least > n:
                raise ParameterConflictError(
                    Message(
                        "{n_rows} rows cannot be divided into {n_clusters} clusters within {min_size} "
                        "and {max_size}.",
                        n_rows=n, n_clusters=n_clusters, min_size=Parameter("min_size"),
                        max_size=Parameter("max_size"),
                    )
                )  # fmt: skip
        elif weights.values.max() > self.most * (1 + ROUNDING):
            raise ParameterConflictError(
                Message(
                    "{sample_weight} has a row of weight {weight:g}, heavier than {max_size}.",
                    sample_weight=Parameter("sample_weight"),
                    weight=weights.values.max() * weights.unit,
                    max_size=Parameter("max_size", self.most * weights.unit),
                )
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


def _limit_conflict(
    name: str, bound: float, relation: str, weights: RowWeights
) -> ParameterConflictError:
    """Return the error for k clusters that cannot hold, or cannot be filled by, all rows."""
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
