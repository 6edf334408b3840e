"""Restructuring: splits and merges that give an updated partition the right number of clusters."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._engine.updates.ledger import ClusterLedger, Ints, Mask
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.repair import Repair, neighbouring_merges


@dataclass
class Restructuring:
    """A partition whose number of clusters changes.

    Splits are searched among touched clusters first, because only they have new rows. Merges need only
    the sums of clusters, so that the cheapest ones of all clusters are chosen.
    """

    problem: Problem
    partition: Partition
    ledger: ClusterLedger
    touched: Mask
    """Clusters that gained or lost rows, or that changed since."""
    n_old: int
    """Number of leading rows that the model contained."""
    rng: np.random.RandomState
    measured: tuple[Partition, Floats] | None = None
    """A partition, and the inertias of its clusters."""

    @property
    def inertias(self) -> Floats | None:
        """Inertias of the clusters, unless the partition has changed. Balancing changes it in place."""
        if self.measured is None or self.problem.limits is not None:
            return None
        partition, inertias = self.measured
        return inertias if partition is self.partition else None

    def set_count(self, n_clusters: int) -> None:
        """Split or merge until there are `n_clusters` clusters with rows, if that is possible."""
        respects_limits = self.problem.limits is not None
        while True:
            excess = int(np.count_nonzero(self.partition.weights > 0)) - n_clusters
            if excess == 0:
                break
            change = self._merge if excess > 0 else self._split
            if not change(abs(excess), respects_limits):
                if not respects_limits:
                    break
                respects_limits = False  # Balancing follows, which restores the limits.
        self._drop_empty(n_clusters)

    def merge_undersized(self) -> bool:
        """Merge clusters below the minimum size with neighbours. Return True if any were merged."""
        limits, n_before = self.problem.limits, self.partition.n_clusters
        assert limits is not None
        while True:
            weights = self.partition.weights
            undersized = (weights > 0) & ~limits.at_least_min(weights)
            if not self._merge(int(np.count_nonzero(undersized)), True, among=undersized):
                break
        self._drop_empty(int(np.count_nonzero(self.partition.weights > 0)))
        return self.partition.n_clusters < n_before

    def _merge(self, n_merges: int, respects_limits: bool, among: Mask | None = None) -> bool:
        """Make the cheapest merges, at most one per cluster. Return False if there are none.

        With `among`, at least one cluster of each pair is among these.
        """
        partition = self.partition
        a, b, costs = neighbouring_merges(partition, self.problem.n_threads)
        filled = partition.weights > 0
        allowed = filled[a] & filled[b]
        if among is not None:
            allowed &= among[a] | among[b]
        if respects_limits and self.problem.limits is not None:
            together = partition.weights[a] + partition.weights[b]
            limits = self.problem.limits
            allowed &= limits.at_most_max(together, a) & limits.at_most_max(together, b)
        a, b, costs = a[allowed], b[allowed], costs[allowed]
        merged, freed = _disjoint_pairs(a, b, np.argsort(costs, kind="stable"), n_merges)
        if len(merged) == 0:
            return False
        worth = self._worth(partition.labels, partition.n_clusters)
        larger = worth[merged] >= worth[freed]
        merged, freed = np.where(larger, merged, freed), np.where(larger, freed, merged)
        becomes = np.arange(partition.n_clusters, dtype=np.int32)
        becomes[freed] = merged
        self.partition = self._with_positions(partition.joined(becomes, partition.n_clusters))
        self.ledger.merge(merged, freed)
        self.touched[merged] = True
        return True

    def _split(self, n_splits: int, respects_limits: bool) -> bool:
        """Make the splits with the highest gains. Return False if no cluster can be split."""
        repair = self.plan(self._seed(), respects_limits=respects_limits)
        divisible = int(np.count_nonzero(repair.gains > 0))
        if divisible < n_splits and not self.touched.all():
            self.touched[:] = True
            repair = self.plan(self._seed(), respects_limits=respects_limits)
        order = np.argsort(-repair.gains, kind="stable")
        split = order[repair.gains[order] > 0][:n_splits]
        if len(split) == 0:
            return False
        k = self.partition.n_clusters
        free = np.flatnonzero(self.partition.weights <= 0)
        created = np.concatenate([free, k + np.arange(max(0, len(split) - len(free)))])[: len(split)]
        becomes = np.tile(np.arange(k, dtype=np.int32), 2)
        becomes[k + split] = created
        n_clusters = max(k, int(created.max()) + 1)
        self.partition = self._with_positions(repair.halves.joined(becomes, n_clusters, self.problem))
        self.problem = self.problem.with_count(n_clusters)
        self.ledger.split(split, created)
        self.touched = np.append(self.touched, np.zeros(n_clusters - k, dtype=bool))
        self.touched[split] = self.touched[created] = True
        return True

    def plan(self, seed: int, *, respects_limits: bool = True) -> Repair:
        """Split the touched clusters on trial. The larger part of the old rows keeps the number."""
        problem = self.problem if respects_limits else replace(self.problem, limits=None)
        repair = Repair.plan(problem, self.partition, seed, only=self.touched)
        return repair.preserving(self._worth(repair.halves.labels, 2 * self.partition.n_clusters))

    def _seed(self) -> int:
        return int(self.rng.randint(2**31 - 1))

    def _worth(self, labels: NDArray[np.int32], n_clusters: int) -> Floats:
        """Return the weight of the old rows of each cluster."""
        weights, old = self.problem.row_weights, labels[: self.n_old]
        own = None if weights is None else weights[: self.n_old]
        return np.bincount(old, weights=own, minlength=n_clusters).astype(np.float64)

    def _with_positions(self, new: Partition) -> Partition:
        """Give clusters without rows their former positions."""
        k = self.partition.n_clusters
        empty = np.flatnonzero(new.weights[:k] <= 0)
        weights = self.partition.weights[empty]
        new.composites[empty] = (
            self.partition.composites[empty] / np.where(weights > 0, weights, 1.0)[:, None]
        )
        return new

    def _drop_empty(self, n_clusters: int) -> None:
        """Remove empty clusters, the highest numbers first, if there are more than `n_clusters`.

        The clusters with the highest numbers take the numbers that become free below them.
        """
        partition, k = self.partition, self.partition.n_clusters
        empty = np.flatnonzero(partition.weights <= 0)
        dropped = empty[max(0, len(empty) - max(0, k - n_clusters)) :]
        if len(dropped) == 0:
            return
        remaining = np.setdiff1d(np.arange(k), dropped)
        n_left = len(remaining)
        kept = np.arange(n_left)
        kept[dropped[dropped < n_left]] = remaining[remaining >= n_left][::-1]
        becomes = np.zeros(
            k, dtype=np.int32
        )  # Rows of zero weight may have the label of an empty cluster.
        becomes[kept] = np.arange(n_left)
        self.partition = Partition(
            becomes[partition.labels],
            np.ascontiguousarray(partition.composites[kept]),
            partition.weights[kept],
            partition.counts[kept],
        )
        self.problem = self.problem.with_count(n_left)
        self.ledger.renumber(kept)
        self.touched = self.touched[kept]


def _disjoint_pairs(a: Ints, b: Ints, order: Ints, n_pairs: int) -> tuple[Ints, Ints]:
    """Return the first pairs in this order that have no cluster in common."""
    used: set[int] = set()
    chosen: list[int] = []
    for i in order.tolist():
        if len(chosen) == n_pairs:
            break
        pair = {int(a[i]), int(b[i])}
        if not pair & used:
            used |= pair
            chosen.append(i)
    return a[chosen], b[chosen]
