"""Benchmarks of a single fit: cost of a sweep, seeding, starts, peak memory and response to Ctrl-C."""

import os
import signal
import threading
import time
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

import data
import measure
import peers
from boostkmeans import BoostKMeans, _core, metrics
from boostkmeans._data.rows import Rows
from boostkmeans._steps import sweep
from environment import N_THREADS, Json
from isolated import isolated
from measure import interleaved, median, timed
from process_memory import megabytes, reset_peak
from result_files import save_result

# Seconds after which a benchmark in a process of its own is considered stuck.
PATIENCE = 3600.0


def sweep_against_product() -> None:
    """Compare a full sweep near convergence with one matrix product of the same shape."""
    name, X = data.sift(100_000)
    start = BoostKMeans(1024, n_threads=N_THREADS, random_state=0, tol=0, max_iter=15).fit(X)
    B = np.ascontiguousarray(start.cluster_centers_.T.astype(np.float32))
    out = np.empty((len(X), 1024), dtype=np.float32)

    def late_sweep() -> Json:
        model = BoostKMeans(
            1024, init=start.labels_, n_candidates=None, n_threads=N_THREADS, random_state=0, tol=0,
            max_iter=6,
        ).fit(X)  # fmt: skip
        ends = [record.seconds for record in model.history_]
        return {"one": median(np.diff(ends).tolist())}

    runs = interleaved(
        {
            "sweep": late_sweep,
            "numpy @": lambda: {"one": timed(lambda: X @ B)[0]},
            "numpy.matmul with `out`": lambda: {"one": timed(lambda: np.matmul(X, B, out=out))[0]},
        },
        repeats=5,
    )
    one = {contestant: median([r["one"] for r in rs]) for contestant, rs in runs.items()}
    save_result(
        "sweep_against_product",
        {
            "data": name,
            "k": 1024,
            "seconds": one,
            "ratio_to_product_into_new_memory": one["sweep"] / one["numpy @"],
            "ratio": one["sweep"] / one["numpy.matmul with `out`"],
            "target": "at most 1.25",
        },
    )


def seeding_against_scikit_learn() -> None:
    """Compare greedy k-means++ with scikit-learn's: 100,000 x 128, k = 4,000."""
    from sklearn.cluster import kmeans_plusplus

    name, X = data.sift(100_000)

    def native() -> data.Array:
        rows = Rows.in_own_frame(X, "euclidean", N_THREADS)
        return np.asarray(X[_core.plus_plus(rows.core, None, 4000, 15, 0, N_THREADS)[0]])

    def theirs() -> data.Array:
        return np.asarray(kmeans_plusplus(X, 4000, random_state=0)[0])

    seconds: dict[str, list[float]] = {"boostkmeans": [], "scikit-learn": []}
    potentials: dict[str, float] = {}
    for _ in range(measure.REPEATS):
        for contestant, call in (("boostkmeans", native), ("scikit-learn", theirs)):
            taken, centres = timed(call)
            seconds[contestant].append(taken)
            potentials[contestant] = potential(X, centres)
            print(f"  {contestant}: {taken:.2f} s, inertia {potentials[contestant]:.6g}", flush=True)
    save_result(
        "seeding_against_scikit_learn",
        {
            "data": name,
            "k": 4000,
            "seconds": seconds,
            "speed_up": median(seconds["scikit-learn"]) / median(seconds["boostkmeans"]),
            "inertia_of_the_seeds": potentials,
            "target": "at least 10",
        },
    )


def potential(X: data.Array, centres: data.Array) -> float:
    """Return the inertia if each row is assigned to its nearest centre."""
    return float(metrics.exact_neighbors(centres, X, 1, n_threads=N_THREADS).distances.sum())


def starts() -> None:
    """Compare the values of `init`, and block sizes of a sweep: means of 3 seeds."""
    sift, mnist = data.sift(100_000), data.mnist()
    X, _, planted = data.blobs(100_000, 16, 400, std=1.0)
    sets = {
        f"{sift[0]}, k = 1,024": (sift[1], 1024, 1.0),
        f"{mnist[0]}, k = 100": (mnist[1], 100, 1.0),
        "synthetic, blobs 100000 x 16, k = 400 (inertia relative to the planted partition)": (
            X, 400, planted,
        ),
    }  # fmt: skip
    results: Json = {}
    for name, (rows, k, unit) in sets.items():
        results[name] = {}
        for init in ("auto", "random-partition", "random", "k-means++", "bisecting"):
            results[name][init] = figures_of_start(rows, k, init, unit)
            print(f"  {name} {init}: {measure.one_line(results[name][init])}", flush=True)
    save_result("starts", {"sets": results, "blocks": blocks(sift[1])})


def figures_of_start(X: data.Array, k: int, init: str, unit: float) -> Json:
    """Return the mean time and the inertias, in multiples of `unit`, of three seeds."""
    runs = [timed(partial(peers.boost, X, k, seed, init=init)) for seed in range(3)]
    inertias = [fitted.curve[-1][1] / unit for _, fitted in runs]
    return {
        "seconds": float(np.mean([seconds for seconds, _ in runs])),
        "inertia": float(np.mean(inertias)),
        "lowest": min(inertias),
        "highest": max(inertias),
    }


def blocks(X: data.Array) -> Json:
    """Return the distortion after 15 sweeps, by the number of rows that propose moves together."""
    found = {}
    parameters: Json = {"init": "random-partition", "n_candidates": None, "tol": 0, "max_iter": 15}
    for size in (256, 1000, 4096):
        with mock.patch.object(sweep, "proposing_rows", lambda _, size=size: size):
            runs = [peers.boost(X, 1024, seed, **parameters) for seed in range(3)]
        found[str(size)] = float(np.mean([run.curve[-1][1] for run in runs])) / len(X)
        print(f"  blocks of {size}: {found[str(size)]:.1f}", flush=True)
    return found


def peak_memory() -> None:
    """Measure the peak memory above the input: 1,000,000 x 128, k = 1,024, in a separate process."""
    found = {}
    for init in ("auto", "random-partition", "random"):
        outcome = isolated(peak_of_fit, 1_000_000, 1024, init, limit=PATIENCE)
        found[init] = float(outcome.unwrap())
        print(f"  {init}: {found[init]:.1f} MB above the input", flush=True)
    save_result(
        "peak_memory",
        {
            "data": "synthetic, normal 1000000 x 128, float32",
            "k": 1024,
            "megabytes_above_input": found,
            "target": "at most 100",
        },
    )


def peak_of_fit(n: int, k: int, init: str) -> float:
    """Return the peak memory of a fit in MB, above the memory before it."""
    X = np.random.default_rng(0).standard_normal((n, 128), dtype=np.float32)
    BoostKMeans(2, max_iter=1).fit(X[:1000])  # Loads all modules before memory is measured.
    before = reset_peak()
    BoostKMeans(k, init=init, max_iter=2, n_threads=N_THREADS, random_state=0).fit(X)
    return megabytes("VmHWM") - before


def answer_to_ctrl_c() -> None:
    """Measure the time from SIGINT to KeyboardInterrupt: 100 random moments, n = 1e6, k = 1e3."""
    # Processes in the background inherit an ignored SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    X = np.random.default_rng(0).standard_normal((1_000_000, 32), dtype=np.float32)
    random = np.random.default_rng(1)
    delays = []
    for i in range(100):
        # The default fit has a tree, annealing, repair and candidates.
        model = BoostKMeans(1000, n_threads=N_THREADS)
        if i % 2:
            model.set_params(init="random-partition", n_candidates=None, tol=0)
        delays.append(interrupt_delay(model, X, float(random.uniform(0.1, 4.0))))
    save_result(
        "answer_to_ctrl_c",
        {
            "data": "synthetic, normal 1000000 x 32, float32",
            "k": 1000,
            "tries": len(delays),
            "milliseconds": {
                "median": 1e3 * float(np.median(delays)),
                "p99": 1e3 * float(np.quantile(delays, 0.99)),
                "max": 1e3 * max(delays),
            },
            "target": "p99 at most 200",
        },
    )


def interrupt_delay(model: Any, X: data.Array, wait: float) -> float:
    """Interrupt a fit after `wait` seconds, and return the seconds until it raises."""
    sent: list[float] = []

    def interrupt() -> None:
        time.sleep(wait)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    raised: list[float] = []
    try:
        model.fit(X)
    except KeyboardInterrupt:
        raised.append(time.perf_counter())
    thread.join()
    return raised[0] - sent[0]


BENCHMARKS = [
    sweep_against_product,
    starts,
    peak_memory,
    answer_to_ctrl_c,
    seeding_against_scikit_learn,
]
