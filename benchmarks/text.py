"""Benchmark of sparse rows: cost of a sweep."""

import numpy as np

from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.sweep import FullPolicy, SweepOptions, sweep
from environment import N_THREADS, Json
from measure import median, timed
from problems import documents
from result_files import save_result

# Number of distinct terms; the same for all documents.
N_TERMS = 30_000
# The base case, and the values of the parameter that is varied while the others keep their base value.
BASE = {"n": 50_000, "terms": 40, "k": 100}
VARIED = {
    "terms": (10, 20, 40, 80, 160),
    "k": (10, 30, 100, 300, 1000),
    "n": (12_500, 25_000, 50_000, 100_000, 200_000),
}


def sparse_sweep_cost() -> None:
    """Measure the time of a sweep against terms per row, clusters and rows, each varied alone."""
    series: dict[str, list[Json]] = {}
    for varied, values in VARIED.items():
        for value in values:
            case = {**BASE, varied: value}
            seconds, nnz = sweep_seconds(case["n"], case["terms"], case["k"])
            series.setdefault(varied, []).append({**case, "seconds": seconds, "nnz": nnz})
            print(f"  {case}: {seconds:.4f} s", flush=True)
    save_result("sparse_sweep_cost", {"series": series})


def sweep_seconds(n: int, n_drawn: int, k: int) -> tuple[float, int]:
    """Return the median time of sweeps 3 to 5, and the number of nonzero values."""
    _, X = documents(n, N_TERMS, n_drawn, n_topics=100)
    rows = Rows.in_own_frame(X, "euclidean", N_THREADS)
    rng = np.random.RandomState(0)
    problem = Problem(rows, RowWeights.of(None, n), k, N_THREADS)
    labels = rng.permutation(np.arange(n) % k)
    partition, _ = Partition.from_labels(labels, k, rows, None, N_THREADS)
    times = [timed(lambda: sweep(problem, partition, FullPolicy(), SweepOptions(), rng))[0]
             for _ in range(5)]  # fmt: skip
    return median(times[2:]), int(X.nnz)


BENCHMARKS = [sparse_sweep_cost]
