"""Methods of the scalability experiment: functions from rows, k and a seed to labels and seconds."""

import time
from collections.abc import Callable
from itertools import islice
from typing import Any

from experiment import N_THREADS, Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

import contenders
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.baselines import RBK, BisectingKMeans, KMeans

Array = NDArray[Any]

# Maximum number of iterations of direct k-way methods, as in the paper.
ITERATIONS = 20
# The paper does not limit the iterations of trees.
NO_LIMIT = 100_000
# The paper's direct k-way uses all iterations. The tolerance is too low to stop it before nothing moves.
PLAIN: Json = {**contenders.PLAIN, "max_iter": ITERATIONS, "tol": 1e-12}

Fitted = tuple[Array, float]
"""Labels, and the seconds of the method alone."""
Method = Callable[[Array, int, int], Fitted]


def reported_time(make: Callable[..., Any], **settings: Any) -> Method:
    """Return a baseline with the time that it reports, which excludes measuring."""

    def run(rows: Array, k: int, seed: int) -> Fitted:
        model = make(k, random_state=seed, n_threads=N_THREADS, **settings).fit(rows)
        return model.labels_, model.history_[-1].seconds

    return run


def wall_time(make: Callable[..., Any], **settings: Any) -> Method:
    """Return an estimator with the time of `fit`, including labels."""

    def run(rows: Array, k: int, seed: int) -> Fitted:
        began = time.perf_counter()
        model = make(k, random_state=seed, n_threads=N_THREADS, **settings).fit(rows)
        return model.labels_, time.perf_counter() - began

    return run


def plus_plus(rows: Array, k: int, seed: int) -> Fitted:
    """Run k-means from k-means++ with one trial per centre, as it was published.

    scikit-learn makes several trials in float64, which takes longer than the 20 iterations that follow.
    """
    began = time.perf_counter()
    centres = plus_plus_centres(rows, k, np.random.default_rng(seed))
    settings = {"max_iter": ITERATIONS, "tol": 0, "random_state": seed, "n_threads": N_THREADS}
    model = KMeans(k, init=centres, **settings).fit(rows)
    return model.labels_, time.perf_counter() - began


def plus_plus_centres(rows: Array, k: int, rng: np.random.Generator) -> Array:
    """Draw rows one by one, with probabilities proportional to the squared distance to the nearest."""
    chosen = [int(rng.integers(len(rows)))]
    squares = np.einsum("ij,ij->i", rows, rows)
    gaps = np.full(len(rows), np.inf, dtype=np.float32)
    while len(chosen) < k:
        last = chosen[-1]
        np.minimum(gaps, squares + squares[last] - 2 * (rows @ rows[last]), out=gaps)
        heights = np.cumsum(np.maximum(gaps, 0), dtype=np.float64)
        chosen.append(int(np.searchsorted(heights, rng.random() * heights[-1], side="right")))
    return np.asarray(rows[chosen])


def mini_batch(rows: Array, k: int, seed: int) -> Fitted:
    """Run Mini-Batch with one batch per iteration, and predict the labels of all rows."""
    began = time.perf_counter()
    *_, model = islice(contenders.mini_batches(rows, k, seed), ITERATIONS)
    return model.predict(rows), time.perf_counter() - began


K_WAY: dict[str, Method] = {
    "k-means": wall_time(KMeans, init="random", max_iter=ITERATIONS, tol=0),
    "k-means++": plus_plus,
    "Mini-Batch": mini_batch,
    "BKM(non)": wall_time(BoostKMeans, init="random-partition", **PLAIN),
    "BKM(rnd)+Fast": wall_time(BoostKMeans, init="random", moves="first", **PLAIN),
}
BISECTING: dict[str, Method] = {
    "BsKM": reported_time(BisectingKMeans, init="random", max_iter=NO_LIMIT),
    "BsKM++": reported_time(BisectingKMeans, init="k-means++", max_iter=NO_LIMIT),
    "BsBKM(non)": wall_time(BisectingBoostKMeans),
    "RBK": wall_time(RBK),
}
OWN: dict[str, Method] = {
    "boostkmeans": wall_time(BoostKMeans),
    "boostkmeans, fast": wall_time(BoostKMeans, quality="fast"),
}
METHODS = {**K_WAY, **BISECTING, **OWN}
