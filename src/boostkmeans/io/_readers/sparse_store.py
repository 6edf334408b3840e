"""Sparse rows in memory, and the formats that they come in."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.store import Store
from boostkmeans.io._readers.cluto import read_cluto
from boostkmeans.io._readers.matrix_market import read_matrix_market
from boostkmeans.io._readers.npz import arrays_of, sparse_matrix
from boostkmeans.io._readers.svmlight import read_svmlight


class SparseStore(Store):
    """A CSR matrix."""

    is_sparse = True

    def __init__(self, name: str, matrix: Any) -> None:
        if matrix.dtype.kind not in "buif" or matrix.dtype.itemsize > 8:
            raise DataFormatError(f"{name}: values must be real numbers, these are {matrix.dtype}.")
        if matrix.shape[1] == 0:
            raise DataFormatError(f"{name}: a matrix of the shape {matrix.shape}, without any columns.")
        self._matrix = csr_array(matrix)
        self._matrix.sum_duplicates()
        self.shape = self._matrix.shape
        self.dtype = self._matrix.dtype

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Not for sparse rows: `Vectors` does not ask."""
        raise NotImplementedError

    def rows(self, begin: int, end: int) -> csr_array:
        """Some rows."""
        return self._matrix[begin:end]

    def load(self) -> csr_array:
        """The matrix itself."""
        return self._matrix

    def close(self) -> None:
        """Nothing is open."""


def read_sparse(name: str, kind: str, data: bytes) -> Store:
    """The matrix of a file with that content."""
    try:
        return SparseStore(name, READERS[kind](name, data))
    except (ValueError, OverflowError, IndexError, TypeError) as error:
        if isinstance(error, DataFormatError):
            raise
        raise DataFormatError(
            f"{name}: not a {kind} file, or a damaged one: {error}. Write it again, or give its format."
        ) from None


def _npz(name: str, data: bytes) -> Any:
    return _native(sparse_matrix(name, arrays_of(name, io.BytesIO(data)), len(data)))


def _native(matrix: Any) -> Any:
    return matrix if matrix.dtype.isnative else matrix.astype(np.dtype(matrix.dtype).newbyteorder("="))


READERS: dict[str, Callable[[str, bytes], Any]] = {
    "cluto": read_cluto,
    "matrix-market": lambda name, data: read_matrix_market(name, data, "vectors"),
    "svmlight": lambda name, data: read_svmlight(name, data).matrix,
    "npz": _npz,
}
