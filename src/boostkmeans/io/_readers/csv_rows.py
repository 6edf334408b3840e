"""Rows of CSV and TSV files as lists of texts of any reasonable length."""

import csv
from collections.abc import Iterator
from typing import Self

# Maximum length of a field in characters. A longer field has lost its closing quote.
MAX_FIELD_LENGTH = 1 << 26


class CsvRows:
    """Iterator over the rows of a table. Invalid rows raise `csv.Error`.

    Fields may be longer than the limit of the csv module, which is 131,072 characters. Tab-separated
    values have no quotes: each line is a row.
    """

    def __init__(self, lines: Iterator[str], separator: str) -> None:
        self._reader = csv.reader(
            lines,
            delimiter=separator,
            strict=True,
            quoting=csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL,
        )

    @property
    def line_num(self) -> int:
        """Number of lines that were read."""
        return self._reader.line_num

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> list[str]:
        # The limit applies to the whole process, so it is changed only while one row is read.
        limit = csv.field_size_limit(MAX_FIELD_LENGTH)
        try:
            return next(self._reader)
        finally:
            csv.field_size_limit(limit)
