"""One sweep over all clusters, how it decides, and in which order it visits the rows."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.rows import Floats, Part, Rows
from boostkmeans._steps.limits import NO_LIMITS, Limits
from boostkmeans._steps.partition import Partition
from boostkmeans._storage.state import SavedState, State

# Rows that propose before the first of them is decided: a hundredth of all, so that centres are never
# stale by more than that. Smaller blocks end no lower: see "Starts" in docs/benchmarks.md.
BLOCKS_PER_SWEEP = 100
SMALLEST_BLOCK, LARGEST_BLOCK = 16, 16_384
# Large data is visited in runs of neighbouring rows, in random order: kind to memory and to disks. A run
# is about a page of memory, and there are tens of runs in a block, so that it is still a random sample.
RUN_BYTES, LONGEST_RUN = 4096, 64
RUNS_PER_SWEEP = 32 * BLOCKS_PER_SWEEP


@dataclass(frozen=True)
class SweepOptions:
    """How a sweep decides, and when it ends."""

    n_threads: int
    first: bool = False
    """Rows take the first better cluster that they meet, not the best."""
    temperature: float = 0.0
    limits: Limits = NO_LIMITS
    exchange: bool = False
    """Two rows may change places where one alone would break a limit."""
    exact: bool = False
    """In float64 wherever float32 cannot tell."""
    low: bool = False
    """Proposals in low precision, where the rows allow it."""
    prices: Floats | None = None
    """What it costs to be in a cluster, beside the distance."""
    deadline: float = math.inf
    """As time.perf_counter() has it."""


class Swept(NamedTuple):
    """What a sweep did."""

    moves: int
    gain: float
    evaluations: int
    late: bool
    """Whether it ran out of time."""

    def plus(self, other: "Swept") -> "Swept":
        """Both, as one."""
        return Swept(
            self.moves + other.moves,
            self.gain + other.gain,
            self.evaluations + other.evaluations,
            self.late or other.late,
        )


NOTHING_SWEPT = Swept(0, 0.0, 0, late=False)


@dataclass
class SweepSoFar:
    """A sweep of which some parts of the rows are yet to be visited. It can be kept and restored."""

    left: list[int] | None = None
    """The numbers of these parts. None: it has not begun."""
    swept: Swept = NOTHING_SWEPT
    after_part: Callable[[], None] | None = None
    """Called when a part was visited, and others are left."""

    def parts(self, rows: Rows, rng: np.random.RandomState) -> Iterator[Part]:
        """Those that are left. After each of them, `add` is to be called."""
        self.left = rows.order(rng) if self.left is None else self.left
        for part in rows.parts(self.left):
            yield part
            if self.swept.late:
                break
            self.left = self.left[1:]
            if self.left and self.after_part is not None:
                self.after_part()

    def add(self, swept: Swept) -> None:
        """What was done in a part."""
        self.swept = self.swept.plus(swept)

    def state(self) -> State:
        """All of it."""
        return {"left": self.left, **self.swept._asdict()}

    @classmethod
    def restored(cls, saved: SavedState, n_parts: int) -> "SweepSoFar":
        """What `state` gave."""
        left = saved.items("left")
        if not left or not all(type(number) is int and 0 <= number < n_parts for number in left):
            saved.fail("left", f"numbers of parts, below {n_parts}", left)
        return cls(
            left,
            Swept(
                saved.integer("moves"), saved.number("gain"), saved.integer("evaluations"), late=False
            ),
        )


def sweep_all(
    rows: Rows,
    row_weights: Floats | None,
    partition: Partition,
    rng: np.random.RandomState,
    how: SweepOptions,
    n_pinned: int = 0,
    so_far: SweepSoFar | None = None,
    share: float = 1.0,
) -> Swept:
    """Every row but the first `n_pinned` looks at all clusters; or a share of them, drawn at random."""
    so_far = so_far or SweepSoFar()
    for part in so_far.parts(rows, rng):
        order, run_length = visit(part.rows, rng, n_pinned)
        order = order[: math.ceil(share * len(order))]
        found = _core.sweep(
            part.rows.core,
            None if row_weights is None else row_weights[part.where],
            *partition.of_part(part).arrays,
            order,
            run_length,
            block_rows(rows.n_rows),
            how.first,
            int(rng.randint(2**31 - 1)),
            how.exact,
            how.low,
            max(0.0, how.deadline - time.perf_counter()),
            how.n_threads,
            how.temperature,
            how.limits.least,
            how.limits.most,
            how.exchange,
            how.prices,
        )
        so_far.add(Swept(*found))
    return so_far.swept


def visit(rows: Rows, rng: np.random.RandomState, n_pinned: int) -> tuple[NDArray[np.int64], int]:
    """Runs of rows in random order, and how many rows make a run."""
    n = rows.n_rows
    if n_pinned:
        return n_pinned + rng.permutation(n - n_pinned), 1
    length = run_rows(n, rows.row_bytes)
    return rng.permutation(-(-n // length)), length


def block_rows(n_rows: int) -> int:
    """Rows that propose before the first of them is decided."""
    return min(max(n_rows // BLOCKS_PER_SWEEP, SMALLEST_BLOCK), LARGEST_BLOCK)


def run_rows(n_rows: int, row_bytes: int) -> int:
    """Neighbouring rows that are visited one after the other."""
    return max(1, min(RUN_BYTES // row_bytes, LONGEST_RUN, n_rows // RUNS_PER_SWEEP))
