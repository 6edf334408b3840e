"""Fast parsing of lines of numbers, for the CLUTO and Matrix Market formats.

The input is not trusted: the result is an array, or an error that names the line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from boostkmeans.io._access.location import Location

# Number of bytes that are parsed at a time. The overhead of a call and the memory are then negligible.
BLOCK_BYTES = 1 << 22
# Largest number of columns, which int32 indices can address.
MAX_COLUMNS = 2**31 - 1
# Number of characters of an invalid line that a message shows.
MAX_SHOWN = 40

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class NumberLines:
    """Some consecutive lines of a file."""

    name: str
    """Name of the file in error messages."""
    text: bytes
    first: int
    """Number of the first line in the file."""

    def fail(self, line: int, problem: str) -> NoReturn:
        """Raise DataFormatError for a line with this zero-based index."""
        raise Location(self.name, f"line {self.first + line}").error(problem)

    @cached_property
    def per_line(self) -> Ints:
        """Number of words in each line."""
        codes = np.frombuffer(self.text, dtype=np.uint8)
        is_word = codes > ord(" ")
        starts = is_word.copy()
        starts[1:] &= ~is_word[:-1]
        before = np.searchsorted(np.flatnonzero(starts), np.flatnonzero(codes == ord("\n")))
        return np.diff(before, prepend=0)

    @cached_property
    def numbers(self) -> Floats:
        """All words as finite numbers."""
        expected = int(self.per_line.sum())
        if expected == 0:
            return np.empty(0)
        try:
            numbers: Floats = np.fromstring(self.text, sep=" ")
        except (ValueError, DeprecationWarning):  # older versions of NumPy only warn
            numbers = np.empty(0)
        if len(numbers) != expected:
            self._fail_at_first_word()
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            self.fail(self.line_of(int(wrong[0])), f"{numbers[wrong[0]]} is not a finite number.")
        return numbers

    def line_of(self, word: int) -> int:
        """Return the index of the line that contains a word."""
        return int(np.searchsorted(np.cumsum(self.per_line), word, side="right"))

    def _fail_at_first_word(self) -> NoReturn:
        """Find the first word that is not a number. This is slow, and only used for error messages."""
        for i, line in enumerate(self.text.split(b"\n")):
            for word in line.split():
                if not _is_number(word):
                    self.fail(i, f"{quote(word)} is not a number.")
        self.fail(0, "The numbers from this line on cannot be parsed.")


def blocks(name: str, data: bytes, begin: int, line: int) -> Iterator[NumberLines]:
    """Iterate over blocks of lines, starting at byte `begin`, where line number `line` begins.

    The last line must end with a line break.
    """
    while begin < len(data):
        end = data.rfind(b"\n", begin, begin + BLOCK_BYTES) + 1
        if end == 0:  # a line that is longer than a block
            end = data.index(b"\n", begin) + 1
        yield NumberLines(name, data[begin:end], line)
        line += data.count(b"\n", begin, end)
        begin = end


def check_end(name: str, data: bytes) -> None:
    """Raise DataFormatError unless the last line ends with a line break.

    Otherwise, a file that is truncated inside a number would be read with a wrong value.
    """
    if not data.endswith(b"\n"):
        raise Location(name).error(
            "The last line does not end with a line break, so the file may be truncated.",
            "If it is complete, add a line break at its end.",
        )


def whole_numbers(line: bytes) -> list[int] | None:
    """Return the integers of a header line, or None if it holds anything else."""
    words = line.split()
    if not all(re.fullmatch(rb"[+-]?\d{1,100}", word) for word in words):
        return None
    return [int(word) for word in words]


def check_minimum(name: str, line: int, what: str, number: int, minimum: int) -> None:
    """Raise DataFormatError if a header declares too small a number of rows, columns or values."""
    if number < minimum:
        raise Location(name, f"line {line}").error(f"A matrix cannot have {number} {what}.")


def check_room(name: str, line: int, what: str, number: int, each: int, room: int) -> None:
    """Raise DataFormatError if a header declares more items of `each` bytes than the file can hold."""
    if number * each > room:
        raise Location(name, f"line {line}").error(
            f"The header declares {number} {what}, which need at least {number * each:,} bytes, but "
            f"only {room:,} follow. The file may be truncated."
        )


def check_columns(name: str, line: int, n_columns: int) -> None:
    """Raise DataFormatError if a header declares too many columns.

    Empty columns take no space in the file, so the file size does not limit their number.
    """
    if n_columns > MAX_COLUMNS:
        raise Location(name, f"line {line}").error(
            f"The header declares {n_columns} columns. At most {MAX_COLUMNS} are supported."
        )


def quote(text: bytes) -> str:
    """Return the beginning of a text in quotation marks, for a message."""
    cut = text[:MAX_SHOWN].decode("utf-8", errors="backslashreplace")
    return repr(cut + ("..." if len(text) > MAX_SHOWN else ""))


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word
