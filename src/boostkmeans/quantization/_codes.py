"""Codes of a product quantizer: from rows, back to rows, and search among them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans import _core
from boostkmeans._data.rows import Array, Floats, Frame, Rows, describe
from boostkmeans._runtime.instruction_set import instruction_set

Codes = NDArray[Any]
"""(n, m), uint8 or uint16."""
Codebooks = NDArray[np.float32]
"""(m, centroids, features of a subspace)."""

# What fits into a code.
MOST_CENTROIDS = 2**16
# Rows that are decoded at a time.
ROWS_AT_ONCE = 2**16
# Bytes of tables that queries search with at a time.
TABLE_BYTES = 2**26


class Neighbors(NamedTuple):
    """What a search found, nearest first; of equally near ones, the first come first."""

    distances: NDArray[Any]
    """(queries, k): squared."""
    indices: NDArray[np.int64]
    """(queries, k): numbers of rows."""


def code_type(n_centroids: int) -> type[np.unsignedinteger[Any]]:
    """The smallest that holds all codes."""
    return np.uint8 if n_centroids <= 2**8 else np.uint16


class Subspace(NamedTuple):
    """The centroids of a subspace, in the frame that suits them."""

    columns: slice
    frame: Frame
    centres: Floats

    @classmethod
    def all_of(cls, codebooks: Codebooks) -> list["Subspace"]:
        """One for each codebook."""
        width = codebooks.shape[2]
        found = []
        for number, codebook in enumerate(codebooks):
            frame = Rows.in_own_frame(codebook, "euclidean", 1).frame
            columns = slice(number * width, (number + 1) * width)
            found.append(cls(columns, frame, frame.enter(codebook.astype(np.float64))))
        return found

    def rows(self, array: Array) -> Rows:
        """This part of some rows, which are finite."""
        return Rows(array[:, self.columns], self.frame, None)


def checked(codes: ArrayLike, codebooks: Codebooks) -> Codes:
    """Codes as the core reads them, not copied if they are so. Raises where they are none of these."""
    m, n_centroids, _ = codebooks.shape
    array = np.asarray(codes)
    if array.ndim != 2 or array.shape[1] != m or array.dtype.kind not in "iu":
        raise ValueError(
            f"Codes should be integers of shape (n, {m}), as encode gives them. Got {array.dtype} "
            f"of shape {array.shape}."
        )
    if array.size and (array.min() < 0 or array.max() >= n_centroids):
        raise ValueError(f"Codes should lie in [0, {n_centroids}). Got {array.min()} to {array.max()}.")
    return np.ascontiguousarray(array, dtype=code_type(n_centroids))


def encode(array: Array, codebooks: Codebooks, n_threads: int, first_row: int = 0) -> Codes:
    """The nearest centroids of rows; of equally near ones, the first. Raises where one is not finite."""
    describe(array, None, n_threads, first_row)
    subspaces = Subspace.all_of(codebooks)
    codes = np.empty((len(array), len(codebooks)), dtype=code_type(codebooks.shape[1]))
    if len(array):
        parts = [subspace.rows(array).core for subspace in subspaces]
        centres = np.stack([subspace.centres for subspace in subspaces])
        _core.encode(parts, centres, codes, n_threads)
    return codes


def decode(codes: Codes, codebooks: Codebooks) -> NDArray[np.float32]:
    """The centroids that codes name, side by side."""
    n, (m, _, width) = len(codes), codebooks.shape
    rows = np.empty((n, m * width), dtype=np.float32)
    for begin in range(0, n, ROWS_AT_ONCE):
        batch = codes[begin : begin + ROWS_AT_ONCE]
        for number, codebook in enumerate(codebooks):
            rows[begin : begin + len(batch), number * width : (number + 1) * width] = codebook[
                batch[:, number]
            ]
    return rows


def errors(array: Array, codes: Codes, codebooks: Codebooks) -> Floats:
    """The squared distance of each row to what its code stands for."""
    found = np.empty(len(array))
    for begin in range(0, len(array), ROWS_AT_ONCE):
        end = begin + ROWS_AT_ONCE
        gaps = array[begin:end].astype(np.float64) - decode(codes[begin:end], codebooks)
        found[begin:end] = np.einsum("ij,ij->i", gaps, gaps)
    return found


def tables_to(array: Array, codebooks: Codebooks, n_threads: int) -> NDArray[np.float32]:
    """Squared distances of the parts of each row to all centroids: (n, m, centroids)."""
    describe(array, None, n_threads)
    m, n_centroids, _ = codebooks.shape
    tables = np.empty((len(array), m, n_centroids), dtype=np.float32)
    for number, subspace in enumerate(Subspace.all_of(codebooks)):
        rows = subspace.rows(array)
        distances = np.empty((len(array), n_centroids))
        _core.distances(rows.core, subspace.centres, distances, n_threads)
        with np.errstate(over="ignore"):  # infinite is right where float32 holds no more
            tables[:, number] = np.ldexp(distances, -2 * subspace.frame.exponent)
    return tables


def queries_at_once(codebooks: Codebooks) -> int:
    """How many queries have tables at the same time."""
    m, n_centroids, _ = codebooks.shape
    return max(1, TABLE_BYTES // int(m * n_centroids * 4))


def search(tables: NDArray[np.float32], codes: Codes, k: int, n_threads: int) -> Neighbors:
    """The k codes with the smallest sums of what the tables say, for each query."""
    indices = np.empty((len(tables), k), dtype=np.int64)
    distances = np.empty((len(tables), k), dtype=np.float32)
    if len(tables):
        _core.search_codes(
            np.ascontiguousarray(tables), codes, indices, distances, instruction_set(), n_threads
        )
    return Neighbors(distances, indices)
