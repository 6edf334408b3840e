"""Parser of the numbers of rows and values in the footer of a Parquet file.

pyarrow provides the same numbers, but when it reads the metadata of a damaged file, an uncaught C++
exception can end the process (seen with pyarrow 26.0). Its readers catch such exceptions, but they
allocate memory for all values that the footer declares. The numbers must therefore be checked before
pyarrow opens the file.

The footer is encoded in the compact protocol of Thrift, as defined in parquet.thrift.
"""

import re
from dataclasses import dataclass
from typing import Any

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile

MAGIC = b"PAR1"
# Number of bytes at the end of a file: the length of the footer, and the magic bytes.
END_BYTES = 8
# Maximum depth of nested structures. Parquet has six levels.
MAX_DEPTH = 16
# Types of Thrift's compact protocol.
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
# Strings shorter than this are skipped by a regular expression. Most of them are the minima and maxima
# in column statistics.
MAX_SIMPLE_BYTES = 17


def _simple_structure() -> re.Pattern[bytes]:
    """Return a pattern of structures of numbers, booleans and short strings, which fill most footers."""
    heads = {
        kind: b"[" + b"".join(re.escape(bytes([i << 4 | kind])) for i in range(1, 16)) + b"]"
        for kind in (TRUE, FALSE, *INTEGERS, BINARY)
    }
    number = rb"[\x80-\xff]*+[\x00-\x7f]"
    some_bytes = b"|".join(re.escape(bytes([n])) + b".{%d}" % n for n in range(MAX_SIMPLE_BYTES))
    fields = [heads[kind] + number for kind in INTEGERS] + [heads[TRUE], heads[FALSE]]
    fields.append(heads[BINARY] + b"(?:" + some_bytes + b")")
    return re.compile(b"(?:" + b"|".join(fields) + rb")*+\x00", re.DOTALL)


SIMPLE_STRUCTURE = _simple_structure()
# IDs of the required fields of each structure, and the structures in these fields.
COLUMN_METADATA = {3: None, 5: None}
COLUMN_CHUNK = {1: None, 3: COLUMN_METADATA}
ROW_GROUP = {1: COLUMN_CHUNK, 3: None}
FILE_METADATA = {3: None, 4: ROW_GROUP}


@dataclass(frozen=True)
class RowGroup:
    """Rows that are stored together."""

    n_rows: int
    columns: list[tuple[str, int]]
    """Name of the column of each chunk, and its number of values, including nulls."""


def row_groups(file: BinaryFile) -> list[RowGroup]:
    """Return the row groups of a file. Raise DataFormatError if their numbers are inconsistent."""
    if file.size < END_BYTES + len(MAGIC) or file.head(len(MAGIC)) != MAGIC:
        raise file.location.error(f"A Parquet file begins with {MAGIC!r}, but this file does not.")
    end = file.head(END_BYTES, file.size - END_BYTES)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > file.size - END_BYTES - len(MAGIC):
        raise _damaged(file, "its footer is missing or has a wrong length")
    try:
        footer = file.head(length, file.size - END_BYTES - length)
        found, _ = _structure(footer, 0, FILE_METADATA, 0)
        groups = [_row_group(one) for one in found.get(4, [])]
        n_rows = int(found[3])
    except (IndexError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise _damaged(file, f"its footer cannot be parsed ({type(error).__name__})") from None
    if sum(group.n_rows for group in groups) != n_rows or any(group.n_rows < 0 for group in groups):
        raise _damaged(
            file, f"it declares {n_rows} rows, but its groups have a different number of rows"
        )
    return groups


def _row_group(found: dict[int, Any]) -> RowGroup:
    columns = []
    for chunk in found[1]:
        if 1 in chunk:
            raise ValueError("values in another file")
        columns.append((chunk[3][3][0].decode("utf-8"), int(chunk[3][5])))
    return RowGroup(int(found[3]), columns)


def _damaged(file: BinaryFile, reason: str) -> DataFormatError:
    return file.location.error(f"The Parquet file is damaged: {reason}.", "Write it again.")


def _structure(
    data: bytes, at: int, wanted: dict[int, Any] | None, depth: int
) -> tuple[dict[int, Any], int]:
    """Parse a structure. Return its required fields by ID, and the offset of its end."""
    found: dict[int, Any] = {}
    number = 0
    while True:
        head = data[at]
        at += 1
        if head == 0:
            return found, at
        if head >> 4:
            number += head >> 4
        else:
            number, at = _signed(data, at)
        if wanted is None or number not in wanted:
            if head & 15 in INTEGERS:  # the most frequent type is skipped without a function call
                while data[at] > 127:
                    at += 1
                at += 1
            else:
                at = _skip(data, at, head & 15, depth)
        elif head & 15 not in (TRUE, FALSE):
            found[number], at = _value(data, at, head & 15, wanted[number], depth)


def _value(
    data: bytes, at: int, kind: int, wanted: dict[int, Any] | None, depth: int
) -> tuple[Any, int]:
    """Parse a value: an integer, bytes, a structure or a list. Return it with the offset of its end."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if kind in INTEGERS:
        return _signed(data, at)
    if kind == BINARY:
        size, at = _varint(data, at)
        _check_room(data, at, size)
        return data[at : at + size], at + size
    if kind == STRUCT:
        return _structure(data, at, wanted, depth + 1)
    if kind not in (LIST, SET):
        raise ValueError("unexpected type")
    kind, size, at = _list_head(data, at)
    values = []
    for _ in range(size):
        value, at = _value(data, at, kind, wanted, depth + 1)
        values.append(value)
    return values, at


def _skip(data: bytes, at: int, kind: int, depth: int) -> int:
    """Return the offset of the end of a field that is not needed, without parsing its value."""
    if kind in INTEGERS:
        while data[at] > 127:
            at += 1
        return at + 1
    if kind in (TRUE, FALSE):  # the type is the value
        return at
    if kind == BINARY:
        size, at = _varint(data, at)
        return at + size
    if kind == STRUCT:
        return _skip_structure(data, at, depth + 1)
    if kind in (LIST, SET):
        kind, size, at = _list_head(data, at)
        return _skip_values(data, at, (kind,), size, depth + 1)
    if kind == BYTE:
        return at + 1
    if kind == DOUBLE:
        return at + 8
    if kind == MAP:
        size, at = _varint(data, at)
        _check_room(data, at, size)
        if size == 0:
            return at
        return _skip_values(data, at + 1, (data[at] >> 4, data[at] & 15), size, depth + 1)
    raise ValueError("unknown type")


def _skip_structure(data: bytes, at: int, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    simple = SIMPLE_STRUCTURE.match(data, at)
    if simple:
        return simple.end()
    while True:
        head = data[at]
        at += 1
        if head == 0:
            return at
        if head < 16:  # the number of the field follows
            while data[at] > 127:
                at += 1
            at += 1
        at = _skip(data, at, head & 15, depth)


def _skip_values(data: bytes, at: int, kinds: tuple[int, ...], size: int, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    for _ in range(size):
        for kind in kinds:
            # In a list or a map, a boolean takes one byte.
            at = _skip(data, at, BYTE if kind in (TRUE, FALSE) else kind, depth)
    return at


def _list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the type of the values of a list, their number, and the offset of the first one."""
    head, size, at = data[at], data[at] >> 4, at + 1
    if size == 15:
        size, at = _varint(data, at)
    _check_room(data, at, size)
    return head & 15, size, at


def _check_room(data: bytes, at: int, size: int) -> None:
    if size > len(data) - at:
        raise ValueError("longer than the footer")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Parse an unsigned integer of variable length. Return it with the offset of its end."""
    value = data[at]
    at += 1
    if value < 128:
        return value, at
    value, shift = value & 127, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("integer too long")


def _signed(data: bytes, at: int) -> tuple[int, int]:
    """Parse a signed integer in zigzag encoding. Return it with the offset of its end."""
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at
