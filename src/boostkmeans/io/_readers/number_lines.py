"""Lines of numbers, parsed many at a time: what CLUTO's and Matrix Market's files consist of.

Files come from strangers. Whatever is in them, the outcome is an array or an error that names the line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError

# Bytes that are parsed at a time: small beside a large file, large beside the cost of a call.
BLOCK = 1 << 22
MAX_COLUMNS = 2**31 - 1
# Characters of a wrong line that a message shows.
SHOWN = 40

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class NumberLines:
    """Some lines of a file, and the number of the first of them."""

    name: str
    text: bytes
    first: int

    def fail(self, line: int, what: str) -> NoReturn:
        """Raises an error about one of the lines, counted from 0 here."""
        raise DataFormatError(f"{self.name}, line {self.first + line}: {what}")

    @cached_property
    def per_line(self) -> Ints:
        """How many words each line has."""
        codes = np.frombuffer(self.text, dtype=np.uint8)
        ink = codes > ord(" ")
        starts = ink.copy()
        starts[1:] &= ~ink[:-1]
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
        """The line that has the word of that number."""
        return int(np.searchsorted(np.cumsum(self.per_line), word, side="right"))

    def _fail_at_first_word(self) -> NoReturn:
        """The slow way through the lines, to what is not a number."""
        for i, line in enumerate(self.text.split(b"\n")):
            for word in line.split():
                if not _is_number(word):
                    self.fail(i, f"{shown(word)} is not a number.")
        self.fail(0, "the numbers from here on cannot be read.")


def blocks(name: str, data: bytes, begin: int, line: int) -> Iterator[NumberLines]:
    """The lines from a byte on, which begins the line of that number. The last one must have an end."""
    while begin < len(data):
        end = data.rfind(b"\n", begin, begin + BLOCK) + 1
        if end == 0:  # a line that is longer than a block
            end = data.index(b"\n", begin) + 1
        yield NumberLines(name, data[begin:end], line)
        line += data.count(b"\n", begin, end)
        begin = end


def check_end(name: str, data: bytes) -> None:
    """Cut in the middle of a number, a file would look like a whole one with another number."""
    if not data.endswith(b"\n"):
        raise DataFormatError(
            f"{name}: the last line has no end, so that the file may have been cut short. If it is "
            "whole, add a line break at its end."
        )


def whole_numbers(line: bytes) -> list[int] | None:
    """The numbers of a header; None if it is something else."""
    words = line.split()
    if not all(re.fullmatch(rb"[+-]?\d{1,100}", word) for word in words):
        return None
    return [int(word) for word in words]


def check_least(name: str, line: int, what: str, number: int, least: int) -> None:
    """A header must not promise less than makes sense."""
    if number < least:
        raise DataFormatError(f"{name}, line {line}: a matrix cannot have {number} {what}.")


def check_room(name: str, line: int, what: str, number: int, each: int, room: int) -> None:
    """A header must not promise more than the rest of the file has room for."""
    if number * each > room:
        raise DataFormatError(
            f"{name}, line {line}: {number} {what} need {number * each} bytes at least, but only {room} "
            "follow. The file may have been cut short."
        )


def check_columns(name: str, line: int, n_columns: int) -> None:
    """Columns need not be in the file: there is a limit that is high enough for all terms there are."""
    if n_columns > MAX_COLUMNS:
        raise DataFormatError(
            f"{name}, line {line}: {n_columns} columns are more than the {MAX_COLUMNS} that are read."
        )


def shown(text: bytes) -> str:
    """What stands there, as far as a message has room for it."""
    cut = text[:SHOWN].decode("utf-8", errors="backslashreplace")
    return repr(cut + ("..." if len(text) > SHOWN else ""))


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word
