"""`ByteSource`: the content of a file, a compressed file or standard input, as bytes or lines."""

import codecs
import gzip
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from boostkmeans._runtime.errors import Message, Parameter, ParameterError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.pipe import open_pipe
from boostkmeans.io._access.remote_file import RemoteFile, RemotePath, RemoteStream, open_stream
from boostkmeans.io._access.urls import is_url, public_name

GZIP_MAGIC = b"\x1f\x8b"
# Value of zlib's `wbits` that makes it expect a gzip header.
GZIP_WINDOW = 31
# Largest number of bytes that one compressed byte can expand to: deflate encodes 258 bytes in 2 bits.
MAX_EXPANSION = 1032
# Number of bytes at the beginning of a file that are inspected to tell text from binary data.
HEAD_BYTES = 1024
# Number of bytes per read of content that may be too long for memory.
PIECE_BYTES = 1 << 20
# Number of bytes per request for text and compressed content of a remote file.
REMOTE_BYTES = 1 << 22
# Number of lines between two progress reports.
LINES_PER_REPORT = 1000
# Default advice if a file is not text.
EXPECTED_DOCUMENTS = (
    "Pass documents as plain text, one per line, or a folder of such files, or a table or a matrix with "
    "its usual file name extension."
)
# Characters by which Python's "surrogateescape" replaces bytes that cannot be decoded.
UNDECODABLE = re.compile("[\udc80-\udcff]")
# Halves of surrogate pairs, which no encoding can write. A JSON escape can produce a single one.
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class ByteSource:
    """A file, a URL, or standard input for the path "-". Content in gzip format is decompressed."""

    path: str = field(repr=False)  # a URL may contain a password

    @property
    def name(self) -> str:
        """Name for messages."""
        return "standard input" if self.path == "-" else public_name(self.path)

    @cached_property
    def remote(self) -> RemotePath | None:
        """The URL, or None for local files."""
        return RemotePath(self.path) if is_url(self.path) else None

    def is_regular_file(self) -> bool:
        """Return True for a file of known size, in which any position can be read.

        Raise FileNotFoundError if there is no such file.
        """
        if self.remote is not None:
            return self.remote.state()[0] is not None
        return self.path != "-" and stat.S_ISREG(Path(self.path).stat().st_mode)

    def binary_file(self) -> BinaryFile:
        """Open a regular file."""
        if self.remote is None:
            return BinaryFile(self.name, io.FileIO(self.path, "rb"))
        size, version = self.remote.state()
        return RemoteFile(self.remote, (size or 0, version))

    @property
    def location(self) -> Location:
        """Location of the file, for error messages."""
        return Location(self.name)

    @property
    def is_stream(self) -> bool:
        """True for standard input and pipes, which can be read only once."""
        return self.path == "-" or (self.remote is None and Path(self.path).is_fifo())

    def state(self) -> object:
        """Return a value that changes when the file is modified: its size and modification time."""
        if self.remote is not None:
            return self.remote.state()
        status = Path(self.path).stat()
        return status.st_size, status.st_mtime_ns

    def n_bytes(self) -> int:
        """Return the size of the file, or 0 if a server does not tell it."""
        if self.remote is not None:
            return self.remote.state()[0] or 0
        return Path(self.path).stat().st_size

    @cached_property
    def _pipe(self) -> io.BufferedReader:
        """The open pipe. It is opened only once, because bytes in its buffer would be lost."""
        return open_pipe(self.path)

    def max_bytes(self) -> int:
        """Return an upper limit of the length of the content."""
        with self._raw() as raw:
            size = _size(raw)
            return size * MAX_EXPANSION if _starts_with(raw, GZIP_MAGIC) else size

    def head(self, n_bytes: int) -> bytes:
        """Return some of the first bytes of the content without consuming them, even of a pipe."""
        with self._raw(last=False) as raw:
            first = raw.peek(HEAD_BYTES)
            if not first.startswith(GZIP_MAGIC):
                return first[:n_bytes]
            try:
                return zlib.decompressobj(GZIP_WINDOW).decompress(first, n_bytes)
            except zlib.error:
                return b""  # reading the content will report the damage

    def beginning(self, n_bytes: int) -> bytes:
        """Return the first bytes of the content. The source must not be a stream."""
        with self.opened() as stream:
            return stream.read(n_bytes)

    def read(self, max_bytes: int | None = None) -> bytes:
        """Return the whole content. Raise MemoryError if it is longer than `max_bytes`."""
        with self.opened() as stream:
            if max_bytes is None:
                return stream.read()
            content = io.BytesIO()
            while piece := stream.read(PIECE_BYTES):
                content.write(piece)
                if content.tell() > max_bytes:
                    raise MemoryError(
                        f"{escape_untrusted(self.name)}: The content must fit into memory, but it is "
                        f"longer than the limit of {max_bytes:,} bytes. Raise the limit, or use a "
                        "binary format."
                    )
        return content.getvalue()

    @contextmanager
    def opened(self) -> Iterator[io.BufferedReader]:
        """Open the content as a stream of bytes."""
        with self._raw() as raw, self._content(raw) as stream:
            yield stream

    def lines(
        self,
        encoding: str,
        newline: str | None,
        progress: ProgressCallback,
        *,
        expected: str = EXPECTED_DOCUMENTS,
        longest: int = -1,
    ) -> Iterator[str]:
        """Yield the lines of a text.

        Bytes that cannot be decoded become surrogates, which `find_text_fault` finds. Lines of more than
        `longest` characters are split into pieces of this length. `expected` is the advice of the
        error for binary files.
        """
        with self._raw() as raw, self._content(raw) as stream:
            self._reject_binary(stream.peek(HEAD_BYTES)[:HEAD_BYTES], encoding, expected)
            total = _size(raw)
            text = io.TextIOWrapper(
                stream, encoding=without_mark(encoding), errors="surrogateescape", newline=newline
            )
            try:
                lines = text if longest < 0 else iter(lambda: text.readline(longest), "")
                for i, line in enumerate(lines):
                    if total and i % LINES_PER_REPORT == 0:
                        progress("reading", raw.tell(), total)
                    yield line
            except UnicodeError as error:
                raise self.location.error(
                    f"The text is not in the encoding {encoding!r} ({error}).",
                    Message("Pass the right {encoding}.", encoding=Parameter("encoding")),
                ) from None
            finally:
                text.detach()  # otherwise it would close standard input

    @contextmanager
    def _raw(self, *, last: bool = True) -> Iterator[io.BufferedReader]:
        """Open the bytes as stored. `last` is False if more will be read from a pipe later."""
        if self.path != "-" and self.is_stream:
            pipe = self._pipe  # before `try`: a pipe that failed to open would be waited for again
            try:
                yield pipe
            finally:
                if last:
                    pipe.close()
        elif self.remote is not None:
            with open_stream(self.remote, REMOTE_BYTES if last else HEAD_BYTES) as raw:
                yield raw
        elif self.path != "-":
            with Path(self.path).open("rb") as raw:
                yield raw
        elif hasattr(sys.stdin.buffer, "peek"):
            yield cast(io.BufferedReader, sys.stdin.buffer)
        else:  # replacements of standard input, e.g. in tests, may have no `peek`
            buffered = io.BufferedReader(cast(Any, sys.stdin.buffer))
            try:
                yield buffered
            finally:
                position = buffered.tell() if buffered.seekable() else None
                own = buffered.detach()  # otherwise it would close standard input
                if position is not None:
                    own.seek(position)  # buffered bytes that were not consumed stay readable

    @contextmanager
    def _content(self, raw: io.BufferedReader) -> Iterator[io.BufferedReader]:
        """Decompress the bytes if they start with a gzip header, regardless of the file name."""
        if not _starts_with(raw, GZIP_MAGIC):
            yield raw
            return
        try:
            with gzip.GzipFile(fileobj=raw) as stream:
                yield io.BufferedReader(cast(io.RawIOBase, stream))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self.location.error(
                f"The compressed file is damaged or truncated ({error}).",
                "Copy it again, or recover the readable part with 'gzip -dc'.",
            ) from None

    def _reject_binary(self, head: bytes, encoding: str, expected: str) -> None:
        """Raise DataFormatError if the first bytes are not text in this encoding."""
        if b"\0" in "a".encode(encoding):  # in UTF-16 and UTF-32, NUL bytes are normal
            return
        mark = utf_16_mark(head)
        if mark:
            raise self.location.error(
                f"Expected {encoding}, but the first bytes are the mark of {mark}.",
                "Pass this encoding, or convert the file to UTF-8.",
            )
        at = head.find(b"\0")
        if at >= 0 or head.startswith(b"%PDF"):
            reason = f"it has a NUL at byte {at}" if at >= 0 else "it is a PDF"
            raise self.location.error(f"The file is binary, not text: {reason}.", expected)


def check_encoding(encoding: str) -> None:
    """Raise ParameterError if Python has no text encoding of this name."""
    try:
        "a".encode(encoding)
    except LookupError:
        expected = "a text encoding, such as 'utf-8' or 'latin-1'"
        raise ParameterError("encoding", expected, encoding) from None


def without_mark(encoding: str) -> str:
    """Return the encoding, or for UTF-8 the variant that skips a byte order mark."""
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def utf_16_mark(head: bytes) -> str | None:
    """Return "utf-16" or "utf-32" if the bytes begin with the byte order mark of this encoding."""
    for mark, name in (
        (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of this one
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return name
    return None


class TextFault(NamedTuple):
    """Reason why a text cannot be used."""

    reason: str
    wrong_encoding: bool = False
    """True if the text is probably in another encoding."""


def find_text_fault(text: str, encoding: str) -> TextFault | None:
    """Return the reason why a text from `ByteSource.lines` cannot be used, or None if it is valid."""
    if "\0" in text:
        return TextFault(f"binary: a NUL at character {text.index(chr(0)) + 1}")
    bad = UNDECODABLE.search(text)
    if bad:
        place = f"byte 0x{ord(bad[0]) - 0xDC00:02x} at character {bad.start() + 1}"
        return TextFault(f"not {encoding}: {place}", wrong_encoding=True)
    half = SURROGATE.search(text)
    if half:
        place = f"U+{ord(half[0]):04X} at character {half.start() + 1}"
        return TextFault(f"half of a surrogate pair: {place}")
    return None


def _size(raw: io.BufferedReader) -> int:
    """Return the size of a regular file, or 0 for pipes and devices, whose size is unknown."""
    if isinstance(raw.raw, RemoteStream):
        return raw.raw.size
    try:
        status = os.fstat(raw.fileno())
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _starts_with(stream: io.BufferedReader, magic: bytes) -> bool:
    return stream.peek(len(magic))[: len(magic)] == magic
