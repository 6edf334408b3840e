"""Opening what is read: a file, a compressed one, or standard input."""

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
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback

GZIP_MAGIC = b"\x1f\x8b"
# How zlib is told that there is a header of gzip.
GZIP_WINDOW = 31
# The most that gzip makes of a byte: deflate encodes 258 of them in two bits.
MAX_EXPANSION = 1032
# Bytes at the beginning of a file that tell text from anything else.
HEAD = 1024
# Bytes that are read at a time where there may be too many.
PIECE = 1 << 20
# Lines between two reports of progress.
LINES_PER_REPORT = 1000
# What a text is expected to be, unless somebody knows better.
DOCUMENTS = (
    "Expected are documents as plain text, one a line; or a folder of such files, a table or a matrix "
    "with its usual ending."
)
# What "surrogateescape" makes of bytes that cannot be decoded.
UNDECODABLE = re.compile("[\udc80-\udcff]")
# Halves of characters, which no encoding can write: JSON's escapes can stand for one alone.
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class ByteSource:
    """A file, or standard input for "-"."""

    path: str

    @property
    def name(self) -> str:
        """As messages call it."""
        return "standard input" if self.path == "-" else self.path

    @cached_property
    def _pipe(self) -> io.BufferedReader:
        """Opened once: what its buffer has would be lost."""
        return Path(self.path).open("rb")

    def most_bytes(self) -> int:
        """How long the content can be at most."""
        with self._raw() as raw:
            size = _size(raw)
            return size * MAX_EXPANSION if _starts_with(raw, GZIP_MAGIC) else size

    @property
    def is_stream(self) -> bool:
        """Whether it is standard input or a pipe: what was read is gone."""
        return self.path == "-" or Path(self.path).is_fifo()

    def head(self, n_bytes: int) -> bytes:
        """Some of the first bytes of the content, which are still to be read, also from a pipe."""
        with self._raw(last=False) as raw:
            first = raw.peek(HEAD)
            if not first.startswith(GZIP_MAGIC):
                return first[:n_bytes]
            try:
                return zlib.decompressobj(GZIP_WINDOW).decompress(first, n_bytes)
            except zlib.error:
                return b""  # which whoever reads it will say

    def beginning(self, n_bytes: int) -> bytes:
        """The first bytes of the content, of what can be read again."""
        with self.opened() as stream:
            return stream.read(n_bytes)

    def read(self, most: int | None = None) -> bytes:
        """The content as a whole. What is longer than `most` does not fit into memory."""
        with self.opened() as stream:
            if most is None:
                return stream.read()
            content = io.BytesIO()
            while piece := stream.read(PIECE):
                content.write(piece)
                if content.tell() > most:
                    raise MemoryError(
                        f"{self.name}: the content is longer than the {most} bytes that may be used; it "
                        "has to be in memory as a whole. Raise max_memory, or use a binary format."
                    )
        return content.getvalue()

    @contextmanager
    def opened(self) -> Iterator[io.BufferedReader]:
        """The content as bytes."""
        with self._raw() as raw, self._content(raw) as stream:
            yield stream

    def lines(
        self,
        encoding: str,
        newline: str | None,
        progress: ProgressCallback,
        *,
        expected: str = DOCUMENTS,
        longest: int = -1,
    ) -> Iterator[str]:
        """The lines of a text. Bytes that are not in that encoding leave traces: see `invalid_text_reason`.

        `expected` is for the message about what is no text. Of lines that are longer than `longest`
        characters, each piece is given like a line.
        """
        with self._raw() as raw, self._content(raw) as stream:
            self._refuse_binary(stream.peek(HEAD)[:HEAD], encoding, expected)
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
                raise DataFormatError(
                    f"{self.name}: not in the encoding {encoding!r} ({error}). Give the right one."
                ) from None
            finally:
                text.detach()  # or it would close standard input

    @contextmanager
    def _raw(self, *, last: bool = True) -> Iterator[io.BufferedReader]:
        """`last`: whether nothing will be read after it."""
        if self.path != "-" and self.is_stream:
            try:
                yield self._pipe
            finally:
                if last:
                    self._pipe.close()
        elif self.path != "-":
            with Path(self.path).open("rb") as raw:
                yield raw
        elif hasattr(sys.stdin.buffer, "peek"):
            yield cast(io.BufferedReader, sys.stdin.buffer)
        else:  # not everything that stands in for standard input can look ahead
            ahead = io.BufferedReader(cast(Any, sys.stdin.buffer))
            try:
                yield ahead
            finally:
                place = ahead.tell() if ahead.seekable() else None
                own = ahead.detach()  # or it would close what is not its own
                if place is not None:
                    own.seek(place)  # what was only looked at is still to be read

    @contextmanager
    def _content(self, raw: io.BufferedReader) -> Iterator[io.BufferedReader]:
        """Uncompressed, if it is gzip, whatever its name."""
        if not _starts_with(raw, GZIP_MAGIC):
            yield raw
            return
        try:
            with gzip.GzipFile(fileobj=raw) as stream:
                yield io.BufferedReader(cast(io.RawIOBase, stream))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataFormatError(
                f"{self.name}: the compressed file is damaged or cut short ({error}). Fetch it again, or"
                " uncompress what is left of it with 'gzip -dc'."
            ) from None

    def _refuse_binary(self, head: bytes, encoding: str, expected: str) -> None:
        if b"\0" in "a".encode(encoding):  # UTF-16 and its like: NUL says nothing
            return
        mark = utf_16_mark(head)
        if mark:
            raise DataFormatError(
                f"{self.name}: not {encoding}, but by its first bytes {mark}: say so, or make it UTF-8."
            )
        at = head.find(b"\0")
        if at >= 0 or head.startswith(b"%PDF"):
            what = f"a NUL at byte {at}" if at >= 0 else "a PDF"
            raise DataFormatError(f"{self.name}: not a text, but binary ({what}). {expected}")


def check_encoding(encoding: str) -> None:
    """Raises an error if there is no such encoding of text."""
    try:
        "a".encode(encoding)
    except LookupError:
        raise ValueError(
            f"There is no encoding {encoding!r}. Known are 'utf-8', 'latin-1', ..."
        ) from None


def without_mark(encoding: str) -> str:
    """UTF-8 as it is to be decoded: the mark that some programs put first is not text."""
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def utf_16_mark(head: bytes) -> str | None:
    """The encoding that a byte order mark tells, if it is not UTF-8."""
    for mark, name in (
        (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return name
    return None


def invalid_text_reason(text: str, encoding: str) -> str | None:
    """Why a text that `ByteSource.lines` gave cannot be used; None if it can."""
    if "\0" in text:
        return f"binary: a NUL at character {text.index(chr(0)) + 1}"
    bad = UNDECODABLE.search(text)
    if bad:
        return f"not {encoding}: byte 0x{ord(bad[0]) - 0xDC00:02x} at character {bad.start() + 1}"
    half = SURROGATE.search(text)
    if half:
        return f"half of a character: U+{ord(half[0]):04X} at character {half.start() + 1}"
    return None


def is_of_encoding(reason: str, encoding: str) -> bool:
    """Whether a document was skipped since it is in another encoding."""
    return reason.startswith((f"not {encoding}:", f"not {encoding},"))


def _size(raw: io.BufferedReader) -> int:
    """Of a regular file; 0 for a pipe and the like, which does not tell."""
    try:
        status = os.fstat(raw.fileno())
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _starts_with(stream: io.BufferedReader, magic: bytes) -> bool:
    return stream.peek(len(magic))[: len(magic)] == magic
