"""Vectors in a CSV or TSV: a row on each line, with or without names of the columns above."""

import re
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._access.row_file import RowFile
from boostkmeans.io._access.spool import Spool
from boostkmeans.io._access.store import Store
from boostkmeans.io._readers.table_layout import (
    DECIMAL_COMMA,
    EXCEL,
    MISSING,
    TableLayout,
    is_aside,
    table_layout,
)

# The longest line, in characters: a million numbers of 17 digits fit in. What is longer is no table.
LONGEST_LINE = 1 << 25
# Bytes of numbers that are made at a time.
PIECE = 1 << 22
# Characters of a wrong cell that a message shows.
SHOWN = 40
DTYPE = np.dtype(np.float64)
EXPECTED = "Expected is a table of numbers as text; for a file of another kind, give its format."
# How NumPy says which number it is that it cannot read.
WRONG_CELL = re.compile(r"could not convert string (.*) to float64 at row \d+, column (\d+)", re.DOTALL)
WRONG_COUNT = re.compile(r"requires \d+ columns but (\d+) were found")


@dataclass(frozen=True)
class TableOptions:
    """What the caller says about a table."""

    kind: str
    key: list[str] | None
    header: bool | None
    """None: to be guessed."""


class _Lines:
    """Lines that are not blank, and the number of the last one that was taken."""

    def __init__(self, source: ByteSource, progress: ProgressCallback) -> None:
        self._name = source.name
        every = source.lines("utf-8", None, progress, expected=EXPECTED, longest=LONGEST_LINE)
        self._source = cast(Generator[str, None, None], every)
        self._lines = self._numbered(self._source)
        self._ahead: tuple[int, str] | None = None
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        taken = self._ahead or next(self._lines)
        self._ahead = None
        self.number, line = taken
        return line

    def peek(self) -> str | None:
        """The next one, which is still to be taken."""
        self._ahead = self._ahead or next(self._lines, None)
        return self._ahead[1] if self._ahead else None

    def close(self) -> None:
        """Lets go of the file now, and not when somebody collects what is left of an error."""
        self._source.close()

    def _numbered(self, lines: Iterator[str]) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(lines, start=1):
            if len(line) >= LONGEST_LINE:
                raise DataFormatError(
                    f"{self._name}, line {number}: longer than {LONGEST_LINE} characters. {EXPECTED}"
                )
            if line and not line.isspace():
                yield number, line


def check_table(source: ByteSource, options: TableOptions) -> None:
    """Whether the first lines are those of a table, with the columns that are wanted."""
    with closing(_Lines(source, ignore_progress)) as lines:
        _begun(source.name, lines, options)


def read_separated(
    source: ByteSource, options: TableOptions, max_memory: int | None, progress: ProgressCallback
) -> Store:
    """The numbers of a table, all of it or some columns."""
    with closing(_Lines(source, progress)) as lines:
        return _read(source, lines, options, max_memory)


def _read(source: ByteSource, lines: _Lines, options: TableOptions, max_memory: int | None) -> Store:
    first, layout = _begun(source.name, lines, options)
    table = _Table(source, lines, layout)
    spool = Spool(max_memory)
    try:
        last = -np.inf
        for piece in table.pieces(lines if layout.has_header else chain([first], lines)):
            rows = piece
            if layout.has_index:
                last = table.check_index(piece[:, 0], last)
                rows = np.ascontiguousarray(piece[:, 1:])
            spool.write(rows)
        wanted = layout.wanted[1:] if layout.has_index else layout.wanted
        n_rows = spool.size // (len(wanted) * DTYPE.itemsize)
        store = RowFile(spool.finished(source.name), 0, (n_rows, len(wanted)), DTYPE)
    finally:
        spool.close()
    store.feature_names = [layout.names[j] for j in wanted] if layout.has_header else None
    return store


def _begun(name: str, lines: _Lines, options: TableOptions) -> tuple[str, TableLayout]:
    """The first line, of names or numbers, and what it tells."""
    separator = "\t" if options.kind == "tsv" else None
    line = next(lines, None)
    excel = EXCEL.fullmatch(line) if line is not None else None
    if excel:
        separator, line = excel[1], next(lines, None)
    while line is not None and is_aside(line):
        line = next(lines, None)
    if line is None:
        raise DataFormatError(f"{name}: empty. {EXPECTED}")
    layout = table_layout(
        f"{name}, line {lines.number}", line, lines.peek(),
        separator=separator, key=options.key, header=options.header,
    )  # fmt: skip
    return line, layout


@dataclass(frozen=True)
class _Table:
    source: ByteSource
    counted: _Lines
    layout: TableLayout

    def pieces(self, lines: Iterator[str]) -> Iterator[NDArray[np.float64]]:
        """The wanted columns, some rows at a time."""
        # A type for each column makes NumPy check their number. Of a text nothing is kept.
        n_columns, wanted = len(self.layout.names), self.layout.wanted
        chosen = set(wanted)
        every = [DTYPE if j in chosen else np.dtype("U1") for j in range(n_columns)]
        dtype = np.dtype([(f"{j}", one) for j, one in enumerate(every)])
        n_rows = max(1, PIECE // dtype.itemsize)
        for line in lines:
            rows = self._parsed(chain([line], lines), dtype, n_rows)
            if wanted == list(range(n_columns)):
                yield rows.view(DTYPE).reshape(len(rows), -1)
            else:
                yield np.stack([rows[f"{j}"] for j in wanted], axis=1)

    def check_index(self, column: NDArray[np.float64], last: float) -> float:
        """What has no name is left out if it numbers the rows; and if it does not, is it a feature?"""
        steps = np.diff(column, prepend=last)
        if not ((steps > 0) & (column == np.floor(column))).all():
            raise DataFormatError(
                f"{self.source.name}: the first column has no name, and does not number the rows as the "
                "index that pandas writes. Give it a name, or name the columns to be read: key=[...]."
            )
        return float(column[-1])

    def _parsed(self, lines: Iterator[str], dtype: np.dtype[Any], n_rows: int) -> NDArray[Any]:
        try:
            return np.loadtxt(
                lines, dtype=dtype, delimiter=self.layout.separator, comments=None, quotechar='"',
                max_rows=n_rows, ndmin=1,
            )  # fmt: skip
        except DataFormatError:
            raise
        except ValueError as error:
            raise DataFormatError(self._what_is_wrong(str(error))) from None

    def _what_is_wrong(self, error: str) -> str:
        place, names = f"{self.source.name}, line {self.counted.number}", self.layout.names
        cell = WRONG_CELL.search(error)
        if cell:
            j = int(cell[2]) - 1
            called = names[j] if j < len(names) else "?"
            return f"{place}, column {j + 1} ({called[:SHOWN]!r}): {_no_number(cell[1])}"
        count = WRONG_COUNT.search(error)
        if count:
            return (
                f"{place}: {count[1]} columns, but the first line has {len(names)}. Each row must "
                "have as many; a text with separators in it must be quoted."
            )
        return f"{place}: cannot be read as a row of {len(names)} columns ({error[:200]})."


def _no_number(quoted: str) -> str:
    """What is wrong with a cell, and what to do."""
    cell = quoted.strip("'\"").strip()
    if not cell or cell.lower() in MISSING:
        what = "an empty cell" if not cell else quoted[:SHOWN]
        return f"{what} is not a number. Leave such rows out, fill them, or write nan."
    if DECIMAL_COMMA.fullmatch(cell):
        return f"{quoted[:SHOWN]} is not a number: decimal commas are not read. Write points."
    return (
        f"{quoted[:SHOWN]} is not a number. If that column holds something else, name those that are to "
        "be read: key=[...]."
    )
