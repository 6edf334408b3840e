"""`Spool`: what can only be read once is kept here, in memory or in a file that nobody sees."""

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast

from boostkmeans._data.memory import default_memory_limit
from boostkmeans.io._access.binary_file import BinaryFile

# Kept in memory if it is not longer than this, nor this part of the memory that may be used.
MOST_IN_MEMORY, PART_OF_MEMORY = 1 << 30, 4
# Bytes that are copied at a time.
PIECE = 1 << 20


class NoRoomError(OSError):
    """What was to be kept cannot be: a fault of the machine, not of the file."""


class Spool:
    """Takes bytes one after the other, and gives them back as a file.

    The file has no name from the beginning: whatever becomes of the process, nothing is left behind.
    """

    def __init__(self, max_memory: int | None) -> None:
        self._limit = most_in_memory(max_memory)
        self._file: BinaryIO | None = None
        self._in_memory = hasattr(os, "memfd_create")
        self.size = 0

    def write(self, piece: Any) -> None:
        """Takes bytes, or an array."""
        view = memoryview(piece).cast("B")
        with self._room_for(len(view)):
            if self._file is None:
                self._file = _nameless(in_memory=self._in_memory)
            if self._in_memory and self.size + len(view) > self._limit:
                self._move_out()
            self._file.write(view)
        self.size += len(view)

    def take(self, stream: Any) -> None:
        """Takes all that is left of a stream."""
        while piece := stream.read(PIECE):
            self.write(piece)

    def finished(self, name: str) -> BinaryFile:
        """All of it. Nothing can be added any more."""
        with self._room_for(0):
            if self._file is None:
                self._file = _nameless(in_memory=self._in_memory)
            self._file.flush()
        file, self._file = self._file, None
        with file:
            return BinaryFile(name, io.FileIO(os.dup(file.fileno()), "rb"))

    def close(self) -> None:
        """Forgets all, if something went wrong."""
        if self._file is not None:
            with suppress(OSError):  # of what could not be written, which was said already
                self._file.close()
            self._file = None

    def _move_out(self) -> None:
        inside = cast(BinaryIO, self._file)
        self._file = _nameless(in_memory=False)
        self._in_memory = False
        inside.seek(0)
        while piece := inside.read(PIECE):
            self._file.write(piece)
        inside.close()

    @contextmanager
    def _room_for(self, n_bytes: int) -> Iterator[None]:
        """A full disk is no fault of the file that is being read."""
        try:
            yield
        except OSError as error:
            where = "memory" if self._in_memory else tempfile.tempdir or "the temporary folder"
            code = error.errno or errno.EIO
            raise NoRoomError(
                code,
                f"{os.strerror(code)}: no room in {where} for {self.size + n_bytes} bytes of what can "
                "only be read once. Set TMPDIR to a folder with more room, or raise max_memory",
            ) from None


def most_in_memory(max_memory: int | None) -> int:
    """How much of a file may be held beside everything else."""
    usable = default_memory_limit() if max_memory is None else min(max_memory, default_memory_limit())
    return min(usable // PART_OF_MEMORY, MOST_IN_MEMORY)


def _nameless(*, in_memory: bool) -> BinaryIO:
    if in_memory:
        return os.fdopen(os.memfd_create("boostkmeans"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile(prefix="boostkmeans-"))
