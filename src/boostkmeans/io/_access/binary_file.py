"""`BinaryFile`: reading at any position of a file, from several threads."""

import io
import os
import threading
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.location import Location, modified_error

# Number of bytes per system call. Linux reads at most 2 GiB in one call.
MAX_BYTES_PER_CALL = 1 << 30


class BinaryFile:
    """An open file of known size. Reads do not share a position, so threads can use it together."""

    is_mappable = True
    """False if the file is not on this machine."""

    def __init__(
        self, name: str, file: io.FileIO | io.BufferedReader, state: tuple[int, object] | None = None
    ) -> None:
        self.name = name
        self.file = file
        """File object with a position, for libraries that read while the file is being opened."""
        # Users need not close their vectors: the file is closed without a ResourceWarning.
        weakref.finalize(self, file.close)
        self._initial_state = self._state() if state is None else state
        self.size = self._initial_state[0]
        self._lock = threading.Lock()

    @property
    def location(self) -> Location:
        """Location of the file, for error messages."""
        return Location(self.name)

    def read_into(self, offset: int, target: NDArray[Any]) -> None:
        """Fill a contiguous array with bytes, starting at `offset`."""
        self.check_unchanged()
        flat: Any = target.reshape(-1).view(np.uint8)
        view = memoryview(flat)
        done = 0
        while done < len(view):
            n = self._read_some(offset + done, view[done : done + MAX_BYTES_PER_CALL])
            if n == 0:
                raise self._truncated(offset + done)
            done += n

    def head(self, n_bytes: int, offset: int = 0) -> bytes:
        """Return `n_bytes` bytes starting at `offset`, or fewer at the end of the file."""
        n = max(0, min(n_bytes, self.size - offset))
        found = np.empty(n, dtype=np.uint8)
        self.read_into(offset, found)
        return found.tobytes()

    def mapped(self, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return a read-only memory map of an array in the file."""
        self.check_unchanged()
        if 0 in shape:
            return np.empty(shape, dtype=dtype)
        try:
            return np.memmap(self.file, dtype=dtype, mode="r", offset=offset, shape=shape)
        except ValueError as error:
            problem = f"The file cannot be mapped into memory: {error}."
            raise self.location.error(problem) from None

    def check_unchanged(self) -> None:
        """Raise DataFormatError if the file was modified after it was opened."""
        if self._state() != self._initial_state:
            raise modified_error(
                self.location, f"it had {self.size:,} bytes and now has {self._state()[0]:,}"
            )

    def close(self) -> None:
        """Close the file. Memory maps of it stay valid."""
        self.file.close()

    def _truncated(self, offset: int) -> DataFormatError:
        return self.location.within(f"byte {offset}").error(
            "The file ends here, in the middle of its rows: it was truncated while it was being read.",
            "Open it again once it is complete.",
        )

    def _read_some(self, offset: int, view: memoryview) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self.file.fileno(), [view], offset)
        with self._lock:  # Windows has no preadv
            self.file.seek(offset)
            return self.file.readinto(view) or 0

    def _state(self) -> tuple[int, object]:
        """Return the size and the modification time of the file."""
        status = os.fstat(self.file.fileno())
        return status.st_size, status.st_mtime_ns
