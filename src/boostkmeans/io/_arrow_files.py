"""Parquet, and Arrow's IPC files and streams (of which Feather is one)."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._errors import DataFormatError
from boostkmeans._threads import resolve
from boostkmeans.io._arrow_columns import Columns, arrow, columns_of
from boostkmeans.io._binary_file import BinaryFile
from boostkmeans.io._npy import check_shape
from boostkmeans.io._parquet_footer import row_groups
from boostkmeans.io._row_file import RowFile
from boostkmeans.io._spool import Spool, most_in_memory
from boostkmeans.io._store import Store

# How many bytes of numbers a byte of a file may stand for. Runs of one value take hardly any room, so
# that no limit is certain; but what is beyond this one is no data, and must not take all memory.
MOST_EXPANSION = 10_000
# Rows are decoded by the group. Larger groups than this are put down once, as plain rows.
LARGEST_GROUP = 1 << 28
# Decoded at a time: what stays in a cache, but enough rows for the cost of a call.
BATCH_BYTES, LEAST_BATCH = 1 << 20, 1024
# Bytes of a column that are read at a time.
BUFFER = 1 << 20
FILE_MAGIC = b"ARROW1"
OLD_FEATHER = b"FEA1"


class ParquetRows(Store):
    """The rows of a Parquet file, decoded group by group."""

    def __init__(
        self, file: BinaryFile, path: str | None, key: list[str] | None, max_memory: int | None
    ):
        self._file, self._path, self._max_memory = file, path, max_memory
        self._lock = threading.Lock()
        self._held: tuple[int, NDArray[Any]] | None = None
        self._plain: Store | None = None
        with _faults(file.name):
            self._groups = row_groups(file)
            self._starts = np.cumsum([0, *(group.n_rows for group in self._groups)], dtype=np.int64)
            self._reader = self._opened(None)
            self._columns = columns_of(file.name, self._reader.schema_arrow, key)
            n_columns = self._checked_width()
        self.dtype = self._columns.dtype
        self.shape = check_shape(file.name, (int(self._starts[-1]), n_columns))
        self.feature_names = None if self._columns.is_list else self._columns.names
        self._check_size()

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """From the groups that the rows are in, of which the last one is kept for the next call."""
        with self._lock:
            if self._plain is None and self._has_large_groups():
                self._plain = self._put_down()
            if self._plain is not None:
                self._plain.fill(begin, target)
                return
            done = 0
            while done < len(target):
                at = begin + done
                group = int(np.searchsorted(self._starts, at, side="right")) - 1
                rows = self._group(group)[at - int(self._starts[group]) :][: len(target) - done]
                target[done : done + len(rows)] = rows
                done += len(rows)

    def load(self) -> NDArray[Any]:
        """All groups, by several threads, into one array."""
        every = np.empty(self.shape, dtype=self.dtype)
        groups = iter(range(len(self._starts) - 1))
        lock = threading.Lock()

        def decode(_: int) -> None:
            reader = self._opened(self._reader.metadata)  # a reader is not for several threads
            while True:
                with lock:
                    group = next(groups, None)
                if group is None:
                    return
                self._decode_into(every[self._starts[group] : self._starts[group + 1]], reader, group)

        n_threads = max(1, min(resolve(None), len(self._starts) - 1))
        with _faults(self._file.name):
            if n_threads == 1:
                decode(0)
            else:
                with ThreadPoolExecutor(n_threads) as pool:
                    list(pool.map(decode, range(n_threads)))
        return every

    def close(self) -> None:
        """Closes all that is open."""
        self._reader.close(force=True)
        self._file.close()
        if self._plain is not None:
            self._plain.close()

    def _opened(self, metadata: Any) -> Any:
        pa = arrow()
        self._file.check_unchanged()
        return pa.parquet.ParquetFile(
            _readable(self._file, self._path), metadata=metadata, buffer_size=BUFFER, pre_buffer=False
        )

    def _group(self, group: int) -> NDArray[Any]:
        if self._held is None or self._held[0] != group:
            self._held = None  # before the next one is made
            self._file.check_unchanged()
            with _faults(self._file.name):
                self._held = (group, self._decoded(self._reader, group))
        return self._held[1]

    def _decoded(self, reader: Any, group: int) -> NDArray[Any]:
        first, end = (int(self._starts[i]) for i in (group, group + 1))
        table = reader.read_row_group(group, columns=self._columns.names, use_threads=False)
        return self._checked(self._in_order(table), first, end - first)

    def _decode_into(self, target: NDArray[Any], reader: Any, group: int) -> None:
        """Piece by piece: what is decoded is still in a cache when it is put in its place."""
        first, done = int(self._starts[group]), 0
        for batch in self._batches(reader, [group]):
            rows = self._columns.array(batch, first + done, self.shape[1])
            if done + len(rows) > len(target):
                break
            target[done : done + len(rows)] = rows
            done += len(rows)
        if done != len(target):
            raise self._wrong_number(first, len(target), done)

    def _batches(self, reader: Any, groups: list[int]) -> Iterator[Any]:
        n_rows = max(LEAST_BATCH, BATCH_BYTES // (self.shape[1] * self.dtype.itemsize))
        batches = reader.iter_batches(
            n_rows, row_groups=groups, columns=self._columns.names, use_threads=False
        )
        return map(self._in_order, batches)

    def _in_order(self, table: Any) -> Any:
        """pyarrow gives columns in the order of the file."""
        return table.select(self._columns.names)

    def _checked(self, table: Any, first: int, expected: int) -> NDArray[Any]:
        if table.num_rows != expected:
            raise self._wrong_number(first, expected, table.num_rows)
        return self._columns.array(table, first, self.shape[1])

    def _wrong_number(self, first: int, expected: int, found: int) -> DataFormatError:
        return DataFormatError(
            f"{self._file.name}: {expected} rows were promised from row {first} on, but there are "
            f"{found}. The file is damaged."
        )

    def _checked_width(self) -> int:
        """Values of a row: by the type of the column, or by the number of values in the file."""
        wanted = set(self._columns.names)
        width = self._columns.length if self._columns.is_list else 1
        for group in self._groups:
            for name, n_values in group.columns:
                if name not in wanted or group.n_rows == 0:
                    continue
                if width is None:
                    width = n_values // group.n_rows
                if n_values != group.n_rows * width:
                    raise DataFormatError(
                        f"{self._file.name}: column {name!r} has {n_values} values in a group of "
                        f"{group.n_rows} rows, where {group.n_rows * width} are expected: each row must "
                        "have as many, and none may be null."
                    )
        if width is None:
            raise DataFormatError(f"{self._file.name}: there are no rows in it.")
        return width if self._columns.is_list else len(self._columns.names)

    def _check_size(self) -> None:
        n_bytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        if n_bytes > self._file.size * MOST_EXPANSION:
            raise DataFormatError(
                f"{self._file.name}: {self.shape[0]} rows of {self.shape[1]} values are {n_bytes} "
                f"bytes, more than a file of {self._file.size} bytes can mean. It is damaged; if it is "
                "not, write it again without compression."
            )

    def _has_large_groups(self) -> bool:
        largest = int(np.diff(self._starts).max(initial=0)) * self.shape[1] * self.dtype.itemsize
        return largest > min(LARGEST_GROUP, most_in_memory(self._max_memory))

    def _put_down(self) -> Store:
        with _faults(self._file.name):
            batches = self._batches(self._reader, list(range(len(self._groups))))
            return put_down(self._columns, batches, self.shape[1], self._max_memory, self.shape[0])


def read_ipc(file: BinaryFile, path: str | None, key: list[str] | None, max_memory: int | None) -> Store:
    """An Arrow file or stream, put down as plain rows: its batches do not tell where rows are."""
    pa = arrow()
    magic = file.head(len(FILE_MAGIC))
    if magic.startswith(OLD_FEATHER):
        raise DataFormatError(
            f"{file.name}: version 1 of Feather, which is not read. Write it again with "
            "pyarrow.feather.write_feather(table, path)."
        )
    with _faults(file.name):
        file.check_unchanged()
        readable = _readable(file, path)
        if magic == FILE_MAGIC:
            reader = pa.ipc.open_file(readable)
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            reader = pa.ipc.open_stream(readable)
            batches = iter(reader)
        columns = columns_of(file.name, reader.schema, key)
        chosen = (_validated(batch.select(columns.names)) for batch in batches)
        try:
            return put_down(columns, chosen, columns.length, max_memory, None)
        finally:
            file.close()


def put_down(
    columns: Columns,
    batches: Iterator[Any],
    n_columns: int | None,
    max_memory: int | None,
    expected: int | None,
) -> Store:
    """Batches as plain rows, in memory or in a nameless file."""
    spool = Spool(max_memory)
    n_rows = 0
    try:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            if n_columns is None:
                n_columns = len(batch.column(0)[0])
            n_columns = check_shape(columns.name, (n_rows, n_columns))[1]
            rows = columns.array(batch, n_rows, n_columns)
            spool.write(np.ascontiguousarray(rows, dtype=columns.dtype))
            n_rows += len(rows)
        if n_rows == 0 or n_columns is None or (expected is not None and n_rows != expected):
            promised = "some" if expected is None else str(expected)
            raise DataFormatError(
                f"{columns.name}: {n_rows} rows, where {promised} are expected. The file is damaged."
            )
        store = RowFile(spool.finished(columns.name), 0, (n_rows, n_columns), columns.dtype)
    finally:
        spool.close()
    store.feature_names = None if columns.is_list else columns.names
    return store


def _validated(batch: Any) -> Any:
    batch.validate(full=True)
    return batch


def _readable(file: BinaryFile, path: str | None) -> Any:
    """For pyarrow: by its name, or what has none as memory."""
    pa = arrow()
    if path is not None:
        return pa.OSFile(path)
    return pa.BufferReader(pa.py_buffer(file.mapped(0, (file.size,), np.dtype(np.uint8))))


@contextmanager
def _faults(name: str) -> Iterator[None]:
    pa = arrow()
    try:
        yield
    except DataFormatError:
        raise
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        OverflowError,
    ) as error:
        text = str(error).strip().partition("\n")[0][:300]
        raise DataFormatError(
            f"{name}: not a Parquet or Arrow file, or a damaged one: {text}. Write it again, or give "
            "its format."
        ) from None
