"""Training of a product quantizer: a clustering in each subspace, several of them at a time."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from boostkmeans._clusterer import Clusterer
from boostkmeans._codes import Codebooks
from boostkmeans._rows import Array, Floats

logger = logging.getLogger("boostkmeans")

# How often the main thread looks whether the user wants to stop.
SECONDS_BETWEEN_LOOKS = 0.1


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
    """Called when a subspace is ready. None: this is not the last training, and nobody wants to know."""

    def run(self, array: Array) -> Trained:
        """Codebooks of all subspaces of these rows."""
        m = len(self.seeds)
        width = array.shape[1] // m
        codebooks = np.empty((m, self.n_centroids, width), dtype=np.float32)
        distortions = np.empty(m)

        def train(subspace: int, threads: int, stopped: threading.Event) -> None:
            part = _copied(array[:, subspace * width : (subspace + 1) * width])
            model = self._fitted(part, self.seeds[subspace], threads, stopped)
            codebooks[subspace] = centroids = _centroids(model, part, self.n_centroids)
            distortions[subspace] = _distortion(model, part, centroids)
            if self.after is not None and not stopped.is_set():
                logger.info("subspace %d of %d: distortion %.6g", subspace + 1, m, distortions[subspace])
                self.after(subspace, float(distortions[subspace]))

        self._train_all(train)
        return Trained(codebooks, distortions)

    def _train_all(self, train: Callable[[int, int, threading.Event], None]) -> None:
        """Several at a time, each with its share of the threads.

        Others than ours have threads of their own, whose number is a matter of the whole process: those
        are trained one after the other.
        """
        m, stopped = len(self.seeds), threading.Event()
        n_workers = min(m, self.n_threads) if isinstance(self.clusterer, Clusterer) else 1
        if n_workers == 1:
            for subspace in range(m):
                train(subspace, self.n_threads, stopped)
            return
        threads = max(1, self.n_threads // n_workers)
        with ThreadPoolExecutor(n_workers, thread_name_prefix="boostkmeans") as pool:
            jobs = [pool.submit(train, subspace, threads, stopped) for subspace in range(m)]
            try:
                _wait_for(jobs)
            except BaseException:
                stopped.set()
                for job in jobs:
                    job.cancel()
                raise

    def _fitted(self, part: Array, seed: int, threads: int, stopped: threading.Event) -> Any:
        model = clone(self.clusterer)
        known = model.get_params(deep=False)
        model.set_params(n_clusters=self.n_centroids)
        if known.get("random_state", 0) is None:
            model.set_params(random_state=seed)
        if known.get("n_threads", 0) is None:
            model.set_params(n_threads=threads)
        if isinstance(model, Clusterer) and "callback" in known:
            own = model.callback
            model.set_params(callback=lambda record: stopped.is_set() or (own and own(record)))
        return model.fit(part)


def _wait_for(jobs: list["Future[None]"]) -> None:
    """Raises what a job raises, and KeyboardInterrupt soon after it was asked for."""
    left = set(jobs)
    while left:
        done, left = wait(left, SECONDS_BETWEEN_LOOKS, FIRST_EXCEPTION)
        for job in done:
            job.result()


def _distortion(model: Any, part: Array, centroids: Array) -> float:
    if isinstance(model, Clusterer) and model.metric == "euclidean":
        return float(model.distortion_)
    gaps = part - centroids[model.labels_]
    return float(np.einsum("ij,ij->", gaps, gaps, dtype=np.float64)) / len(part)


def _copied(part: Array) -> Array:
    """Side by side in memory, which is faster by more than the copy takes."""
    return np.ascontiguousarray(part, dtype=np.float64 if part.dtype == np.float64 else np.float32)


def _centroids(model: Any, part: Array, n_centroids: int) -> Array:
    """The means of the clusters, of rows as they are, whatever centres a clustering by cosine has."""
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
    return centres.astype(np.float32)
