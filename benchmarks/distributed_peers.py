"""Benchmark of distributed fits against dask-ml and Spark: time to their inertia.

`BOOSTKMEANS_DISTRIBUTED_PEERS_PYTHON` names the interpreter of an environment with dask-ml, pyspark and
pyarrow, which may need other versions of Dask than ours. Spark needs a JVM. The machine should do
nothing else.
"""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from environment import N_THREADS, Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

import data
import problems
from boostkmeans.distributed import BoostKMeans, open_shards
from boostkmeans.metrics import exact_neighbors
from distributed_fits import dask_client, local_ray
from result_files import save_result

VARIABLE = "BOOSTKMEANS_DISTRIBUTED_PEERS_PYTHON"
N_SHARDS = 4
PEERS = ("dask-ml", "Spark")


@dataclass(frozen=True)
class Problem:
    """A data set, the number of clusters, and the limits of the peers."""

    name: str
    rows: data.Array
    k: int
    max_iter: int
    """Iterations of Lloyd's algorithm."""
    limit: float
    """Seconds after which a peer is stopped."""


def distributed_peers() -> None:
    """Compare distributed fits with dask-ml and Spark on WordNet embeddings."""
    wordnet = data.wordnet()
    rows = problems.embeddings(81_000, 512)[1] if wordnet is None else wordnet[1]
    # More iterations lower the inertia of the peers by less than 0.1 %.
    problem = Problem("WordNet embeddings 81,000 x 512, k = 1,000", rows, 1_000, 20, 400)
    save_result("distributed_peers", compared(problem))


def distributed_peers_of_a_million() -> None:
    """Compare distributed fits with dask-ml and Spark on 1,000,000 SIFT descriptors."""
    sift = data.photosift(1_000_000)
    rows = data.synthetic_descriptors(1_000_000) if sift is None else sift
    # More iterations lower the inertia of the peers by 0.8 %.
    problem = Problem("PhotoSIFT 1,000,000 x 128, k = 10,000", rows, 10_000, 10, 240)
    save_result("distributed_peers_of_a_million", compared(problem))


def compared(problem: Problem) -> Json:
    """Return the figures of all peers on one data set, and when our fits reach their inertia."""
    X = np.asarray(problem.rows, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        ours = our_curves(X, problem.k, Path(folder))
        peers = {name: peer(name, X, problem, Path(folder)) for name in PEERS}
    for of_peer in peers.values():
        if "inertia" in of_peer:
            of_peer["our_seconds"] = {
                engine: next((s for s, inertia in curve if inertia <= of_peer["inertia"]), None)
                for engine, curve in ours.items()
            }
    final = {
        engine: {"seconds": curve[-1][0], "inertia": curve[-1][1]} for engine, curve in ours.items()
    }
    return {"data": problem.name, "max_iter": problem.max_iter, "peers": peers, "final": final}


def peer(name: str, X: data.Array, problem: Problem, folder: Path) -> Json:
    """Return seconds and inertia of another library, or the reason why it did not finish."""
    path = folder / "rows.npy"
    np.save(path, X)
    write_parquet(X, path.with_suffix(".parquet"))
    script = Path(__file__).with_name("distributed_peer.py")
    python = os.environ.get(VARIABLE)
    if python is None:
        return {"failure": f"not measured: {VARIABLE} is not set"}
    command = [python, str(script), name, str(path), str(problem.k), str(problem.max_iter)]
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=problem.limit, check=False, env=variables
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"more than {problem.limit:.0f} s"}
    if done.returncode:
        return {"failure": done.stderr.strip().splitlines()[-1]}
    found: Json = json.loads(done.stdout.strip().splitlines()[-1])
    centres = np.load(folder / "centres.npy")
    print(f"  {name}: {found}", flush=True)
    return {**found, "inertia": inertia_of(X, centres)}


def inertia_of(X: data.Array, centres: data.Array) -> float:
    """Return the sum of the squared distances to the nearest centres."""
    found = exact_neighbors(centres.astype(np.float32), X, 1, n_threads=N_THREADS)
    return float(found.distances.sum())


def write_parquet(X: data.Array, path: Path) -> None:
    """Write rows as a column of lists, which Spark reads."""
    import pyarrow
    import pyarrow.parquet

    values = pyarrow.array(X.ravel())
    offsets = pyarrow.array(np.arange(0, X.size + 1, X.shape[1], dtype=np.int32))
    column = pyarrow.ListArray.from_arrays(offsets, values)
    pyarrow.parquet.write_table(pyarrow.table({"embedding": column}), path)


def our_curves(X: data.Array, k: int, folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Return the times and inertias of our fits on Dask and on Ray. Each engine runs alone."""
    parts = folder / "parts"
    parts.mkdir()
    for number, part in enumerate(np.array_split(X, N_SHARDS)):
        np.save(parts / f"part-{number}.npy", part)
    shards, curves = open_shards(parts, max_shard_bytes="4GB"), {}
    for engine, opened in (("Dask", dask_client()), ("Ray", local_ray())):
        with opened as given:
            BoostKMeans(2, max_iter=1, random_state=0, engine=given).fit(shards)
            model = BoostKMeans(k, random_state=0, n_threads=N_THREADS, engine=given).fit(shards)
            curves[engine] = [(one.seconds, one.inertia) for one in model.history_]
            print(f"  ours on {engine}: {curves[engine][-1]}", flush=True)
    return curves


BENCHMARKS = [distributed_peers, distributed_peers_of_a_million]
