"""Stacking: several sets of rows as one array that the core can read."""

from typing import Any

import numpy as np
from scipy import sparse

from boostkmeans._data.frame import Array
from boostkmeans._data.rows import DTYPES, SPARSE_DTYPES, canonical


def same_kind(a: Any, b: Any) -> tuple[Any, Any]:
    """Return both arrays as CSR matrices if one of them is sparse."""
    if sparse.issparse(a) or sparse.issparse(b):
        return sparse.csr_array(a), sparse.csr_array(b)
    return a, b


def stack_rows(a: Array, b: Array) -> Array:
    """Return the rows of `a`, followed by those of `b`, in a type that holds both."""
    a, b = same_kind(a, b)
    common = np.result_type(a.dtype, b.dtype)
    is_sparse = sparse.issparse(a)
    dtype = common if common in (SPARSE_DTYPES if is_sparse else DTYPES) else np.dtype(np.float64)
    if is_sparse:
        return canonical(sparse.vstack([a.astype(dtype), b.astype(dtype)], "csr"))  # type: ignore[no-any-return]
    return np.concatenate([a, b], dtype=dtype)
