"""Cluster explorer: one HTML page that shows the clusters of a fitted model, without a server.

>>> from sklearn.datasets import load_iris
>>> from boostkmeans import BoostKMeans
>>> from boostkmeans.explore import page
>>> X = load_iris(as_frame=True).data
>>> shown = page(BoostKMeans(n_clusters=3, random_state=0).fit(X), X, table=X)
>>> len(shown.names)
3
"""

from boostkmeans.explore._building import page
from boostkmeans.explore._result import Page

__all__ = ["Page", "page"]
