"""Rows with labels: sums of clusters and distances to centres, straight from X, in float64.

X is a NumPy array or CSR without repeated entries. It is converted piece by piece, and never made dense.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._rows import Floats

# Values of X that are converted at a time: 32 MB.
VALUES_AT_ONCE = 2**22

Numbers = NDArray[np.int64]


def squared_gaps(rows: Any, numbers: NDArray[np.integer[Any]], centres: Floats) -> Floats:
    """Squared distance of each row to the centre of its number. `rows` is an array or CSR."""
    result = np.empty(rows.shape[0])
    norms = np.einsum("ij,ij->i", centres, centres)
    for piece in _pieces(rows):
        some, own = rows[piece], numbers[piece]
        result[piece] = (
            _sparse_gaps(some, own, centres, norms)
            if sparse.issparse(rows)
            else ((some.astype(np.float64) - centres[own]) ** 2).sum(axis=1)
        )
    return result


def _sparse_gaps(rows: Any, numbers: NDArray[np.integer[Any]], centres: Floats, norms: Floats) -> Floats:
    """|x-c|^2 = |c|^2 + the sum of (x-c)^2 - c^2 over the entries of x: only these are looked at."""
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    at_entries = centres[numbers[row_of], rows.indices]
    terms = (rows.data.astype(np.float64) - at_entries) ** 2 - at_entries**2
    gaps = np.bincount(row_of, weights=terms, minlength=rows.shape[0]) + norms[numbers]
    return np.asarray(np.maximum(gaps, 0.0))


def cluster_sums(
    rows: Any, numbers: Numbers, n_clusters: int, weights: Floats | None
) -> tuple[Floats, Floats]:
    """Sum of the rows of each cluster, and its weight: a product with the indicator of labels."""
    weights = np.ones(rows.shape[0]) if weights is None else weights
    sums = np.zeros((n_clusters, rows.shape[1]))
    for piece in _pieces(rows):
        some, own = rows[piece], numbers[piece]
        indicator = sparse.csr_array(
            (weights[piece], (own, np.arange(len(own)))), shape=(n_clusters, len(own))
        )
        product = indicator @ some.astype(np.float64)
        sums += product.toarray() if sparse.issparse(product) else product
    totals: Floats = np.bincount(numbers, weights=weights, minlength=n_clusters).astype(np.float64)
    return sums, totals


def _pieces(rows: Any) -> Iterator[slice]:
    """Ranges of rows that are small enough to be copied."""
    n_rows, n_features = rows.shape
    n_values = rows.nnz if sparse.issparse(rows) else n_rows * n_features
    step = max(1, VALUES_AT_ONCE * n_rows // max(1, n_values))
    for begin in range(0, n_rows, step):
        yield slice(begin, min(begin + step, n_rows))
