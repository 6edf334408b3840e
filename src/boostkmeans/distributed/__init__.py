"""Fits of rows in shards on a cluster, with Dask or Ray."""
