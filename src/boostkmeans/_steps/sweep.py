"""Sweep: one pass over the rows in which each may move to a better cluster.

`sweep` is the only entry point. A visit policy determines the order of the rows and the clusters that
they are compared with. `SweepOptions` determine how moves are decided.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import RowBlock, RowSet
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.row_bounds import RowBounds
from boostkmeans._storage.state import SavedState, State

# All rows of a block propose before the first move of the block is decided. A block has a hundredth of
# the rows, so the centres that proposals use lag behind by at most this share of the moves. Smaller
# blocks do not lead to a lower inertia: see "Starts" in docs/benchmarks.md.
BLOCKS_PER_SWEEP = 100
MIN_BLOCK_ROWS = 16
MAX_BLOCK_ROWS = 16_384
# Large data is visited in runs of neighbouring rows, in random order, because reading neighbouring rows
# is faster. A run is about one page of memory.
RUN_BYTES = 4096
MAX_RUN_ROWS = 64
# A block has tens of runs, so that it is still a random sample.
MIN_RUNS_PER_SWEEP = 32 * BLOCKS_PER_SWEEP


@dataclass(frozen=True)
class SweepOptions:
    """How a sweep decides moves, and when it stops."""

    first: bool = False
    """Take the first improving cluster instead of the best one."""
    temperature: float = 0.0
    """Annealing temperature: above 0, moves that cost a little are accepted."""
    exchange: bool = False
    """Allow two rows to change places if a single move would break a limit."""
    exact: bool = False
    """Decide in float64 wherever float32 is not accurate enough, as a certificate requires."""
    low_precision: bool = False
    """Make proposals in low precision, if the rows allow it."""
    bounded: bool = True
    """Use the bounds of the projection, if the problem has one."""
    penalties: Floats | None = None
    """Cost of being in each cluster, in addition to the distance."""
    deadline: float = math.inf
    """Deadline, as a value of `time.perf_counter()`."""


class SweepResult(NamedTuple):
    """Result of a sweep."""

    moves: int
    gain: float
    """Decrease of the inertia, in the frame."""
    evaluations: int
    """Number of computed distances."""
    late: bool
    """True if the deadline stopped the sweep."""

    def plus(self, other: "SweepResult") -> "SweepResult":
        """Return the sum of two results."""
        return SweepResult(
            self.moves + other.moves,
            self.gain + other.gain,
            self.evaluations + other.evaluations,
            self.late or other.late,
        )


NOTHING_SWEPT = SweepResult(0, 0.0, 0, late=False)


class VisitPolicy(Protocol):
    """The order in which rows are visited, and the clusters that they are compared with."""

    def visit(
        self, block: RowBlock, n_clusters: int, block_rows: int, rng: np.random.RandomState
    ) -> _core.FullVisit | _core.CandidateVisit:
        """Return the visit of one block of rows."""

    def after_block(self, visit: _core.FullVisit | _core.CandidateVisit) -> None:
        """Record what the visit of a block changed."""


@dataclass(frozen=True)
class FullPolicy:
    """Compare rows with all clusters, in random order."""

    share: float = 1.0
    """Share of the rows that are visited, drawn at random."""
    bounds: RowBounds | None = None
    """Bounds by which rows are skipped, if all rows are in memory."""

    def visit(
        self, block: RowBlock, n_clusters: int, block_rows: int, rng: np.random.RandomState
    ) -> _core.FullVisit:
        """See `VisitPolicy`."""
        n = block.rows.n_rows
        run_rows = neighbouring_rows(n, block.rows.row_bytes)
        order = rng.permutation(-(-n // run_rows))
        order = order[: math.ceil(self.share * len(order))]
        return _core.FullVisit(
            order=order,
            run_rows=run_rows,
            block_rows=block_rows,
            bounds=None if self.bounds is None else self.bounds.view,
        )

    def after_block(self, visit: object) -> None:
        """See `VisitPolicy`."""


@dataclass
class SweepProgress:
    """A sweep that has visited some blocks of streamed rows. A checkpoint can store it."""

    left: list[int] | None = None
    """Indices of the blocks to visit; None before the sweep starts."""
    result: SweepResult = NOTHING_SWEPT
    after_block: Callable[[], None] | None = None
    """Called after each block but the last."""

    def blocks(self, rows: RowSet, rng: np.random.RandomState) -> Iterator[RowBlock]:
        """Yield the remaining blocks. The caller updates `result` after each block."""
        self.left = rows.block_order(rng) if self.left is None else self.left
        for block in rows.blocks(self.left):
            yield block
            if self.result.late:
                break
            self.left = self.left[1:]
            if self.left and self.after_block is not None:
                self.after_block()

    def state(self) -> State:
        """Return the progress as plain values for a checkpoint."""
        return {"left": self.left, **self.result._asdict()}

    @classmethod
    def restore(cls, saved: SavedState, n_blocks: int) -> "SweepProgress":
        """Restore the progress from the result of `state`."""
        left = saved.items("left")
        if not left or not all(type(number) is int and 0 <= number < n_blocks for number in left):
            saved.fail("left", f"block numbers below {n_blocks}", left)
        moves, evaluations = saved.integer("moves"), saved.integer("evaluations")
        return cls(left, SweepResult(moves, saved.number("gain"), evaluations, late=False))


def sweep(
    problem: Problem,
    partition: Partition,
    *,
    policy: VisitPolicy,
    options: SweepOptions,
    rng: np.random.RandomState,
    progress: SweepProgress | None = None,
    block_rows: int | None = None,
) -> SweepResult:
    """Visit rows in the order of the policy, and move those that gain. Change the partition in place.

    Pinned rows contribute to the sums of the partition, but are not visited. `block_rows` is the number
    of rows that propose before the first move is decided; by default it depends on the number of rows.
    """
    progress = progress or SweepProgress()
    limits, row_weights = problem.limits, problem.row_weights
    block_rows = block_rows or proposing_rows(problem.rows.n_rows)
    blocks = progress.blocks(problem.rows, rng) if problem.n_pinned == 0 else _unpinned(problem)
    for block in blocks:
        visit = policy.visit(block, partition.n_clusters, block_rows, rng)
        found = _core.sweep(
            block.rows.core,
            None if row_weights is None else row_weights[block.where],
            partition.view(block.where),
            visit,
            _core.SweepOptions(
                first=options.first,
                exact=options.exact,
                low_precision=options.low_precision,
                temperature=options.temperature,
                min_weights=None if limits is None else limits.min_weights,
                max_weights=None if limits is None else limits.max_weights,
                exchange=options.exchange,
                penalties=options.penalties,
                seed=int(rng.randint(2**31 - 1)),
            ),
            projection=_projection(problem, options),
            seconds_left=max(0.0, options.deadline - time.perf_counter()),
            n_threads=problem.n_threads,
        )
        policy.after_block(visit)
        progress.result = progress.result.plus(
            SweepResult(found.moves, found.gain, found.evaluations, found.late)
        )
    return progress.result


def _unpinned(problem: Problem) -> Iterator[RowBlock]:
    """Yield the rows that are not pinned, unless there are none."""
    first = problem.n_pinned
    if first < problem.rows.n_rows:
        yield RowBlock(0, slice(first, None), problem.rows_in_memory.after(first))


def _projection(problem: Problem, options: SweepOptions) -> _core.Projection | None:
    """Return the projection of the rows, if the sweep can use its bounds."""
    if problem.projection is None or not options.bounded:
        return None
    return None if options.exchange or options.penalties is not None else problem.projection.core


def proposing_rows(n_rows: int) -> int:
    """Return the number of rows that propose before the first move is decided."""
    return min(max(n_rows // BLOCKS_PER_SWEEP, MIN_BLOCK_ROWS), MAX_BLOCK_ROWS)


def neighbouring_rows(n_rows: int, row_bytes: int) -> int:
    """Return the number of neighbouring rows that are visited one after the other."""
    return max(1, min(RUN_BYTES // row_bytes, MAX_RUN_ROWS, n_rows // MIN_RUNS_PER_SWEEP))
