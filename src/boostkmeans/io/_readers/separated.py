"""Tables as text: CSV and TSV files with one row per line, with or without a header."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io._access.byte_source import ByteSource, find_text_fault
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.row_stores import RowStore
from boostkmeans.io._access.spool import Room, Spool
from boostkmeans.io._access.store import Store
from boostkmeans.io._access.table_columns import TableColumns
from boostkmeans.io._readers.arrow.columns import NAME_COLUMNS
from boostkmeans.io._readers.table_layout import (
    DECIMAL_COMMA,
    EXCEL_SEPARATOR,
    MAX_SHOWN,
    MISSING,
    TableLayout,
    is_comment,
    table_layout,
)
from boostkmeans.io._readers.text_lines import content_lines

# Number of bytes of numbers that are parsed at a time.
PIECE_BYTES = 1 << 22
# Largest number of columns of a table of which some are not numbers. NumPy's type of a row with several
# types takes 500 bytes and 20 microseconds per column.
MAX_MIXED_COLUMNS = 1 << 16
# Largest number of comments before a table. A line takes about two microseconds.
MAX_COMMENT_LINES = 1 << 20
DTYPE = np.dtype(np.float64)
# Advice if a file is not a table.
EXPECTED = "Pass a table of numbers as text. If the file has another format, pass its format."
# NumPy's message about a cell that is not a number.
WRONG_CELL = re.compile(r"could not convert string (.*) to float64 at row \d+, column (\d+)", re.DOTALL)
# NumPy's message about a line with a different number of columns.
WRONG_COUNT = re.compile(r"requires \d+ columns but (\d+) were found")
# NumPy's message about a line with another number of columns than the first line of a piece.
CHANGED_COUNT = re.compile(r"number of columns changed from (\d+) to (\d+)")


@dataclass(frozen=True)
class TableOptions:
    """Arguments of `open_vectors` for a text table."""

    format_name: str
    columns: TableColumns
    header: bool | None
    """None if the header must be detected."""


class _Lines:
    """Iterator over the lines that are not blank, with the number of the last line."""

    def __init__(self, source: ByteSource, progress: ProgressCallback) -> None:
        self._lines = content_lines(source, progress, EXPECTED)
        self._next: tuple[int, str] | None = None
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        taken = self._next or next(self._lines)
        self._next = None
        self.number, line = taken
        return line

    def peek(self) -> str | None:
        """Return the next line without consuming it, or None at the end."""
        self._next = self._next or next(self._lines, None)
        return self._next[1] if self._next else None

    def close(self) -> None:
        """Close the file immediately, instead of when a traceback that refers to it is freed."""
        self._lines.close()


def check_table(source: ByteSource, options: TableOptions) -> None:
    """Raise DataFormatError unless the first lines belong to a table with the requested columns."""
    with closing(_Lines(source, ignore_progress)) as lines:
        _read_first_line(source.location, lines, options)


def read_separated(
    source: ByteSource, options: TableOptions, room: Room, progress: ProgressCallback
) -> Store:
    """Parse a table, and return its numbers from a spool."""
    with closing(_Lines(source, progress)) as lines:
        first, layout = _read_first_line(source.location, lines, options)
        table = _Table(source, lines, layout)
        rows = lines if layout.has_header else chain([first], lines)
        return _spool_table(table, rows, room)


def _spool_table(table: "_Table", lines: Iterator[str], room: Room) -> Store:
    layout = table.layout
    spool = Spool(room)
    try:
        last = -np.inf
        ids: list[NDArray[Any]] = [np.empty(0, dtype=object)]
        for piece, some_ids in table.pieces(lines):
            rows = piece
            if layout.has_index:
                last = table.check_index(piece[:, 0], last)
                rows = np.ascontiguousarray(piece[:, 1:])
            spool.write(rows)
            if some_ids is not None:
                ids.append(some_ids)
        wanted = layout.wanted[1:] if layout.has_index else layout.wanted
        n_rows = spool.size // (len(wanted) * DTYPE.itemsize)
        store = RowStore(spool.finish(table.source.name), 0, (n_rows, len(wanted)), DTYPE)
    finally:
        spool.close()
    store.feature_names = [layout.names[j] for j in wanted] if layout.has_header else None
    store.held_ids = None if layout.id_index is None else np.concatenate(ids)
    return store


def _read_first_line(where: Location, lines: _Lines, options: TableOptions) -> tuple[str, TableLayout]:
    """Return the first line of the table, which is a header or a row, and the detected layout."""
    separator = "\t" if options.format_name == "tsv" else None
    line = next(lines, None)
    excel = EXCEL_SEPARATOR.fullmatch(line) if line is not None else None
    if excel:
        separator, line = excel[1], next(lines, None)
    n_comments = 0
    while line is not None and is_comment(line):
        n_comments += 1
        if n_comments > MAX_COMMENT_LINES:
            raise where.within(f"line {lines.number}").error(
                f"The file has more than {MAX_COMMENT_LINES:,} lines of comments before the table.",
                EXPECTED,
            )
        line = next(lines, None)
    if line is None:
        raise where.error("The file is empty.", EXPECTED)
    layout = table_layout(
        where.within(f"line {lines.number}"), line, lines.peek(),
        separator=separator, columns=options.columns, header=options.header,
    )  # fmt: skip
    return line, layout


@dataclass(frozen=True)
class _Table:
    """A table that is being parsed."""

    source: ByteSource
    counted: _Lines
    layout: TableLayout

    def pieces(
        self, lines: Iterator[str]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.object_] | None]]:
        """Iterate over blocks of rows of the requested columns, with their ids if they are wanted."""
        n_columns, wanted = len(self.layout.names), self.layout.wanted
        ids = self.layout.id_index
        if len(wanted) == n_columns:
            yield from ((piece, None) for piece in self._whole_pieces(lines))
            return
        if n_columns > MAX_MIXED_COLUMNS:
            raise self.source.location.error(
                f"The table has {n_columns:,} columns. Some columns can be selected only in tables of "
                f"at most {MAX_MIXED_COLUMNS:,} columns.",
                "Read all columns, or store the table as Parquet.",
            )
        # One type per column makes NumPy check the number of columns. Other columns are parsed as
        # strings of one character, which are discarded.
        types: dict[int | None, np.dtype[Any]] = {ids: np.dtype(object), **dict.fromkeys(wanted, DTYPE)}
        every = [types.get(j, np.dtype("U1")) for j in range(n_columns)]
        dtype = np.dtype([(f"{j}", one) for j, one in enumerate(every)])
        n_rows = max(1, PIECE_BYTES // dtype.itemsize)
        done = 0
        for line in lines:
            rows = self._parse(chain([line], lines), dtype, n_rows)
            found = None if ids is None else self._checked_ids(rows[f"{ids}"], done)
            done += len(rows)
            yield np.stack([rows[f"{j}"] for j in wanted], axis=1), found

    def _whole_pieces(self, lines: Iterator[str]) -> Iterator[NDArray[np.float64]]:
        """Iterate over blocks of rows of all columns, in the order of `wanted`."""
        n_columns, wanted = len(self.layout.names), self.layout.wanted
        n_rows = max(1, PIECE_BYTES // (n_columns * DTYPE.itemsize))
        for line in lines:
            number = self.counted.number
            rows = self._parse(chain([line], lines), DTYPE, n_rows, number)
            if rows.shape[1] != n_columns:
                raise self._count_error(number, rows.shape[1])
            is_in_order = all(i == j for i, j in enumerate(wanted))
            yield rows if is_in_order else np.ascontiguousarray(rows[:, wanted])

    def _checked_ids(self, ids: NDArray[Any], first: int) -> NDArray[np.object_]:
        """Return the ids, which are strings. Raise DataFormatError if one is empty or not valid text."""
        for i, one in enumerate(ids):
            fault = find_text_fault(one, "utf-8")
            if not one or fault is not None:
                got = "an empty cell" if fault is None else f"text that is {fault.reason}"
                place = f"row {first + i}, column {self.layout.names[self.layout.id_index or 0]!r}"
                raise self.source.location.within(place).error(
                    f"Expected an id. Got {got}.", "Remove such rows, or fill the cells."
                )
        return np.array(ids)

    def check_index(self, column: NDArray[np.float64], last: float) -> float:
        """Raise DataFormatError unless a column without a name holds ascending integers.

        Such a column is the index of pandas, which is not read. Any other column could be a feature.
        Returns the last number.
        """
        steps = np.diff(column, prepend=last)
        if not ((steps > 0) & (column == np.floor(column))).all():
            raise self.source.location.error(
                "The first column has no name and does not number the rows, so it is not an index of "
                "pandas.",
                Message("Name it, or choose the columns to read with {key}.", key=Parameter("key")),
            )
        return float(column[-1])

    def _parse(
        self, lines: Iterator[str], dtype: np.dtype[Any], n_rows: int, first: int = 0
    ) -> NDArray[Any]:
        """Parse up to `n_rows` lines. `first` is the number of the first line."""
        try:
            return np.loadtxt(
                lines, dtype=dtype, delimiter=self.layout.separator, comments=None, quotechar='"',
                max_rows=n_rows, ndmin=2 if dtype == DTYPE else 1,
            )  # fmt: skip
        except DataFormatError:
            raise
        except ValueError as error:
            raise self._parse_error(str(error), first) from None

    def _parse_error(self, message: str, first: int) -> DataFormatError:
        """Return the error for a message of NumPy about the current line."""
        where, names = self.source.location.within(f"line {self.counted.number}"), self.layout.names
        cell = WRONG_CELL.search(message)
        if cell:
            j = int(cell[2]) - 1
            name = names[j] if j < len(names) else "?"
            return _cell_error(where.within(f"column {j + 1} ({name[:MAX_SHOWN]!r})"), cell[1])
        count = WRONG_COUNT.search(message)
        if count:
            return self._count_error(self.counted.number, int(count[1]))
        changed = CHANGED_COUNT.search(message)
        if changed and int(changed[1]) != len(names):
            return self._count_error(first, int(changed[1]))
        if changed:
            return self._count_error(self.counted.number, int(changed[2]))
        return where.error(f"Cannot parse a row of {len(names)} columns ({message[:200]!r}).")

    def _count_error(self, line: int, n_found: int) -> DataFormatError:
        return self.source.location.within(f"line {line}").error(
            f"Expected {len(self.layout.names)} columns, as in the first line. Got {n_found}.",
            "Quote cells that contain separators.",
        )


def _cell_error(where: Location, quoted: str) -> DataFormatError:
    """Return the error for a cell that is not a number."""
    cell = quoted.strip("'\"").strip()
    if not cell or cell.lower() in MISSING:
        got = "an empty cell" if not cell else quoted[:MAX_SHOWN]
        return where.error(
            f"Expected a number. Got {got}.", "Remove such rows, fill the cells, or write nan."
        )
    problem = f"Expected a number. Got {quoted[:MAX_SHOWN]}."
    if DECIMAL_COMMA.fullmatch(cell):
        return where.error(f"{problem} Decimal commas are not supported.", "Write decimal points.")
    return where.error(problem, NAME_COLUMNS)
