"""`SparseStore`: sparse rows in memory, and their reading from files."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.location import Location, other_format_remedy
from boostkmeans.io._access.store import Store
from boostkmeans.io._readers.cluto import read_cluto
from boostkmeans.io._readers.matrix_market import read_matrix_market
from boostkmeans.io._readers.npz import arrays_of, sparse_matrix
from boostkmeans.io._readers.svmlight import read_svmlight


class SparseStore(Store):
    """The rows of a CSR matrix in memory."""

    is_sparse = True

    def __init__(self, where: Location, matrix: Any) -> None:
        if matrix.dtype.kind not in "buif" or matrix.dtype.itemsize > 8:
            raise where.error(f"The values must be real numbers, but their type is {matrix.dtype}.")
        if matrix.shape[1] == 0:
            raise where.error(f"The matrix of shape {matrix.shape} has no columns.")
        self._matrix = csr_array(matrix)
        self._matrix.sum_duplicates()
        self.shape = self._matrix.shape
        self.dtype = self._matrix.dtype

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Raise NotImplementedError: `Vectors` never calls it for sparse rows."""
        raise NotImplementedError

    def rows(self, begin: int, end: int) -> csr_array:
        """Return the rows from `begin` to `end` (excluded)."""
        return self._matrix[begin:end]

    def load(self) -> csr_array:
        """Return the whole matrix."""
        return self._matrix

    def close(self) -> None:
        """Do nothing: no file is open."""


def read_sparse(name: str, format_name: str, data: bytes) -> Store:
    """Return the sparse matrix of a file with this content."""
    where = Location(name)
    try:
        return SparseStore(where, READERS[format_name](name, data))
    except (ValueError, OverflowError, IndexError, TypeError) as error:
        if isinstance(error, DataFormatError):
            raise
        raise where.error(
            f"The file is damaged, or not a {format_name} file: {escape_untrusted(str(error))}.",
            other_format_remedy("Write it again."),
        ) from None


def _read_npz(name: str, data: bytes) -> Any:
    matrix = sparse_matrix(name, arrays_of(name, io.BytesIO(data)), len(data))
    return matrix if matrix.dtype.isnative else matrix.astype(np.dtype(matrix.dtype).newbyteorder("="))


READERS: dict[str, Callable[[str, bytes], Any]] = {
    "cluto": read_cluto,
    "matrix-market": lambda name, data: read_matrix_market(name, data, "vectors"),
    "svmlight": lambda name, data: read_svmlight(name, data).matrix,
    "npz": _read_npz,
}
