"""Matrix Market's `.mtx`, as far as documents come in it: real numbers, counts or a pattern.

SciPy's reader is faster, and right for files that are. On others it may write beyond its arrays (1.17:
a last line without an end, or too many values), so that files of strangers are not for it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from boostkmeans._errors import DataFormatError
from boostkmeans.io._number_lines import (
    Floats,
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
# The least that an entry of each layout takes in the file: "1 1" or "0", and a line break.
BYTES_OF_ENTRY, BYTES_OF_VALUE = 4, 2


@dataclass(frozen=True)
class _Header:
    dense: bool
    words: int
    """That each entry has."""
    line: int
    """That says how large the matrix is."""
    n_rows: int
    n_columns: int
    n_entries: int
    body: int
    """Where the entries begin, in bytes."""


def read_matrix_market(name: str, data: bytes) -> coo_array:
    """The matrix of a `.mtx` file with that content. `name` is for messages."""
    header = _header(name, data)
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
    return coo_array((values, (rows, columns)), shape=shape)


def _header(name: str, data: bytes) -> _Header:
    end = data.find(b"\n") + 1
    banner = data[: end or len(data)].lower().split()
    if len(banner) != 5 or banner[:2] != [b"%%matrixmarket", b"matrix"]:
        raise DataFormatError(
            f"{name}, line 1: expected '%%MatrixMarket matrix coordinate real general', got "
            f"{shown(data[: end or len(data)])}."
        )
    layout, field, symmetry = banner[2:]
    dense = layout == b"array"
    if (
        layout not in LAYOUTS
        or field not in FIELDS
        or symmetry != b"general"
        or (dense and field == b"pattern")
    ):
        raise DataFormatError(
            f"{name}, line 1: documents are read from coordinate or array matrices, of real numbers, "
            f"integers or a pattern, and general; this one is {shown(b' '.join(banner[2:]))}."
        )
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
    return _Header(dense, words, line, n_rows, n_columns, n_entries, end)


def _check_promises(name: str, header: _Header, size: int) -> None:
    check_least(name, header.line, "rows", header.n_rows, 1)
    check_least(name, header.line, "columns", header.n_columns, 1)
    check_least(name, header.line, "entries", header.n_entries, 0)
    each = BYTES_OF_VALUE if header.dense else BYTES_OF_ENTRY
    check_room(name, header.line, "entries", header.n_entries, each, size - header.body)
    # Empty rows need not be in the file; but more of them than it has bytes are not documents.
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
