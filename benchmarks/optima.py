"""Benchmarks of the inertia that fits reach: defaults, qualities, annealing, and the choice of k."""

import itertools
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

import data
import suite
from boostkmeans import BoostKMeans, select
from data import Array
from environment import N_THREADS, Json
from measure import exact_inertia, median, timed
from result_files import save_result

# Number of seeds per setting of boostkmeans.
SEEDS = 10
# Number of single runs of scikit-learn, from which the mean best of ten is estimated.
PEER_RUNS = 20
# An inertia within this factor of the lowest one counts as the same optimum.
SAME_OPTIMUM = 1.0001


def several(make: Callable[[int], Any], X: Array, n_seeds: int) -> tuple[list[float], list[float]]:
    """Return the inertias and seconds of several seeds, after one fit that warms up."""
    make(0).fit(X)
    inertias, seconds = [], []
    for seed in range(n_seeds):
        taken, model = timed(partial(make(seed).fit, X))
        inertias.append(inertia_of(model, X))
        seconds.append(taken)
    return inertias, seconds


def inertia_of(model: Any, X: Array) -> float:
    """Return the inertia in float64.

    For other libraries it is computed from their centres, because some report it in float32.
    """
    if isinstance(model, BoostKMeans):
        return float(model.inertia_)
    centres = np.asarray(model.cluster_centers_, dtype=np.float64)
    return exact_inertia(X, centres, pairwise_distances_argmin(X, centres.astype(X.dtype)))


def boosted(k: int, **parameters: Any) -> Callable[[int], BoostKMeans]:
    """Return a function that makes a BoostKMeans from a seed."""
    return lambda seed: BoostKMeans(k, random_state=seed, n_threads=N_THREADS, **parameters)


def lloyd(k: int, **parameters: Any) -> Callable[[int], KMeans]:
    """Return a function that makes scikit-learn's KMeans from a seed."""
    return lambda seed: KMeans(k, n_init=1, random_state=seed, **parameters)


def seeded(peer: Callable[..., Any], k: int) -> Callable[[int], Any]:
    """Return a function that makes an estimator of another library from a seed."""
    return lambda seed: peer(n_clusters=k, random_state=seed)


def mean_best_of(values: list[float], n: int) -> float:
    """Return the mean of the lowest of n values, over all subsets of n of `values`."""
    ordered = np.sort(values)
    total = len(ordered)
    # The i-th value is the lowest of a subset if it is in it and all others come after it.
    chances = np.array([_binomial(total - i - 1, n - 1) for i in range(total)])
    return float(ordered @ (chances / chances.sum()))


def _binomial(total: int, chosen: int) -> float:
    return float(np.prod([(total - i) / (i + 1) for i in range(chosen)])) if chosen <= total else 0.0


def suite_against_scikit_learn() -> None:
    """Compare defaults with scikit-learn's KMeans: one run, and the best of ten."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for name, make in suite.problems():
        row = compare_with_scikit_learn(name, *make())
        rows.append(row)
        print(
            f"  {name}: {row['its_inertia'] / row['inertia'] - 1:+.3%}, best of 10 "
            f"{row['its_best_of_10'] / row['inertia'] - 1:+.3%}, time x "
            f"{row['its_seconds'] / row['seconds']:.2f}",
            flush=True,
        )
    save_result("suite_against_scikit_learn", {"rows": rows, "seeds": SEEDS, "peer_runs": PEER_RUNS})


def compare_with_scikit_learn(name: str, X: Array, k: int) -> Json:
    """Return inertias and times of both libraries on one data set."""
    own, own_seconds = several(boosted(k), X, SEEDS)
    # The time of scikit-learn is measured with its default tolerance, its inertia at convergence.
    _, its_seconds = several(lloyd(k), X, SEEDS)
    its, _ = several(lloyd(k, tol=0, max_iter=10_000), X, PEER_RUNS)
    return {
        "data": name, "n": len(X), "d": X.shape[1], "k": k,
        "inertia": float(np.mean(own)), "worst": max(own), "seconds": median(own_seconds),
        "its_inertia": float(np.mean(its)), "its_best_of_10": mean_best_of(its, 10),
        "its_seconds": median(its_seconds),
    }  # fmt: skip


def planted_blobs() -> None:
    """Count how many of 100 seeds find the planted partition, or a better one."""
    results = []
    for n, d, k, std in ((5000, 8, 25, 1.0), (40_000, 16, 400, 1.0)):
        found: dict[str, int] = dict.fromkeys(("fast", "balanced", "best"), 0)
        for seed in range(100):
            X, _, planted = data.blobs(n, d, k, std, seed)
            for quality in found:
                model = boosted(k, quality=quality)(seed).fit(X)
                found[quality] += model.inertia_ <= planted * (1 + 1e-9)
        results.append({"n": n, "d": d, "k": k, "std": std, "found": found, "of": 100})
        print(f"  k={k}: {found}", flush=True)
    save_result("planted_blobs", {"results": results})


SMALL_SETS = ("a1", "a2", "a3", "s1", "s2", "s3", "s4", "unbalance", "d31", "birch1", "birch2")


def small_sets() -> None:
    """Count how often the lowest known inertia of P. Fränti's data sets is reached."""
    rows = []
    for name in SMALL_SETS:
        X, k = data.tabular(name)
        rows.append(figures_of_set(name, X.astype(np.float64), k))
        reached = [(c, v["reached"], v["of"]) for c, v in rows[-1]["contestants"].items()]
        print(f"  {name}: {reached}", flush=True)
    save_result("small_sets", {"rows": rows})


def figures_of_set(name: str, X: Array, k: int) -> Json:
    """Return how often each library reaches the lowest inertia of all, and its time."""
    import bkmeans
    from flspp import FLSpp

    n_peer_runs = 5 if len(X) > 10_000 else 20
    contestants: dict[str, tuple[Callable[[int], Any], int]] = {
        "best": (boosted(k, quality="best"), 100),
        "balanced": (boosted(k), 100),
        "scikit-learn": (lloyd(k), n_peer_runs),
        "bkmeans": (seeded(bkmeans.BKMeans, k), n_peer_runs),
        "flspp": (seeded(FLSpp, k), n_peer_runs),
    }
    runs = {label: several(make, X, n) for label, (make, n) in contestants.items()}
    lowest = min(min(inertias) for inertias, _ in runs.values())
    figures = {
        label: {
            "mean": float(np.mean(inertias)),
            "reached": sum(value <= lowest * SAME_OPTIMUM for value in inertias),
            "of": len(inertias),
            "seconds": median(seconds),
        }
        for label, (inertias, seconds) in runs.items()
    }
    return {"data": name, "k": k, "lowest": lowest, "contestants": figures}


def best_against_lloyd() -> None:
    """Compare the qualities with plain single moves and with Lloyd: SIFT 20,000 x 128, k = 500."""
    name, X = data.sift(20_000)
    plain: dict[str, Any] = {"annealing": 0, "repair": False, "tol": 0}
    contestants: dict[str, Callable[[int], Any]] = {
        "best": boosted(500, quality="best"),
        "balanced": boosted(500),
        "fast": boosted(500, quality="fast"),
        "single moves": boosted(500, **plain),
        "single moves from random labels": boosted(500, init="random-partition", **plain),
        "scikit-learn, defaults": lloyd(500),
        "scikit-learn, converged": lloyd(500, tol=0, max_iter=10_000),
        "scikit-learn, converged, random start": lloyd(500, init="random", tol=0, max_iter=10_000),
    }
    results = {}
    for label, make in contestants.items():
        inertias, seconds = several(make, X, SEEDS)
        results[label] = {"distortion": float(np.mean(inertias)) / len(X), "seconds": median(seconds)}
        print(f"  {label}: {results[label]}", flush=True)
    save_result("best_against_lloyd", {"data": name, "k": 500, "seeds": SEEDS, "results": results})


def million_at_its_best() -> None:
    """Compare the qualities on SIFT 1,000,000 x 128, k = 10,000."""
    name, X = data.sift(1_000_000)
    X = X.astype(np.uint8)
    results = {}
    for quality in ("fast", "balanced", "best"):
        seconds, model = timed(partial(boosted(10_000, quality=quality)(0).fit, X))
        results[quality] = {
            "seconds": seconds, "distortion": model.distortion_, "sweeps": model.n_iter_,
            "curve": [(r.seconds, r.inertia / len(X)) for r in model.history_],
        }  # fmt: skip
        print(f"  {quality}: {seconds:.1f} s, {model.distortion_:.1f}", flush=True)
    save_result("million_at_its_best", {"data": name, "k": 10_000, "results": results})


def annealing_study() -> None:
    """Compare temperatures and lengths of annealing, with and without repair, on ten data sets."""
    problems: dict[str, tuple[Array, int]] = {
        "SIFT, n/k=40": (data.sift(10_000)[1], 250),
        "SIFT, n/k=400": (data.sift(20_000)[1], 50),
        "SIFT, n/k=5": (data.sift(2500)[1], 500),
        "MNIST, n/k=100": (data.mnist()[1][:5000], 50),
        "normal, d=64, n/k=20": suite.normal(4000, 64, 200),
        "uniform, d=2, n/k=100": suite.uniform(10_000, 2, 100),
        "blobs that overlap, d=10": suite.blobs(10_000, 10, 50, 5.0),
        "many duplicates, d=3": suite.grid(20_000, 3, 50),
        "anisotropic, d=8": suite.anisotropic(10_000, 8, 30),
        "sizes by a power law, d=8": suite.power_law(20_000, 8, 40),
    }
    schedules = list(itertools.product((0.03, 0.06, 0.12, 0.25), (5, 10, 20, 40, 80)))
    rows = []
    for name, (X, k) in problems.items():
        for repair in (False, "auto"):
            base = mean_figures(X, k, 0, repair)
            for temperature, n_sweeps in schedules:
                inertia, seconds = mean_figures(X, k, (temperature, n_sweeps), repair)
                rows.append({
                    "data": name, "repair": bool(repair), "temperature": temperature,
                    "sweeps": n_sweeps, "inertia": inertia / base[0] - 1, "seconds": seconds / base[1],
                })  # fmt: skip
        print(f"  {name}", flush=True)
    save_result("annealing_study", {"rows": rows, "seeds": 3})


def mean_figures(X: Array, k: int, annealing: Any, repair: Any) -> tuple[float, float]:
    """Return the mean inertia and the median time of three seeds, all started from trees."""
    parameters: dict[str, Any] = {"annealing": annealing, "repair": repair, "init": "bisecting"}
    inertias, seconds = several(boosted(k, n_candidates=None, **parameters), X, 3)
    return float(np.mean(inertias)), median(seconds)


def scan_against_fits() -> None:
    """Compare one scan over 15 values of k with one fit per value."""
    X, _, _ = data.blobs(100_000, 32, 30, 3.0)
    ks = [2, 5, 10, 15, 20, 25, 28, 30, 32, 35, 40, 50, 60, 80, 100]
    common: dict[str, Any] = {"random_state": 0, "n_threads": N_THREADS}
    select.scan(X[:1000], [2, 3], **common)
    with_gap, scanned = timed(lambda: select.scan(X, ks, **common))
    without, _ = timed(lambda: select.scan(X, ks, n_references=0, **common))
    fits, inertias = timed(lambda: [BoostKMeans(k, **common).fit(X).inertia_ for k in ks])
    peer, _ = timed(lambda: [KMeans(k, n_init=1, random_state=0).fit(X) for k in ks])
    above = [
        entry.inertia / inertia - 1 for entry, inertia in zip(scanned.entries, inertias, strict=True)
    ]
    save_result(
        "scan_against_fits",
        {
            "data": "30 blobs, 100,000 x 32",
            "ks": ks,
            "suggestion": scanned.suggestion,
            "reason": scanned.reason,
            "seconds": with_gap,
            "seconds_without_gap": without,
            "seconds_of_fits": fits,
            "seconds_of_scikit_learn": peer,
            "above": above,
        },
    )


BENCHMARKS = [
    suite_against_scikit_learn,
    planted_blobs,
    small_sets,
    best_against_lloyd,
    million_at_its_best,
    annealing_study,
    scan_against_fits,
]
