"""Matrix Market's `.mtx`: real numbers, counts or a pattern; half of a symmetric matrix stands for all.

SciPy's reader is faster, and right for files that are. On others it may write beyond its arrays (1.17:
a last line without an end, or too many values), so that files of strangers are not for it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

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

LAYOUTS = (b"coordinate", b"array")
FIELDS = (b"real", b"double", b"integer", b"unsigned-integer", b"pattern")
# Of which only one half is in the file, and what the other half is multiplied by.
MIRRORED = {b"general": 0, b"symmetric": 1, b"skew-symmetric": -1}
# The least that an entry of each layout takes in the file: "1 1" or "0", and a line break.
BYTES_OF_ENTRY, BYTES_OF_VALUE = 4, 2


@dataclass(frozen=True)
class _Header:
    dense: bool
    mirrored: int
    """What an entry is multiplied by on the other side of the diagonal; 0 if it is not there."""
    words: int
    """That each entry has."""
    line: int
    """That says how large the matrix is."""
    n_rows: int
    n_columns: int
    n_entries: int
    body: int
    """Where the entries begin, in bytes."""


def read_matrix_market(name: str, data: bytes, what: str = "documents") -> coo_array:
    """The matrix of a `.mtx` file with that content. `name` is for messages, and what its rows are."""
    header = _header(name, data, what)
    check_end(name, data)
    _check_promises(name, header, len(data))
    parts = [_entries(lines, header) for lines in blocks(name, data, header.body, header.line + 1)]
    entries = np.concatenate(parts) if parts else np.empty((0, header.words))
    if len(entries) != header.n_entries:
        raise DataFormatError(
            f"{name}: line {header.line} promises {header.n_entries} entries, but {len(entries)} follow."
            " The file may have been cut short."
        )
    shape = (header.n_rows, header.n_columns)
    if header.dense:
        return coo_array(entries.reshape(shape, order="F"))
    values = entries[:, 2] if header.words == 3 else np.ones(len(entries))
    rows, columns = (entries[:, i].astype(np.int64) - 1 for i in (0, 1))
    if header.mirrored:
        _check_half(name, header, rows, columns, what)
        values, rows, columns = _mirrored(header, values, rows, columns)
    return coo_array((values, (rows, columns)), shape=shape)


def _check_half(name: str, header: _Header, rows: Ints, columns: Ints, what: str) -> None:
    if header.n_rows != header.n_columns or bool((columns > rows).any()):
        raise DataFormatError(
            f"{name}, line 1: {what} are read from a symmetric matrix if it has as many rows as columns "
            "and entries below the diagonal or on it. Write it again as 'general'."
        )


def _mirrored(header: _Header, values: Floats, rows: Ints, columns: Ints) -> list[Any]:
    """With what the file leaves out, as it follows from the other half."""
    off = rows != columns
    more = (header.mirrored * values[off], columns[off], rows[off])
    return [np.concatenate(both) for both in zip((values, rows, columns), more, strict=True)]


def check_banner(name: str, data: bytes, what: str = "vectors") -> list[bytes]:
    """The layout, the field and the symmetry that the first line says."""
    line = data.partition(b"\n")[0]
    banner = line.lower().split()
    if len(banner) != 5 or banner[:2] != [b"%%matrixmarket", b"matrix"]:
        raise DataFormatError(
            f"{name}, line 1: expected '%%MatrixMarket matrix coordinate real general', got "
            f"{shown(line)}."
        )
    layout, field, symmetry = banner[2:]
    dense = layout == b"array"
    if (
        layout not in LAYOUTS
        or field not in FIELDS
        or symmetry not in MIRRORED
        or (dense and (field == b"pattern" or MIRRORED[symmetry]))
    ):
        raise DataFormatError(
            f"{name}, line 1: {what} are read from coordinate or array matrices, of real numbers, "
            "integers or a pattern, and general (coordinate: or symmetric); this one is "
            f"{shown(b' '.join(banner[2:]))}."
        )
    return banner[2:]


def _header(name: str, data: bytes, what: str) -> _Header:
    layout, field, symmetry = check_banner(name, data, what)
    dense = layout == b"array"
    end = data.find(b"\n") + 1 or len(data)
    line, begin = 1, end
    while True:
        line, begin, end = line + 1, end, data.find(b"\n", end) + 1
        if end == 0:
            raise DataFormatError(f"{name}: the file ends before it says how large the matrix is.")
        text = data[begin:end].strip()
        if text and not text.startswith(b"%"):
            break
    numbers = whole_numbers(text)
    if numbers is None or len(numbers) != (2 if dense else 3):
        expected = "rows columns" if dense else "rows columns entries"
        raise DataFormatError(f"{name}, line {line}: expected '{expected}', got {shown(text)}.")
    n_rows, n_columns, n_entries = numbers if len(numbers) == 3 else (*numbers, numbers[0] * numbers[1])
    words = 1 if dense else 2 if field == b"pattern" else 3
    return _Header(dense, MIRRORED[symmetry], words, line, n_rows, n_columns, n_entries, end)


def _check_promises(name: str, header: _Header, size: int) -> None:
    check_least(name, header.line, "rows", header.n_rows, 0)
    check_least(name, header.line, "columns", header.n_columns, 1)
    check_least(name, header.line, "entries", header.n_entries, 0)
    each = BYTES_OF_VALUE if header.dense else BYTES_OF_ENTRY
    check_room(name, header.line, "entries", header.n_entries, each, size - header.body)
    # Empty rows need not be in the file; but more of them than it has bytes are no data.
    check_room(name, header.line, "rows", header.n_rows, 1, size)
    check_columns(name, header.line, header.n_columns)


def _entries(lines: NumberLines, header: _Header) -> Floats:
    """A row for each line that is not blank."""
    wrong = np.flatnonzero((lines.per_line != header.words) & (lines.per_line > 0))
    entries = lines.numbers
    if len(wrong):
        lines.fail(
            int(wrong[0]),
            f"{header.words} numbers are expected, but there are {lines.per_line[wrong[0]]}.",
        )
    entries = entries.reshape(-1, header.words)
    if not header.dense:
        for i, (what, high) in enumerate((("row", header.n_rows), ("column", header.n_columns))):
            place = entries[:, i]
            bad = np.flatnonzero((place < 1) | (place > high) | (place != np.floor(place)))
            if len(bad):
                lines.fail(
                    lines.line_of(header.words * int(bad[0])),
                    f"there is no {what} {place[bad[0]]:g}: they go from 1 to {high}.",
                )
    return entries
