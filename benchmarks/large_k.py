"""The figures for large k: one function a figure."""

import subprocess
import sys
from functools import partial

import numpy as np

import data
import peers
import problems
from boostkmeans import BisectingBoostKMeans, BoostKMeans, _core
from boostkmeans._data.rows import Rows
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.sweep import block_rows
from boostkmeans.metrics import average_distortion
from environment import N_THREADS, Json
from measure import compact, exact_inertia, interleaved, keep, median, timed

N_MILLION, K_LARGE = 1_000_000, 10_000


def hundred_thousand_clusters() -> None:
    """1,000,000 x 128 into 100,000 beside 10,000: time and peak memory, each in its own process."""
    code = """
import sys, time
from pathlib import Path
import numpy as np
sys.path.insert(0, sys.argv[1])
import data
from boostkmeans import BoostKMeans
X = data.sift(1_000_000)[1].astype(np.uint8)
BoostKMeans(2, max_iter=1).fit(X[:1000])  # everything imported and loaded
Path("/proc/self/clear_refs").write_text("5")
def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024
before = status("VmRSS")
began = time.perf_counter()
model = BoostKMeans(int(sys.argv[2]), n_threads=2, random_state=0).fit(X)
print(time.perf_counter() - began, model.distortion_, model.n_iter_, status("VmHWM") - before)
"""
    found: Json = {}
    for k in (10_000, 100_000):
        result = subprocess.run(
            [sys.executable, "-c", code, sys.path[0], str(k)], capture_output=True, text=True, check=True
        )
        seconds, distortion, sweeps, megabytes = map(float, result.stdout.split())
        found[str(k)] = {
            "seconds": seconds,
            "distortion": distortion,
            "sweeps": sweeps,
            "megabytes_above_input": megabytes,
        }
        print(f"  k = {k}: {compact(found[str(k)])}", flush=True)
    ratio = found["100000"]["seconds"] / found["10000"]["seconds"]
    keep("hundred_thousand_clusters", {"data": data.sift(1)[0], "clusters": found, "ratio": ratio})


def tree_figures(X: data.Array, k: int) -> Json:
    """The inertia that a tree has."""
    tree = BisectingBoostKMeans(k, n_threads=N_THREADS, random_state=0).fit(X)
    return {"inertia": tree.inertia_}


def tree_against_product() -> None:
    """The tree, 1,000,000 x 128 into 10,000, against one product of 1,000,000 x 128 by 128 x 2,000."""
    name, X = data.sift(N_MILLION)
    rows = X.astype(np.uint8)
    B = np.random.default_rng(0).normal(size=(128, 2000)).astype(np.float32)
    out: data.Array | None = np.ones((N_MILLION, 2000), dtype=np.float32)
    runs = interleaved(
        {
            "ours (uint8 rows)": lambda: tree_figures(rows, K_LARGE),
            "ours (float32 rows)": lambda: tree_figures(X, K_LARGE),
            "numpy matmul, out given": lambda: {"one": timed(lambda: np.matmul(X, B, out=out))[0]},
        }
    )
    out = None  # 8 GB
    plain = median([timed(lambda: X @ B)[0] for _ in range(3)])
    product = median([run["one"] for run in runs["numpy matmul, out given"]])
    figures: Json = {"numpy matmul, out given": {"seconds": product}, "numpy @": {"seconds": plain}}
    for tree in ("ours (uint8 rows)", "ours (float32 rows)"):
        seconds = median([run["seconds"] for run in runs[tree]])
        figures[tree] = {
            "seconds": seconds,
            "ratio": seconds / product,
            "ratio_to_product_into_new_memory": seconds / plain,
            "distortion": runs[tree][0]["inertia"] / N_MILLION,
        }
    keep(
        "tree_against_product",
        {"data": name, "k": K_LARGE, "contestants": figures, "prototype_distortion": 41_849},
    )


def tree_against_scikit_learn() -> None:
    """BisectingBoostKMeans beside scikit-learn's BisectingKMeans, 1,000,000 x 128 into 1,000."""
    from sklearn.cluster import BisectingKMeans

    name, X = data.sift(N_MILLION)

    def theirs() -> Json:
        model = BisectingKMeans(1000, bisecting_strategy="largest_cluster", random_state=0).fit(X)
        return {"inertia": average_distortion(X, model.labels_) * len(X)}

    runs = interleaved(
        {"ours": lambda: tree_figures(X.astype(np.uint8), 1000), "scikit-learn": theirs}, repeats=1
    )
    keep(
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
    """The paper's largest: 10,000,000 x 512 into 1,024 and 1,000,000 x 512 into 8,192, memory-mapped."""
    code = """
import resource, sys, tempfile, time
from pathlib import Path
import numpy as np
from boostkmeans import BisectingBoostKMeans
n, k = int(sys.argv[1]), int(sys.argv[2])
with tempfile.TemporaryDirectory(dir=sys.argv[3]) as folder:
    path = Path(folder) / "rows.npy"
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=(n, 512))
    rng = np.random.default_rng(0)
    centres = rng.integers(40, 216, size=(4000, 512)).astype(np.int16)
    noise = (rng.standard_normal((50_000, 512), dtype=np.float32) * 25).astype(np.int16)
    for begin in range(0, n, 20_000):
        of = rng.integers(0, len(centres), min(20_000, n - begin))
        rows = centres[of] + noise[rng.integers(0, len(noise), len(of))]
        X[begin : begin + len(of)] = rows.clip(0, 255)
    X.flush()
    del X
    X = np.load(path, mmap_mode="r")
    BisectingBoostKMeans(2).fit(X[:1000])
    Path("/proc/self/clear_refs").write_text("5")
    def status(key):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024
    before = status("RssAnon")
    began = time.perf_counter()
    model = BisectingBoostKMeans(k, n_threads=2, random_state=0).fit(X)
    seconds = time.perf_counter() - began
    print(seconds, model.distortion_, status("RssAnon") - before, status("VmHWM"))
"""
    found = {}
    for n, k, paper in ((1_000_000, 8192, 8), (10_000_000, 1024, 94)):
        result = subprocess.run(
            [sys.executable, "-c", code, str(n), str(k), "."], capture_output=True, text=True, check=True
        )
        seconds, distortion, own, peak = map(float, result.stdout.split())
        found[f"{n:,} x 512 into {k:,}"] = {
            "seconds": seconds,
            "distortion": distortion,
            "megabytes_held_after": own,
            "megabytes_peak_with_mapped_file": peak,
            "minutes_in_the_paper": paper,
        }
        print(f"  {n} x 512 into {k}: {compact(found[f'{n:,} x 512 into {k:,}'])}", flush=True)
    keep(
        "headline_shapes",
        {"data": "made: 4,000 blobs that overlap, uint8, memory-mapped", "shapes": found},
    )


def scaling() -> None:
    """Cost against n, k and d, each varied alone: exponents of the tree and of the default fit."""
    _, X = data.sift(N_MILLION)
    X = X.astype(np.uint8)
    base_n, base_k = 250_000, 2500
    varied = {
        "n": [(X[:n], base_k) for n in (62_500, 125_000, 250_000, 500_000, 1_000_000)],
        "k": [(X[:base_n], k) for k in (625, 1250, 2500, 5000, 10_000)],
        "d": [(np.ascontiguousarray(X[:base_n, :d]), base_k) for d in (16, 32, 64, 128)],
    }
    found: Json = {}
    for axis, cases in varied.items():
        sizes = [len(rows) if axis == "n" else k if axis == "k" else rows.shape[1] for rows, k in cases]
        lines: Json = {"sizes": sizes}
        for kind in ("tree", "10 sweeps over candidates"):
            seconds = []
            for rows, k in cases:
                call = (
                    partial(tree_figures, rows, k)
                    if kind == "tree"
                    else partial(
                        peers.boost, rows, k, init="bisecting", n_candidates=128, tol=0, max_iter=10
                    )
                )
                seconds.append(min(timed(call)[0] for _ in range(2)))
            slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
            lines[kind] = {"seconds": seconds, "exponent": slope}
            print(f"  {axis} {kind}: exponent {slope:.2f}, {[round(s, 2) for s in seconds]}", flush=True)
        found[axis] = lines
    keep("scaling", {"data": "PhotoSIFT, base 250000 x 128 into 2500, uint8", "axes": found})


def where_candidates_pay() -> None:
    """What "auto" stands for: candidates and starts by k, on several kinds of data."""
    sift, mnist = data.sift(100_000), data.mnist()
    sets = {
        sift[0]: (sift[1].astype(np.uint8), (256, 512, 1024, 2048)),
        mnist[0]: (mnist[1].astype(np.uint8), (256, 1000)),
        "made: blobs 300000 x 16 (512, overlapping)": (
            data.blobs(300_000, 16, 512, 4.0)[0],
            (256, 512, 1024),
        ),
        "made: blobs 100000 x 16 (1000, apart)": (
            data.blobs(100_000, 16, 1000, 1.0)[0],
            (500, 1000, 2000),
        ),
        "made: like embeddings 100000 x 128 (4000 topics)": (
            problems.embeddings(100_000, 128, 4000)[1],
            (1024, 2048, 4096),
        ),
    }
    found: Json = {}
    for name, (X, ks) in sets.items():
        for k in ks:
            ways: dict[str, Json] = {
                "k-means++ on a sample, all clusters": {"init": "auto", "n_candidates": None},
                "bisecting, all clusters": {"init": "bisecting", "n_candidates": None},
                "bisecting, 128 candidates": {"init": "bisecting", "n_candidates": 128},
                "defaults": {},
            }
            found[f"{name}, k = {k:,}"] = {}
            for way, parameters in ways.items():
                if parameters.get("n_candidates", 0) == 128 and k <= 256:
                    continue
                seconds, run = timed(partial(peers.boost, X, k, **parameters))
                figures = {"seconds": seconds, "distortion": run.curve[-1][1] / len(X)}
                found[f"{name}, k = {k:,}"][way] = figures
                print(f"  {name} k = {k} {way}: {compact(figures)}", flush=True)
    keep("where_candidates_pay", {"sets": found})


def low_precision() -> None:
    """A full sweep with proposals by products of bytes, and by float32: time, and what it gains."""
    name, X = data.sift(100_000)
    X = X.astype(np.uint8)
    rows = Rows.in_own_frame(X, "euclidean", N_THREADS)
    order = np.random.default_rng(0).permutation(len(X))
    found: Json = {}
    for k in (64, 256, 1024, 4096):
        start = (
            BoostKMeans(k, init="bisecting", n_candidates=32, max_iter=3, random_state=0).fit(X).labels_
        )
        seconds: dict[bool, list[float]] = {False: [], True: []}
        gains = {}
        for _ in range(5):
            for low in seconds:
                p = Partition.of(start.copy(), k, X.shape[1])
                p.recompute(rows, None, N_THREADS)
                sweep = partial(
                    _core.sweep,
                    rows.core,
                    None,
                    p.view,
                    _core.FullVisit(order=order, run_rows=1, block_rows=block_rows(len(X))),
                    _core.SweepOptions(low_precision=low),
                    n_threads=N_THREADS,
                )
                taken, result = timed(sweep)
                seconds[low].append(taken)
                gains[low] = result.gain
        found[str(k)] = {
            "float32_seconds": median(seconds[False]),
            "bytes_seconds": median(seconds[True]),
            "gain_to_float32": gains[True] / gains[False],
        }
        print(f"  k = {k}: {compact(found[str(k)])}", flush=True)
    keep("low_precision", {"data": name, "clusters": found})


def assignment() -> None:
    """New rows to 10,000 clusters: exact, by candidates, down the tree: time and agreement."""
    name, X = data.sift(N_MILLION)
    rows, new = X[:900_000].astype(np.uint8), X[900_000:].astype(np.uint8)
    flat = BoostKMeans(K_LARGE, n_threads=N_THREADS, random_state=0, max_iter=5).fit(rows)
    tree = BisectingBoostKMeans(K_LARGE, n_threads=N_THREADS, random_state=0).fit(rows)
    seconds, exact = timed(lambda: flat.predict(new))
    found: Json = {"exact": assigned(flat, new, exact, exact, seconds)}
    for m in (64, 256, 512, 1024, 2048):
        seconds, labels = timed(partial(flat.predict, new, n_candidates=m))
        found[f"n_candidates={m}"] = assigned(flat, new, labels, exact, seconds)
    seconds, exact = timed(lambda: tree.predict(new))
    found["exact, centres of the tree"] = assigned(tree, new, exact, exact, seconds)
    seconds, labels = timed(lambda: tree.predict(new, tree=True))
    found["tree=True"] = assigned(tree, new, labels, exact, seconds)
    for way, figures in found.items():
        print(f"  {way}: {compact(figures)}", flush=True)
    keep("assignment", {"data": f"{name}, the last 100,000 rows are new", "k": K_LARGE, "ways": found})


def assigned(
    model: BoostKMeans | BisectingBoostKMeans,
    X: data.Array,
    labels: data.Array,
    exact: data.Array,
    seconds: float,
) -> Json:
    """Time, agreement with the exact assignment, and the distortion."""
    return {
        "seconds": seconds,
        "agreement": float((labels == exact).mean()),
        "distortion": exact_inertia(X, model.cluster_centers_, labels) / len(X),
    }


FIGURES = [
    hundred_thousand_clusters,
    tree_against_product,
    tree_against_scikit_learn,
    headline_shapes,
    scaling,
    where_candidates_pay,
    low_precision,
    assignment,
]
