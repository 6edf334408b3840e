"""Limits on the sizes of clusters: what they mean, and how a start is brought within them."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._partition import Labels, Partition, nearest
from boostkmeans._rows import Floats, Rows
from boostkmeans._weights import RowWeights

Ints = NDArray[np.int64]

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
        total, unit = weights.total, "n_samples" if weights.unit == 1 else "the sum of the weights"
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
        return self.least > 0 or self.most < math.inf

    def enough(self, weight: Floats) -> NDArray[np.bool_]:
        """Whether clusters have no less than that."""
        return np.asarray(weight >= self.least * (1 - ROUNDING))

    def not_too_much(self, weight: Floats) -> NDArray[np.bool_]:
        """Whether clusters have no more than that."""
        return np.asarray(weight <= self.most * (1 + ROUNDING))


NO_LIMITS = Limits()


@dataclass
class Balancing:
    """Brings a partition within limits: rows that lose least by it go elsewhere."""

    partition: Partition
    rows: Rows
    row_weights: Floats | None
    limits: Limits
    n_threads: int

    def run(self) -> None:
        """Until all sizes are within the limits. The partition is consistent afterwards."""
        while not self.limits.not_too_much(self.partition.weights).all():
            self._relieve()
        while not self.limits.enough(self.partition.weights).all():
            self._supply()

    def _weights_of(self, rows: Ints) -> Floats:
        return np.ones(len(rows)) if self.row_weights is None else self.row_weights[rows]

    def _relieve(self) -> None:
        """Some rows of clusters that are too large go to the nearest that has room."""
        weights, most = self.partition.weights, self.limits.most
        crowded = ~self.limits.not_too_much(weights)
        members = self._members_of(crowded)
        lightest = self._weights_of(members).min()
        targets, regrets = self._options(members, self.limits.not_too_much(weights + lightest))
        # No more than each has to give away; a row that is too much may be the last of them.
        members, targets, regrets = self._best_of(
            members, targets, regrets, self.partition.labels[members], weights - most, reach=True
        )
        room = np.where(crowded, 0.0, most - weights)
        self._move(*self._best_of(members, targets, regrets, targets, room, reach=False)[:2])

    def _supply(self) -> None:
        """Clusters that are too small get the nearest rows from those that can spare them."""
        weights, least = self.partition.weights, self.limits.least
        poor = ~self.limits.enough(weights)
        members = self._members_of(~poor & (weights > least))
        targets, regrets = self._options(members, poor)
        members, targets, regrets = self._best_of(
            members, targets, regrets, targets, least - weights, reach=True
        )
        own = self.partition.labels[members]
        members, targets, regrets = self._best_of(
            members, targets, regrets, own, weights - least, reach=False
        )
        room = self.limits.most - weights
        self._move(*self._best_of(members, targets, regrets, targets, room, reach=False)[:2])

    def _members_of(self, chosen: NDArray[np.bool_]) -> Ints:
        within = chosen[self.partition.labels]
        return np.flatnonzero(within if self.row_weights is None else within & (self.row_weights > 0))

    def _options(self, members: Ints, allowed: NDArray[np.bool_]) -> tuple[Labels, Floats]:
        """The nearest cluster that is allowed, and what that costs more than to stay."""
        if len(members) == 0 or not allowed.any():
            self._give_up()
        clusters = np.flatnonzero(allowed)
        centres = self.partition.centres
        sample = self.rows.sample(members)
        found, gaps = nearest(sample, np.ascontiguousarray(centres[clusters]), self.n_threads)
        own = self.partition.labels[members]
        here = np.empty(len(members))
        for begin in range(0, len(members), 65_536):
            some = slice(begin, begin + 65_536)
            points = self.rows.take(members[some])
            here[some] = ((points - centres[own[some]]) ** 2).sum(axis=1)
        return clusters[found].astype(np.int32), gaps - here

    def _best_of(
        self,
        members: Ints,
        targets: Labels,
        regrets: Floats,
        groups: Labels,
        amounts: Floats,
        *,
        reach: bool,
    ) -> tuple[Ints, Labels, Floats]:
        """In each group those with the least regret, up to an amount of weight.

        With `reach`, the last of them may go beyond it.
        """
        order = np.lexsort((regrets, groups))
        weight = self._weights_of(members[order])
        before = np.cumsum(weight) - weight
        first = np.searchsorted(groups[order], groups[order], side="left")
        before -= before[first]
        amount = amounts[groups[order]]
        slack = ROUNDING * np.abs(amount)
        good = before < amount - slack if reach else before + weight <= amount + slack
        chosen = order[good]
        return members[chosen], targets[chosen], regrets[chosen]

    def _move(self, members: Ints, targets: Labels) -> None:
        if len(members) == 0:
            self._give_up()
        self.partition.labels[members] = targets
        self.partition.recompute(self.rows, self.row_weights, self.n_threads)

    def _give_up(self) -> None:
        raise ValueError(
            "No partition within min_size and max_size was found: the weights of the rows leave too "
            "little room. Use wider limits, or more clusters."
        )
