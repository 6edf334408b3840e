"""Fits that take milliseconds: boostkmeans, 0.7.0 and scikit-learn in turn, very often.

In a round, each contestant has a few fits in a row. They do not alternate fit by fit, because a fit
after one of another library finds cold caches: scikit-learn is then a tenth slower on iris. The
contestants of one environment share a process. The processes of the two environments alternate after
each round.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import baseline
from data import Array
from environment import N_THREADS, Json
from measure import median
from worker import Worker

N_ROUNDS = 10
# Fits of each contestant in a round.
N_FITS = 10
# Seconds after which a round is given up.
LIMIT = 120.0

SCIKIT_LEARN = "scikit-learn KMeans(n_init=1)"
OWN = "boostkmeans"
FAST = 'boostkmeans, quality="fast"'


def scikit_learn(X: Array, k: int, seed: int) -> float:
    """Fit scikit-learn once, and return the inertia."""
    from sklearn.cluster import KMeans

    return float(KMeans(k, n_init=1, random_state=seed).fit(X).inertia_)


def boost(X: Array, k: int, seed: int, **parameters: Any) -> float:
    """Fit BoostKMeans, and return the inertia."""
    from boostkmeans import BoostKMeans

    model = BoostKMeans(k, n_threads=N_THREADS, random_state=seed, **parameters)
    return float(model.fit(X).inertia_)


def boost_fast(X: Array, k: int, seed: int) -> float:
    """Fit BoostKMeans with the fast setting."""
    return boost(X, k, seed, quality="fast")


CONTESTANTS: dict[str, Callable[[Array, int, int], float]] = {
    OWN: boost, FAST: boost_fast, SCIKIT_LEARN: scikit_learn, baseline.NAME: boost,
}  # fmt: skip


def iris() -> tuple[Array, int]:
    """Return Fisher's iris data and the number of species."""
    from sklearn.datasets import load_iris

    return load_iris().data, 3


def wine() -> tuple[Array, int]:
    """Return the wine data and the number of cultivars."""
    from sklearn.datasets import load_wine

    return load_wine().data, 3


def digits() -> tuple[Array, int]:
    """Return the 8 x 8 pictures of digits and the number of digits."""
    from sklearn.datasets import load_digits

    return load_digits().data, 10


def blobs() -> tuple[Array, int]:
    """Return eight overlapping blobs."""
    from problems import blobs as make

    return make(10_000, 8, 8, 3.0)[1], 8


PROBLEMS: dict[str, Callable[[], tuple[Array, int]]] = {
    "iris 150 x 4, k=3": iris, "wine 178 x 13, k=3": wine, "digits 1,797 x 64, k=10": digits,
    "blobs 10,000 x 8, k=8": blobs,
}  # fmt: skip


def measure_fits(problem: str, contestants: list[str], seeds: list[int]) -> Json:
    """Return the seconds and inertias of the fits of each contestant, one per seed."""
    X, k = PROBLEMS[problem]()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for name in contestants:
        # This fit imports modules, starts threads and fills caches, which other contestants have used.
        CONTESTANTS[name](X, k, 0)
        for seed in seeds:
            began = time.perf_counter()
            inertia = CONTESTANTS[name](X, k, seed)
            found[name].append((time.perf_counter() - began, inertia))
    return {"fits": found}


def measure_problem(problem: str) -> Json:
    """Return the medians of each contestant, or the reason why there are none."""
    found: dict[str, list[tuple[float, float]]] = {}
    missing = baseline.obstacle()
    groups = [([OWN, FAST, SCIKIT_LEARN], Worker())]
    if not missing:
        groups.append(([baseline.NAME, SCIKIT_LEARN], Worker(baseline.interpreter())))
    failures: dict[str, str] = {baseline.NAME: missing} if missing else {}
    try:
        for names, worker, seeds in schedule(groups):
            answer = worker.ask("small", LIMIT, problem=problem, contestants=names, seeds=seeds)
            if "failure" in answer:
                failures.update(dict.fromkeys(names, str(answer["failure"])))
            for name, fits in answer.get("fits", {}).items():
                found.setdefault(name, []).extend(fits)
    finally:
        for _, worker in groups:
            worker.close()
    return {**{name: {"failure": why} for name, why in failures.items()},
            **{name: summary(fits) for name, fits in found.items()}}  # fmt: skip


def schedule(groups: list[tuple[list[str], Worker]]) -> Iterator[tuple[list[str], Worker, list[int]]]:
    """Return who fits which seeds in which order."""
    for number in range(N_ROUNDS):
        seeds = list(range(number * N_FITS, (number + 1) * N_FITS))
        for names, worker in groups:
            yield names, worker, seeds


def summary(fits: list[tuple[float, float]]) -> Json:
    """Return the median time, and the median and the mean of the inertia."""
    seconds, inertias = zip(*fits, strict=True)
    return {"seconds": median(list(seconds)), "inertia": median(list(inertias)),
            "mean_inertia": sum(inertias) / len(inertias), "n_fits": len(fits)}  # fmt: skip
