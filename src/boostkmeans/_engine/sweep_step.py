"""Sweep step: the next sweep of a run, over candidates or over all clusters, and its record."""

import time
from dataclasses import replace

from boostkmeans._engine.candidate_strategy import CandidateStrategy, Scope
from boostkmeans._engine.few_clusters import has_few_clusters
from boostkmeans._engine.run import Run
from boostkmeans._steps.row_bounds import RowBounds
from boostkmeans._steps.sweep import FullPolicy, SweepOptions, SweepProgress, SweepResult, sweep

# If the last sweep moved at most this share of the rows, the next full sweep uses float64 wherever
# float32 is not accurate enough, so that it can certify the result.
CERTIFY_BELOW_MOVES = 1 / 200
# The same threshold after a sweep over candidates, which misses some moves.
CERTIFY_AFTER_CANDIDATES_BELOW = 1 / 2000
# Row bounds are used if the last sweep moved at most this share of the rows. If more rows move, centres
# move so far that hardly any row is skipped: see "Few clusters" in docs/benchmarks.md.
BOUNDS_BELOW_MOVES = 1 / 50
# Minimum number of clusters for proposals in low precision.
LOW_PRECISION_FROM_CLUSTERS = 256
# Low precision is used only if the last sweep moved more than this share of the rows.
LOW_PRECISION_ABOVE_MOVES = 1 / 20
# Low precision is used only if the inertia is more than this share of the sum of all squares. Products
# of bytes are accurate to 1 % of the distance from the origin: see "Low precision" in
# docs/benchmarks.md.
LOW_PRECISION_ABOVE_INERTIA = 1 / 8


def perform_sweep(
    run: Run, deadline: float, temperature: float = 0.0, *, probe: bool = False
) -> SweepResult:
    """Perform one sweep and record it. With `probe`, some rows may be compared with all clusters."""
    run.exchanged = run.problem.limits is not None and not run.exchanged
    options = run.options(deadline, temperature)
    run.progress = run.progress or SweepProgress()
    run.progress.after_block = run.after_block
    if run.candidates is not None and run.candidates.scope is not Scope.ALL:
        kind = "candidates"
        result = _sweep_candidates(run, run.candidates, options, probe=probe)
    else:
        exact = temperature == 0 and not options.exchange and _may_certify(run)
        kind = "certify" if exact else "sweep"
        options = replace(
            options, exact=exact, low_precision=_use_low_precision(run), bounded=_use_projection(run)
        )
        result = _sweep_all(run, options)
    run.progress = None
    run.account(result)
    run.record(result.moves, result.evaluations, kind, temperature=temperature)
    return result


def _sweep_candidates(
    run: Run, candidates: CandidateStrategy, options: SweepOptions, *, probe: bool
) -> SweepResult:
    """Compare rows with the candidates of their clusters."""
    problem, partition = run.problem, run.partition
    run.bounds = None
    if problem.limits is not None:  # Sweeps with and without exchanges find different moves.
        candidates.mark_unvisited()
    if time.perf_counter() >= options.deadline:  # Do not build lists that no sweep will use.
        return SweepResult(0, 0.0, 0, late=True)
    candidates.refresh(problem, partition, first=options.first)
    policy = candidates.policy()
    result = sweep(
        problem, partition, policy=policy, options=options, rng=run.rng, progress=run.progress
    )
    candidates.after_sweep(result, problem.rows, partition.n_clusters, options.temperature)
    return _probe(run, candidates, options, result) if probe and not result.late else result


def _probe(
    run: Run, candidates: CandidateStrategy, options: SweepOptions, result: SweepResult
) -> SweepResult:
    """Compare some rows with all clusters, and return the sum of both results."""
    problem, partition = run.problem, run.partition
    share = candidates.probe_share(problem.rows, partition.n_clusters)
    if share == 0 or problem.limits is not None:
        return result
    policy = FullPolicy(share)
    probed = sweep(problem, partition, policy=policy, options=options, rng=run.rng)
    candidates.after_probe(probed, problem.rows, partition, run.inertia)
    return result.plus(probed)


def _sweep_all(run: Run, options: SweepOptions) -> SweepResult:
    """Compare rows with all clusters."""
    problem, partition = run.problem, run.partition
    _update_bounds(run, options.temperature)
    policy = FullPolicy(bounds=run.bounds)
    result = sweep(
        problem, partition, policy=policy, options=options, rng=run.rng, progress=run.progress
    )
    if run.candidates is not None:
        run.candidates.after_full_sweep(result, partition.n_clusters)
    return result


def _update_bounds(run: Run, temperature: float) -> None:
    """Create row bounds if they pay, and discard them if the next sweep cannot use them."""
    if not _uses_bounds(run) or temperature > 0:
        run.bounds = None
    elif run.bounds is None:
        run.bounds = RowBounds.for_partition(run.partition)


def _uses_bounds(run: Run) -> bool:
    """Return True if row bounds pay in the next full sweep."""
    problem = run.problem
    if run.last is None or run.plan.moves == "first" or not has_few_clusters(problem):
        return False
    if problem.projection is not None:  # Its bounds skip clusters instead of rows.
        return False
    return run.last.moves <= BOUNDS_BELOW_MOVES * problem.rows.n_rows


def _may_certify(run: Run) -> bool:
    """Return True if a full sweep should decide in float64, because it may be the last one."""
    last = run.last
    if last is None:
        return False
    n = run.problem.rows.n_rows
    if last.kind == "candidates" and last.moves > CERTIFY_AFTER_CANDIDATES_BELOW * n:
        return False
    # A certifying sweep searches for the best move, and it visits all rows.
    if run.plan.moves == "first" or _uses_bounds(run):
        return last.moves == 0
    return last.moves <= CERTIFY_BELOW_MOVES * n


def _use_low_precision(run: Run) -> bool:
    """Return True if low precision suffices for proposals, because many rows still move."""
    if run.partition.n_clusters < LOW_PRECISION_FROM_CLUSTERS or run.last is None:
        return False
    many = run.last.moves > LOW_PRECISION_ABOVE_MOVES * run.problem.rows.n_rows
    return many and run.inertia > LOW_PRECISION_ABOVE_INERTIA * run.total_squares


def _use_projection(run: Run) -> bool:
    """Return True if the bounds of a projection, if there is one, exclude most clusters.

    Before the first sweep, the centres of a random partition are nearly the same, so that bounds exclude
    none of them. A fit in a few dimensions has made such sweeps.
    """
    return run.plan.dimensions is not None or run.last is not None
