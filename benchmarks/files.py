"""Benchmarks of vectors in files: reading and fitting, and files larger than the memory limit."""

import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from boostkmeans import BoostKMeans
from boostkmeans._data import memory
from boostkmeans.io import open_vectors, write_vectors
from data import Array, sift
from environment import N_THREADS, Json
from isolated import isolated
from measure import median
from process_memory import megabytes
from result_files import save_result

FORMATS = ("npy", "fvecs", "fbin", "parquet")
N_CLUSTERS = 1024
# Seconds after which a fit is considered stuck.
PATIENCE = 3600.0


def fit_file(path: str, from_memory: bool, max_memory: int) -> Json:
    """Fit the vectors of a file, and return the time, inertia and peak memory.

    Imports count neither as time nor as memory. If `from_memory`, the rows are loaded before the clock
    starts; otherwise opening and reading the file counts.
    """
    import pyarrow.parquet  # noqa: F401  (imported before the clock starts)

    BoostKMeans(2, n_threads=N_THREADS).fit(np.random.default_rng(0).normal(size=(5000, 4)))
    if max_memory:  # Limit the address space as well, including everything that the process maps.
        allowed = int(megabytes("VmSize") * 2**20) + max_memory
        resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
    model = BoostKMeans(N_CLUSTERS, random_state=0, n_threads=N_THREADS)
    rows: Any = np.load(path) if from_memory else None
    began = time.perf_counter()
    if rows is None:
        rows = open_vectors(path, max_memory=max_memory or None)
    model.fit(rows)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds, "inertia": model.inertia_, "sweeps": model.n_iter_,
        "megabytes": megabytes("VmHWM"), "note": model.history_[0].note,
    }  # fmt: skip


def run(name: str, path: Path, from_memory: bool = False, max_memory: int = 0) -> Json:
    """Call `fit_file` in a separate process, and print its figures."""
    outcome = isolated(fit_file, str(path), from_memory, max_memory, limit=PATIENCE)
    figures: Json = outcome.unwrap()
    print(f"  {name}: {figures['seconds']:.2f} s, inertia {figures['inertia']:.6g}", flush=True)
    return figures


def medians(runs: dict[str, list[Json]]) -> list[Json]:
    """Return the medians of the runs of each source of rows."""
    return [
        {
            "name": name,
            **{
                figure: median([one[figure] for one in some])
                for figure in ("seconds", "inertia", "megabytes")
            },
            "note": some[0]["note"],
        }
        for name, some in runs.items()
    ]


def reading_and_fitting() -> None:
    """Compare fits of files with a fit from memory: 1,000,000 x 128 float32, k = 1,024."""
    name, X = sift(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        paths = {ending: Path(folder, f"x.{ending}") for ending in FORMATS}
        for path in paths.values():
            write_vectors(path, X)
        del X
        runs: dict[str, list[Json]] = {"memory": [], **{ending: [] for ending in FORMATS}}
        for _ in range(3):
            runs["memory"].append(run("memory", paths["npy"], from_memory=True))
            for ending, path in paths.items():
                runs[ending].append(run(ending, path))
    save_result("reading_and_fitting", {"data": name, "k": N_CLUSTERS, "rows": medians(runs)})


def beyond_memory() -> None:
    """Fit a file twice as large as the memory limit, k = 1,024, and compare with a fit from memory."""
    name, base = sift(1_000_000)
    limit = 768 * 2**20
    n = 2 * limit // (128 * 4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.npy")
        write_repeated(path, base, n)
        del base
        runs: dict[str, list[Json]] = {"memory": [], "file": []}
        for _ in range(2):
            runs["memory"].append(run("memory", path, from_memory=True))
            runs["file"].append(run("file", path, max_memory=limit))
    save_result(
        "beyond_memory",
        {
            "data": f"{name}, repeated three times with noise: {n} x 128, float32",
            "k": N_CLUSTERS,
            "file_megabytes": n * 512 / 2**20,
            "limit_megabytes": limit / 2**20,
            "process_megabytes": memory.PROCESS / 2**20,
            "rows": medians(runs),
        },
    )


def write_repeated(path: Path, base: Array, n: int) -> None:
    """Write n rows to an .npy file: the rows of `base` over and over, each with its own noise."""
    rng = np.random.default_rng(0)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, base.shape[1]))
    for begin in range(0, n, 100_000):
        some = base[np.arange(begin, min(begin + 100_000, n)) % len(base)]
        out[begin : begin + len(some)] = some + rng.uniform(-8, 8, size=some.shape)


BENCHMARKS = [reading_and_fitting, beyond_memory]
