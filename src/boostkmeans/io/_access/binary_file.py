"""`BinaryFile`: bytes at any place of a file, from any thread, and nothing but those."""

import io
import os
import threading
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError

# What one call of the system reads at most: Linux stops below 2 GiB.
MOST_AT_ONCE = 1 << 30


class BinaryFile:
    """An open file of known size. Reads have no position in common, so that threads can share it."""

    def __init__(self, name: str, file: io.FileIO) -> None:
        self.name = name
        self.file = file
        """Has a position, for whoever reads one after the other while the file is being opened."""
        # Who does not close vectors gets no warning: maps do not need the file.
        weakref.finalize(self, file.close)
        self._state = self._seen()
        self.size = self._state[0]
        self._lock = threading.Lock()

    def read_into(self, offset: int, target: NDArray[Any]) -> None:
        """Fills a contiguous array with the bytes from there on."""
        self.check_unchanged()
        flat: Any = target.reshape(-1).view(np.uint8)
        view = memoryview(flat)
        done = 0
        while done < len(view):
            n = self._read_some(offset + done, view[done : done + MOST_AT_ONCE])
            if n == 0:
                raise self.too_short(offset + done)
            done += n

    def head(self, n_bytes: int, offset: int = 0) -> bytes:
        """The bytes from there on: as many as there are."""
        n = max(0, min(n_bytes, self.size - offset))
        found = np.empty(n, dtype=np.uint8)
        self.read_into(offset, found)
        return found.tobytes()

    def mapped(self, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """A read-only memory map of an array."""
        self.check_unchanged()
        if 0 in shape:
            return np.empty(shape, dtype=dtype)
        try:
            return np.memmap(self.file, dtype=dtype, mode="r", offset=offset, shape=shape)
        except ValueError as error:
            raise DataFormatError(f"{self.name}: cannot be mapped into memory: {error}.") from None

    def check_unchanged(self) -> None:
        """Raises an error if somebody wrote to the file since it was opened."""
        if self._seen() != self._state:
            raise DataFormatError(
                f"{self.name}: the file was changed while it was being read: it had {self.size} bytes "
                f"and has {self._seen()[0]} now. Open it again once it is complete."
            )

    def too_short(self, offset: int) -> DataFormatError:
        """The error for a file that ends before it should."""
        return DataFormatError(
            f"{self.name}: the file ends at byte {offset}, in the midst of its rows. It was cut short "
            "while it was being read: open it again once it is complete."
        )

    def close(self) -> None:
        """Closes the file. Memory maps of it stay as they are."""
        self.file.close()

    def _read_some(self, offset: int, view: memoryview) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self.file.fileno(), [view], offset)
        with self._lock:  # Windows
            self.file.seek(offset)
            return self.file.readinto(view) or 0

    def _seen(self) -> tuple[int, int]:
        status = os.fstat(self.file.fileno())
        return status.st_size, status.st_mtime_ns
