"""Better optima: how low defaults end, how often the best is found, and what annealing is worth."""

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
from measure import exact_inertia, keep, median, timed

SEEDS = 10
# Single runs of scikit-learn, from which the mean of the best of ten is told.
PEER_RUNS = 20


def several(make: Callable[[int], Any], X: Array, n_seeds: int) -> tuple[list[float], list[float]]:
    """Inertias and seconds of several seeds, after one fit that nobody counts."""
    make(0).fit(X)
    inertias, seconds = [], []
    for seed in range(n_seeds):
        taken, model = timed(partial(make(seed).fit, X))
        inertias.append(inertia_of(model, X))
        seconds.append(taken)
    return inertias, seconds


def inertia_of(model: Any, X: Array) -> float:
    """Of the nearest centres, in float64, whatever the model says of itself."""
    if isinstance(model, BoostKMeans):
        return float(model.inertia_)
    centres = np.asarray(model.cluster_centers_, dtype=np.float64)
    return exact_inertia(X, centres, pairwise_distances_argmin(X, centres.astype(X.dtype)))


def default(k: int, **parameters: Any) -> Callable[[int], BoostKMeans]:
    """Ours, with a seed to come."""
    return lambda seed: BoostKMeans(k, random_state=seed, n_threads=N_THREADS, **parameters)


def lloyd(k: int, **parameters: Any) -> Callable[[int], KMeans]:
    """scikit-learn's, with a seed to come."""
    return lambda seed: KMeans(k, n_init=1, random_state=seed, **parameters)


def seeded(peer: Callable[..., Any], k: int) -> Callable[[int], Any]:
    """Any other, with a seed to come."""
    return lambda seed: peer(n_clusters=k, random_state=seed)


def mean_best_of(values: list[float], n: int) -> float:
    """The mean of the best of n runs, over all choices of n of these."""
    ordered = np.sort(values)
    total = len(ordered)
    # The i-th value is the best if it is chosen, and none below it is.
    chances = np.array([_ways(total - i - 1, n - 1) for i in range(total)])
    return float(ordered @ (chances / chances.sum()))


def _ways(total: int, chosen: int) -> float:
    return float(np.prod([(total - i) / (i + 1) for i in range(chosen)])) if chosen <= total else 0.0


def suite_against_scikit_learn() -> None:
    """Defaults against KMeans(n_init=1), run to convergence, and against the best of 10."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for name, make in suite.problems():
        X, k = make()
        ours, our_seconds = several(default(k), X, SEEDS)
        # Its time is that of its defaults, which stop earlier than at convergence.
        _, its_seconds = several(lloyd(k), X, SEEDS)
        its, _ = several(lloyd(k, tol=0, max_iter=10_000), X, PEER_RUNS)
        row: Json = {
            "data": name, "n": len(X), "d": X.shape[1], "k": k,
            "inertia": float(np.mean(ours)), "worst": max(ours), "seconds": median(our_seconds),
            "its_inertia": float(np.mean(its)), "its_best_of_10": mean_best_of(its, 10),
            "its_seconds": median(its_seconds),
        }  # fmt: skip
        rows.append(row)
        print(
            f"  {name}: {row['its_inertia'] / row['inertia'] - 1:+.3%}, best of 10 "
            f"{row['its_best_of_10'] / row['inertia'] - 1:+.3%}, time x "
            f"{row['its_seconds'] / row['seconds']:.2f}",
            flush=True,
        )
    keep("suite_against_scikit_learn", {"rows": rows, "seeds": SEEDS, "peer_runs": PEER_RUNS})


def planted_blobs() -> None:
    """How often the planted partition is found, or a better one where blobs touch, of 100 seeds."""
    results = []
    for n, d, k, std in ((5000, 8, 25, 1.0), (40_000, 16, 400, 1.0)):
        found: dict[str, int] = dict.fromkeys(("fast", "balanced", "best"), 0)
        for seed in range(100):
            X, _, planted = data.blobs(n, d, k, std, seed)
            for quality in found:
                model = default(k, quality=quality)(seed).fit(X)
                found[quality] += model.inertia_ <= planted * (1 + 1e-9)
        results.append({"n": n, "d": d, "k": k, "std": std, "found": found, "of": 100})
        print(f"  k={k}: {found}", flush=True)
    keep("planted_blobs", {"results": results})


SMALL_SETS = ("a1", "a2", "a3", "s1", "s2", "s3", "s4", "unbalance", "d31", "birch1", "birch2")


def small_sets() -> None:
    """P. Franti's sets: how often the lowest known inertia is reached, beside bkmeans and flspp."""
    import bkmeans
    from flspp import FLSpp

    rows = []
    for name in SMALL_SETS:
        X, k = data.tabular(name)
        X = X.astype(np.float64)
        few = 5 if len(X) > 10_000 else 20
        contestants: dict[str, tuple[Callable[[int], Any], int]] = {
            "best": (default(k, quality="best"), 100),
            "balanced": (default(k), 100),
            "scikit-learn": (lloyd(k), few),
            "bkmeans": (seeded(bkmeans.BKMeans, k), few),
            "flspp": (seeded(FLSpp, k), few),
        }
        runs = {label: several(make, X, n) for label, (make, n) in contestants.items()}
        lowest = min(min(inertias) for inertias, _ in runs.values())
        row: Json = {"data": name, "k": k, "lowest": lowest, "contestants": {}}
        for label, (inertias, seconds) in runs.items():
            reached = sum(value <= lowest * 1.0001 for value in inertias)
            row["contestants"][label] = {
                "mean": float(np.mean(inertias)), "reached": reached, "of": len(inertias),
                "seconds": median(seconds),
            }  # fmt: skip
        rows.append(row)
        print(
            f"  {name}: {[(c, v['reached'], v['of']) for c, v in row['contestants'].items()]}",
            flush=True,
        )
    keep("small_sets", {"rows": rows})


def best_against_lloyd() -> None:
    """20,000 rows of SIFT into 500: "best" against plain single moves and against Lloyd."""
    name, X = data.sift(20_000)
    plain: dict[str, Any] = {"annealing": 0, "repair": False, "tol": 0}
    contestants: dict[str, Callable[[int], Any]] = {
        "best": default(500, quality="best"),
        "balanced": default(500),
        "fast": default(500, quality="fast"),
        "single moves": default(500, **plain),
        "single moves from random labels": default(500, init="random-partition", **plain),
        "scikit-learn, defaults": lloyd(500),
        "scikit-learn, converged": lloyd(500, tol=0, max_iter=10_000),
        "scikit-learn, converged, random start": lloyd(500, init="random", tol=0, max_iter=10_000),
    }
    results = {}
    for label, make in contestants.items():
        inertias, seconds = several(make, X, SEEDS)
        results[label] = {"distortion": float(np.mean(inertias)) / len(X), "seconds": median(seconds)}
        print(f"  {label}: {results[label]}", flush=True)
    keep("best_against_lloyd", {"data": name, "k": 500, "seeds": SEEDS, "results": results})


def million_at_its_best() -> None:
    """SIFT 1,000,000 x 128 into 10,000, by quality."""
    name, X = data.sift(1_000_000)
    X = X.astype(np.uint8)
    results = {}
    for quality in ("fast", "balanced", "best"):
        seconds, model = timed(partial(default(10_000, quality=quality)(0).fit, X))
        results[quality] = {
            "seconds": seconds, "distortion": model.distortion_, "sweeps": model.n_iter_,
            "curve": [(r.seconds, r.inertia / len(X)) for r in model.history_],
        }  # fmt: skip
        print(f"  {quality}: {seconds:.1f} s, {model.distortion_:.1f}", flush=True)
    keep("million_at_its_best", {"data": name, "k": 10_000, "results": results})


def annealing_study() -> None:
    """Temperature, length and shape of the schedule, with and without repair, on several data sets."""
    problems: dict[str, tuple[Array, int]] = {
        "SIFT, n/k=40": (data.sift(10_000)[1], 250),
        "SIFT, n/k=400": (data.sift(20_000)[1], 50),
        "SIFT, n/k=5": (data.sift(2500)[1], 500),
        "MNIST, n/k=100": (data.mnist()[1][:5000], 50),
        "normal, d=64, n/k=20": (suite.normal(4000, 64, 200)),
        "uniform, d=2, n/k=100": (suite.uniform(10_000, 2, 100)),
        "blobs that overlap, d=10": (suite.blobs(10_000, 10, 50, 5.0)),
        "many duplicates, d=3": (suite.grid(20_000, 3, 50)),
        "anisotropic, d=8": (suite.anisotropic(10_000, 8, 30)),
        "sizes by a power law, d=8": (suite.power_law(20_000, 8, 40)),
    }
    grid = [(t, s) for t, s in itertools.product((0.03, 0.06, 0.12, 0.25), (5, 10, 20, 40, 80))]
    rows = []
    for name, (X, k) in problems.items():
        for repair in (False, "auto"):
            base = study_mean(X, k, 0, repair)
            for temperature, n_sweeps in grid:
                found = study_mean(X, k, (temperature, n_sweeps), repair)
                rows.append(
                    {
                        "data": name,
                        "repair": bool(repair),
                        "temperature": temperature,
                        "sweeps": n_sweeps,
                        "inertia": found[0] / base[0] - 1,
                        "seconds": found[1] / base[1],
                    }
                )
        print(f"  {name}", flush=True)
    keep("annealing_study", {"rows": rows, "seeds": 3})


def study_mean(X: Array, k: int, annealing: Any, repair: Any) -> tuple[float, float]:
    """Mean inertia and median time of three seeds, all from the same kind of start."""
    parameters: dict[str, Any] = {"annealing": annealing, "repair": repair, "init": "bisecting"}
    inertias, seconds = several(default(k, n_candidates=None, **parameters), X, 3)
    return float(np.mean(inertias)), median(seconds)


def scan_against_fits() -> None:
    """Choosing k: one scan against one fit for each k."""
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
    keep(
        "scan_against_fits",
        {
            "data": "blobs 100,000 x 32, 30 of them",
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


FIGURES = [
    suite_against_scikit_learn,
    planted_blobs,
    small_sets,
    best_against_lloyd,
    million_at_its_best,
    annealing_study,
    scan_against_fits,
]
