"""Base class and conversions for the baselines that wrap scikit-learn."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.baselines._baseline import WeightedBaseline


class ScikitLearnBaseline(WeightedBaseline):
    """Base class of the baselines that wrap scikit-learn."""

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
