"""One fit of another distributed library, for `distributed_peers.py`, which starts this script.

The script imports nothing of boostkmeans, so that it runs in an environment with the other library only.
It prints one line of JSON: the seconds of the fit, the number of iterations and the version. It stores
the centres, whose inertia the caller computes.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_PARTS = 4


def fit_dask_ml(path: str, k: int, max_iter: int) -> tuple[Any, int, float, str]:
    """Fit dask-ml's KMeans on two single-threaded workers."""
    import dask.array
    import dask_ml
    from dask_ml.cluster import KMeans

    from distributed import Client, LocalCluster

    X = np.load(path)
    chunks = -(-len(X) // N_PARTS)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        rows = dask.array.from_array(X, chunks=(chunks, X.shape[1])).persist()
        began = time.perf_counter()
        model = KMeans(k, init="random", max_iter=max_iter, tol=0, random_state=0).fit(rows)
        model.labels_.compute()
        seconds = time.perf_counter() - began
    return model.cluster_centers_, int(model.n_iter_), seconds, dask_ml.__version__


def fit_spark(path: str, k: int, max_iter: int) -> tuple[Any, int, float, str]:
    """Fit Spark's KMeans on two cores."""
    import pyspark
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "8g")
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.parquet(str(Path(path).with_suffix(".parquet"))).repartition(N_PARTS)
    rows = frame.select(array_to_vector("embedding").alias("features")).cache()
    rows.count()
    began = time.perf_counter()
    kmeans = KMeans(k=k, initMode="random", maxIter=max_iter, tol=0.0, seed=0)
    model = kmeans.fit(rows)
    model.transform(rows).groupBy("prediction").count().collect()
    seconds = time.perf_counter() - began
    centres, iterations = np.array(model.clusterCenters()), model.summary.numIter
    spark.stop()
    return centres, int(iterations), seconds, pyspark.__version__


FITS: dict[str, Callable[[str, int, int], tuple[Any, int, float, str]]] = {
    "dask-ml": fit_dask_ml,
    "Spark": fit_spark,
}


def main() -> None:
    """Fit the rows of a file, and store the centres beside it."""
    name, path, k, max_iter = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    centres, iterations, seconds, version = FITS[name](path, k, max_iter)
    np.save(Path(path).with_name("centres.npy"), centres)
    print(json.dumps({"seconds": seconds, "iterations": iterations, "version": version}))


if __name__ == "__main__":
    main()
