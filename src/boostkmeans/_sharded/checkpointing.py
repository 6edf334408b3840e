"""State of a sharded run for checkpoints: plain values, and the labels of all shards."""

from collections.abc import Callable
from functools import partial

import numpy as np

from boostkmeans._engine.checkpoints.checkpoint import (
    PROJECTED,
    SWEEPS,
    Checkpoint,
    random_state,
    set_random_state,
)
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.plan import Plan
from boostkmeans._engine.schedule import Schedule
from boostkmeans._engine.scheduled_run import LastSweep
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._sharded.backend import identity
from boostkmeans._sharded.fit import (
    ShardedSettings,
    sample_of,
    settings_in_few_dimensions,
    tree_partition,
)
from boostkmeans._sharded.projecting import project_rows
from boostkmeans._sharded.rounds import ShardedRepairs, perform_round
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.run import ShardedCandidates, ShardedPartition, ShardedRun, labelled
from boostkmeans._sharded.shard.candidate_groups import CandidateGroups
from boostkmeans._sharded.shard.sampling import SampleDraw
from boostkmeans._sharded.shard.sums import LONGEST, Remembered, remember
from boostkmeans._storage.fields import encode_number
from boostkmeans._storage.state import SavedState, State

# Kinds of steps that a run may have made last.
KINDS = ("sweep", "candidates", "certify", "repair", "tree")


def run_state(run: ShardedRun) -> State:
    """Return everything that the rest of the run depends on, as plain values for a checkpoint."""
    return {
        "n_clusters": run.n_clusters,
        "n_sweeps": run.n_sweeps,
        "last": None if run.last is None else run.last._asdict(),
        "stop_reason": "" if run.outcome is None else str(run.outcome.reason),
        "note": run.note,
        "history": [record.state() for record in run.history],
        "plan": run.plan.state(),
        "partition": _partition_state(run.rows, run.partition),
        "best": None if run.best is None else _partition_state(run.rows, run.best),
        "candidates": None if run.candidates is None else _candidates_state(run),
        "draw": vars(run.draw),
        "tree_seed": run.tree_seed,
        "measured": encode_number(run.measured),
        "axes": None if run.projection is None else run.projection.axes,
    }


def _partition_state(rows: ShardedRows, partition: ShardedPartition) -> State:
    tasks = rows.tasks
    remembered, *labels = tasks.get(tasks.submit(remember, partition.snapshot), *partition.labels)
    state: State = {"labels": np.concatenate(labels), "unchanged_for": remembered.unchanged_for}
    if partition.summary.n_empty:
        state["positions"] = remembered.positions
    return state


def _candidates_state(run: ShardedRun) -> State:
    own = run.candidates
    assert own is not None
    state: State = {
        "n_candidates": own.n_candidates,
        "n_built": own.n_built,
        "max_uses": own.max_uses,
        "uses": own.uses,
        "expired": own.expired,
    }
    if own.groups is not None and not own.expired:
        groups: CandidateGroups = run.rows.tasks.get(own.groups)[0]
        state |= {"group_of": groups.group_of, "heads": groups.heads, "lists": groups.lists}
    return state


def restore_run(
    saved: SavedState,
    all_rows: ShardedRows,
    settings: ShardedSettings,
    rng: np.random.RandomState,
    *,
    in_few_dimensions: bool = False,
) -> ShardedRun:
    """Return the run that `run_state` described, for the same rows."""
    rows = all_rows
    k = saved.integer("n_clusters", 1, settings.n_clusters)
    plan = Plan.restore(saved.optional_child("plan"), None, settings.requested.moves)
    last = saved.optional_child("last")
    best, candidates = saved.optional_child("best"), saved.optional_child("candidates")
    reason = saved.string("stop_reason", ("", *StopReason))
    draw_state = saved.child("draw")
    draw = SampleDraw(
        draw_state.integer("n_positive", 1, rows.n_rows),
        draw_state.integer("n_drawn", 1, rows.n_rows),
        draw_state.integer("seed"),
    )
    sample, projection = sample_of(rows, draw), None
    if in_few_dimensions or plan.dimensions is not None:
        axes = saved.array("axes", np.float64, (rows.n_features, None))
        projection = project_rows(rows, axes, "", sample)
        if in_few_dimensions:
            rows, sample = projection.rows, projection.sample
    partition = _restore_partition(saved.child("partition"), rows, k)
    run = ShardedRun(
        plan=plan,
        inertia=partition.inertia,
        rng=rng,
        began=settings.began,
        history=[SweepRecord.restored(record) for record in saved.children("history")],
        last=None if last is None else LastSweep(last.string("kind", KINDS), last.integer("moves")),
        n_sweeps=saved.integer("n_sweeps"),
        note=saved.string("note"),
        outcome=Outcome(StopReason(reason)) if reason else None,
        rows=rows,
        partition=partition,
        n_clusters_=k,
        candidates=None if candidates is None else _restore_candidates(candidates, rows, k),
        draw=draw,
        sample=sample,
        best=None if best is None else _restore_partition(best, rows, k),
        projection=projection,
        original=all_rows if in_few_dimensions else None,
        measured=saved.non_negative("measured"),
    )
    if settings.tree is not None:  # The same seed grows the same tree.
        seed = saved.integer("tree_seed")
        tree, leaves, _ = tree_partition(rows, settings, sample, seed)
        run.tree, run.tree_seed, run.tree_labels = tree, seed, leaves.labels
    return run


def _restore_partition(saved: SavedState, rows: ShardedRows, n_clusters: int) -> ShardedPartition:
    labels = saved.array("labels", np.int32, (rows.n_rows,), 0, n_clusters - 1)
    unchanged_for = saved.array("unchanged_for", np.uint8, (n_clusters,), 0, int(LONGEST))
    positions = None
    if "positions" in saved.values:  # Fits without empty clusters, and those of 0.13, have none.
        positions = saved.array("positions", np.float64, (None, rows.n_features))
    parts = np.split(labels, np.cumsum(rows.lengths)[:-1])
    partition = labelled(rows, parts, n_clusters, Remembered(unchanged_for, positions))
    n_empty = partition.summary.n_empty
    if positions is not None and len(positions) != n_empty:
        saved.fail("positions", f"those of {n_empty} empty clusters", len(positions))
    return partition


def _restore_candidates(saved: SavedState, rows: ShardedRows, n_clusters: int) -> ShardedCandidates:
    k = n_clusters
    found = ShardedCandidates(
        saved.integer("n_candidates", 1),
        None,
        saved.integer("n_built"),
        saved.integer("max_uses"),
        saved.integer("uses"),
        expired=True,
    )
    if "lists" not in saved.values:
        return found
    lists = saved.array("lists", np.int32, (None, None), -1, k - 1)
    n_groups = len(lists)
    groups = CandidateGroups(
        saved.array("group_of", np.int32, (k,), 0, n_groups - 1),
        saved.array("heads", np.int32, (n_groups,), 0, k - 1),
        lists,
    )
    found.groups = rows.tasks.submit(identity, groups)
    found.expired = saved.boolean("expired")
    return found


def write_after_steps(
    checkpoint: Checkpoint, rng: np.random.RandomState
) -> Callable[[Schedule, bool], None]:
    """Return a function that writes the state of a schedule after its steps."""

    def write(schedule: Schedule, last: bool) -> None:
        def state() -> State:
            run = schedule.run
            assert isinstance(run, ShardedRun)
            return {"rng": random_state(rng), "fit": run_state(run), "course": schedule.state()}

        checkpoint.write(stage_of(schedule), state, now=last)

    return write


def stage_of(schedule: Schedule) -> str:
    """Return the name of the stage of a schedule."""
    return SWEEPS if schedule.run.sees_all_dimensions else PROJECTED + SWEEPS


def resume_schedule(
    checkpoint: Checkpoint, rows: ShardedRows, settings: ShardedSettings, rng: np.random.RandomState
) -> Schedule | None:
    """Return the schedule of the run that a checkpoint stores, or None without one."""
    few = False
    saved = checkpoint.take(SWEEPS, rows.n_rows)
    if saved is None:
        few = True
        saved = checkpoint.take(PROJECTED + SWEEPS, rows.n_rows)
    if saved is None:
        return None
    course = saved.child("course")
    run = restore_run(saved.child("fit"), rows, settings, rng, in_few_dimensions=few)
    set_random_state(rng, saved.child("rng"))
    criteria = (settings_in_few_dimensions(settings) if few else settings).criteria
    repairs = ShardedRepairs(
        run, criteria, course.integer("repair_rounds"), changed=course.boolean("_swapped")
    )
    return Schedule.resume(course, run, criteria, repairs, partial(perform_round, run))
