"""Training of a product quantizer: a clustering in each subspace, several of them at a time."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from boostkmeans._data.rows import Array, Floats
from boostkmeans._estimators.clusterer import Clusterer
from boostkmeans._runtime.background import in_background
from boostkmeans.quantization._codes import Codebooks

logger = logging.getLogger("boostkmeans")


class Trained(NamedTuple):
    """What came out, for each subspace."""

    codebooks: Codebooks
    distortions: Floats
    """Mean squared distances of the rows to their centroids, as the clusterings have them."""


@dataclass(frozen=True)
class Training:
    """How the subspaces are clustered."""

    clusterer: Any
    """An estimator that is not fitted: it is cloned for each subspace."""
    n_centroids: int
    seeds: list[int]
    """One for each subspace, so that no result depends on who is first."""
    n_threads: int
    after: Callable[[int, float], None] | None = None
    """Called when a subspace is ready. None: others follow, and nobody wants to know of these."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set once nobody waits for the result any more."""

    def run(self, array: Array) -> Trained:
        """Codebooks of all subspaces of these rows."""
        m = len(self.seeds)
        width = array.shape[1] // m
        codebooks = np.empty((m, self.n_centroids, width), dtype=np.float32)
        distortions = np.empty(m)

        def train(subspace: int, threads: int) -> None:
            part = _copied(array[:, subspace * width : (subspace + 1) * width])
            model = self._fitted(part, self.seeds[subspace], threads)
            codebooks[subspace] = centroids = _centroids(model, part, self.n_centroids)
            distortions[subspace] = _distortion(model, part, centroids)
            if self.after is not None and not self.stopped.is_set():
                logger.info("subspace %d of %d: distortion %.6g", subspace + 1, m, distortions[subspace])
                self.after(subspace, float(distortions[subspace]))

        self._train_all(train)
        return Trained(codebooks, distortions)

    def _train_all(self, train: Callable[[int, int], None]) -> None:
        """Several at a time, each with its share of the threads.

        Others than ours have threads of their own, whose number is a matter of the whole process: those
        are trained one after the other.
        """
        m = len(self.seeds)
        n_workers = min(m, self.n_threads) if isinstance(self.clusterer, Clusterer) else 1
        if n_workers == 1:
            for subspace in range(m):
                train(subspace, self.n_threads)
            return
        threads = max(1, self.n_threads // n_workers)
        in_background(
            [partial(train, subspace, threads) for subspace in range(m)], n_workers, self.stopped
        )

    def _fitted(self, part: Array, seed: int, threads: int) -> Any:
        model = clone(self.clusterer)
        known = model.get_params(deep=False)
        model.set_params(n_clusters=self.n_centroids)
        if known.get("random_state", 0) is None:
            model.set_params(random_state=seed)
        if known.get("n_threads", 0) is None:
            model.set_params(n_threads=threads)
        if isinstance(model, Clusterer):
            model.set_params(verbose=0)  # it was seen to before: threads cannot take turns at that
            if "callback" in known:
                own = model.callback
                model.set_params(callback=lambda record: self.stopped.is_set() or (own and own(record)))
        return model.fit(part)


def _distortion(model: Any, part: Array, centroids: Array) -> float:
    # Far from 0, centroids in float32 are not where the centres are.
    if isinstance(model, Clusterer) and model.metric == "euclidean" and part.dtype == np.float32:
        return float(model.distortion_)
    gaps = part - centroids[model.labels_]
    return float(np.einsum("ij,ij->", gaps, gaps, dtype=np.float64)) / len(part)


def _copied(part: Array) -> Array:
    """Side by side in memory, which is faster by more than the copy takes."""
    return np.ascontiguousarray(part, dtype=np.float64 if part.dtype == np.float64 else np.float32)


def _centroids(model: Any, part: Array, n_centroids: int) -> Array:
    """The means of the clusters, of rows as they are, whatever centres a clustering by cosine has."""
    if not hasattr(model, "cluster_centers_"):
        raise ValueError(
            f"The clusterer {type(model).__name__} has no cluster_centers_ once it is fitted."
        )
    centres = np.asarray(model.cluster_centers_, dtype=np.float64)
    if centres.shape != (n_centroids, part.shape[1]):
        raise ValueError(
            f"The clusterer {type(model).__name__} found {len(centres)} centres in a subspace, and "
            f"n_centroids={n_centroids} are needed."
        )
    if getattr(model, "metric", "euclidean") != "euclidean":
        labels = model.labels_
        counts = np.bincount(labels, minlength=n_centroids)
        sums = np.stack(
            [np.bincount(labels, column, n_centroids) for column in part.T.astype(np.float64)], axis=1
        )
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    with np.errstate(over="ignore"):  # it is looked for
        centroids = centres.astype(np.float32)
    if not np.isfinite(centroids).all():
        raise ValueError(
            f"Centroids up to {np.abs(centres).max():g} are more than float32 holds, and codebooks are "
            "of float32. Divide X by a large factor."
        )
    return centroids
