"""Assignment of rows on many machines to the clusters of a fitted model. Results are lazy if X is."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from boostkmeans._estimators.assignment import Assignment, first_by_cluster
from boostkmeans._estimators.input import check_feature_names
from boostkmeans._runtime.errors import FeatureCountError
from boostkmeans._sharded.backend import Backend, Reference, identity
from boostkmeans.distributed._block_conversion import BlockFunction, naming_its_block
from boostkmeans.distributed._engine_choice import choose_backend
from boostkmeans.distributed._inputs import (
    Blocks,
    as_blocks,
    feature_names_of,
    n_features_of,
    weight_references,
)
from boostkmeans.distributed._outputs import map_blocks
from boostkmeans.distributed._shard_files import Shards


class LazyAssignment(Assignment):
    """Base class of the distributed estimators: `predict`, `transform`, `score` and more."""

    engine: Any
    n_threads: int | None
    n_features_in_: int

    @abstractmethod
    def to_local(self, *, labels: bool = True) -> Any:
        """Return the ordinary estimator with the same centres and parameters."""

    def predict(self, X: Any, *, n_candidates: int | None = None) -> Any:
        """Return the nearest centre of each row. Ties go to the centre with the lower index.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows to assign.
        n_candidates : int, default=None
            As in the ordinary estimator.

        Returns
        -------
        labels : dask array, Ray Dataset, list or array
            Labels in the order and chunks of X. They are lazy if X is lazy.
        """
        check_is_fitted(self, "_frame")
        model = self._block_model(), n_candidates
        return self._map(X, predict_block, model, dtype=np.int32)

    def transform(self, X: Any) -> Any:
        """Return the distances of each row to all centres.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows.

        Returns
        -------
        distances : dask array, Ray Dataset, list or array of shape (n_samples, n_clusters)
            Distances, lazy if X is lazy.
        """
        check_is_fitted(self, "_frame")
        model, k = self._block_model(), len(self.cluster_centers_)
        return self._map(X, transform_block, model, dtype=np.float64, n_columns=k, name="distances")

    def predict_many(self, X: Any, m: int, *, n_candidates: int | None = None) -> tuple[Any, Any]:
        """Return the distances to and the numbers of the m nearest clusters of each row.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows to assign.
        m : int
            Number of clusters per row, at most `n_clusters`.
        n_candidates : int, default=None
            As in the ordinary estimator.

        Returns
        -------
        distances : dask array, Ray Dataset, list or array of shape (n_samples, m)
            Distances in ascending order, lazy if X is lazy.
        labels : dask array, Ray Dataset, list or array of shape (n_samples, m)
            Indices of the clusters, lazy if X is lazy. If both results are lazy, each of them searches
            the clusters when it is computed.
        """
        self._check_many(m, n_candidates)
        model = self._block_model(), int(m), n_candidates
        return (
            self._map(X, many_distances, model, dtype=np.float64, n_columns=m, name="distances"),
            self._map(X, many_labels, model, dtype=np.int32, n_columns=m),
        )

    def outlier_scores(self, X: Any) -> Any:
        """Return the distance of each row to its centre, relative to the spread of its cluster.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows.

        Returns
        -------
        scores : dask array, Ray Dataset, list or array
            Scores as in the ordinary estimator, lazy if X is lazy.
        """
        check_is_fitted(self, "_frame")
        if self.cluster_spread_ is None:
            raise ValueError(
                "The model has no cluster_spread_, because its fit was interrupted. Fit it again."
            )
        return self._map(X, score_outliers, self._block_model(), dtype=np.float64, name="outlier_score")

    def medoids(self, X: Any) -> Any:
        """Return the row nearest to the centre of each cluster, among the rows of the cluster.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows.

        Returns
        -------
        rows : ndarray of shape (n_clusters,), int64
            Row numbers in the order of the shards; -1 for a cluster without rows.
        """
        self._check_features(X)
        backend = choose_backend(self.engine, X, n_threads=self.n_threads)
        try:
            blocks = as_blocks(X, backend)
            model = backend.submit(identity, self._block_model())
            found = [
                backend.submit(medoids_of_block, one, model, place)
                for one, place in zip(blocks.references, blocks.places, strict=True)
            ]
            return combine_medoids(backend.get(found))
        finally:
            backend.close()

    def _block_model(self) -> Any:
        """Return the ordinary estimator for tasks, each of which has one block and uses one thread."""
        model = self.to_local(labels=False).set_params(n_threads=1, callback=None, checkpoint=None)
        model.__dict__.pop("feature_names_in_", None)  # Blocks are arrays.
        model.__dict__.pop("history_", None)
        return model

    def _check_features(self, X: Any) -> None:
        """Raise an error unless X has the features of the fit, as far as X states them.

        Blocks are arrays without names, so a task cannot check the names.
        """
        check_is_fitted(self, "_frame")
        n_expected = self.n_features_in_
        n_features = n_features_of(X)
        if n_features not in (None, n_expected):
            raise FeatureCountError(n_features, n_expected, type(self).__name__)
        names, known = feature_names_of(X, n_expected), getattr(self, "feature_names_in_", None)
        if names is not None and known is not None:
            check_feature_names(names, known, X.name if isinstance(X, Shards) else "X")

    def _map(self, X: Any, function: BlockFunction, model: Any, **options: Any) -> Any:
        """Call a function of a block and a model for each block of X, lazily if X is lazy."""
        self._check_features(X)
        backend = choose_backend(self.engine, X, n_threads=self.n_threads)
        try:
            return map_blocks(X, function, model, backend, **options)
        finally:
            backend.close()

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative inertia of X.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows.
        y : None
            Not used, present for API consistency.
        sample_weight : array, dask array or list of arrays, default=None
            Weight of each row.

        Returns
        -------
        score : float
            Minus the weighted sum of squared distances to the nearest centres.
        """
        self._check_features(X)
        backend = choose_backend(self.engine, X, n_threads=self.n_threads)
        try:
            blocks = as_blocks(X, backend)
            weights = weights_of_blocks(sample_weight, blocks, backend)
            own = [None] * len(blocks.references) if weights is None else weights
            model = backend.submit(identity, self._block_model())
            scores = [
                backend.submit(score_block, block, weight, model, place)
                for block, weight, place in zip(blocks.references, own, blocks.places, strict=True)
            ]
            return float(sum(backend.get(scores)))
        finally:
            backend.close()


def weights_of_blocks(sample_weight: Any, blocks: Blocks, backend: Backend) -> list[Reference] | None:
    """Return references to the weights of each block; None without weights."""
    if sample_weight is None:
        return None
    lengths = backend.get([backend.submit(n_rows_of, one) for one in blocks.references])
    return weight_references(sample_weight, blocks, lengths, backend)


def n_rows_of(block: Any) -> int:
    """Return the number of rows of a block."""
    return int(block.shape[0])


@naming_its_block
def predict_block(block: Any, model: tuple[Any, int | None]) -> Any:
    """Return the labels of a block."""
    fitted, n_candidates = model
    if block.shape[0] == 0:
        return np.empty(0, dtype=np.int32)
    return fitted.predict(block, n_candidates=n_candidates)


@naming_its_block
def transform_block(block: Any, model: Any) -> Any:
    """Return the distances of a block to all centres, in float64."""
    if block.shape[0] == 0:
        return np.empty((0, len(model.cluster_centers_)))
    return model.transform(block).astype(np.float64, copy=False)


@naming_its_block
def many_distances(block: Any, model: tuple[Any, int, int | None]) -> Any:
    """Return the distances of a block to the nearest clusters, in float64."""
    fitted, m, n_candidates = model
    if block.shape[0] == 0:
        return np.empty((0, m))
    return fitted.predict_many(block, m, n_candidates=n_candidates)[0].astype(np.float64, copy=False)


@naming_its_block
def many_labels(block: Any, model: tuple[Any, int, int | None]) -> Any:
    """Return the numbers of the nearest clusters of a block."""
    fitted, m, n_candidates = model
    if block.shape[0] == 0:
        return np.empty((0, m), dtype=np.int32)
    return fitted.predict_many(block, m, n_candidates=n_candidates)[1]


@naming_its_block
def score_outliers(block: Any, model: Any) -> Any:
    """Return the outlier scores of a block."""
    return np.empty(0) if block.shape[0] == 0 else model.outlier_scores(block)


@naming_its_block
def medoids_of_block(block: Any, model: Any) -> tuple[int, Any, Any]:
    """Return the number of rows of a block, its row nearest to each centre, and their distances."""
    k = len(model.cluster_centers_)
    rows, best = np.full(k, -1, dtype=np.int64), np.full(k, np.inf)
    if block.shape[0]:
        for labels, distances in model.predict_batches(block):
            clusters, nearest_rows = first_by_cluster(labels, distances)
            rows[clusters], best[clusters] = nearest_rows, distances[nearest_rows]
    return block.shape[0], rows, best


def combine_medoids(found: Sequence[tuple[int, Any, Any]]) -> NDArray[np.int64]:
    """Return the medoids of all blocks. The first of several rows at the same distance wins."""
    _, rows, best = found[0]
    begin = 0
    for n_rows, own, distances in found:
        better = (own >= 0) & ((distances < best) | (rows < 0))
        rows = np.where(better, begin + own, rows)
        best = np.where(better, distances, best)
        begin += n_rows
    return np.asarray(rows)


@naming_its_block
def score_block(block: Any, weights: Any, model: Any) -> float:
    """Return the negative inertia of a block."""
    if block.shape[0] == 0 or (weights is not None and not np.any(weights)):
        return 0.0
    return float(model.score(block, sample_weight=weights))
