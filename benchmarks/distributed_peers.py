"""Benchmark of distributed fits against dask-ml and Spark: time to their inertia.

`BOOSTKMEANS_DISTRIBUTED_PEERS_PYTHON` names the interpreter of an environment with dask-ml, pyspark and
pyarrow, which may need other versions of Dask than ours. Spark needs a JVM. The machine should do
nothing else.
"""

import json
import os
import subprocess
import tempfile
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
K, N_SHARDS = 1_000, 4
# Iterations of Lloyd's algorithm. More of them lower the inertia by less than 0.1 %.
MAX_ITER = 20
# Seconds after which a peer is stopped.
LIMIT = 400


def distributed_peers() -> None:
    """Compare distributed fits with dask-ml and Spark on WordNet embeddings."""
    wordnet = data.wordnet()
    X = problems.embeddings(81_000, 512)[1] if wordnet is None else wordnet[1]
    X = np.asarray(X, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        peers = {name: peer(name, X, Path(folder)) for name in ("dask-ml", "Spark")}
        ours = our_curves(X, Path(folder))
    for of_peer in peers.values():
        if "inertia" in of_peer:
            of_peer["our_seconds"] = {
                engine: next((s for s, inertia in curve if inertia <= of_peer["inertia"]), None)
                for engine, curve in ours.items()
            }
    final = {
        engine: {"seconds": curve[-1][0], "inertia": curve[-1][1]} for engine, curve in ours.items()
    }
    shape = {"n": len(X), "d": X.shape[1], "k": K}
    save_result(
        "distributed_peers", {"shape": shape, "max_iter": MAX_ITER, "peers": peers, "final": final}
    )


def peer(name: str, X: data.Array, folder: Path) -> Json:
    """Return seconds and inertia of another library, or the reason why it did not finish."""
    path = folder / "rows.npy"
    np.save(path, X)
    write_parquet(X, path.with_suffix(".parquet"))
    script = Path(__file__).with_name("distributed_peer.py")
    python = os.environ.get(VARIABLE)
    if python is None:
        return {"failure": f"not measured: {VARIABLE} is not set"}
    command = [python, str(script), name, str(path), str(K), str(MAX_ITER)]
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, check=False, env=variables
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"more than {LIMIT} s"}
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


def our_curves(X: data.Array, folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Return the times and inertias of our fits on Dask and on Ray."""
    parts = folder / "parts"
    parts.mkdir()
    for number, part in enumerate(np.array_split(X, N_SHARDS)):
        np.save(parts / f"part-{number}.npy", part)
    shards, curves = open_shards(parts, max_shard_bytes="4GB"), {}
    with dask_client() as client, local_ray():
        for engine, given in (("Dask", client), ("Ray", "ray")):
            model = BoostKMeans(K, random_state=0, n_threads=N_THREADS, engine=given).fit(shards)
            curves[engine] = [(one.seconds, one.inertia) for one in model.history_]
            print(f"  ours on {engine}: {curves[engine][-1]}", flush=True)
    return curves


BENCHMARKS = [distributed_peers]
