"""Assignment of rows to clusters beyond the nearest one: several clusters, medoids, outlier scores."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Array, Floats, Frame
from boostkmeans._data.rows import Rows
from boostkmeans._estimators.spread import relative_distances, spreads_for
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import ParameterChecker, integer
from boostkmeans._steps.nearest import nearest, nearest_many
from boostkmeans._steps.neighbours import CandidateSearch
from boostkmeans._steps.partition import Labels


class Assignment:
    """Methods of estimators with centres, for rows in memory and in files."""

    cluster_centers_: Floats
    cluster_spread_: Floats | None
    _frame: Frame

    @abstractmethod
    def _batches(self, X: Any) -> Iterator[tuple[Rows, Floats, int]]:
        """Yield rows and centres in the frame, and the number of threads, in batches if X is a file."""

    def predict_many(
        self, X: ArrayLike, m: int, *, n_candidates: int | None = None
    ) -> tuple[Array, Labels]:
        """Return the distances to and the numbers of the m nearest clusters of each row.

        The result is exact, and the first column of the labels equals `predict(X)`. Memory is needed for
        the result only, not for the distances to all centres.

        Parameters
        ----------
        X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
            Rows to assign.
        m : int
            Number of clusters per row, at most `n_clusters`.
        n_candidates : int, default=None
            Number of centres that a row is compared with, at least `m`, as in `predict`. By default, a
            row is compared with all centres. "The m nearest clusters" in docs/benchmarks.md reports
            which share of the nearest clusters is found.

        Returns
        -------
        distances : ndarray of shape (n_samples, m)
            Distances to the centres in ascending order, in float32 for float32 input, else in float64,
            as in `transform`.
        labels : ndarray of shape (n_samples, m), int32
            Indices of the clusters. Of two clusters at the same distance, the one with the lower index
            comes first.
        """
        found = list(self.predict_many_batches(X, m, n_candidates=n_candidates))
        if len(found) == 1:
            return found[0]
        distances, labels = zip(*found, strict=True)
        return np.concatenate(distances), np.concatenate(labels)

    def predict_many_batches(
        self, X: ArrayLike, m: int, *, n_candidates: int | None = None
    ) -> Iterator[tuple[Array, Labels]]:
        """Yield the results of `predict_many` in batches.

        Rows from `boostkmeans.io.open_vectors` are read batch by batch. Other rows are a single batch.

        Parameters
        ----------
        X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
            Rows to assign.
        m : int
            Number of clusters per row.
        n_candidates : int, default=None
            As in `predict_many`.

        Yields
        ------
        distances : ndarray of shape (n_rows, m)
            Distances of the rows of the batch to the centres in ascending order.
        labels : ndarray of shape (n_rows, m), int32
            Indices of the clusters.
        """
        self._check_many(m, n_candidates)
        search = None
        for rows, centres, n_threads in self._batches(X):
            if n_candidates is None:
                labels, gaps = nearest_many(rows, centres, int(m), n_threads)
            else:
                search = search or CandidateSearch(centres, n_candidates, n_threads, m=int(m))
                labels, gaps = search.nearest_many(rows, int(m))
            dtype = np.float32 if rows.dtype == np.float32 else np.float64
            with np.errstate(over="ignore"):  # Distances beyond the type are infinite.
                yield self._distances(gaps).astype(dtype, copy=False), labels

    def medoids(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the row nearest to the centre of each cluster, among the rows of the cluster.

        Parameters
        ----------
        X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
            Rows. Each row belongs to the cluster that `predict` returns.

        Returns
        -------
        rows : ndarray of shape (n_clusters,), int64
            Row numbers. Of several rows at the same distance, the first one is chosen. The value is -1
            for a cluster without rows.
        """
        best: Floats | None = None
        begin = 0
        for rows, centres, n_threads in self._batches(X):
            if best is None:
                best = np.full(len(centres), np.inf)
                found = np.full(len(centres), -1, dtype=np.int64)
            labels, gaps = nearest(rows, centres, n_threads)
            clusters, nearest_rows = first_by_cluster(labels, gaps)
            better = (gaps[nearest_rows] < best[clusters]) | (found[clusters] < 0)
            best[clusters[better]] = gaps[nearest_rows[better]]
            found[clusters[better]] = begin + nearest_rows[better]
            begin += rows.n_rows
        return found

    def outlier_scores(self, X: ArrayLike) -> Floats:
        """Return the distance of each row to its centre, relative to the spread of its cluster.

        The score of a row is ``|x - c| / s``, where c is the nearest centre and s, `cluster_spread_`, is
        the root mean squared distance of the rows of the cluster to c during the fit. A typical row has
        a score of about 1, whatever the size of its cluster. If all rows of a cluster lie on its centre,
        for example because there is only one, s is the root mean squared distance of all rows instead.

        Parameters
        ----------
        X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
            Rows of the fit, or new rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,), float64
            Scores: the higher, the more unusual. A model that was saved by version 0.12 or earlier has
            no spread. The spread of X is then used, with a warning.
        """
        spreads = spreads_for(self, X)
        found = []
        for rows, centres, n_threads in self._batches(X):
            labels, gaps = nearest(rows, centres, n_threads)
            found.append(relative_distances(self._distances(gaps), labels, spreads))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _distances(self, gaps: Floats) -> Floats:
        """Return distances in the user's unit, given squared distances in the frame."""
        with np.errstate(over="ignore"):  # Distances beyond float64 are infinite.
            return np.ldexp(np.sqrt(gaps), -self._frame.exponent)

    def _check_many(self, m: Any, n_candidates: Any) -> None:
        check_is_fitted(self, "_frame")
        k, owner = len(self.cluster_centers_), type(self).__name__
        if not integer(1).accepts(m) or m > k:
            expected = f"an int in the range [1, {k}] (the number of clusters)"
            raise ParameterError("m", expected, m, owner=owner)
        if n_candidates is None:
            return
        ParameterChecker(self).integer("n_candidates", n_candidates, 1)
        if n_candidates < m:
            expected = f"None or an int in the range [{m}, inf) (m)"
            raise ParameterError("n_candidates", expected, n_candidates, owner=owner)


def first_by_cluster(labels: Labels, distances: Floats) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the clusters that have rows, and the nearest row of each. The first of equal rows wins."""
    order = np.lexsort((distances, labels))  # It is stable.
    clusters, first = np.unique(labels[order], return_index=True)
    return clusters, order[first]
