"""Files that fsspec reads: object stores, web servers, archives and other machines."""

import errno
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.installation import install_hint
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.urls import public_name, without_secrets

# Number of bytes per request. Requests of an object store take about 50 ms each, whatever their size.
REQUEST_BYTES = 1 << 23
# Number of requests at the same time, for large reads.
MAX_REQUESTS = 8
# Number of bytes that a stream reads ahead. The headers of most formats fit.
AHEAD_BYTES = 1 << 20
# A file is not checked for modifications again within this time: each check is a request.
CHECK_SECONDS = 1.0
# Fields that change when a file is modified, in the descriptions of various file systems. The first one
# that is present is compared.
STATE_FIELDS = (
    "ETag", "etag", "e_tag", "generation", "md5Hash", "content_md5", "crc32c", "mtime", "LastModified",
    "last_modified", "updated", "modified", "created",
)  # fmt: skip
# Number of characters of a driver's message that are shown.
MAX_SHOWN = 200


class RemoteReadError(OSError):
    """A driver could not read a file. The network or the server is the cause, not the content."""


class InvalidUrlError(ValueError):
    """The scheme of a URL is unknown, or the URL lacks a part."""


@dataclass(frozen=True)
class RemotePath:
    """The URL of a file."""

    url: str = field(repr=False)

    @property
    def name(self) -> str:
        """Name for messages, without a password and without control characters."""
        return escape_untrusted(public_name(self.url))

    @cached_property
    def opened(self) -> tuple[Any, str]:
        """The file system, and the path in it."""
        fsspec = import_fsspec(self.name)
        with self.faults():
            try:
                file_system, path = fsspec.core.url_to_fs(self.url)
            except ValueError as error:  # an unknown scheme
                raise InvalidUrlError(f"{self.name}: {self._shown(error)}.") from None
        return file_system, str(path)

    def description(self) -> dict[str, Any]:
        """Return what the file system says about the file. It is asked each time."""
        file_system, path = self.opened
        with self.faults():
            file_system.invalidate_cache(file_system._parent(path))
            return dict(file_system.info(path))

    def state(self) -> tuple[int | None, str]:
        """Return the size, which may be unknown, and a value that changes when the file is modified."""
        found = self.description()
        size = found.get("size")
        version = next((str(found[name]) for name in STATE_FIELDS if found.get(name)), "")
        return None if size is None else int(size), version

    def is_folder(self) -> bool:
        """Return True if the URL names a folder."""
        return self.description().get("type") == "directory"

    def fetch(self, begin: int, end: int) -> list[bytes]:
        """Return the bytes from `begin` to `end` (excluded), in pieces."""
        file_system, path = self.opened
        begins = list(range(begin, end, REQUEST_BYTES))
        ends = [min(one + REQUEST_BYTES, end) for one in begins]
        with self.faults():
            if len(begins) == 1:
                pieces = [file_system.cat_file(path, start=begin, end=end)]
            else:
                pieces = file_system.cat_ranges([path] * len(begins), begins, ends, on_error="raise")
        for one, first, last in zip(pieces, begins, ends, strict=True):
            if len(one) > last - first:
                raise RemoteReadError(
                    f"{self.name}: Asked for {last - first:,} bytes, the server sent {len(one):,}: it "
                    "does not support reading parts of a file. Download the file first."
                )
        return pieces

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Convert errors of fsspec and its drivers into errors that show no password."""
        try:
            yield
        except (FileNotFoundError, PermissionError) as error:
            code = errno.ENOENT if isinstance(error, FileNotFoundError) else errno.EACCES
            # Messages show the representation of the name, which is escaped.
            raise OSError(code, os.strerror(code), public_name(self.url)) from None
        except ImportError as error:
            raise ImportError(
                f"{self.name}: fsspec needs another package for such paths: {self._shown(error)}"
            ) from None
        except (MemoryError, RemoteReadError, InvalidUrlError):
            raise
        except Exception as error:  # drivers raise errors of their own kinds
            raise RemoteReadError(
                f"{self.name}: Reading failed ({type(error).__name__}: {self._shown(error)})."
            ) from None

    def _shown(self, error: Exception) -> str:
        text = without_secrets(" ".join(str(error).split()))
        for secret in self._secrets():
            text = text.replace(secret, "***")
        return escape_untrusted(text[:MAX_SHOWN].rstrip("."))

    def _secrets(self) -> list[str]:
        """Return parts of the URL that must not be shown."""
        before_path = self.url.split("://", 1)[-1].split("/", 1)[0]
        users = before_path.rpartition("@")[0]
        query = self.url.partition("?")[2]
        found = [users, *users.split(":", 1)[1:], query]
        return [one for one in found if one]


class RemoteStream(io.RawIOBase):
    """A remote file with a position, for libraries that read from a file object."""

    def __init__(self, path: RemotePath, size: int) -> None:
        self._path = path
        self._at = 0
        self.size = size

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position."""
        self._at = max(
            0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        )
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and return the number of bytes."""
        view = memoryview(buffer).cast("B")
        end = min(self._at + min(len(view), MAX_REQUESTS * REQUEST_BYTES), self.size)
        n = copy_pieces(self._path.fetch(self._at, end), view) if end > self._at else 0
        self._at += n
        return n


class RemoteFile(BinaryFile):
    """A remote file of known size. Each read is a request for a range of bytes."""

    is_mappable = False

    def __init__(self, path: RemotePath, state: tuple[int, str]) -> None:
        self._path = path
        self._last_check = time.monotonic()
        super().__init__(path.name, _buffered(path, state[0], AHEAD_BYTES), state)

    def stream(self) -> io.BufferedReader:
        """Return a new file object with its own position."""
        return _buffered(self._path, self.size, AHEAD_BYTES)

    def mapped(self, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an array in memory: remote files cannot be mapped."""
        found = np.empty(shape, dtype=dtype)
        self.read_into(offset, found)
        return found

    def check_unchanged(self) -> None:
        """Raise DataFormatError if the file was modified. Not every call asks the server."""
        if time.monotonic() - self._last_check >= CHECK_SECONDS:
            super().check_unchanged()
            self._last_check = time.monotonic()

    def _read_some(self, offset: int, view: memoryview) -> int:
        end = min(offset + min(len(view), MAX_REQUESTS * REQUEST_BYTES), self.size)
        return copy_pieces(self._path.fetch(offset, end), view) if end > offset else 0

    def _state(self) -> tuple[int, str]:
        size, version = self._path.state()
        return size or 0, version


def open_stream(path: RemotePath, ahead_bytes: int) -> io.BufferedReader:
    """Return the bytes of a remote file as a stream, which is not seekable if the size is unknown."""
    size, _ = path.state()
    if size is not None:
        return _buffered(path, size, ahead_bytes)
    file_system, inner = path.opened
    with path.faults():
        return io.BufferedReader(file_system.open(inner, "rb"), ahead_bytes)


def _buffered(path: RemotePath, size: int, ahead_bytes: int) -> io.BufferedReader:
    return io.BufferedReader(RemoteStream(path, size), ahead_bytes)


def copy_pieces(pieces: list[bytes], view: memoryview) -> int:
    """Copy bytes into a buffer, and return their number."""
    at = 0
    for one in pieces:
        view[at : at + len(one)] = one
        at += len(one)
    return at


def import_fsspec(name: str) -> Any:
    """Return the module fsspec, which is an optional dependency."""
    try:
        import fsspec
    except ImportError:
        raise ImportError(
            f"{name}: Reading URLs requires fsspec, which is not installed: {install_hint('remote')}"
        ) from None
    return fsspec
