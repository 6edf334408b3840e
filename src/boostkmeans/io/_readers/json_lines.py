"""JSON Lines: one object per line with a list of numbers or with numbers, or one list per line."""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage import strict_json
from boostkmeans.io._access.byte_source import ByteSource, find_text_fault
from boostkmeans.io._access.choice import ambiguous_name_error, missing_name_error, no_rows_error
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.row_stores import RowStore
from boostkmeans.io._access.spool import Room, Spool
from boostkmeans.io._access.store import Store
from boostkmeans.io._access.table_columns import TableColumns
from boostkmeans.io._readers.arrow.columns import NAME_COLUMNS
from boostkmeans.io._readers.text_lines import content_lines

DTYPE = np.dtype(np.float64)
# Number of bytes of numbers that are collected before they are stored.
PIECE_BYTES = 1 << 22
EXPECTED = 'Write one JSON object per line, such as {"id": 1, "vector": [0.5, 2]}.'
# Number of characters of a value that a message shows.
MAX_SHOWN = 40
# Number of characters of the parser's message that are shown.
MAX_REASON = 100


@dataclass(frozen=True)
class RecordLayout:
    """Fields of the objects that are read, which the first object determines."""

    names: list[str] | None
    """Names of the fields of numbers, or of one list. None if each line is a list."""
    is_list: bool
    width: int
    id_name: str | None = None

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns, unless the rows are lists."""
        return None if self.is_list else self.names


def check_json_lines(source: ByteSource, columns: TableColumns) -> None:
    """Raise DataFormatError unless the first line has the requested fields."""
    with closing(_records(source, ignore_progress)) as records:
        _first_layout(source.location, records, columns)


def read_json_lines(
    source: ByteSource, columns: TableColumns, room: Room, progress: ProgressCallback
) -> Store:
    """Parse all lines, and return the numbers from a spool."""
    with closing(_records(source, progress)) as records:
        where, first, layout = _first_layout(source.location, records, columns)
        return _Rows(layout, Spool(room)).store(source.name, _chained(where, first, records))


def _chained(
    where: Location, first: Any, rest: Iterator[tuple[Location, Any]]
) -> Iterator[tuple[Location, Any]]:
    yield where, first
    yield from rest


def _records(
    source: ByteSource, progress: ProgressCallback
) -> Generator[tuple[Location, Any], None, None]:
    """Yield the value of each line that is not blank, with its location."""
    lines = content_lines(source, progress, EXPECTED)
    with closing(lines):
        for number, line in lines:
            where = source.location.within(f"line {number}")
            try:
                yield where, strict_json.parse(line)
            except DataFormatError:
                raise
            except ValueError as error:
                reason = escape_untrusted(str(error)[:MAX_REASON])
                raise where.error(f"The line is not JSON ({reason}).", EXPECTED) from None


def _first_layout(
    where: Location, records: Iterator[tuple[Location, Any]], columns: TableColumns
) -> tuple[Location, Any, RecordLayout]:
    found = next(records, None)
    if found is None:
        raise no_rows_error(where)
    line, record = found
    return line, record, _layout(line, record, columns)


def _layout(where: Location, record: Any, columns: TableColumns) -> RecordLayout:
    """Return the fields to read, from the first line."""
    if isinstance(record, list):
        if columns.key or columns.id_column or columns.drop:
            raise where.error("The lines are lists, which have no names.", "Leave out the names.")
        return RecordLayout(None, True, _checked_width(where, record))
    if not isinstance(record, dict):
        raise where.error(f"Expected an object or a list. Got {_shown(record)}.", EXPECTED)
    if columns.id_column is not None and columns.id_column not in record:
        raise missing_name_error(where, "field", columns.id_column, list(record))
    names = columns.chosen(where, "field", list(record))
    lists = [name for name in names if isinstance(record[name], list)]
    if columns.key is None and lists:
        if len(lists) > 1:
            raise ambiguous_name_error(where, "Several fields hold lists", lists)
        names = lists
    if lists and len(names) > 1:
        raise where.error(
            f"The field {lists[0]!r} is a list, so it must be the only field that is read.", NAME_COLUMNS
        )
    width = _checked_width(where, record[names[0]]) if lists else len(names)
    return RecordLayout(names, bool(lists), width, columns.id_column)


def _checked_width(where: Location, values: list[Any]) -> int:
    if not values:
        raise where.error("The list is empty, so there is nothing to read.")
    return len(values)


@dataclass
class _Rows:
    """Rows that are collected in pieces, and their ids."""

    layout: RecordLayout
    spool: Spool
    waiting: list[list[float]] = field(default_factory=list)
    ids: list[str | int] = field(default_factory=list)

    def store(self, name: str, records: Iterator[tuple[Location, Any]]) -> Store:
        """Read all records, and return their rows."""
        layout = self.layout
        per_piece = max(1, PIECE_BYTES // (layout.width * DTYPE.itemsize))
        try:
            for where, record in records:
                self.waiting.append(_values(where, record, layout))
                if layout.id_name is not None:
                    self.ids.append(_id(where, record, layout.id_name, self.ids))
                if len(self.waiting) >= per_piece:
                    self._flush()
            self._flush()
            n_rows = self.spool.size // (layout.width * DTYPE.itemsize)
            store = RowStore(self.spool.finish(name), 0, (n_rows, layout.width), DTYPE)
        finally:
            self.spool.close()
        store.feature_names = layout.feature_names
        if layout.id_name is not None:
            store.held_ids = _id_array(self.ids)
        return store

    def _flush(self) -> None:
        if self.waiting:
            self.spool.write(np.array(self.waiting, dtype=DTYPE))
            self.waiting.clear()


def _values(where: Location, record: Any, layout: RecordLayout) -> list[float]:
    """Return the numbers of a line. Raise DataFormatError if they are not numbers of this layout."""
    if layout.names is None:
        values = record
    elif not isinstance(record, dict):
        raise where.error(f"Expected an object. Got {_shown(record)}.", EXPECTED)
    else:
        missing = [name for name in layout.names if name not in record]
        if missing:
            raise missing_name_error(where, "field", missing[0], list(record))
        found = [record[name] for name in layout.names]
        values = found[0] if layout.is_list else found
    if not isinstance(values, list) or len(values) != layout.width:
        got = f"{len(values)} values" if isinstance(values, list) else _shown(values)
        raise where.error(f"Expected {layout.width} numbers, as in the first line. Got {got}.")
    # A set of types is faster than a check of each value.
    if not {type(one) for one in values} <= {float, int}:
        at = next(i for i, one in enumerate(values) if type(one) not in (float, int))
        name = "" if layout.is_list or layout.names is None else f" of {layout.names[at]!r}"
        raise where.error(f"Value {at + 1}{name} is {_shown(values[at])}, not a number.", NAME_COLUMNS)
    try:
        return [float(one) for one in values]
    except OverflowError:
        raise where.error("A number is too large for float64.") from None


def _id(where: Location, record: Any, name: str, before: list[str | int]) -> str | int:
    value = record.get(name)
    if type(value) not in (str, int) or value == "" or (before and type(before[0]) is not type(value)):
        raise where.error(
            f"Expected an id in {name!r}: a string or an integer, as in the first line. Got "
            f"{_shown(value)}."
        )
    fault = find_text_fault(value, "utf-8") if isinstance(value, str) else None
    if fault is not None:
        raise where.error(f"The id is not valid text ({fault.reason}).")
    return cast(str | int, value)


def _id_array(ids: list[str | int]) -> NDArray[Any]:
    if ids and isinstance(ids[0], int) and all(-(2**63) <= int(one) < 2**63 for one in ids):
        return np.array(ids, dtype=np.int64)
    return np.array([str(one) for one in ids], dtype=object)


def _shown(value: Any) -> str:
    text = repr(value)
    return escape_untrusted(text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "...")
