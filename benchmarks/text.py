"""Sparse rows: what a sweep over them costs."""

import numpy as np

from boostkmeans._data.rows import Rows
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.sweep import SweepOptions, sweep_all
from environment import N_THREADS, Json
from measure import keep, median, timed
from problems import documents


def sparse_sweep_cost() -> None:
    """One sweep against terms a row, clusters and rows, each varied alone."""
    base = {"n": 50_000, "terms": 40, "k": 100}
    series: dict[str, list[Json]] = {}
    for varied, values in {"terms": (10, 20, 40, 80, 160), "k": (10, 30, 100, 300, 1000),
                           "n": (12_500, 25_000, 50_000, 100_000, 200_000)}.items():  # fmt: skip
        for value in values:
            case = {**base, varied: value}
            seconds, nnz = sweep_seconds(case["n"], case["terms"], case["k"])
            series.setdefault(varied, []).append({**case, "seconds": seconds, "nnz": nnz})
            print(f"  {case}: {seconds:.4f} s", flush=True)
    keep("sparse_sweep_cost", {"series": series})


def sweep_seconds(n: int, n_terms: int, k: int) -> tuple[float, int]:
    """Of a sweep in its steady state: the median of three, after two."""
    _, X = documents(n, 30_000, n_terms, n_topics=100)
    rows = Rows.in_own_frame(X, "euclidean", N_THREADS)
    rng = np.random.RandomState(0)
    partition = Partition.of(rng.permutation(np.arange(n) % k), k, X.shape[1])
    partition.recompute(rows, None, N_THREADS)
    times = [timed(lambda: sweep_all(rows, None, partition, rng, SweepOptions(N_THREADS)))[0]
             for _ in range(5)]  # fmt: skip
    return median(times[2:]), int(X.nnz)


FIGURES = [sparse_sweep_cost]
