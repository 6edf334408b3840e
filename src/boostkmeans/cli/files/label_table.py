"""Writing of labels as a table: a CSV or Parquet file with a header, with or without ids."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from boostkmeans.cli.files.output import Output, writing_to
from boostkmeans.cli.stdout import print_part

# Names of the columns.
ID, LABEL = "id", "label"
# Number of rows of a row group of a Parquet file. Smaller batches are collected first.
ROWS_PER_GROUP = 1 << 17
# Number of rows that are converted to text at a time.
ROWS_PER_TEXT = 1 << 16

WriteTable = Callable[[NDArray[Any], NDArray[Any] | None], bool]
"""Write the next labels with their ids. Return False if the reader has closed the pipe."""


@contextmanager
def table_writer(
    output: Output, id_dtype: np.dtype[Any] | None, labels: Sequence[str] = (LABEL,)
) -> Iterator[WriteTable]:
    """Open an output for labels, which are written in batches.

    `id_dtype` is None for labels without ids. `labels` are the names of the columns of the labels. A
    file appears only if the block ends without an error.
    """
    names = list(labels) if id_dtype is None else [ID, *labels]
    if output.is_stdout:
        is_open = print_part(_header(names))
        yield lambda labels, ids: is_open and all(map(print_part, _lines(labels, ids)))
        return
    open_table = _parquet_table if output.ending == ".parquet" else _text_table
    with output.open() as file, open_table(file, names, id_dtype) as write:

        def write_rows(labels: NDArray[Any], ids: NDArray[Any] | None) -> bool:
            with writing_to(output.path):
                write(labels, ids)
            return True

        yield write_rows


@contextmanager
def _text_table(
    file: BinaryIO, names: list[str], id_dtype: np.dtype[Any] | None
) -> Iterator[Callable[[NDArray[Any], NDArray[Any] | None], None]]:
    file.write(_header(names).encode())
    yield lambda labels, ids: file.writelines(text.encode("utf-8") for text in _lines(labels, ids))


def _header(names: list[str]) -> str:
    return f"{','.join(names)}\n"


def _lines(labels: NDArray[Any], ids: NDArray[Any] | None) -> Iterator[str]:
    """Yield the rows as comma-separated lines. Ids with commas or quotes are quoted."""
    columns = _columns(labels, ids)
    for begin in range(0, len(labels), ROWS_PER_TEXT):
        text = io.StringIO()
        some = (column[begin : begin + ROWS_PER_TEXT].tolist() for column in columns)
        csv.writer(text, lineterminator="\n").writerows(zip(*some, strict=True))
        yield text.getvalue()


def _columns(labels: NDArray[Any], ids: NDArray[Any] | None) -> list[NDArray[Any]]:
    own = [labels] if labels.ndim == 1 else [np.ascontiguousarray(one) for one in labels.T]
    return own if ids is None else [ids, *own]


@contextmanager
def _parquet_table(
    file: BinaryIO, names: list[str], id_dtype: np.dtype[Any] | None
) -> Iterator[Callable[[NDArray[Any], NDArray[Any] | None], None]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = dict.fromkeys(names, pa.int32())
    if id_dtype is not None:
        kinds[ID] = pa.string() if id_dtype.kind == "O" else pa.from_numpy_dtype(id_dtype)
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in kinds.items()])

    waiting: list[Any] = []

    def flush() -> None:
        writer.write_table(pa.concat_tables(waiting), row_group_size=ROWS_PER_GROUP)
        waiting.clear()

    def write(labels: NDArray[Any], ids: NDArray[Any] | None) -> None:
        columns = _columns(labels, ids)
        arrays = [pa.array(one, field.type) for one, field in zip(columns, schema, strict=True)]
        waiting.append(pa.Table.from_arrays(arrays, schema=schema))
        if sum(table.num_rows for table in waiting) >= ROWS_PER_GROUP:
            flush()

    with pq.ParquetWriter(file, schema) as writer:
        yield write
        if waiting:
            flush()
