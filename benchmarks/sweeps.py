"""Single sweeps over all clusters, outside of a fit."""

import numpy as np

from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.sweep import FullPolicy, SweepOptions, SweepResult, sweep
from data import Array
from environment import N_THREADS
from measure import timed


def problem_of(X: Array, k: int) -> Problem:
    """Return the problem to cluster unweighted rows."""
    rows = Rows.in_own_frame(X, "euclidean", N_THREADS)
    return Problem(rows, RowWeights.of(None, X.shape[0]), k, N_THREADS)


def partition_of(problem: Problem, labels: Array) -> Partition:
    """Return a partition with a copy of the labels."""
    partition, _ = Partition.from_labels(
        labels.copy(), problem.n_clusters, problem.rows, None, problem.n_threads
    )
    return partition


def timed_sweep(
    problem: Problem, partition: Partition, rng: np.random.RandomState, low_precision: bool = False
) -> tuple[float, SweepResult]:
    """Sweep over all clusters, and return the seconds and the result."""
    options = SweepOptions(low_precision=low_precision)
    return timed(lambda: sweep(problem, partition, policy=FullPolicy(), options=options, rng=rng))
