"""Candidates (the paper's top-k0): rows are compared only with clusters near their own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.rows import RowBlock
from boostkmeans._steps.neighbours import Lists, neighbour_lists, points_to_compare
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._storage.state import SavedState, State

# Length of the lists around clusters that a repair changed.
REPAIR_CANDIDATES = 32


@dataclass
class NeighbourLists:
    """The nearest other clusters of each cluster, and stamps that tell which visits can be skipped.

    A cluster is skipped if nothing in its neighbourhood has changed since its last visit.
    """

    lists: Lists
    """Neighbours of each cluster, nearest first, padded with -1."""
    changed: NDArray[np.int64]
    """For each cluster, the time of its last change, or -1."""
    visited: NDArray[np.int64]
    """For each block of rows and each cluster, the time of the last visit, or -1."""
    clock: int = 0
    """Number of blocks of proposals so far."""

    @classmethod
    def build(
        cls,
        partition: Partition,
        n_candidates: int,
        n_blocks: int,
        n_threads: int,
        *,
        previous: Lists | None = None,
        seed: int = 0,
    ) -> "NeighbourLists":
        """Search for the neighbours of all clusters, with the help of earlier lists."""
        k = partition.n_clusters
        points = points_to_compare(partition)
        return cls(
            lists=neighbour_lists(points, n_candidates, n_threads, previous=previous, seed=seed),
            changed=np.full(k, -1, dtype=np.int64),
            visited=np.full((n_blocks, k), -1, dtype=np.int64),
        )

    @classmethod
    def around(
        cls, partition: Partition, touched: NDArray[np.int64], n_threads: int
    ) -> "NeighbourLists":
        """Return lists for sweeps that visit only the touched clusters and what changes around them."""
        n_candidates = min(REPAIR_CANDIDATES, partition.n_clusters - 1)
        lists = cls.build(partition, n_candidates, 1, n_threads)
        lists.visited[:] = 0
        lists.changed[touched] = 0
        lists.clock = 1
        return lists

    def mark_unvisited(self) -> None:
        """Make the next sweep visit all clusters."""
        self.visited[:] = -1

    def state(self) -> State:
        """Return the lists as plain values for a checkpoint."""
        return {"lists": self.lists, "changed": self.changed, "visited": self.visited}

    @classmethod
    def restore(cls, saved: SavedState, n_clusters: int, n_blocks: int, clock: int) -> "NeighbourLists":
        """Restore the lists from the result of `state`."""
        k = n_clusters
        return cls(
            saved.array("lists", np.int32, (k, None), -1, k - 1),
            saved.array("changed", np.int64, (k,), -1, clock),
            saved.array("visited", np.int64, (n_blocks, k), -1, clock),
            clock,
        )


@dataclass(frozen=True)
class CandidatePolicy:
    """Visit rows cluster by cluster, and compare them with the neighbours of a cluster.

    This is the row's own cluster, or with `by_runner_up` the best other cluster found so far. The latter
    reaches clusters that are missing in the list of a row's own cluster.
    """

    lists: NeighbourLists
    runners_up: Labels | None = None
    """Best other cluster of each row, updated by each visit; None if it is not recorded."""
    by_runner_up: bool = False

    def visit(
        self, block: RowBlock, n_clusters: int, block_rows: int, rng: np.random.RandomState
    ) -> _core.CandidateVisit:
        """See `VisitPolicy`."""
        lists = self.lists
        return _core.CandidateVisit(
            lists=lists.lists,
            changed=lists.changed,
            visited=lists.visited[block.number],
            clock=lists.clock,
            order=rng.permutation(n_clusters).astype(np.int32),
            block_rows=block_rows,
            runners_up=None if self.runners_up is None else self.runners_up[block.where],
            by_runner_up=self.by_runner_up,
        )

    def after_block(self, visit: _core.FullVisit | _core.CandidateVisit) -> None:
        """See `VisitPolicy`."""
        assert isinstance(visit, _core.CandidateVisit)
        self.lists.clock = visit.clock
