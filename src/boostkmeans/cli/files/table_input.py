"""Reading of tables and texts with one entry per row: CSV, TSV, JSON Lines, Parquet, Arrow, lines."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from boostkmeans import DataFormatError
from boostkmeans._runtime.progress import ignore_progress
from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._access.choice import list_names
from boostkmeans.io._readers.arrow.columns import import_pyarrow
from boostkmeans.io._readers.csv_rows import CsvRows
from boostkmeans.io._readers.text_lines import row_lines

# Separators by the ending of the file name.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PARQUET, ARROW = (".parquet",), (".arrow", ".feather")
TABLE_ENDINGS = (*SEPARATORS, *JSON_LINES, *PARQUET, *ARROW)
# Name of the column of texts, if the user does not name it.
TEXT_COLUMN = "text"
# Advice for files of lines.
EXPECTED_LINES = "Expected a text with one line per row."

Columns = dict[str, list[Any]]
"""Values of each column, in the order of the rows."""


def read_table(path: str) -> Columns:
    """Read all columns of a table. Columns of numbers in CSV files become numbers."""
    ending = table_ending(path)
    if ending in SEPARATORS:
        return {name: _as_numbers(cells) for name, cells in _read_separated(path, ending).items()}
    if ending in JSON_LINES:
        return _read_json_lines(path)
    if ending in (*PARQUET, *ARROW):
        return _read_arrow(path, is_parquet=ending in PARQUET)
    raise DataFormatError(
        f"This is not a table: its name must end in {', '.join(TABLE_ENDINGS)} (.csv, .tsv and .jsonl "
        "also in .gz).",
        file=path,
    )


def read_texts(path: str, column: str | None) -> list[str]:
    """Read one text per row: a column of a table, or the lines of any other file.

    Blank lines are rows, too, because the texts belong to vectors.
    """
    if table_ending(path) not in TABLE_ENDINGS:
        if column is not None:
            raise ValueError(f"--text-column names a column of a table, but {path} has lines.")
        return read_lines(path)
    # Texts keep their spelling, even if all of them are numbers.
    ending = table_ending(path)
    columns = _read_separated(path, ending) if ending in SEPARATORS else read_table(path)
    name = column or TEXT_COLUMN
    if column is None and name not in columns and len(columns) == 1:
        name = next(iter(columns))
    if name not in columns:
        raise DataFormatError(
            f"There is no column {name!r}. The columns are: {list_names(list(columns))}.",
            file=path,
            remedy="Name the column with --text-column.",
        )
    return ["" if one is None else str(one) for one in columns[name]]


def read_lines(path: str) -> list[str]:
    """Read the lines of a file in UTF-8, which may be compressed."""
    lines = row_lines(ByteSource(path), EXPECTED_LINES, newline="\n")
    return [line.rstrip("\r\n") for _, line in lines]


def table_ending(path: str) -> str:
    """Return the ending of a file name in lower case, without that of gzip."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _read_separated(path: str, ending: str) -> Columns:
    rows = _separated_rows(path, ending)
    _, header = next(rows, (0, None))
    if header is None:
        raise DataFormatError("The table is empty. Expected a line of column names.", file=path)
    _check_names(header, path)
    columns: Columns = {name: [] for name in header}
    for line, row in rows:
        if row and len(row) != len(header):
            problem = f"Expected {len(header)} columns. Got {len(row)}."
            raise DataFormatError(problem, file=path, place=f"line {line}")
        for name, cell in zip(header, row, strict=False):
            columns[name].append(cell)
    return columns


def _separated_rows(path: str, ending: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its first line."""
    rows = CsvRows(ByteSource(path).lines("utf-8", "", ignore_progress), SEPARATORS[ending])
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataFormatError(
                f"The quotes of this row are not valid ({error}).",
                file=path,
                place=f"line {line}",
                remedy="Double the quotes inside a text.",
            ) from None
        yield line, row


def _check_names(names: list[str], path: str) -> None:
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise DataFormatError(f"Two columns have the same name, {twice!r}.", file=path)


def _read_json_lines(path: str) -> Columns:
    records = []
    for number, line in enumerate(ByteSource(path).lines("utf-8", "\n", ignore_progress), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataFormatError(
                f"This is not JSON ({error}).", file=path, place=f"line {number}"
            ) from None
        if not isinstance(record, dict):
            raise DataFormatError(
                "Expected one JSON object per line.", file=path, place=f"line {number}"
            )
        records.append(record)
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _read_arrow(path: str, *, is_parquet: bool) -> Columns:
    pa = import_pyarrow()
    try:
        if is_parquet:
            # `read_table` fails with an obscure message if two columns have the same name.
            with pa.parquet.ParquetFile(path) as file:
                table = file.read()
        else:
            with pa.memory_map(path) as source:
                table = pa.ipc.open_file(source).read_all()
    except pa.ArrowException as error:
        raise DataFormatError(f"The table cannot be read ({error}).", file=path) from None
    _check_names(table.column_names, path)
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _as_numbers(cells: list[str]) -> list[Any]:
    """Return numbers if all cells are numbers or empty, and the cells otherwise."""
    try:
        return [float(cell) if cell.strip() else None for cell in cells]
    except ValueError:
        return list(cells)
