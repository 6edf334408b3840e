"""Sparse rows: against scikit-learn and sparsekmeans, each in a process of its own; cost of a sweep."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from boostkmeans._partition import Partition
from boostkmeans._rows import Rows
from boostkmeans._sweeping import SweepOptions, sweep_all
from data import SHARED
from measure import N_THREADS, Json, keep, median, seconds_to, timed

SLOW = 1500.0  # seconds after which a contestant is stopped


def newsgroups() -> tuple[str, Any]:
    """20 newsgroups, TF-IDF, unit length; or made documents of that size."""
    path = SHARED / "text" / "20Newsgroups_cai.npz"
    if not path.exists():
        return "made: 18,846 documents x 26,214 terms", generated(18_846, 26_214, 90, 20)
    X = sparse.csr_matrix(sparse.load_npz(path))
    return "20 newsgroups, 18,846 x 26,214", TfidfTransformer().fit_transform(X).astype(np.float32)


def generated(n: int, d: int, n_terms: int, n_topics: int = 1000, seed: int = 0) -> Any:
    """Documents whose terms follow Zipf's law: half of them in one order for all documents, the others
    in an order of their topic. TF-IDF, unit length, float32.
    """
    rng = np.random.default_rng(seed)
    law = np.cumsum(1 / np.arange(1, d + 1))
    topics = rng.integers(n_topics, size=n)
    ranks = np.searchsorted(law / law[-1], rng.random((n, n_terms)))
    steps, offsets = 2 * rng.integers(1, d, size=n_topics) + 1, rng.integers(d, size=n_topics)
    of_topic = (ranks * steps[topics][:, None] + offsets[topics][:, None]) % d
    columns = np.where(rng.random((n, n_terms)) < 0.5, of_topic, ranks)
    starts = np.arange(0, n * n_terms + 1, n_terms)
    values = np.ones(n * n_terms, dtype=np.float32)
    X = sparse.csr_matrix((values, columns.ravel().astype(np.int32), starts), shape=(n, d))
    X.sum_duplicates()
    return TfidfTransformer(smooth_idf=True).fit_transform(X).astype(np.float32)


# A contestant reads the rows and prints its figures. The first line of each is what it is called.
CHILD = """
import json, sys, time, warnings
import numpy as np
from scipy import sparse
warnings.simplefilter("ignore")
path, k, seed, n_threads, settings = json.loads(sys.argv[1])
X = sparse.load_npz(path)

def status(key):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024

{imports}
open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here
before = status("VmRSS")
began = time.perf_counter()
{fit}
seconds = time.perf_counter() - began
figures = {{"seconds": seconds, "megabytes": status("VmHWM") - before, **found}}
from boostkmeans.metrics import average_distortion
figures["inertia"] = average_distortion(X, labels) * X.shape[0]
print("FIGURES", json.dumps(figures, default=float))
"""

OURS = (
    "from boostkmeans import BoostKMeans",
    """model = BoostKMeans(k, random_state=seed, n_threads=n_threads, **settings).fit(X)
labels = model.labels_
found = {"curve": [(r.seconds, r.inertia) for r in model.history_], "iterations": model.n_iter_}""",
)
SCIKIT_LEARN = (
    "from sklearn.cluster import KMeans",
    """model = KMeans(k, n_init=1, random_state=seed, **settings).fit(X)
labels = model.labels_
found = {"iterations": model.n_iter_}""",
)
SPARSEKMEANS = (
    "from sparsekmeans import {0}",
    """model = {0}(n_clusters=k, random_state=seed, n_threads=n_threads, **settings)
labels = np.asarray(model.fit(X))
found = {{}}""",
)


def contestants(**limits: int) -> dict[str, Callable[[str, int, int], Json]]:
    """By name: (path, k, seed) -> figures. Peers get a limit where an iteration takes minutes."""

    def run(code: tuple[str, str], settings: Json) -> Callable[[str, int, int], Json]:
        return lambda path, k, seed: in_process(code, path, k, seed, settings)

    elkan, lloyd = ((part0.format(name), part1.format(name)) for name in ("ElkanKmeans", "LloydKmeans")
                    for part0, part1 in [SPARSEKMEANS])  # fmt: skip
    found = {
        "ours": run(OURS, {}),
        "ours, quality='fast'": run(OURS, {"quality": "fast"}),
        "scikit-learn, k-means++": run(SCIKIT_LEARN, limits),
        "scikit-learn, random": run(SCIKIT_LEARN, {"init": "random", **limits}),
        "sparsekmeans Lloyd": run(lloyd, limits),
        "sparsekmeans Elkan": run(elkan, limits),
    }
    if limits:  # its k-means++ alone would take longer than all the rest; Elkan's bounds are n x k
        del found["scikit-learn, k-means++"], found["sparsekmeans Elkan"]
    return found


def in_process(code: tuple[str, str], path: str, k: int, seed: int, settings: Json) -> Json:
    """The figures of a contestant, or that it took too long."""
    arguments = json.dumps([path, k, seed, N_THREADS, settings])
    child = CHILD.format(imports=code[0], fit=code[1])
    try:
        done = subprocess.run(
            [sys.executable, "-c", child, arguments], capture_output=True, text=True, timeout=SLOW,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"seconds": SLOW, "error": f"stopped after {SLOW:.0f} s"}
    line = next((line for line in done.stdout.splitlines() if line.startswith("FIGURES")), None)
    if line is None:
        return {"seconds": float("nan"), "error": done.stderr.strip().splitlines()[-1:]}
    found: Json = json.loads(line.removeprefix("FIGURES"))
    return found


def compete(name: str, X: Any, k: int, repeats: int, **limits: int) -> Json:
    """All contestants, interleaved."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.npz")
        sparse.save_npz(path, X, compressed=False)
        runs: dict[str, list[Json]] = {}
        for seed in range(repeats):
            for contestant, call in contestants(**limits).items():
                figures = call(path, k, seed)
                shown = {key: value for key, value in figures.items() if key != "curve"}
                print(f"  {name}, k={k}, {contestant}: {shown}", flush=True)
                runs.setdefault(contestant, []).append(figures)
    return {"data": name, "k": k, "nnz": int(X.nnz), "rows": summary(runs), "limits": limits,
            "repeats": repeats}  # fmt: skip


def summary(runs: dict[str, list[Json]]) -> list[Json]:
    """Medians; and for each peer, how much sooner ours is at its inertia."""
    rows = []
    for name, figures in runs.items():
        bad = next((run["error"] for run in figures if "error" in run), None)
        if bad is not None:
            rows.append({"name": name, "error": bad})
            continue
        row: Json = {key: median([run[key] for run in figures])
                     for key in ("seconds", "inertia", "megabytes")}  # fmt: skip
        for own in ("ours", "ours, quality='fast'"):
            if not name.startswith("ours"):
                times = [seconds_to(a["curve"], b["inertia"])
                         for a, b in zip(runs[own], figures, strict=True)]  # fmt: skip
                row[own] = median(times)
        rows.append({"name": name, **row})
    return rows


def sparse_against_peers() -> None:
    """20 newsgroups into 20 and 200: time to equal inertia, peak memory above the input."""
    name, X = newsgroups()
    keep("sparse_against_peers", {"cases": [compete(name, X, k, 3) for k in (20, 200)]})


def many_documents_against_peers() -> None:
    """500,000 documents x 100,000 terms into 500, once. Peers make three iterations."""
    X = generated(500_000, 100_000, 60)
    case = compete("made: 500,000 documents x 100,000 terms, 60 each", X, 500, 1, max_iter=3)
    keep("many_documents_against_peers", {"cases": [case]})


def sparse_sweep_cost() -> None:
    """One sweep against terms a row, clusters and rows, each varied alone."""
    base = {"n": 50_000, "terms": 40, "k": 100}
    series: dict[str, list[Json]] = {}
    for varied, values in {"terms": (10, 20, 40, 80, 160), "k": (10, 30, 100, 300, 1000),
                           "n": (12_500, 25_000, 50_000, 100_000, 200_000)}.items():  # fmt: skip
        for value in values:
            case = {**base, varied: value}
            seconds, nnz = sweep_seconds(case["n"], case["terms"], case["k"])
            series.setdefault(varied, []).append({**case, "seconds": seconds, "nnz": nnz})
            print(f"  {case}: {seconds:.4f} s", flush=True)
    keep("sparse_sweep_cost", {"series": series})


def sweep_seconds(n: int, n_terms: int, k: int) -> tuple[float, int]:
    """Of a sweep in its steady state: the median of three, after two."""
    X = generated(n, 30_000, n_terms, n_topics=100)
    rows = Rows.in_own_frame(X, "euclidean", N_THREADS)
    rng = np.random.RandomState(0)
    partition = Partition.of(rng.permutation(np.arange(n) % k), k, X.shape[1])
    partition.recompute(rows, None, N_THREADS)
    times = [timed(lambda: sweep_all(rows, None, partition, rng, SweepOptions(N_THREADS)))[0]
             for _ in range(5)]  # fmt: skip
    return median(times[2:]), int(X.nnz)


FIGURES = [sparse_against_peers, many_documents_against_peers, sparse_sweep_cost]
