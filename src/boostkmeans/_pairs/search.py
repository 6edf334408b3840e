"""Search for all pairs of near rows, in memory or in blocks that are read one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._pairs.blocks import BlockPairs, BlockSide, ReportShare, find_pairs
from boostkmeans._pairs.equal_rows import EqualRows, Keys, row_keys
from boostkmeans._pairs.limits import PairLimit
from boostkmeans._pairs.links import Indices, Links, RowGroups
from boostkmeans._pairs.plan import PairPlan
from boostkmeans._pairs.sparse_blocks import find_sparse_pairs
from boostkmeans._runtime.progress import ProgressCallback

# Steps of a progress report that is a share.
STEPS = 1000


@dataclass(frozen=True)
class SearchOptions:
    """How a search proceeds."""

    n_neighbours: int | None
    """Number of nearest clusters that are compared with a cluster; None for all that may hold a pair."""
    seed: int
    n_threads: int
    progress: ProgressCallback


@dataclass(frozen=True)
class NearRows:
    """All pairs of near rows, in a size that does not depend on the number of pairs."""

    components: Indices
    """First row of the group of each row."""
    degrees: Indices
    """Number of rows with which each row forms a pair."""
    nearest: Floats
    """Squared distance of each row to the nearest of them in the frame, or infinity."""
    is_compared: NDArray[np.bool_]
    """False for rows of zeros, which have no cosine."""
    is_exhaustive: bool
    """True if no pair can be missed."""

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.degrees.sum()) // 2

    @property
    def groups(self) -> RowGroups:
        """Groups of rows that are connected by pairs."""
        return RowGroups.of_components(self.components)


class PairTally:
    """The pairs of all rows, collected from searches of blocks."""

    def __init__(self, keys: Keys, nonzero: NDArray[np.bool_], limit: PairLimit) -> None:
        """Find equal rows by their keys. Rows of zeros have no cosine."""
        n = len(keys)
        self._equal = EqualRows.of_keys(keys)
        self._is_compared = nonzero | (limit.metric != "cosine")
        self._links = Links(n)
        self._degrees = np.zeros(n, dtype=np.int64)
        self._nearest = np.full(n, np.inf)

    @property
    def counts(self) -> Indices:
        """Number of equal rows that each row stands for."""
        return self._equal.counts

    @property
    def takes_part(self) -> NDArray[np.bool_]:
        """True for rows that are searched: the first of equal rows."""
        return self._equal.is_first & self._is_compared

    def add(self, rows: Indices, found: BlockPairs) -> None:
        """Add the pairs of some rows, given by number."""
        linked = np.flatnonzero(found.parents != np.arange(len(rows)))
        self._links.connect(rows[linked], rows[found.parents[linked]])
        self._degrees[rows] += found.degrees
        self._nearest[rows] = np.minimum(self._nearest[rows], found.nearest)

    def result(self, *, is_exhaustive: bool) -> NearRows:
        """Return the pairs, including those of equal rows."""
        first, counts = self._equal.first, self._equal.counts
        others = np.flatnonzero(~self._equal.is_first)
        self._links.connect(first[others], others)
        nearest = self._nearest[first]
        nearest[counts > 1] = 0.0
        return NearRows(
            components=self._links.components(),
            degrees=self._degrees[first] + counts - 1,
            nearest=nearest,
            is_compared=self._is_compared,
            is_exhaustive=is_exhaustive,
        )


def find_near_rows(rows: RowSet, limit: PairLimit, options: SearchOptions) -> NearRows:
    """Return all pairs of rows within the limit of each other.

    Rows of zeros have no cosine: they form pairs with each other only.
    """
    tally = PairTally(*keys_of(rows, options.progress), limit)
    if isinstance(rows, Rows) and rows.stays_sparse:
        members = np.flatnonzero(tally.takes_part)
        report = share_reporter(options.progress, 0, 1)
        found = find_sparse_pairs(
            rows.in_frame_units(), members, tally.counts, limit.square_in(rows.frame), report
        )
        tally.add(np.arange(rows.n_rows), found)
        return tally.result(is_exhaustive=True)
    options.progress("clustering rows", 0, None)
    plan = PairPlan.of(rows, limit, options.n_neighbours, options.seed, options.n_threads)
    for numbers, found in _block_pairs(rows, tally, plan, options):
        tally.add(numbers, found)
    return tally.result(is_exhaustive=plan.is_exhaustive)


def keys_of(rows: RowSet, progress: ProgressCallback) -> tuple[Keys, NDArray[np.bool_]]:
    """Return the keys of all rows, and whether any value of a row is not 0."""
    keys, nonzero = np.empty((rows.n_rows, 2), dtype=np.uint64), np.empty(rows.n_rows, dtype=bool)
    for done, block in enumerate(rows.blocks()):
        progress("comparing equal rows", done, rows.n_blocks)
        keys[block.where], nonzero[block.where] = row_keys(block.rows.array)
    return keys, nonzero


def _block_pairs(
    rows: RowSet, tally: PairTally, plan: PairPlan, options: SearchOptions
) -> Iterator[tuple[Indices, BlockPairs]]:
    """Yield the pairs of each block, and those of each two blocks, with the numbers of their rows."""
    n_blocks, threads = rows.n_blocks, options.n_threads
    takes_part, counts = tally.takes_part, tally.counts
    n_searches, done = n_blocks * (n_blocks + 1) // 2, 0

    def side(block: Rows, numbers: Indices) -> BlockSide:
        members = np.flatnonzero(takes_part[numbers])
        return BlockSide.of(block, members, counts[numbers], plan, threads)

    for number in range(n_blocks):
        first = np.arange(*rows.block_bounds(number))
        left = side(rows if isinstance(rows, Rows) else rows.sample(first), first)
        report = share_reporter(options.progress, done, n_searches)
        yield first, find_pairs(left, None, plan, threads, report)
        done += 1
        for block in rows.blocks(list(range(number + 1, n_blocks))):
            second = np.arange(*rows.block_bounds(block.number))
            report = share_reporter(options.progress, done, n_searches)
            found = find_pairs(left, side(block.rows, second), plan, threads, report)
            yield np.concatenate([first, second]), found
            done += 1


def share_reporter(progress: ProgressCallback, done: int, total: int) -> ReportShare:
    """Return a function that reports the share of one of several searches."""
    return lambda share: progress("comparing rows", round(STEPS * (done + share)), STEPS * total)
