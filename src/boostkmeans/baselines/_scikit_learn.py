"""Base class and conversions for the baselines that wrap scikit-learn."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from threadpoolctl import threadpool_limits

from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.baselines._baseline import Baseline


class ScikitLearnBaseline(Baseline):
    """Base class of the baselines that wrap scikit-learn. They support row weights."""

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. None means equal weights.

        Returns
        -------
        object
            The fitted estimator.
        """
        return self._fit(X, sample_weight)

    def _limited_threads(self) -> AbstractContextManager[Any]:
        """Return a context in which scikit-learn uses `n_threads`, or its own default for None."""
        if self.n_threads is None:
            return nullcontext()
        limited: AbstractContextManager[Any] = threadpool_limits(resolve_threads(self.n_threads))
        return limited


def for_scikit_learn(array: Any) -> Any:
    """Convert rows to a type that scikit-learn's k-means supports.

    Values become float64 or float32, indices of sparse rows int32. Types smaller than float32 become
    float32, which represents them exactly and needs half the memory of float64.
    """
    rows = array if array.dtype in (np.float64, np.float32) else array.astype(np.float32)
    if sparse.issparse(rows) and rows.indices.dtype != np.int32 and rows.nnz < 2**31:
        indices, indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = sparse.csr_array((rows.data, indices, indptr), shape=rows.shape)
    return rows
