"""`RowFile`: rows of the same length, one after the other, which most binary formats come down to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.store import Store

# Bytes that are read at a time where they cannot go to their place at once: stays in a cache.
PIECE = 1 << 20
# In front of each row of .fvecs and its like: its length, as int32.
LENGTH = np.dtype("<i4")


class RowFile(Store):
    """Rows in C order from an offset on."""

    def __init__(
        self, file: BinaryFile, offset: int, shape: tuple[int, int], in_file: np.dtype[Any]
    ) -> None:
        self._file, self._offset, self._in_file = file, offset, in_file
        self.shape = shape
        self.dtype = in_file.newbyteorder("=")
        self.is_mapped = bool(in_file.isnative)

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Reads straight into the array."""
        self._file.read_into(self._offset + begin * self.shape[1] * self.dtype.itemsize, target)
        if not self._in_file.isnative:
            target.byteswap(inplace=True)

    def load(self) -> NDArray[Any]:
        """A map, if the numbers are as this machine has them."""
        if not self.is_mapped:
            return np.asarray(self.rows(0, self.shape[0]))
        return self._file.mapped(self._offset, self.shape, self._in_file)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class ColumnFile(Store):
    """Columns one after the other: what .npy calls Fortran order."""

    def __init__(
        self, file: BinaryFile, offset: int, shape: tuple[int, int], in_file: np.dtype[Any]
    ) -> None:
        self._file, self._offset, self._in_file = file, offset, in_file
        self.shape = shape
        self.dtype = in_file.newbyteorder("=")

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Gathers a piece of each column."""
        piece = np.empty(len(target), dtype=self._in_file)
        for j in range(self.shape[1]):
            at = self._offset + (j * self.shape[0] + begin) * self.dtype.itemsize
            self._file.read_into(at, piece)
            target[:, j] = piece

    def load(self) -> NDArray[Any]:
        """In memory, row by row: who went through a map of columns would read all for each row."""
        return np.ascontiguousarray(
            self._file.mapped(self._offset, self.shape[::-1], self._in_file).T, dtype=self.dtype
        )

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class LedRowFile(Store):
    """Rows that are each led by their length."""

    is_mapped = True

    def __init__(self, file: BinaryFile, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self._file = file
        self.shape, self.dtype = shape, dtype
        self._stride = LENGTH.itemsize + shape[1] * dtype.itemsize

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Reads some rows at a time, and checks their lengths."""
        step = max(1, PIECE // self._stride)
        piece = np.empty((min(step, len(target)), self._stride), dtype=np.uint8)
        for done in range(0, len(target), step):
            some = piece[: min(step, len(target) - done)]
            self._file.read_into((begin + done) * self._stride, some)
            self._check(some, begin + done)
            target[done : done + len(some)].view(np.uint8)[:] = some[:, LENGTH.itemsize :]

    def load(self) -> NDArray[Any]:
        """A map that leaves the lengths out, after a look at them all."""
        n, d = self.shape
        flat = self._file.mapped(0, (n, self._stride), np.dtype(np.uint8))
        step = max(1, PIECE // self._stride)
        for begin in range(0, n, step):
            self._check(flat[begin : begin + step], begin)
        lead = LENGTH.itemsize // self.dtype.itemsize
        return self._file.mapped(0, (n, lead + d), self.dtype)[:, lead:]

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _check(self, rows: NDArray[np.uint8], first: int) -> None:
        lengths = np.ascontiguousarray(rows[:, : LENGTH.itemsize]).view(LENGTH)[:, 0]
        wrong = np.flatnonzero(lengths != self.shape[1])
        if len(wrong):
            row = first + int(wrong[0])
            raise DataFormatError(
                f"{self._file.name}, row {row} (byte {row * self._stride}): a length of "
                f"{lengths[wrong[0]]}, but the first row has {self.shape[1]}. All rows must be equally "
                "long: the file may be damaged, or of another format."
            )
