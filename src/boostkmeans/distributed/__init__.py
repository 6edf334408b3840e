"""Clustering of data sets that are larger than one machine."""

from boostkmeans.distributed._shard_files import ShardFile, Shards, open_shards

__all__ = ["ShardFile", "Shards", "open_shards"]
