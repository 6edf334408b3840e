"""Sums of the clusters over shards, and the snapshot of all clusters that a round starts from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.cluster_sums import ClusterSums
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._sharded.shard.view import ShardView
from boostkmeans._steps.partition import Labels, Partition

# First holder of an empty cluster.
NO_SHARD = np.iinfo(np.int32).max
# Snapshots since a change are counted up to this number.
LONGEST = np.iinfo(np.uint8).max


@dataclass(frozen=True)
class ShardSums(SizedByFields):
    """Sums of the clusters over one or more shards."""

    sums: ClusterSums
    holders: NDArray[np.int32]
    """For each cluster, the first and the last of the shards with a member of positive weight.

    In each round, one of the two keeps a member, so that shards that do not see each other's moves do
    not empty a cluster. They take turns, so that every row can leave.
    """


def sum_labels(view: ShardView, rows: Rows, labels: Labels, n_clusters: int) -> ShardSums:
    """Return the sums of one shard."""
    sums = ClusterSums.of(rows, view.weights, labels, n_clusters, 1)
    filled = sums.weights > 0
    first = np.where(filled, view.number, NO_SHARD)
    last = np.where(filled, view.number, -1)
    return ShardSums(sums, np.stack([first, last]).astype(np.int32))


def sum_shard(block: Any, view: ShardView, labels: Labels, n_clusters: int) -> ShardSums:
    """Return the sums of one shard, as a task."""
    return sum_labels(view, view.rows(block), labels, n_clusters)


def add_sums(*parts: ShardSums) -> ShardSums:
    """Return the sums of several sets of shards, in ascending order of their numbers.

    They are added over a binary tree of their positions, so that groups of four (see `FAN_IN` of the
    backend) and their totals give the same bits as all of them at once.
    """
    level = list(parts)
    while len(level) > 1:
        pairs = [_add_two(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) - len(level) % 2 :]
    return level[0]


def _add_two(a: ShardSums, b: ShardSums) -> ShardSums:
    first = np.minimum(a.holders[0], b.holders[0])
    holders = np.stack([first, np.maximum(a.holders[1], b.holders[1])])
    return ShardSums(a.sums.plus(b.sums), holders)


@dataclass(frozen=True)
class Snapshot(SizedByFields):
    """All clusters at the start of a round. It depends only on the labels of all shards."""

    composites: Floats
    weights: Floats
    counts: NDArray[np.int64]
    inertias: Floats
    holders: NDArray[np.int32]
    """First and last shard with a member of each cluster."""
    unchanged_for: NDArray[np.uint8]
    """Number of snapshots since each cluster changed: 0 if it differs from the snapshot before."""

    @property
    def n_clusters(self) -> int:
        """Number of clusters, including empty ones."""
        return len(self.weights)

    def partition(self, labels: Labels) -> Partition:
        """Return the clusters with the labels of some rows, as sweeps of these rows change them."""
        return Partition(labels.copy(), self.composites.copy(), self.weights.copy(), self.counts.copy())

    def view(self) -> Partition:
        """Return the clusters without labels, to be read only."""
        return Partition(np.empty(0, dtype=np.int32), self.composites, self.weights, self.counts)


@dataclass(frozen=True)
class SnapshotSummary(SizedByFields):
    """What the driver knows about a snapshot."""

    inertia: float
    objective: float
    objective_of_one_cluster: float
    n_empty: int


@dataclass(frozen=True)
class Remembered(SizedByFields):
    """What the labels of a partition do not tell about its clusters."""

    unchanged_for: NDArray[np.uint8]
    """Number of snapshots since each cluster changed."""
    positions: Floats | None
    """Positions of the empty clusters, in the order of their numbers; None if they are unknown."""


def make_snapshot(
    total: ShardSums, before: Snapshot | None, remembered: Remembered | None = None
) -> tuple[Snapshot, SnapshotSummary]:
    """Return the snapshot of these sums.

    `remembered` replaces the snapshot before, if the labels are copies of those of another partition.
    """
    sums = total.sums
    composites, empty = sums.composites, sums.weights <= 0
    positions = None if remembered is None else remembered.positions
    if before is not None and empty.any():  # An empty cluster stays where it was.
        positions = before.view().centres[empty]
    if positions is not None and len(positions) == np.count_nonzero(empty):
        composites = composites.copy()
        composites[empty] = positions
    if remembered is not None:
        unchanged_for = remembered.unchanged_for
    else:
        unchanged_for = np.zeros(sums.n_clusters, dtype=np.uint8)
        if before is not None:
            same = (sums.counts == before.counts) & (sums.weights == before.weights)
            same[same] = (composites[same] == before.composites[same]).all(axis=1)
            unchanged_for[same] = np.minimum(before.unchanged_for[same], LONGEST - 1) + 1
    snapshot = Snapshot(
        composites, sums.weights, sums.counts, sums.inertias, total.holders, unchanged_for
    )
    partition = snapshot.view()
    summary = SnapshotSummary(
        inertia=float(sums.inertias.sum()),
        objective=partition.objective,
        objective_of_one_cluster=_objective_of_one_cluster(partition, empty),
        n_empty=int(np.count_nonzero(empty)),
    )
    return snapshot, summary


def close_wave(
    number: int,
    n_others: int,
    before: Snapshot | None,
    remembered: Remembered | None,
    *parts: ShardSums,
) -> tuple[ShardSums, Snapshot, SnapshotSummary]:
    """Return the sums of a wave, and the snapshot of all waves.

    `parts` are the sums of the `n_others` other waves, followed by those of the shards of this wave,
    some of which may be added up already.
    """
    others, own = parts[:n_others], add_sums(*parts[n_others:])
    total = add_sums(*others[:number], own, *others[number:])
    return own, *make_snapshot(total, before, remembered)


def _objective_of_one_cluster(partition: Partition, empty: NDArray[np.bool_]) -> float:
    """Return |D|^2 / W of all rows as one cluster.

    It is computed without BLAS, whose rounding depends on the processor and on threads: the annealing
    temperature depends on it.
    """
    whole = np.add.reduce(partition.composites[~empty], axis=0)
    return float(np.add.reduce(whole * whole)) / float(partition.weights.sum())


def remember(snapshot: Snapshot) -> Remembered:
    """Return what the labels of a partition do not tell about its clusters."""
    return Remembered(snapshot.unchanged_for, snapshot.composites[snapshot.weights <= 0])


def total_inertia(total: ShardSums) -> float:
    """Return the inertia of all clusters."""
    return float(total.sums.inertias.sum())


def sizes_of(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the number of rows of positive weight of each cluster."""
    return snapshot.counts


def cluster_figures(snapshot: Snapshot) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return centres in the frame, weights and counts, for the result of a fit."""
    return snapshot.view().centres, snapshot.weights, snapshot.counts
