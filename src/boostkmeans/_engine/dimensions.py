"""Dimensions: the choice of the number of principal components in which a fit runs first."""

import logging

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._data.projection import Projection, Spectrum, components_for, spectrum_rows
from boostkmeans._engine.plan import Plan, RequestedSettings, make_plan
from boostkmeans._steps.problem import Problem, stratified_indices

logger = logging.getLogger("boostkmeans")

# "auto" uses the components that hold this share of the variance. See "Projected fits" in
# docs/benchmarks.md.
VARIANCE_SHARE = 0.87
# The number of components is a multiple of this: the values of one vector of the widest instruction set.
COMPONENTS_UNIT = 16
# Minimum number of features for which "auto" projects.
MIN_FEATURES = 64
# Maximum number of features for which "auto" projects. The time of the eigenvectors grows with the cube
# of the number of features, on one thread, and Ctrl-C does not interrupt it.
MAX_FEATURES = 2048
# "auto" projects if the estimated cost falls to at most this share.
MAX_COST_SHARE = 0.7
# "auto" does not project if `max_iter` is below this.
MIN_SWEEPS_TO_PROJECT = 20
# Minimum of `max_iter` for a projection: one sweep in the leading components, and one in all dimensions.
MIN_SWEEPS = 2
# Maximum share of `max_iter` for the fit in the leading components.
MAX_PROJECTED_SHARE = 0.75
# Bytes of a coordinate of a projected row.
BYTES_PER_VALUE = 4
# Estimated number of sweeps of a fit after its annealed sweeps.
SWEEPS_AFTER_ANNEALING = 15
# Estimated number of sweeps in all dimensions after a projected fit and its annealed sweeps.
FINAL_SWEEPS = 5
# Estimated number of distances in all dimensions per row of a sweep with bounds, including the cost of
# moves.
DISTANCES_PER_ROW = 32
# Multiply-adds per row of a sweep that do not depend on the number of features or clusters.
FIXED_COST = 5000
# Multiply-adds to find the eigenvectors of a matrix, divided by the cube of its size. The solver uses
# one thread and float64.
EIGENVECTOR_COST = 12
# The covariance of a sample is computed by one thread in float64, at this multiple of the cost of
# proposals.
COVARIANCE_COST = 2


def choose_projection(
    requested: RequestedSettings, problem: Problem, rng: np.random.RandomState
) -> tuple[Projection, str] | None:
    """Return the projection in which the fit runs first, and a description; None for no projection."""
    rows = problem.rows
    if requested.dimensions is None or not rows.in_memory or rows.stays_sparse:
        return None
    if problem.n_clusters < 2 or requested.max_iter < MIN_SWEEPS:
        return None
    if number_of_axes(requested, problem, None) is None:
        return None
    spectrum = _spectrum(problem, rng)
    n_axes = number_of_axes(requested, problem, spectrum.shares)
    if n_axes is None:
        return None
    if problem.rows.n_rows * (n_axes + 1) * BYTES_PER_VALUE > requested.memory_left:
        logger.info("no projection of all rows: it does not fit into max_memory")
        return None
    note = projection_note(n_axes, rows.n_features, spectrum.shares)
    logger.info("%s", note)
    projection = Projection.of(problem.rows_in_memory, spectrum, n_axes, problem.n_threads)
    return projection, note


def number_of_axes(requested: RequestedSettings, problem: Problem, shares: Floats | None) -> int | None:
    """Return the number of components in which the fit runs first; None for no projection.

    `shares` are those of the spectrum. Without them, return the smallest number that is possible, so
    that the spectrum is computed only if it is needed.
    """
    d = problem.rows.n_features
    if requested.dimensions is None or problem.n_clusters < 2 or requested.max_iter < MIN_SWEEPS:
        return None
    if requested.dimensions != "auto":
        n_axes = int(requested.dimensions)
        return n_axes if n_axes < d else None
    if not _may_pay(requested, problem):
        return None
    if shares is None:
        return COMPONENTS_UNIT
    n_axes = -(-components_for(shares, VARIANCE_SHARE) // COMPONENTS_UNIT) * COMPONENTS_UNIT
    if n_axes < d and _pays(n_axes, requested, problem):
        return n_axes
    logger.info("no projection: %d of %d dimensions would be needed", min(n_axes, d), d)
    return None


def projection_note(n_axes: int, n_features: int, shares: Floats) -> str:
    """Return a description of the components in which a fit runs first."""
    share = 100 * shares[n_axes - 1]
    return f"first {n_axes} of {n_features} dimensions ({share:.1f} % of the variance)"


def _spectrum(problem: Problem, rng: np.random.RandomState) -> Spectrum:
    """Return the principal components of a sample of the rows with positive weight."""
    rows, weights = problem.rows, problem.row_weights
    candidates = np.arange(rows.n_rows) if weights is None else np.flatnonzero(weights > 0)
    some = candidates[stratified_indices(len(candidates), spectrum_rows(rows.n_features), rng)]
    return Spectrum.of(rows.take(some), None if weights is None else weights[some])


def _may_pay(requested: RequestedSettings, problem: Problem) -> bool:
    """Return True if "auto" should compute the spectrum of the rows."""
    asked = (requested.init, requested.repair, requested.annealing)
    if not all(isinstance(x, str) and x == "auto" for x in asked) or requested.moves != "best":
        return False  # The user decided how the fit proceeds.
    d = problem.rows.n_features
    if not MIN_FEATURES <= d <= MAX_FEATURES or requested.max_iter < MIN_SWEEPS_TO_PROJECT:
        return False
    return _pays(COMPONENTS_UNIT, requested, problem)


def _pays(n_axes: int, requested: RequestedSettings, problem: Problem) -> bool:
    """Return True if a fit that starts with this number of axes is estimated to be much cheaper."""
    rows, d = problem.rows, problem.rows.n_features
    plan = make_plan(requested, problem, log=False)
    annealed = 0 if plan.annealing is None else plan.annealing.n_sweeps
    last = 0 if plan.annealing is None else plan.annealing.final_part().n_sweeps
    n_sweeps = annealed + SWEEPS_AFTER_ANNEALING
    sampled = spectrum_rows(d)
    spectrum = (COVARIANCE_COST * sampled + EIGENVECTOR_COST * d) * d**2 / rows.n_rows
    projected = d * n_axes + n_sweeps * _sweep_cost(plan, problem, n_axes)
    final = (last + FINAL_SWEEPS) * (_sweep_cost(plan, problem, n_axes) + DISTANCES_PER_ROW * d)
    whole = n_sweeps * _sweep_cost(plan, problem, d)
    return bool(spectrum + projected + final <= MAX_COST_SHARE * whole)


def _sweep_cost(plan: Plan, problem: Problem, n_features: int) -> float:
    """Return the estimated multiply-adds per row of a sweep."""
    compared = problem.n_clusters if plan.n_candidates is None else plan.n_candidates
    return FIXED_COST + compared * n_features
