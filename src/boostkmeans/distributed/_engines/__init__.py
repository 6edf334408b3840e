"""Adapters of the engines: tasks on Dask and Ray, versions of workers, and errors of clusters."""
