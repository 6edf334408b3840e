"""Stores of rows of equal length at fixed positions of a file, as in most binary formats."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.store import Store

# Number of bytes per read for rows that must be rearranged. This amount fits into a processor's cache.
PIECE_BYTES = 1 << 20
# Type of the length in front of each row of a .fvecs, .ivecs or .bvecs file.
ROW_LENGTH = np.dtype("<i4")


class RowStore(Store):
    """An array in row-major order that begins at an offset of the file."""

    def __init__(
        self, file: BinaryFile, offset: int, shape: tuple[int, int], in_file: np.dtype[Any]
    ) -> None:
        self._file = file
        self._offset = offset
        self._in_file = in_file
        self.shape = shape
        self.dtype = in_file.newbyteorder("=")
        self.is_mapped = bool(in_file.isnative) and file.is_mappable

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into an array, starting with row `begin`, without a copy."""
        self._file.read_into(self._offset + begin * self.shape[1] * self.dtype.itemsize, target)
        if not self._in_file.isnative:
            target.byteswap(inplace=True)

    def load(self) -> NDArray[Any]:
        """Return all rows: a memory map, or an array if the byte order must be changed."""
        if not self.is_mapped:
            return np.asarray(self.rows(0, self.shape[0]))
        return self._file.mapped(self._offset, self.shape, self._in_file)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ColumnStore(Store):
    """An array in column-major order, which .npy files call Fortran order."""

    def __init__(
        self, file: BinaryFile, offset: int, shape: tuple[int, int], in_file: np.dtype[Any]
    ) -> None:
        self._file = file
        self._offset = offset
        self._in_file = in_file
        self.shape = shape
        self.dtype = in_file.newbyteorder("=")

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into an array, starting with row `begin`, one column at a time."""
        piece = np.empty(len(target), dtype=self._in_file)
        for j in range(self.shape[1]):
            at = self._offset + (j * self.shape[0] + begin) * self.dtype.itemsize
            self._file.read_into(at, piece)
            target[:, j] = piece

    def load(self) -> NDArray[Any]:
        """Return all rows as a row-major array in memory.

        A memory map of the columns would be slow: each row touches as many pages as there are columns.
        """
        return np.ascontiguousarray(
            self._file.mapped(self._offset, self.shape[::-1], self._in_file).T, dtype=self.dtype
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class VecsStore(Store):
    """The rows of a .fvecs, .ivecs or .bvecs file, in which a length precedes each row."""

    def __init__(self, file: BinaryFile, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self._file = file
        self.shape = shape
        self.dtype = dtype
        self.is_mapped = file.is_mappable
        self._stride = ROW_LENGTH.itemsize + shape[1] * dtype.itemsize

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into an array, starting with row `begin`, and check their lengths."""
        step = max(1, PIECE_BYTES // self._stride)
        piece = np.empty((min(step, len(target)), self._stride), dtype=np.uint8)
        for done in range(0, len(target), step):
            some = piece[: min(step, len(target) - done)]
            self._file.read_into((begin + done) * self._stride, some)
            self._check_lengths(some, begin + done)
            target[done : done + len(some)].view(np.uint8)[:] = some[:, ROW_LENGTH.itemsize :]

    def load(self) -> NDArray[Any]:
        """Return a memory map of all rows without their lengths, which are checked first."""
        if not self.is_mapped:
            return np.asarray(self.rows(0, self.shape[0]))
        n, d = self.shape
        flat = self._file.mapped(0, (n, self._stride), np.dtype(np.uint8))
        step = max(1, PIECE_BYTES // self._stride)
        for begin in range(0, n, step):
            self._check_lengths(flat[begin : begin + step], begin)
        n_skipped = ROW_LENGTH.itemsize // self.dtype.itemsize
        return self._file.mapped(0, (n, n_skipped + d), self.dtype)[:, n_skipped:]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _check_lengths(self, rows: NDArray[np.uint8], first: int) -> None:
        lengths = np.ascontiguousarray(rows[:, : ROW_LENGTH.itemsize]).view(ROW_LENGTH)[:, 0]
        wrong = np.flatnonzero(lengths != self.shape[1])
        if len(wrong):
            row = first + int(wrong[0])
            raise self._file.location.within(f"row {row} (byte {row * self._stride})").error(
                f"The row has a length of {lengths[wrong[0]]}, but the first row has {self.shape[1]}.",
                "All rows must have the same length: the file may be damaged, or have another format.",
            )
