"""Limits on the sizes of clusters."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._data.user_input import accepted_parameter
from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError

Sizes = float | ArrayLike | None
"""A limit of all clusters, or one limit per cluster; None for no limit."""

# Relative tolerance: sums of weights are rounded.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Limits:
    """The minimum and maximum weight of each cluster, in the units of the core."""

    min_weights: Floats
    max_weights: Floats
    is_numbered: bool = False
    """True if the user knows which cluster has which number, because the start was given. Otherwise,
    clusters may be numbered such that large clusters have large limits."""

    @classmethod
    def of_all(cls, n_clusters: int, least: float = 0.0, most: float = math.inf) -> "Limits":
        """Return the same limits for all clusters."""
        return cls(np.full(n_clusters, least), np.full(n_clusters, most))

    @classmethod
    def from_sizes(
        cls,
        min_size: Sizes,
        max_size: Sizes,
        weights: RowWeights,
        n_clusters: int,
        *,
        is_numbered: bool = False,
    ) -> "Limits | None":
        """Check the user's limits against the rows. Return None without limits."""
        least = _per_cluster("min_size", min_size, n_clusters, 0.0)
        most = _per_cluster("max_size", max_size, n_clusters, math.inf)
        if (least == 0).all() and (most == math.inf).all():
            return None
        _check_order(least, most, min_size, max_size)
        total = weights.total
        if most.sum() < total * (1 - ROUNDING):
            raise _limit_conflict("max_size", max_size, most.sum(), ">=", weights)
        if least.sum() > total * (1 + ROUNDING):
            raise _limit_conflict("min_size", min_size, least.sum(), "<=", weights)
        limits = cls(least / weights.unit, most / weights.unit, is_numbered)
        limits._check_rows(weights)
        return limits

    def _check_rows(self, weights: RowWeights) -> None:
        """Check that whole rows can satisfy the limits."""
        if weights.values is None:
            n = weights.n_positive
            most = np.floor(np.minimum(self.max_weights, n) * (1 + ROUNDING))
            least = np.ceil(self.min_weights * (1 - ROUNDING))
            if most.sum() < n or least.sum() > n or (least > most).any():
                raise ParameterConflictError(
                    Message(
                        "{n_rows} rows cannot be divided into {n_clusters} clusters within {min_size} "
                        "and {max_size}.",
                        n_rows=n, n_clusters=len(most), min_size=Parameter("min_size"),
                        max_size=Parameter("max_size"),
                    )
                )  # fmt: skip
        elif weights.values.max() > self.max_weights.max() * (1 + ROUNDING):
            raise ParameterConflictError(
                Message(
                    "{sample_weight} contains the weight {weight:g}, which is more than {max_size}.",
                    sample_weight=Parameter("sample_weight"),
                    weight=weights.values.max() * weights.unit,
                    max_size=Parameter("max_size", float(self.max_weights.max()) * weights.unit),
                )
            )

    def for_count(self, n_clusters: int) -> "Limits":
        """Return the same limits for another number of clusters."""
        assert not self.differ, "the number of clusters with limits of their own does not change"
        return Limits.of_all(n_clusters, float(self.min_weights[0]), float(self.max_weights[0]))

    @property
    def differ(self) -> bool:
        """True if not all clusters have the same limits."""
        least, most = self.min_weights, self.max_weights
        return bool((least != least[0]).any() or (most != most[0]).any())

    def at_least_min(self, weight: Floats, clusters: Any = slice(None)) -> NDArray[np.bool_]:
        """Return a mask of the weights of clusters that are not below the minimum."""
        return np.asarray(weight >= self.min_weights[clusters] * (1 - ROUNDING))

    def at_most_max(self, weight: Floats, clusters: Any = slice(None)) -> NDArray[np.bool_]:
        """Return a mask of the weights of clusters that are not above the maximum."""
        return np.asarray(weight <= self.max_weights[clusters] * (1 + ROUNDING))

    def allow(self, weight: Floats, clusters: Any = slice(None)) -> NDArray[np.bool_]:
        """Return a mask of the weights of clusters that are within the limits."""
        return self.at_least_min(weight, clusters) & self.at_most_max(weight, clusters)

    def numbering(self, weights: Floats) -> NDArray[np.int32] | None:
        """Return new numbers of clusters of these weights: the heaviest gets the largest limits.

        Return None if clusters keep their numbers.
        """
        if self.is_numbered or not self.differ or self.allow(weights).all():
            return None
        numbers = np.empty(len(weights), dtype=np.int32)
        by_limit = np.lexsort((self.min_weights, self.max_weights))
        numbers[np.argsort(weights, kind="stable")] = by_limit
        return numbers

    def targets(self, total: float) -> Floats:
        """Return weights within the limits that add up to `total`, evenly between the limits."""
        least, most = self.min_weights, self.max_weights
        surplus = max(0.0, total - least.sum())
        room = np.isinf(most).astype(float) if np.isinf(most).any() else most - least
        return least + surplus * room / room.sum() if room.sum() > 0 else least


def _per_cluster(name: str, sizes: Sizes, n_clusters: int, default: float) -> Floats:
    if sizes is None:
        return np.full(n_clusters, default)
    values = np.asarray(accepted_parameter(sizes, name), dtype=np.float64)
    if values.ndim == 0:
        return np.full(n_clusters, float(values))
    if values.shape != (n_clusters,):
        expected = f"a number or an array of shape ({n_clusters},), one limit per cluster"
        raise ParameterError(name, expected, sizes)
    return values


def _check_order(least: Floats, most: Floats, min_size: Sizes, max_size: Sizes) -> None:
    if (least <= most).all():
        return
    if np.ndim(min_size) == 0 and np.ndim(max_size) == 0:  # type: ignore[arg-type]
        raise ParameterConflictError(
            Message(
                "{min_size} should be <= {max_size}.",
                shell="{min_size} is more than {max_size}.",
                min_size=Parameter("min_size", min_size),
                max_size=Parameter("max_size", max_size),
            )
        )
    cluster = int((least > most).argmax())
    raise ParameterConflictError(
        Message(
            "{min_size} should be <= {max_size} for every cluster. Cluster {cluster} has the limits "
            "{least:g} and {most:g}.",
            min_size=Parameter("min_size"), max_size=Parameter("max_size"), cluster=cluster,
            least=least[cluster], most=most[cluster],
        )
    )  # fmt: skip


def _limit_conflict(
    name: str, sizes: Sizes, bound: float, relation: str, weights: RowWeights
) -> ParameterConflictError:
    """Return the error for limits that the clusters cannot satisfy with these rows."""
    is_weighted = weights.values is not None or weights.unit != 1
    one = np.ndim(sizes) == 0  # type: ignore[arg-type]
    left, shell_left = ("n_clusters * {limit}", "{clusters} * {limit}") if one else ("sum({limit})",) * 2
    return ParameterConflictError(
        Message(
            left + " = {bound:g} should be {relation} {unit} = {total:g}: {problem}.",
            shell=shell_left + " = {bound:g} should be {relation} {shell_unit} = {total:g}: {problem}.",
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
