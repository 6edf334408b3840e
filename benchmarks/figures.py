"""One function a figure. Each measures, keeps its result file, and says what it found."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from unittest import mock

import numpy as np

import data
import measure
import peers
from boostkmeans import BoostKMeans, _core
from boostkmeans._data.rows import Rows
from boostkmeans._steps import sweep
from environment import N_THREADS, Json
from measure import interleaved, keep, median, timed


def sweep_against_product() -> None:
    """A full sweep in its steady state against one matrix product of the same shape."""
    name, X = data.sift(100_000)
    start = BoostKMeans(1024, n_threads=N_THREADS, random_state=0, tol=0, max_iter=15).fit(X)
    B = np.ascontiguousarray(start.cluster_centers_.T.astype(np.float32))
    out = np.empty((len(X), 1024), dtype=np.float32)

    def sweep() -> Json:
        model = BoostKMeans(
            1024, init=start.labels_, n_candidates=None, n_threads=N_THREADS, random_state=0, tol=0,
            max_iter=6,
        ).fit(X)  # fmt: skip
        ends = [record.seconds for record in model.history_]
        return {"one": median(np.diff(ends).tolist())}

    runs = interleaved(
        {
            "sweep": sweep,
            "numpy @": lambda: {"one": timed(lambda: X @ B)[0]},
            "numpy matmul, out given": lambda: {"one": timed(lambda: np.matmul(X, B, out=out))[0]},
        },
        repeats=5,
    )
    one = {contestant: median([r["one"] for r in rs]) for contestant, rs in runs.items()}
    keep(
        "sweep_against_product",
        {
            "data": name,
            "k": 1024,
            "seconds": one,
            "ratio_to_product_into_new_memory": one["sweep"] / one["numpy @"],
            "ratio": one["sweep"] / one["numpy matmul, out given"],
            "target": "at most 1.25",
        },
    )


def seeding_against_scikit_learn() -> None:
    """Greedy k-means++ for k = 4,000 on 100,000 x 128."""
    from sklearn.cluster import kmeans_plusplus

    name, X = data.sift(100_000)

    def native() -> data.Array:
        rows = Rows.in_own_frame(X, "euclidean", N_THREADS)
        return np.asarray(X[_core.plus_plus(rows.core, None, 4000, 15, 0, N_THREADS)[0]])

    def theirs() -> data.Array:
        return np.asarray(kmeans_plusplus(X, 4000, random_state=0)[0])

    seconds: dict[str, list[float]] = {"ours": [], "scikit-learn": []}
    potentials: dict[str, float] = {}
    for _ in range(measure.REPEATS):
        for contestant, call in (("ours", native), ("scikit-learn", theirs)):
            taken, centres = timed(call)
            seconds[contestant].append(taken)
            potentials[contestant] = potential(X, centres)
            print(f"  {contestant}: {taken:.2f} s, inertia {potentials[contestant]:.6g}", flush=True)
    keep(
        "seeding_against_scikit_learn",
        {
            "data": name,
            "k": 4000,
            "seconds": seconds,
            "speed_up": median(seconds["scikit-learn"]) / median(seconds["ours"]),
            "inertia_of_the_seeds": potentials,
            "target": "at least 10",
        },
    )


def potential(X: data.Array, centres: data.Array) -> float:
    """Inertia of the nearest centres."""
    rows = Rows.in_own_frame(X, "euclidean", N_THREADS)
    labels, gaps = np.empty(len(X), dtype=np.int32), np.empty(len(X))
    framed = rows.frame.enter(centres.astype(np.float64))
    _core.nearest(rows.core, framed, labels, gaps, None, N_THREADS)
    return rows.frame.inertia(float(gaps.sum()))


def starts() -> None:
    """What "auto" is worth beside the other starts, and how large blocks may be: means of 3 seeds."""
    sift, mnist = data.sift(100_000), data.mnist()
    X, _, planted = data.blobs(100_000, 16, 400, std=1.0)
    sets = {
        f"{sift[0]}, k = 1,024": (sift[1], 1024, 1.0),
        f"{mnist[0]}, k = 100": (mnist[1], 100, 1.0),
        "made: blobs 100000 x 16, k = 400 (by the planted inertia)": (X, 400, planted),
    }
    results: Json = {}
    for name, (rows, k, unit) in sets.items():
        results[name] = {}
        for init in ("auto", "random-partition", "random", "k-means++", "bisecting"):
            runs = [timed(partial(peers.boost, rows, k, seed, init=init)) for seed in range(3)]
            inertias = [found.curve[-1][1] / unit for _, found in runs]
            results[name][init] = {
                "seconds": float(np.mean([seconds for seconds, _ in runs])),
                "inertia": float(np.mean(inertias)),
                "lowest": min(inertias),
                "highest": max(inertias),
            }
            print(f"  {name} {init}: {measure.compact(results[name][init])}", flush=True)
    keep("starts", {"sets": results, "blocks": blocks(sift[1])})


def blocks(X: data.Array) -> Json:
    """Distortion after 15 sweeps by the rows that propose together."""
    found = {}
    for size in (256, 1000, 4096):
        with mock.patch.object(sweep, "block_rows", lambda _, size=size: size):
            parameters: Json = {
                "init": "random-partition",
                "n_candidates": None,
                "tol": 0,
                "max_iter": 15,
            }
            runs = [peers.boost(X, 1024, seed, **parameters) for seed in range(3)]
        found[str(size)] = float(np.mean([run.curve[-1][1] for run in runs])) / len(X)
        print(f"  blocks of {size}: {found[str(size)]:.1f}", flush=True)
    return found


def peak_memory() -> None:
    """Peak memory above the input, 1,000,000 x 128 into 1,024, in a process of its own."""
    code = """
import resource, sys
from unittest import mock
import numpy as np
from boostkmeans import BoostKMeans
n, k = 1_000_000, 1024
X = np.random.default_rng(0).standard_normal((n, 128), dtype=np.float32)
BoostKMeans(2, max_iter=1).fit(X[:1000])  # everything imported and loaded
Path("/proc/self/clear_refs").write_text("5")
def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024
before = status("VmRSS")
model = BoostKMeans(k, init=sys.argv[1], max_iter=2, n_threads=2, random_state=0).fit(X)
print(status("VmHWM") - before)
"""
    megabytes = {}
    for init in ("auto", "random-partition", "random"):
        result = subprocess.run(
            [sys.executable, "-c", code, init], capture_output=True, text=True, check=True
        )
        megabytes[init] = float(result.stdout)
        print(f"  {init}: {megabytes[init]:.1f} MB above the input", flush=True)
    keep(
        "peak_memory",
        {
            "data": "made: normal 1000000 x 128, float32",
            "k": 1024,
            "megabytes_above_input": megabytes,
            "target": "at most 100",
        },
    )


def answer_to_ctrl_c() -> None:
    """Time from SIGINT to KeyboardInterrupt, 100 tries at random moments, n = 1e6, k = 1e3."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    X = np.random.default_rng(0).standard_normal((1_000_000, 32), dtype=np.float32)
    random = np.random.default_rng(1)
    delays = []
    for i in range(100):
        model = BoostKMeans(1000, n_threads=N_THREADS)  # a tree, annealing, repair, candidates
        if i % 2:
            model.set_params(init="random-partition", n_candidates=None, tol=0)
        wait = float(random.uniform(0.1, 4.0))
        sent: list[float] = []

        def interrupt(wait: float = wait, sent: list[float] = sent) -> None:
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
        delays.append(raised[0] - sent[0])
    keep(
        "answer_to_ctrl_c",
        {
            "data": "made: normal 1000000 x 32, float32",
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


FIGURES = [
    sweep_against_product,
    starts,
    peak_memory,
    answer_to_ctrl_c,
    seeding_against_scikit_learn,
]
