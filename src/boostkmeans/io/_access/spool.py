"""`Spool`: temporary storage for content that can be read only once, in memory or on disk."""

import errno
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, NamedTuple, cast

from boostkmeans._data.memory import default_memory_limit
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io._access.binary_file import BinaryFile

# Largest content that is stored in memory, in bytes.
MAX_IN_MEMORY = 1 << 30
# Content may also take at most this fraction of the memory limit: 1 / MEMORY_DIVISOR.
MEMORY_DIVISOR = 4
# Temporary files may take this fraction of the free space by default: 1 / DISK_DIVISOR.
DISK_DIVISOR = 2
# With a memory limit, temporary files may take the largest of these: a multiple of the limit, a multiple
# of the size of the file, and a minimum. Numbers of one digit, compressed by a factor of ten, take 50
# times their size as float64. Deflate can expand a file by a factor of 1,000, which only zeros do.
DISK_PER_MEMORY = 2
DISK_PER_FILE_BYTE = 64
MIN_DISK = 1 << 28
# Number of bytes per copy.
PIECE_BYTES = 1 << 20


class Room(NamedTuple):
    """Limits of memory and disk for temporary data, in bytes. None stands for the default."""

    memory: int | None = None
    disk: int | None = None
    file_bytes: int | None = None
    """Size of the files that are read, or None if it is unknown."""

    @property
    def disk_limit(self) -> int:
        """Number of bytes that temporary files may take."""
        if self.disk is not None:
            return self.disk
        free = default_disk_limit()
        if self.memory is None or self.file_bytes is None:
            return free
        expected = max(DISK_PER_MEMORY * self.memory, DISK_PER_FILE_BYTE * self.file_bytes)
        return min(free, max(MIN_DISK, expected))


ANY_ROOM = Room()
"""The default limits."""


class NoRoomError(OSError):
    """There is no room for temporary data. The machine is the cause, not the file that is read."""


class Spool:
    """Temporary storage that is written sequentially and then read like a file.

    The temporary file has no name, so the system removes it even if the process is killed. If the number
    of bytes is known in advance, too much content is refused before anything is written.
    """

    def __init__(self, room: Room, expected: int | None = None) -> None:
        self._limit = max_spool_memory(room.memory)
        self._disk_limit = room.disk_limit
        self._file: BinaryIO | None = None
        self._in_memory = hasattr(os, "memfd_create")
        self.size = 0
        self._check_disk(expected or 0)

    def write(self, piece: Any) -> None:
        """Append bytes or an array."""
        view = memoryview(piece).cast("B")
        self._check_disk(self.size + len(view))
        with self._room_for(len(view)):
            if self._file is None:
                self._file = _nameless_file(in_memory=self._in_memory)
            if self._in_memory and self.size + len(view) > self._limit:
                self._move_to_disk()
            self._file.write(view)
        self.size += len(view)

    def write_stream(
        self, stream: Any, progress: ProgressCallback = ignore_progress, total: int | None = None
    ) -> None:
        """Append the rest of a stream, which has `total` bytes."""
        while piece := stream.read(PIECE_BYTES):
            self.write(piece)
            progress("reading", self.size, total)

    def finish(self, name: str) -> BinaryFile:
        """Return the content as a file. Nothing can be appended afterwards."""
        with self._room_for(0):
            if self._file is None:
                self._file = _nameless_file(in_memory=self._in_memory)
            self._file.flush()
        file, self._file = self._file, None
        with file:
            return BinaryFile(name, io.FileIO(os.dup(file.fileno()), "rb"))

    def close(self) -> None:
        """Discard the content, unless it was finished."""
        if self._file is not None:
            with suppress(OSError):  # buffered bytes may not fit on the disk; an error was raised before
                self._file.close()
            self._file = None

    def _check_disk(self, n_bytes: int) -> None:
        """Raise NoRoomError if this number of bytes neither fits into memory nor on the disk."""
        if (self._in_memory and n_bytes <= self._limit) or n_bytes <= self._disk_limit:
            return
        raise NoRoomError(
            errno.EFBIG,
            f"The content needs {n_bytes:,} temporary bytes, more than the limit of "
            f"{self._disk_limit:,} bytes on the disk. Raise max_disk (--max-disk), or set TMPDIR to a "
            "folder with more room",
        )

    def _move_to_disk(self) -> None:
        in_memory = cast(BinaryIO, self._file)
        self._file = _nameless_file(in_memory=False)
        self._in_memory = False
        in_memory.seek(0)
        while piece := in_memory.read(PIECE_BYTES):
            self._file.write(piece)
        in_memory.close()

    @contextmanager
    def _room_for(self, n_bytes: int) -> Iterator[None]:
        """Convert an OSError into NoRoomError."""
        try:
            yield
        except OSError as error:
            where = "memory" if self._in_memory else tempfile.tempdir or "the temporary folder"
            code = error.errno or errno.EIO
            raise NoRoomError(
                code,
                f"{os.strerror(code)}: no room in {where} for {self.size + n_bytes:,} temporary bytes. "
                "Set TMPDIR to a folder with more room, or raise the memory limit",
            ) from None


def max_spool_memory(max_memory: int | None) -> int:
    """Return the number of bytes of a file that may be held in memory."""
    usable = default_memory_limit() if max_memory is None else min(max_memory, default_memory_limit())
    return min(usable // MEMORY_DIVISOR, MAX_IN_MEMORY)


def default_disk_limit() -> int:
    """Return half of the free space in the folder for temporary files."""
    try:
        return shutil.disk_usage(tempfile.gettempdir()).free // DISK_DIVISOR
    except OSError:  # the folder may not exist; writing raises a better error
        return sys.maxsize


def _nameless_file(*, in_memory: bool) -> BinaryIO:
    if in_memory:
        return os.fdopen(os.memfd_create("boostkmeans"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile(prefix="boostkmeans-"))
