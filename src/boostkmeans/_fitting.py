"""The loop: sweep after sweep until a rule says stop, and a record of each."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._candidates import Candidates
from boostkmeans._coincidence import first_at_same_place
from boostkmeans._history import SweepRecord
from boostkmeans._partition import Partition
from boostkmeans._rows import Floats, Rows
from boostkmeans._seeding import fill_empty
from boostkmeans._weights import RowWeights

logger = logging.getLogger("boostkmeans")

# Rows that propose before the first of them is decided: a hundredth of all, so that centres are never
# stale by more than that. Smaller blocks end no lower: see "Starts" in docs/benchmarks.md.
BLOCKS_PER_SWEEP = 100
SMALLEST_BLOCK, LARGEST_BLOCK = 16, 16_384
# Large data is visited in runs of neighbouring rows, in random order: kind to memory and to disks. A run
# is about a page of memory, and there are tens of runs in a block, so that it is still a random sample.
RUN_BYTES, LONGEST_RUN = 4096, 64
RUNS_PER_SWEEP = 32 * BLOCKS_PER_SWEEP
# From here on a sweep also decides what float32 cannot, in the hope that it is the last one.
CERTIFY_BELOW_MOVES = 1 / 200
# Proposals are made in low precision from so many clusters on, as long as that share of the rows moves,
# and the inertia is that share of the sum of all squares. See "Low precision" in docs/benchmarks.md.
LOW_FROM_CLUSTERS, LOW_ABOVE_MOVES, LOW_ABOVE_SPREAD = 256, 1 / 20, 1 / 8
# For a certificate: with fewer moves, candidates have little to offer, and rows look at all clusters.
FULL_BELOW_MOVES = 1 / 2000
# Composites and inertia are recomputed from the labels after that many moves per row, and whenever the
# inertia falls by this share, because then it is a small difference of large sums.
RECOMPUTE_AFTER_MOVES = 1
RECOMPUTE_AFTER_FALL = 1 / 2


@dataclass(frozen=True)
class StopRules:
    """When to end; and the user's callback, which may say so too."""

    tol: float
    max_iter: int
    deadline: float = math.inf
    """As time.perf_counter() has it."""
    callback: Callable[[SweepRecord], bool | None] | None = None


@dataclass
class Fit:
    """One run from a start to a stop. The partition is consistent whenever control is in Python."""

    rows: Rows
    row_weights: RowWeights
    partition: Partition
    rng: np.random.RandomState
    n_threads: int
    moves: str
    began: float
    """As time.perf_counter() has it: `seconds` of the records count from here."""
    n_pinned: int = 0
    """The first rows of all that count and do not move: the past of partial_fit."""
    candidates: Candidates | None = None
    """Where rows look at first. None: at all clusters."""
    inertias: Floats | None = None
    """Filled with the inertias of the clusters at the start."""
    inertia: float = field(init=False)
    """In the frame, by the weights of the core."""
    drift: float = 0.0
    """The largest that was seen of the composites, relative."""
    history: list[SweepRecord] = field(default_factory=list)
    stop_reason: str = ""
    _moves_since: int = 0
    """Moves since the composites were recomputed."""
    _energy: float = 0.0
    """Inertia and objective add up to this, whatever the partition."""

    def __post_init__(self) -> None:
        self._recompute(self.inertias)
        if not self.n_pinned and fill_empty(self.partition, self.rows, self.row_weights.values):
            self._recompute()

    @property
    def certified(self) -> bool:
        """Whether it is proved that no single move improves the partition."""
        return self.stop_reason == "certified"

    @property
    def n_sweeps(self) -> int:
        """Sweeps so far; the making of a tree is not one."""
        return sum(record.kind != "tree" for record in self.history)

    @property
    def saw_all(self) -> bool:
        """Whether rows look at all clusters, by now or from the beginning."""
        return self.candidates is None

    @property
    def user_inertia(self) -> float:
        """In the user's unit, by the user's weights."""
        return self.rows.frame.inertia(self.inertia) * self.row_weights.unit

    def run(self, stop: StopRules) -> None:
        """Sweeps until a rule of `stop` applies; sets `stop_reason`."""
        try:
            while not self.stop_reason:
                before = self.inertia
                late = self._sweep(stop)
                self.stop_reason = self._reason(stop, before, late)
                if self.stop_reason in ("certified", "tol") and self._release_coincident():
                    self.stop_reason = "" if self.n_sweeps < stop.max_iter else "max_iter"
        except KeyboardInterrupt:
            self.stop_reason = "interrupted"
            # At once, and not by another pass over the rows: the composites are as good as the labels.
            self.inertia = max(0.0, self._energy - self.partition.objective)
            raise
        self._recompute()
        logger.debug("drift of the composites: %.1e", self.drift)

    def _recompute(self, inertias: Floats | None = None) -> None:
        """Everything from the labels alone."""
        self.inertia, drift = self.partition.recompute(
            self.rows, self.row_weights.values, self.n_threads, inertias=inertias
        )
        if self.history:  # before that, there was nothing that could have drifted
            self.drift = max(self.drift, drift)
        self._energy = self.inertia + self.partition.objective
        self._moves_since = 0

    def _release_coincident(self) -> bool:
        """Joins clusters that share a centre, and gives the free ones to rows that gain by it."""
        centres = self.partition.centres
        first = first_at_same_place(centres)
        free = np.flatnonzero(first != np.arange(len(first)))
        if len(free) == 0 or self.n_pinned:
            return False
        # A new one, so that an interrupt finds the old one as it was.
        joined = Partition.of(first[self.partition.labels], len(first), self.rows.n_features)
        joined.composites[free] = centres[first[free]]  # a position, as long as they are empty
        joined.recompute(self.rows, self.row_weights.values, self.n_threads)
        moved = fill_empty(joined, self.rows, self.row_weights.values, strict=True)
        if moved:
            joined.recompute(self.rows, self.row_weights.values, self.n_threads)
        self.partition = joined
        self._recompute()
        return moved

    def _sweep(self, stop: StopRules) -> bool:
        """One sweep and its record; returns whether it ran out of time."""
        if self.candidates is not None:
            kind = "candidates"
            moves, gain, evaluations, late = self.candidates.sweep(
                self.rows,
                self.row_weights.values,
                self.partition,
                self.rng,
                block_rows=block_rows(self.rows.n_rows),
                first=self.moves == "first",
                deadline=stop.deadline,
            )
        else:
            kind = "certify" if self._worth_certifying() else "sweep"
            seconds_left = max(0.0, stop.deadline - time.perf_counter())
            moves, gain, evaluations, late = self._full_sweep(kind == "certify", seconds_left)
        self._moves_since += moves
        steep = gain > RECOMPUTE_AFTER_FALL * self.inertia
        self.inertia = max(0.0, self.inertia - gain)
        if steep or self._moves_since > RECOMPUTE_AFTER_MOVES * self.rows.n_rows:
            self._recompute()
        self.record(moves, evaluations, kind)
        return late

    def _full_sweep(self, exact: bool, seconds_left: float) -> tuple[int, float, int, bool]:
        """Every row looks at all clusters."""
        order, length = self._visit()
        return _core.sweep(
            self.rows.core,
            self.row_weights.values,
            self.partition.labels,
            self.partition.composites,
            self.partition.weights,
            self.partition.counts,
            order,
            length,
            block_rows(self.rows.n_rows),
            self.moves == "first",
            int(self.rng.randint(2**31 - 1)),
            exact,
            self._worth_low_precision(),
            seconds_left,
            self.n_threads,
        )

    def _worth_low_precision(self) -> bool:
        """Whether proposals may be rough: there is much to gain, from many clusters that lie apart.

        Products of bytes are right to a hundredth of the distance from the origin of the frame. Only
        rows that are bytes are multiplied like that.
        """
        if self.partition.n_clusters < LOW_FROM_CLUSTERS or self.n_sweeps == 0:
            return False
        many = self.history[-1].moves > LOW_ABOVE_MOVES * self.rows.n_rows
        return many and self.inertia > LOW_ABOVE_SPREAD * self._energy

    def record(self, moves: int, evaluations: int, kind: str) -> None:
        """Writes down where the run is."""
        inertia = self.user_inertia
        record = SweepRecord(
            seconds=time.perf_counter() - self.began,
            moves=moves,
            # A recomputed sum may lie a rounding above one that was kept up to date.
            inertia=min(inertia, self.history[-1].inertia) if self.history else inertia,
            evaluations=evaluations,
            kind=kind,
        )
        self.history.append(record)
        name = kind if kind == "tree" else f"sweep {self.n_sweeps}"
        note = "" if kind in ("tree", "sweep") else f" ({kind})"
        logger.info(
            "%s: inertia %.8g, %d moves, %.3f s%s",
            name, record.inertia, record.moves, record.seconds, note,
        )  # fmt: skip

    def _worth_certifying(self) -> bool:
        if self.n_sweeps == 0:
            return False
        if self.moves == "first":  # a certificate looks for the best move: only once none is left
            return self.history[-1].moves == 0
        return bool(self.history[-1].moves <= CERTIFY_BELOW_MOVES * self.rows.n_rows)

    def _visit(self) -> tuple[NDArray[np.int64], int]:
        n = self.rows.n_rows
        if self.n_pinned:
            return self.n_pinned + self.rng.permutation(n - self.n_pinned), 1
        length = run_rows(n, self.rows.row_bytes)
        return self.rng.permutation(-(-n // length)), length

    def _reason(self, stop: StopRules, before: float, late: bool) -> str:
        last = self.history[-1]
        enough = stop.callback is not None and stop.callback(last)
        if late:
            return "max_time"
        if self._is_certificate(last):
            return "certified"
        if enough:
            return "callback"
        slow = before - self.inertia < stop.tol * before
        if last.kind == "candidates":
            assert self.candidates is not None
            few = stop.tol == 0 and last.moves <= FULL_BELOW_MOVES * self.rows.n_rows
            if (slow or few or last.moves == 0) and not self.candidates.try_something_else():
                if stop.tol > 0 and not self.candidates.then_all:
                    return "tol"
                self.candidates = None
        elif slow and last.moves > 0:
            return "tol"
        if self.n_sweeps >= stop.max_iter:
            return "max_iter"
        return "max_time" if time.perf_counter() >= stop.deadline else ""

    def _is_certificate(self, last: SweepRecord) -> bool:
        """Whether that sweep proves a local optimum: only from composites that did not drift."""
        if last.moves > 0 or last.kind != "certify":
            return False
        fresh = self._moves_since == 0
        if not fresh:
            self._recompute()
        return fresh


def block_rows(n_rows: int) -> int:
    """Rows that propose before the first of them is decided."""
    return min(max(n_rows // BLOCKS_PER_SWEEP, SMALLEST_BLOCK), LARGEST_BLOCK)


def run_rows(n_rows: int, row_bytes: int) -> int:
    """Neighbouring rows that are visited one after the other."""
    return max(1, min(RUN_BYTES // row_bytes, LONGEST_RUN, n_rows // RUNS_PER_SWEEP))
