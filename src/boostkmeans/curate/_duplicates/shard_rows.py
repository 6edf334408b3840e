"""Rows on many machines: each two shards are searched by a task."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Floats, Frame
from boostkmeans._data.rows import Rows, unit_factors
from boostkmeans._pairs.blocks import BlockPairs, BlockSide, find_pairs
from boostkmeans._pairs.equal_rows import Keys, row_keys
from boostkmeans._pairs.limits import PairLimit
from boostkmeans._pairs.links import Indices
from boostkmeans._pairs.plan import PairPlan
from boostkmeans._pairs.search import NearRows, PairTally, SearchOptions
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._sharded.backend import identity
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.tasks import Tasks
from boostkmeans.curate._duplicates.missed_pairs import ROWS_AT_ONCE, count_near
from boostkmeans.distributed._engine_choice import choose_backend
from boostkmeans.distributed._fitting import chosen_instruction_set
from boostkmeans.distributed._input_kinds import InputKind, kind_of
from boostkmeans.distributed._inputs import as_blocks

# Number of tasks that wait or run at the same time. It bounds the memory for their results.
MAX_TASKS = 256

Taking = tuple[Indices, Indices]
"""The numbers of the rows of a shard that take part in a search, and the counts of all its rows."""


def is_distributed(X: Any) -> bool:
    """Return True if the rows are shards, or on the workers of a cluster."""
    try:
        return kind_of(X) not in (InputKind.ARRAY, InputKind.ARRAYS)
    except ParameterError:
        return False


class ShardRows:
    """Rows in shards, and what is computed from them by tasks."""

    def __init__(self, rows: ShardedRows, limit: PairLimit, options: SearchOptions) -> None:
        self._rows = rows
        self._limit = limit
        self._options = options
        self._starts = np.concatenate([[0], np.cumsum(rows.lengths)])
        self.frame = rows.frame
        self.n_rows, self.n_features = rows.n_rows, rows.n_features

    @classmethod
    @contextmanager
    def opened(
        cls, X: Any, limit: PairLimit, options: SearchOptions, engine: Any
    ) -> Iterator["ShardRows"]:
        """Connect to the workers, and describe the shards."""
        backend = choose_backend(engine, X, n_threads=options.n_threads)
        try:
            tasks = Tasks(backend, chosen_instruction_set(backend), options.n_threads)
            blocks = as_blocks(X, backend)
            rows = ShardedRows.describe(
                tasks,
                blocks.references,
                blocks.names,
                None,
                limit.metric,
                "deduplicate",
                blocks.first_rows,
            )
            if rows.stays_sparse:
                raise ValueError("Shards and rows on a cluster must be dense rows. These are sparse.")
            yield cls(rows, limit, options)
        finally:
            backend.close()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self.n_rows, self.n_features

    @property
    def square(self) -> float:
        """Largest squared distance of a pair, in the unit of the points that `take` returns."""
        return self._limit.square_in(self.frame)

    def sample(self, indices: NDArray[Any]) -> Rows:
        """Copy some rows, given by ascending numbers, to this process."""
        parts = self._rows.take(np.asarray(indices, dtype=np.int64))
        return _framed(_joined(parts), self.frame, self._options.n_threads)

    def take(self, indices: NDArray[Any]) -> Floats:
        """Copy some rows, given by ascending numbers, as dense points in the frame."""
        if len(indices) == 0:
            return np.empty((0, self.n_features))
        return self.sample(indices).take(np.arange(len(indices)))

    def find(self) -> NearRows:
        """Return all pairs of near rows."""
        tasks, progress = self._rows.tasks, self._options.progress
        progress("comparing equal rows", 0, None)
        parts = tasks.get(*[tasks.submit(row_keys, block) for block in self._rows.blocks])
        keys: Keys = np.concatenate([part[0] for part in parts])
        tally = PairTally(keys, np.concatenate([part[1] for part in parts]), self._limit)
        progress("clustering rows", 0, None)
        options = self._options
        plan = PairPlan.of(self, self._limit, options.n_neighbours, options.seed, options.n_threads)
        for rows, found in self._search(tally, plan):
            tally.add(rows, found)
        return tally.result(is_exhaustive=plan.is_exhaustive)

    def _search(self, tally: PairTally, plan: PairPlan) -> Iterator[tuple[Indices, BlockPairs]]:
        """Yield the pairs of each shard, and those of each two shards."""
        tasks = self._rows.tasks
        shared = tasks.submit(identity, (plan, self.frame))
        parts: list[tuple[Any, Any]] = []
        for number, block in enumerate(self._rows.blocks):
            where = slice(self._starts[number], self._starts[number + 1])
            taking = np.flatnonzero(tally.takes_part[where]), tally.counts[where]
            parts.append((block, tasks.submit(identity, taking)))
        n, n_done = len(parts), 0
        waiting: deque[tuple[int, int, Any]] = deque()
        todo = iter([(i, j) for i in range(n) for j in range(i, n)])
        while True:
            for i, j in todo:
                other = (None, None) if i == j else parts[j]
                waiting.append((i, j, tasks.submit(search_shards, *parts[i], *other, shared)))
                if len(waiting) >= MAX_TASKS:
                    break
            if not waiting:
                return
            i, j, reference = waiting.popleft()
            (found,) = tasks.get(reference)
            n_done += 1
            self._options.progress("comparing rows", n_done, n * (n + 1) // 2)
            rows = [np.arange(self._starts[part], self._starts[part + 1]) for part in sorted({i, j})]
            yield np.concatenate(rows), found

    def count_partners(self, checked: Indices, found: NearRows) -> Indices:
        """Compare some rows with all rows, and return their numbers of partners."""
        tasks = self._rows.tasks
        self._options.progress("checking pairs", 0, None)
        shared = tasks.submit(identity, (self.take(checked), self.frame, self.square))
        counts = [
            tasks.submit(
                count_in_shard, block, found.is_compared[self._starts[i] : self._starts[i + 1]], shared
            )
            for i, block in enumerate(self._rows.blocks)
        ]
        return np.asarray(np.sum(tasks.get(*counts), axis=0) - 1)  # a row is no partner of itself


def search_shards(
    block: Any, taking: Taking, other: Any, other_taking: Taking | None, shared: tuple[PairPlan, Frame]
) -> BlockPairs:
    """Return the pairs of one shard, or those of two shards, on one thread."""
    plan, frame = shared
    left = BlockSide.of(_framed(block, frame, 1), *taking, plan, 1)
    right = None
    if other_taking is not None:
        right = BlockSide.of(_framed(other, frame, 1), *other_taking, plan, 1)
    return find_pairs(left, right, plan, 1, lambda share: None)


def count_in_shard(
    block: Any, is_compared: NDArray[np.bool_], shared: tuple[Floats, Frame, float]
) -> Indices:
    """Return the number of rows of a shard within the limit of each point."""
    points, frame, square = shared
    rows = _framed(block, frame, 1)
    compared = np.flatnonzero(is_compared)
    counts = np.zeros(len(points), dtype=np.int64)
    for some in np.array_split(compared, max(1, len(compared) // ROWS_AT_ONCE)):
        counts += count_near(points, rows.take(some), square, 1)
    return counts


def _framed(block: Any, frame: Frame, n_threads: int) -> Rows:
    return Rows(block, frame, unit_factors(block, frame.metric, n_threads))


def _joined(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
