"""What every estimator with centres can do once it is fitted: predict, transform, score, save."""

import os
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from boostkmeans import _core
from boostkmeans._data.rows import ROWS_AT_ONCE, Array, Floats, Frame, Rows
from boostkmeans._data.streamed_rows import RowSource, in_batches
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.input import RowInput
from boostkmeans._estimators.model_layout import CENTRE_MODEL
from boostkmeans._estimators.to_sklearn import as_scikit_learn
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.neighbours import CandidateSearch
from boostkmeans._steps.partition import Labels, nearest, own_distances
from boostkmeans._storage.model_format import ModelLayout, read_model, write_model


class CentreModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, RowInput):
    """Base of the estimators. A fitted one has `cluster_centers_` and the frame of its data."""

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
        """The nearest centre of each row, exactly; of equally near ones the first.

        With `n_candidates`, rows look at about so many centres alone: those around the group of centres
        that is nearest to them. For many rows and clusters this is many times faster. How often it finds
        the same is measured in "Assignment of new rows" of docs/benchmarks.md.
        """
        found = [labels for _, _, labels, _ in self._nearest(X, n_candidates)]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def predict_batches(
        self, X: ArrayLike, *, n_candidates: int | None = None
    ) -> Iterator[tuple[Labels, Floats]]:
        """The labels of some rows after the other, and their distances to the centres of these.

        For rows in a file that `boostkmeans.io.open_vectors` gave: no more of them than a batch is in
        memory, and nothing is kept. Other rows are one batch. Labels are those of `predict`.
        """
        for rows, centres, labels, gaps in self._nearest(X, n_candidates):
            if gaps is None:
                gaps, _ = own_distances(rows, centres, labels, resolve_threads(self.n_threads))
            with np.errstate(over="ignore"):  # infinite is right where float64 holds no more
                yield labels, np.ldexp(np.sqrt(gaps), -self._frame.exponent)

    def score(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the inertia of X: its sum of squared distances to the nearest centres, weighted."""
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
        """Distances of each row to all centres, in float64, or in float32 for float32 input."""
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
            # Of a sparse matrix, some batches may stay sparse and others not.
            centres = rows.frame.enter(self.cluster_centers_)
            _core.distances(rows.core, centres, distances, threads)
            np.sqrt(distances, out=distances)
            with np.errstate(over="ignore"):  # infinite is right where the type holds no more
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

        The loaded estimator gives the same results as the saved one, to the last bit. Nothing in the
        file is executed. Use `boostkmeans.load_model` to load an estimator of any class.

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
        """A fitted `sklearn.cluster.KMeans` with the same centres; it shares no memory with this one.

        With metric="cosine", it is a fitted pipeline of `Normalizer` and `KMeans`. `dtype` is that of
        the rows it is for: scikit-learn's k-means wants centres of the same type, float64 or float32.
        It predicts the same, but for rows that are equally near to two centres up to rounding.
        """
        return as_scikit_learn(self, dtype)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as it should be."""

    def _batches(self, X: Any) -> Iterator[tuple[Rows, Floats, int]]:
        """Rows and centres in the frame, and the number of threads: for all rows, or if they are in a
        file for some of them at a time.
        """
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
        """Rows, centres, labels, and squared distances in the frame if they are known, by batches."""
        if n_candidates is not None:
            ParameterChecker(self).integer("n_candidates", n_candidates, 1)
        search = None
        for rows, centres, threads in self._batches(X):
            if n_candidates is None:
                yield rows, centres, *nearest(rows, centres, threads)
            else:
                search = search or CandidateSearch(centres, n_candidates, threads)  # of all batches
                yield rows, centres, search.nearest(rows), None

    def _rows_and_centres(self, X: ArrayLike) -> tuple[Rows, Floats, int]:
        """Rows and centres in the frame, and the number of threads."""
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
