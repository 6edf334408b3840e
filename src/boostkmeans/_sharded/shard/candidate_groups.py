"""Candidate groups: neighbouring clusters whose rows are compared with the same list of candidates.

A shard has few rows per cluster. To gather the centres of a list of its own for each cluster would take
longer than to compare them with these rows. Clusters of a group share one list, which is longer.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.rows import RowBlock
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._runtime.threads import threads_of_lone_task
from boostkmeans._sharded.shard.sums import Snapshot
from boostkmeans._steps.neighbours import Groups, Lists, neighbour_lists, points_to_compare
from boostkmeans._steps.partition import Labels

# Minimum number of rows of a shard that one list should serve.
ROWS_PER_LIST = 48
# Maximum number of clusters in a group, on average.
MAX_GROUP = 32
# Length of the list of a group, relative to the number of candidates of a single cluster.
GROUP_LIST_FACTOR = 2


@dataclass(frozen=True)
class CandidateGroups(SizedByFields):
    """Groups of clusters, and the candidates of each group."""

    group_of: NDArray[np.int32]
    """Group of each cluster."""
    heads: NDArray[np.int32]
    """One cluster of each group, whose number identifies the group in a visit."""
    lists: Lists
    """Clusters of each group, followed by those nearest to them, padded with -1."""

    @classmethod
    def build(
        cls, snapshot: Snapshot, n_candidates: int, rows_per_cluster: float, seed: int, n_threads: int
    ) -> "CandidateGroups":
        """Search for the candidates of all clusters. `rows_per_cluster` is that of one shard."""
        points = points_to_compare(snapshot.view())
        k = len(points)
        size = min(max(1, round(ROWS_PER_LIST / max(rows_per_cluster, 1e-9))), MAX_GROUP)
        if size == 1:
            own = np.arange(k, dtype=np.int32)
            lists = neighbour_lists(points, n_candidates, n_threads)
            return cls(own, own, np.hstack([own[:, None], lists]))
        neighbours = neighbour_lists(points, n_candidates, n_threads)
        groups = Groups.build(points, n_threads, seed, size=size)
        sizes = np.diff(groups.starts)
        group_of = np.empty(k, dtype=np.int32)
        group_of[groups.order] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        length = min(max(GROUP_LIST_FACTOR * n_candidates, 2 * int(sizes.max())), k)
        lists = joint_lists(groups, neighbours, length)
        return cls(group_of, np.ascontiguousarray(groups.order[groups.starts[:-1]]), lists)

    def active(self, changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the groups in whose lists a cluster has changed."""
        padded = np.append(changed, False)  # The last value belongs to padding.
        found: NDArray[np.bool_] = np.any(padded[self.lists], axis=1)
        return found


def joint_lists(groups: Groups, neighbours: Lists, length: int) -> Lists:
    """Return the clusters of each group and their neighbours, ordered by their best rank in any list."""
    joint = np.full((len(groups.starts) - 1, length), -1, dtype=np.int32)
    first = np.empty(len(neighbours), dtype=np.int64)  # Where a cluster occurs first in a joint list.
    for number, (begin, end) in enumerate(zip(groups.starts[:-1], groups.starts[1:], strict=True)):
        members = groups.order[begin:end]
        ranked = np.concatenate([members, neighbours[members].T.ravel()])
        ranked = ranked[ranked >= 0]
        places = np.arange(len(ranked))
        first[ranked[::-1]] = places[::-1]  # The last assignment to a place counts.
        some = ranked[first[ranked] == places][:length]
        joint[number, : len(some)] = some
    return joint


@dataclass(frozen=True)
class GroupPolicy:
    """Visit rows group by group, and compare them with the candidates of the group."""

    groups: CandidateGroups
    labels: Labels
    """Labels of the rows before the sweep."""
    active: NDArray[np.bool_] | None = None
    """Groups to visit; None for all."""

    def visit(
        self, block: RowBlock, n_clusters: int, block_rows: int, rng: np.random.RandomState
    ) -> _core.CandidateVisit:
        """See `VisitPolicy`."""
        groups = self.groups
        heads = groups.heads if self.active is None else groups.heads[self.active]
        # Only the lists of the heads are read, so that most of this array never occupies memory.
        lists = np.empty((n_clusters, groups.lists.shape[1]), dtype=np.int32)
        lists[groups.heads, 0] = -1  # An empty list: the rows of the group are not visited.
        lists[heads] = groups.lists if self.active is None else groups.lists[self.active]
        unused = np.zeros(n_clusters, dtype=np.int64)
        return _core.CandidateVisit(
            lists=lists,
            changed=unused,
            visited=unused.copy(),
            clock=0,
            order=rng.permutation(groups.heads).astype(np.int32),
            block_rows=block_rows,
            runners_up=groups.heads[groups.group_of[self.labels]],
            by_runner_up=True,
        )

    def after_block(self, visit: object) -> None:
        """See `VisitPolicy`."""


def rows_per_cluster(n_rows: int, n_shards: int, n_clusters: int) -> float:
    """Return the mean number of rows of a cluster in one shard."""
    return n_rows / max(1, n_shards) / n_clusters


def build_groups(
    snapshot: Snapshot, n_candidates: int, rows_per_cluster: float, seed: int, n_threads: int | None
) -> CandidateGroups:
    """Build candidate groups, as a task."""
    threads = threads_of_lone_task(n_threads)
    return CandidateGroups.build(snapshot, n_candidates, rows_per_cluster, seed, threads)
