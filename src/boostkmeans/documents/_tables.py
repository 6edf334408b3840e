"""Documents in a column of a table: CSV, TSV, or JSON Lines."""

import csv
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Self

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.documents._corpus import Corpus, Skipped
from boostkmeans.documents._text_files import nothing_in_file
from boostkmeans.io._access.byte_source import ByteSource, invalid_text_reason

# Records that tell which columns hold text.
SAMPLE = 100
# Of what is called CSV. Of equally good ones the first.
SEPARATORS = (",", ";", "\t")
# Names that speak for themselves, in any case of letters.
TEXT_NAMES = ("text",)
CLASS_NAMES = ("class", "label")
# Of a column, in characters, where a table is said to have no names; and the least rows below them.
LONGEST_NAME, LEAST_BELOW_HEADER = 30, 2
# The longest field, in characters. What is longer has lost its closing quote.
LONGEST_FIELD = 1 << 26
# Lines that are read again, after quotes that are not closed, before a file is given up.
MOST_AGAIN = 20_000_000
# Characters of a name that a message shows, and how many names.
SHOWN_CHARACTERS, SHOWN_NAMES = 30, 20

ROWS_EXPECTED = "Expected is a row for each document, with as many columns as the first row."
OBJECTS_EXPECTED = "Expected is one JSON object a line: of an array, jq -c '.[]' makes these."

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Columns:
    """Which columns hold what. A number, from 1 on, is for a table without a header."""

    text: str | int | None = None
    label: str | int | None = None
    name: str | int | None = None

    @property
    def named(self) -> list[str | int]:
        """Those that were given."""
        return [one for one in (self.text, self.label, self.name) if one is not None]


@dataclass
class _Table:
    """The documents of a table, as they are read one record after the other."""

    source: ByteSource
    encoding: str
    columns: Columns
    expected: str
    names: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    classes: list[str | None] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, line: int, reason: str) -> None:
        self.skipped.append(Skipped(f"line {line}", reason))

    def add(self, line: int, record: Record) -> None:
        columns = self.columns
        text = record.get(str(columns.text))
        if not isinstance(text, str):
            found = "nothing" if text is None else type(text).__name__
            self.skip(line, f"{found} instead of a text in column {columns.text!r}")
            return
        name, label = _cell(record, columns.name), _cell(record, columns.label)
        reason = invalid_text_reason(text, self.encoding) or (None if text.strip() else "empty")
        for column, cell in ((columns.name, name), (columns.label, label)):
            fault = None if cell is None else invalid_text_reason(cell, self.encoding)
            if fault and not reason:
                reason = f"{fault} of column {column!r}"
        if reason:
            self.skip(line, reason)
            return
        self.names.append(f"line {line}" if name is None else name)
        self.texts.append(text)
        self.classes.append(label or None)

    def corpus(self) -> Corpus:
        if not self.texts:
            raise self.nothing()
        known = self.columns.label is not None and any(self.classes)
        return Corpus(
            names=self.names,
            texts=self.texts,
            classes=self.classes if known else None,
            skipped=self.skipped,
            source=self.source.name,
        )

    def nothing(self) -> DataFormatError:
        """The error for a table in which no document is left."""
        return DataFormatError(
            nothing_in_file(self.source.name, self.skipped, self.encoding, self.expected)
        )


def _cell(record: Record, column: str | int | None) -> str | None:
    """What stands in a column that need not be there, as a string."""
    value = None if column is None else record.get(str(column))
    return None if value is None else str(value)


def read_separated(
    source: ByteSource, separator: str, columns: Columns, encoding: str, progress: ProgressCallback
) -> Corpus:
    """A table with a separator. Its first line names the columns, unless they are given as numbers.

    CSV is separated by commas; or by semicolons or tabs, where the first line makes more columns so.
    """
    table = _Table(source, encoding, columns, ROWS_EXPECTED)
    rows = _rows(table, separator, progress)
    line, first = next(rows, (0, None))
    if first is None:
        raise table.nothing()
    header = _header(first, columns, source.name)
    if header is None:
        header = [str(i + 1) for i in range(len(first))]
        sample = list(islice(rows, SAMPLE))
        if _looks_like_header(first, [row for _, row in sample], columns):
            table.skip(line, "looks like a header")
        else:
            sample.insert(0, (line, first))
        rows = chain(sample, rows)
    _fill(table, _as_records(table, rows, header), header)
    return table.corpus()


def read_json_lines(
    source: ByteSource, columns: Columns, encoding: str, progress: ProgressCallback
) -> Corpus:
    """A JSON object on each line."""
    table = _Table(source, encoding, columns, OBJECTS_EXPECTED)
    _fill(table, _json_records(table, progress), None)
    return table.corpus()


def _fill(table: _Table, records: Iterator[tuple[int, Record]], header: list[str] | None) -> None:
    """Reads the records, after a look at some of them for columns that were not given."""
    sample = list(islice(records, SAMPLE))
    if not sample:
        return
    if header is None:
        header = list(dict.fromkeys(key for _, record in sample for key in record))
    table.columns = _settled(table, header, [record for _, record in sample])
    for line, record in chain(sample, records):
        table.add(line, record)


class _Rewindable:
    """Lines, of which those after the first of a record can be taken once more."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._again: deque[str] = deque()
        self.taken: list[str] = []
        """Lines of this record. Whoever begins a new one empties it."""
        self.n_again = 0
        """How many lines were put back, in all."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        return line

    def back_to_second(self) -> None:
        """The next line will be the second one of this record."""
        self._again.extendleft(reversed(self.taken[1:]))
        self.n_again += len(self.taken) - 1


def _rows(table: _Table, separator: str, progress: ProgressCallback) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV or TSV, and the lines where they begin."""
    lines = table.source.lines(table.encoding, "", progress)
    tabs = separator == "\t"
    if not tabs:
        first = next(lines, "")
        separator = max(SEPARATORS, key=lambda one: len(next(csv.reader([first], delimiter=one), [])))
        lines = chain([first], lines) if first else lines
    source = _Rewindable(lines)
    # In tab-separated values there are no quotes: a line is a row.
    reader = csv.reader(
        source,
        delimiter=separator,
        strict=True,
        quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL,
    )
    while True:
        begin = reader.line_num + 1 - source.n_again
        source.taken.clear()
        try:
            row = _next_row(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if len(source.taken) <= 1:
                table.skip(begin, f"not a row of a table: {error}")
                continue
            end = begin + len(source.taken) - 1
            reason = f"a quote that opens here is not closed where a field ends ({error}, line {end})"
            source.back_to_second()
            # Without its header, the next row would be taken for it.
            if begin == 1 or source.n_again > MOST_AGAIN:
                raise DataFormatError(
                    f"{table.source.name}, line {begin}: {reason}. Double the quotes in a text."
                ) from None
            table.skip(begin, reason)
            continue
        if row:
            yield begin, row


def _next_row(reader: Iterator[list[str]]) -> list[str]:
    # The limit is that of the whole process: changed for no longer than a row takes.
    limit = csv.field_size_limit(LONGEST_FIELD)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(limit)


def _header(first: list[str], columns: Columns, name: str) -> list[str] | None:
    """The names of the columns, or None if the first row is a document like the others."""
    names = [one.strip() for one in first]
    missing = [one for one in columns.named if str(one) not in names]
    if not missing:
        return names
    if any(not isinstance(one, int) for one in columns.named):
        raise DataFormatError(_no_such_column(name, missing[0], names))
    too_high = [one for one in columns.named if not 1 <= int(one) <= len(first)]
    if too_high:
        raise DataFormatError(f"{name}: there is no column {too_high[0]}, only {len(first)}.")
    return None


def _looks_like_header(first: list[str], others: list[list[str]], columns: Columns) -> bool:
    """Whether a row that was given as a document names the columns: short words, all different, above
    texts of several words."""
    cells = [cell.strip() for cell in first]
    short = all(cell and len(cell) <= LONGEST_NAME and len(cell.split()) == 1 for cell in cells)
    if not short or len(set(cells)) < len(cells) or any(map(_is_number, cells)):
        return False
    if not isinstance(columns.text, int):
        return False
    texts = [row[columns.text - 1].split() for row in others if len(row) == len(first)]
    lengths = [len(words) for words in texts if words]
    return len(lengths) >= LEAST_BELOW_HEADER and min(lengths) > 1


def _as_records(
    table: _Table, rows: Iterable[tuple[int, list[str]]], header: list[str]
) -> Iterator[tuple[int, Record]]:
    for line, row in rows:
        if len(row) == len(header):
            yield line, dict(zip(header, row, strict=True))
        else:
            table.skip(line, f"{len(row)} columns instead of {len(header)}")


def _json_records(table: _Table, progress: ProgressCallback) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(table.source.lines(table.encoding, "\n", progress), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = invalid_text_reason(line, table.encoding) or f"not JSON: {error}"
            table.skip(number, reason)
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            table.skip(number, f"a {type(record).__name__} instead of a JSON object")


def _settled(table: _Table, header: list[str], sample: list[Record]) -> Columns:
    """All columns that are used: those that were given, and guesses."""
    given = table.columns
    for one in given.named:
        if str(one) not in header:
            raise DataFormatError(_no_such_column(table.source.name, one, header))
    label = given.label if given.label is not None else _speaking(header, CLASS_NAMES)
    if label in (given.text, given.name):
        label = given.label
    if given.text is not None:
        return Columns(given.text, label, given.name)
    others = [name for name in header if name not in (str(label), str(given.name))]
    text = _speaking(others, TEXT_NAMES)
    if text is None:
        worded = [name for name in others if _is_worded(record.get(name) for record in sample)]
        if len(worded) != 1:
            raise DataFormatError(_no_text_column(table.source.name, header))
        text = worded[0]
    return Columns(text, label, given.name)


def _speaking(header: list[str], names: tuple[str, ...]) -> str | None:
    return next((one for name in names for one in header if one.lower() == name), None)


def _is_worded(values: Iterable[Any]) -> bool:
    """Whether some of them are strings that are not numbers."""
    return any(isinstance(value, str) and value.strip() and not _is_number(value) for value in values)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _no_such_column(name: str, wanted: str | int, header: list[str]) -> str:
    return (
        f"{name}: there is no column {wanted!r}. Its columns are {_shown(header)}. In a table without a "
        "header, give numbers, from 1 on."
    )


def _no_text_column(name: str, header: list[str]) -> str:
    return (
        f"{name}: which column holds the text? None is called 'text'. Its columns are {_shown(header)}. "
        "Name one as the text column; in a table without a header, give its number, from 1 on."
    )


def _shown(header: list[str]) -> str:
    cut = [name if len(name) <= SHOWN_CHARACTERS else name[:SHOWN_CHARACTERS] + "..." for name in header]
    more = f" and {len(cut) - SHOWN_NAMES} more" if len(cut) > SHOWN_NAMES else ""
    return ", ".join(map(repr, cut[:SHOWN_NAMES])) + more
