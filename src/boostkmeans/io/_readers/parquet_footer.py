"""What the end of a Parquet file says about its rows, read here before pyarrow looks at it.

pyarrow gives access to the same numbers, but in a damaged file its way to them can end the process
(26.0: an exception of C++ that nobody catches). Its readers, which do catch them, then make room for as
many values as the numbers promise: so they have to be known first.
"""

import re
from dataclasses import dataclass
from typing import Any

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile

MAGIC = b"PAR1"
# The length of the footer and the magic, at the end.
END = 8
# Structures within structures: Parquet has six levels.
MOST_DEPTH = 16
# Types of Thrift's compact protocol.
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)


def _simple() -> re.Pattern[bytes]:
    """Structures of numbers, truths and a few bytes, to their end: what fills footers."""
    heads = {
        kind: b"[" + b"".join(re.escape(bytes([i << 4 | kind])) for i in range(1, 16)) + b"]"
        for kind in (TRUE, FALSE, *INTEGERS, BINARY)
    }
    number = rb"[\x80-\xff]*+[\x00-\x7f]"
    some_bytes = b"|".join(re.escape(bytes([n])) + b".{%d}" % n for n in range(MOST_SIMPLE))
    fields = [heads[kind] + number for kind in INTEGERS] + [heads[TRUE], heads[FALSE]]
    fields.append(heads[BINARY] + b"(?:" + some_bytes + b")")
    return re.compile(b"(?:" + b"|".join(fields) + rb")*+\x00", re.DOTALL)


# Bytes that a value has which is skipped so: statistics have the least and the greatest.
MOST_SIMPLE = 17
SIMPLE = _simple()
# Numbers of the fields that are wanted, structure by structure, as parquet.thrift has them.
COLUMN_METADATA = {3: None, 5: None}
COLUMN_CHUNK = {1: None, 3: COLUMN_METADATA}
ROW_GROUP = {1: COLUMN_CHUNK, 3: None}
FILE_METADATA = {3: None, 4: ROW_GROUP}


@dataclass(frozen=True)
class RowGroup:
    """Rows that are stored together."""

    n_rows: int
    columns: list[tuple[str, int]]
    """The name of the column that each chunk belongs to, and how many values it has, nulls included."""


def row_groups(file: BinaryFile) -> list[RowGroup]:
    """The groups of a file, with numbers that go together."""
    if file.size < END + len(MAGIC) or file.head(len(MAGIC)) != MAGIC:
        raise DataFormatError(f"{file.name}: not a Parquet file: it does not begin with {MAGIC!r}.")
    end = file.head(END, file.size - END)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > file.size - END - len(MAGIC):
        raise _damaged(file, "its end is missing, or says a wrong length")
    try:
        found, _ = _structure(file.head(length, file.size - END - length), 0, FILE_METADATA, 0)
        groups = [_group(one) for one in found.get(4, [])]
        n_rows = int(found[3])
    except (IndexError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise _damaged(file, f"its end cannot be read ({type(error).__name__})") from None
    if sum(group.n_rows for group in groups) != n_rows or any(group.n_rows < 0 for group in groups):
        raise _damaged(file, f"it promises {n_rows} rows, which its groups do not have")
    return groups


def _group(found: dict[int, Any]) -> RowGroup:
    columns = []
    for chunk in found[1]:
        if 1 in chunk:
            raise ValueError("values in another file")
        columns.append((chunk[3][3][0].decode("utf-8"), int(chunk[3][5])))
    return RowGroup(int(found[3]), columns)


def _damaged(file: BinaryFile, what: str) -> DataFormatError:
    return DataFormatError(f"{file.name}: a damaged Parquet file: {what}. Write it again.")


def _structure(
    data: bytes, at: int, wanted: dict[int, Any] | None, depth: int
) -> tuple[dict[int, Any], int]:
    """Thrift's compact protocol from there on: fields that are wanted by number, and where it ends."""
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
            if head & 15 in INTEGERS:  # as most are: without a call
                while data[at] > 127:
                    at += 1
                at += 1
            else:
                at = _skipped(data, at, head & 15, depth)
        elif head & 15 not in (TRUE, FALSE):
            found[number], at = _value(data, at, head & 15, wanted[number], depth)


def _value(
    data: bytes, at: int, kind: int, wanted: dict[int, Any] | None, depth: int
) -> tuple[Any, int]:
    """A value that is wanted: a number, bytes, a structure, or several of them."""
    if depth > MOST_DEPTH:
        raise ValueError("too deep")
    if kind in INTEGERS:
        return _signed(data, at)
    if kind == BINARY:
        size, at = _varint(data, at)
        _check_room(data, at, size)
        return data[at : at + size], at + size
    if kind == STRUCT:
        return _structure(data, at, wanted, depth + 1)
    if kind not in (LIST, SET):
        raise ValueError("another type than expected")
    kind, size, at = _list_head(data, at)
    values = []
    for _ in range(size):
        value, at = _value(data, at, kind, wanted, depth + 1)
        values.append(value)
    return values, at


def _skipped(data: bytes, at: int, kind: int, depth: int) -> int:
    """Where a field ends that nobody wants. There are many: nothing is made of them."""
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
        return _skipped_structure(data, at, depth + 1)
    if kind in (LIST, SET):
        kind, size, at = _list_head(data, at)
        return _skipped_values(data, at, (kind,), size, depth + 1)
    if kind == BYTE:
        return at + 1
    if kind == DOUBLE:
        return at + 8
    if kind == MAP:
        size, at = _varint(data, at)
        _check_room(data, at, size)
        if size == 0:
            return at
        return _skipped_values(data, at + 1, (data[at] >> 4, data[at] & 15), size, depth + 1)
    raise ValueError("no such type")


def _skipped_structure(data: bytes, at: int, depth: int) -> int:
    if depth > MOST_DEPTH:
        raise ValueError("too deep")
    simple = SIMPLE.match(data, at)
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
        at = _skipped(data, at, head & 15, depth)


def _skipped_values(data: bytes, at: int, kinds: tuple[int, ...], size: int, depth: int) -> int:
    if depth > MOST_DEPTH:
        raise ValueError("too deep")
    for _ in range(size):
        for kind in kinds:
            # Among others, a truth takes a byte.
            at = _skipped(data, at, BYTE if kind in (TRUE, FALSE) else kind, depth)
    return at


def _list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """The type of the values, how many there are, and where they begin."""
    head, size, at = data[at], data[at] >> 4, at + 1
    if size == 15:
        size, at = _varint(data, at)
    _check_room(data, at, size)
    return head & 15, size, at


def _check_room(data: bytes, at: int, size: int) -> None:
    if size > len(data) - at:
        raise ValueError("longer than the file")


def _varint(data: bytes, at: int) -> tuple[int, int]:
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
            raise ValueError("a number without an end")


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at
