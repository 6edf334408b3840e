"""The best of several sharded runs, and the result of a fit."""

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._data.user_input import check_still_finite
from boostkmeans._engine.checkpoints.checkpoint import Checkpoint
from boostkmeans._engine.schedule import Schedule
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._runtime.progress import run_name, stage
from boostkmeans._sharded.backend import Reference
from boostkmeans._sharded.checkpointing import (
    restore_run,
    resume_schedule,
    run_state,
    write_after_steps,
)
from boostkmeans._sharded.fit import (
    ShardedSettings,
    continue_in_all_dimensions,
    schedule_of,
    settings_in_few_dimensions,
    start_run,
)
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.run import ShardedRun
from boostkmeans._sharded.shard.placing import count_labels, inertias_in_shard, nearest_in_shard
from boostkmeans._steps.coincident import are_distinguishable


@dataclass
class BestShardedRun:
    """The best of several runs. After Ctrl-C, `run` is the best one so far, or None."""

    rows: ShardedRows
    settings: ShardedSettings
    rng: np.random.RandomState
    checkpoint: Checkpoint | None = None
    run: ShardedRun | None = None
    _complete: bool = True

    def find(self, n_init: int) -> ShardedRun:
        """Perform `n_init` runs from different starts, resuming from the checkpoint."""
        checkpoint, n_done = self.checkpoint, 0
        if checkpoint is not None:
            n_done = checkpoint.n_done
            if checkpoint.best is not None:
                self.run = restore_run(checkpoint.best, self.rows, self.settings, self.rng)
        for number in range(n_done, n_init):
            with stage(run_name(number, n_init)):
                self._perform_run()
            assert self.run is not None
            if not self._complete:
                return self.run
            if checkpoint is not None:
                checkpoint.end_run()
        assert self.run is not None, "a checkpoint of a finished fit has its result"
        if checkpoint is not None:
            checkpoint.finish(run_state(self.run))
        return self.run

    def _perform_run(self) -> None:
        checkpoint, schedule = self.checkpoint, None
        if checkpoint is not None:
            best = None if self.run is None else run_state(self.run)
            checkpoint.begin_run(self.rng, best)
            schedule = resume_schedule(checkpoint, self.rows, self.settings, self.rng)
        if schedule is None:
            run = start_run(self.rows, self.settings, self.rng)
            if run.outcome is not None:  # A tree without refinement.
                self._complete = True
                self._keep(run)
                return
            settings = self.settings
            if run.original is not None:
                settings = settings_in_few_dimensions(settings)
            schedule = schedule_of(run, settings.criteria)
        run = self._execute(schedule)
        if run.original is not None:
            run = continue_in_all_dimensions(run, self.settings)
            if run.outcome is None:
                run = self._execute(schedule_of(run, self.settings.criteria))
            self._keep(run)
        assert run.outcome is not None
        self._complete = run.outcome.complete

    def _execute(self, schedule: Schedule) -> ShardedRun:
        """Execute a schedule, and keep its run also after Ctrl-C, if it sees all dimensions."""
        if self.checkpoint is not None:
            schedule.after_step = write_after_steps(self.checkpoint, self.rng)
        run = schedule.run
        assert isinstance(run, ShardedRun)
        try:
            schedule.execute()
        except KeyboardInterrupt:
            self._keep(run if run.original is None else continue_in_all_dimensions(run, self.settings))
            raise
        if run.original is None:
            self._keep(run)
        return run

    def _keep(self, run: ShardedRun) -> None:
        if self.run is None or run.inertia < self.run.inertia:
            self.run = run


@dataclass(frozen=True)
class ShardedResult:
    """Result of a sharded fit, in user units. Labels are on the workers."""

    labels: tuple[Reference, ...]
    centres: Floats
    weights: Floats
    sizes: NDArray[np.int64]
    inertia: float
    outcome: Outcome
    spread: Floats | None
    """Root mean squared distance of the rows of each cluster; None after an interrupt."""


def result_of(run: ShardedRun, outcome: Outcome, *, relabel: bool) -> ShardedResult:
    """Return the result of a run. `relabel` assigns all rows to their nearest centres.

    If the run ended early, some rows are nearer to another centre than to their own.
    """
    rows, tasks = run.rows, run.rows.tasks
    in_frame, weights, _ = run.figures()
    centres = rows.frame.leave(in_frame)
    labels, inertia = run.partition.labels, run.inertia_in_user_units
    k = len(centres)
    if outcome.reason is not StopReason.INTERRUPTED:
        check_still_finite(run.inertia)
    is_representable = math.isfinite(inertia) and are_distinguishable(in_frame)
    if outcome.reason is StopReason.CERTIFIED and not is_representable:
        outcome = Outcome(StopReason.TOL, complete=outcome.complete)
    if relabel:
        snapshot = run.partition.snapshot
        found = [
            tasks.submit(nearest_in_shard, *shard, own, snapshot, bounds, n_results=2)
            for shard, own, bounds in zip(rows.shards, labels, run.bounds, strict=True)
        ]
        labels = tuple(tasks.keep(one[0]) for one in found)
        figures = tasks.get(*[one[1] for one in found])
        total = reduce(lambda a, b: a + b, [one[0] for one in figures])
        check_still_finite(total)
        inertia = rows.frame.inertia(total) * rows.weights.unit
        sizes = sum((one[1] for one in figures), np.zeros(k, dtype=np.int64))
    else:
        counted: list[Any] = tasks.get(*[tasks.submit(count_labels, one, k) for one in labels])
        sizes = sum(counted, np.zeros(k, dtype=np.int64))
    spread = None if outcome.reason is StopReason.INTERRUPTED else _spread(run, labels)
    return ShardedResult(labels, centres, weights * rows.weights.unit, sizes, inertia, outcome, spread)


def _spread(run: ShardedRun, labels: tuple[Reference, ...]) -> Floats:
    """Return the root mean squared distance of the rows of each cluster; 0 for empty clusters."""
    rows, tasks, snapshot = run.rows, run.rows.tasks, run.partition.snapshot
    figures: list[Any] = tasks.get(
        *[
            tasks.submit(inertias_in_shard, *shard, own, snapshot)
            for shard, own in zip(rows.shards, labels, strict=True)
        ]
    )
    inertias, weights = (reduce(np.add, [one[i] for one in figures]) for i in (0, 1))
    means = np.divide(inertias, weights, out=np.zeros_like(inertias), where=weights > 0)
    with np.errstate(over="ignore"):
        spread: Floats = np.ldexp(np.sqrt(means), -rows.frame.exponent)
    return spread


def needs_relabelling(run: ShardedRun) -> bool:
    """Return True if all rows are assigned to their nearest centres at the end, as `predict` does.

    In a certified partition, only ties and rounding make a difference. After rounds over candidates,
    finding the nearest of all centres would take longer than the fit. By design, the leaf of a row in a
    tree is not always the nearest one.
    """
    assert run.outcome is not None
    return run.candidates is None and run.outcome.reason is not StopReason.TREE
