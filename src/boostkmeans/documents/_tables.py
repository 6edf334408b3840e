"""Documents in the rows of a table: CSV, TSV or JSON Lines."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._csv_rows import csv_rows
from boostkmeans.documents._skipped import SkippedDocuments
from boostkmeans.documents._table_columns import Columns, Record, header_names, looks_like_header
from boostkmeans.io._access.byte_source import ByteSource, TextFault, find_text_fault

# Number of records that are inspected to find the text column.
SAMPLE_RECORDS = 100

EXPECTED_ROWS = "Expected one row per document, with as many columns as the first row."
EXPECTED_OBJECTS = "Expected one JSON object per line. To convert a JSON array, use jq -c '.[]'."


@dataclass
class _TableReader:
    """Documents of a table, collected record by record."""

    source: ByteSource
    encoding: str
    columns: Columns
    expected: str
    """Advice if the table has no valid document."""
    names: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    classes: list[str | None] = field(default_factory=list)
    skipped: SkippedDocuments = field(default_factory=SkippedDocuments)

    def read(self, records: Iterator[tuple[int, Record]], header: list[str] | None) -> Corpus:
        """Read all records, each with its line number.

        Columns that the user did not name are guessed from the first records. Without a header, the
        column names are the keys of these records.
        """
        sample = list(islice(records, SAMPLE_RECORDS))
        if sample:
            if header is None:
                header = list(dict.fromkeys(key for _, record in sample for key in record))
            self.columns = self.columns.resolve(
                self.source.name, header, [record for _, record in sample]
            )
        for line, record in chain(sample, records):
            self._add(line, record)
        return self._corpus()

    def _add(self, line: int, record: Record) -> None:
        columns = self.columns
        text = record.get(str(columns.text))
        if not isinstance(text, str):
            found = "nothing" if text is None else type(text).__name__
            self.skip(line, f"{found} instead of a text in column {columns.text!r}")
            return
        name, label = _optional_cell(record, columns.name), _optional_cell(record, columns.label)
        fault = self._fault(text, name, label)
        if fault:
            self.skip(line, fault)
            return
        self.names.append(f"line {line}" if name is None else name)
        self.texts.append(text)
        self.classes.append(label or None)

    def _fault(self, text: str, name: str | None, label: str | None) -> TextFault | None:
        """Return the reason why a record cannot be used, or None."""
        fault = find_text_fault(text, self.encoding)
        if fault is None and not text.strip():
            fault = TextFault("empty")
        for column, cell in ((self.columns.name, name), (self.columns.label, label)):
            if fault is None and cell is not None:
                in_cell = find_text_fault(cell, self.encoding)
                if in_cell:
                    fault = in_cell._replace(reason=f"{in_cell.reason} of column {column!r}")
        return fault

    def skip(self, line: int, reason: str | TextFault) -> None:
        """Add the document of a line to the skipped documents."""
        self.skipped.add(f"line {line}", reason)

    def _corpus(self) -> Corpus:
        if not self.texts:
            raise self.nothing_left_error()
        known = self.columns.label is not None and any(self.classes)
        return Corpus(
            names=self.names,
            texts=self.texts,
            classes=self.classes if known else None,
            skipped=self.skipped.documents,
            source=self.source.name,
        )

    def nothing_left_error(self) -> DataFormatError:
        """Return the error for a table without a valid document."""
        if not self.skipped.documents:
            return DataFormatError("The file is empty.", file=self.source.name, remedy=self.expected)
        return self.skipped.nothing_left_error(self.source.name, "documents", self.expected)


def read_separated(
    source: ByteSource,
    separator: str | None,
    columns: Columns,
    encoding: str,
    progress: ProgressCallback,
) -> Corpus:
    """Read a CSV or TSV file. Without a separator, it is detected.

    The first line holds the column names, unless the user gave column numbers.
    """
    table = _TableReader(source, encoding, columns, EXPECTED_ROWS)
    lines = source.lines(encoding, "", progress)
    rows = csv_rows(lines, separator, source.name, table.skipped)
    line, first = next(rows, (0, None))
    if first is None:
        raise table.nothing_left_error()
    header = header_names(first, columns, source.name)
    if header is None:
        header = [str(i + 1) for i in range(len(first))]
        sample = list(islice(rows, SAMPLE_RECORDS))
        if looks_like_header(first, [row for _, row in sample], columns):
            table.skip(line, "looks like a header")
        else:
            sample.insert(0, (line, first))
        rows = chain(sample, rows)
    return table.read(_as_records(table, rows, header), header)


def read_json_lines(
    source: ByteSource, columns: Columns, encoding: str, progress: ProgressCallback
) -> Corpus:
    """Read a file with one JSON object per line."""
    table = _TableReader(source, encoding, columns, EXPECTED_OBJECTS)
    return table.read(_json_records(table, progress), None)


def _optional_cell(record: Record, column: str | int | None) -> str | None:
    """Return the value of a column as a string, or None if the column or the value is missing."""
    value = None if column is None else record.get(str(column))
    return None if value is None else str(value)


def _as_records(
    table: _TableReader, rows: Iterable[tuple[int, list[str]]], header: list[str]
) -> Iterator[tuple[int, Record]]:
    for line, row in rows:
        if len(row) == len(header):
            yield line, dict(zip(header, row, strict=True))
        else:
            table.skip(line, f"{len(row)} columns instead of {len(header)}")


def _json_records(table: _TableReader, progress: ProgressCallback) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(table.source.lines(table.encoding, "\n", progress), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            table.skip(number, find_text_fault(line, table.encoding) or f"not JSON: {error}")
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            table.skip(number, f"a {type(record).__name__} instead of a JSON object")
