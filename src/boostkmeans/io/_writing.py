"""`write_vectors`: write vectors to a file, batch by batch."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import issparse

from boostkmeans._data.user_input import accepted_rows
from boostkmeans._runtime.errors import (
    DataFormatError,
    Message,
    Parameter,
    ParameterConflictError,
    ParameterError,
)
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._storage.atomic_file import atomic_write
from boostkmeans.io import _formats
from boostkmeans.io._access.row_stores import ROW_LENGTH
from boostkmeans.io._readers.arrow.columns import import_pyarrow
from boostkmeans.io._readers.npy import NUMERIC
from boostkmeans.io._readers.vector_files import BIN_DTYPES, BIN_HEADER, VECS_DTYPES
from boostkmeans.io._vectors import BATCH_BYTES, Vectors

# float16 is not written: it would round most values.
WRITABLE = ("npy", *VECS_DTYPES, *(name for name in BIN_DTYPES if name != "f16bin"), "parquet")
# Largest numbers of rows and columns in the header of a .fbin file, which are uint32.
MAX_BIN_COUNT = 2**32 - 1
# Largest length of a row in a .fvecs file, which is int32.
MAX_VECS_LENGTH = 2**31 - 1
# Number of rows per row group of a Parquet file. A group is decoded as a whole.
ROWS_PER_GROUP = 1 << 16
# Name of the column of vectors of a Parquet file.
COLUMN = "vector"
# Name of the column of ids.
ID = "id"

Batch = NDArray[Any]


def write_vectors(
    path: str | os.PathLike[str],
    vectors: Any,
    *,
    format: str | None = None,  # noqa: A002
    id_column: str | None = None,
    force: bool = False,
    progress: ProgressCallback | None = None,
) -> None:
    """Write dense vectors to a file.

    Vectors are written batch by batch, so they may be larger than memory. The file appears under its
    name only when it is complete. Values are stored exactly, and a value that the format cannot hold
    raises an error. As an exception, float64 is rounded to float32 in `.fvecs` and `.fbin` files.

    Parameters
    ----------
    path : path
        Name of the file, with the suffix `.npy`, `.fvecs`, `.ivecs`, `.bvecs`, `.fbin`, `.ibin`,
        `.u8bin`, `.i8bin` or `.parquet` (a column "vector" of lists).
    vectors : Vectors or array of shape (n, d)
        Result of `open_vectors`, or an array.
    format : str, default=None
        One of `WRITABLE`. By default, it is determined by the suffix.
    id_column : str, default=None
        Name of the column to which the ids of the rows are written. The file must be a Parquet file, and
        the vectors must have been opened with `id_column`.
    force : bool, default=False
        Whether to overwrite an existing file.
    progress : callable, default=None
        Function called as `progress(what, done, total)` with numbers of rows.

    Raises
    ------
    DataFormatError
        If the format cannot hold a value.
    """
    _formats.check_format(format, WRITABLE)
    format_name = format or _formats.format_by_suffix(os.fspath(path))
    if format_name not in WRITABLE or os.fspath(path).endswith(".gz"):
        raise ParameterConflictError(
            Message(
                "{path}: Files of this type cannot be written.",
                path=os.fspath(path),
            ),
            remedy=Message(
                "Use the suffix of one of the formats {names}, or pass {format}.",
                names=", ".join(map(repr, WRITABLE)),
                format=Parameter("format"),
            ),
        )
    ids = None if id_column is None else _IdColumn.of(vectors, id_column, format_name)
    rows = _Rows.of(vectors)
    report = progress or ignore_progress
    with (
        atomic_write(path, force=force) as file,
        _batch_writer(file, format_name, rows.shape, rows.dtype, ids) as write,
    ):
        done = 0
        for batch in rows.batches(ROWS_PER_GROUP if format_name == "parquet" else None):
            write(batch)
            done += len(batch)
            report("writing", done, rows.shape[0])


@contextmanager
def batch_writer(
    file: BinaryIO,
    format_name: str,
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    *,
    ids: NDArray[Any] | None = None,
    id_column: str = ID,
) -> Iterator[Callable[[Batch], None]]:
    """Return a function that appends batches of rows to an open file.

    A value that the format cannot hold raises DataFormatError.

    Parameters
    ----------
    file : binary file
        File that is open for writing.
    format_name : str
        Name of the format, one of `WRITABLE`.
    shape : tuple of int
        Number of rows and of features of all batches together.
    dtype : dtype
        Type of the values.
    ids : ndarray of shape (n_rows,), default=None
        Ids of all rows, as integers or strings. Only Parquet files have a column for them.
    id_column : str, default="id"
        Name of this column.

    Yields
    ------
    write : callable
        Function that appends an array of rows.
    """
    column = None
    if ids is not None:
        if format_name != "parquet":
            raise ValueError(f"A {format_name} file has no column for ids. Use parquet.")
        column = _IdColumn(id_column, lambda begin, end: ids[begin:end])
    with _batch_writer(file, format_name, shape, dtype, column) as write:
        yield write


@dataclass(frozen=True)
class _IdColumn:
    """A column with the ids of the rows."""

    name: str
    read: Callable[[int, int], NDArray[Any]]
    """Return the ids of a range of rows: integers, or strings in an array of objects."""

    @classmethod
    def of(cls, vectors: Any, name: str, format_name: str) -> "_IdColumn":
        """Return the column of ids of some vectors. Raise an error if it cannot be written."""
        if format_name != "parquet":
            raise ParameterConflictError(
                Message(
                    "{id_column} needs a file with columns, but the format {format!r} has only vectors.",
                    id_column=Parameter("id_column"),
                    format=format_name,
                ),
                remedy=Message(
                    "Write a .parquet file. To leave the ids out, omit {id_column}, and name the "
                    "columns of the vectors with {key}.",
                    id_column=Parameter("id_column"),
                    key=Parameter("key"),
                ),
            )
        if not isinstance(vectors, Vectors) or not vectors.has_ids:
            raise ParameterError("id_column", "None, because the vectors have no ids", name)
        if name == COLUMN:
            raise ParameterError("id_column", f"another name than {COLUMN!r}, that of the vectors", name)
        return cls(name, vectors.read_ids)


@contextmanager
def _batch_writer(
    file: BinaryIO,
    format_name: str,
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    ids: _IdColumn | None,
) -> Iterator[Callable[[Batch], None]]:
    """Do what `batch_writer` does, and write the ids of the rows if there are any."""
    in_file = VECS_DTYPES.get(format_name) or BIN_DTYPES.get(format_name) or dtype
    done = 0
    with _raw_writer(format_name, file, shape, dtype, ids) as write_raw:

        def write(batch: Batch) -> None:
            nonlocal done
            write_raw(_converted(batch, in_file, done))
            done += len(batch)

        yield write


@dataclass(frozen=True)
class _Rows:
    """Rows to write, after their shape and type were checked."""

    vectors: Any
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, vectors: Any) -> "_Rows":
        """Return the rows of an array or of Vectors. Raise ValueError if they cannot be written."""
        if issparse(vectors) or (isinstance(vectors, Vectors) and vectors.is_sparse):
            raise ValueError(
                "Only dense vectors can be written, and these are sparse. Save them with "
                "scipy.sparse.save_npz, or convert them with toarray() if they are few."
            )
        rows = vectors if isinstance(vectors, Vectors) else np.asarray(accepted_rows(vectors, "vectors"))
        if rows.ndim != 2 or rows.shape[1] < 1:
            raise ValueError(
                f"vectors must have 2 dimensions, rows and columns. Got the shape {rows.shape}."
            )
        if rows.dtype.kind not in NUMERIC or rows.dtype.itemsize > 8:
            raise ValueError(f"vectors must be real numbers of at most 8 bytes. Got {rows.dtype}.")
        return cls(rows, rows.shape, np.dtype(rows.dtype).newbyteorder("="))

    def batches(self, n_rows: int | None) -> Iterator[Batch]:
        """Iterate over batches of `n_rows` rows, or of about 16 MB."""
        if isinstance(self.vectors, Vectors):
            yield from self.vectors.batches(n_rows)
            return
        step = n_rows or max(1, BATCH_BYTES // (self.shape[1] * self.dtype.itemsize))
        for begin in range(0, self.shape[0], step):
            yield self.vectors[begin : begin + step]


def _converted(batch: Batch, dtype: np.dtype[Any], first: int) -> Batch:
    """Return the batch as a C-contiguous array of another type.

    Raises DataFormatError if a value would change, except that floats may be rounded.
    """
    if batch.dtype.newbyteorder("=") == dtype:
        return np.ascontiguousarray(batch, dtype=dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        converted = np.ascontiguousarray(batch, dtype=dtype)
        if (batch.dtype.kind, dtype.kind) == ("f", "f"):  # rounding is allowed, overflow is not
            same = np.isfinite(converted) | ~np.isfinite(batch)
        else:
            same = _equal(converted, batch)
    if not same.all():
        row, column = np.argwhere(~same)[0]
        raise DataFormatError(
            f"The value {batch[row, column]} is not a valid {dtype}, the only type that this format "
            "can hold.",
            place=f"row {first + int(row)}, column {int(column)}",
            remedy="Choose another format, or round and clip the values.",
        )
    return converted


def _equal(converted: Batch, batch: Batch) -> NDArray[np.bool_]:
    """Return a mask of the values that convert back to themselves, with the same sign."""
    back = converted.astype(batch.dtype)
    return np.asarray((back == batch) & ((converted < 0) == (batch < 0)))


@contextmanager
def _raw_writer(
    format_name: str,
    file: BinaryIO,
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    ids: _IdColumn | None,
) -> Iterator[Callable[[Batch], Any]]:
    """Write the header, and return a function that writes a batch of the type in the file."""
    if format_name == "parquet":
        with _parquet_writer(file, shape[1], dtype, ids) as write:
            yield write
        return
    _check_counts(format_name, shape)
    if format_name == "npy":
        header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, header)
    if format_name in BIN_DTYPES:
        file.write(BIN_HEADER.pack(*shape))
    if format_name in VECS_DTYPES:
        yield lambda batch: file.write(_with_lengths(batch).data)
    else:
        yield lambda batch: file.write(batch.data)


def _check_counts(format_name: str, shape: tuple[int, int]) -> None:
    """Raise ValueError if the header of the format cannot hold the shape."""
    is_vecs, is_bin = format_name in VECS_DTYPES, format_name in BIN_DTYPES
    largest = MAX_VECS_LENGTH if is_vecs else MAX_BIN_COUNT
    if (is_vecs or is_bin) and (shape[1] > largest or (is_bin and shape[0] > largest)):
        raise ValueError(
            f"A {format_name} file cannot hold the shape {shape}: the largest length is {largest}."
        )
    if is_vecs and shape[0] == 0:
        raise ValueError(
            f"A {format_name} file needs at least one row: without rows, it does not store their length."
        )


def _with_lengths(batch: Batch) -> NDArray[np.uint8]:
    """Return the bytes of the rows, each preceded by its length."""
    n, d = batch.shape
    found = np.empty((n, ROW_LENGTH.itemsize + d * batch.dtype.itemsize), dtype=np.uint8)
    found[:, : ROW_LENGTH.itemsize] = np.array([d], dtype=ROW_LENGTH).view(np.uint8)
    found[:, ROW_LENGTH.itemsize :] = batch.view(np.uint8)
    return found


@contextmanager
def _parquet_writer(
    file: BinaryIO, n_columns: int, dtype: np.dtype[Any], ids: _IdColumn | None
) -> Iterator[Callable[[Batch], Any]]:
    pa = import_pyarrow()
    value = pa.field("item", pa.from_numpy_dtype(dtype), nullable=False)
    vectors = pa.field(COLUMN, pa.list_(value, n_columns), nullable=False)
    schema = pa.schema([vectors] if ids is None else [_id_field(ids), vectors])
    done = 0

    def write(batch: Batch) -> None:
        nonlocal done
        values = pa.array(np.ravel(batch))
        columns = [pa.FixedSizeListArray.from_arrays(values, type=vectors.type)]
        if ids is not None:
            columns.insert(0, pa.array(ids.read(done, done + len(batch)), schema.field(0).type))
        done += len(batch)
        writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=ROWS_PER_GROUP)

    # Vectors have few repeated values, so a dictionary would take time and save no space.
    with pa.parquet.ParquetWriter(file, schema, use_dictionary=False) as writer:
        yield write


def _id_field(ids: _IdColumn) -> Any:
    pa, dtype = import_pyarrow(), ids.read(0, 0).dtype
    kind = pa.string() if dtype.kind in "OU" else pa.from_numpy_dtype(dtype)
    return pa.field(ids.name, kind, nullable=False)
