"""Sharded run: the optimisation of a partition whose labels are on the workers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._engine.run import INERTIA_ROUNDING, MEASURE_AFTER_FALL
from boostkmeans._engine.scheduled_run import LastSweep, ScheduledRun
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._sharded.backend import Reference
from boostkmeans._sharded.projecting import ShardedProjection
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.shard.candidate_groups import build_groups, rows_per_cluster
from boostkmeans._sharded.shard.placing import label_shard
from boostkmeans._sharded.shard.sampling import SampleDraw
from boostkmeans._sharded.shard.sums import (
    Remembered,
    SnapshotSummary,
    add_sums,
    close_wave,
    cluster_figures,
    remember,
    sum_shard,
    total_inertia,
)
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._steps.partition import Labels

# Groups of candidates are rebuilt after 1, 2 and 4 rounds, and then after every 4 rounds.
MAX_USES = 4
# Number of rounds after which labels are copied to the driver, if lost results are computed again from
# the tasks that they depend on. The labels then start new chains of tasks.
ROUNDS_PER_COPY = 8
# Labels of about this number of rows are in the driver at the same time: 64 MiB.
ROWS_COPIED_AT_ONCE = 2**24


@dataclass(frozen=True)
class ShardedPartition:
    """A partition on the workers: labels of each shard, and the snapshot that follows from them."""

    labels: tuple[Reference, ...]
    totals: tuple[Reference, ...]
    """Sums of the clusters over the shards of each wave."""
    snapshot: Reference
    summary: SnapshotSummary

    @property
    def inertia(self) -> float:
        """Inertia in the frame."""
        return self.summary.inertia

    @classmethod
    def from_sums(
        cls,
        rows: ShardedRows,
        labels: list[Reference],
        sums: list[Reference],
        before: Reference | None = None,
        remembered: Remembered | None = None,
    ) -> "ShardedPartition":
        """Add up the sums of all shards, and wait for the snapshot."""
        tasks, last = rows.tasks, len(rows.waves) - 1
        totals = [tasks.reduce(add_sums, [sums[i] for i in wave]) for wave in rows.waves[:last]]
        own = [sums[i] for i in rows.waves[last]]
        return cls._close_wave(rows, last, labels, totals, own, before, remembered)[0]

    def with_wave(
        self,
        rows: ShardedRows,
        number: int,
        labels: Mapping[int, Reference],
        sums: Mapping[int, Reference],
        wanted: Sequence[Reference] = (),
    ) -> "tuple[ShardedPartition, list[Any]]":
        """Return this partition with other labels and sums of the shards of a wave.

        Return also the results that are `wanted`: to wait once saves time.
        """
        others = [total for i, total in enumerate(self.totals) if i != number]
        joined = [labels.get(i, own) for i, own in enumerate(self.labels)]
        own = [sums[i] for i in rows.waves[number]]
        return self._close_wave(rows, number, joined, others, own, self.snapshot, wanted=wanted)

    @classmethod
    def _close_wave(
        cls,
        rows: ShardedRows,
        number: int,
        labels: list[Reference],
        others: list[Reference],
        sums: list[Reference],
        before: Reference | None,
        remembered: Remembered | None = None,
        wanted: Sequence[Reference] = (),
    ) -> "tuple[ShardedPartition, list[Any]]":
        """Add up the sums of a wave and those of the other waves, and wait for the snapshot."""
        tasks = rows.tasks
        few = tasks.reduce_to_few(add_sums, sums)
        total, snapshot, summary = tasks.submit(
            close_wave, number, len(others), before, remembered, *others, *few, n_results=3
        )
        totals = [*others[:number], tasks.keep(total), *others[number:]]
        kept, snapshot = [tasks.keep(one) for one in labels], tasks.keep(snapshot)
        own, *found = tasks.get(summary, *wanted)
        return cls(tuple(kept), tuple(totals), snapshot, own), found


@dataclass
class ShardedCandidates:
    """The groups of candidates in use, and when to replace them."""

    n_candidates: int
    groups: Reference | None = None
    n_built: int = 0
    max_uses: int = 0
    """Number of rounds for which the current groups are used."""
    uses: int = 0
    expired: bool = True

    def refresh(self, rows: ShardedRows, snapshot: Reference, n_clusters: int) -> None:
        """Rebuild expired groups."""
        if not self.expired and self.groups is not None:
            return
        few = rows_per_cluster(rows.n_rows, rows.n_shards, n_clusters)
        self.groups = rows.tasks.submit(
            build_groups, snapshot, self.n_candidates, few, self.n_built, rows.tasks.n_threads
        )
        self.n_built += 1
        self.max_uses = min(max(1, 2 * self.max_uses), MAX_USES)
        self.uses = 0
        self.expired = False

    def after_sweep(self) -> None:
        """Account for a round over the current groups."""
        self.uses += 1
        self.expired = self.uses >= self.max_uses


@dataclass(kw_only=True)
class ShardedRun(ScheduledRun):
    """A sharded partition and the state of its optimisation. All partitions are immutable."""

    rows: ShardedRows
    partition: ShardedPartition
    n_clusters_: int
    draw: SampleDraw
    sample: Reference
    """Sampled rows, from which repairs split clusters."""
    candidates: ShardedCandidates | None = None
    best: ShardedPartition | None = None
    tree: ClusterTree | None = None
    """The tree from which the run of a bisecting estimator starts, with the figures of all rows."""
    tree_seed: int | None = None
    tree_labels: tuple[Reference, ...] = ()
    """Leaf of each row, one reference per shard."""
    projection: ShardedProjection | None = None
    """The rows in a few dimensions, from which rounds derive lower bounds of distances."""
    original: ShardedRows | None = None
    """The rows in all dimensions, if this run sees only some of them."""
    measured: float = math.inf
    """Inertia of this run when that in all dimensions was last measured."""
    waves_since_copy: int = field(default=0, repr=False)

    @property
    def n_rows(self) -> int:
        """See `ScheduledRun`."""
        return self.rows.n_rows

    @property
    def n_features(self) -> int:
        """See `ScheduledRun`."""
        return self.rows.n_features

    @property
    def n_clusters(self) -> int:
        """See `ScheduledRun`."""
        return self.n_clusters_

    @property
    def has_limits(self) -> bool:
        """See `ScheduledRun`. Sharded fits have no limits on sizes."""
        return False

    @property
    def sees_all_dimensions(self) -> bool:
        """See `ScheduledRun`."""
        return self.original is None

    @property
    def converges_slowly(self) -> bool:
        """See `ScheduledRun`. Centres are not extrapolated."""
        return False

    @property
    def explained_share(self) -> float:
        """See `ScheduledRun`."""
        summary = self.partition.summary
        total = summary.inertia + summary.objective - summary.objective_of_one_cluster
        return max(0.0, 1 - self.inertia / total) if total > 0 else 1.0

    @property
    def centres(self) -> Floats:
        """See `ScheduledRun`."""
        centres: Floats = self.figures()[0]
        return centres

    @property
    def uses_candidates(self) -> bool:
        """See `ScheduledRun`."""
        return self.candidates is not None

    def next_candidates(self) -> bool:
        """See `ScheduledRun`. Groups have long lists, so fresh ones would hardly gain more."""
        return False

    def drop_candidates(self) -> None:
        """See `ScheduledRun`."""
        self.candidates = None

    def figures(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Return centres in the frame, weights and counts of the clusters."""
        tasks = self.rows.tasks
        found: tuple[Floats, Floats, NDArray[np.int64]] = tasks.get(
            tasks.submit(cluster_figures, self.partition.snapshot)
        )[0]
        return found

    @property
    def bounds(self) -> Sequence[Reference | None]:
        """Projection of each shard for lower bounds; None if the run has none, or sees only them."""
        if self.projection is None or self.original is not None:
            return [None] * self.rows.n_shards
        return self.projection.shards

    def move_to(self, partition: ShardedPartition) -> None:
        """Replace the partition by the result of a wave."""
        self.partition, self.inertia = partition, partition.inertia
        self.waves_since_copy += 1
        if self.waves_since_copy >= ROUNDS_PER_COPY * len(self.rows.waves):
            self._shorten_lineage()

    def _shorten_lineage(self) -> None:
        """Let the labels pass through the driver, so that lost results depend on few tasks."""
        self.waves_since_copy = 0
        if not self.rows.tasks.backend.has_lineage:
            return
        before, best = self.partition, self.best
        self.partition = copied(self.rows, before, self.n_clusters)
        if best is not None:
            same = best is before
            self.best = self.partition if same else copied(self.rows, best, self.n_clusters)

    def keep_if_best(self) -> None:
        """See `ScheduledRun`."""
        if self.best is None or self.inertia < self.best.inertia:
            self.best = self.partition

    def return_to_best(self) -> bool:
        """See `ScheduledRun`."""
        best, self.best = self.best, None
        if best is None or best.inertia * (1 + INERTIA_ROUNDING) >= self.inertia:
            return False
        self.partition, self.inertia = best, best.inertia
        if self.candidates is not None:
            self.candidates.expired = True
        return True

    def release_coincident(self) -> bool:
        """See `ScheduledRun`. Sharded fits keep clusters with equal centres."""
        return False

    def extrapolate(self, centres: Floats) -> bool:
        """See `ScheduledRun`. Sharded fits do not extrapolate."""
        return False

    def confirms_certificate(self) -> bool:
        """See `ScheduledRun`. Sums are always recomputed from the labels."""
        return self.last == LastSweep("certify", 0)

    def finish(self, outcome: Outcome) -> None:
        """See `ScheduledRun`."""
        self.outcome = outcome

    def interrupt(self) -> None:
        """See `ScheduledRun`. The partition is that of the last complete round."""
        self.outcome = Outcome(StopReason.INTERRUPTED, complete=False)
        self.return_to_best()

    def _inertia_to_report(self) -> float:
        """Return the inertia in all dimensions. In a few, it is measured after a considerable change."""
        if self.original is None:
            return self.inertia_in_user_units
        if self.history and self.inertia > (1 - MEASURE_AFTER_FALL) * self.measured:
            return self.history[-1].inertia
        self.measured = self.inertia
        rows, k = self.original, self.n_clusters
        sums = [
            rows.tasks.submit(sum_shard, *shard, labels, k)
            for shard, labels in zip(rows.shards, self.partition.labels, strict=True)
        ]
        inertia = rows.tasks.submit(total_inertia, rows.tasks.reduce(add_sums, sums))
        return rows.frame.inertia(rows.tasks.get(inertia)[0]) * rows.weights.unit

    @property
    def inertia_in_user_units(self) -> float:
        """Inertia in the user's unit of measurement, with the user's weights."""
        return self.rows.frame.inertia(self.inertia) * self.rows.weights.unit


def copied(rows: ShardedRows, partition: ShardedPartition, n_clusters: int) -> ShardedPartition:
    """Return the same partition, which depends only on its labels and on the blocks.

    The labels pass through the driver, a few shards at a time.
    """
    tasks = rows.tasks
    (remembered,) = tasks.get(tasks.submit(remember, partition.snapshot))
    found: list[list[Reference]] = []
    for numbers in groups_of_shards(rows.lengths, ROWS_COPIED_AT_ONCE):
        # Tasks are sent in order, and with their labels: those of the last group have left the driver.
        tasks.get(*[tasks.submit(len, one[0]) for one in found[-1:]])
        labels = tasks.get(*[partition.labels[i] for i in numbers])
        found += _label_shards(rows, numbers, labels, n_clusters)
    return _partition_of(rows, found, remembered)


def groups_of_shards(lengths: Sequence[int], max_rows: int) -> list[list[int]]:
    """Divide the numbers of shards into groups with at most `max_rows` rows, or of a single shard.

    >>> groups_of_shards([3, 1, 2, 9, 1], 4)
    [[0, 1], [2], [3], [4]]
    """
    groups: list[list[int]] = []
    n_rows = 0
    for number, length in enumerate(lengths):
        if not groups or n_rows + length > max_rows:
            groups.append([])
            n_rows = 0
        groups[-1].append(number)
        n_rows += length
    return groups


def labelled(
    rows: ShardedRows,
    labels: Sequence[Labels],
    n_clusters: int,
    remembered: Remembered | None = None,
) -> ShardedPartition:
    """Return the partition with labels from the driver, one array per shard."""
    found = _label_shards(rows, range(rows.n_shards), labels, n_clusters)
    return _partition_of(rows, found, remembered)


def _label_shards(
    rows: ShardedRows, numbers: Sequence[int], labels: Sequence[Labels], n_clusters: int
) -> list[list[Reference]]:
    """Return references to the labels and the sums of some shards, whose labels the driver has."""
    shards = rows.shards
    return [
        rows.tasks.submit(label_shard, *shards[i], own, n_clusters, n_results=2)
        for i, own in zip(numbers, labels, strict=True)
    ]


def _partition_of(
    rows: ShardedRows, found: Sequence[Sequence[Reference]], remembered: Remembered | None
) -> ShardedPartition:
    """Return the partition with the labels and the sums of all shards."""
    return ShardedPartition.from_sums(
        rows, [one[0] for one in found], [one[1] for one in found], None, remembered
    )
