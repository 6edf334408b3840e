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
# Lists that are adapted to swaps at a time, to bound the memory.
ADAPTED_AT_ONCE = 4096
# Maximum number of blocks of streamed rows with visiting stamps of their own, which take 8 bytes per
# cluster. With more blocks, no visit is skipped.
MAX_STAMPED_BLOCKS = 128


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
    """For each block of rows and each cluster, the time of the last visit, or -1. If there are very many
    blocks, they share one line, which each visit clears."""
    clock: int = 0
    """Number of blocks of proposals so far."""
    shares_stamps: bool = False
    """True if all blocks of rows share one line of `visited`."""

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
            visited=np.full((_stamped_blocks(n_blocks), k), -1, dtype=np.int64),
            shares_stamps=_stamped_blocks(n_blocks) < n_blocks,
        )

    @classmethod
    def around(
        cls,
        partition: Partition,
        touched: NDArray[np.int64] | NDArray[np.bool_],
        n_threads: int,
        known: Lists | None = None,
        *,
        n_candidates: int = REPAIR_CANDIDATES,
    ) -> "NeighbourLists":
        """Return lists for sweeps that visit only the touched clusters and what changes around them.

        `touched` has numbers of clusters, or a mask. `known` are lists of any length that need not be
        searched again.
        """
        k = partition.n_clusters
        n_candidates = min(n_candidates, k - 1)
        if known is None:
            lists = cls.build(partition, n_candidates, 1, n_threads)
        else:
            shorter = np.ascontiguousarray(known[:, :n_candidates])
            unknown = np.full(k, -1, dtype=np.int64)
            lists = cls(shorter, changed=unknown, visited=unknown[None].copy())
        lists.visited[:] = 0
        lists.changed[touched] = 0
        lists.clock = 1
        return lists

    def visited_in(self, block: int) -> NDArray[np.int64]:
        """Return the stamps of a block, to be read and updated by its visit."""
        line = 0 if self.shares_stamps else block
        if self.shares_stamps:
            self.visited[line] = -1
        stamps: NDArray[np.int64] = self.visited[line]
        return stamps

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
        visited = saved.array("visited", np.int64, (None, k), -1, clock)
        if len(visited) not in (1, n_blocks):
            saved.fail("visited", f"1 or {n_blocks} lines", len(visited))
        lists = saved.array("lists", np.int32, (k, None), -1, k - 1)
        if (lists == np.arange(k)[:, None]).any():
            saved.fail("lists", "lists of other clusters", "a cluster in its own list")
        return cls(
            lists,
            saved.array("changed", np.int64, (k,), -1, clock),
            visited,
            clock,
            len(visited) < n_blocks,
        )


def adapt_to_swaps(lists: Lists, freed: NDArray[np.int64], split: NDArray[np.int64]) -> None:
    """Adapt lists, in place, to clusters `freed` that have become halves of `split`.

    Wherever a split cluster is listed, its other half replaces the next entry. A list may then contain a
    cluster twice, which is harmless. No list contains its own cluster.
    """
    half = np.full(len(lists) + 1, -1, dtype=np.int32)  # The last value belongs to padding.
    half[split] = freed
    around = lists[split, :-1]
    for begin in range(0, len(lists), ADAPTED_AT_ONCE):
        some = lists[begin : begin + ADAPTED_AT_ONCE]
        found = half[some[:, :-1]]
        owners, places = np.nonzero(found >= 0)
        some[owners, places + 1] = found[owners, places]
    for own, other in ((split, freed), (freed, split)):
        lists[own, 1:] = np.where(around == own[:, None], other[:, None], around)
        lists[own, 0] = other
    for begin in range(0, len(lists), ADAPTED_AT_ONCE):
        some = lists[begin : begin + ADAPTED_AT_ONCE]
        owners, places = np.nonzero(some == np.arange(begin, begin + len(some))[:, None])
        some[owners, places] = some[owners, 0]


def _stamped_blocks(n_blocks: int) -> int:
    """Return the number of lines of stamps: one per block, or one for all if there are very many."""
    return n_blocks if n_blocks <= MAX_STAMPED_BLOCKS else 1


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
            visited=lists.visited_in(block.number),
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
