"""Small fits: the schedule of a run on small data, executed by the core in a single call.

Steps on small data take microseconds, less than the Python code between them. The core therefore makes
all steps in one call, on one thread. If a callback or a checkpoint needs to see every step, the same
function is called once per step, with the same result. The steps are logged after the call.
"""

import time
from dataclasses import dataclass, fields

import numpy as np

from boostkmeans import _core
from boostkmeans._engine.few_clusters import has_few_clusters
from boostkmeans._engine.plan import TEMPERATURE_PER_EXPLAINED_SQUARE
from boostkmeans._engine.run import Run
from boostkmeans._engine.schedule import Phase, Schedule
from boostkmeans._engine.scheduled_run import LastSweep
from boostkmeans._engine.stopping import StoppingCriteria, StopReason
from boostkmeans._steps.partition import Partition, Snapshot
from boostkmeans._steps.sweep import neighbouring_rows
from boostkmeans._storage.state import SavedState, State

# Maximum number of multiplications of a full sweep, n x k x d, for a fit in a single call. This is about
# the work for which the core would start a second thread. "Small data" in docs/benchmarks.md compares
# both ways.
MAX_WORK = 2**21
# Maximum number of clusters for a fit in a single call. It compares all pairs of clusters in a repair,
# and all rows with all clusters in the sweeps after it. For more clusters, neighbour lists are faster.
MAX_CLUSTERS = 32
# Number of rows that propose before the first move is decided: one batch of the core. Smaller blocks
# would be padded.
BLOCK_ROWS = 48
# Number of steps to make in one call if nobody needs to see them one by one.
ALL_STEPS = 2**31

# In the order of the enumerations in src/core/fit/fit_state.hpp.
PHASES = (
    Phase.BEGINNING, Phase.EARLY_REPAIR, Phase.DESCENT, Phase.REST, Phase.REPAIR, Phase.END,
)  # fmt: skip
END_REASONS = (None, StopReason.CERTIFIED, StopReason.TOL, StopReason.MAX_ITER)
KINDS = ("sweep", "certify", "repair")


def is_small(run: Run) -> bool:
    """Return True if the core makes all steps of a run in a single call.

    Projected fits and few clusters with many rows have rules of their own, which the core does not know.
    This depends only on the problem and the plan, so that results depend on nothing else.
    """
    problem, rows, k = run.problem, run.problem.rows, run.partition.n_clusters
    return (
        k <= MAX_CLUSTERS
        and rows.n_rows * rows.n_features * k <= MAX_WORK
        and rows.in_memory
        and not rows.stays_sparse
        and problem.limits is None
        and problem.n_pinned == 0
        and run.candidates is None
        and run.original is None
        and problem.projection is None
        and not has_few_clusters(problem)
    )


def schedule_for(run: Run, criteria: StoppingCriteria) -> Schedule:
    """Return the schedule of a run at its start."""
    schedule = Schedule.for_run(run, criteria)
    if not is_small(run):
        return schedule
    return SmallSchedule.of(schedule, seed=int(run.rng.randint(2**63 - 1, dtype=np.int64)), n_draws=0)


def restore_schedule(
    saved: SavedState, saved_run: SavedState, run: Run, criteria: StoppingCriteria
) -> Schedule:
    """Restore the schedule of a restored run. Checkpoints of earlier versions have no small fits."""
    schedule = Schedule.restore(saved, saved_run, run, criteria)
    if "seed" not in saved.values or not is_small(run):
        return schedule
    return SmallSchedule.of(schedule, seed=saved.integer("seed"), n_draws=saved.integer("n_draws"))


@dataclass
class SmallSchedule(Schedule):
    """A schedule whose steps the core makes, in one call if possible."""

    run: Run
    seed: int = 0
    n_draws: int = 0
    """Number of random numbers that the core has drawn so far."""

    @classmethod
    def of(cls, schedule: Schedule, *, seed: int, n_draws: int) -> "SmallSchedule":
        """Return a schedule at the same position."""
        values = {field.name: getattr(schedule, field.name) for field in fields(schedule)}
        return cls(**values, seed=seed, n_draws=n_draws)

    def state(self) -> State:
        """See `Schedule`."""
        return {**super().state(), "seed": self.seed, "n_draws": self.n_draws}

    def _step(self) -> None:
        """Make all steps of the run, or one step if each of them has to be seen."""
        run, criteria = self.run, self.criteria
        seen = criteria.callback is not None or self.after_step is not None
        best = self._room_for_best()
        state, began = self._core_state(), time.perf_counter()
        late = False
        try:
            late = _core.advance(
                run.problem.rows_in_memory.core,
                run.problem.row_weights,
                run.partition.view(),
                best.view(),
                self._core_options(),
                state,
                max_records=1 if seen else ALL_STEPS,
                seconds_left=max(0.0, criteria.deadline - began),
            )
        finally:  # After Ctrl-C, the steps so far count, too.
            self._take(state, best, began)
        if state.records:
            self._check_stop(late)
        elif late:
            run.on_course = False
            self._stopped = StopReason.MAX_TIME
        if state.coincident:
            if run.release_coincident():
                self.end_reason = self._limit_reason()
            if self.end_reason is not None:
                self.phase = Phase.REST

    def _room_for_best(self) -> Partition:
        """Return the best partition so far, or arrays for it."""
        best, own = self.run.best, self.run.partition
        if best is not None:
            assert best.partition is not None, "only very large partitions are kept as labels"
            return best.partition
        return Partition(
            np.empty_like(own.labels),
            np.empty_like(own.composites),
            np.empty_like(own.weights),
            np.empty_like(own.counts),
        )

    def _core_options(self) -> _core.FitOptions:
        run = self.run
        plan, rows, annealing = run.plan, run.problem.rows, run.plan.annealing
        n_beginning = 1 if plan.repair_rounds else 0
        return _core.FitOptions(
            first=plan.moves == "first",
            tol=self.criteria.tol,
            max_iter=self.criteria.max_iter,
            n_beginning=n_beginning if annealing is None else annealing.n_sweeps,
            temperature=0.0 if annealing is None else annealing.temperature,
            per_explained_square=TEMPERATURE_PER_EXPLAINED_SQUARE
            if annealing is not None and annealing.adapts
            else 0.0,
            run_rows=neighbouring_rows(rows.n_rows, rows.row_bytes),
            block_rows=BLOCK_ROWS,
            seed=self.seed,
        )

    def _core_state(self) -> _core.FitState:
        run, state = self.run, _core.FitState()
        state.phase = PHASES.index(self.phase)
        state.end_reason = END_REASONS.index(self.end_reason)
        state.annealed = self.annealed
        state.repair_rounds = self.repairs.rounds_left
        state.trial_swaps = self.repairs.trials_left
        state.changed = self.repairs.changed
        state.n_sweeps = run.n_sweeps
        if run.last is not None:
            state.last_kind = KINDS.index(run.last.kind)
            state.last_moves = run.last.moves
        state.inertia = run.inertia
        state.total_squares = run.total_squares
        state.moves_since_recompute = run.moves_since_recompute
        state.drift = run.drift
        if run.best is not None:
            state.has_best, state.best_inertia = True, run.best.inertia
        state.n_draws = self.n_draws
        return state

    def _take(self, state: _core.FitState, best: Partition, began: float) -> None:
        """Take over the state of the core after some steps, and record them."""
        run = self.run
        for step in state.records:
            run.inertia = step.inertia
            run.record(
                step.moves,
                step.evaluations,
                KINDS[step.kind],
                temperature=step.temperature,
                swaps=step.swaps,
                seconds=began - run.began + step.seconds,
            )
        self.phase = PHASES[state.phase]
        self.end_reason = END_REASONS[state.end_reason]
        self.annealed = state.annealed
        self.repairs.rounds_left = state.repair_rounds
        self.repairs.trials_left = state.trial_swaps
        self.repairs.changed = state.changed
        if state.last_moves >= 0:
            run.last = LastSweep(KINDS[state.last_kind], state.last_moves)
        run.inertia, run.inertias = state.inertia, None
        run.total_squares = state.total_squares
        run.moves_since_recompute = state.moves_since_recompute
        run.recomputed = state.moves_since_recompute == 0
        run.drift = state.drift
        run.best = Snapshot(state.best_inertia, best.labels, best) if state.has_best else None
        self.n_draws = state.n_draws
