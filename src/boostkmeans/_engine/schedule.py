"""The course of a run: it begins, descends, repairs, and stops by a rule."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from boostkmeans._engine.annealing import Annealing
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.run import FULL_BELOW_MOVES, ROUNDING_OF_INERTIA, Fit, Kept
from boostkmeans._steps.candidates import Candidates
from boostkmeans._steps.repair import Repair, Swaps
from boostkmeans._steps.sweep import Swept, sweep_all
from boostkmeans._storage.state import SavedState, State

logger = logging.getLogger("boostkmeans")

# Sweeps over what a repair touched: at most so many, fewer if they gain little.
SETTLING_SWEEPS, SETTLED = 5, 1e-4
# Of sparse rows, these sweeps are over all clusters, if there are no more than that: see `_swap`.
FEW_SPARSE_CENTRES = 1024
# Swaps are worth while if they gain that share of `tol`: sweeps that follow gain several times as much.
WORTH_REPAIRING = 1 / 10
# Swaps that do not gain at once: so many are tried in a round.
ATTEMPTS_IN_A_ROUND = 8
# Annealing ends early if fewer of the rows move at such a temperature: then none is near a border.
FROZEN = 1 / 1000
# Annealing that is so long is interrupted for a repair half-way.
LONG_ANNEALING = 40
# Ends that are reached because there is little left to gain.
AT_REST = ("certified", "tol")
# The phases of a course.
PHASES = ("beginning", "early repair", "descent", "rest", "repair", "end")
BEGINNING, EARLY_REPAIR, DESCENT, REST, REPAIR, END = PHASES
# What a course counts.
KEPT_COUNTS = ("annealed", "repair_rounds", "attempts", "_quiet_sweeps")


@dataclass(frozen=True)
class StopRules:
    """When to end; and the user's callback, which may say so too."""

    tol: float
    max_iter: int
    deadline: float = math.inf
    """As time.perf_counter() has it."""
    callback: Callable[[SweepRecord], bool | None] | None = None


class AfterStep(Protocol):
    """Called with a course between two steps."""

    def __call__(self, course: "Course", *, now: bool) -> None:
        """`now`: it will not be called again."""


def _nothing(course: "Course", *, now: bool) -> None:
    """Nobody keeps the run."""


@dataclass
class Course:
    """Takes a run from its start to a stop, as its plan says; sets its `stop_reason`.

    It goes step by step: a step is a sweep or a round of repair, and what is to follow is in `phase`. So
    between two steps a run can be kept, and taken up again by another process.
    """

    fit: Fit
    stop: StopRules
    after_step: "AfterStep" = _nothing
    phase: str = BEGINNING
    annealed: int = 0
    """Sweeps of the beginning that were made."""
    repair_rounds: int = field(init=False)
    """How many are left."""
    attempts: int = field(init=False)
    """How many swaps may still be tried although they do not gain at once."""
    _swapped: bool = False
    """Whether this repair has changed anything."""
    _quiet_sweeps: int = 0
    """How many of the last ones gained little."""
    _imposed: str = ""
    """The rule that ends the run, whether or not it also came to rest."""
    outside: str = ""
    """What stops the run although it is not at its end: "callback" or "max_time"."""
    disturbed: bool = False
    """Whether the clock or the user made it differ from a run that nobody disturbs. Such a state is not
    kept: taken up again, a run ends as if nothing had happened."""
    _round_seconds: float = 0.0
    """How long the last round of repair took."""

    def __post_init__(self) -> None:
        plan = self.fit.plan
        self.repair_rounds = 0 if plan is None else plan.repair_rounds
        self.attempts = 0 if plan is None else plan.attempts

    def state(self) -> State:
        """Where it is, beside the state of its run."""
        return {name: getattr(self, name) for name in (*KEPT_COUNTS, "phase", "_swapped", "_imposed")}

    def restore(self, saved: SavedState) -> None:
        """Goes on from what `state` gave."""
        self.phase = saved.string("phase", PHASES)
        for name in KEPT_COUNTS:
            setattr(self, name, saved.integer(name))
        self._swapped = saved.boolean("_swapped")
        self._imposed = saved.string("_imposed")

    def run(self) -> None:
        """Begins, descends, repairs, until a rule applies."""
        steps = {
            BEGINNING: self._begin,
            EARLY_REPAIR: self._repair_early,
            DESCENT: self._descend,
            REST: self._rest,
            REPAIR: self._repair,
        }
        fit = self.fit
        fit.after_part = lambda: self._keep(now=False)
        try:
            while self.phase != END and not self.outside:
                steps[self.phase]()
                self._keep(now=self.outside != "")
            if self.outside or self.disturbed:
                self._stop_here()
        except KeyboardInterrupt:
            fit.interrupted()
            raise
        finally:
            fit.after_part = None  # which would keep the rows in memory, going round in a circle
        fit.finish()
        logger.debug("drift of the composites: %.1e", fit.drift)

    def _keep(self, *, now: bool) -> None:
        if not self.disturbed:
            self.after_step(self, now=now)

    def _stop_here(self) -> None:
        """With the best that there is."""
        self.disturbed = True
        went_back = self.fit.go_back_to_best()
        if went_back or not self.fit.certified:
            self.fit.stop_reason = self.outside or "max_time"  # for which a repair was left out

    @property
    def _annealing(self) -> Annealing | None:
        return None if self.fit.plan is None else self.fit.plan.annealing

    @property
    def _first_sweeps(self) -> int:
        """How many sweeps the beginning has."""
        if self._annealing is not None:
            return self._annealing.n_sweeps
        return 1 if self.fit.plan is not None and self.fit.plan.repair_rounds else 0

    @property
    def _may_go_on(self) -> bool:
        """Whether the run came to rest by itself, and no rule would have ended it all the same."""
        return self.fit.stop_reason in AT_REST and not self._imposed

    def _begin(self) -> None:
        """A sweep at the next temperature; a repair follows the first, and the middle one if it is long.

        What is in the wrong place is set right as early as that, so that the other sweeps build on it.
        """
        fit, annealing, n_sweeps = self.fit, self._annealing, self._first_sweeps
        if self.annealed >= n_sweeps:
            self.phase = DESCENT
            return
        temperature = 0.0 if annealing is None else annealing.at(self.annealed, fit.explained)
        if temperature > 0:
            fit.keep_if_best()
        swept = fit.sweep(self.stop.deadline, temperature)
        repairs = [0, n_sweeps // 2] if n_sweeps >= LONG_ANNEALING else [0]
        repairs_now = self.annealed in repairs
        self.annealed += 1
        self._watch(swept.late)
        fit.stop_reason = self._rule()
        if fit.stop_reason:
            self.phase = REST
        elif repairs_now:
            self.phase = EARLY_REPAIR
        elif swept.moves < FROZEN * fit.rows.n_rows:
            self.phase = DESCENT

    def _descend(self) -> None:
        """A sweep that lowers the inertia; there is rest once little is left to gain."""
        fit = self.fit
        before = fit.inertia
        swept = fit.sweep(self.stop.deadline, 0.0, True)  # with repairs behind it, that pays
        fit.stop_reason = self._reason(before, swept.late)
        if fit.stop_reason in AT_REST and fit.release_coincident():
            fit.stop_reason = "" if fit.n_sweeps < self.stop.max_iter else "max_iter"
        if fit.stop_reason:
            self.phase = REST

    def _rest(self) -> None:
        """Nothing is left to gain by sweeps from here: from the best partition so far, or by repair?"""
        self._quiet_sweeps = 0
        if self.fit.go_back_to_best() and self._may_go_on:
            self.fit.stop_reason = ""
            self.phase = DESCENT
        else:
            self.phase = REPAIR if self._may_go_on else END

    def _repair_early(self) -> None:
        """A round of repair within the beginning, which then goes on."""
        if not self._one_round():
            self._end_repair(REST if self.fit.stop_reason else BEGINNING)

    def _repair(self) -> None:
        """A round of repair; sweeps follow the last one, if there was any that changed something."""
        if not self._one_round():
            self._end_repair((REST if self.fit.stop_reason else DESCENT) if self._swapped else END)

    def _end_repair(self, phase: str) -> None:
        if self._swapped and self.fit.candidates is not None:
            self.fit.candidates.forget()
        self._swapped = False
        self.phase = phase

    def _one_round(self) -> bool:
        """A round of swaps; whether another one may follow. Renews `stop_reason` if it gained."""
        fit = self.fit
        if self.repair_rounds <= 0 or fit.n_sweeps >= self.stop.max_iter:
            return False
        began = time.perf_counter()
        if began + self._round_seconds >= self.stop.deadline:  # half a round is none
            self.disturbed = True
            return False
        self.repair_rounds -= 1
        gained = self._repair_round()
        self._round_seconds = time.perf_counter() - began
        if not gained:
            return False
        self._swapped = True
        self._watch(late=False)
        fit.stop_reason = self._rule()
        return not fit.stop_reason

    def _repair_round(self) -> bool:
        """Swaps of clusters, and sweeps over what they touched; False if there is little to gain."""
        fit = self.fit
        repair = Repair(
            fit.rows, fit.row_weights.values, fit.partition, fit.limits,
            int(fit.rng.randint(2**31 - 1)), fit.n_threads,
        )  # fmt: skip
        least = max(WORTH_REPAIRING * self.stop.tol, ROUNDING_OF_INERTIA) * fit.inertia
        swaps = repair.gaining(least)
        if swaps is not None:
            self._swap(repair, swaps)
            return True
        return fit.stop_reason in AT_REST and self._attempt(repair, least)

    def _attempt(self, repair: Repair, least: float) -> bool:
        """Swaps that do not gain at once, one by one: kept if the sweeps that follow make up for it."""
        fit = self.fit
        before, partition = fit.inertia, fit.partition
        for swaps in repair.attempts(min(self.attempts, ATTEMPTS_IN_A_ROUND)):
            self.attempts -= 1
            # Swaps leave the labels as they are, and the rest of it unless that is very large.
            fit.best = Kept(
                before, partition.labels, None if repair.halves.composites is None else partition
            )
            self._swap(repair, swaps, above=before - least)
            if fit.inertia < before - least:
                fit.best = None
                return True
            fit.go_back_to_best()
            if time.perf_counter() >= self.stop.deadline:
                self.disturbed = True
                break
        return False

    def _swap(self, repair: Repair, swaps: Swaps, above: float = math.inf) -> None:
        """Does it, and sweeps over what it touched. No record, if the inertia stays above that."""
        fit = self.fit
        fit.partition = repair.swapped(swaps)
        fit.account(Swept(0, swaps.gain, 0, late=False))
        # To gather the lines of sparse centres costs more than to look at all clusters, if they are few.
        everywhere = fit.rows.stays_sparse and fit.partition.n_clusters <= FEW_SPARSE_CENTRES
        around = None if everywhere else Candidates.around(fit.partition, swaps.touched, fit.n_threads)
        moves = evaluations = 0
        for _ in range(SETTLING_SWEEPS):
            how = fit.options(self.stop.deadline)
            data = fit.rows, fit.row_weights.values, fit.partition, fit.rng, how
            swept = sweep_all(*data) if around is None else around.sweep(*data)
            moves, evaluations = moves + swept.moves, evaluations + swept.evaluations
            fit.account(swept)
            self.disturbed |= swept.late
            if swept.late or swept.gain <= SETTLED * fit.inertia:
                break
        if fit.inertia < above:
            fit.record(moves, evaluations, "repair", swaps=len(swaps))

    def _watch(self, late: bool) -> None:
        """Asks the callback and the clock whether this is to be the last step."""
        stop = self.stop
        enough = stop.callback is not None and stop.callback(self.fit.history[-1])
        self.disturbed |= late
        if late or time.perf_counter() >= stop.deadline:
            self.outside = "max_time"
        elif enough:
            self.outside = "callback"

    def _rule(self) -> str:
        """The rule that ends a run before it comes to rest, if any."""
        return "max_iter" if self.fit.n_sweeps >= self.stop.max_iter else ""

    def _reason(self, before: float, late: bool) -> str:
        """Why the descent ends with the sweep that was just made; "" if it goes on."""
        fit = self.fit
        self._watch(late)
        imposed = self._imposed = self._rule()
        last = fit.history[-1]
        if late or not self._is_quiet(before):
            return imposed
        certified = fit.is_certificate(last)
        if last.kind == "candidates":
            assert fit.candidates is not None
            if not fit.candidates.try_something_else():
                if self.stop.tol > 0 and not fit.candidates.then_all:
                    return "tol"
                fit.candidates = None
            return imposed
        if fit.candidates is not None and (certified or self.stop.tol == 0 or fit.candidates.then_all):
            fit.candidates = None  # from here on, all of them
        if certified:
            return "certified"
        return "tol" if last.moves > 0 else imposed

    def _is_quiet(self, before: float) -> bool:
        """Whether sweeps like the last one have little to offer."""
        fit, tol = self.fit, self.stop.tol
        last = fit.history[-1]
        quiet = last.moves == 0 or before - fit.inertia < tol * before
        if last.kind == "candidates" and tol == 0:
            quiet = quiet or last.moves <= FULL_BELOW_MOVES * fit.rows.n_rows
        self._quiet_sweeps = self._quiet_sweeps + 1 if quiet else 0
        # With limits, sweeps take turns: one kind may find what the other does not.
        return self._quiet_sweeps >= (2 if fit.limits else 1)
