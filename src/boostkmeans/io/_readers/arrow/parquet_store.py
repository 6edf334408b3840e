"""`ParquetStore`: the rows of a Parquet file."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.choice import no_rows_error
from boostkmeans.io._access.remote_file import REQUEST_BYTES, RemoteFile
from boostkmeans.io._access.spool import Room, max_spool_memory
from boostkmeans.io._access.store import Store
from boostkmeans.io._access.table_columns import TableColumns
from boostkmeans.io._readers.arrow.batch_spool import spool_batches
from boostkmeans.io._readers.arrow.columns import choose_columns, import_pyarrow
from boostkmeans.io._readers.arrow.file_access import MAX_EXPANSION, arrow_faults, as_arrow_file
from boostkmeans.io._readers.arrow.ids import choose_ids
from boostkmeans.io._readers.arrow.parquet_footer import row_groups
from boostkmeans.io._readers.npy import check_shape

# Row groups are decoded as a whole. A file with larger groups than this is decoded once and spooled.
MAX_GROUP_BYTES = 1 << 28
# Number of bytes that are decoded at a time. They fit into the cache of a processor.
BATCH_BYTES = 1 << 20
# Smallest number of rows that are decoded at a time: with fewer, the cost of a call dominates.
MIN_BATCH_ROWS = 1024
# Number of bytes of a column that are read at a time.
BUFFER_BYTES = 1 << 20


class ParquetStore(Store):
    """The rows of a Parquet file, which are decoded one row group at a time."""

    def __init__(self, file: BinaryFile, wanted: TableColumns, room: Room) -> None:
        self._file = file
        self._room = room
        self._lock = threading.Lock()
        self._last_group: tuple[int, NDArray[Any]] | None = None
        self._last_ids: tuple[int, NDArray[Any]] | None = None
        self._spooled: Store | None = None
        with arrow_faults(file):
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
        with arrow_faults(self._file):
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
            return max_spool_memory(self._room.memory)
        return 3 * self._largest_group_bytes()

    def _new_reader(self, metadata: Any) -> Any:
        pa = import_pyarrow()
        self._file.check_unchanged()
        n_bytes = REQUEST_BYTES if isinstance(self._file, RemoteFile) else BUFFER_BYTES
        return pa.parquet.ParquetFile(
            as_arrow_file(self._file), metadata=metadata, buffer_size=n_bytes, pre_buffer=False
        )

    def _group(self, group: int) -> NDArray[Any]:
        """Return the rows of a group."""
        if self._last_group is None or self._last_group[0] != group:
            self._last_group = None  # free its memory before the next group is decoded
            self._file.check_unchanged()
            n_rows = int(self._starts[group + 1] - self._starts[group])
            rows = np.empty((n_rows, self.shape[1]), dtype=self.dtype)
            with arrow_faults(self._file):
                self._decode_into(rows, self._reader, group)
            self._last_group = (group, rows)
        return self._last_group[1]

    def _group_ids(self, group: int) -> NDArray[Any]:
        """Return the ids of a group."""
        if self._ids is not None and (self._last_ids is None or self._last_ids[0] != group):
            self._last_ids = None
            self._file.check_unchanged()
            first, found = int(self._starts[group]), [self._ids.empty()]
            with arrow_faults(self._file):
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
        for number, group in enumerate(self._groups):
            for name, n_values in group.columns:
                if name not in wanted or group.n_rows == 0:
                    continue
                known = width
                if width is None:
                    width = n_values // group.n_rows
                if n_values != group.n_rows * width:
                    self._reject_row(number, n_values, known)
                    raise self._file.location.within(f"column {name!r}").error(
                        f"Expected {group.n_rows * width} values in a group of {group.n_rows} rows. Got "
                        f"{n_values}.",
                        "All rows must have the same number of values, without nulls.",
                    )
        if width is None:
            raise no_rows_error(self._file.location)
        return width if self._columns.is_list else len(self._columns.names)

    def _reject_row(self, group: int, n_values: int, width: int | None) -> None:
        """Decode a group with a wrong number of values, and raise an error that names the row.

        Without a `width`, the first row determines it. Return if no row is wrong: the footer is.
        """
        too_large = n_values * self._columns.dtype.itemsize > self._file.size * MAX_EXPANSION
        if too_large or not self._columns.is_list:
            return
        first, names = int(self._starts[group]), self._columns.names
        for batch in self._reader.iter_batches(
            MIN_BATCH_ROWS, row_groups=[group], columns=names, use_threads=False
        ):
            if width is None:
                width = self._columns.width(batch, first)
            first += len(self._columns.array(batch, first, width))

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
        limit = min(MAX_GROUP_BYTES, max_spool_memory(self._room.memory))
        return self._largest_group_bytes() > limit

    def _spool(self) -> Store:
        with arrow_faults(self._file):
            every = list(range(len(self._groups)))
            batches = self._batches(self._reader, every, self._columns.names)
            return spool_batches(self._columns, batches, self.shape[1], self._room, self.shape[0])
