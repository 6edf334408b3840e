"""Sweep of one shard against a snapshot of all clusters."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._sharded.shard.candidate_groups import CandidateGroups, GroupPolicy
from boostkmeans._sharded.shard.projecting import ShardProjection
from boostkmeans._sharded.shard.sums import ShardSums, Snapshot, sum_labels
from boostkmeans._sharded.shard.view import ShardView
from boostkmeans._steps.nearest import distances_to_assigned
from boostkmeans._steps.partition import Labels
from boostkmeans._steps.sweep import (
    FullPolicy,
    SweepOptions,
    VisitPolicy,
    proposing_rows,
    sweep,
)

# Minimum number of blocks of rows in which a shard is swept.
MIN_BLOCKS = 8


@dataclass(frozen=True)
class SweepRequest:
    """How the shards sweep in one round."""

    seed: int
    first: bool = False
    temperature: float = 0.0
    exact: bool = False
    changed_within: int | None = None
    """Visit only rows near clusters that changed in this number of snapshots; None for all rows."""


class SweepSummary(NamedTuple):
    """Figures about the sweep of one shard."""

    moves: int
    """Number of moves, including those that were undone to keep a cluster from becoming empty."""
    evaluations: int


def shard_seed(seed: int, number: int) -> int:
    """Return the seed of a shard in a round."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def sweep_shard(
    block: Any,
    view: ShardView,
    labels: Labels,
    snapshot: Snapshot,
    groups: CandidateGroups | None,
    request: SweepRequest,
    projection: ShardProjection | None = None,
) -> tuple[Labels, ShardSums, SweepSummary]:
    """Sweep a shard as if the other shards did not change. Return its new labels and their sums.

    Rows are compared with the candidates of `groups`, or with all clusters without them. A `projection`
    excludes clusters by lower bounds.
    """
    k = snapshot.n_clusters
    problem = view.problem(block, k)
    if problem.rows.n_rows == 0:
        return labels, sum_labels(view, view.rows(block), labels, k), SweepSummary(0, 0)
    if projection is not None:
        problem = replace(problem, projection=projection.whole())
    partition = snapshot.partition(labels)
    policy: VisitPolicy = FullPolicy()
    if groups is not None:
        active = None
        if request.changed_within is not None:
            active = groups.active(snapshot.unchanged_for < request.changed_within)
        policy = GroupPolicy(groups, labels, active)
    result = sweep(
        problem,
        partition,
        policy=policy,
        options=SweepOptions(first=request.first, temperature=request.temperature, exact=request.exact),
        rng=np.random.RandomState(shard_seed(request.seed, view.number)),
        block_rows=_block_rows(problem.rows.n_rows, int(snapshot.counts.sum())),
    )
    found = partition.labels
    moves = int(np.count_nonzero(found != labels))
    _keep_last_members(labels, found, snapshot.holders[request.seed % 2], view)
    sums = sum_labels(view, view.rows(block), found, k)
    return found, sums, SweepSummary(moves, result.evaluations)


def _block_rows(n_rows: int, n_all: int) -> int:
    """Return the number of rows that propose at a time.

    It is that of all rows on one machine: smaller blocks are of no use, because a shard does not see
    the moves of the others anyway.
    """
    return min(proposing_rows(n_all), max(proposing_rows(n_rows), n_rows // MIN_BLOCKS))


def _keep_last_members(
    before: Labels, after: Labels, keepers: NDArray[np.int32], view: ShardView
) -> None:
    """Return one row to each cluster that this shard must not leave, in place."""
    kept = np.flatnonzero(keepers == view.number)
    weighted = slice(None) if view.weights is None else view.weights > 0
    present = np.bincount(after[weighted], minlength=len(keepers))
    for cluster in kept[present[kept] == 0]:
        members = before == cluster
        if view.weights is not None:
            members &= view.weights > 0
        after[members.argmax()] = cluster


class FarRows(NamedTuple):
    """Rows of a shard that are farthest from their centres."""

    distances: Floats
    rows: NDArray[np.int64]
    labels: Labels


def far_rows(block: Any, view: ShardView, labels: Labels, snapshot: Snapshot, n_rows: int) -> FarRows:
    """Return up to `n_rows` rows of positive weight that are farthest from their centres."""
    if block.shape[0] == 0:
        return FarRows(np.empty(0), np.empty(0, dtype=np.int64), labels)
    gaps, _ = distances_to_assigned(view.rows(block), snapshot.view().centres, labels, 1)
    if view.weights is not None:
        gaps[view.weights <= 0] = 0.0
    far = np.argsort(-gaps, kind="stable")[:n_rows]
    far = far[gaps[far] > 0]
    return FarRows(gaps[far], far, labels[far])


def move_rows(
    block: Any,
    view: ShardView,
    labels: Labels,
    rows: NDArray[np.int64],
    targets: Labels,
    n_clusters: int,
) -> tuple[Labels, ShardSums]:
    """Move some rows of a shard to other clusters."""
    found = labels.copy()
    found[rows] = targets
    return found, sum_labels(view, view.rows(block), found, n_clusters)
