"""Benchmark of fits that take milliseconds: in one call of the core, step by step, and scikit-learn."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning

from boostkmeans import BoostKMeans
from boostkmeans._engine import small_fit
from data import Array
from environment import Json
from measure import median
from result_files import save_result

# Number of seeds. The fits of a seed follow each other, so that all contestants run at the same speed.
SEEDS = 100


def problems() -> dict[str, tuple[Array, int]]:
    """Return rows and the number of clusters, from the smallest to beyond the limit of small fits."""
    blobs = {
        f"blobs, std {std}": (make_blobs(10_000, 8, centers=8, cluster_std=std, random_state=0)[0], 8)
        for std in (1, 5)
    }
    larger = make_blobs(20_000, 16, centers=8, cluster_std=5, random_state=0)[0]
    return {
        "iris": (load_iris().data, 3),
        "wine": (load_wine().data, 3),
        "digits": (load_digits().data, 10),
        **blobs,
        "larger blobs, std 5": (larger, 8),
    }


def step_by_step(model: BoostKMeans, X: Array) -> BoostKMeans:
    """Fit with the schedule of larger data."""
    limit, small_fit.MAX_WORK = small_fit.MAX_WORK, 0
    try:
        return model.fit(X)
    finally:
        small_fit.MAX_WORK = limit


def small_data() -> None:
    """Compare fits in one call of the core with fits step by step, and with scikit-learn."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = [figures_of(name, X, k) for name, (X, k) in problems().items()]
    save_result("small_data", {"rows": rows, "seeds": SEEDS})


def figures_of(name: str, X: Array, k: int) -> Json:
    """Return the mean inertia and the median time of each contestant."""
    contestants: dict[str, Callable[[int], Any]] = {
        "one call": lambda seed: BoostKMeans(k, random_state=seed).fit(X),
        "step by step": lambda seed: step_by_step(BoostKMeans(k, random_state=seed), X),
        "scikit-learn": lambda seed: KMeans(k, n_init=1, random_state=seed).fit(X),
    }
    seconds: dict[str, list[float]] = {contestant: [] for contestant in contestants}
    inertias: dict[str, list[float]] = {contestant: [] for contestant in contestants}
    for seed in range(SEEDS):
        for contestant, fit in contestants.items():
            began = time.perf_counter()
            model = fit(seed)
            seconds[contestant].append(time.perf_counter() - began)
            inertias[contestant].append(float(model.inertia_))
    print(f"  {name}: { {c: f'{1e3 * median(s):.2f} ms' for c, s in seconds.items()} }", flush=True)
    return {
        "data": name, "n": len(X), "d": X.shape[1], "k": k,
        "seconds": {contestant: median(values) for contestant, values in seconds.items()},
        "inertia": {contestant: float(np.mean(values)) for contestant, values in inertias.items()},
    }  # fmt: skip


BENCHMARKS = [small_data]
