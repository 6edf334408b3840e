"""What the end of a Parquet file says about its rows, read here before pyarrow looks at it.

pyarrow gives access to the same numbers, but in a damaged file its way to them can end the process
(26.0: an exception of C++ that nobody catches). Its readers, which do catch them, then make room for as
many values as the numbers promise: so they have to be known first.
"""

from dataclasses import dataclass
from typing import Any

from boostkmeans._errors import DataFormatError
from boostkmeans.io._binary_file import BinaryFile

MAGIC = b"PAR1"
# The length of the footer and the magic, at the end.
END = 8
# Structures within structures: Parquet has six levels.
MOST_DEPTH = 16
# Types of Thrift's compact protocol.
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
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
        found = _Compact(file.head(length, file.size - END - length)).structure(FILE_METADATA, 0)
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


class _Compact:
    """Thrift's compact protocol: of a structure, the fields that are wanted by number."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def structure(self, wanted: dict[int, Any] | None, depth: int) -> dict[int, Any]:
        if depth > MOST_DEPTH:
            raise ValueError("too deep")
        found: dict[int, Any] = {}
        number = 0
        while True:
            head = self._byte()
            if head == 0:
                return found
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            if kind in (TRUE, FALSE):
                continue
            if wanted is not None and number in wanted:
                found[number] = self._value(kind, wanted[number], depth)
            else:
                self._value(kind, None, depth)

    def _value(self, kind: int, wanted: dict[int, Any] | None, depth: int) -> Any:
        if kind in INTEGERS:
            return self._signed()
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT:
            return self.structure(wanted, depth + 1)
        if kind in (LIST, SET):
            return self._list(wanted, depth + 1)
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == DOUBLE:
            return self._bytes(8)
        if kind == MAP:
            return self._map(depth + 1)
        raise ValueError("no such type")

    def _list(self, wanted: dict[int, Any] | None, depth: int) -> list[Any]:
        if depth > MOST_DEPTH:
            raise ValueError("too deep")
        head = self._byte()
        size = self._varint() if head >> 4 == 15 else head >> 4
        self._check_room(size)
        return [self._value(head & 15, wanted, depth) for _ in range(size)]

    def _map(self, depth: int) -> None:
        if depth > MOST_DEPTH:
            raise ValueError("too deep")
        size = self._varint()
        self._check_room(size)
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._value(kinds >> 4, None, depth)
            self._value(kinds & 15, None, depth)

    def _check_room(self, size: int) -> None:
        if size > len(self._data) - self._at:
            raise ValueError("longer than the file")

    def _byte(self) -> int:
        value = self._data[self._at]
        self._at += 1
        return value

    def _bytes(self, size: int) -> bytes:
        self._check_room(size)
        value = self._data[self._at : self._at + size]
        self._at += size
        return value

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number without an end")

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
