"""The fits that `history.py` repeats with every version: one process per version, which prints JSON.

    PYTHON benchmarks/history_fits.py [--repeats 7] [--share 1]

PYTHON is the interpreter of an environment with the version. scikit-learn's k-means fits the same rows,
in turn with boostkmeans, so that ratios depend little on the machine and its load. Only parts of the
public interface are used that all versions have, and all data is synthetic. The environment has no other
module of this folder.
"""

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

N_THREADS = 2
# Number of words per document.
WORDS = 40
Json = dict[str, Any]


@dataclass(frozen=True)
class Fit:
    """A problem, and the estimator of boostkmeans that solves it."""

    rows: Callable[[int], Any]
    """Function that returns the rows, given their number."""
    n_rows: int
    k: int
    n_times: int = 1
    """Number of fits per measurement. A quick fit is repeated, so that times are not too short."""
    estimator: str = "BoostKMeans"


def blobs(n_features: int, n_blobs: int) -> Callable[[int], Any]:
    """Return a function that draws rows around random centres."""

    def draw(n_rows: int) -> Any:
        rng = np.random.default_rng(n_features + n_blobs)
        centres = 2 * rng.standard_normal((n_blobs, n_features), dtype=np.float32)
        noise = rng.standard_normal((n_rows, n_features), dtype=np.float32)
        return centres[rng.integers(n_blobs, size=n_rows)] + noise

    return draw


def documents(n_terms: int, n_topics: int) -> Callable[[int], Any]:
    """Return a function that draws sparse rows of unit length, with frequent and rare terms."""

    def draw(n_rows: int) -> Any:
        rng = np.random.default_rng(n_terms)
        per_topic = n_terms // n_topics
        topics = np.repeat(rng.integers(n_topics, size=n_rows), WORDS)
        of_topic = topics * per_topic + rng.integers(per_topic, size=len(topics))
        of_all = (n_terms * rng.random(len(topics)) ** 2).astype(int)
        terms = np.where(rng.random(len(topics)) < 0.4, of_topic, of_all)
        where = np.repeat(np.arange(n_rows), WORDS)
        found = sparse.csr_matrix((np.ones(len(terms)), (where, terms)), shape=(n_rows, n_terms))
        found.sum_duplicates()
        return normalize(found)

    return draw


# Changing one of them makes its earlier records useless: add another one instead.
FITS = {
    "500 x 4, k = 3": Fit(blobs(4, 3), 500, 3, n_times=30),
    "10,000 x 16, k = 20": Fit(blobs(16, 30), 10_000, 20, n_times=3),
    "20,000 x 64, k = 200": Fit(blobs(64, 300), 20_000, 200),
    "20,000 x 32, k = 1,000": Fit(blobs(32, 1500), 20_000, 1000),
    "documents: 4,000 x 5,000, sparse, k = 20": Fit(documents(5000, 25), 4000, 20),
    "bisecting: 20,000 x 32, k = 200": Fit(blobs(32, 300), 20_000, 200, 1, "BisectingBoostKMeans"),
}


def timed(make: Callable[[int], Any], rows: Any, seed: int, n_times: int) -> tuple[float, float]:
    """Return the seconds and the inertia of a fit."""
    began = time.perf_counter()
    for _ in range(n_times):
        model = make(seed).fit(rows)
    return (time.perf_counter() - began) / n_times, float(model.inertia_)


def measure(fit: Fit, share: float, n_repeats: int) -> Json:
    """Fit the rows with both libraries in turn, with `n_repeats` seeds. Return medians and ratios."""
    import boostkmeans

    estimator = getattr(boostkmeans, fit.estimator)
    k = max(2, round(fit.k * share))
    rows = fit.rows(max(10 * k, round(fit.n_rows * share)))

    def own(seed: int) -> Any:
        return estimator(k, random_state=seed, n_threads=N_THREADS)

    def reference(seed: int) -> Any:
        return KMeans(k, random_state=seed, n_init=1)

    for make in (own, reference):  # threads and buffers are created by the first call
        make(0).fit(rows)
    found = [
        (timed(own, rows, seed, fit.n_times), timed(reference, rows, seed, fit.n_times))
        for seed in range(n_repeats)
    ]
    seconds, inertia = ([[pair[i][j] for pair in found] for i in (0, 1)] for j in (0, 1))
    ratios = [pair[0][0] / pair[1][0] for pair in found]
    return {
        "seconds": statistics.median(seconds[0]),
        "reference_seconds": statistics.median(seconds[1]),
        "time_ratio": statistics.median(ratios),
        "inertia_ratio": statistics.mean(inertia[0]) / statistics.mean(inertia[1]),
    }


def main() -> None:
    """Measure all fits. A fit that this version cannot make has an error instead of figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=7, help="number of seeds (default: 7)")
    parser.add_argument("--share", type=float, default=1.0, help="share of rows and clusters, for tests")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    import boostkmeans

    found: Json = {}
    for name, fit in FITS.items():
        try:
            found[name] = measure(fit, given.share, given.repeats)
        except Exception as error:
            found[name] = {"error": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps({"version": boostkmeans.__version__, "fits": found}))


if __name__ == "__main__":
    main()
