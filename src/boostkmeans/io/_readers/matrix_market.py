"""The Matrix Market format .mtx: real numbers, integers or a pattern, general or symmetric.

SciPy's reader is faster, but malformed files make it write beyond its arrays: this happens with SciPy
1.17 for a last line without a line break and for too many values; scipy/scipy#19949 reports a
segmentation fault for another file. It must not be used for untrusted files.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

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

LAYOUTS = (b"coordinate", b"array")
FIELDS = (b"real", b"double", b"integer", b"unsigned-integer", b"pattern")
# Factor of an entry on the other side of the diagonal, where the file stores only one half of the
# matrix. 0 means that the file stores both halves.
MIRROR_FACTORS = {b"general": 0, b"symmetric": 1, b"skew-symmetric": -1}
# Smallest number of bytes of an entry in coordinate layout: "1 1" and a line break.
ENTRY_BYTES = 4
# Smallest number of bytes of an entry in array layout: "0" and a line break.
VALUE_BYTES = 2


@dataclass(frozen=True)
class _Header:
    dense: bool
    mirror_factor: int
    """Factor of an entry on the other side of the diagonal, or 0 if the file stores both halves."""
    n_words: int
    """Number of words of each entry."""
    line: int
    """Number of the line that holds the size of the matrix."""
    n_rows: int
    n_columns: int
    n_entries: int
    body: int
    """Offset of the first entry in bytes."""


def read_matrix_market(name: str, data: bytes) -> coo_array:
    """Return the matrix of a .mtx file with this content. `name` is the file name for messages."""
    header = _parse_header(name, data)
    check_end(name, data)
    _check_declared_size(name, header, len(data))
    parts = [_entries(lines, header) for lines in blocks(name, data, header.body, header.line + 1)]
    entries = np.concatenate(parts) if parts else np.empty((0, header.n_words))
    if len(entries) != header.n_entries:
        raise Location(name, f"line {header.line}").error(
            f"The header declares {header.n_entries} entries, but {len(entries)} follow. The file may "
            "be truncated."
        )
    shape = (header.n_rows, header.n_columns)
    if header.dense:
        return coo_array(entries.reshape(shape, order="F"))
    values = entries[:, 2] if header.n_words == 3 else np.ones(len(entries))
    rows, columns = (entries[:, i].astype(np.int64) - 1 for i in (0, 1))
    if header.mirror_factor:
        _check_half(name, header, rows, columns)
        values, rows, columns = _with_other_half(header, values, rows, columns)
    return coo_array((values, (rows, columns)), shape=shape)


def check_banner(name: str, data: bytes) -> list[bytes]:
    """Return the layout, the field and the symmetry that the first line names.

    Raises DataFormatError if the first line is not that of a supported Matrix Market file.
    """
    where = Location(name, "line 1")
    line = data.partition(b"\n")[0]
    banner = line.lower().split()
    if len(banner) != 5 or banner[:2] != [b"%%matrixmarket", b"matrix"]:
        raise where.error(
            f"Expected '%%MatrixMarket matrix coordinate real general'. Got {quote(line)}."
        )
    layout, field, symmetry = banner[2:]
    dense = layout == b"array"
    if (
        layout not in LAYOUTS
        or field not in FIELDS
        or symmetry not in MIRROR_FACTORS
        or (dense and (field == b"pattern" or MIRROR_FACTORS[symmetry]))
    ):
        raise where.error(
            "Expected a coordinate matrix of real numbers, integers or a pattern, general or symmetric, "
            "or a general array of real numbers or integers. Got "
            f"{quote(b' '.join(banner[2:]))}."
        )
    return banner[2:]


def _check_half(name: str, header: _Header, rows: Ints, columns: Ints) -> None:
    if header.n_rows != header.n_columns or bool((columns > rows).any()):
        raise Location(name, "line 1").error(
            "The matrix is declared as symmetric, but is not square or has entries above the diagonal.",
            "Write it again as 'general'.",
        )


def _with_other_half(header: _Header, values: Floats, rows: Ints, columns: Ints) -> list[Any]:
    """Return values, rows and columns with the entries that the symmetry implies."""
    off = rows != columns
    more = (header.mirror_factor * values[off], columns[off], rows[off])
    return [np.concatenate(both) for both in zip((values, rows, columns), more, strict=True)]


def _parse_header(name: str, data: bytes) -> _Header:
    layout, field, symmetry = check_banner(name, data)
    dense = layout == b"array"
    end = data.find(b"\n") + 1 or len(data)
    line, begin = 1, end
    while True:  # skip comments and blank lines
        line, begin, end = line + 1, end, data.find(b"\n", end) + 1
        if end == 0:
            raise Location(name).error("The file ends before the line with the size of the matrix.")
        text = data[begin:end].strip()
        if text and not text.startswith(b"%"):
            break
    numbers = whole_numbers(text)
    if numbers is None or len(numbers) != (2 if dense else 3):
        expected = "rows columns" if dense else "rows columns entries"
        raise Location(name, f"line {line}").error(f"Expected '{expected}'. Got {quote(text)}.")
    n_rows, n_columns, n_entries = numbers if len(numbers) == 3 else (*numbers, numbers[0] * numbers[1])
    n_words = 1 if dense else 2 if field == b"pattern" else 3
    return _Header(dense, MIRROR_FACTORS[symmetry], n_words, line, n_rows, n_columns, n_entries, end)


def _check_declared_size(name: str, header: _Header, size: int) -> None:
    """Raise DataFormatError if the header declares more than a file of `size` bytes can hold."""
    check_minimum(name, header.line, "rows", header.n_rows, 0)
    check_minimum(name, header.line, "columns", header.n_columns, 1)
    check_minimum(name, header.line, "entries", header.n_entries, 0)
    each = VALUE_BYTES if header.dense else ENTRY_BYTES
    check_room(name, header.line, "entries", header.n_entries, each, size - header.body)
    # Empty rows take no space in the file. A file with more rows than bytes is still rejected.
    check_room(name, header.line, "rows", header.n_rows, 1, size)
    check_columns(name, header.line, header.n_columns)


def _entries(lines: NumberLines, header: _Header) -> Floats:
    """Return the words of all lines that are not blank, one row per line."""
    wrong = np.flatnonzero((lines.per_line != header.n_words) & (lines.per_line > 0))
    entries = lines.numbers
    if len(wrong):
        lines.fail(int(wrong[0]), f"Expected {header.n_words} numbers. Got {lines.per_line[wrong[0]]}.")
    entries = entries.reshape(-1, header.n_words)
    if not header.dense:
        for i, (what, high) in enumerate((("row", header.n_rows), ("column", header.n_columns))):
            index = entries[:, i]
            bad = np.flatnonzero((index < 1) | (index > high) | (index != np.floor(index)))
            if len(bad):
                lines.fail(
                    lines.line_of(header.n_words * int(bad[0])),
                    f"Expected a {what} from 1 to {high}. Got {index[bad[0]]:g}.",
                )
    return entries
