"""A run: its partition, its sweeps, and a record of each."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from boostkmeans._data.rows import Floats, Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.plan import Plan
from boostkmeans._steps.balance import Balancing
from boostkmeans._steps.candidates import Candidates
from boostkmeans._steps.coincident import first_at_same_place
from boostkmeans._steps.limits import NO_LIMITS, Limits
from boostkmeans._steps.partition import LARGE, Labels, Partition
from boostkmeans._steps.seeding import fill_empty
from boostkmeans._steps.sweep import NOTHING_SWEPT, SweepOptions, SweepSoFar, Swept, sweep_all
from boostkmeans._storage.state import SavedState, State

logger = logging.getLogger("boostkmeans")

# From here on a sweep also decides what float32 cannot, in the hope that it is the last one.
CERTIFY_BELOW_MOVES = 1 / 200
# For a certificate: with fewer moves, candidates have little to offer, and rows look at all clusters.
FULL_BELOW_MOVES = 1 / 2000
# Proposals are made in low precision from so many clusters on, as long as that share of the rows moves,
# and the inertia is that share of the sum of all squares. See "Low precision" in docs/benchmarks.md.
LOW_FROM_CLUSTERS, LOW_ABOVE_MOVES, LOW_ABOVE_SPREAD = 256, 1 / 20, 1 / 8
# Composites and inertia are recomputed from the labels after that many moves per row, and whenever the
# inertia falls by this share, because then it is a small difference of large sums.
RECOMPUTE_AFTER_MOVES = 1
RECOMPUTE_AFTER_FALL = 1 / 2
# Sums over all rows in float64, in another order, differ by less.
ROUNDING_OF_INERTIA = 1e-9
# Composites that are kept up to date by moves are that near to those that are summed up anew.
MOST_DRIFT = 1e-6
# What a run counts and adds up.
KEPT_NUMBERS = ("inertia", "drift", "_moves_since", "_energy")


@dataclass(frozen=True)
class Kept:
    """A partition to come back to."""

    inertia: float
    labels: Labels
    partition: Partition | None
    """None: it is to be made from the labels."""

    @classmethod
    def copy_of(cls, partition: Partition, inertia: float) -> "Kept":
        """Large composites are not copied."""
        if partition.composites.size > LARGE:
            return cls(inertia, partition.labels.copy(), None)
        copy = partition.copy()
        return cls(inertia, copy.labels, copy)

    def state(self) -> State:
        """All of it."""
        if self.partition is None:
            return {"inertia": self.inertia, "labels": self.labels}
        return {"inertia": self.inertia, "partition": self.partition.state()}

    @classmethod
    def restored(cls, saved: SavedState, n_rows: int, n_clusters: int, n_features: int) -> "Kept":
        """What `state` gave."""
        inertia, partition = saved.non_negative("inertia"), saved.optional_child("partition")
        if partition is None:
            return cls(inertia, saved.array("labels", np.int32, (n_rows,), 0, n_clusters - 1), None)
        found = Partition.restored(partition, n_rows, n_clusters, n_features)
        return cls(inertia, found.labels, found)


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
    limits: Limits = NO_LIMITS
    candidates: Candidates | None = None
    """Where rows look at first. None: at all clusters."""
    plan: Plan | None = None
    note: str = ""
    """For the next record."""
    inertia: float = math.inf
    """In the frame, by the weights of the core."""
    drift: float = 0.0
    """The largest that was seen of the composites, relative."""
    history: list[SweepRecord] = field(default_factory=list)
    stop_reason: str = ""
    best: Kept | None = None
    """The best partition seen, where the inertia may rise."""
    after_part: Callable[[], None] | None = None
    """Called within a sweep, if rows are read in parts."""
    so_far: SweepSoFar | None = None
    """The sweep that is going on."""
    _exchange: bool = False
    """With limits: whether rows changed places in the last sweep. Every other time they do."""
    _moves_since: float = 0
    """Moves since the composites were recomputed."""
    _energy: float = 0.0
    """Inertia and objective add up to this, whatever the partition."""

    def begin(self, inertias: Floats | None = None) -> None:
        """From the labels of the start. `inertias` is filled with those of the clusters."""
        self.recompute(inertias)
        if not self.n_pinned and fill_empty(
            self.partition, self.rows, self.row_weights.values, self.n_threads
        ):
            self.recompute(inertias)

    def finish(self) -> None:
        """When all sweeps are made."""
        self.recompute()
        if self.candidates is not None:
            self.candidates = self.candidates.without_lists()

    def state(self) -> State:
        """All that the rest of the run depends on, but for rows, weights, limits and random numbers."""
        return {
            **{name: getattr(self, name) for name in KEPT_NUMBERS},
            "n_clusters": self.partition.n_clusters,
            "stop_reason": self.stop_reason,
            "exchange": self._exchange,
            "note": self.note,
            "history": [record.state() for record in self.history],
            "partition": self.partition.state(),
            "plan": None if self.plan is None else self.plan.state(),
            "candidates": None if self.candidates is None else self.candidates.state(),
            "best": None if self.best is None else self.best.state(),
            "so_far": None if self.so_far is None else self.so_far.state(),
        }

    def restore(self, saved: SavedState) -> None:
        """Goes on from what `state` gave. The rows must be the same, and no more clusters."""
        n, d = self.rows.n_rows, self.rows.n_features
        k = saved.integer("n_clusters", 1, self.partition.n_clusters)
        for name in KEPT_NUMBERS:
            setattr(self, name, saved.non_negative(name))
        self.stop_reason = saved.string("stop_reason")
        self._exchange = saved.boolean("exchange")
        self.note = saved.string("note")
        self.history = [SweepRecord.restored(record) for record in saved.children("history")]
        if self.history:
            self.began = time.perf_counter() - self.history[-1].seconds
        self.partition = Partition.restored(saved.child("partition"), n, k, d)
        plan, candidates, best = map(saved.optional_child, ("plan", "candidates", "best"))
        self.plan = None if plan is None else Plan.restored(plan)
        self.candidates = (
            None if candidates is None else Candidates.restored(candidates, self.rows, k, self.n_threads)
        )
        self.best = None if best is None else Kept.restored(best, n, k, d)
        so_far = saved.optional_child("so_far")
        self.so_far = None if so_far is None else SweepSoFar.restored(so_far, self.rows.n_parts)

    def keep_within(self, limits: Limits, deadline: float) -> None:
        """From now on, no cluster is smaller or larger than that."""
        self.limits = limits
        logger.info("bringing the start within the limits on sizes")
        self.partition = Balancing(
            self.partition, self.rows, self.row_weights.values, limits, self.candidates, self.rng,
            self.n_threads, deadline,
        ).run()  # fmt: skip
        if self.candidates is not None:
            self.candidates.forget()
        self.recompute()

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

    @property
    def explained(self) -> float:
        """The share of the inertia of all rows that the clusters account for."""
        total = self._energy - self.partition.square_of_all
        return max(0.0, 1 - self.inertia / total) if total > 0 else 1.0

    def keep_if_best(self) -> None:
        """Copies the partition, to come back to it."""
        if self.best is None or self.inertia < self.best.inertia:
            self.best = Kept.copy_of(self.partition, self.inertia)

    def go_back_to_best(self) -> bool:
        """Whether there is a better partition that was kept: then this is it."""
        best, self.best = self.best, None
        if best is None or best.inertia * (1 + ROUNDING_OF_INERTIA) >= self.inertia:
            return False
        self.inertia = best.inertia
        if best.partition is not None:
            self.partition = best.partition
            self._moves_since += 1  # it is not known when it was recomputed
        else:
            self.partition.stale = True
            self.partition.labels = best.labels
            self.recompute()
        if self.candidates is not None:
            self.candidates.forget()
        return True

    def is_of_its_rows(self) -> bool:
        """Whether sums and counts are those of the rows: for a partition from elsewhere."""
        found = self.partition.made_anew(self.rows, self.row_weights.values, self.n_threads)
        filled = found.counts > 0
        gaps = np.abs(found.composites - self.partition.composites)[filled].max(initial=0.0)
        scale = np.abs(found.composites).max(initial=0.0)
        return bool(
            np.array_equal(found.counts, self.partition.counts)
            and np.allclose(found.weights, self.partition.weights, rtol=MOST_DRIFT)
            and gaps <= MOST_DRIFT * max(scale, 1.0)
        )

    def interrupted(self) -> None:
        """What is to be done at once, without another pass over the rows."""
        self.stop_reason = "interrupted"
        self.so_far = None
        if self.partition.stale:
            self.recompute()
        # The composites are as good as the labels.
        self.inertia = max(0.0, self._energy - self.partition.objective)
        self.go_back_to_best()

    def recompute(self, inertias: Floats | None = None) -> None:
        """Everything from the labels alone."""
        self.inertia, drift = self.partition.recompute(
            self.rows, self.row_weights.values, self.n_threads, inertias=inertias
        )
        if self.history:  # before that, there was nothing that could have drifted
            self.drift = max(self.drift, drift)
        self._energy = self.inertia + self.partition.objective
        self._moves_since = 0
        self.partition.stale = False

    def release_coincident(self) -> bool:
        """Joins clusters that share a centre, and gives the free ones to rows that gain by it."""
        first = first_at_same_place(self.partition)
        free = np.flatnonzero(first != np.arange(len(first)))
        if len(free) == 0 or self.n_pinned or self.limits:
            return False
        # A new one, so that an interrupt finds the old one as it was.
        joined = Partition.of(first[self.partition.labels], len(first), self.rows.n_features)
        at = first[free]
        weights = self.partition.weights[at]  # of the first ones, of which none is empty beside others
        # A position, as long as they are empty.
        joined.composites[free] = (
            self.partition.composites[at] / np.where(weights > 0, weights, 1.0)[:, None]
        )
        joined.recompute(self.rows, self.row_weights.values, self.n_threads)
        moved = fill_empty(joined, self.rows, self.row_weights.values, self.n_threads, strict=True)
        if moved:
            joined.recompute(self.rows, self.row_weights.values, self.n_threads)
        self.partition = joined
        self.recompute()
        if self.candidates is not None:
            self.candidates.forget()
        return moved

    def options(self, deadline: float, temperature: float = 0.0) -> SweepOptions:
        """How the next sweep is to be made."""
        return SweepOptions(
            n_threads=self.n_threads,
            first=self.moves == "first",
            temperature=temperature,
            limits=self.limits,
            exchange=self._exchange,
            deadline=deadline,
        )

    def sweep(self, deadline: float, temperature: float = 0.0, looks_around: bool = False) -> Swept:
        """One sweep and its record; before new lists, some rows may look at all clusters."""
        self._exchange = bool(self.limits) and not self._exchange
        how = self.options(deadline, temperature)
        values = self.row_weights.values
        so_far = self.so_far = self.so_far or SweepSoFar()
        so_far.after_part = self.after_part
        if self.candidates is not None and not self.candidates.everywhere:
            if self.limits:  # the two kinds of sweeps look for different moves
                self.candidates.revisit()
            kind = "candidates"
            swept = self.candidates.sweep(self.rows, values, self.partition, self.rng, how, so_far)
            if looks_around and not swept.late:
                swept = swept.plus(self._look_around(self.candidates, how))
        else:
            exact = temperature == 0 and not how.exchange and self._worth_certifying()
            kind = "certify" if exact else "sweep"
            how = replace(how, exact=exact, low=self._worth_low_precision())
            swept = sweep_all(self.rows, values, self.partition, self.rng, how, self.n_pinned, so_far)
            if self.candidates is not None:
                self.candidates.looked_everywhere(swept, self.partition.n_clusters)
        self.so_far = None
        self.account(swept)
        self.record(swept.moves, swept.evaluations, kind, temperature=temperature)
        return swept

    def _look_around(self, candidates: Candidates, how: SweepOptions) -> Swept:
        """Some rows look at all clusters: is it time for all of them to do so?"""
        share = candidates.share_to_look_around(self.rows, self.partition.n_clusters)
        if share == 0 or self.limits:
            return NOTHING_SWEPT
        seen = sweep_all(
            self.rows, self.row_weights.values, self.partition, self.rng, how, self.n_pinned, share=share
        )
        candidates.looked_around(seen, self.rows, self.partition, self.inertia)
        return seen

    def account(self, swept: Swept) -> None:
        """Brings the inertia up to date, by a new sum where a difference would be too rough."""
        self._moves_since += swept.moves
        steep = swept.gain > RECOMPUTE_AFTER_FALL * self.inertia
        self.inertia = max(0.0, self.inertia - swept.gain)
        if steep or self._moves_since > RECOMPUTE_AFTER_MOVES * self.rows.n_rows:
            self.recompute()

    def _worth_low_precision(self) -> bool:
        """Whether proposals may be rough: there is much to gain, from many clusters that lie apart.

        Products of bytes are right to a hundredth of the distance from the origin of the frame. Only
        rows that are bytes are multiplied like that.
        """
        if self.partition.n_clusters < LOW_FROM_CLUSTERS or self.n_sweeps == 0:
            return False
        many = self.history[-1].moves > LOW_ABOVE_MOVES * self.rows.n_rows
        return many and self.inertia > LOW_ABOVE_SPREAD * self._energy

    def record(
        self, moves: int, evaluations: int, kind: str, *, temperature: float = 0.0, swaps: int = 0
    ) -> None:
        """Writes down where the run is."""
        inertia = self.user_inertia
        record = SweepRecord(
            seconds=time.perf_counter() - self.began,
            moves=moves,
            # That of the best so far; and a recomputed sum may lie a rounding above one that was kept.
            inertia=min(inertia, self.history[-1].inertia) if self.history else inertia,
            evaluations=evaluations,
            kind=kind,
            temperature=temperature,
            swaps=swaps,
            note=self.note,
        )
        self.note = ""
        self.history.append(record)
        name = kind if kind == "tree" else f"sweep {self.n_sweeps}"
        notes = [] if kind in ("tree", "sweep") else [kind]
        notes += [f"temperature {temperature:.3f}"] if temperature else []
        notes += [f"{swaps} swaps"] if swaps else []
        logger.info(
            "%s: inertia %.8g, %d moves, %.3f s%s",
            name, inertia, moves, record.seconds, f" ({', '.join(notes)})" if notes else "",
        )  # fmt: skip

    def _worth_certifying(self) -> bool:
        if self.n_sweeps == 0:
            return False
        last = self.history[-1]
        # Candidates leave something: the first sweep over all clusters after them is seldom the last.
        if last.kind == "candidates" and last.moves > FULL_BELOW_MOVES * self.rows.n_rows:
            return False
        if self.moves == "first":  # a certificate looks for the best move: only once none is left
            return last.moves == 0
        return bool(last.moves <= CERTIFY_BELOW_MOVES * self.rows.n_rows)

    def is_certificate(self, last: SweepRecord) -> bool:
        """Whether that sweep proves a local optimum: only from composites that did not drift."""
        if last.moves > 0 or last.kind != "certify":
            return False
        fresh = self._moves_since == 0
        if not fresh:
            self.recompute()
        return fresh
