"""Vectors in files: reading and fitting against fitting from memory; and files beyond the memory."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from boostkmeans._data import memory
from boostkmeans.io import write_vectors
from data import sift
from environment import N_THREADS, Json
from measure import keep, median

FORMATS = ("npy", "fvecs", "fbin", "parquet")
N_CLUSTERS = 1024
MEASURED = ("seconds", "inertia", "megabytes")

# Each run is a process of its own. What it has after the imports is not counted, neither as time nor as
# memory. From memory, the rows are there before the clock starts.
CHILD = """
import json, pathlib, re, resource, sys, time
import numpy as np
import pyarrow.parquet
from boostkmeans import BoostKMeans
from boostkmeans.io import open_vectors
path, how, k, max_memory, n_threads = json.loads(sys.argv[1])
def status(key):
    text = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(key + r":\\s+(\\d+)", text)[1]) * 1024
BoostKMeans(2, n_threads=n_threads).fit(np.random.default_rng(0).normal(size=(5000, 4)))
if max_memory:  # the process and what it maps, libraries included; not more, whatever happens
    resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + max_memory,) * 2)
model = BoostKMeans(k, random_state=0, n_threads=n_threads)
rows = np.load(path) if how == "memory" else None
began = time.perf_counter()
if rows is None:
    rows = open_vectors(path, max_memory=max_memory or None)
model.fit(rows)
seconds = time.perf_counter() - began
print(json.dumps({
    "seconds": seconds, "inertia": model.inertia_, "sweeps": model.n_iter_,
    "megabytes": status("VmHWM") / 2**20, "note": model.history_[0].note,
}))
"""


def child(path: Path, how: str, max_memory: int = 0) -> Json:
    """One run."""
    given = json.dumps([str(path), how, N_CLUSTERS, max_memory, N_THREADS])
    result = subprocess.run([sys.executable, "-c", CHILD, given], capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    found: Json = json.loads(result.stdout)
    print(f"  {how}: {found['seconds']:.2f} s, inertia {found['inertia']:.6g}", flush=True)
    return found


def rows_of(runs: dict[str, list[Json]]) -> list[Json]:
    """The medians of all runs."""
    return [
        {
            "name": name,
            **{
                what: median([run[what] for run in many]) for what in ("seconds", "inertia", "megabytes")
            },
            "note": many[0]["note"],
        }
        for name, many in runs.items()
    ]


def reading_and_fitting() -> None:
    """Reading and fitting 1,000,000 x 128 float32, k=1,024, by format; against fitting from memory."""
    name, X = sift(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        paths = {ending: Path(folder, f"x.{ending}") for ending in FORMATS}
        for path in paths.values():
            write_vectors(path, X)
        del X
        runs: dict[str, list[Json]] = {"memory": [], **{ending: [] for ending in FORMATS}}
        for _ in range(3):
            runs["memory"].append(child(paths["npy"], "memory"))
            for ending, path in paths.items():
                runs[ending].append(child(path, ending))
    keep("reading_and_fitting", {"data": name, "k": N_CLUSTERS, "rows": rows_of(runs)})


def beyond_memory() -> None:
    """A file twice the limit on memory, k=1,024: time and peak, against the same from memory."""
    name, base = sift(1_000_000)
    limit = 768 * 2**20
    n = 2 * limit // (128 * 4)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.npy")
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, 128))
        for begin in range(0, n, 100_000):
            some = base[np.arange(begin, min(begin + 100_000, n)) % len(base)]
            out[begin : begin + len(some)] = some + rng.uniform(-8, 8, size=some.shape)
        del out, base
        runs: dict[str, list[Json]] = {"memory": [], "file": []}
        for _ in range(2):
            runs["memory"].append(child(path, "memory"))
            # Of the limit, what the libraries take is not what the child may take beside them.
            runs["file"].append(child(path, "file", max_memory=limit))
    keep(
        "beyond_memory",
        {
            "data": f"{name}, three times with noise: {n} x 128, float32",
            "k": N_CLUSTERS,
            "file_megabytes": n * 512 / 2**20,
            "limit_megabytes": limit / 2**20,
            "process_megabytes": memory.PROCESS / 2**20,
            "rows": rows_of(runs),
        },
    )


FIGURES = [reading_and_fitting, beyond_memory]
