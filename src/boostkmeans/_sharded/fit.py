"""Fit of sharded rows: the start from a sample, and the rounds of all shards that follow."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._data.user_input import accepted_parameter
from boostkmeans._engine.dimensions import MAX_PROJECTED_SHARE
from boostkmeans._engine.fit import PROJECTED_TOL
from boostkmeans._engine.plan import EARLY_FROM_CLUSTERS, Plan, RequestedSettings, make_plan
from boostkmeans._engine.schedule import Schedule
from boostkmeans._engine.stopping import Outcome, StoppingCriteria, StopReason
from boostkmeans._sharded.backend import LocalBackend, Reference, call, identity
from boostkmeans._sharded.filling import fill_empty_clusters
from boostkmeans._sharded.projecting import ShardedProjection, choose_projection
from boostkmeans._sharded.rounds import MAX_SEED, ShardedRepairs, perform_round
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.run import ShardedCandidates, ShardedPartition, ShardedRun, labelled
from boostkmeans._sharded.shard.placing import place_sampled_shard, place_shard
from boostkmeans._sharded.shard.sampling import SampleDraw, SampleFit, draw_rows, fit_sample, join_sample
from boostkmeans._sharded.shard.sums import sum_shard
from boostkmeans._sharded.shard.trees import (
    TreeSettings,
    descend_shard,
    grow_tree,
    n_leaves_of,
    tree_of_rows,
)
from boostkmeans._sharded.tasks import Tasks
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._steps.partition import Labels
from boostkmeans._steps.seeding import checked_centres, checked_labels

logger = logging.getLogger("boostkmeans")

# Sampled rows per cluster, by quality.
SAMPLE_PER_CLUSTER = {"fast": 16, "balanced": 32, "best": 64}
# Minimum number of sampled rows. Up to this number, the sample is the whole data set.
MIN_SAMPLE = 2**15
# A larger sample has at most half of the rows: one worker fits it while the others wait.
MIN_ROWS_PER_SAMPLED_ROW = 2
# Maximum size of a sample in bytes: a worker has to hold it, in addition to its shards.
MAX_SAMPLE_BYTES = 2**30
# Maximum number of sweeps of a sample if there are many clusters.
MAX_SAMPLE_SWEEPS = 4


@dataclass(frozen=True)
class ShardedSettings:
    """Parameters of a sharded fit."""

    n_clusters: int
    requested: RequestedSettings
    criteria: StoppingCriteria
    began: float
    tree: TreeSettings | None = None
    """Settings of a bisecting fit; None for a k-way fit."""


@dataclass(frozen=True)
class SizesOfRows:
    """What a plan must know about rows. Steps for rows in memory exist for shards, too."""

    n_rows: int
    n_features: int
    stays_sparse: bool
    in_memory: bool = True


@dataclass(frozen=True)
class SizesOfProblem:
    """What a plan must know about a problem."""

    rows: SizesOfRows
    n_clusters: int
    limits: None = None
    n_pinned: int = 0


def sizes_of(rows: ShardedRows, settings: ShardedSettings) -> Any:
    """Return what a plan must know about the problem."""
    sizes = SizesOfRows(rows.n_rows, rows.n_features, rows.stays_sparse)
    return SizesOfProblem(sizes, settings.n_clusters)


def plan_rounds(rows: ShardedRows, settings: ShardedSettings) -> Plan:
    """Resolve all settings that are "auto" for the rounds over all shards."""
    plan = make_plan(settings.requested, sizes_of(rows, settings), log=False)
    return replace(plan, probes=False, trial_swaps=0, dimensions=None)


def start_run(rows: ShardedRows, settings: ShardedSettings, rng: np.random.RandomState) -> ShardedRun:
    """Return a run before its first round, or with an outcome if it needs none."""
    draw = SampleDraw(rows.weights.n_positive, sample_rows(rows, settings), int(rng.randint(MAX_SEED)))
    sample = sample_of(rows, draw)
    if settings.tree is not None:
        return start_tree_run(rows, settings, draw, sample, rng)
    projection = projection_of(rows, settings, draw, sample)
    if projection is None:
        return _start_kway(rows, settings, draw, sample, rng)
    few = settings_in_few_dimensions(settings)
    run = _start_kway(projection.rows, few, draw, projection.sample, rng, rows, projection)
    logger.info("%s", projection.note)
    return run


def projection_of(
    rows: ShardedRows, settings: ShardedSettings, draw: SampleDraw, sample: Reference
) -> ShardedProjection | None:
    """Return the projection in which a fit runs first; None if it uses all dimensions.

    If the sample has all rows, its own fit is projected.
    """
    given = not isinstance(settings.requested.init, str)
    if settings.tree is not None or given or is_whole(draw):
        return None
    return choose_projection(rows, settings.requested, sizes_of(rows, settings), sample)


def settings_in_few_dimensions(settings: ShardedSettings) -> ShardedSettings:
    """Return the settings of the rounds in a few dimensions, which leave some for all dimensions."""
    criteria = replace(
        settings.criteria,
        tol=max(settings.criteria.tol, PROJECTED_TOL),
        max_iter=max(1, int(MAX_PROJECTED_SHARE * settings.criteria.max_iter)),
    )
    requested = replace(settings.requested, dimensions=None, max_iter=criteria.max_iter)
    return replace(settings, requested=requested, criteria=criteria)


def continue_in_all_dimensions(few: ShardedRun, settings: ShardedSettings) -> ShardedRun:
    """Start the run in all dimensions from a run in a few, with its history."""
    rows, projection = few.original, few.projection
    assert rows is not None
    assert projection is not None
    plan = plan_rounds(rows, settings).for_all_dimensions(projection.n_axes)
    sums = [
        rows.tasks.submit(sum_shard, *shard, labels, few.n_clusters)
        for shard, labels in zip(rows.shards, few.partition.labels, strict=True)
    ]
    partition = ShardedPartition.from_sums(rows, list(few.partition.labels), sums)
    sample = sample_of(rows, few.draw)
    run = _new_run(rows, settings, plan, partition, few.draw, sample, few.rng)
    run.projection = projection
    run.history, run.n_sweeps = few.history, few.n_sweeps
    run.on_course = few.on_course
    if few.outcome is not None and not few.outcome.complete:
        run.outcome = few.outcome
    return run


def _start_kway(
    rows: ShardedRows,
    settings: ShardedSettings,
    draw: SampleDraw,
    sample: Reference,
    rng: np.random.RandomState,
    original: ShardedRows | None = None,
    projection: ShardedProjection | None = None,
) -> ShardedRun:
    """Start a k-way run. `original` are the rows in all dimensions, if `rows` is a projection."""
    plan = plan_rounds(rows, settings)
    if projection is not None:
        plan = plan.in_few_dimensions()
    if isinstance(settings.requested.init, str):
        partition, note = _start_from_sample(rows, settings, plan, draw, sample, rng)
        if is_whole(draw):  # The sample was annealed and repaired.
            plan = replace(plan.sweeps_only(), reasons=[])
        plan = replace(plan, reasons=[note, "then all shards", *plan.reasons])
    else:
        partition = _start_from_array(
            rows, settings, accepted_parameter(settings.requested.init, "init")
        )
    partition = fill_empty_clusters(rows, partition, settings.n_clusters)
    run = _new_run(rows, settings, plan, partition, draw, sample, rng)
    run.original, run.projection = original, projection
    if projection is not None:
        run.note = f"{projection.note}: {run.note}"
    run.record_start()
    return run


def start_tree_run(
    rows: ShardedRows,
    settings: ShardedSettings,
    draw: SampleDraw,
    sample: Reference,
    rng: np.random.RandomState,
) -> ShardedRun:
    """Return the run whose clusters are the leaves of a tree. Without refinement, it is finished."""
    assert settings.tree is not None
    refine, seed = settings.tree.refine, int(rng.randint(MAX_SEED))
    tree, partition, n_leaves = tree_partition(rows, settings, sample, seed)
    settings = replace(
        settings,
        n_clusters=n_leaves,
        requested=replace(settings.requested, init="bisecting"),
    )
    plan = Plan(moves=settings.requested.moves)
    if refine:
        plan = plan_rounds(rows, settings)
    run = _new_run(rows, settings, plan, partition, draw, sample, rng)
    run.tree, run.tree_seed, run.tree_labels = tree, seed, partition.labels
    run.note = ""
    note = f"tree of a sample of {draw.n_drawn} rows; then all shards"
    run.record(rows.n_rows, 0, "tree", note=note)
    run.note = str(plan)
    if not refine:
        run.outcome = Outcome(StopReason.TREE)
    return run


def tree_partition(
    rows: ShardedRows, settings: ShardedSettings, sample: Reference, seed: int
) -> tuple[ClusterTree, ShardedPartition, int]:
    """Grow a tree of the sample, and assign all rows to its leaves. Return also their number."""
    tasks = rows.tasks
    assert settings.tree is not None
    tree = submit_alone(
        tasks, grow_tree, sample, settings.tree.rules, settings.n_clusters, seed, tasks.n_threads
    )
    found = [tasks.submit(descend_shard, *shard, tree, n_results=2) for shard in rows.shards]
    partition = ShardedPartition.from_sums(rows, [one[0] for one in found], [one[1] for one in found])
    n_leaves = int(tasks.get(tasks.submit(n_leaves_of, tree))[0])
    # All rows of a leaf may be nearer to the child of another node.
    partition = fill_empty_clusters(rows, partition, n_leaves)
    of_rows = tasks.get(tasks.submit(tree_of_rows, tree, partition.snapshot))[0]
    return of_rows, partition, n_leaves


def _new_run(
    rows: ShardedRows,
    settings: ShardedSettings,
    plan: Plan,
    partition: ShardedPartition,
    draw: SampleDraw,
    sample: Reference,
    rng: np.random.RandomState,
) -> ShardedRun:
    logger.info("%s", plan)
    return ShardedRun(
        plan=plan,
        inertia=partition.inertia,
        rng=rng,
        began=settings.began,
        note=str(plan),
        rows=rows,
        partition=partition,
        n_clusters_=settings.n_clusters,
        candidates=None if plan.n_candidates is None else ShardedCandidates(plan.n_candidates),
        draw=draw,
        sample=sample,
    )


def sample_rows(rows: ShardedRows, settings: ShardedSettings) -> int:
    """Return the number of rows to sample. It depends on the data alone, not on the workers."""
    n, k = rows.weights.n_positive, settings.n_clusters
    wanted = min(SAMPLE_PER_CLUSTER[settings.requested.quality] * k, n // MIN_ROWS_PER_SAMPLED_ROW)
    return min(n, max(k, min(max(MIN_SAMPLE, wanted), MAX_SAMPLE_BYTES // rows.row_bytes)))


def is_whole(draw: SampleDraw) -> bool:
    """Return True if the sample has all rows of positive weight."""
    return draw.n_drawn == draw.n_positive


def sample_of(rows: ShardedRows, draw: SampleDraw) -> Reference:
    """Return the sampled rows of all shards, on one worker."""
    parts = [
        rows.tasks.submit(draw_rows, *shard, draw, first)
        for shard, first in zip(rows.shards, rows.first_positive, strict=True)
    ]
    return rows.tasks.submit(join_sample, rows.frame, rows.stays_sparse, *parts)


def _start_from_sample(
    rows: ShardedRows,
    settings: ShardedSettings,
    plan: Plan,
    draw: SampleDraw,
    sample: Reference,
    rng: np.random.RandomState,
) -> tuple[ShardedPartition, str]:
    """Fit the sample on one worker, and assign all rows to its centres."""
    tasks, seed = rows.tasks, int(rng.randint(MAX_SEED))
    requested = settings.requested if is_whole(draw) else _requested_of_sample(settings)
    seconds = settings.criteria.deadline - time.perf_counter()
    fit = submit_alone(
        tasks, fit_sample, sample, requested, settings.n_clusters, seed, tasks.n_threads, seconds
    )
    if math.isfinite(seconds):  # If the result is lost, another fit would not end at the same time.
        fit = tasks.submit(identity, tasks.get(fit)[0])
    if is_whole(draw):
        found = [
            tasks.submit(place_sampled_shard, *shard, fit, plan.n_candidates, first, n_results=2)
            for shard, first in zip(rows.shards, rows.first_positive, strict=True)
        ]
    else:
        found = [
            tasks.submit(place_shard, *shard, fit, plan.n_candidates, n_results=2)
            for shard in rows.shards
        ]
    partition = ShardedPartition.from_sums(rows, [one[0] for one in found], [one[1] for one in found])
    summary: SampleFit = tasks.get(tasks.submit(without_centres, fit))[0]
    note = f"sample of {summary.n_rows} rows ({summary.n_sweeps} sweeps, {summary.note})"
    return partition, note


def submit_alone(tasks: Tasks, function: Callable[..., Any], *args: Any) -> Reference:
    """Schedule a long task that all others wait for.

    Without a cluster, it runs here and now: Ctrl-C reaches native code only in the main thread, and the
    driver would wait for a task in another thread until its end.
    """
    if isinstance(tasks.backend, LocalBackend):
        return call(tasks.isa, function, *tasks.get(*args))
    return tasks.submit(function, *args)


def _requested_of_sample(settings: ShardedSettings) -> RequestedSettings:
    """Return the settings of the fit of a sample. Annealing and repair of all rows follow.

    With many clusters, a tree and a few sweeps suffice. The rounds that follow are faster than the
    sweeps of a sample on one worker.
    """
    requested = replace(settings.requested, quality="fast", annealing=0.0)
    if settings.n_clusters < EARLY_FROM_CLUSTERS:
        return requested
    return replace(
        requested,
        init="bisecting" if requested.init == "auto" else requested.init,
        repair=False,
        max_iter=min(MAX_SAMPLE_SWEEPS, requested.max_iter),
    )


def without_centres(fit: SampleFit) -> SampleFit:
    """Return the description of a fit without its centres, for the driver."""
    return replace(fit, centres=np.empty((0, 0)), labels=np.empty(0, dtype=np.int32))


def _start_from_array(rows: ShardedRows, settings: ShardedSettings, init: Any) -> ShardedPartition:
    """Start from centres or labels of the user."""
    k, d = settings.n_clusters, rows.n_features
    if init.ndim == 2:
        init = checked_centres(init, k, d, rows.frame.metric)
    else:
        init = checked_labels(init, k, rows.n_rows, d)
    if init.ndim == 1:
        borders = np.cumsum(rows.lengths)[:-1]
        labels: list[Labels] = np.split(init.astype(np.int32), borders)
        return labelled(rows, labels, settings.n_clusters)
    centres: Floats = rows.frame.enter(init)
    start = rows.tasks.submit(identity, SampleFit(centres, np.empty(0, dtype=np.int32), 0, 0, ""))
    found = [rows.tasks.submit(place_shard, *shard, start, None, n_results=2) for shard in rows.shards]
    return ShardedPartition.from_sums(rows, [one[0] for one in found], [one[1] for one in found])


def schedule_of(run: ShardedRun, criteria: StoppingCriteria) -> Schedule:
    """Return the schedule of a run at its start."""
    repairs = ShardedRepairs(run, criteria, run.plan.repair_rounds)
    return Schedule.begin(run, criteria, repairs, partial(perform_round, run))
