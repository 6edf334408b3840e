"""CLUTO's `.mat`: a line "rows columns non-zeros", then for each row "column value column value ...".

Without the number of non-zeros, rows hold all their values. Columns are counted from 1. Files come from
strangers: what the first line promises is held against the size of the file before anything relies on
it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans._errors import DataFormatError

# Bytes that are parsed at a time: small beside a large file, large beside the cost of a call.
BLOCK = 1 << 22
# The least that a row, a non-zero ("1 1 ") and a value ("0 ") take in the file.
BYTES_OF_ROW, BYTES_OF_NONZERO, BYTES_OF_VALUE = 1, 4, 2
MAX_COLUMNS = 2**31 - 1
# Characters of a wrong line that a message shows.
SHOWN = 40

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Header:
    n_rows: int
    n_columns: int
    n_nonzeros: int | None
    """None: all values are there, zeros too."""


@dataclass(frozen=True)
class _Lines:
    """Some lines, and the number of the first of them in the file."""

    name: str
    text: bytes
    first: int

    def fail(self, line: int, what: str) -> NoReturn:
        """Raises an error about one of the lines, counted from 0 here."""
        raise DataFormatError(f"{self.name}, line {self.first + line}: {what}")


def read_cluto(name: str, data: bytes) -> csr_array:
    """The matrix of a `.mat` file with that content. `name` is for messages."""
    first = data.find(b"\n")
    header = _header(name, data[: first if first >= 0 else min(len(data), 100)])
    if not data.endswith(b"\n"):
        # Cut in the middle of a number, it would look like a whole file with another number.
        raise DataFormatError(
            f"{name}: the last line has no end, so that the file may have been cut short. If it is"
            " whole, add a line break at its end."
        )
    _check_promises(name, header, len(data) - first - 1)
    parts = [_parse(lines, header) for lines in _blocks(name, data, first + 1, header.n_rows)]
    counts, columns, values = (np.concatenate(some) for some in zip(*parts, strict=True))
    if len(counts) < header.n_rows:
        raise DataFormatError(
            f"{name}: line 1 promises {header.n_rows} rows, but only {len(counts)} follow. The file may "
            "have been cut short."
        )
    if header.n_nonzeros is not None and len(values) != header.n_nonzeros:
        raise DataFormatError(
            f"{name}: line 1 promises {header.n_nonzeros} non-zeros, but the rows have {len(values)}."
        )
    starts = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((values, columns, starts), shape=(header.n_rows, header.n_columns))


def _header(name: str, line: bytes) -> _Header:
    tokens = line.split()
    if len(tokens) not in (2, 3) or not all(re.fullmatch(rb"[+-]?\d{1,100}", t) for t in tokens):
        matlab = line.startswith(b"MATLAB")
        raise DataFormatError(
            f"{name}, line 1: expected 'rows columns non-zeros' of a CLUTO matrix, got "
            f"{_shown(line)}. "
            + (
                "This is a matrix of MATLAB: save it as Matrix Market (scipy.io.mmwrite) or npz."
                if matlab
                else "For another kind of file, use its usual ending."
            )
        )
    numbers = [int(token) for token in tokens]
    for what, number in zip(("rows", "columns", "non-zeros"), numbers, strict=False):
        if number < (0 if what == "non-zeros" else 1):
            raise DataFormatError(f"{name}, line 1: a matrix cannot have {number} {what}.")
    return _Header(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None)


def _check_promises(name: str, header: _Header, n_bytes: int) -> None:
    """The first line must not promise more than the rest of the file has room for."""
    n_values = header.n_rows * header.n_columns if header.n_nonzeros is None else 0
    for what, number, least in (
        ("rows", header.n_rows, BYTES_OF_ROW),
        ("non-zeros", header.n_nonzeros or 0, BYTES_OF_NONZERO),
        ("values", n_values, BYTES_OF_VALUE),
    ):
        if number * least > n_bytes:
            raise DataFormatError(
                f"{name}, line 1: {number} {what} need {number * least} bytes at least, but only "
                f"{n_bytes} follow. The file may have been cut short."
            )
    if header.n_columns > MAX_COLUMNS:
        raise DataFormatError(
            f"{name}, line 1: {header.n_columns} columns are more than the {MAX_COLUMNS} that are read."
        )


def _blocks(name: str, data: bytes, begin: int, n_rows: int) -> Iterator[_Lines]:
    """The lines of the rows, many at a time; what follows them must be blank."""
    line = 2
    while line < n_rows + 2 and begin < len(data):
        end = data.rfind(b"\n", begin, begin + BLOCK) + 1
        if end == 0:  # a line that is longer than a block
            end = data.index(b"\n", begin) + 1
        lines = _Lines(name, data[begin:end], line)
        n_lines = lines.text.count(b"\n")
        surplus = line + n_lines - (n_rows + 2)
        if surplus > 0:
            pieces = lines.text.split(b"\n")
            kept = b"\n".join(pieces[: n_lines - surplus]) + b"\n"
            lines = _Lines(name, kept, line)
            end = begin + len(kept)
            n_lines -= surplus
        yield lines
        begin, line = end, line + n_lines
    rest = data[begin:]
    if rest.strip():
        blank = rest[: len(rest) - len(rest.lstrip())].count(b"\n")
        _Lines(name, rest, line).fail(blank, f"more rows than the {n_rows} that line 1 promises.")


def _parse(lines: _Lines, header: _Header) -> tuple[Ints, NDArray[np.int32], Floats]:
    """How many values each row has, their columns from 0 on, and the values."""
    per_line = _tokens_per_line(lines.text)
    numbers = _numbers(lines, int(per_line.sum()))
    ends = np.cumsum(per_line)
    _check_finite(lines, numbers, ends)
    if header.n_nonzeros is None:
        return _parse_dense(lines, numbers, per_line, header.n_columns)
    odd = np.flatnonzero(per_line % 2)
    if len(odd):
        lines.fail(
            int(odd[0]),
            f"pairs of column and value are expected, but there are {per_line[odd[0]]} numbers.",
        )
    columns, values = numbers[0::2], numbers[1::2]
    good = (columns >= 1) & (columns <= header.n_columns) & (columns == np.floor(columns))
    wrong = np.flatnonzero(~good)
    if len(wrong):
        line = int(np.searchsorted(ends, 2 * wrong[0], side="right"))
        lines.fail(
            line, f"there is no column {columns[wrong[0]]:g}: they go from 1 to {header.n_columns}."
        )
    return per_line // 2, columns.astype(np.int32) - np.int32(1), values


def _parse_dense(
    lines: _Lines, numbers: Floats, per_line: Ints, n_columns: int
) -> tuple[Ints, NDArray[np.int32], Floats]:
    wrong = np.flatnonzero(per_line != n_columns)
    if len(wrong):
        lines.fail(
            int(wrong[0]),
            f"{n_columns} values are expected, as line 1 has no number of non-zeros, but there are "
            f"{per_line[wrong[0]]}.",
        )
    at = np.flatnonzero(numbers)
    counts = np.count_nonzero(numbers.reshape(-1, n_columns), axis=1)
    return counts.astype(np.int64), (at % n_columns).astype(np.int32), numbers[at]


def _tokens_per_line(text: bytes) -> Ints:
    """How many words each line has."""
    codes = np.frombuffer(text, dtype=np.uint8)
    ink = codes > ord(" ")
    starts = ink.copy()
    starts[1:] &= ~ink[:-1]
    before = np.searchsorted(np.flatnonzero(starts), np.flatnonzero(codes == ord("\n")))
    return np.diff(before, prepend=0)


def _numbers(lines: _Lines, expected: int) -> Floats:
    if expected == 0:
        return np.empty(0)
    try:
        numbers: Floats = np.fromstring(lines.text, sep=" ")
    except (
        ValueError,
        DeprecationWarning,
    ):  # the latter from NumPy before 2.3, where warnings are errors
        numbers = np.empty(0)
    if len(numbers) != expected:
        _fail_at_first_word(lines)
    return numbers


def _fail_at_first_word(lines: _Lines) -> NoReturn:
    """The slow way through the lines, to what is not a number."""
    for i, line in enumerate(lines.text.split(b"\n")):
        for token in line.split():
            if not _is_number(token):
                lines.fail(i, f"{_shown(token)} is not a number.")
    lines.fail(0, "the numbers from here on cannot be read.")


def _is_number(token: bytes) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return b"_" not in token


def _check_finite(lines: _Lines, numbers: Floats, ends: Ints) -> None:
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        line = int(np.searchsorted(ends, wrong[0], side="right"))
        lines.fail(line, f"{numbers[wrong[0]]} is not a finite number.")


def _shown(text: bytes) -> Any:
    """What stands there, as far as a message has room for it."""
    cut = text[:SHOWN].decode("utf-8", errors="backslashreplace")
    return repr(cut + ("..." if len(text) > SHOWN else ""))
