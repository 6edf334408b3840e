"""Vectors in a CSV or TSV: a row on each line, with or without names of the columns above."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._errors import DataFormatError
from boostkmeans._progress import Progress
from boostkmeans.io._choice import shown
from boostkmeans.io._row_file import RowFile
from boostkmeans.io._source import Source
from boostkmeans.io._spool import Spool
from boostkmeans.io._store import Store

# Of what is called CSV. Of equally good ones the first.
SEPARATORS = (",", ";", "\t")
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


@dataclass
class _Lines:
    """Lines that are not blank, and the number of the last one that was taken."""

    source: Source
    lines: Iterator[str]
    number: int = 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.number += 1
            if len(line) >= LONGEST_LINE:
                raise DataFormatError(
                    f"{self.source.name}, line {self.number}: longer than {LONGEST_LINE} characters. "
                    f"{EXPECTED}"
                )
            if line and not line.isspace():
                yield line


def read_separated(
    source: Source, kind: str, key: list[str] | None, max_memory: int | None, progress: Progress
) -> Store:
    """The numbers of a table, all of it or some columns."""
    every = source.lines("utf-8", None, progress, expected=EXPECTED, longest=LONGEST_LINE)
    counted = _Lines(source, every)
    lines = iter(counted)
    first = next(lines, None)
    if first is None:
        raise DataFormatError(f"{source.name}: empty. {EXPECTED}")
    separator = "\t" if kind == "tsv" else _separator(first)
    cells = _cells(first, separator)
    has_header = not all(map(_is_number, cells))
    names = cells if has_header else [str(i + 1) for i in range(len(cells))]
    table = _Table(source, counted, separator, names, _wanted(source.name, names, key, has_header))
    spool = Spool(max_memory)
    try:
        for rows in table.pieces(lines if has_header else chain([first], lines)):
            spool.write(rows)
        n_columns = len(table.wanted)
        n_rows = spool.size // (n_columns * DTYPE.itemsize)
        if n_rows == 0:
            raise DataFormatError(f"{source.name}: no rows below the names of the columns. {EXPECTED}")
        store = RowFile(spool.finished(source.name), 0, (n_rows, n_columns), DTYPE)
    finally:
        spool.close()
    store.feature_names = [names[j] for j in table.wanted] if has_header else None
    return store


@dataclass(frozen=True)
class _Table:
    source: Source
    counted: _Lines
    separator: str | None
    names: list[str]
    wanted: list[int]

    def pieces(self, lines: Iterator[str]) -> Iterator[NDArray[np.float64]]:
        """The wanted columns, some rows at a time."""
        # A type for each column makes NumPy check their number. Of a text nothing is kept.
        wanted = set(self.wanted)
        every = [DTYPE if j in wanted else np.dtype("U1") for j in range(len(self.names))]
        dtype = np.dtype([(f"{j}", one) for j, one in enumerate(every)])
        n_rows = max(1, PIECE // dtype.itemsize)
        for line in lines:
            rows = self._parsed(chain([line], lines), dtype, n_rows)
            if self.wanted == list(range(len(self.names))):
                yield rows.view(DTYPE).reshape(len(rows), -1)
            else:
                yield np.stack([rows[f"{j}"] for j in self.wanted], axis=1)

    def _parsed(self, lines: Iterator[str], dtype: np.dtype[Any], n_rows: int) -> NDArray[Any]:
        try:
            return np.loadtxt(
                lines, dtype=dtype, delimiter=self.separator, comments=None, quotechar='"',
                max_rows=n_rows, ndmin=1,
            )  # fmt: skip
        except DataFormatError:
            raise
        except ValueError as error:
            raise DataFormatError(self._what_is_wrong(str(error))) from None

    def _what_is_wrong(self, error: str) -> str:
        place = f"{self.source.name}, line {self.counted.number}"
        cell = WRONG_CELL.search(error)
        if cell:
            j = int(cell[2]) - 1
            called = self.names[j] if j < len(self.names) else "?"
            return (
                f"{place}, column {j + 1} ({called[:SHOWN]!r}): {cell[1][:SHOWN]} is not a number. If "
                "that column holds something else, name those that are to be read: key=[...]."
            )
        count = WRONG_COUNT.search(error)
        if count:
            return (
                f"{place}: {count[1]} columns, but the first line has {len(self.names)}. Each row must "
                "have as many; a text with separators in it must be quoted."
            )
        return f"{place}: cannot be read as a row of {len(self.names)} columns ({error[:200]})."


def _separator(first: str) -> str | None:
    """None stands for any white space, as np.savetxt writes it."""
    best = max(SEPARATORS, key=lambda one: len(_cells(first, one)))
    words = first.split()
    if len(_cells(first, best)) == 1 and len(words) > 1 and all(map(_is_number, words)):
        return None
    return best


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    try:
        cells = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # a cell that is longer than the module wants
        cells = line.split(separator)
    return [cell.strip() for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and cell.isascii()


def _wanted(name: str, names: list[str], key: list[str] | None, has_header: bool) -> list[int]:
    if key is None:
        return list(range(len(names)))
    if not key:
        raise ValueError("key must name a column at least. Got an empty list.")
    missing = [one for one in key if one not in names]
    if missing:
        hint = "" if has_header else " The table has no header, so that columns have numbers, from 1 on."
        raise DataFormatError(
            f"{name}: there is no column {missing[0]!r}; there is {shown(names)}.{hint}"
        )
    return [names.index(one) for one in key]
