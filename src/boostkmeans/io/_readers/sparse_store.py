"""Sparse matrices of files, with the labels that some formats store, and `SparseStore`."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.location import Location, other_format_remedy
from boostkmeans.io._access.store import Store
from boostkmeans.io._readers.cluto import read_cluto
from boostkmeans.io._readers.matrix_market import read_matrix_market
from boostkmeans.io._readers.npz import arrays_of, sparse_matrix
from boostkmeans.io._readers.svmlight import read_svmlight


@dataclass(frozen=True)
class LabelledMatrix:
    """A sparse matrix, and the labels that its file stores."""

    __repr__ = short_repr

    matrix: Any
    """SciPy sparse matrix of any layout."""
    row_labels: Any = None
    """Label of each row, if the format has labels (svmlight)."""
    first_column: int = 1
    """Number of the first column in the file: 0 or 1."""
    arrays: Mapping[str, Any] = field(default_factory=dict)
    """All arrays of the file, if it is an npz file."""


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

    @property
    def stored_bytes(self) -> int:
        """Number of bytes of the stored values and their positions."""
        arrays = (self._matrix.data, self._matrix.indices, self._matrix.indptr)
        return sum(int(one.nbytes) for one in arrays)

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
    """Return the rows of the sparse matrix in a file with this content."""
    return SparseStore(Location(name), read_labelled(name, format_name, data).matrix)


def read_labelled(name: str, format_name: str, data: bytes) -> LabelledMatrix:
    """Return the sparse matrix in a file with this content. `name` is the file name for messages."""
    try:
        return READERS[format_name](name, data)
    except (ValueError, OverflowError, IndexError, TypeError) as error:
        if isinstance(error, DataFormatError):
            raise
        raise Location(name).error(
            f"The file is damaged, or not a {format_name} file: {escape_untrusted(str(error))}.",
            other_format_remedy("Write it again."),
        ) from None


def _read_svmlight(name: str, data: bytes) -> LabelledMatrix:
    found = read_svmlight(name, data)
    return LabelledMatrix(found.matrix, row_labels=found.labels, first_column=found.first_column)


def _read_npz(name: str, data: bytes) -> LabelledMatrix:
    arrays = arrays_of(name, io.BytesIO(data))
    matrix = sparse_matrix(name, arrays, len(data))
    if not matrix.dtype.isnative:
        matrix = matrix.astype(np.dtype(matrix.dtype).newbyteorder("="))
    return LabelledMatrix(matrix, arrays=arrays)


READERS: dict[str, Callable[[str, bytes], LabelledMatrix]] = {
    "cluto": lambda name, data: LabelledMatrix(read_cluto(name, data)),
    "matrix-market": lambda name, data: LabelledMatrix(read_matrix_market(name, data)),
    "svmlight": _read_svmlight,
    "npz": _read_npz,
}
