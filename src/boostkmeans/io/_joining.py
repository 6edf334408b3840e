"""`open_joined`: several files as one data set."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack

from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._access.joined_store import JoinedStore
from boostkmeans.io._access.location import Location, modified_error
from boostkmeans.io._access.row_stores import RowStore
from boostkmeans.io._access.spool import Spool
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._access.store_pool import FixedStores, PooledStore, StorePool
from boostkmeans.io._access.urls import is_url
from boostkmeans.io._agreement import FileFacts, common_dtype, common_id_dtype
from boostkmeans.io._file_opening import OpenedFile, open_file
from boostkmeans.io._file_options import FileOptions
from boostkmeans.io._file_sets import FileSet
from boostkmeans.io._readers.sparse_store import SparseStore
from boostkmeans.io._vectors import BATCH_BYTES, Vectors

# Number of remote files that are opened at the same time.
MAX_OPENING = 16


def open_joined(files: FileSet, options: FileOptions) -> Vectors:
    """Open several files as one data set. Their headers are checked at once.

    If a file must be read as a whole before its rows can be accessed, all files are read when the first
    row is needed.
    """
    pool = StorePool()
    facts: list[FileFacts] = []
    is_lazy = False
    try:
        for file in open_agreeing(files.paths, options):
            facts.append(file.facts)
            is_lazy = is_lazy or isinstance(file.store, LazyStore)
            if is_lazy:
                file.store.close()
            else:
                pool.add(file.pooled(), file.store)
        formats = ", ".join(dict.fromkeys(one.format for one in facts))
        store: Store
        if is_lazy:
            pool.close()
            read = partial(_read_all, files, options)
            sparse = next((one.is_sparse for one in facts if one.is_sparse is not None), None)
            store = LazyStore(files.name, read, is_sparse=sparse)
        else:
            store = _join(pool, facts)
    except BaseException:
        pool.close()
        raise
    return Vectors(files.name, formats, store, options.max_memory, files.paths)


@dataclass(frozen=True)
class AgreeingFile:
    """An open file of a data set, and the options by which it can be opened again."""

    path: str
    options: FileOptions
    facts: FileFacts
    store: Store

    def pooled(self) -> PooledStore:
        """Return a description of the store that allows to open it again."""
        source = ByteSource(self.path)
        open_again = partial(_reopen, source, source.state(), self.options)
        return PooledStore(self.store.shape, self.store.dtype, self.store.held_bytes, open_again)


def open_agreeing(
    paths: Sequence[str], options: FileOptions, *, read: bool = False
) -> Iterator[AgreeingFile]:
    """Open the files of a data set one after the other, and check that they agree with the first one.

    Columns are read in the order of the first file. With `read`, a file is read as a whole if this is
    necessary to compare it.
    """
    first: FileFacts | None = None
    for path, file in zip(paths, _open_each(paths, options), strict=True):
        found = _agreeing(path, file, options, first, read=read)
        first = first or found.facts
        yield found


def _open_each(paths: Sequence[str], options: FileOptions) -> Iterator[OpenedFile]:
    """Open files in order. Remote files are opened by several threads, which wait for their servers."""
    if not any(is_url(path) for path in paths):
        yield from (open_file(path, options) for path in paths)
        return
    pool = ThreadPoolExecutor(MAX_OPENING)
    try:
        yield from pool.map(lambda path: open_file(path, options), paths)
    finally:
        pool.shutdown(cancel_futures=True)


def _agreeing(
    path: str, file: OpenedFile, options: FileOptions, first: FileFacts | None, *, read: bool
) -> AgreeingFile:
    """Check that a file agrees with the first one. Open it again if its columns have another order."""
    try:
        facts = (FileFacts.read if read else FileFacts.known)(file, options.id_column)
        # The order of the columns determines what a range selects: the first file decides.
        if first is not None and not (options.has_patterns and facts.has_other_order(first)):
            facts.check(first)
    except BaseException:
        file.store.close()
        raise
    if first is None or not facts.has_other_order(first):
        return AgreeingFile(path, options, facts, file.store)
    file.store.close()
    in_order = replace(options, key=first.feature_names, drop=None)
    return _agreeing(path, open_file(path, in_order), in_order, first, read=read)


def _reopen(source: ByteSource, state: object, options: FileOptions) -> Store:
    file = open_file(source.path, options)
    if source.state() != state:
        file.store.close()
        raise modified_error(source.location)
    return file.store


def _join(stores: StorePool | FixedStores, facts: list[FileFacts]) -> JoinedStore:
    joined = JoinedStore(stores, common_dtype(facts), common_id_dtype(facts))
    joined.feature_names = next((one.feature_names for one in facts if one.feature_names), None)
    return joined


def _read_all(files: FileSet, options: FileOptions) -> Store:
    """Read all files into memory or into one temporary file."""
    contents = _Contents(Spool(options.room_for(map(ByteSource, files.paths))))
    try:
        for file in open_agreeing(files.paths, options, read=True):
            with closing(file.store):
                contents.append(file)
        return contents.store(files.name)
    finally:
        contents.spool.close()


class _Contents:
    """The rows of files that are read one after the other."""

    def __init__(self, spool: Spool) -> None:
        self.spool = spool
        self.facts: list[FileFacts] = []
        self._matrices: list[Any] = []
        self._offsets: list[int] = []
        self._counts: list[int] = []
        self._ids: list[NDArray[Any]] = []

    def append(self, file: AgreeingFile) -> None:
        """Read all rows of a file."""
        store = file.store
        self.facts.append(file.facts)
        self._counts.append(store.shape[0])
        self._offsets.append(self.spool.size)
        if store.is_sparse:
            self._matrices.append(store.load())
        else:
            for rows in _pieces(store):
                self.spool.write(rows)
        if file.options.id_column is not None:
            self._ids.append(store.ids(0, store.shape[0]))

    def store(self, name: str) -> Store:
        """Return all rows."""
        dtype, id_dtype = common_dtype(self.facts), common_id_dtype(self.facts)
        store = self._sparse(name, dtype) if self._matrices else self._dense(name, dtype)
        store.counts_by_file = self._counts
        store.feature_names = self.facts[0].feature_names
        if id_dtype is not None:
            store.held_ids = np.concatenate(self._ids).astype(id_dtype, copy=False)
        return store

    def _sparse(self, name: str, dtype: np.dtype[Any]) -> Store:
        return SparseStore(Location(name), vstack(self._matrices, format="csr", dtype=dtype))

    def _dense(self, name: str, dtype: np.dtype[Any]) -> Store:
        file = self.spool.finish(name)
        n_columns = (self.facts[0].shape or (0, 0))[1]
        if all(one.dtype == dtype for one in self.facts):
            return RowStore(file, 0, (sum(self._counts), n_columns), dtype)
        parts = [
            RowStore(file, offset, (n, n_columns), one.dtype or dtype)
            for one, n, offset in zip(self.facts, self._counts, self._offsets, strict=True)
        ]
        return JoinedStore(FixedStores(parts), dtype, None)


def _pieces(store: Store) -> Iterator[NDArray[Any]]:
    n, d = store.shape
    step = max(1, BATCH_BYTES // (d * store.dtype.itemsize))
    return (store.rows(begin, min(begin + step, n)) for begin in range(0, n, step))
