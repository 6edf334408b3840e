"""Columns of a table that hold the text, the class and the name of a document."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter
from boostkmeans.io._access.choice import list_names

# Names of a text column and of a class column that are recognised, in any case, by preference.
TEXT_NAMES = ("text",)
CLASS_NAMES = ("class", "label")
# Maximum number of characters of a cell that may be a column name.
MAX_NAME_LENGTH = 30
# Minimum number of texts below a row that is considered a header.
MIN_ROWS_BELOW_HEADER = 2

NUMBERS_HINT = "In a table without a header, use column numbers from 1."

Record = Mapping[str, Any]
"""Values of a row by the names of their columns."""


@dataclass(frozen=True)
class Columns:
    """Columns of a table, by name, or by number from 1 for a table without a header."""

    text: str | int | None = None
    label: str | int | None = None
    name: str | int | None = None

    @property
    def given(self) -> list[str | int]:
        """Columns that the user named."""
        return [one for one in (self.text, self.label, self.name) if one is not None]

    def resolve(self, source: str, header: list[str], sample: list[Record]) -> "Columns":
        """Check the given columns, and guess the others from the header and some records.

        A column "class" or "label" holds the classes. The text is in the column "text", or in the only
        column with words.
        """
        for column in self.given:
            if str(column) not in header:
                raise missing_column_error(source, column, header)
        label = self.label if self.label is not None else _recognised(header, CLASS_NAMES)
        if label in (self.text, self.name):
            label = self.label
        if self.text is not None:
            return Columns(self.text, label, self.name)
        others = [name for name in header if name not in (str(label), str(self.name))]
        text = _recognised(others, TEXT_NAMES) or _only_worded(others, sample)
        if text is None:
            raise _unknown_text_column_error(source, header)
        return Columns(text, label, self.name)


def header_names(first: list[str], columns: Columns, source: str) -> list[str] | None:
    """Return the column names in the first row, or None if this row is a document.

    The first row is a document if the user gave column numbers that are not names in this row.
    """
    names = [cell.strip() for cell in first]
    missing = [column for column in columns.given if str(column) not in names]
    if not missing:
        return names
    if any(not isinstance(column, int) for column in columns.given):
        raise missing_column_error(source, missing[0], names)
    invalid = [column for column in columns.given if not 1 <= int(column) <= len(first)]
    if invalid:
        raise DataFormatError(
            f"There is no column {invalid[0]}: the table has {len(first)} columns.", file=source
        )
    return None


def looks_like_header(first: list[str], others: list[list[str]], columns: Columns) -> bool:
    """Return True if a row that the user declared as a document seems to be a header.

    A header consists of distinct single words that are not numbers, above texts of several words.
    """
    cells = [cell.strip() for cell in first]
    short = all(cell and len(cell) <= MAX_NAME_LENGTH and len(cell.split()) == 1 for cell in cells)
    if not short or len(set(cells)) < len(cells) or any(map(_is_number, cells)):
        return False
    if not isinstance(columns.text, int):
        return False
    texts = [row[columns.text - 1].split() for row in others if len(row) == len(first)]
    lengths = [len(words) for words in texts if words]
    return len(lengths) >= MIN_ROWS_BELOW_HEADER and min(lengths) > 1


def missing_column_error(source: str, column: str | int, header: list[str]) -> DataFormatError:
    """Return the error for a column that the table does not have."""
    return DataFormatError(
        f"There is no column {column!r}. The columns are: {list_names(header)}.",
        file=source,
        remedy=Message(
            "Check {text}, {label} and {name}. {hint}",
            text=Parameter("text_column"),
            label=Parameter("class_column"),
            name=Parameter("name_column"),
            hint=NUMBERS_HINT,
        ),
    )


def _unknown_text_column_error(source: str, header: list[str]) -> DataFormatError:
    return DataFormatError(
        "It is not clear which column holds the text: no column is called 'text'. The columns are: "
        f"{list_names(header)}.",
        file=source,
        remedy=Message(
            "Name the column with {text_column}. {hint}",
            text_column=Parameter("text_column"),
            hint=NUMBERS_HINT,
        ),
    )


def _recognised(header: list[str], names: tuple[str, ...]) -> str | None:
    return next((column for name in names for column in header if column.lower() == name), None)


def _only_worded(header: list[str], sample: list[Record]) -> str | None:
    """Return the only column with strings that are not numbers, or None."""
    worded = [name for name in header if _has_words(record.get(name) for record in sample)]
    return worded[0] if len(worded) == 1 else None


def _has_words(values: Iterable[Any]) -> bool:
    return any(isinstance(value, str) and value.strip() and not _is_number(value) for value in values)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
