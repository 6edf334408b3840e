"""Benchmarks of fits with many clusters."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import data
import peers
import problems
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.metrics import average_distortion
from environment import N_THREADS, Json
from isolated import isolated
from measure import exact_inertia, interleaved, median, one_line, timed
from process_memory import megabytes, reset_peak
from result_files import save_result
from sweeps import partition_of, problem_of, timed_sweep

N_MILLION = 1_000_000
K_LARGE = 10_000
# Seconds after which a benchmark in a process of its own is considered stuck.
PATIENCE = 7200.0


def hundred_thousand_clusters() -> None:
    """Compare k = 100,000 with k = 10,000 on 1,000,000 x 128: time and peak memory."""
    found: Json = {}
    for k in (10_000, 100_000):
        found[str(k)] = isolated(fit_million, k, limit=PATIENCE).unwrap()
        print(f"  k = {k}: {one_line(found[str(k)])}", flush=True)
    ratio = found["100000"]["seconds"] / found["10000"]["seconds"]
    name = data.sift(N_MILLION)[0]
    save_result("hundred_thousand_clusters", {"data": name, "clusters": found, "ratio": ratio})


def fit_million(k: int) -> Json:
    """Return time, distortion, sweeps and peak memory of a fit of 1,000,000 uint8 rows."""
    X = data.sift(N_MILLION)[1].astype(np.uint8)
    BoostKMeans(2, max_iter=1).fit(X[:1000])  # Loads all modules before memory is measured.
    before = reset_peak()
    seconds, model = timed(partial(BoostKMeans(k, n_threads=N_THREADS, random_state=0).fit, X))
    return {
        "seconds": seconds,
        "distortion": model.distortion_,
        "sweeps": model.n_iter_,
        "megabytes_above_input": megabytes("VmHWM") - before,
    }


def tree_figures(X: data.Array, k: int) -> Json:
    """Return the inertia of a bisecting tree."""
    tree = BisectingBoostKMeans(k, n_threads=N_THREADS, random_state=0).fit(X)
    return {"inertia": tree.inertia_}


def tree_against_product() -> None:
    """Compare a tree, 1,000,000 x 128, k = 10,000, with one matrix product by 128 x 2,000."""
    name, X = data.sift(N_MILLION)
    rows = X.astype(np.uint8)
    B = np.random.default_rng(0).normal(size=(128, 2000)).astype(np.float32)
    out: data.Array | None = np.ones((N_MILLION, 2000), dtype=np.float32)
    product_name = "numpy.matmul with `out`"
    trees = {"boostkmeans (uint8 rows)": rows, "boostkmeans (float32 rows)": X}
    runs = interleaved(
        {
            **{tree: partial(tree_figures, some, K_LARGE) for tree, some in trees.items()},
            product_name: lambda: {"one": timed(lambda: np.matmul(X, B, out=out))[0]},
        }
    )
    out = None  # Frees 8 GB, which the next product needs.
    plain = median([timed(lambda: X @ B)[0] for _ in range(3)])
    product = median([run["one"] for run in runs[product_name]])
    figures: Json = {product_name: {"seconds": product}, "numpy @": {"seconds": plain}}
    for tree in trees:
        seconds = median([run["seconds"] for run in runs[tree]])
        figures[tree] = {
            "seconds": seconds,
            "ratio": seconds / product,
            "ratio_to_product_into_new_memory": seconds / plain,
            "distortion": runs[tree][0]["inertia"] / N_MILLION,
        }
    save_result(
        "tree_against_product",
        {"data": name, "k": K_LARGE, "contestants": figures, "prototype_distortion": 41_849},
    )


def tree_against_scikit_learn() -> None:
    """Compare with scikit-learn's BisectingKMeans: 1,000,000 x 128, k = 1,000."""
    from sklearn.cluster import BisectingKMeans

    name, X = data.sift(N_MILLION)

    def theirs() -> Json:
        model = BisectingKMeans(1000, bisecting_strategy="largest_cluster", random_state=0).fit(X)
        return {"inertia": average_distortion(X, model.labels_) * len(X)}

    runs = interleaved(
        {"boostkmeans": lambda: tree_figures(X.astype(np.uint8), 1000), "scikit-learn": theirs},
        repeats=1,
    )
    save_result(
        "tree_against_scikit_learn",
        {
            "data": name,
            "k": 1000,
            "contestants": {
                contestant: {"seconds": of[0]["seconds"], "distortion": of[0]["inertia"] / N_MILLION}
                for contestant, of in runs.items()
            },
        },
    )


def headline_shapes() -> None:
    """Fit the paper's largest shapes, memory-mapped, with 512 features.

    They are 10,000,000 rows with k = 1,024 and 1,000,000 rows with k = 8,192.
    """
    found = {}
    for n, k, minutes_in_paper in ((1_000_000, 8192, 8), (10_000_000, 1024, 94)):
        figures = isolated(fit_memory_mapped, n, k, limit=PATIENCE).unwrap()
        shape = f"{n:,} x 512 into {k:,}"
        found[shape] = {**figures, "minutes_in_the_paper": minutes_in_paper}
        print(f"  {shape}: {one_line(found[shape])}", flush=True)
    save_result(
        "headline_shapes",
        {"data": "synthetic, 4,000 overlapping blobs, uint8, memory-mapped", "shapes": found},
    )


def fit_memory_mapped(n: int, k: int) -> Json:
    """Return time, distortion and memory of a tree of n x 512 rows in a file."""
    # The current folder, because the folder of temporary files may be in memory.
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "rows.npy"
        write_blobs(path, n)
        X = np.load(path, mmap_mode="r")
        BisectingBoostKMeans(2).fit(X[:1000])  # Loads all modules before memory is measured.
        reset_peak()
        before = megabytes("RssAnon")
        began = time.perf_counter()
        model = BisectingBoostKMeans(k, n_threads=N_THREADS, random_state=0).fit(X)
        seconds = time.perf_counter() - began
        return {
            "seconds": seconds,
            "distortion": model.distortion_,
            "megabytes_held_after": megabytes("RssAnon") - before,
            "megabytes_peak_with_mapped_file": megabytes("VmHWM"),
        }


def write_blobs(path: Path, n: int) -> None:
    """Write n x 512 uint8 rows of 4,000 overlapping blobs to an .npy file."""
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=(n, 512))
    rng = np.random.default_rng(0)
    centres = rng.integers(40, 216, size=(4000, 512)).astype(np.int16)
    noise = (rng.standard_normal((50_000, 512), dtype=np.float32) * 25).astype(np.int16)
    for begin in range(0, n, 20_000):
        of = rng.integers(0, len(centres), min(20_000, n - begin))
        rows = centres[of] + noise[rng.integers(0, len(noise), len(of))]
        X[begin : begin + len(of)] = rows.clip(0, 255)
    X.flush()


def scaling() -> None:
    """Measure the time of trees and of sweeps against n, k and d, each varied alone."""
    _, X = data.sift(N_MILLION)
    X = X.astype(np.uint8)
    base_n, base_k = 250_000, 2500
    varied = {
        "n": [(n, X[:n], base_k) for n in (62_500, 125_000, 250_000, 500_000, 1_000_000)],
        "k": [(k, X[:base_n], k) for k in (625, 1250, 2500, 5000, 10_000)],
        "d": [(d, np.ascontiguousarray(X[:base_n, :d]), base_k) for d in (16, 32, 64, 128)],
    }
    sweeps = partial(peers.boost, init="bisecting", n_candidates=128, tol=0, max_iter=10)
    methods: dict[str, Callable[..., Any]] = {"tree": tree_figures, "10 sweeps over candidates": sweeps}
    found: Json = {}
    for axis, cases in varied.items():
        sizes = [size for size, _, _ in cases]
        found[axis] = {"sizes": sizes}
        for name, fit in methods.items():
            seconds = [min(timed(partial(fit, rows, k))[0] for _ in range(2)) for _, rows, k in cases]
            slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
            found[axis][name] = {"seconds": seconds, "exponent": slope}
            print(f"  {axis} {name}: exponent {slope:.2f}, {[round(s, 2) for s in seconds]}", flush=True)
    save_result("scaling", {"data": "PhotoSIFT, base 250000 x 128 into 2500, uint8", "axes": found})


def where_candidates_pay() -> None:
    """Compare starts and candidates by k on several kinds of data, to choose the defaults."""
    sift, mnist = data.sift(100_000), data.mnist()
    sets = {
        sift[0]: (sift[1].astype(np.uint8), (256, 512, 1024, 2048)),
        mnist[0]: (mnist[1].astype(np.uint8), (256, 1000)),
        "synthetic, blobs 300000 x 16 (512, overlapping)": (
            data.blobs(300_000, 16, 512, 4.0)[0],
            (256, 512, 1024),
        ),
        "synthetic, blobs 100000 x 16 (1000, apart)": (
            data.blobs(100_000, 16, 1000, 1.0)[0],
            (500, 1000, 2000),
        ),
        "synthetic, embedding-like 100000 x 128 (4000 topics)": (
            problems.embeddings(100_000, 128, 4000)[1],
            (1024, 2048, 4096),
        ),
    }
    found = {
        f"{name}, k = {k:,}": compare_strategies(f"{name} k = {k}", X, k)
        for name, (X, ks) in sets.items()
        for k in ks
    }
    save_result("where_candidates_pay", {"sets": found})


def compare_strategies(title: str, X: data.Array, k: int) -> Json:
    """Return time and distortion by start and number of candidates."""
    strategies: dict[str, Json] = {
        "sampled k-means++, all clusters": {"init": "sampled-k-means++", "n_candidates": None},
        "bisecting, all clusters": {"init": "bisecting", "n_candidates": None},
        "bisecting, 128 candidates": {"init": "bisecting", "n_candidates": 128},
        "defaults": {},
    }
    found: Json = {}
    for name, parameters in strategies.items():
        if parameters.get("n_candidates", 0) == 128 and k <= 256:
            continue  # Half of the clusters or more would be candidates.
        seconds, run = timed(partial(peers.boost, X, k, **parameters))
        found[name] = {"seconds": seconds, "distortion": run.curve[-1][1] / len(X)}
        print(f"  {title} {name}: {one_line(found[name])}", flush=True)
    return found


def low_precision() -> None:
    """Compare sweeps that propose moves by byte products and by float32: time and gain."""
    name, X = data.sift(100_000)
    X = X.astype(np.uint8)
    found: Json = {}
    for k in (64, 256, 1024, 4096):
        problem = problem_of(X, k)
        start = (
            BoostKMeans(k, init="bisecting", n_candidates=32, max_iter=3, random_state=0).fit(X).labels_
        )
        seconds: dict[bool, list[float]] = {False: [], True: []}
        gains = {}
        for _ in range(5):
            for low in seconds:
                partition = partition_of(problem, start)
                taken, result = timed_sweep(problem, partition, np.random.RandomState(0), low)
                seconds[low].append(taken)
                gains[low] = result.gain
        found[str(k)] = {
            "float32_seconds": median(seconds[False]),
            "bytes_seconds": median(seconds[True]),
            "gain_to_float32": gains[True] / gains[False],
        }
        print(f"  k = {k}: {one_line(found[str(k)])}", flush=True)
    save_result("low_precision", {"data": name, "clusters": found})


def assignment() -> None:
    """Compare exact and approximate `predict` of new rows, k = 10,000: time and agreement."""
    name, X = data.sift(N_MILLION)
    rows, new = X[:900_000].astype(np.uint8), X[900_000:].astype(np.uint8)
    flat = BoostKMeans(K_LARGE, n_threads=N_THREADS, random_state=0, max_iter=5).fit(rows)
    tree = BisectingBoostKMeans(K_LARGE, n_threads=N_THREADS, random_state=0).fit(rows)
    seconds, exact = timed(lambda: flat.predict(new))
    found: Json = {"exact": assignment_figures(flat, new, exact, exact, seconds)}
    for m in (64, 256, 512, 1024, 2048):
        seconds, labels = timed(partial(flat.predict, new, n_candidates=m))
        found[f"n_candidates={m}"] = assignment_figures(flat, new, labels, exact, seconds)
    seconds, exact = timed(lambda: tree.predict(new))
    found["exact, centres of the tree"] = assignment_figures(tree, new, exact, exact, seconds)
    seconds, labels = timed(lambda: tree.predict(new, tree=True))
    found["tree=True"] = assignment_figures(tree, new, labels, exact, seconds)
    for way, figures in found.items():
        print(f"  {way}: {one_line(figures)}", flush=True)
    save_result(
        "assignment", {"data": f"{name}, the last 100,000 rows are new", "k": K_LARGE, "ways": found}
    )


def assignment_figures(
    model: BoostKMeans | BisectingBoostKMeans,
    X: data.Array,
    labels: data.Array,
    exact: data.Array,
    seconds: float,
) -> Json:
    """Return time, agreement with the exact assignment, and distortion."""
    return {
        "seconds": seconds,
        "agreement": float((labels == exact).mean()),
        "distortion": exact_inertia(X, model.cluster_centers_, labels) / len(X),
    }


BENCHMARKS = [
    hundred_thousand_clusters,
    tree_against_product,
    tree_against_scikit_learn,
    headline_shapes,
    scaling,
    where_candidates_pay,
    low_precision,
    assignment,
]
