"""CLUTO's `.mat`: a line "rows columns non-zeros", then for each row "column value column value ...".

Without the number of non-zeros, rows hold all their values. Columns are counted from 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._readers.number_lines import (
    Floats,
    Ints,
    NumberLines,
    blocks,
    check_columns,
    check_end,
    check_least,
    check_room,
    shown,
    whole_numbers,
)

# The least that a row, a non-zero ("1 1 ") and a value ("0 ") take in the file.
BYTES_OF_ROW, BYTES_OF_NONZERO, BYTES_OF_VALUE = 1, 4, 2

Part = tuple[Ints, NDArray[np.int32], Floats]


@dataclass(frozen=True)
class _Header:
    n_rows: int
    n_columns: int
    n_nonzeros: int | None
    """None: all values are there, zeros too."""


def read_cluto(name: str, data: bytes) -> csr_array:
    """The matrix of a `.mat` file with that content. `name` is for messages."""
    first = data.find(b"\n")
    header = _header(name, data[: first if first >= 0 else len(data)])
    check_end(name, data)
    _check_promises(name, header, len(data) - first - 1)
    parts: list[Part] = []
    n_rows = 0
    for lines in blocks(name, data, first + 1, 2):
        parts.append(_parse(lines, header, header.n_rows - n_rows))
        n_rows += len(parts[-1][0])
    if not parts:  # of no rows
        parts = [(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))]
    counts, columns, values = (np.concatenate(some) for some in zip(*parts, strict=True))
    if n_rows < header.n_rows:
        raise DataFormatError(
            f"{name}: line 1 promises {header.n_rows} rows, but only {n_rows} follow. The file may have "
            "been cut short."
        )
    if header.n_nonzeros is not None and len(values) != header.n_nonzeros:
        raise DataFormatError(
            f"{name}: line 1 promises {header.n_nonzeros} non-zeros, but the rows have {len(values)}."
        )
    starts = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((values, columns, starts), shape=(header.n_rows, header.n_columns))


def check_first_line(name: str, data: bytes) -> None:
    """Whether a file that begins so is one of these."""
    _header(name, data.partition(b"\n")[0])


def _header(name: str, line: bytes) -> _Header:
    numbers = whole_numbers(line)
    if numbers is None or len(numbers) not in (2, 3):
        remedy = "For another kind of file, use its usual ending."
        if line.startswith(b"MATLAB"):
            remedy = "This is a matrix of MATLAB: save it as Matrix Market (scipy.io.mmwrite) or npz."
        raise DataFormatError(
            f"{name}, line 1: expected 'rows columns non-zeros' of a CLUTO matrix, got {shown(line)}. "
            f"{remedy}"
        )
    for what, number in zip(("rows", "columns", "non-zeros"), numbers, strict=False):
        check_least(name, 1, what, number, 1 if what == "columns" else 0)
    return _Header(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None)


def _check_promises(name: str, header: _Header, n_bytes: int) -> None:
    check_room(name, 1, "rows", header.n_rows, BYTES_OF_ROW, n_bytes)
    if header.n_nonzeros is None:
        check_room(name, 1, "values", header.n_rows * header.n_columns, BYTES_OF_VALUE, n_bytes)
    else:
        check_room(name, 1, "non-zeros", header.n_nonzeros, BYTES_OF_NONZERO, n_bytes)
    check_columns(name, 1, header.n_columns)


def _parse(lines: NumberLines, header: _Header, n_wanted: int) -> Part:
    """How many values each row has, their columns from 0 on, and the values.

    Of the lines, so many are rows at most; what follows them must be blank.
    """
    per_line = lines.per_line[:n_wanted]
    surplus = np.flatnonzero(lines.per_line[n_wanted:])
    if len(surplus):
        lines.fail(
            n_wanted + int(surplus[0]), f"more rows than the {header.n_rows} that line 1 promises."
        )
    if header.n_nonzeros is None:
        return _parse_dense(lines, per_line, header.n_columns)
    return _parse_sparse(lines, per_line, header.n_columns)


def _parse_sparse(lines: NumberLines, per_line: Ints, n_columns: int) -> Part:
    columns, values = lines.numbers[0::2], lines.numbers[1::2]
    odd = np.flatnonzero(per_line % 2)
    if len(odd):
        lines.fail(
            int(odd[0]),
            f"pairs of column and value are expected, but there are {per_line[odd[0]]} numbers.",
        )
    good = (columns >= 1) & (columns <= n_columns) & (columns == np.floor(columns))
    wrong = np.flatnonzero(~good)
    if len(wrong):
        lines.fail(
            lines.line_of(2 * int(wrong[0])),
            f"there is no column {columns[wrong[0]]:g}: they go from 1 to {n_columns}.",
        )
    return per_line // 2, columns.astype(np.int32) - np.int32(1), values


def _parse_dense(lines: NumberLines, per_line: Ints, n_columns: int) -> Part:
    wrong = np.flatnonzero(per_line != n_columns)
    if len(wrong):
        lines.fail(
            int(wrong[0]),
            f"{n_columns} values are expected, as line 1 has no number of non-zeros, but there are "
            f"{per_line[wrong[0]]}.",
        )
    at = np.flatnonzero(lines.numbers)
    counts = np.count_nonzero(lines.numbers.reshape(-1, n_columns), axis=1)
    return counts.astype(np.int64), (at % n_columns).astype(np.int32), lines.numbers[at]
