"""Choosing the number of clusters: `scan` tries several and suggests one.

>>> from sklearn.datasets import make_blobs
>>> from boostkmeans.select import scan
>>> X, _ = make_blobs(500, centers=4, cluster_std=0.4, random_state=4)
>>> scan(X, range(2, 8), random_state=0).suggestion
4
"""

from boostkmeans.select._result import Scan, ScanEntry
from boostkmeans.select._scan import scan

__all__ = ["Scan", "ScanEntry", "scan"]
