"""Columns of the matrix of a corpus that have values."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans.documents._corpus import Corpus

# Maximum number of columns for which an array with one entry per column is allocated (128 MB). For wider
# matrices, the column indices are sorted instead.
MAX_COUNTERS = 1 << 24


def used_columns(matrix: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns that have values, and the index among these of the column of each value."""
    if matrix.shape[1] > MAX_COUNTERS:
        columns, places = np.unique(matrix.indices, return_inverse=True)
        return columns, places
    used = np.zeros(matrix.shape[1], dtype=bool)
    used[matrix.indices] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[matrix.indices]


def restrict(
    matrix: csr_array, places: NDArray[np.int64], numbers: NDArray[np.int32], n_columns: int
) -> csr_array:
    """Return the matrix with some of its used columns, under new numbers.

    `numbers` has the new number of each used column, and -1 for columns that are left out.
    """
    indices = numbers[places]
    stays = indices >= 0
    starts = np.concatenate([[0], np.cumsum(stays)])[matrix.indptr]
    rows = csr_array((matrix.data[stays], indices[stays], starts), shape=(matrix.shape[0], n_columns))
    rows.sum_duplicates()
    return rows


def column_names(corpus: Corpus, columns: NDArray[np.int64]) -> list[str]:
    """Return the names of some columns of a matrix, which are numbers if the names are unknown."""
    numbers = columns.tolist()
    if corpus.terms is None:
        return [f"column {number + corpus.first_column}" for number in numbers]
    return [corpus.terms[number] for number in numbers]
