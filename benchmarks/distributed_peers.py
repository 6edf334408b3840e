"""Comparison of distributed fits with dask-ml and Spark: time and inertia on the same rows.

The peers need older packages, so the script runs in an environment of its own, which needs the packages
dask-ml or pyspark, and does not need boostkmeans: `python benchmarks/distributed_peers.py FILE.npy K`
prints one line of JSON per peer. A peer that is not installed is skipped.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

# Iterations of Lloyd's algorithm. Both peers stop earlier if centres move little.
MAX_ITER = 100
N_CHUNKS = 4


def dask_ml(X: Any, k: int) -> Any:
    """Fit dask-ml's KMeans on two single-threaded workers, and return the centres."""
    import dask.array as da
    from dask_ml.cluster import KMeans

    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        chunks = da.from_array(X, chunks=(-(-len(X) // N_CHUNKS), X.shape[1])).persist()
        return KMeans(k, random_state=0, max_iter=MAX_ITER).fit(chunks).cluster_centers_


def spark(X: Any, k: int) -> Any:
    """Fit Spark's KMeans on two cores, and return the centres."""
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "8g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    try:
        import pandas as pd

        frame = session.createDataFrame(pd.DataFrame({"x": list(X)})).repartition(N_CHUNKS)
        vectors = frame.select(array_to_vector(frame.x).alias("features")).cache()
        vectors.count()
        model = KMeans(k=k, seed=0, maxIter=MAX_ITER).fit(vectors)
        return np.array(model.clusterCenters())
    finally:
        session.stop()


PEERS: dict[str, Callable[[Any, int], Any]] = {"dask-ml": dask_ml, "Spark": spark}


def inertia_of(X: Any, centres: Any) -> float:
    """Return the sum of squared distances to the nearest centres."""
    total = 0.0
    squares = (centres**2).sum(axis=1)
    for begin in range(0, len(X), 8192):
        part = X[begin : begin + 8192].astype(np.float64)
        gaps = squares - 2 * part @ centres.T
        total += float((gaps.min(axis=1) + (part**2).sum(axis=1)).sum())
    return total


def main() -> None:
    """Measure the peers that are installed."""
    X = np.ascontiguousarray(np.load(sys.argv[1]), dtype=np.float32)
    k = int(sys.argv[2])
    for name, fit in PEERS.items():
        began = time.perf_counter()
        try:
            centres = fit(X, k)
        except ImportError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        seconds = time.perf_counter() - began
        found = {"peer": name, "seconds": seconds, "inertia": inertia_of(X, centres)}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
