"""Centre model: methods of all estimators with centres (`predict`, `transform`, `score`, `save`)."""

import os
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from boostkmeans import _core
from boostkmeans._data.frame import Array, Floats, Frame
from boostkmeans._data.row_source import RowSource, in_batches
from boostkmeans._data.rows import ROWS_AT_ONCE, Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.assignment import Assignment
from boostkmeans._estimators.fitted_views import FittedViews
from boostkmeans._estimators.input import RowInput
from boostkmeans._estimators.model_layout import CENTRE_MODEL
from boostkmeans._estimators.to_sklearn import as_scikit_learn
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import distances_to_assigned, nearest
from boostkmeans._steps.neighbours import CandidateSearch
from boostkmeans._steps.partition import Labels
from boostkmeans._storage.model_format import ModelLayout, read_model, write_model


class CentreModel(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Assignment, FittedViews, RowInput
):
    """Base class of the estimators, which have `cluster_centers_` and a frame once fitted."""

    _made_by_fit = "_frame"
    _layout: ClassVar[ModelLayout] = CENTRE_MODEL
    _model_name: ClassVar[str]
    """Name of the class in model files. Each class that can be saved sets it."""

    n_threads: int | None
    cluster_centers_: Floats
    cluster_sizes_: NDArray[np.int64]
    labels_: Labels
    inertia_: float
    n_iter_: int
    history_: list[SweepRecord]
    _frame: Frame

    def predict(self, X: ArrayLike, *, n_candidates: int | None = None) -> Labels:
        """Return the nearest centre of each row. Ties go to the centre with the lower index.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to assign.
        n_candidates : int, default=None
            Number of centres that a row is compared with. They are those around the group of centres
            nearest to the row. By default, a row is compared with all centres, and the result is exact.
            For many rows and clusters, candidates are many times faster. "Assignment of new rows" in
            docs/benchmarks.md reports how often they find the nearest centre.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            Index of the cluster of each row.
        """
        found = [labels for _, _, labels, _ in self._nearest(X, n_candidates)]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def predict_batches(
        self, X: ArrayLike, *, n_candidates: int | None = None
    ) -> Iterator[tuple[Labels, Floats]]:
        """Yield the labels of rows in batches, and their distances to the assigned centres.

        Rows from `boostkmeans.io.open_vectors` are read batch by batch. Other rows are a single batch.

        Parameters
        ----------
        X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
            Rows to assign.
        n_candidates : int, default=None
            As in `predict`.

        Yields
        ------
        labels : ndarray of int32
            Index of the cluster of each row of the batch.
        distances : ndarray of float64
            Distance of each row to the centre of its cluster.
        """
        for rows, centres, labels, gaps in self._nearest(X, n_candidates):
            if gaps is None:
                gaps, _ = distances_to_assigned(rows, centres, labels, resolve_threads(self.n_threads))
            yield labels, self._distances(gaps)

    def score(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative inertia of X.

        Parameters
        ----------
        X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
            Rows.
        y : None
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. By default all weights are 1.

        Returns
        -------
        score : float
            Minus the weighted sum of squared distances to the nearest centres.
        """
        weights, total, begin = None, 0.0, 0
        for rows, centres, threads in self._batches(X):
            if weights is None:
                n = X.shape[0] if isinstance(X, RowSource) else rows.n_rows
                weights = RowWeights.of(sample_weight, n)
            _, gaps = nearest(rows, centres, threads)
            total += weights.total_of(gaps, slice(begin, begin + rows.n_rows))
            begin += rows.n_rows
        return -self._frame.inertia(total)

    def transform(self, X: ArrayLike) -> Array:
        """Return the distances of each row to all centres.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            Distances, in float32 for float32 input, else in float64.
        """
        check_is_fitted(self, "_frame")
        array = self._validate(X, reset=False)
        threads = resolve_threads(self.n_threads)
        dtype = np.float32 if array.dtype == np.float32 else np.float64
        n = array.shape[0]
        result = np.empty((n, len(self.cluster_centers_)), dtype=dtype)
        for begin in range(0, n, ROWS_AT_ONCE):
            batch = array[begin : begin + ROWS_AT_ONCE]
            distances = np.empty((batch.shape[0], result.shape[1]))
            rows = Rows.in_frame(batch, self._frame, threads, first_row=begin)
            # Some batches of a sparse matrix may stay sparse while others are expanded.
            centres = rows.frame.enter(self.cluster_centers_)
            _core.distances(rows.core, centres, distances, threads)
            np.sqrt(distances, out=distances)
            with np.errstate(over="ignore"):  # Distances beyond the type are infinite.
                result[begin : begin + len(distances)] = np.ldexp(distances, -self._frame.exponent)
        return result

    def save(self, path: str | os.PathLike[str], *, labels: bool = True) -> None:
        """Write the fitted estimator to a file in the safetensors format.

        An existing file is replaced atomically: after a crash, the old or the new file is complete. A
        callback, a RandomState and a callable `init` are not stored.

        Parameters
        ----------
        path : path
            Name of the file.
        labels : bool, default=True
            Whether to store `labels_`. Without them, the size of the file does not depend on the number
            of rows, and the loaded estimator cannot `cut` its tree.
        """
        write_model(self, path, labels=labels)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load an estimator of this class that `save` wrote to a file.

        The loaded estimator gives exactly the same results as the saved one. Nothing in the file is
        executed. Use `boostkmeans.load_model` to load an estimator of any class.

        Parameters
        ----------
        path : path
            Name of the file.

        Returns
        -------
        model : estimator
            The fitted estimator.

        Raises
        ------
        DataFormatError
            If the file is damaged, or stores an estimator of another class.
        """
        return read_model(cls, path)

    def to_sklearn(self, *, dtype: DTypeLike = np.float64) -> Any:
        """Return a fitted `sklearn.cluster.KMeans` with the same centres.

        It predicts the same labels, except for rows that are equally near to two centres up to rounding.

        Parameters
        ----------
        dtype : dtype, default=float64
            Type of the rows to predict: float64 or float32. scikit-learn needs centres of the same type.

        Returns
        -------
        model : KMeans or Pipeline
            A copy of the centres. With metric="cosine", a pipeline of `Normalizer` and `KMeans`.
        """
        return as_scikit_learn(self, dtype)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ParameterError for an invalid parameter."""

    def _batches(self, X: Any) -> Iterator[tuple[Rows, Floats, int]]:
        """Yield rows and centres in the frame, and the number of threads, in batches if X is a file."""
        if not isinstance(X, RowSource) or X.is_sparse or X.shape[0] == 0:
            yield self._rows_and_centres(X)
            return
        check_is_fitted(self, "_frame")
        self._validate_source(X, reset=False, whole=False)
        threads = resolve_threads(self.n_threads)
        centres = self._frame.enter(self.cluster_centers_)
        for begin, array in in_batches(X, at_least=centres.nbytes):
            yield Rows.in_frame(array, self._frame, threads, first_row=begin), centres, threads

    def _nearest(
        self, X: Any, n_candidates: int | None
    ) -> Iterator[tuple[Rows, Floats, Labels, Floats | None]]:
        """Yield rows, centres, labels and, if they are known, squared distances in the frame."""
        if n_candidates is not None:
            ParameterChecker(self).integer("n_candidates", n_candidates, 1)
        search = None
        for rows, centres, threads in self._batches(X):
            if n_candidates is None:
                yield rows, centres, *nearest(rows, centres, threads)
            else:
                search = search or CandidateSearch(centres, n_candidates, threads)
                yield rows, centres, search.nearest(rows), None

    def _rows_and_centres(self, X: ArrayLike) -> tuple[Rows, Floats, int]:
        """Return rows and centres in the frame, and the number of threads."""
        check_is_fitted(self, "_frame")
        array = self._validate(X, reset=False)
        threads = resolve_threads(self.n_threads)
        rows = Rows.in_frame(array, self._frame, threads)
        return rows, rows.frame.enter(self.cluster_centers_), threads

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
