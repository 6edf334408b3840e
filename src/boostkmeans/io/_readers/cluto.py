"""CLUTO's .mat format.

The first line is "rows columns non-zeros". Each row follows on its own line as "column value column
value ...", with columns counted from 1. If the number of non-zeros is missing, rows hold all values.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans.io._access.location import Location
from boostkmeans.io._readers.number_lines import (
    Floats,
    Ints,
    NumberLines,
    blocks,
    check_columns,
    check_end,
    check_minimum,
    check_room,
    quote,
    whole_numbers,
)

# Smallest number of bytes of a row: its line break.
ROW_BYTES = 1
# Smallest number of bytes of a non-zero: "1 1 ".
NONZERO_BYTES = 4
# Smallest number of bytes of a value of a dense row: "0 ".
VALUE_BYTES = 2

ParsedRows = tuple[Ints, NDArray[np.int32], Floats]
"""Number of values of each row, their columns counted from 0, and the values."""


@dataclass(frozen=True)
class _Header:
    n_rows: int
    n_columns: int
    n_nonzeros: int | None
    """None if the rows hold all values, including zeros."""


def read_cluto(name: str, data: bytes) -> csr_array:
    """Return the matrix of a .mat file with this content. `name` is the file name for messages."""
    first = data.find(b"\n")
    header = _parse_header(name, data[: first if first >= 0 else len(data)])
    check_end(name, data)
    _check_declared_size(name, header, len(data) - first - 1)
    parts: list[ParsedRows] = []
    n_rows = 0
    for lines in blocks(name, data, first + 1, 2):
        parts.append(_parse(lines, header, header.n_rows - n_rows))
        n_rows += len(parts[-1][0])
    if not parts:  # a matrix without rows
        parts = [(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))]
    counts, columns, values = (np.concatenate(some) for some in zip(*parts, strict=True))
    where = Location(name, "line 1")
    if n_rows < header.n_rows:
        raise where.error(
            f"The header declares {header.n_rows} rows, but only {n_rows} follow. The file may be "
            "truncated."
        )
    if header.n_nonzeros is not None and len(values) != header.n_nonzeros:
        raise where.error(
            f"The header declares {header.n_nonzeros} non-zeros, but the rows have {len(values)}."
        )
    starts = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((values, columns, starts), shape=(header.n_rows, header.n_columns))


def check_first_line(name: str, data: bytes) -> None:
    """Raise DataFormatError unless the first line is a valid header of a CLUTO matrix."""
    _parse_header(name, data.partition(b"\n")[0])


def _parse_header(name: str, line: bytes) -> _Header:
    numbers = whole_numbers(line)
    if numbers is None or len(numbers) not in (2, 3):
        remedy = "If the file has another format, use its usual suffix."
        if line.startswith(b"MATLAB"):
            remedy = "This is a MATLAB file: save it as Matrix Market (scipy.io.mmwrite) or npz."
        raise Location(name, "line 1").error(
            f"Expected 'rows columns non-zeros' of a CLUTO matrix. Got {quote(line)}.", remedy
        )
    for what, number in zip(("rows", "columns", "non-zeros"), numbers, strict=False):
        check_minimum(name, 1, what, number, 1 if what == "columns" else 0)
    return _Header(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None)


def _check_declared_size(name: str, header: _Header, n_bytes: int) -> None:
    """Raise DataFormatError if the header declares more than `n_bytes` bytes can hold."""
    check_room(name, 1, "rows", header.n_rows, ROW_BYTES, n_bytes)
    if header.n_nonzeros is None:
        check_room(name, 1, "values", header.n_rows * header.n_columns, VALUE_BYTES, n_bytes)
    else:
        check_room(name, 1, "non-zeros", header.n_nonzeros, NONZERO_BYTES, n_bytes)
    check_columns(name, 1, header.n_columns)


def _parse(lines: NumberLines, header: _Header, n_missing: int) -> ParsedRows:
    """Parse up to `n_missing` rows, one per line. The lines after them must be blank."""
    per_line = lines.per_line[:n_missing]
    surplus = np.flatnonzero(lines.per_line[n_missing:])
    if len(surplus):
        line = n_missing + int(surplus[0])
        lines.fail(line, f"There are more rows than the {header.n_rows} that line 1 declares.")
    if header.n_nonzeros is None:
        return _parse_dense(lines, per_line, header.n_columns)
    return _parse_sparse(lines, per_line, header.n_columns)


def _parse_sparse(lines: NumberLines, per_line: Ints, n_columns: int) -> ParsedRows:
    columns, values = lines.numbers[0::2], lines.numbers[1::2]
    odd = np.flatnonzero(per_line % 2)
    if len(odd):
        lines.fail(int(odd[0]), f"Expected pairs of column and value. Got {per_line[odd[0]]} numbers.")
    good = (columns >= 1) & (columns <= n_columns) & (columns == np.floor(columns))
    wrong = np.flatnonzero(~good)
    if len(wrong):
        lines.fail(
            lines.line_of(2 * int(wrong[0])),
            f"Expected a column from 1 to {n_columns}. Got {columns[wrong[0]]:g}.",
        )
    return per_line // 2, columns.astype(np.int32) - np.int32(1), values


def _parse_dense(lines: NumberLines, per_line: Ints, n_columns: int) -> ParsedRows:
    wrong = np.flatnonzero(per_line != n_columns)
    if len(wrong):
        lines.fail(
            int(wrong[0]),
            f"Expected {n_columns} values, because line 1 has no number of non-zeros. Got "
            f"{per_line[wrong[0]]}.",
        )
    at = np.flatnonzero(lines.numbers)
    counts = np.count_nonzero(lines.numbers.reshape(-1, n_columns), axis=1)
    return counts.astype(np.int64), (at % n_columns).astype(np.int32), lines.numbers[at]
