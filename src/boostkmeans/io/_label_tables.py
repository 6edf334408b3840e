"""`write_labels`: one value per row, alone or in a table with the ids of the rows."""

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._runtime.errors import InvalidValuesError, Message, ParameterError
from boostkmeans._storage.atomic_file import atomic_write
from boostkmeans.io._readers.arrow.columns import import_pyarrow

# Names of the columns.
ID, LABEL = "id", "label"
# Separators of tables as text, by the ending of the file name.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
# Endings of files that can hold ids.
TABLE_ENDINGS = (*SEPARATORS, ".parquet")
# Endings of all files of labels.
ENDINGS = (".npy", ".txt", *TABLE_ENDINGS)
# Number of rows of a row group of a Parquet file. Smaller batches are collected first.
ROWS_PER_GROUP = 1 << 17
# Number of rows that are converted to text at a time.
ROWS_PER_TEXT = 1 << 16

WriteLabels = Callable[[NDArray[Any], NDArray[Any] | None], None]
"""Write the next labels with their ids."""


def write_labels(
    path: str | os.PathLike[str],
    labels: ArrayLike,
    *,
    ids: ArrayLike | None = None,
    name: str = LABEL,
    force: bool = False,
) -> None:
    r"""Write one value per row, with or without the ids of the rows.

    The file appears under its name only when it is complete.

    Parameters
    ----------
    path : path
        Name of the file. Its ending determines the format: `.csv`, `.tsv` and `.parquet` are tables with
        a header. `.npy` is an array, and `.txt` has one value per line; both cannot hold ids.
    labels : array-like of shape (n,)
        Value of each row, e.g. `labels_` of a model, or distances.
    ids : array-like of shape (n,), default=None
        Ids of the rows: integers or strings, e.g. the index of a data frame. They are the column "id".
    name : str, default="label"
        Name of the column of the values.
    force : bool, default=False
        Whether to overwrite an existing file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from boostkmeans.io import write_labels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.csv")
    ...     write_labels(path, [1, 0], ids=["a", "b"])
    ...     path.read_text()
    'id,label\na,1\nb,0\n'
    """
    ending = Path(path).suffix.lower()
    allowed = ENDINGS if ids is None else TABLE_ENDINGS
    if ending not in allowed:
        what = "a file that ends in" if ids is None else "a table, because there are ids:"
        expected = f"{what} {', '.join(allowed[:-1])} or {allowed[-1]}"
        raise ParameterError("path", expected, os.fspath(path), owner="write_labels")
    values = np.asarray(labels)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise ParameterError("labels", "an array of numbers, one per row", values, owner="write_labels")
    row_ids = None if ids is None else plain_ids(ids, len(values))
    with atomic_write(path, force=force) as file:
        if ending == ".npy":
            np.save(file, values, allow_pickle=False)
        elif ending == ".txt":
            file.writelines(text.encode() for text in label_lines(values, None))
        else:
            with label_table(file, ending, values.dtype, _dtype_of(row_ids), [name]) as write:
                write(values, row_ids)


def plain_ids(ids: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return ids as integers, or as strings in an array of objects. Raise an error for other ids."""
    array = np.asarray(ids)
    if array.shape != (n_rows,):
        raise InvalidValuesError(
            Message("ids has the shape {shape}. Expected {n} ids.", shape=array.shape, n=n_rows)
        )
    if array.dtype.kind in "iu":
        return array
    strings = array.astype(object)
    wrong = next((i for i, one in enumerate(strings) if not isinstance(one, str)), None)
    if wrong is not None:
        raise InvalidValuesError(
            Message(
                "Ids must be strings or integers. Row {row} has {got!r}.", row=wrong, got=strings[wrong]
            )
        )
    return strings


@contextmanager
def label_table(
    file: BinaryIO,
    ending: str,
    dtype: np.dtype[Any],
    id_dtype: np.dtype[Any] | None,
    columns: Sequence[str] = (LABEL,),
) -> Iterator[WriteLabels]:
    """Write the header of a table, and return a function that writes batches of labels and ids.

    `ending` is one of `TABLE_ENDINGS`. `id_dtype` is None for a table without ids. `columns` are the
    names of the columns of the labels. With several columns, labels have one row per row of the table.
    """
    names = list(columns) if id_dtype is None else [ID, *columns]
    if ending == ".parquet":
        with _parquet_table(file, names, dtype, id_dtype) as write:
            yield write
        return
    separator = SEPARATORS[ending]
    file.write(table_header(names, separator).encode())
    yield lambda labels, ids: file.writelines(
        text.encode("utf-8") for text in label_lines(labels, ids, separator)
    )


def table_header(names: list[str], separator: str = ",") -> str:
    """Return the first line of a table as text."""
    return f"{separator.join(names)}\n"


def label_lines(labels: NDArray[Any], ids: NDArray[Any] | None, separator: str = ",") -> Iterator[str]:
    """Yield blocks of lines of a table as text. Ids with separators or quotes are quoted."""
    columns = _columns(labels, ids)
    for begin in range(0, len(labels), ROWS_PER_TEXT):
        text = io.StringIO()
        some = (column[begin : begin + ROWS_PER_TEXT].tolist() for column in columns)
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        writer.writerows(zip(*some, strict=True))
        yield text.getvalue()


def _columns(labels: NDArray[Any], ids: NDArray[Any] | None) -> list[NDArray[Any]]:
    """Return the columns of a table."""
    own = [labels] if labels.ndim == 1 else [np.ascontiguousarray(one) for one in labels.T]
    return own if ids is None else [ids, *own]


def _dtype_of(ids: NDArray[Any] | None) -> np.dtype[Any] | None:
    return None if ids is None else ids.dtype


@contextmanager
def _parquet_table(
    file: BinaryIO, names: list[str], dtype: np.dtype[Any], id_dtype: np.dtype[Any] | None
) -> Iterator[WriteLabels]:
    pa = import_pyarrow()
    kinds = dict.fromkeys(names, pa.from_numpy_dtype(dtype))
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

    with pa.parquet.ParquetWriter(file, schema) as writer:
        yield write
        if waiting:
            flush()
