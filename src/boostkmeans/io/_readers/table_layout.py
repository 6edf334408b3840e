"""Layout of a text table: separator, header and columns, detected from its first lines."""

import csv
import re
from collections import Counter
from dataclasses import dataclass

from boostkmeans._runtime.errors import Message, Parameter
from boostkmeans.io._access.byte_source import find_text_fault
from boostkmeans.io._access.choice import missing_name_error
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.table_columns import TableColumns

# Separators of CSV files, in order of preference.
SEPARATORS = (",", ";", "\t")
# First line that declares the separator for Excel.
EXCEL_SEPARATOR = re.compile(r"sep=(.)\s*")
# Prefix of the header that np.savetxt writes.
COMMENT = "#"
# Cells that stand for a missing value.
MISSING = {"", "na", "n/a", "null", "none", "?", "-"}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
INTEGER = re.compile(r"[+-]?\d+")
# Number of characters of a cell that a message shows.
MAX_SHOWN = 40


@dataclass(frozen=True)
class TableLayout:
    """Columns of a text table."""

    separator: str | None
    """None if any white space separates cells."""
    names: list[str]
    """Names from the header, or numbers from 1 if there is no header."""
    wanted: list[int]
    """Indices of the columns to read."""
    has_header: bool
    has_index: bool
    """True if only the first column has no name. It should contain row numbers, like an index of
    pandas."""
    id_index: int | None = None
    """Index of the column of ids."""


def is_comment(line: str) -> bool:
    """Return True if a line before the table is a comment."""
    return line.lstrip().startswith(COMMENT)


def table_layout(
    where: Location,
    first: str,
    second: str | None,
    *,
    separator: str | None,
    columns: TableColumns,
    header: bool | None,
) -> TableLayout:
    """Detect the layout from the first two lines.

    `where` is the location of the first line. A separator and the presence of a header are detected
    unless they are given.
    """
    separator = separator or _detect_separator(first, second)
    cells = _cells(first, separator)
    if header is None:
        header = columns.id_column in cells or _is_header(
            where, cells, _cells(second, separator) if second else None, first
        )
    names = cells if header else [str(i + 1) for i in range(len(cells))]
    if header:
        fault = find_text_fault(first, "utf-8")
        if fault:
            raise where.error(
                f"The names of the columns are not valid text ({fault.reason}).",
                "Save the file as UTF-8.",
            )
    ids = None
    if columns.id_column is not None:
        ids = _column_indices(where, names, [columns.id_column])[0]
    wanted = _wanted(where, names, columns, has_header=header)
    has_index = header and columns.key is None and len(names) > 1 and names[0] == "" and all(names[1:])
    return TableLayout(separator, names, wanted, header, has_index and wanted[0] == 0, ids)


def _wanted(where: Location, names: list[str], columns: TableColumns, *, has_header: bool) -> list[int]:
    """Return the indices of the columns to read."""
    hint = "" if has_header else "The table has no header, so columns are named by numbers from 1."
    chosen = columns.chosen(where, "column", names, hint=hint)
    if columns.key is not None:
        return _column_indices(where, names, chosen)
    kept = set(chosen)  # names may be repeated
    return [j for j, name in enumerate(names) if name in kept]


def _is_header(where: Location, cells: list[str], below: list[str] | None, line: str) -> bool:
    """Return True if the first line holds names, and False if it holds numbers.

    Raises DataFormatError for ambiguous lines: a wrong guess would lose a row.
    """
    numbers = [_is_number(cell) for cell in cells]
    if all(numbers):
        return _are_counted_names(where, cells, below)
    if cells[0] == "" and cells[1:] == _count(len(cells) - 1):
        return True  # header of pandas with an index and columns without names
    if not any(numbers) and not all(cell.lower() in MISSING for cell in cells):
        return True
    if all(DECIMAL_COMMA.fullmatch(cell.strip()) for cell in line.split(";")):
        raise where.error(
            "The numbers have decimal commas, which are not supported.", "Write decimal points."
        )
    at = numbers.index(False)
    got = "an empty cell" if not cells[at] else f"{cells[at][:MAX_SHOWN]!r}"
    raise where.within(f"column {at + 1}").error(
        f"Expected a number as in other columns of this line. Got {got}.",
        _header_remedy("If the line is a row, fill the cell or remove the row."),
    )


def _are_counted_names(where: Location, cells: list[str], below: list[str] | None) -> bool:
    """Return True if the numbers are the names 0, 1, 2, ... that pandas gives to unnamed columns."""
    if len(cells) < 2 or cells != _count(len(cells)):
        return False
    if below is not None and not all(INTEGER.fullmatch(cell) for cell in below):
        return True
    raise where.error(
        "The numbers 0, 1, ... may be the names of the columns, or a row.", _header_remedy()
    )


def _header_remedy(advice: str = "") -> Message:
    return Message(
        "{advice}Specify whether the first line holds names: {yes} or {no}.",
        shell="{advice}Specify whether the first line holds names: {header}.",
        advice=f"{advice} " if advice else "",
        yes=Parameter("header", True),
        no=Parameter("header", False),
        header=Parameter("header"),
    )


def _count(n: int) -> list[str]:
    return [str(i) for i in range(n)]


def _detect_separator(first: str, second: str | None) -> str | None:
    """Return the separator of a CSV file, or None if white space separates cells, as in np.savetxt."""
    best = best_separator(first)
    words = (second or first).split()
    if len(_cells(first, best)) == 1 and len(first.split()) == len(words) > 1:
        return None if all(map(_is_number, words)) else best
    return best


def best_separator(line: str) -> str:
    """Return the separator of CSV files that divides the line into the most cells."""
    return max(SEPARATORS, key=lambda one: len(_cells(line, one)))


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    if separator not in line and '"' not in line:  # much faster for wide tables
        return [line.strip()]
    try:
        cells = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # a cell is longer than the limit of the module
        cells = line.split(separator)
    return [cell.strip() for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and cell.isascii()


def _column_indices(where: Location, names: list[str], key: list[str]) -> list[int]:
    """Return the indices of the columns in `key`."""
    counts, places = Counter(names), {name: j for j, name in enumerate(names)}
    for one in key:
        if one not in places:
            raise missing_name_error(where, "column", one, names)
        if counts[one] > 1:
            raise where.error(
                f"{counts[one]} columns have the name {one!r}.", "Give them different names."
            )
    return [places[one] for one in key]
