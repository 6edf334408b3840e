"""Clustering of data on many machines, with Dask or Ray, and of files in shards."""

from boostkmeans.distributed._bisecting import BisectingBoostKMeans
from boostkmeans.distributed._boost_kmeans import BoostKMeans
from boostkmeans.distributed._connection import connect
from boostkmeans.distributed._engines.errors import ClusterError, WorkerDiedError, WorkerVersionError
from boostkmeans.distributed._shard_files import ShardFile, Shards, open_shards

__all__ = [
    "BisectingBoostKMeans",
    "BoostKMeans",
    "ClusterError",
    "ShardFile",
    "Shards",
    "WorkerDiedError",
    "WorkerVersionError",
    "connect",
    "open_shards",
]
