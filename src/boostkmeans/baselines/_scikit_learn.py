"""What the baselines over scikit-learn share."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from threadpoolctl import threadpool_limits

from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.baselines._baseline import Baseline


class ScikitLearnBaseline(Baseline):
    """Base of the methods that scikit-learn has. They know row weights."""

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Clusters the rows of X. `y` is ignored, as scikit-learn's pipelines want it."""
        return self._fit(X, sample_weight)

    def _limited_threads(self) -> AbstractContextManager[Any]:
        """Within it, scikit-learn uses `n_threads`; if that is None, what it deems right."""
        if self.n_threads is None:
            return nullcontext()
        limited: AbstractContextManager[Any] = threadpool_limits(resolve_threads(self.n_threads))
        return limited


def for_scikit_learn(array: Any) -> Any:
    """Rows in a type that scikit-learn's k-means reads: float64 or float32, with 32-bit indices.

    float32 holds all that the smaller types hold, at half of the memory of float64.
    """
    rows = array if array.dtype in (np.float64, np.float32) else array.astype(np.float32)
    if sparse.issparse(rows) and rows.indices.dtype != np.int32 and rows.nnz < 2**31:
        indices, indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = sparse.csr_array((rows.data, indices, indptr), shape=rows.shape)
    return rows
