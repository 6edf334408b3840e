"""State of a run for checkpoints: plain values and arrays. The field names are those of version 0.7."""

import math
import time

import numpy as np

from boostkmeans._engine.candidate_strategy import CandidateStrategy
from boostkmeans._engine.checkpoints.tree_checks import check_tree
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.plan import Plan
from boostkmeans._engine.run import Run
from boostkmeans._engine.scheduled_run import LastSweep
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._steps.partition import Partition, Snapshot
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.sweep import SweepProgress
from boostkmeans._storage.fields import encode_number
from boostkmeans._storage.state import SavedState, State
from boostkmeans._storage.tensor_checks import Checker

# Kinds of steps that a run may have made last.
SWEEP_KINDS = ("sweep", "candidates", "certify", "repair", "extrapolation")
# Largest relative difference between composites updated by moves and recomputed ones.
MAX_DRIFT = 1e-6


def run_state(run: Run) -> State:
    """Return everything that the rest of the run depends on, as plain values for a checkpoint.

    The rows, weights and limits are not part of it.
    """
    return {
        "inertia": run.inertia,
        "drift": run.drift,
        "_moves_since": run.moves_since_recompute,
        "_energy": run.total_squares,
        "measured": encode_number(run.measured),
        "n_clusters": run.partition.n_clusters,
        "n_sweeps": run.n_sweeps,
        "last": None if run.last is None else run.last._asdict(),
        "stop_reason": "" if run.outcome is None else str(run.outcome.reason),
        "exchange": run.exchanged,
        "note": run.note,
        "history": [record.state() for record in run.history],
        "partition": run.partition.state(),
        "plan": run.plan.state(),
        "candidates": None if run.candidates is None else run.candidates.state(),
        "best": None if run.best is None else run.best.state(),
        "so_far": None if run.progress is None else run.progress.state(),
        "tree": None if run.tree is None else run.tree.state(),
    }


def restore_run(
    saved: SavedState,
    problem: Problem,
    moves: str,
    rng: np.random.RandomState,
    *,
    finished: bool,
) -> Run:
    """Return the run that `run_state` described, for the same rows and at most as many clusters."""
    n, d = problem.rows.n_rows, problem.rows.n_features
    k = saved.integer("n_clusters", 1, problem.n_clusters)
    problem = problem.with_count(k)
    parts = {
        name: saved.optional_child(name) for name in ("plan", "candidates", "best", "so_far", "tree")
    }
    plan = Plan.restore(parts["plan"], parts["candidates"], moves)
    history = [SweepRecord.restored(record) for record in saved.children("history")]
    n_sweeps, last = _restore_last(saved, history)
    candidates, best, progress = parts["candidates"], parts["best"], parts["so_far"]
    tree = None
    if parts["tree"] is not None:
        tree = ClusterTree.restore(parts["tree"], n, d)
        check_tree(Checker(saved.remedy, file=saved.path), tree, k, n)
    return Run(
        problem=problem,
        plan=plan,
        partition=Partition.restore(saved.child("partition"), n, k, d),
        inertia=saved.non_negative("inertia"),
        rng=rng,
        began=time.perf_counter() - (history[-1].seconds if history else 0.0),
        candidates=None
        if candidates is None
        else CandidateStrategy.restore(candidates, problem, plan, k),
        tree=tree,
        history=history,
        last=last,
        n_sweeps=n_sweeps,
        note=saved.string("note"),
        best=None if best is None else Snapshot.restore(best, n, k, d),
        outcome=Outcome(StopReason(saved.string("stop_reason", tuple(StopReason))))
        if finished
        else None,
        drift=saved.non_negative("drift"),
        progress=None if progress is None else SweepProgress.restore(progress, problem.rows.n_blocks),
        exchanged=saved.boolean("exchange"),
        moves_since_recompute=saved.non_negative("_moves_since"),
        total_squares=saved.non_negative("_energy"),
        measured=saved.number("measured") if "measured" in saved.values else math.inf,
    )


def matches_rows(run: Run) -> bool:
    """Return True if the sums and counts of a partition from a checkpoint match the rows."""
    problem, own = run.problem, run.partition
    found, _ = Partition.from_labels(
        own.labels, own.n_clusters, problem.rows, problem.row_weights, problem.n_threads
    )
    filled = found.counts > 0
    gaps = np.abs(found.composites - own.composites)[filled].max(initial=0.0)
    scale = np.abs(found.composites).max(initial=0.0)
    return bool(
        np.array_equal(found.counts, own.counts)
        and np.allclose(found.weights, own.weights, rtol=MAX_DRIFT)
        and gaps <= MAX_DRIFT * max(scale, 1.0)
    )


def _restore_last(saved: SavedState, history: list[SweepRecord]) -> tuple[int, LastSweep | None]:
    """Return the number of sweeps, and the last one. Version 0.7 stored both in the history only."""
    if "n_sweeps" in saved.values:
        last = saved.optional_child("last")
        n_sweeps = saved.integer("n_sweeps")
        if last is None:
            return n_sweeps, None
        return n_sweeps, LastSweep(last.string("kind", SWEEP_KINDS), last.integer("moves"))
    sweeps = [record for record in history if record.kind != "tree"]
    return len(sweeps), LastSweep(sweeps[-1].kind, sweeps[-1].moves) if sweeps else None
