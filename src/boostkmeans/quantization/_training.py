"""Training of the codebooks of a product quantizer: one clustering per subspace."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from boostkmeans._data.frame import Array, Floats
from boostkmeans._estimators.clusterer import Clusterer
from boostkmeans._runtime.background import in_background
from boostkmeans._runtime.progress import logger, stage
from boostkmeans.quantization._codes import Codebooks


class TrainedCodebooks(NamedTuple):
    """Result of a training."""

    codebooks: Codebooks
    distortions: Floats
    """Mean squared distance of the rows to their centroids, per subspace."""


class _Codebook(NamedTuple):
    """Centroids of one subspace."""

    centroids: Array
    distortion: float


@dataclass
class SubspaceTrainer:
    """Trainer of the codebooks: clusters the rows in each subspace."""

    clusterer: Any
    """An unfitted estimator. It is cloned for each subspace."""
    n_centroids: int
    seeds: list[int]
    """One random seed per subspace, so that results do not depend on the order of training."""
    n_threads: int
    on_trained: Callable[[int, float], None] | None = None
    """Function called with the number and the distortion of each trained subspace."""
    stop_requested: threading.Event = field(default_factory=threading.Event)
    """Set when the caller no longer waits for the result."""

    def with_clusterer(self, clusterer: Any) -> "SubspaceTrainer":
        """Return a silent trainer with another clusterer, which stops together with this one."""
        return SubspaceTrainer(
            clusterer,
            self.n_centroids,
            self.seeds,
            self.n_threads,
            on_trained=None,
            stop_requested=self.stop_requested,
        )

    def run(self, array: Array) -> TrainedCodebooks:
        """Train the codebooks of all subspaces.

        The package's own estimators are trained in parallel, each with an equal share of the threads.
        Other estimators are trained one after the other, because their number of threads is often a
        setting of the whole process.
        """
        m = len(self.seeds)
        n_workers = min(m, self.n_threads) if isinstance(self.clusterer, Clusterer) else 1
        threads = max(1, self.n_threads // n_workers)
        calls = [partial(self._train, array, subspace, threads) for subspace in range(m)]
        if n_workers == 1:
            trained = [call() for call in calls]
        else:
            trained = in_background(calls, n_workers, self.stop_requested)
        return TrainedCodebooks(
            np.stack([codebook.centroids for codebook in trained]),
            np.array([codebook.distortion for codebook in trained]),
        )

    def _train(self, array: Array, subspace: int, threads: int) -> _Codebook:
        m = len(self.seeds)
        width = array.shape[1] // m
        rows = _contiguous(array[:, subspace * width : (subspace + 1) * width])
        with stage(f"subspace {subspace + 1} of {m}"):
            model = self._fit_clusterer(rows, self.seeds[subspace], threads)
        centroids = _centroids(model, rows, self.n_centroids)
        distortion = _distortion(model, rows, centroids)
        if self.on_trained is not None and not self.stop_requested.is_set():
            logger.info("subspace %d of %d: distortion %.6g", subspace + 1, m, distortion)
            self.on_trained(subspace, distortion)
        return _Codebook(centroids, distortion)

    def _fit_clusterer(self, rows: Array, seed: int, threads: int) -> Any:
        model = clone(self.clusterer)
        parameters = model.get_params(deep=False)
        model.set_params(n_clusters=self.n_centroids)
        if parameters.get("random_state", 0) is None:
            model.set_params(random_state=seed)
        if parameters.get("n_threads", 0) is None:
            model.set_params(n_threads=threads)
        if isinstance(model, Clusterer):
            # The quantizer has already set the log level. Parallel fits would overwrite it.
            model.set_params(verbose=0)
            if "callback" in parameters:
                model.set_params(callback=self._stopping(model.callback))
        return model.fit(rows)

    def _stopping(self, callback: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
        """Return a callback that ends the fit when the training is stopped."""
        return lambda record: self.stop_requested.is_set() or (callback and callback(record))


def _distortion(model: Any, rows: Array, centroids: Array) -> float:
    # The model's own distortion is that of float64 centres. If the rows are not float32, rounding the
    # centres to float32 may change it considerably, so it is recomputed from the centroids.
    if isinstance(model, Clusterer) and model.metric == "euclidean" and rows.dtype == np.float32:
        return float(model.distortion_)
    gaps = rows - centroids[model.labels_]
    return float(np.einsum("ij,ij->", gaps, gaps, dtype=np.float64)) / len(rows)


def _contiguous(part: Array) -> Array:
    """Copy the columns of a subspace. The faster access outweighs the cost of the copy."""
    return np.ascontiguousarray(part, dtype=np.float64 if part.dtype == np.float64 else np.float32)


def _centroids(model: Any, rows: Array, n_centroids: int) -> Array:
    """Return the means of the clusters in float32.

    A clustering by cosine has unit-length centres. The means of its clusters are computed here.
    """
    name = type(model).__name__
    if not hasattr(model, "cluster_centers_"):
        raise ValueError(f"The clusterer {name} has no attribute cluster_centers_ after fit.")
    centres = np.asarray(model.cluster_centers_, dtype=np.float64)
    if centres.shape != (n_centroids, rows.shape[1]):
        raise ValueError(
            f"The clusterer {name} found {len(centres)} centres in a subspace, but "
            f"n_centroids={n_centroids} are needed."
        )
    if getattr(model, "metric", "euclidean") != "euclidean":
        centres = _means(rows, model.labels_, centres)
    with np.errstate(over="ignore"):  # overflow is detected below
        centroids = centres.astype(np.float32)
    if not np.isfinite(centroids).all():
        raise ValueError(
            f"The centroids have values up to {np.abs(centres).max():g}, which exceeds the range of "
            "float32, the type of the codebooks. Divide X by a large factor."
        )
    return centroids


def _means(rows: Array, labels: Any, centres: Floats) -> Floats:
    """Return the mean of each cluster, or its centre if the cluster is empty."""
    k = len(centres)
    counts = np.bincount(labels, minlength=k)
    sums = np.stack([np.bincount(labels, column, k) for column in rows.T.astype(np.float64)], axis=1)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
