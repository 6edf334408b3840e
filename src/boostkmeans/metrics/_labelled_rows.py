"""Rows with labels: sums of clusters and distances to centres, straight from X, in float64.

X is a NumPy array or CSR without repeated entries. It is converted piece by piece, and never made dense.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.rows import Floats

# Values of X that are converted at a time: 32 MB.
VALUES_AT_ONCE = 2**22
# Bits of a centre's squared length in the coarse parts of squares. Up to 2**31 of them, each rounded up
# by half a unit at most, still add up without rounding in the 53 bits of a float64.
COARSE_BITS = 50

Numbers = NDArray[np.int64]


def squared_gaps(rows: Any, numbers: NDArray[np.integer[Any]], centres: Floats) -> Floats:
    """Squared distance of each row to the centre of its number. `rows` is an array or CSR."""
    result = np.empty(rows.shape[0])
    lengths = _SquaredLengths.of(centres) if sparse.issparse(rows) else None
    for piece in _pieces(rows):
        some, own = rows[piece], numbers[piece]
        result[piece] = (
            ((some.astype(np.float64) - centres[own]) ** 2).sum(axis=1)
            if lengths is None
            else _sparse_gaps(some, own, centres, lengths)
        )
    return result


@dataclass(frozen=True)
class _SquaredLengths:
    """Sums of c^2 for each centre, in two parts whose differences lose nothing.

    Squares are split into multiples of a unit, whose sums are exact, and what is left of them, which is
    tiny. So |c|^2 minus the squares of some columns is the sum over the others, even if that is 1e-25
    of it.
    """

    units: Floats
    coarse: Floats
    fine: Floats

    @classmethod
    def of(cls, centres: Floats) -> Self:
        _, exponents = np.frexp(np.einsum("ij,ij->i", centres, centres))
        smallest = np.finfo(np.float64).tiny
        units = np.maximum(np.ldexp(1.0, exponents - COARSE_BITS), smallest)
        sums = np.empty((2, len(centres)))
        for i, centre in enumerate(centres):  # one by one, as all their squares take as much as they do
            sums[:, i] = [part.sum() for part in _split(centre**2, units[i])]
        return cls(units, *sums)


def _split(squares: Floats, units: Any) -> tuple[Floats, Floats]:
    """Multiples of the units, which are powers of 2, and the rest: both without rounding."""
    coarse = np.rint(squares / units) * units
    return coarse, squares - coarse


def _sparse_gaps(
    rows: Any, numbers: NDArray[np.integer[Any]], centres: Floats, lengths: _SquaredLengths
) -> Floats:
    """The sum of (x-c)^2 over the entries of x, and of c^2 elsewhere. Only the entries are looked at."""
    n_rows = rows.shape[0]
    row_of = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
    centre_of = numbers[row_of]
    at_entries = centres[centre_of, rows.indices]
    coarse, fine = _split(at_entries**2, lengths.units[centre_of])
    inside, coarse_sums, fine_sums = (
        np.bincount(row_of, weights=terms, minlength=n_rows)
        for terms in ((rows.data.astype(np.float64) - at_entries) ** 2, coarse, fine)
    )
    outside = (lengths.coarse[numbers] - coarse_sums) + (lengths.fine[numbers] - fine_sums)
    return np.asarray(inside + np.maximum(outside, 0.0))


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
