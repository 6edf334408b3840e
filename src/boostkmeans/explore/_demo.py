"""The explorer page of the demo: the clusters of its sample."""

from typing import Any

from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.explore._building import page
from boostkmeans.explore._result import Page


def demo_explorer(
    X: Any,
    n_clusters: int,
    *,
    title: str,
    command: str,
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Page:
    """Cluster the rows of the demo by boost k-means, and return a page of the clusters."""
    model = BoostKMeans(n_clusters, random_state=0, n_threads=n_threads).fit(X)
    return page(model, X, title=title, n_threads=n_threads, progress=progress, command=command)
