"""Benchmark of sparse rows: cost of a sweep."""

import numpy as np

from environment import Json
from measure import median
from problems import documents
from result_files import save_result
from sweeps import partition_of, problem_of, timed_sweep

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
    rng = np.random.RandomState(0)
    problem = problem_of(X, k)
    partition = partition_of(problem, rng.permutation(np.arange(n) % k))
    times = [timed_sweep(problem, partition, rng)[0] for _ in range(5)]
    return median(times[2:]), int(X.nnz)


BENCHMARKS = [sparse_sweep_cost]
