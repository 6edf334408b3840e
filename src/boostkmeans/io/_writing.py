"""`write_vectors`: a file of vectors, batch by batch, there as a whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import issparse

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._storage.atomic_file import atomic_write
from boostkmeans.io import _formats
from boostkmeans.io._access.row_file import LENGTH
from boostkmeans.io._readers.arrow_columns import arrow
from boostkmeans.io._readers.npy import NUMERIC
from boostkmeans.io._readers.vector_files import COUNTED, COUNTS, LED
from boostkmeans.io._vectors import BATCH_BYTES, Vectors

# Of what is read, float16 is missing here: it would round all that there is.
WRITABLE = ("npy", *LED, *(kind for kind in COUNTED if kind != "f16bin"), "parquet")
# The most rows and columns that a uint32 can count, and an int32.
MOST_COUNTED, MOST_LED = 2**32 - 1, 2**31 - 1
# Of Parquet: rows that are decoded at a time, and the name of the column.
ROWS_OF_GROUP, COLUMN = 1 << 16, "vector"

Batch = NDArray[Any]


def write_vectors(
    path: str | os.PathLike[str],
    vectors: Any,
    *,
    format: str | None = None,  # noqa: A002
    force: bool = False,
    progress: ProgressCallback | None = None,
) -> None:
    """Writes dense vectors to a file, batch by batch: they may be more than there is memory.

    Values stay what they are, or an error says which one would not. One exception: float64 becomes
    float32 in `.fvecs` and `.fbin`, which have nothing else.

    Parameters
    ----------
    path : path
        By its ending `.npy`, `.fvecs`, `.ivecs`, `.bvecs`, `.fbin`, `.ibin`, `.u8bin`, `.i8bin` or
        `.parquet`: a column "vector" of lists. The file is there as a whole or not at all.
    vectors : Vectors or array of shape (n, d)
        What `open_vectors` gave, or an array.
    format : str, default=None
        One of `WRITABLE`, where the ending does not tell.
    force : bool, default=False
        Overwrite what is there.
    progress : callable, default=None
        Called as `progress(what, done, total)` with numbers of rows.
    """
    _formats.check_format(format, WRITABLE)
    kind = format or _formats.format_of(os.fspath(path))
    if kind not in WRITABLE or os.fspath(path).endswith(".gz"):
        raise ValueError(
            f"{os.fspath(path)}: such a file is not written. Use one of the endings of "
            f"{', '.join(map(repr, WRITABLE))}, or give the format."
        )
    rows = _Rows.of(vectors)
    show = progress or ignore_progress
    with (
        atomic_write(path, force=force) as file,
        batch_writer(file, kind, rows.shape, rows.dtype) as write,
    ):
        done = 0
        for batch in rows.batches(ROWS_OF_GROUP if kind == "parquet" else None):
            write(batch)
            done += len(batch)
            show("writing", done, rows.shape[0])


@contextmanager
def batch_writer(
    file: BinaryIO, kind: str, shape: tuple[int, int], dtype: np.dtype[Any]
) -> Iterator[Callable[[Batch], None]]:
    """What writes vectors of that shape to an open file, some after the other; `kind` is a format.

    For vectors that are never all there at once. Values stay what they are, or an error says which one
    would not.
    """
    in_file = LED.get(kind) or COUNTED.get(kind) or dtype
    done = 0
    with _writer(kind, file, shape, dtype) as put:

        def write(batch: Batch) -> None:
            nonlocal done
            put(_converted(batch, in_file, done))
            done += len(batch)

        yield write


@dataclass(frozen=True)
class _Rows:
    """What is to be written, checked."""

    vectors: Any
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, vectors: Any) -> "_Rows":
        if issparse(vectors) or (isinstance(vectors, Vectors) and vectors.is_sparse):
            raise ValueError(
                "These formats are for dense vectors, and the given ones are sparse. Save them with "
                "scipy.sparse.save_npz, or make them dense if they are few: X.toarray()."
            )
        rows = vectors if isinstance(vectors, Vectors) else np.asarray(vectors)
        if rows.ndim != 2 or rows.shape[1] < 1:
            raise ValueError(
                f"vectors must have 2 dimensions, rows and columns. Got shape {rows.shape}."
            )
        if rows.dtype.kind not in NUMERIC or rows.dtype.itemsize > 8:
            raise ValueError(f"vectors must be real numbers of at most 8 bytes. Got {rows.dtype}.")
        return cls(rows, rows.shape, np.dtype(rows.dtype).newbyteorder("="))

    def batches(self, n_rows: int | None) -> Iterator[Batch]:
        if isinstance(self.vectors, Vectors):
            yield from self.vectors.batches(n_rows)
            return
        step = n_rows or max(1, BATCH_BYTES // (self.shape[1] * self.dtype.itemsize))
        for begin in range(0, self.shape[0], step):
            yield self.vectors[begin : begin + step]


def _converted(batch: Batch, dtype: np.dtype[Any], first: int) -> Batch:
    """C-contiguous, in that type; an error if a value would not be the same."""
    if batch.dtype.newbyteorder("=") == dtype:
        return np.ascontiguousarray(batch, dtype=dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        converted = np.ascontiguousarray(batch, dtype=dtype)
        if (batch.dtype.kind, dtype.kind) == ("f", "f"):  # may round, but not away to infinity
            same = np.isfinite(converted) | ~np.isfinite(batch)
        else:
            same = _equal(converted, batch)
    if not same.all():
        row, column = np.argwhere(~same)[0]
        raise DataFormatError(
            f"Row {first + int(row)}, column {int(column)}: {batch[row, column]} is no {dtype}, which "
            "is all that such a file can hold. Choose another format, or round and clip the values."
        )
    return converted


def _equal(converted: Batch, batch: Batch) -> NDArray[np.bool_]:
    """Whether values are the same: there and back again, without a change of sign on the way."""
    back = converted.astype(batch.dtype)
    return np.asarray((back == batch) & ((converted < 0) == (batch < 0)))


@contextmanager
def _writer(
    kind: str, file: BinaryIO, shape: tuple[int, int], dtype: np.dtype[Any]
) -> Iterator[Callable[[Batch], Any]]:
    """What writes a batch, after the header."""
    if kind == "parquet":
        with _parquet(file, shape[1], dtype) as write:
            yield write
        return
    most = MOST_LED if kind in LED else MOST_COUNTED
    if kind in (*LED, *COUNTED) and (shape[1] > most or (kind in COUNTED and shape[0] > most)):
        raise ValueError(f"A {kind} file cannot hold {shape}: it counts up to {most}.")
    if kind in LED and shape[0] == 0:
        raise ValueError(f"A {kind} file without rows would not tell how long they are.")
    if kind == "npy":
        header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, header)
    if kind in COUNTED:
        file.write(COUNTS.pack(*shape))
    if kind in LED:
        yield lambda batch: file.write(_led(batch).data)
    else:
        yield lambda batch: file.write(batch.data)


def _led(batch: Batch) -> NDArray[np.uint8]:
    """Each row behind its length."""
    n, d = batch.shape
    led = np.empty((n, LENGTH.itemsize + d * batch.dtype.itemsize), dtype=np.uint8)
    led[:, : LENGTH.itemsize] = np.array([d], dtype=LENGTH).view(np.uint8)
    led[:, LENGTH.itemsize :] = batch.view(np.uint8)
    return led


@contextmanager
def _parquet(file: BinaryIO, n_columns: int, dtype: np.dtype[Any]) -> Iterator[Callable[[Batch], Any]]:
    pa = arrow()
    value = pa.field("item", pa.from_numpy_dtype(dtype), nullable=False)
    schema = pa.schema([pa.field(COLUMN, pa.list_(value, n_columns), nullable=False)])

    def write(batch: Batch) -> None:
        values = pa.array(np.ravel(batch))
        lists = pa.FixedSizeListArray.from_arrays(values, type=schema.field(0).type)
        writer.write_table(pa.Table.from_arrays([lists], schema=schema), row_group_size=ROWS_OF_GROUP)

    # Vectors hardly repeat: a dictionary of their values would only take time.
    with pa.parquet.ParquetWriter(file, schema, use_dictionary=False) as writer:
        yield write
