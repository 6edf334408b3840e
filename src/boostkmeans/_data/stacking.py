"""Stacking: several sets of rows as one array that the core can read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Array
from boostkmeans._data.rows import DTYPES, SPARSE_DTYPES, canonical


def same_kind(a: Any, b: Any) -> tuple[Any, Any]:
    """Return both arrays as CSR matrices if one of them is sparse."""
    if sparse.issparse(a) or sparse.issparse(b):
        return sparse.csr_array(a), sparse.csr_array(b)
    return a, b


def stack_rows(a: Array, b: Array | None, chosen: NDArray[np.int64] | None = None) -> Array:
    """Return the rows of `a`, followed by those of `b`, in a type that holds both.

    `chosen` are the numbers of the rows of `a` to take. By default, these are all rows.
    """
    if b is None:
        return a if chosen is None else a[chosen]
    a, b = same_kind(a, b)
    common = np.result_type(a.dtype, b.dtype)
    is_sparse = sparse.issparse(a)
    dtype = common if common in (SPARSE_DTYPES if is_sparse else DTYPES) else np.dtype(np.float64)
    if is_sparse:
        a = a if chosen is None else a[chosen]
        return canonical(sparse.vstack([a.astype(dtype), b.astype(dtype)], "csr"))  # type: ignore[no-any-return]
    if chosen is None:
        return np.concatenate([a, b], dtype=dtype)
    stacked = np.empty((len(chosen) + len(b), a.shape[1]), dtype=dtype)
    if a.dtype == dtype:  # Without a copy: "clip" lets NumPy write to the result directly.
        np.take(a, chosen, axis=0, out=stacked[: len(chosen)], mode="clip")
    else:
        stacked[: len(chosen)] = a[chosen]
    stacked[len(chosen) :] = b
    return stacked
