"""What the first lines of a table as text tell: separator, header, and which columns are wanted."""

import csv
import re
from dataclasses import dataclass

from boostkmeans._runtime.errors import ChoiceError, DataFormatError
from boostkmeans.io._access.byte_source import invalid_text_reason
from boostkmeans.io._access.choice import shown

# Of what is called CSV. Of equally good ones the first.
SEPARATORS = (",", ";", "\t")
# How Excel is told the separator, on a line of its own.
EXCEL = re.compile(r"sep=(.)\s*")
# In front of what np.savetxt calls a header.
COMMENT = "#"
# What stands for a value that is missing.
MISSING = {"", "na", "n/a", "null", "none", "?", "-"}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
WHOLE = re.compile(r"[+-]?\d+")
SAY = "Say whether the first line has names: header=True or header=False."


@dataclass(frozen=True)
class TableLayout:
    """Columns of a table."""

    separator: str | None
    """None: any white space."""
    names: list[str]
    """From the header; else numbers, from 1 on."""
    wanted: list[int]
    has_header: bool
    has_index: bool
    """The first column has no name: it should number the rows, as the index that pandas writes."""


def is_aside(line: str) -> bool:
    """Whether a line in front of the table is a comment."""
    return line.lstrip().startswith(COMMENT)


def table_layout(
    place: str,
    first: str,
    second: str | None,
    *,
    separator: str | None,
    key: list[str] | None,
    header: bool | None,
) -> TableLayout:
    """By the first two lines; `place` says where the first one is. A separator may be known already."""
    separator = separator or _separator(first, second)
    cells = _cells(first, separator)
    if header is None:
        header = _is_header(place, cells, _cells(second, separator) if second else None, first)
    names = cells if header else [str(i + 1) for i in range(len(cells))]
    if header:
        fault = invalid_text_reason(first, "utf-8")
        if fault:
            raise DataFormatError(f"{place}: the names of the columns are {fault}. Save it as UTF-8.")
    wanted = _wanted(place, names, key, header)
    has_index = header and key is None and len(names) > 1 and names[0] == "" and all(names[1:])
    return TableLayout(separator, names, wanted, header, has_index)


def _is_header(place: str, cells: list[str], below: list[str] | None, line: str) -> bool:
    """Names, or numbers. What may be either is an error: a row would be lost, or made up."""
    numbers = [_is_number(cell) for cell in cells]
    if all(numbers):
        return _are_counted(place, cells, below)
    if cells[0] == "" and cells[1:] == _counted(len(cells) - 1):
        return True  # above the index that pandas writes
    if not any(numbers) and not all(cell.lower() in MISSING for cell in cells):
        return True
    if all(DECIMAL_COMMA.fullmatch(cell.strip()) for cell in line.split(";")):
        raise DataFormatError(
            f"{place}: numbers with decimal commas, which are not read. Write them with points."
        )
    at = numbers.index(False)
    what = "an empty cell" if not cells[at] else f"{cells[at][:40]!r}"
    raise DataFormatError(
        f"{place}, column {at + 1}: {what} where other columns have numbers. If it is a row, fill it or "
        f"leave it out. {SAY}"
    )


def _are_counted(place: str, cells: list[str], below: list[str] | None) -> bool:
    """Whether the numbers are the names 0, 1, 2, ... that pandas gives to columns without any."""
    if len(cells) < 2 or cells != _counted(len(cells)):
        return False
    if below is not None and not all(WHOLE.fullmatch(cell) for cell in below):
        return True
    raise DataFormatError(f"{place}: 0, 1, ... may be names of the columns, or a row. {SAY}")


def _counted(n: int) -> list[str]:
    return [str(i) for i in range(n)]


def _separator(first: str, second: str | None) -> str | None:
    """None stands for any white space, as np.savetxt writes it."""
    best = max(SEPARATORS, key=lambda one: len(_cells(first, one)))
    words = (second or first).split()
    if len(_cells(first, best)) == 1 and len(first.split()) == len(words) > 1:
        return None if all(map(_is_number, words)) else best
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


def _wanted(place: str, names: list[str], key: list[str] | None, has_header: bool) -> list[int]:
    if key is None:
        return list(range(len(names)))
    missing = [one for one in key if one not in names]
    if missing:
        hint = "" if has_header else " The table has no header, so that columns have numbers, from 1 on."
        raise ChoiceError(f"{place}: there is no column {missing[0]!r}; there is {shown(names)}.{hint}")
    repeated = [one for one in key if names.count(one) > 1]
    if repeated:
        raise DataFormatError(
            f"{place}: {names.count(repeated[0])} columns are called {repeated[0]!r}. Give them names "
            "of their own."
        )
    return [names.index(one) for one in key]
