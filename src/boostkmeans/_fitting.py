"""The loop: sweep after sweep until a rule says stop, and a record of each."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from boostkmeans._annealing import Annealing
from boostkmeans._balancing import Balancing
from boostkmeans._candidates import Candidates
from boostkmeans._coincidence import first_at_same_place
from boostkmeans._history import SweepRecord
from boostkmeans._limits import NO_LIMITS, Limits
from boostkmeans._partition import Partition
from boostkmeans._repair import Repair, Swaps
from boostkmeans._rows import Floats, Rows
from boostkmeans._seeding import fill_empty
from boostkmeans._sweeping import SweepOptions, Swept, sweep_all
from boostkmeans._weights import RowWeights

logger = logging.getLogger("boostkmeans")

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
# Sweeps over what a repair touched: at most so many, fewer if they gain little.
SETTLING_SWEEPS, SETTLED = 5, 1e-4
# Swaps are worth while if they gain that share of `tol`: sweeps that follow gain several times as much.
WORTH_REPAIRING = 1 / 10
# Annealing ends early if fewer of the rows move at such a temperature: then none is near a border.
FROZEN = 1 / 1000
# Annealing that is so long is interrupted for a repair half-way.
LONG_ANNEALING = 40
# Ends that are reached because there is little left to gain.
AT_REST = ("certified", "tol")
# Sums over all rows in float64, in another order, differ by less.
ROUNDING_OF_INERTIA = 1e-9


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
    limits: Limits = NO_LIMITS
    candidates: Candidates | None = None
    """Where rows look at first. None: at all clusters."""
    annealing: Annealing | None = None
    repair_rounds: int = 0
    """How many are left."""
    attempts: int = 0
    """Swaps that are tried in a round although they do not gain at once."""
    note: str = ""
    """For the next record."""
    inertias: Floats | None = None
    """Filled with the inertias of the clusters at the start."""
    inertia: float = field(init=False)
    """In the frame, by the weights of the core."""
    drift: float = 0.0
    """The largest that was seen of the composites, relative."""
    history: list[SweepRecord] = field(default_factory=list)
    stop_reason: str = ""
    _best: tuple[float, Partition] | None = None
    """Inertia and a copy of the best partition that annealing has seen."""
    _exchange: bool = False
    """With limits: whether rows changed places in the last sweep. Every other time they do."""
    _quiet_sweeps: int = 0
    """How many of the last ones gained little."""
    _imposed: str = ""
    """The rule that ends the run, whether or not it also came to rest."""
    _round_seconds: float = 0.0
    """How long the last round of repair took."""
    _moves_since: int = 0
    """Moves since the composites were recomputed."""
    _energy: float = 0.0
    """Inertia and objective add up to this, whatever the partition."""

    def __post_init__(self) -> None:
        self._recompute(self.inertias)
        if not self.n_pinned and fill_empty(self.partition, self.rows, self.row_weights.values):
            self._recompute()

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
        """Begins, descends, repairs, until a rule of `stop` applies; sets `stop_reason`."""
        try:
            self._begin(stop)
            self._descend(stop)
            if self._go_back_to_best():
                self._descend(stop)
            while self._may_go_on and self._repair(stop):
                self._descend(stop)
        except KeyboardInterrupt:
            self.stop_reason = "interrupted"
            # At once, and not by another pass over the rows: the composites are as good as the labels.
            self.inertia = max(0.0, self._energy - self.partition.objective)
            self._go_back_to_best()
            raise
        self._recompute()
        logger.debug("drift of the composites: %.1e", self.drift)

    @property
    def _may_go_on(self) -> bool:
        """Whether the run came to rest by itself, and no rule would have ended it all the same."""
        return self.stop_reason in AT_REST and not self._imposed

    def _begin(self, stop: StopRules) -> None:
        """Sweeps at falling temperatures, with a repair after the first one, and half-way if it is long.

        What is in the wrong place is set right as early as that, so that the other sweeps build on it.
        """
        if self.annealing is None:
            temperatures = [0.0] if self.repair_rounds else []
        else:
            temperatures = [self.annealing.at(i) for i in range(self.annealing.n_sweeps)]
        repairs = [0, len(temperatures) // 2] if len(temperatures) >= LONG_ANNEALING else [0]
        for i, temperature in enumerate(temperatures):
            if temperature > 0:
                self._keep_if_best()
            swept = self._sweep(stop, temperature)
            self.stop_reason = self._imposed_end(stop, swept.late)
            if self.stop_reason:
                return
            if i in repairs:
                self._repair(stop)
                if self.stop_reason:
                    return
            elif swept.moves < FROZEN * self.rows.n_rows:
                return

    def _descend(self, stop: StopRules) -> None:
        """Sweeps that lower the inertia, until little is left to gain."""
        self._quiet_sweeps = 0
        while not self.stop_reason:
            before = self.inertia
            swept = self._sweep(stop)
            self.stop_reason = self._reason(stop, before, swept.late)
            if self.stop_reason in AT_REST and self._release_coincident():
                self.stop_reason = "" if self.n_sweeps < stop.max_iter else "max_iter"

    def _repair(self, stop: StopRules) -> bool:
        """Rounds of swaps, for as long as they gain; whether there was any. Renews `stop_reason`."""
        swapped = False
        while self.repair_rounds > 0 and self.n_sweeps < stop.max_iter:
            began = time.perf_counter()
            if began + self._round_seconds >= stop.deadline:  # half a round is none
                break
            self.repair_rounds -= 1
            gained = self._repair_round(stop)
            self._round_seconds = time.perf_counter() - began
            if not gained:
                break
            swapped = True
            self.stop_reason = self._imposed_end(stop, late=False)
            if self.stop_reason:
                break
        if swapped and self.candidates is not None:
            self.candidates.forget()
        return swapped

    def _repair_round(self, stop: StopRules) -> bool:
        """Swaps of clusters, and sweeps over what they touched; False if there is little to gain."""
        repair = Repair(
            self.rows, self.row_weights.values, self.partition, self.limits,
            int(self.rng.randint(2**31 - 1)), self.n_threads,
        )  # fmt: skip
        least = max(WORTH_REPAIRING * stop.tol, ROUNDING_OF_INERTIA) * self.inertia
        swaps = repair.gaining(least)
        if swaps is not None:
            self._swap(repair, swaps, stop)
            return True
        return self.stop_reason in AT_REST and self._attempt(repair, least, stop)

    def _attempt(self, repair: Repair, least: float, stop: StopRules) -> bool:
        """Swaps that do not gain at once, one by one: kept if the sweeps that follow make up for it."""
        before, partition, energy = self.inertia, self.partition, self._energy
        for swaps in repair.attempts(self.attempts):
            self._best = before, partition  # for whatever may end this
            self._swap(repair, swaps, stop, above=before - least)
            if self.inertia < before - least:
                self._best = None
                return True
            self.partition, self.inertia, self._energy = partition, before, energy
            self._moves_since = 0
            if time.perf_counter() >= stop.deadline:
                break
        self._best = None
        return False

    def _swap(self, repair: Repair, swaps: Swaps, stop: StopRules, above: float = math.inf) -> None:
        """Does it, and sweeps over what it touched. No record, if the inertia stays above that."""
        self.partition = repair.swapped(swaps)
        self._account(Swept(0, swaps.gain, 0, late=False))
        around = Candidates.around(self.partition, swaps.touched, self.n_threads)
        moves = evaluations = 0
        for _ in range(SETTLING_SWEEPS):
            swept = around.sweep(
                self.rows, self.row_weights.values, self.partition, self.rng, self._options(stop)
            )
            moves, evaluations = moves + swept.moves, evaluations + swept.evaluations
            self._account(swept)
            if swept.late or swept.gain <= SETTLED * self.inertia:
                break
        if self.inertia < above:
            self.record(moves, evaluations, "repair", swaps=len(swaps))

    def _keep_if_best(self) -> None:
        if self._best is None or self.inertia < self._best[0]:
            self._best = self.inertia, self.partition.copy()

    def _go_back_to_best(self) -> bool:
        """If annealing has seen a better partition than this one; True if there is work left on it."""
        best, self._best = self._best, None
        if best is None or best[0] * (1 + ROUNDING_OF_INERTIA) >= self.inertia:
            return False
        self.inertia, self.partition = best
        if self.candidates is not None:
            self.candidates.forget()
        if not self._may_go_on:
            return False
        self._recompute()
        self.stop_reason = ""
        return True

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
        if len(free) == 0 or self.n_pinned or self.limits:
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
        if self.candidates is not None:
            self.candidates.forget()
        return moved

    def _options(self, stop: StopRules, temperature: float = 0.0) -> SweepOptions:
        return SweepOptions(
            n_threads=self.n_threads,
            first=self.moves == "first",
            temperature=temperature,
            limits=self.limits,
            exchange=self._exchange,
            deadline=stop.deadline,
        )

    def _sweep(self, stop: StopRules, temperature: float = 0.0) -> Swept:
        """One sweep and its record."""
        self._exchange = bool(self.limits) and not self._exchange
        how = self._options(stop, temperature)
        values = self.row_weights.values
        if self.candidates is not None:
            if self.limits:  # the two kinds of sweeps look for different moves
                self.candidates.revisit()
            kind = "candidates"
            swept = self.candidates.sweep(self.rows, values, self.partition, self.rng, how)
        else:
            exact = temperature == 0 and not how.exchange and self._worth_certifying()
            kind = "certify" if exact else "sweep"
            how = replace(how, exact=exact, low=self._worth_low_precision())
            swept = sweep_all(self.rows, values, self.partition, self.rng, how, self.n_pinned)
        self._account(swept)
        self.record(swept.moves, swept.evaluations, kind, temperature=temperature)
        return swept

    def _account(self, swept: Swept) -> None:
        """Brings the inertia up to date, by a new sum where a difference would be too rough."""
        self._moves_since += swept.moves
        steep = swept.gain > RECOMPUTE_AFTER_FALL * self.inertia
        self.inertia = max(0.0, self.inertia - swept.gain)
        if steep or self._moves_since > RECOMPUTE_AFTER_MOVES * self.rows.n_rows:
            self._recompute()

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
        if self.moves == "first":  # a certificate looks for the best move: only once none is left
            return self.history[-1].moves == 0
        return bool(self.history[-1].moves <= CERTIFY_BELOW_MOVES * self.rows.n_rows)

    def _imposed_end(self, stop: StopRules, late: bool) -> str:
        """The rule that ends a run before it comes to rest, if any."""
        enough = stop.callback is not None and stop.callback(self.history[-1])
        if late:
            return "max_time"
        if enough:
            return "callback"
        if self.n_sweeps >= stop.max_iter:
            return "max_iter"
        return "max_time" if time.perf_counter() >= stop.deadline else ""

    def _reason(self, stop: StopRules, before: float, late: bool) -> str:
        """Why the descent ends with the sweep that was just made; "" if it goes on."""
        imposed = self._imposed = self._imposed_end(stop, late)
        last = self.history[-1]
        if late or not self._is_quiet(stop, before):
            return imposed
        if self._is_certificate(last):
            return "certified"
        if imposed == "callback":
            return imposed
        if last.kind == "candidates":
            assert self.candidates is not None
            if not self.candidates.try_something_else():
                if stop.tol > 0 and not self.candidates.then_all:
                    return "tol"
                self.candidates = None
        elif last.moves > 0:
            return "tol"
        return imposed

    def _is_quiet(self, stop: StopRules, before: float) -> bool:
        """Whether sweeps like the last one have little to offer."""
        last = self.history[-1]
        quiet = last.moves == 0 or before - self.inertia < stop.tol * before
        if last.kind == "candidates" and stop.tol == 0:
            quiet = quiet or last.moves <= FULL_BELOW_MOVES * self.rows.n_rows
        self._quiet_sweeps = self._quiet_sweeps + 1 if quiet else 0
        # With limits, sweeps take turns: one kind may find what the other does not.
        return self._quiet_sweeps >= (2 if self.limits else 1)

    def _is_certificate(self, last: SweepRecord) -> bool:
        """Whether that sweep proves a local optimum: only from composites that did not drift."""
        if last.moves > 0 or last.kind != "certify":
            return False
        fresh = self._moves_since == 0
        if not fresh:
            self._recompute()
        return fresh
