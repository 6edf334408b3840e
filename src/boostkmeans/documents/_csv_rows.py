"""Rows of a CSV or TSV file, with recovery from unclosed quotes."""

import csv
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Self

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.documents._skipped import SkippedDocuments
from boostkmeans.io._readers.csv_rows import CsvRows
from boostkmeans.io._readers.table_layout import best_separator

# Maximum number of lines that are read again after unclosed quotes, which bounds the run time.
MAX_LINES_READ_AGAIN = 20_000_000


class _Rewindable:
    """Iterator over lines that can go back to the second line of the current record."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._pending: deque[str] = deque()
        self.record: list[str] = []
        """Lines of the current record. The caller clears it before each record."""
        self.n_read_again = 0
        """Total number of lines that were read again."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._pending.popleft() if self._pending else next(self._lines)
        self.record.append(line)
        return line

    def rewind(self) -> None:
        """Continue with the second line of the current record."""
        self._pending.extendleft(reversed(self.record[1:]))
        self.n_read_again += len(self.record) - 1


def csv_rows(
    lines: Iterator[str], separator: str | None, source: str, skipped: SkippedDocuments
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with the number of its first line.

    Without a separator, the one that gives the first line the most cells is used. Invalid rows are added
    to `skipped`. If a quote is not closed, reading continues with the next line.
    """
    if separator is None:
        first = next(lines, "")
        separator = best_separator(first)
        lines = chain([first], lines) if first else lines
    rewindable = _Rewindable(lines)
    reader = CsvRows(rewindable, separator)
    while True:
        begin = reader.line_num + 1 - rewindable.n_read_again
        rewindable.record.clear()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            _skip_row(rewindable, begin, error, source, skipped)
            continue
        if row:
            yield begin, row


def _skip_row(
    lines: _Rewindable, begin: int, error: csv.Error, source: str, skipped: SkippedDocuments
) -> None:
    """Add an invalid row to `skipped`, and go back to its second line."""
    if len(lines.record) <= 1:
        skipped.add(f"line {begin}", f"not a valid row: {error}")
        return
    end = begin + len(lines.record) - 1
    reason = f"the quote that opens here is not closed at the end of a field ({error}, line {end})"
    lines.rewind()
    # If the header is invalid, the next row must not be used as the header.
    if begin == 1 or lines.n_read_again > MAX_LINES_READ_AGAIN:
        raise DataFormatError(
            f"{reason[0].upper()}{reason[1:]}.",
            file=source,
            place=f"line {begin}",
            remedy="Double the quotes inside a text.",
        ) from None
    skipped.add(f"line {begin}", reason)
