"""Benchmark of cluster size limits, compared with k-means-constrained."""

from typing import Any

import numpy as np

import data
from boostkmeans import BoostKMeans
from data import Array
from environment import N_THREADS, Json
from measure import timed
from result_files import save_result

LimitedProblem = tuple[str, Array, int, dict[str, Any]]
"""Name, rows, number of clusters, and the limits as k-means-constrained calls them."""


def boosted(X: Array, k: int, **limits: float) -> Json:
    """Return time, inertia and cluster sizes of BoostKMeans."""
    seconds, model = timed(
        lambda: BoostKMeans(k, random_state=0, n_threads=N_THREADS, **limits).fit(X)  # type: ignore[arg-type]
    )
    sizes = model.cluster_sizes_
    return {
        "seconds": seconds, "inertia": model.inertia_, "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
    }  # fmt: skip


def constrained(X: Array, k: int, size_min: int | None, size_max: int | None) -> Json:
    """Return time and inertia of KMeansConstrained, which solves a min-cost flow per iteration."""
    from k_means_constrained import KMeansConstrained

    model = KMeansConstrained(
        k, size_min=size_min, size_max=size_max, n_init=1, random_state=0, n_jobs=N_THREADS
    )
    seconds, _ = timed(lambda: model.fit(X))
    return {"seconds": seconds, "inertia": float(model.inertia_)}


def problems() -> list[LimitedProblem]:
    """Return the examples of k-means-constrained, and larger problems.

    The uniform rows are a tenth of the 23,000 x 50 in its documentation.
    """
    rng = np.random.default_rng(0)
    readme = np.array([[1, 2], [1, 4], [1, 0], [4, 2], [4, 4], [4, 0]], dtype=float)
    found: list[LimitedProblem] = [
        ("README example of k-means-constrained, 6 x 2", readme, 2, {"size_min": 2, "size_max": 5}),
        ("uniform 2,300 x 50", rng.uniform(size=(2300, 50)), 10, {"size_min": 184, "size_max": 276}),
    ]
    for n in (2500, 5000, 10_000, 100_000):
        X, _, _ = data.blobs(n, 32, 100, 6.0)
        found.append((f"blobs {n:,} x 32", X, 100, {"size_max": int(1.1 * n / 100)}))
    X = rng.normal(size=(5000, 32)).astype(np.float32)
    found.append(("normal 5,000 x 32", X, 100, {"size_max": 55}))
    found.append(("normal 5,000 x 32, equal sizes", X, 100, {"size_min": 50, "size_max": 50}))
    return found


def size_limits() -> None:
    """Compare time and inertia with size limits; run boostkmeans alone where the peer takes hours."""
    rows = []
    for name, X, k, limits in problems():
        peer = constrained(X, k, limits.get("size_min"), limits.get("size_max"))
        own_limits = {
            own: float(limits[its])
            for own, its in (("min_size", "size_min"), ("max_size", "size_max"))
            if its in limits
        }
        own = boosted(X, k, **own_limits)
        rows.append({"data": name, "k": k, **limits, "boostkmeans": own, "peer": peer})
        print(f"  {name}: {own} {peer}", flush=True)
    X = np.random.default_rng(1).normal(size=(100_000, 32)).astype(np.float32)
    alone = {"k": 100, "size_max": 1100, "boostkmeans": boosted(X, 100, max_size=1100.0)}
    rows.append({"data": "normal 100,000 x 32", **alone})
    save_result("size_limits", {"rows": rows})


BENCHMARKS = [size_limits]
