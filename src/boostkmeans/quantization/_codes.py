"""Codes of a product quantizer: encoding, decoding and search."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Array, Floats, Frame
from boostkmeans._data.rows import Rows, describe
from boostkmeans._runtime.instruction_set import instruction_set
from boostkmeans.quantization._neighbors import Neighbors

Codes = NDArray[Any]
"""Array of shape (n, n_subspaces), uint8 or uint16."""
Codebooks = NDArray[np.float32]
"""Array of shape (n_subspaces, n_centroids, subspace width)."""

MAX_CENTROIDS = 2**16
"""Maximum number of centroids per subspace: codes are at most uint16."""
# Rows decoded at a time, to bound the temporary arrays.
ROWS_PER_BLOCK = 2**16
# Memory for the distance tables of one batch of queries, in bytes.
TABLE_BYTES = 2**26


def code_type(n_centroids: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest unsigned integer type that holds all centroid numbers.

    Parameters
    ----------
    n_centroids : int
        Number of centroids per subspace.

    Returns
    -------
    type
        ``np.uint8`` for up to 256 centroids, ``np.uint16`` otherwise.
    """
    return np.uint8 if n_centroids <= 2**8 else np.uint16


def check_codes(codes: ArrayLike, codebooks: Codebooks) -> Codes:
    """Check that codes match the codebooks, and return them in the type that the core reads.

    Parameters
    ----------
    codes : array-like of shape (n, n_subspaces)
        Codes, as `ProductQuantizer.encode` returns them.
    codebooks : ndarray of shape (n_subspaces, n_centroids, width)
        The attribute `codebooks_` of the quantizer.

    Returns
    -------
    ndarray of shape (n, n_subspaces)
        The codes as a C-contiguous array of `code_type`. They are copied only if necessary.

    Raises
    ------
    ValueError
        If the shape, the type or a value does not match the codebooks.
    """
    m, n_centroids, _ = codebooks.shape
    array = np.asarray(codes)
    if array.ndim != 2 or array.shape[1] != m or array.dtype.kind not in "iu":
        raise ValueError(
            f"Codes must be integers of shape (n, {m}), as encode returns them. Got {array.dtype} "
            f"of shape {array.shape}."
        )
    if array.size and (array.min() < 0 or array.max() >= n_centroids):
        raise ValueError(f"Codes must lie in [0, {n_centroids}). Got {array.min()} to {array.max()}.")
    return np.ascontiguousarray(array, dtype=code_type(n_centroids))


class Subspace(NamedTuple):
    """A range of columns and its centroids, in a frame chosen for these centroids."""

    columns: slice
    frame: Frame
    centres: Floats
    """Centroids in the frame."""

    @classmethod
    def all_of(cls, codebooks: Codebooks) -> list["Subspace"]:
        """Return one subspace per codebook."""
        width = codebooks.shape[2]
        subspaces = []
        for number, codebook in enumerate(codebooks):
            frame = Rows.in_own_frame(codebook, "euclidean", 1).frame
            columns = slice(number * width, (number + 1) * width)
            subspaces.append(cls(columns, frame, frame.enter(codebook.astype(np.float64))))
        return subspaces

    def rows(self, array: Array) -> Rows:
        """Return the columns of this subspace. The values must be finite."""
        return Rows(array[:, self.columns], self.frame, None)


def encode(array: Array, codebooks: Codebooks, n_threads: int, first_row: int = 0) -> Codes:
    """Return the index of the nearest centroid of each row in each subspace.

    Ties go to the centroid with the lower index. `first_row` is the index of the first row in the file,
    for the error about a value that is not finite.
    """
    describe(array, None, n_threads, first_row)
    subspaces = Subspace.all_of(codebooks)
    codes = np.empty((len(array), len(codebooks)), dtype=code_type(codebooks.shape[1]))
    if len(array):
        parts = [subspace.rows(array).core for subspace in subspaces]
        centres = np.stack([subspace.centres for subspace in subspaces])
        _core.encode(parts, centres, codes, n_threads)
    return codes


def decode(codes: Codes, codebooks: Codebooks) -> NDArray[np.float32]:
    """Return the concatenated centroids that each code refers to."""
    n, (m, _, width) = len(codes), codebooks.shape
    rows = np.empty((n, m * width), dtype=np.float32)
    for begin in range(0, n, ROWS_PER_BLOCK):
        block = codes[begin : begin + ROWS_PER_BLOCK]
        for number, codebook in enumerate(codebooks):
            columns = slice(number * width, (number + 1) * width)
            rows[begin : begin + len(block), columns] = codebook[block[:, number]]
    return rows


def squared_errors(array: Array, codes: Codes, codebooks: Codebooks) -> Floats:
    """Return the squared distance of each row to its decoded code."""
    errors = np.empty(len(array))
    for begin in range(0, len(array), ROWS_PER_BLOCK):
        end = begin + ROWS_PER_BLOCK
        gaps = array[begin:end].astype(np.float64) - decode(codes[begin:end], codebooks)
        errors[begin:end] = np.einsum("ij,ij->i", gaps, gaps)
    return errors


def distance_tables(array: Array, codebooks: Codebooks, n_threads: int) -> NDArray[np.float32]:
    """Return squared distances to all centroids per subspace: (n, n_subspaces, n_centroids)."""
    describe(array, None, n_threads)
    m, n_centroids, _ = codebooks.shape
    tables = np.empty((len(array), m, n_centroids), dtype=np.float32)
    for number, subspace in enumerate(Subspace.all_of(codebooks)):
        rows = subspace.rows(array)
        distances = np.empty((len(array), n_centroids))
        _core.distances(rows.core, subspace.centres, distances, n_threads)
        # A distance beyond the range of float32 becomes infinity, which sorts correctly.
        with np.errstate(over="ignore"):
            tables[:, number] = np.ldexp(distances, -2 * subspace.frame.exponent)
    return tables


def queries_per_batch(codebooks: Codebooks) -> int:
    """Return the number of queries whose distance tables fit into `TABLE_BYTES`."""
    m, n_centroids, _ = codebooks.shape
    return max(1, TABLE_BYTES // int(m * n_centroids * 4))


def search(tables: NDArray[np.float32], codes: Codes, k: int, n_threads: int) -> Neighbors:
    """Return the k codes with the smallest sums of table entries, for each query."""
    indices = np.empty((len(tables), k), dtype=np.int64)
    distances = np.empty((len(tables), k), dtype=np.float32)
    if len(tables):
        _core.search_codes(
            np.ascontiguousarray(tables), codes, indices, distances, instruction_set(), n_threads
        )
    return Neighbors(distances, indices)
