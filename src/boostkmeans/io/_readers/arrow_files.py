"""Parquet, and Arrow's IPC files and streams (of which Feather is one)."""

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.choice import no_rows
from boostkmeans.io._access.row_file import RowFile
from boostkmeans.io._access.spool import Spool, most_in_memory
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._readers.arrow_columns import Columns, arrow, columns_of
from boostkmeans.io._readers.library_faults import library_faults
from boostkmeans.io._readers.npy import check_shape
from boostkmeans.io._readers.parquet_footer import row_groups

# How many bytes of numbers a byte of a file may stand for. Runs of one value take hardly any room, so
# that no limit is certain; but what is beyond this one is no data, and must not take all memory.
MAX_EXPANSION = 10_000
# Rows are decoded by the group. Larger groups than this are put down once, as plain rows.
LARGEST_GROUP = 1 << 28
# Decoded at a time: what stays in a cache, but enough rows for the cost of a call.
BATCH_BYTES, LEAST_BATCH = 1 << 20, 1024
# Bytes of a column that are read at a time.
BUFFER = 1 << 20
FILE_MAGIC = b"ARROW1"
OLD_FEATHER = b"FEA1"
# How pyarrow says how much memory it did not get.
WANTED = re.compile(r"of size (\d+)")
# What a stream ends with; without the mark of a message before Arrow 0.15.
END_OF_STREAM, OLD_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\0"


class ParquetRows(Store):
    """The rows of a Parquet file, decoded group by group."""

    def __init__(self, file: BinaryFile, key: list[str] | None, max_memory: int | None) -> None:
        self._file, self._max_memory = file, max_memory
        self._lock = threading.Lock()
        self._held: tuple[int, NDArray[Any]] | None = None
        self._plain: Store | None = None
        with _faults(file):
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

        n_threads = max(1, min(resolve_threads(None), len(self._starts) - 1))
        with _faults(self._file):
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
            _readable(self._file), metadata=metadata, buffer_size=BUFFER, pre_buffer=False
        )

    def _group(self, group: int) -> NDArray[Any]:
        if self._held is None or self._held[0] != group:
            self._held = None  # before the next one is made
            self._file.check_unchanged()
            n_rows = int(self._starts[group + 1] - self._starts[group])
            rows = np.empty((n_rows, self.shape[1]), dtype=self.dtype)
            with _faults(self._file):
                self._decode_into(rows, self._reader, group)
            self._held = (group, rows)
        return self._held[1]

    def _decode_into(self, target: NDArray[Any], reader: Any, group: int) -> None:
        """Piece by piece: what is decoded is still in a cache when it is put in its place."""
        first, done = int(self._starts[group]), 0
        for batch in self._batches(reader, [group]):
            if done + batch.num_rows > len(target):
                break
            rows = self._columns.array(batch, first + done, self.shape[1])
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
            raise no_rows(self._file.name)
        return width if self._columns.is_list else len(self._columns.names)

    def _check_size(self) -> None:
        n_bytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        if n_bytes > self._file.size * MAX_EXPANSION:
            raise DataFormatError(
                f"{self._file.name}: {self.shape[0]} rows of {self.shape[1]} values are {n_bytes} "
                f"bytes, more than a file of {self._file.size} bytes can mean. It is damaged; if it is "
                "not, write it again without compression."
            )

    @property
    def held_bytes(self) -> int:
        """A group, and what it is decoded from; or what was put down."""
        if self._has_large_groups():
            return most_in_memory(self._max_memory)
        return 3 * self._largest_group()

    def _largest_group(self) -> int:
        """In bytes, decoded."""
        return int(np.diff(self._starts).max(initial=0)) * self.shape[1] * self.dtype.itemsize

    def _has_large_groups(self) -> bool:
        return self._largest_group() > min(LARGEST_GROUP, most_in_memory(self._max_memory))

    def _put_down(self) -> Store:
        with _faults(self._file):
            batches = self._batches(self._reader, list(range(len(self._groups))))
            return put_down(self._columns, batches, self.shape[1], self._max_memory, self.shape[0])


def open_ipc(file: BinaryFile, key: list[str] | None, max_memory: int | None) -> Store:
    """An Arrow file or stream, put down as plain rows: its batches do not tell where rows are."""
    magic = file.head(len(FILE_MAGIC))
    if magic.startswith(OLD_FEATHER):
        raise DataFormatError(
            f"{file.name}: version 1 of Feather, which is not read. Write it again with "
            "pyarrow.feather.write_feather(table, path)."
        )
    with _faults(file), _readable(file) as readable:
        columns = columns_of(file.name, _ipc_reader(readable, magic).schema, key)

    def read() -> Store:
        with _faults(file), file.file, _readable(file) as readable:
            reader = _ipc_reader(readable, magic)
            batches = _of_file(reader) if magic == FILE_MAGIC else _of_stream(file, readable, reader)
            chosen = (_validated(batch.select(columns.names)) for batch in batches)
            return put_down(columns, chosen, columns.length, max_memory, None)

    return LazyStore(file.name, read, file=file, dtype=columns.dtype, is_sparse=False)


def _ipc_reader(readable: Any, magic: bytes) -> Any:
    ipc = arrow().ipc
    return ipc.open_file(readable) if magic == FILE_MAGIC else ipc.open_stream(readable)


def _of_file(reader: Any) -> Iterator[Any]:
    return (reader.get_batch(i) for i in range(reader.num_record_batches))


def _of_stream(file: BinaryFile, readable: Any, reader: Any) -> Iterator[Any]:
    """Cut between two batches, a stream would look like a whole one: it has to say that it ends."""
    end = readable.tell()
    for batch in reader:
        end = readable.tell()
        yield batch
    mark = file.head(len(END_OF_STREAM), end)
    if mark != END_OF_STREAM and mark[: len(OLD_END_OF_STREAM)] != OLD_END_OF_STREAM:
        raise DataFormatError(
            f"{file.name}: the stream does not end as it should at byte {end}. It was cut short, or "
            "whoever wrote it did not close it: write it again."
        )


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
                n_columns = columns.width(batch, n_rows)
            n_columns = check_shape(columns.name, (n_rows, n_columns))[1]
            rows = columns.array(batch, n_rows, n_columns)
            spool.write(np.ascontiguousarray(rows, dtype=columns.dtype))
            n_rows += len(rows)
        if n_columns is None:
            raise no_rows(columns.name)
        if expected is not None and n_rows != expected:
            raise DataFormatError(
                f"{columns.name}: {n_rows} rows, where {expected} are expected. The file is damaged."
            )
        store = RowFile(spool.finished(columns.name), 0, (n_rows, n_columns), columns.dtype)
    finally:
        spool.close()
    store.feature_names = None if columns.is_list else columns.names
    return store


def _validated(batch: Any) -> Any:
    batch.validate(full=True)
    return batch


def _readable(file: BinaryFile) -> Any:
    """For pyarrow: this very file, not what may have its name by now; or as memory."""
    pa = arrow()
    file.check_unchanged()
    with suppress(OSError):  # not every system has such names
        return pa.OSFile(f"/proc/self/fd/{file.file.fileno()}")
    return pa.BufferReader(pa.py_buffer(file.mapped(0, (file.size,), np.dtype(np.uint8))))


@contextmanager
def _faults(file: BinaryFile) -> Iterator[None]:
    pa = arrow()
    kinds = (pa.ArrowException, OSError, ValueError, OverflowError)
    remedy = "Write it again, or give its format."
    try:
        with library_faults(file.name, "a Parquet or Arrow file", remedy, kinds):
            yield
    except pa.ArrowMemoryError as error:
        size = WANTED.search(str(error))
        if size is None or int(size[1]) <= file.size * MAX_EXPANSION:
            raise
        raise DataFormatError(
            f"{file.name}: {size[1]} bytes are promised, more than a file of {file.size} bytes can mean."
            f" It is damaged. {remedy}"
        ) from None
