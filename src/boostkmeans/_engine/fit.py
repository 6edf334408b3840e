"""Fit: several runs of a problem, and the choice of the best. Samples are fitted by the same code."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._data.projection import Projection
from boostkmeans._engine.checkpoints.checkpoint import (
    NESTED,
    PROJECTED,
    SWEEPS,
    TREE,
    Checkpoint,
    random_state,
    set_random_state,
)
from boostkmeans._engine.checkpoints.run_state import matches_rows, restore_run, run_state
from boostkmeans._engine.dimensions import MAX_PROJECTED_SHARE, choose_projection
from boostkmeans._engine.plan import Plan, RequestedSettings, is_large_sample, make_plan, sample_size
from boostkmeans._engine.run import MakeTree, Run
from boostkmeans._engine.schedule import Schedule
from boostkmeans._engine.small_fit import restore_schedule, schedule_for
from boostkmeans._engine.stopping import Outcome, StoppingCriteria, StopReason
from boostkmeans._runtime.errors import DataFormatError, ParameterError
from boostkmeans._runtime.progress import logger, run_name, stage
from boostkmeans._steps.cluster_tree import ClusterTree, assign_by_tree, build_tree
from boostkmeans._steps.nearest import assign_zero_weight_rows
from boostkmeans._steps.neighbours import assign_by_candidates
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.seeding import INIT_NAMES, Seeding
from boostkmeans._steps.split_rules import SplitRules
from boostkmeans._steps.tree_builder import Ints, TreeBuilder
from boostkmeans._storage.state import SavedState, State

# A sample is representative if the mean squared distance of all rows to its centres is at most this
# multiple of that of its own rows. A larger ratio means that the sample missed rare, distant rows.
MAX_SAMPLE_RATIO = 1.15


# Minimum tolerance of a fit in a few dimensions.
PROJECTED_TOL = 1e-4


@dataclass(frozen=True)
class FitContext:
    """Settings that all runs of a fit share, besides the problem."""

    requested: RequestedSettings
    criteria: StoppingCriteria
    rng: np.random.RandomState
    began: float
    """Start time, as a value of `time.perf_counter()`."""
    X: Any = None
    """The validated data in memory, for a callable `init`; None if rows are streamed."""
    checkpoint: Checkpoint | None = None
    path: str = ""
    """Prefix of the stage names in the checkpoint, which identifies nested runs."""

    original: Problem | None = None
    """The problem in all dimensions, if the runs see only some of them."""
    note: str = ""
    """Description of these dimensions, for the first record."""
    keep: Callable[[Run], None] | None = None
    """Function that keeps a run as the result if Ctrl-C interrupts the fit before the run starts."""

    def nested(self) -> "FitContext":
        """Return the context for the fit of a sample."""
        criteria = replace(self.criteria, callback=None)
        path = self.path + NESTED
        return replace(self, criteria=criteria, path=path, original=None, note="", keep=None)

    def projected(self, problem: Problem, note: str) -> "FitContext":
        """Return the context for a fit of the problem in a few dimensions, which `note` describes.

        Its runs end by a tolerance, because all dimensions decide whether an optimum is certified. They
        leave some sweeps for all dimensions.
        """
        criteria = replace(
            self.criteria,
            tol=max(self.criteria.tol, PROJECTED_TOL),
            max_iter=max(1, int(MAX_PROJECTED_SHARE * self.criteria.max_iter)),
        )
        requested = replace(self.requested, dimensions=None, max_iter=criteria.max_iter)
        return replace(
            self,
            requested=requested,
            criteria=criteria,
            path=self.path + PROJECTED,
            original=problem,
            note=note,
            keep=None,
        )

    def grow(self, builder: TreeBuilder, n_leaves: int) -> Ints:
        """Grow a tree, resuming from the checkpoint. Return its splits."""
        checkpoint, stage = self.checkpoint, self.path + TREE
        if checkpoint is None:
            return builder.grow(n_leaves)
        saved = checkpoint.take(stage, len(builder.members))
        if saved is not None:
            builder.restore(saved)
        return builder.grow(n_leaves, lambda: checkpoint.write(stage, builder.state))


class Start(Protocol):
    """Function that starts a run of a problem. Each estimator has its own."""

    def __call__(self, problem: Problem, context: FitContext) -> Run:
        """Return a run before its first sweep, or with an outcome if it needs no sweep."""


@dataclass
class BestRun:
    """The best of several runs. After Ctrl-C, `run` is the best one so far, or None."""

    problem: Problem
    context: FitContext
    start: Start
    run: Run | None = None

    def find(self, n_init: int) -> Run:
        """Perform `n_init` runs from different starts, resuming from the checkpoint. Return the best."""
        context, checkpoint = replace(self.context, keep=self._keep), self.context.checkpoint
        n_done = 0
        if checkpoint is not None:
            n_done = checkpoint.n_done
            if checkpoint.best is not None:
                self.run = _resume_run(checkpoint.best, self.problem, context, finished=True)
        for number in range(n_done, n_init):
            if checkpoint is not None:
                checkpoint.begin_run(context.rng, None if self.run is None else run_state(self.run))
            with stage(run_name(number, n_init)):
                run = self._perform(context)
            assert run.outcome is not None
            assert self.run is not None
            if not run.outcome.complete:
                return self.run
            if checkpoint is not None:
                checkpoint.end_run()
        if self.run is None:
            raise DataFormatError(
                "The checkpoint is damaged: it contains no run.",
                file="" if checkpoint is None else checkpoint.name,
                remedy="Remove the file to start over.",
            )
        if checkpoint is not None:
            checkpoint.finish(run_state(self.run))
        return self.run

    def _perform(self, context: FitContext) -> Run:
        run, schedule = prepare_run(self.problem, context, self.start)
        try:
            if schedule is not None:
                schedule.execute()
        finally:  # An interrupted run may be the best one.
            self._keep(run)
        return run

    def _keep(self, run: Run) -> None:
        if self.run is None or run.inertia < self.run.inertia:
            self.run = run


def prepare_run(problem: Problem, context: FitContext, start: Start) -> tuple[Run, Schedule | None]:
    """Return a run, new or restored from the checkpoint, and its schedule.

    The schedule is None if the run needs no sweeps, such as a tree without refinement.
    """
    checkpoint, stage = context.checkpoint, context.path + SWEEPS
    saved = None if checkpoint is None else checkpoint.take(stage, problem.rows.n_rows)
    if saved is None:
        run = start(problem, context)
        if run.outcome is not None:
            return run, None
        schedule = schedule_for(run, context.criteria)
    else:
        state = saved.child("fit")
        problem = _with_projection(problem, context, state)
        run = _resume_run(state, problem, context, finished=False)
        schedule = restore_schedule(saved.child("course"), state, run, context.criteria)
        set_random_state(context.rng, saved.child("rng"))
    if checkpoint is not None:
        schedule.after_step = _checkpoint_writer(checkpoint, stage, context.rng)
    return run, schedule


def _with_projection(problem: Problem, context: FitContext, saved: SavedState) -> Problem:
    """Compute the projection that a run from a checkpoint used, if it used one."""
    plan = saved.optional_child("plan")
    if plan is None or plan.values.get("dimensions") is None:
        return problem
    # The generator is in its state at the start of the run, so the same rows are sampled.
    chosen = choose_projection(context.requested, problem, context.rng)
    if chosen is None or chosen[0].n_axes != plan.integer("dimensions", 1):
        plan.fail("dimensions", "the number of components of the fit", plan.values["dimensions"])
    return replace(problem, projection=chosen[0])


def _checkpoint_writer(
    checkpoint: Checkpoint, stage: str, rng: np.random.RandomState
) -> Callable[[Schedule, bool], None]:
    """Return a function that writes the state of a schedule. It holds no reference to the rows."""

    def write(schedule: Schedule, last: bool) -> None:
        def state() -> State:
            run = schedule.run
            assert isinstance(run, Run)
            return {"rng": random_state(rng), "fit": run_state(run), "course": schedule.state()}

        checkpoint.write(stage, state, now=last)

    return write


def _resume_run(saved: SavedState, problem: Problem, context: FitContext, *, finished: bool) -> Run:
    """Return a run from a checkpoint. Raise ValueError if it does not belong to the data."""
    moves = context.requested.moves
    run = restore_run(saved, problem, moves, context.rng, finished=finished)
    run.original = context.original
    if not matches_rows(run):
        raise ValueError(
            f"{saved.path} is the checkpoint of another fit: its cluster sums differ from those of the "
            "rows and weights. Remove the file to start over, or choose another file."
        )
    return run


def start_kway(problem: Problem, context: FitContext) -> Run:
    """Start a k-way run, from a sample if that is faster or if the rows do not fit into memory."""
    requested, rows = context.requested, problem.rows
    if not rows.in_memory and callable(requested.init):
        raise ValueError(
            "A callable init needs all rows in memory, but the rows do not fit into memory."
        )
    chosen = choose_projection(requested, problem, context.rng)
    if chosen is not None:
        return _start_from_projection(problem, context, *chosen)
    n_drawn = sample_size(requested, problem)
    if n_drawn is not None:
        run = _start_from_sample(problem, context, n_drawn)
        if run is not None:
            return run
        if time.perf_counter() >= context.criteria.deadline:
            # The deadline may have caused the rejection: a resumed fit must not continue from here.
            context = replace(context, checkpoint=None)
    plan = _plan(_call_init(requested, problem, context), problem, context)
    labels = Seeding(problem, context.rng, context.grow).labels(plan.init)
    run = _start_run(problem, plan, labels, context)
    if isinstance(plan.init, str) and plan.init == "bisecting":
        run.record_start()
    return run


def _call_init(requested: RequestedSettings, problem: Problem, context: FitContext) -> RequestedSettings:
    """Replace a callable init by its result."""
    if not callable(requested.init):
        return requested
    init = requested.init(context.X, problem.n_clusters, context.rng)
    if isinstance(init, str) and init not in INIT_NAMES:
        expected = f"a callable that returns an array or one of {', '.join(map(repr, INIT_NAMES))}"
        raise ParameterError("init", expected, init)
    return replace(requested, init=init)


def _plan(requested: RequestedSettings, problem: Problem, context: FitContext) -> Plan:
    """Return the plan of a run in all dimensions or, in a projected fit, in a few."""
    plan = make_plan(requested, problem)
    return plan if context.original is None else plan.in_few_dimensions()


def _start_run(
    problem: Problem, plan: Plan, labels: Labels, context: FitContext, *, on_course: bool = True
) -> Run:
    criteria = context.criteria
    run = Run.start(
        problem,
        plan,
        labels,
        context.rng,
        began=context.began,
        tol=criteria.tol,
        deadline=criteria.deadline,
        on_course=on_course,
        original=context.original,
    )
    if context.note:
        run.note = f"{context.note}: {run.note}"
    return run


def _start_from_projection(
    problem: Problem, context: FitContext, projection: Projection, note: str
) -> Run:
    """Fit the rows in a few dimensions, and start the run in all dimensions from the labels."""
    context = replace(context, requested=_call_init(context.requested, problem, context))
    inner = context.projected(problem, note)
    requested = inner.requested
    if not isinstance(requested.init, str):  # Centres of the user have all dimensions.
        labels = Seeding(problem, context.rng, context.grow).labels(requested.init)
        requested = replace(requested, init=labels)
    few, problem = replace(problem, rows=projection.rows), replace(problem, projection=projection)
    fitted, schedule = prepare_run(few, replace(inner, requested=requested), start_kway)
    try:
        if schedule is not None:
            schedule.execute()
    except KeyboardInterrupt:
        if context.keep is not None:
            context.keep(_continue_in_all_dimensions(problem, context, fitted))
        raise
    return _continue_in_all_dimensions(problem, context, fitted)


def _continue_in_all_dimensions(problem: Problem, context: FitContext, fitted: Run) -> Run:
    """Start the run in all dimensions from a run in a few, with its history."""
    assert fitted.outcome is not None
    assert problem.projection is not None
    plan = make_plan(context.requested, problem, log=False)
    plan = plan.for_all_dimensions(problem.projection.n_axes)
    run = _start_run(problem, plan, fitted.partition.labels, context, on_course=fitted.outcome.complete)
    run.history = fitted.history
    run.n_sweeps = fitted.n_sweeps
    if not fitted.outcome.complete:
        run.outcome = fitted.outcome
    return run


def _start_from_sample(problem: Problem, context: FitContext, n_drawn: int) -> Run | None:
    """Fit a sample, and start the run of all rows from its centres.

    Return None if the rows are in memory and the sample is not representative.
    """
    sample = problem.sample(n_drawn, context.rng)
    with stage("sample"):
        fitted, schedule = prepare_run(sample, context.nested(), start_kway)
        if schedule is not None:
            schedule.execute()
    assert fitted.outcome is not None
    rows = problem.rows
    plan = _plan(context.requested, problem, context).for_all_rows(
        sample.rows.n_rows,
        fitted.n_sweeps,
        fitted.plan.dimensions,
        in_memory=rows.in_memory,
        repair=is_large_sample(n_drawn, problem),
    )
    centres = fitted.partition.centres
    labels = assign_by_candidates(rows, centres, plan.n_candidates, problem.n_threads)
    run = _start_run(problem, plan, labels, context, on_course=fitted.outcome.complete)
    if rows.in_memory and not _is_representative(fitted, run):
        logger.info("the sample is not representative: starting over with all rows")
        return None
    run.record_start()
    return run


def _is_representative(sample: Run, whole: Run) -> bool:
    """Return True if the centres of a sample fit all rows about as well as the sample."""
    own, other = (run.inertia / run.partition.weights.sum() for run in (sample, whole))
    return bool(other <= MAX_SAMPLE_RATIO * own)


def start_tree(rules: SplitRules, *, refine: bool) -> Start:
    """Return the function that starts a bisecting run. Without `refine`, the tree is the result."""

    def start(problem: Problem, context: FitContext) -> Run:
        if problem.rows.in_memory:
            return _start_from_tree(problem, context, rules, refine=refine)
        if rules.sample is None:
            raise ValueError(
                "sample=None needs all rows in memory, but the rows do not fit into memory. Use "
                'sample="auto", which builds the tree from a sample.'
            )
        return _start_from_tree_of_sample(problem, context, rules, refine=refine)

    return start


def _start_from_tree(problem: Problem, context: FitContext, rules: SplitRules, *, refine: bool) -> Run:
    """Build a tree of all rows. Its leaves are the clusters, possibly fewer than requested."""
    builder, order = _grow_tree(problem, context, rules)

    def make_tree(partition: Partition, inertias: Floats) -> tuple[ClusterTree, int, str]:
        tree = build_tree(builder, order, partition, inertias)
        return tree, len(builder.members), _note_of_splits(tree) if rules.is_exact else ""

    n_leaves, labels = len(builder.leaves(order)), builder.labels(order)
    return _run_of_leaves(problem, context, n_leaves, labels, make_tree, refine=refine)


def _note_of_splits(tree: ClusterTree) -> str:
    """Return the number of passes of the splits as text."""
    if tree.n_passes is None or not len(tree.splits):
        return ""
    passes = tree.n_passes[tree.splits]
    return f"{len(passes)} splits, {passes.mean():.1f} passes on average, at most {passes.max()}"


def _start_from_tree_of_sample(
    problem: Problem, context: FitContext, rules: SplitRules, *, refine: bool
) -> Run:
    """Build a tree of a sample, and assign all rows to its leaves."""
    rows, weights, n_threads = problem.rows, problem.weights, problem.n_threads
    assert rows.max_sample is not None
    sample = problem.sample(rows.max_sample, context.rng)
    builder, order = _grow_tree(sample, context.nested(), rules)
    n_leaves = len(builder.leaves(order))
    inertias = np.zeros(n_leaves)
    leaves, _ = Partition.from_labels(
        builder.labels(order), n_leaves, sample.rows, sample.row_weights, n_threads, inertias=inertias
    )
    tree = build_tree(builder, order, leaves, inertias)

    def make_tree(partition: Partition, inertias: Floats) -> tuple[ClusterTree, int, str]:
        if weights.values is not None and weights.n_positive < rows.n_rows:
            centres = partition.centres
            assign_zero_weight_rows(partition.labels, rows, weights.values, centres, n_threads)
        note = f"tree of a sample of {sample.rows.n_rows} rows; then all rows, in blocks"
        return tree.for_partition(partition, inertias), rows.n_rows, note

    labels = assign_by_tree(rows, tree, n_threads)
    return _run_of_leaves(problem, context, n_leaves, labels, make_tree, refine=refine)


def _grow_tree(problem: Problem, context: FitContext, rules: SplitRules) -> tuple[TreeBuilder, Ints]:
    """Grow a tree of all rows. Return its builder and its splits in chronological order."""
    seed = int(context.rng.randint(2**63 - 1, dtype=np.int64))
    rows = problem.rows_in_memory
    builder = TreeBuilder.for_rows(rows, problem.row_weights, rules, seed, problem.n_threads)
    return builder, context.grow(builder, problem.n_clusters)


def _run_of_leaves(
    problem: Problem,
    context: FitContext,
    n_leaves: int,
    labels: Labels,
    make_tree: MakeTree,
    *,
    refine: bool,
) -> Run:
    """Start the run whose clusters are the leaves of a tree. Without `refine`, it is finished."""
    if problem.limits is not None and n_leaves < problem.n_clusters:
        raise ValueError(
            f"The tree has only {n_leaves} leaves, because rows are equal. Limits on sizes need "
            f"n_clusters={problem.n_clusters} leaves. Use BoostKMeans, or fewer clusters."
        )
    problem = problem.with_count(n_leaves)
    plan = Plan(moves=context.requested.moves)
    if refine:
        plan = make_plan(replace(context.requested, init="bisecting"), problem)
    return Run.start(
        problem,
        plan,
        labels,
        context.rng,
        began=context.began,
        tol=context.criteria.tol,
        make_tree=make_tree,
        outcome=None if refine else Outcome(StopReason.TREE),
    )
