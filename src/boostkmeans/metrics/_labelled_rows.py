"""Cluster sums and squared distances to centres, computed directly from X in float64.

X is a NumPy array, or CSR without duplicate entries. It is converted to float64 in blocks. Sparse rows
are never converted to dense rows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Floats

# Values of X converted at a time: 32 MB of float64.
BLOCK_VALUES = 2**22
# Precision of the coarse part of a square, in bits relative to the squared norm of the centre. Up to
# 2**31 coarse parts, each rounded up by at most half a unit, add up exactly in the 53 bits of a float64.
COARSE_BITS = 50
# Sums of squares of larger values may be beyond float64.
LARGE = 2.0**400

Numbers = NDArray[np.int64]


def squared_gaps(rows: Any, numbers: NDArray[np.integer[Any]], centres: Floats) -> Floats:
    """Return the squared distance of each row to its centre, `centres[numbers]`; inf beyond float64."""
    result = np.empty(rows.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        norms = _SquaredNorms.of(centres) if sparse.issparse(rows) else None
        for block in _blocks(rows):
            some, own = rows[block], numbers[block]
            result[block] = (
                ((some.astype(np.float64) - centres[own]) ** 2).sum(axis=1)
                if norms is None
                else _sparse_gaps(some, own, centres, norms)
            )
    result[np.isnan(result)] = np.inf  # Sums of the rows of a cluster were beyond float64.
    return result


@dataclass(frozen=True)
class _SquaredNorms:
    """Squared norm of each centre, in two parts that can be subtracted without cancellation.

    Each square is split into a multiple of a unit and a small remainder. Sums of the multiples are
    exact. ``|c|^2`` minus the squares of some columns is therefore accurate, even if the result is
    1e-25 times ``|c|^2``.

    Large centres are multiplied by a factor first, so that their squares do not overflow.
    """

    factors: Floats
    """A power of two for each centre: 1 for nearly all data."""
    units: Floats
    coarse: Floats
    fine: Floats

    @classmethod
    def of(cls, centres: Floats) -> Self:
        largest = np.maximum(centres.max(axis=1, initial=0.0), -centres.min(axis=1, initial=0.0))
        factors = np.where(largest > LARGE, np.ldexp(1.0, -np.frexp(largest)[1]), 1.0)
        smallest = np.finfo(np.float64).tiny
        units, sums = np.empty(len(centres)), np.empty((2, len(centres)))
        # One centre at a time: the squares of all centres would need as much memory as the centres.
        for i, centre in enumerate(centres):
            squares = (centre * factors[i]) ** 2
            units[i] = max(math.ldexp(1.0, math.frexp(squares.sum())[1] - COARSE_BITS), smallest)
            sums[:, i] = [part.sum() for part in _split(squares, units[i])]
        return cls(factors, units, *sums)


def _split(squares: Floats, units: Any) -> tuple[Floats, Floats]:
    """Split squares into multiples of the units (powers of 2) and remainders, without rounding."""
    coarse = np.rint(squares / units) * units
    return coarse, squares - coarse


def _sparse_gaps(
    rows: Any, numbers: NDArray[np.integer[Any]], centres: Floats, norms: _SquaredNorms
) -> Floats:
    """Add (x - c)^2 over the stored entries of x, and c^2 over all other columns.

    The second sum is the squared norm of c minus its squares at the stored entries.
    """
    n_rows = rows.shape[0]
    row_of = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
    centre_of = numbers[row_of]
    factors = norms.factors[centre_of]
    at_entries = centres[centre_of, rows.indices] * factors
    coarse, fine = _split(at_entries**2, norms.units[centre_of])
    inside, coarse_sums, fine_sums = (
        np.bincount(row_of, weights=terms, minlength=n_rows)
        for terms in ((rows.data.astype(np.float64) * factors - at_entries) ** 2, coarse, fine)
    )
    outside = (norms.coarse[numbers] - coarse_sums) + (norms.fine[numbers] - fine_sums)
    by_row = norms.factors[numbers]
    gaps: Floats = (inside + np.maximum(outside, 0.0)) / by_row / by_row
    return gaps


def cluster_sums(
    rows: Any, numbers: Numbers, n_clusters: int, weights: Floats | None
) -> tuple[Floats, Floats]:
    """Return the weighted sum of the rows and the total weight of each cluster.

    The sums are the product of the (n_clusters, n_samples) indicator matrix of the labels with X.
    """
    weights = np.ones(rows.shape[0]) if weights is None else weights
    sums = np.zeros((n_clusters, rows.shape[1]))
    for block in _blocks(rows):
        some, own = rows[block], numbers[block]
        indicator = sparse.csr_array(
            (weights[block], (own, np.arange(len(own)))), shape=(n_clusters, len(own))
        )
        product = indicator @ some.astype(np.float64)
        sums += product.toarray() if sparse.issparse(product) else product
    totals: Floats = np.bincount(numbers, weights=weights, minlength=n_clusters).astype(np.float64)
    return sums, totals


def _blocks(rows: Any) -> Iterator[slice]:
    """Yield ranges of rows with about `BLOCK_VALUES` values each."""
    n_rows, n_features = rows.shape
    n_values = rows.nnz if sparse.issparse(rows) else n_rows * n_features
    step = max(1, BLOCK_VALUES * n_rows // max(1, n_values))
    for begin in range(0, n_rows, step):
        yield slice(begin, min(begin + step, n_rows))
