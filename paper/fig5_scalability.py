"""The paper's Fig. 5 and 6: time and distortion against the number of rows, and of clusters.

The rows are VLAD vectors of photographs with 512 dimensions (`vlad.py`). The methods are the paper's
nine, those of the package itself, and scikit-learn's. Each run has its own process. At the small size, a
run gives time and distortion. At the paper's size, it gives the distortion and can be continued after an
interruption; `scalability_seconds.py` measures the time separately.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import experiment
from experiment import N_THREADS, Json, run_folder

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported. It also makes
# `isolated` importable.
import scalability_seconds
from costs import sweep_rate
from isolated import isolated
from machine_load import record_load
from scalability_figures import N_CLUSTERS
from scalability_methods import (
    BISECTING,
    DIRECT,
    ITERATIONS,
    METHODS,
    OWN,
    SCIKIT_LEARN,
    fit,
    fit_resumable,
)
from scalability_page import draw, page

__all__ = ["NAME", "TITLE", "cost", "draw", "measure", "measure_seconds", "page", "plan", "priority"]

NAME = "scalability"
TITLE = "Scalability (the paper's Fig. 5 and 6)"
# The page shows the runs at the paper's size as they finish.
SHOWS_BOTH = True

# Numbers of clusters of the runs along k.
KS = (1024, 2048, 4096, 8192)
# The series along n and along k share sizes, which are run once.
SMALL: Json = {"ns": (10_000, 50_000, 100_000), "n_of_ks": 50_000}
FULL: Json = {"ns": (10_000, 100_000, 1_000_000, 10_000_000), "n_of_ks": 1_000_000}
# Number of seeds at the paper's size, by the number of rows. For more rows, a method has one seed: runs
# take long, and seeds differ less than methods do (the page says by how much).
SEEDS = {10_000: 10, 100_000: 3}
# scikit-learn converts all rows to float32, which would need 20 GB for the largest size. Its methods are
# the same algorithms as others, so with a million rows they run with the smallest number of clusters.
MAX_WORK_OF_SCIKIT_LEARN = 1_000_000 * N_CLUSTERS
# Methods at the largest size, where a run takes up to an hour.
MAX_ROWS_OF_ALL = 1_000_000
AT_LARGEST = ("BsBKM(non)", "sampled tree", "RBK", "BKM(non)", "BKM(rnd)+Fast", "k-means", "boostkmeans")
# Limit of scikit-learn's methods in seconds of processor time, the sum over the threads. It does not
# depend on other processes. The other methods have no limit.
LIMITS = {"small": 80.0, "full": 7200.0}

# Multiply-adds per second of sweeps over all clusters, with two threads, on the machine of the following
# estimates. Times on other machines are in proportion to their own rate.
SWEEP_RATE = 6.5e10
# Estimated time of an iteration of a direct k-way method relative to a sweep.
DIRECT_FACTOR = 1.1
# Estimated seconds of a tree per row and level.
TREE_RATES = {"sampled": 1.2e-6, "exact": 1.7e-5, "scikit-learn": 5e-5}
# Estimated seconds of k-means++ per row and centre.
SEEDING_RATE = 1.5e-7
# Estimated seconds to start a process, and to load a row.
START, LOADING_RATE = 3.0, 1e-5

WAIT_POLICY = "OMP_WAIT_POLICY"
# Beginning of the failure of a method that exceeded its time limit.
OVER_LIMIT = "more than"


def plan(full: bool) -> list[Json]:
    """Return the runs from the smallest to the largest size.

    `timed` says if a run also gives the seconds.
    """
    size = FULL if full else SMALL
    sizes = {(n, N_CLUSTERS) for n in size["ns"]} | {(size["n_of_ks"], k) for k in KS}
    return [
        {"n": n, "k": k, "method": method, "seed": seed, "timed": not full, **limit_of(method, full)}
        for n, k in sorted(sizes, key=lambda one: (one[0] * one[1], one))
        for method in METHODS
        if not full or is_planned(method, n, k)
        for seed in range(number_of_seeds(method, n) if full else 1)
    ]


def is_planned(method: str, n: int, k: int) -> bool:
    """Return whether a method runs at one of the paper's sizes."""
    if method in SCIKIT_LEARN:
        return n * k <= MAX_WORK_OF_SCIKIT_LEARN
    return n <= MAX_ROWS_OF_ALL or method in AT_LARGEST


def limit_of(method: str, full: bool) -> Json:
    """Return the time limit of a method as a setting of its runs."""
    return {"limit": LIMITS["full" if full else "small"]} if method in SCIKIT_LEARN else {}


def number_of_seeds(method: str, n: int) -> int:
    """Return the number of seeds of a method at the paper's size."""
    return 1 if method in SCIKIT_LEARN else SEEDS.get(n, 1)


def priority(run: Json) -> float:
    """Return the place of a run: the claims about minutes first, then large sizes of few seeds."""
    method, size = run["method"], (run["n"], run["k"])
    if method in SCIKIT_LEARN:
        return 7
    if run["seed"] > 0:
        return 6
    if method in ("BsBKM(non)", "sampled tree") and size in ((1_000_000, 8192), (10_000_000, 1024)):
        return 1
    if run["n"] > scalability_seconds.ONE_SEED_FROM:
        return 4 if method in ("RBK", "BKM(non)", "BKM(rnd)+Fast") else 8
    return 3 if method in BISECTING or run["n"] < scalability_seconds.ONE_SEED_FROM else 4


def cost(run: Json) -> float:
    """Return the estimated seconds of a run with two free cores of this machine."""
    loading = START + LOADING_RATE * int(run["n"])
    return loading + fit_seconds(run) * SWEEP_RATE / sweep_rate()


def fit_seconds(run: Json) -> float:
    """Return the estimated seconds of a fit on a machine with `SWEEP_RATE`."""
    method = str(run["method"])
    n, k = int(run["n"]), int(run["k"])
    sweep = sweep_seconds(run)
    if method.startswith("Mini-Batch"):
        return sweep * (1 + ITERATIONS / 10)
    if method in DIRECT or method in OWN:
        seeding = SEEDING_RATE * n * k if method.startswith("k-means++") else 0.0
        return seeding + sweep * ITERATIONS * (DIRECT_FACTOR if method in DIRECT else 0.5)
    kind = "scikit-learn" if method in SCIKIT_LEARN else "sampled" if "sampled" in method else "exact"
    return n * k.bit_length() * TREE_RATES[kind]


def measure(run: Json) -> Json:
    """Return distortion and peak memory of one method at one size, or the failure.

    The seconds of a timed run are included.
    """
    reason = skip_reason(run, experiment.stored_runs(NAME, not run["timed"]))
    return reason or in_process(fit_timed if run["timed"] else fit_untimed, run)


def estimate_seconds() -> tuple[int, float]:
    """Return how many runs `measure_seconds` times, and their estimated seconds."""
    runs = scalability_seconds.missing_runs(plan(True))
    return len(runs), sum(map(cost_of_timing, runs))


def cost_of_timing(run: Json) -> float:
    """Return the estimated seconds to time a run. Of a long direct run, few iterations are timed."""
    whole = cost(run)
    if run["method"] not in DIRECT or run["method"].startswith("Mini-Batch"):
        return whole
    rest = ITERATIONS - scalability_seconds.timed_iterations(run)
    return whole - rest * sweep_seconds(run) * DIRECT_FACTOR * SWEEP_RATE / sweep_rate()


def sweep_seconds(run: Json) -> float:
    """Return the estimated seconds of a sweep over all clusters on a machine with `SWEEP_RATE`."""
    return float(run["n"] * run["k"] * 512 / SWEEP_RATE)


def measure_seconds(duration: float | None) -> None:
    """Measure the seconds at the paper's size, in the order of priority."""
    runs = sorted(plan(True), key=priority)
    scalability_seconds.measure_missing(NAME, runs, time_run, duration)


def time_run(run: Json) -> Json:
    """Return the seconds of a run at the paper's size, or the failure."""
    reason = skip_reason(run, scalability_seconds.stored())
    return reason or in_process(scalability_seconds.time_method, run)


def skip_reason(run: Json, stored: list[Json]) -> Json:
    """Return the failure of a run whose method exceeded its limit at a smaller size, or nothing.

    Other failures, such as a process that was killed, say nothing about larger sizes.
    """
    for one in stored:
        n, k = one["run"]["n"], one["run"]["k"]
        larger = run["n"] >= n and run["k"] >= k and (run["n"], run["k"]) != (n, k)
        too_slow = str(one.get("failure", "")).startswith(OVER_LIMIT)
        if one["run"]["method"] == run["method"] and too_slow and larger:
            return {"failure": f"not tried: it took too long with n={n:,}, k={k:,}"}
    return {}


def in_process(function: Callable[[Json], Json], run: Json) -> Json:
    """Return the figures of a run in a process of its own with its peak memory, or the failure."""
    with passive_threads():
        outcome = isolated(limited, function, run, limit=None)
    if outcome.failure:
        return {"failure": failure_text(outcome.failure, run.get("limit"))}
    return {**outcome.value, "peak_megabytes": round(outcome.peak_megabytes)}


def limited(function: Callable[[Json], Json], run: Json) -> Json:
    """Call a function in this process, which the system ends when its processor time is used up."""
    if "limit" in run:
        signal.setitimer(signal.ITIMER_PROF, run["limit"])
    figures = function(run)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return figures


def failure_text(failure: str, limit: float | None) -> str:
    """Return a failure; a process that was ended by its timer exceeded the time limit."""
    stopped = limit is not None and failure == f"ended with exit code {-signal.SIGPROF}"
    return f"{OVER_LIMIT} {limit / N_THREADS / 60:.3g} minutes" if stopped and limit else failure


@contextmanager
def passive_threads() -> Iterator[None]:
    """Make the OpenMP threads of new processes sleep while they wait.

    By default they spin. On a machine with other work, scikit-learn's trees, which wait after each of
    many small steps, then take eight times as long.
    """
    before = os.environ.get(WAIT_POLICY)
    os.environ[WAIT_POLICY] = "PASSIVE"
    try:
        yield
    finally:
        del os.environ[WAIT_POLICY]
        if before is not None:
            os.environ[WAIT_POLICY] = before


def fit_timed(run: Json) -> Json:
    """Return seconds, load and distortion of a method."""
    rows, name = scalability_seconds.load_rows(run["n"])
    load: Json = {}
    with record_load(load):
        fitted = fit(run["method"], rows, run["k"], run["seed"])
    return {"data": name, "seconds": fitted.seconds, "distortion": fitted.distortion, **load}


def fit_untimed(run: Json) -> Json:
    """Return the distortion of a method, which continues where an earlier process stopped."""
    rows, name = scalability_seconds.load_rows(run["n"])
    folder = run_folder(NAME, run)
    return {
        "data": name,
        "distortion": fit_resumable(run["method"], rows, run["k"], run["seed"], folder),
    }


if __name__ == "__main__":
    import fig5_scalability

    experiment.main(fig5_scalability)
