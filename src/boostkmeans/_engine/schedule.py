"""Schedule: the order of the steps of a run, and the decision when it ends."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Protocol, Self

from boostkmeans._engine.few_clusters import (
    PATIENCE,
    SLOW_RATIO,
    WORTH_EXTRAPOLATING,
    WORTHWHILE,
    Convergence,
    Extrapolation,
)
from boostkmeans._engine.history import START
from boostkmeans._engine.plan import MIN_EARLY_GAIN
from boostkmeans._engine.repair_rounds import RepairRounds
from boostkmeans._engine.run import Run
from boostkmeans._engine.scheduled_run import ScheduledRun
from boostkmeans._engine.stopping import Outcome, StoppingCriteria, StopReason
from boostkmeans._engine.sweep_step import CERTIFY_AFTER_CANDIDATES_BELOW, perform_sweep
from boostkmeans._steps.sweep import SweepResult
from boostkmeans._storage.state import SavedState, State

logger = logging.getLogger("boostkmeans")

# Below this number of rows per cluster, most of the time of a sweep over candidates is spent on the
# clusters and not on the rows, and fits converge slowly. Such sweeps must gain more: `tol` grows with
# the square of the ratio.
FEW_ROWS_PER_CLUSTER = 32
# Annealing ends early if fewer than this share of the rows move: hardly any row is then near a border.
FROZEN_BELOW_MOVES = 1 / 1000
# Minimum number of annealed sweeps for a repair in the middle of annealing.
LONG_ANNEALING = 40
# Reasons to end a run because little is left to gain.
AT_REST = (StopReason.CERTIFIED, StopReason.TOL)


class Phase(StrEnum):
    """The phases of a schedule. The values are those that version 0.7 stored."""

    BEGINNING = "beginning"
    """The first sweeps, with or without annealing."""
    EARLY_REPAIR = "early repair"
    """Repair rounds during the phase BEGINNING."""
    DESCENT = "descent"
    """Sweeps that only lower the inertia."""
    REST = "rest"
    """Decision whether to continue, to repair or to end the run."""
    REPAIR = "repair"
    END = "end"


class SweepStep(Protocol):
    """The next sweep of a run."""

    def __call__(self, deadline: float, temperature: float = 0.0, *, probe: bool = False) -> SweepResult:
        """Perform a sweep and record it. With `probe`, some rows may be compared with all clusters."""


class RepairSteps(Protocol):
    """The repair rounds of a run that are left."""

    rounds_left: int
    trials_left: int
    changed: bool

    @property
    def few_swaps(self) -> bool:
        """True if another round would cost more than it gains, judging by the last one."""

    def perform(self, *, try_swaps: bool) -> bool:
        """Perform a round. Return True if it lowered the inertia."""

    def end(self) -> bool:
        """End the current repair. Return True if it changed the partition."""


@dataclass
class Schedule:
    """Sequence of the steps that carry out the plan of a run.

    A step is a sweep or a repair round, and `phase` determines the next one. A run can be checkpointed
    between two steps and continued by another process.
    """

    run: ScheduledRun
    criteria: StoppingCriteria
    repairs: RepairSteps
    sweep: SweepStep
    phase: Phase = Phase.BEGINNING
    end_reason: StopReason | None = None
    """Reason why the run is about to end. It may still continue from its best partition or with a
    repair."""
    early_sweeps: int = 0
    """Number of sweeps without annealing left before the first repair."""
    annealed: int = 0
    """Number of annealed sweeps so far."""
    after_step: "Callable[[Schedule, bool], None] | None" = None
    """Function that writes a checkpoint. It is called after each step, with the schedule and True if
    this was the last step."""
    _quiet_sweeps: int = 0
    """Number of consecutive sweeps that gained little."""
    _stopped: StopReason | None = None
    """The criterion that stopped the run before its end: the callback or the deadline."""
    _convergence: Convergence = field(default_factory=Convergence)
    """With few clusters: gains of the last sweeps of the descent."""
    _extrapolation: Extrapolation = field(default_factory=Extrapolation)
    """With few clusters: recent centres of the descent."""
    _reports_start: bool = False
    """True if the callback has to see the record of the start. After a resume, it has seen it."""

    @classmethod
    def for_run(cls, run: Run, criteria: StoppingCriteria) -> "Schedule":
        """Return the schedule of a run at its start."""
        plan = run.plan
        repairs = RepairRounds(run, criteria, plan.repair_rounds, plan.trial_swaps)
        return cls.begin(run, criteria, repairs, partial(perform_sweep, run))

    @classmethod
    def begin(
        cls,
        run: ScheduledRun,
        criteria: StoppingCriteria,
        repairs: RepairSteps,
        sweep: SweepStep,
    ) -> Self:
        """Return the schedule of a run at its start, with the steps of one machine or of many."""
        return cls(
            run,
            criteria,
            repairs,
            sweep,
            early_sweeps=run.plan.early_sweeps,
            _reports_start=bool(run.history) and run.history[-1].kind == START,
        )

    def state(self) -> State:
        """Return the position in the schedule as plain values, with the field names of version 0.7."""
        return {
            "phase": str(self.phase),
            "rest": "" if self.end_reason is None else str(self.end_reason),
            "early_sweeps": self.early_sweeps,
            "annealed": self.annealed,
            "repair_rounds": self.repairs.rounds_left,
            "attempts": self.repairs.trials_left,
            "_quiet_sweeps": self._quiet_sweeps,
            "_swapped": self.repairs.changed,
            "convergence": self._convergence.state(),
            "extrapolation": self._extrapolation.state(),
        }

    @classmethod
    def restore(
        cls, saved: SavedState, saved_run: SavedState, run: Run, criteria: StoppingCriteria
    ) -> "Schedule":
        """Restore the schedule of a restored run from the result of `state`.

        Version 0.7 stored the reason in the state of the run, as its outcome.
        """
        repairs = RepairRounds(
            run,
            criteria,
            saved.integer("repair_rounds"),
            saved.integer("attempts"),
            changed=saved.boolean("_swapped"),
        )
        old = saved_run.string("stop_reason", ("", *StopReason))
        return cls.resume(saved, run, criteria, repairs, partial(perform_sweep, run), old)

    @classmethod
    def resume(
        cls,
        saved: SavedState,
        run: ScheduledRun,
        criteria: StoppingCriteria,
        repairs: RepairSteps,
        sweep: SweepStep,
        old_reason: str = "",
    ) -> Self:
        """Restore the position in the schedule from the result of `state`."""
        reason = saved.string("rest", ("", *StopReason)) if "rest" in saved.values else old_reason
        return cls(
            run,
            criteria,
            repairs,
            sweep,
            phase=Phase(saved.string("phase", tuple(Phase))),
            end_reason=StopReason(reason) if reason else None,
            # Versions before 0.9 made no early sweeps.
            early_sweeps=saved.integer("early_sweeps") if "early_sweeps" in saved.values else 0,
            annealed=saved.integer("annealed"),
            _quiet_sweeps=saved.integer("_quiet_sweeps"),
            _convergence=Convergence.restore(saved.optional_child("convergence")),
            _extrapolation=Extrapolation.restore(
                saved.optional_child("extrapolation"), run.n_clusters, run.n_features
            ),
        )

    def execute(self) -> None:
        """Perform steps until a criterion ends the run."""
        run = self.run
        if self.after_step is not None:
            run.after_block = lambda: self._checkpoint(last=False)
        try:
            if self._reports_start:
                self._report()
                if self._stopped is not None:
                    self._checkpoint(last=True)
            while self.phase is not Phase.END and self._stopped is None:
                self._step()
                if self.after_step is not None:
                    self._checkpoint(last=self._stopped is not None)
            outcome = self._outcome()
        except KeyboardInterrupt:
            run.interrupt()
            raise
        finally:
            run.after_block = None  # Break a reference cycle that would keep the rows alive.
        run.finish(outcome)
        logger.debug("drift of the composites: %.1e", run.drift)

    def _step(self) -> None:
        """Perform the next step."""
        steps = {
            Phase.BEGINNING: self._begin,
            Phase.EARLY_REPAIR: self._repair_early,
            Phase.DESCENT: self._descend,
            Phase.REST: self._rest,
            Phase.REPAIR: self._repair,
        }
        steps[self.phase]()

    def _checkpoint(self, *, last: bool) -> None:
        if self.run.on_course and self.after_step is not None:
            self.after_step(self, last)

    def _outcome(self) -> Outcome:
        """Return the outcome. A run that was stopped early first returns to its best partition."""
        if self._stopped is None and self.run.on_course:
            assert self.end_reason is not None
            return Outcome(self.end_reason)
        returned = self.run.return_to_best()
        certified = self.end_reason is StopReason.CERTIFIED and not returned
        if certified and self.run.sees_all_dimensions:  # A few dimensions do not certify the result.
            return Outcome(StopReason.CERTIFIED, complete=False)
        # If `_stopped` is None, a repair was skipped because it would have exceeded the deadline.
        return Outcome(self._stopped or StopReason.MAX_TIME, complete=False)

    def _limit_reason(self) -> StopReason | None:
        """Return MAX_ITER if the run has reached its maximum number of sweeps, else None."""
        reached = self.run.n_sweeps >= self.criteria.max_iter
        return StopReason.MAX_ITER if reached else None

    def _begin(self) -> None:
        """Sweep at the next temperature. A repair follows the early sweeps, or the first sweep."""
        run, annealing = self.run, self.run.plan.annealing
        if self.early_sweeps > 0:
            self._sweep_early()
            return
        n_sweeps = 1 if run.plan.repair_rounds else 0
        if annealing is not None:
            n_sweeps = annealing.n_sweeps
        if self.annealed >= n_sweeps:
            self._begin_descent()
            return
        temperature = 0.0
        if annealing is not None:
            temperature = annealing.at(self.annealed, run.explained_share)
        if temperature > 0:
            run.keep_if_best()
        result = self.sweep(self.criteria.deadline, temperature)
        halfway = n_sweeps >= LONG_ANNEALING and self.annealed == n_sweeps // 2
        # A projected fit has been repaired. The result in all dimensions is repaired at the end.
        repairs_early = run.plan.early_sweeps == 0 and run.plan.dimensions is None
        repair_now = (self.annealed == 0 and repairs_early) or halfway
        self.annealed += 1
        self._check_stop(result.late)
        self.end_reason = self._limit_reason()
        if self.end_reason is not None:
            self.phase = Phase.REST
        elif repair_now:
            self.phase = Phase.EARLY_REPAIR
        elif result.moves < FROZEN_BELOW_MOVES * run.n_rows:
            self._begin_descent()

    def _begin_descent(self) -> None:
        """End the annealing. With lower bounds, full sweeps take little longer than candidates."""
        plan = self.run.plan
        if plan.dimensions is not None and plan.finish_with_full_sweeps:
            self.run.drop_candidates()
        self.phase = Phase.DESCENT

    def _sweep_early(self) -> None:
        """Perform a sweep without annealing. A repair follows once these sweeps gain little."""
        run = self.run
        before = run.inertia
        result = self.sweep(self.criteria.deadline)
        self._check_stop(result.late)
        self.early_sweeps -= 1
        if before - run.inertia < MIN_EARLY_GAIN * before:
            self.early_sweeps = 0
        self.end_reason = self._limit_reason()
        if self.end_reason is not None:
            self.phase = Phase.REST
        elif self.early_sweeps == 0:
            self.phase = Phase.EARLY_REPAIR

    def _descend(self) -> None:
        """Perform a sweep that lowers the inertia. End the descent once sweeps gain little."""
        run = self.run
        if self._extrapolate():
            return
        before = run.inertia
        result = self.sweep(self.criteria.deadline, probe=True)
        self._check_stop(result.late)
        self._observe(before - run.inertia)
        self.end_reason = self._reason_to_end(before, result.late)
        if self.end_reason in AT_REST and run.release_coincident():
            self.end_reason = self._limit_reason()
        if self.end_reason is not None:
            self.phase = Phase.REST

    def _extrapolate(self) -> bool:
        """Extrapolate the centres if the descent is slow. Return True if the inertia fell."""
        run, found, seen = self.run, self._extrapolation, self._convergence
        worthwhile = WORTH_EXTRAPOLATING * self.criteria.tol * run.inertia
        if not found.is_due or seen.ratio <= SLOW_RATIO or seen.remaining <= worthwhile:
            return False
        if time.perf_counter() >= self.criteria.deadline:  # The next sweep ends the run.
            return False
        accepted = run.extrapolate(found.centres())
        found.account(accepted=accepted)
        if accepted:
            seen.disturb()
            self._check_stop(late=False)
            self.end_reason = self._limit_reason()
            self.phase = Phase.DESCENT if self.end_reason is None else Phase.REST
        return accepted

    def _observe(self, gain: float) -> None:
        """With few clusters, observe how the descent converges."""
        run = self.run
        if run.converges_slowly:
            self._convergence.add(gain, WORTHWHILE * self.criteria.tol * run.inertia)
            self._extrapolation.add(run.centres)

    def _reason_to_end(self, before: float, late: bool) -> StopReason | None:
        """Return the reason why the descent ends with the last sweep, or None if it continues."""
        run, tol = self.run, self.criteria.tol
        imposed = self._limit_reason()
        if late or not self._is_quiet(before):
            return imposed
        certified = run.confirms_certificate()
        assert run.last is not None
        finish = run.plan.finish_with_full_sweeps
        if run.last.kind == "candidates":
            if not run.next_candidates():
                if tol > 0 and not finish:
                    return StopReason.TOL
                run.drop_candidates()
            return imposed
        if run.uses_candidates and (certified or tol == 0 or finish):
            run.drop_candidates()
        if certified:
            return StopReason.CERTIFIED
        return StopReason.TOL if run.last.moves > 0 else imposed

    def _is_quiet(self, before: float) -> bool:
        """Return True if sweeps like the last one gain little."""
        run, tol = self.run, self.criteria.tol
        last = run.last
        assert last is not None
        min_gain = tol
        if last.kind == "candidates":
            rows_per_cluster = run.n_rows / run.n_clusters
            min_gain *= max(1.0, FEW_ROWS_PER_CLUSTER / rows_per_cluster) ** 2
        quiet = last.moves == 0 or before - run.inertia < min_gain * before
        if last.moves > 0 and self._convergence.last > 0:
            quiet = quiet and self._convergence.n_low >= PATIENCE
        if last.kind == "candidates" and tol == 0:
            few = CERTIFY_AFTER_CANDIDATES_BELOW * run.n_rows
            quiet = quiet or last.moves <= few
        self._quiet_sweeps = self._quiet_sweeps + 1 if quiet else 0
        # With limits, sweeps alternate between moves and exchanges, and both must gain little.
        return self._quiet_sweeps >= (2 if run.has_limits else 1)

    def _rest(self) -> None:
        """Continue from the best partition so far or with a repair, or end the run."""
        self._quiet_sweeps = 0
        self._convergence, self._extrapolation = Convergence(), Extrapolation()
        may_continue = self.end_reason in AT_REST and self._limit_reason() is None
        if self.run.return_to_best() and may_continue:
            self.end_reason = None
            self.phase = Phase.DESCENT
        else:
            self.phase = Phase.REPAIR if may_continue else Phase.END

    def _repair_early(self) -> None:
        """Perform a repair round, and return to the phase BEGINNING."""
        if not self._repair_round() or self.repairs.few_swaps:
            self.repairs.end()
            self.phase = Phase.BEGINNING if self.end_reason is None else Phase.REST

    def _repair(self) -> None:
        """Perform a repair round. Sweeps follow the last round if it changed anything."""
        again = self._repair_round()
        if again and self.repairs.few_swaps:
            self.repairs.rounds_left = 0  # The sweeps that follow are the last ones.
            again = False
        if not again:
            then = Phase.DESCENT if self.end_reason is None else Phase.REST
            self.phase = then if self.repairs.end() else Phase.END

    def _repair_round(self) -> bool:
        """Swap clusters. Return True if another round may follow."""
        if self.repairs.rounds_left <= 0 or self._limit_reason() is not None:
            return False
        if not self.repairs.perform(try_swaps=self.end_reason in AT_REST):
            return False
        self._check_stop(late=False)
        self.end_reason = self._limit_reason()
        return self.end_reason is None

    def _check_stop(self, late: bool) -> None:
        """Stop the run if the callback requests it or the deadline has passed."""
        self._report()
        self.run.on_course = self.run.on_course and not late
        if late or time.perf_counter() >= self.criteria.deadline:
            self._stopped = StopReason.MAX_TIME

    def _report(self) -> None:
        """Pass the last record to the callback, which may stop the run."""
        callback = self.criteria.callback
        if callback is not None and callback(self.run.history[-1]):
            self._stopped = StopReason.CALLBACK
