"""Parquet files, and the files and streams of Arrow's IPC format, which includes Feather."""

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
from boostkmeans.io._access.choice import no_rows_error
from boostkmeans.io._access.location import other_format_remedy
from boostkmeans.io._access.remote_file import REQUEST_BYTES, RemoteFile
from boostkmeans.io._access.row_stores import RowStore
from boostkmeans.io._access.spool import Spool, max_spool_memory
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._access.table_columns import TableColumns
from boostkmeans.io._readers.arrow_columns import Columns, choose_columns, import_pyarrow
from boostkmeans.io._readers.arrow_ids import IdColumn, choose_ids
from boostkmeans.io._readers.library_faults import library_faults
from boostkmeans.io._readers.npy import check_shape
from boostkmeans.io._readers.parquet_footer import row_groups

# Largest ratio of decoded bytes to bytes of the file. Runs of equal values take almost no space, so any
# ratio is possible, but a larger one would let a small damaged file exhaust the memory.
MAX_EXPANSION = 10_000
# Row groups are decoded as a whole. A file with larger groups than this is decoded once and spooled.
MAX_GROUP_BYTES = 1 << 28
# Number of bytes that are decoded at a time. They fit into the cache of a processor.
BATCH_BYTES = 1 << 20
# Smallest number of rows that are decoded at a time: with fewer, the cost of a call dominates.
MIN_BATCH_ROWS = 1024
# Number of bytes of a column that are read at a time.
BUFFER_BYTES = 1 << 20
# First bytes of an Arrow file. Streams do not have them.
FILE_MAGIC = b"ARROW1"
# First bytes of version 1 of Feather, which is not Arrow's IPC format.
OLD_FEATHER_MAGIC = b"FEA1"
# Size in pyarrow's message about memory that it could not allocate.
WANTED_BYTES = re.compile(r"of size (\d+)")
# Last bytes of a stream.
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
# Last bytes of a stream that was written before Arrow 0.15.
OLD_END_OF_STREAM = b"\0\0\0\0"


class ParquetStore(Store):
    """The rows of a Parquet file, which are decoded one row group at a time."""

    def __init__(self, file: BinaryFile, wanted: TableColumns, max_memory: int | None) -> None:
        self._file = file
        self._max_memory = max_memory
        self._lock = threading.Lock()
        self._last_group: tuple[int, NDArray[Any]] | None = None
        self._last_ids: tuple[int, NDArray[Any]] | None = None
        self._spooled: Store | None = None
        with _arrow_faults(file):
            self._groups = row_groups(file)
            self._starts = np.cumsum([0, *(group.n_rows for group in self._groups)], dtype=np.int64)
            self._reader = self._new_reader(None)
            self._ids = choose_ids(file.location, self._reader.schema_arrow, wanted.id_column)
            self._columns = choose_columns(file.location, self._reader.schema_arrow, wanted)
            n_columns = self._checked_width()
        self.dtype = self._columns.dtype
        self.shape = check_shape(file.location, (int(self._starts[-1]), n_columns))
        self.feature_names = None if self._columns.is_list else self._columns.names
        self.group_starts = [int(start) for start in self._starts[:-1]]
        self._check_size()

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into an array, starting with row `begin`. Cache the last group."""
        with self._lock:
            if self._spooled is None and self._has_large_groups():
                self._spooled = self._spool()
            if self._spooled is not None:
                self._spooled.fill(begin, target)
                return
            done = 0
            while done < len(target):
                at = begin + done
                group = int(np.searchsorted(self._starts, at, side="right")) - 1
                rows = self._group(group)[at - int(self._starts[group]) :][: len(target) - done]
                target[done : done + len(rows)] = rows
                done += len(rows)

    def ids(self, begin: int, end: int) -> NDArray[Any]:
        """Return the ids of some rows. Cache the ids of the last group."""
        if self._ids is None:
            raise NotImplementedError
        found = np.empty(end - begin, dtype=self._ids.dtype)
        done = 0
        with self._lock:
            while done < len(found):
                at = begin + done
                group = int(np.searchsorted(self._starts, at, side="right")) - 1
                some = self._group_ids(group)[at - int(self._starts[group]) :][: len(found) - done]
                found[done : done + len(some)] = some
                done += len(some)
        return found

    def load(self) -> NDArray[Any]:
        """Return all rows."""
        every = np.empty(self.shape, dtype=self.dtype)
        self.load_into(every)
        return every

    def load_into(self, target: NDArray[Any]) -> None:
        """Read all rows into an array. Several threads decode the groups."""
        groups = iter(range(len(self._starts) - 1))
        lock = threading.Lock()

        def decode(_: int) -> None:
            reader = self._new_reader(self._reader.metadata)  # threads cannot share a reader
            while True:
                with lock:
                    group = next(groups, None)
                if group is None:
                    return
                self._decode_into(target[self._starts[group] : self._starts[group + 1]], reader, group)

        n_threads = max(1, min(resolve_threads(None), len(self._starts) - 1))
        with _arrow_faults(self._file):
            if n_threads == 1:
                decode(0)
            else:
                with ThreadPoolExecutor(n_threads) as pool:
                    list(pool.map(decode, range(n_threads)))

    def free_cache(self) -> None:
        """Free the last group and its ids."""
        with self._lock:
            self._last_group = self._last_ids = None

    def close(self) -> None:
        """Close the file and the temporary file."""
        self._reader.close(force=True)
        self._file.close()
        if self._spooled is not None:
            self._spooled.close()

    @property
    def held_bytes(self) -> int:
        """Size of a group with the buffers that it is decoded from, or of the spooled rows."""
        if self._has_large_groups():
            return max_spool_memory(self._max_memory)
        return 3 * self._largest_group_bytes()

    def _new_reader(self, metadata: Any) -> Any:
        pa = import_pyarrow()
        self._file.check_unchanged()
        n_bytes = REQUEST_BYTES if isinstance(self._file, RemoteFile) else BUFFER_BYTES
        return pa.parquet.ParquetFile(
            _as_arrow_file(self._file), metadata=metadata, buffer_size=n_bytes, pre_buffer=False
        )

    def _group(self, group: int) -> NDArray[Any]:
        """Return the rows of a group."""
        if self._last_group is None or self._last_group[0] != group:
            self._last_group = None  # free its memory before the next group is decoded
            self._file.check_unchanged()
            n_rows = int(self._starts[group + 1] - self._starts[group])
            rows = np.empty((n_rows, self.shape[1]), dtype=self.dtype)
            with _arrow_faults(self._file):
                self._decode_into(rows, self._reader, group)
            self._last_group = (group, rows)
        return self._last_group[1]

    def _group_ids(self, group: int) -> NDArray[Any]:
        """Return the ids of a group."""
        if self._ids is not None and (self._last_ids is None or self._last_ids[0] != group):
            self._last_ids = None
            self._file.check_unchanged()
            first, found = int(self._starts[group]), [self._ids.empty()]
            with _arrow_faults(self._file):
                for batch in self._batches(self._reader, [group], [self._ids.name]):
                    found.append(self._ids.array(batch.column(0), first + sum(map(len, found))))
            ids = np.concatenate(found)
            if len(ids) != int(self._starts[group + 1]) - first:
                raise self._file.location.within(f"row {first}").error(
                    f"A group has {len(ids)} ids, but a different number of rows. The file is damaged."
                )
            self._last_ids = (group, ids)
        return self._last_ids[1] if self._last_ids else np.empty(0)

    def _decode_into(self, target: NDArray[Any], reader: Any, group: int) -> None:
        """Decode a group into an array, in batches that stay in a processor's cache."""
        first, done = int(self._starts[group]), 0
        for batch in self._batches(reader, [group], self._columns.names):
            if done + batch.num_rows > len(target):
                done += batch.num_rows
                break
            rows = self._columns.array(batch, first + done, self.shape[1])
            target[done : done + len(rows)] = rows
            done += len(rows)
        if done != len(target):
            raise self._file.location.within(f"row {first}").error(
                f"The footer declares a group of {len(target)} rows here, but the group has a "
                "different number of rows. The file is damaged."
            )

    def _batches(self, reader: Any, groups: list[int], names: list[str]) -> Iterator[Any]:
        n_rows = max(MIN_BATCH_ROWS, BATCH_BYTES // (self.shape[1] * self.dtype.itemsize))
        batches = reader.iter_batches(n_rows, row_groups=groups, columns=names, use_threads=False)
        # pyarrow returns columns in the order of the file.
        return (batch.select(names) for batch in batches)

    def _checked_width(self) -> int:
        """Return the number of values per row, and check that it is the same in all groups."""
        wanted = set(self._columns.names)
        self._check_id_counts()
        width = self._columns.length if self._columns.is_list else 1
        for group in self._groups:
            for name, n_values in group.columns:
                if name not in wanted or group.n_rows == 0:
                    continue
                if width is None:
                    width = n_values // group.n_rows
                if n_values != group.n_rows * width:
                    raise self._file.location.within(f"column {name!r}").error(
                        f"Expected {group.n_rows * width} values in a group of {group.n_rows} rows. Got "
                        f"{n_values}.",
                        "All rows must have the same number of values, without nulls.",
                    )
        if width is None:
            raise no_rows_error(self._file.location)
        return width if self._columns.is_list else len(self._columns.names)

    def _check_id_counts(self) -> None:
        """Raise DataFormatError unless every group has one id per row."""
        for group in self._groups:
            for name, n_values in group.columns:
                if self._ids is not None and name == self._ids.name and n_values != group.n_rows:
                    raise self._file.location.within(f"column {name!r}").error(
                        f"Expected one id per row of a group of {group.n_rows} rows. Got {n_values} ids."
                    )

    def _check_size(self) -> None:
        n_bytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        if n_bytes > self._file.size * MAX_EXPANSION:
            raise self._file.location.error(
                f"The footer declares {self.shape[0]} rows of {self.shape[1]} values, which are "
                f"{n_bytes:,} bytes, more than a file of {self._file.size:,} bytes should hold.",
                "The file seems to be damaged. If it is not, write it again without compression.",
            )

    def _largest_group_bytes(self) -> int:
        """Return the size of the largest group after decoding."""
        return int(np.diff(self._starts).max(initial=0)) * self.shape[1] * self.dtype.itemsize

    def _has_large_groups(self) -> bool:
        limit = min(MAX_GROUP_BYTES, max_spool_memory(self._max_memory))
        return self._largest_group_bytes() > limit

    def _spool(self) -> Store:
        with _arrow_faults(self._file):
            every = list(range(len(self._groups)))
            batches = self._batches(self._reader, every, self._columns.names)
            return spool_batches(self._columns, batches, self.shape[1], self._max_memory, self.shape[0])


def open_ipc(file: BinaryFile, wanted: TableColumns, max_memory: int | None) -> Store:
    """Return the rows of an Arrow file or stream.

    They are spooled, because the position of a row cannot be computed from the batches.
    """
    magic = file.head(len(FILE_MAGIC))
    if magic.startswith(OLD_FEATHER_MAGIC):
        raise file.location.error(
            "Version 1 of Feather is not supported.",
            "Write the file again with pyarrow.feather.write_feather(table, path).",
        )
    with _arrow_faults(file), _as_arrow_file(file) as arrow_file:
        schema = _ipc_reader(arrow_file, magic).schema
        ids = choose_ids(file.location, schema, wanted.id_column)
        columns = choose_columns(file.location, schema, wanted)

    def read() -> Store:
        with _arrow_faults(file), file.file, _as_arrow_file(file) as arrow_file:
            reader = _ipc_reader(arrow_file, magic)
            is_file = magic == FILE_MAGIC
            batches = _file_batches(reader) if is_file else _stream_batches(file, arrow_file, reader)
            names = [*columns.names, *([ids.name] if ids else [])]
            chosen = (_validated(batch.select(names)) for batch in batches)
            return spool_batches(columns, chosen, columns.length, max_memory, None, ids)

    return LazyStore(file.name, read, file=file, dtype=columns.dtype, is_sparse=False)


def _ipc_reader(arrow_file: Any, magic: bytes) -> Any:
    ipc = import_pyarrow().ipc
    return ipc.open_file(arrow_file) if magic == FILE_MAGIC else ipc.open_stream(arrow_file)


def _file_batches(reader: Any) -> Iterator[Any]:
    return (reader.get_batch(i) for i in range(reader.num_record_batches))


def _stream_batches(file: BinaryFile, arrow_file: Any, reader: Any) -> Iterator[Any]:
    """Iterate over the batches of a stream, and check that it ends with its end mark.

    Without this check, a stream that is truncated between two batches would look complete.
    """
    end = arrow_file.tell()
    for batch in reader:
        end = arrow_file.tell()
        yield batch
    mark = file.head(len(END_OF_STREAM), end)
    if mark != END_OF_STREAM and mark[: len(OLD_END_OF_STREAM)] != OLD_END_OF_STREAM:
        raise file.location.within(f"byte {end}").error(
            "The stream has no end mark: it was truncated, or its writer did not close it.",
            "Write it again.",
        )


def spool_batches(
    columns: Columns,
    batches: Iterator[Any],
    n_columns: int | None,
    max_memory: int | None,
    n_expected: int | None,
    ids: IdColumn | None = None,
) -> Store:
    """Return the rows of all batches as a store of plain rows, in memory or in a temporary file.

    `n_columns` and `n_expected` are the expected numbers of columns and rows, if they are known. `ids`
    is the last column of the batches.
    """
    spool = Spool(max_memory)
    n_rows = 0
    found = [ids.empty()] if ids else []
    try:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            if n_columns is None:
                n_columns = columns.width(batch, n_rows)
            n_columns = check_shape(columns.where, (n_rows, n_columns))[1]
            rows = columns.array(batch, n_rows, n_columns)
            spool.write(np.ascontiguousarray(rows, dtype=columns.dtype))
            if ids is not None:
                found.append(ids.array(batch.column(batch.num_columns - 1), n_rows))
            n_rows += len(rows)
        if n_columns is None:
            raise no_rows_error(columns.where)
        if n_expected is not None and n_rows != n_expected:
            raise columns.where.error(f"Expected {n_expected} rows. Got {n_rows}. The file is damaged.")
        file = spool.finish(columns.where.file)
        store = RowStore(file, 0, (n_rows, n_columns), columns.dtype)
    finally:
        spool.close()
    store.feature_names = None if columns.is_list else columns.names
    store.held_ids = np.concatenate(found) if found else None
    return store


def _validated(batch: Any) -> Any:
    batch.validate(full=True)
    return batch


def _as_arrow_file(file: BinaryFile) -> Any:
    """Return the open file for pyarrow. Opening it by its name could give another file."""
    pa = import_pyarrow()
    file.check_unchanged()
    if isinstance(file, RemoteFile):
        return pa.PythonFile(file.stream(), mode="r")
    with suppress(OSError):  # only Linux has such names
        return pa.OSFile(f"/proc/self/fd/{file.file.fileno()}")
    return pa.BufferReader(pa.py_buffer(file.mapped(0, (file.size,), np.dtype(np.uint8))))


@contextmanager
def _arrow_faults(file: BinaryFile) -> Iterator[None]:
    """Convert errors of pyarrow into DataFormatError.

    A failed allocation is converted only if the file is too small to justify the size.
    """
    pa = import_pyarrow()
    kinds = (pa.ArrowException, OSError, ValueError, OverflowError)
    remedy = other_format_remedy("Write it again.")
    try:
        with library_faults(file.location, "a Parquet or Arrow file", remedy, kinds):
            yield
    except pa.ArrowMemoryError as error:
        size = WANTED_BYTES.search(str(error))
        if size is None or int(size[1]) <= file.size * MAX_EXPANSION:
            raise
        raise DataFormatError(
            f"The file declares {size[1]} bytes of data, more than {file.size:,} bytes should hold. The "
            "file is damaged.",
            file=file.name,
            remedy=remedy,
        ) from None
