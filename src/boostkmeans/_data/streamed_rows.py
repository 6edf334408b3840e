"""Rows that are not in memory: they are read from a file part by part, in every pass over them."""

import mmap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.memory import Need, limit_of_machine
from boostkmeans._data.rows import (
    DTYPES,
    Array,
    Floats,
    Frame,
    Part,
    Rows,
    describe,
    frame_of,
    unit_factors,
)

# Bytes that are read at a time to pick some rows from.
BYTES_TO_PICK_FROM = 2**23
# Bytes of rows that get their labels at a time.
BATCH_BYTES = 2**24


@runtime_checkable
class RowSource(Protocol):
    """Where rows are read from, as `boostkmeans.io.open_vectors` gives it."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    is_sparse: bool
    max_memory: int | None
    feature_names: list[str] | None
    name: str

    def read(self, begin: int, end: int, out: Array | None = None) -> Array:
        """Rows [begin, end), in `out` if given. May be called by another thread than the last time."""

    def load(self) -> Any:
        """All rows, mapped or in memory."""


class MappedRows:
    """A memory-mapped array as a source: it is read, so that no more of it is mapped than a part."""

    is_sparse = False

    def __init__(
        self,
        array: Array,
        max_memory: int | None = None,
        *,
        name: str = "X",
        feature_names: list[str] | None = None,
    ) -> None:
        """As in `open_vectors`; an array that is not mapped is a source too, with names."""
        self._array = array
        self.shape = (array.shape[0], array.shape[1])
        self.dtype = array.dtype
        self.max_memory = max_memory
        self.name = name
        self.feature_names = feature_names

    def read(self, begin: int, end: int, out: Array | None = None) -> Array:
        """As a `RowSource` does it."""
        rows = np.array(self._array[begin:end]) if out is None else out
        if out is not None:
            out[:] = self._array[begin:end]
        mapped = getattr(self._array, "_mmap", None)
        if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)  # or all of the file would stay in memory
        return rows

    def load(self) -> Array:
        """As it is."""
        return self._array


def read_type(source: RowSource) -> np.dtype[Any]:
    """That of the rows once they are read: one that the core reads."""
    native = source.dtype.newbyteorder("=")
    if native == np.bool_:
        return np.dtype(np.uint8)
    return native if native in DTYPES else np.dtype(np.float64)


def need_of(source: RowSource, n_clusters: int, *, weighted: bool) -> Need:
    """What it takes to cluster the rows of a source."""
    n, d = source.shape
    own = 0 if read_type(source) == source.dtype else d * source.dtype.itemsize
    held = getattr(source, "held_bytes", 0)
    return Need(n, d * read_type(source).itemsize, n_clusters, d, weighted, own, held)


def has_to_stream(source: RowSource, n_clusters: int, *, weighted: bool) -> bool:
    """Whether the rows are too many to be in memory at once. Sparse ones have to be there."""
    limit = limit_of_machine() if source.max_memory is None else source.max_memory
    return not source.is_sparse and not need_of(source, n_clusters, weighted=weighted).fits(limit)


def in_batches(source: RowSource, at_least: int) -> Iterator[tuple[int, Array]]:
    """All rows, some at a time, and the number of the first one of each batch.

    Batches have `at_least` so many bytes: what is done once for each of them is to be little beside it.
    """
    n, d = source.shape
    at_once = max(1, max(BATCH_BYTES, at_least) // max(1, d * read_type(source).itemsize))
    for begin in range(0, n, at_once):
        array = source.read(begin, min(begin + at_once, n))
        yield begin, array.astype(read_type(source), copy=False)


class StreamedRows(Rows):
    """Rows of a source, in parts. The next one is read while the last one is worked on."""

    def __init__(
        self, source: RowSource, frame: Frame, part_rows: int, sample_rows: int, n_threads: int
    ) -> None:
        """`part_rows` and `sample_rows` are how many can be in memory for each purpose."""
        self.frame = frame
        self.stays_sparse = False
        self.n_rows, self.n_features = source.shape
        self.row_bytes = self.n_features * read_type(source).itemsize
        self.n_parts = -(-self.n_rows // part_rows)
        self.sample_rows = sample_rows
        self._part_rows = part_rows
        self._source = source
        self._n_threads = n_threads
        self._buffers: list[Array] = []

    @classmethod
    def of(
        cls, source: RowSource, metric: str, n_clusters: int, n_threads: int, *, weighted: bool = False
    ) -> "StreamedRows":
        """Rows in the frame that suits them. Raises ValueError where a value is not finite."""
        limit = limit_of_machine() if source.max_memory is None else source.max_memory
        part_rows, sample_rows = need_of(source, n_clusters, weighted=weighted).split(limit)
        nowhere = Frame(np.zeros(source.shape[1]), 0, metric)
        rows = cls(source, nowhere, part_rows, sample_rows, n_threads)
        low, high = np.full(rows.n_features, np.inf), np.full(rows.n_features, -np.inf)
        for begin, array in rows._arrays(range(rows.n_parts)):
            factors = unit_factors(array, metric, n_threads, begin)
            lowest, highest = describe(array, factors, n_threads, begin)
            np.minimum(low, lowest, out=low)
            np.maximum(high, highest, out=high)
        rows.frame = frame_of(rows._few, rows.n_rows, read_type(source), low, high, metric)
        return rows

    @property
    def core(self) -> _core.Rows:  # type: ignore[override]
        """There is none: they are not in memory as a whole."""
        raise NotImplementedError("rows that are read in parts have to be taken part by part")

    def order(self, rng: np.random.RandomState) -> list[int]:
        """The numbers of all parts, in random order."""
        return [int(number) for number in rng.permutation(self.n_parts)]

    def parts_with(self, indices: NDArray[np.integer[Any]]) -> list[int]:
        """The numbers of the parts that these rows are in."""
        return [int(number) for number in np.unique(np.asarray(indices) // self._part_rows)]

    def parts(self, order: list[int] | None = None) -> Iterator[Part]:
        """All rows in the order of the file, or those parts that are named."""
        for begin, array in self._arrays(range(self.n_parts) if order is None else order):
            factors = unit_factors(array, self.frame.metric, self._n_threads, begin)
            where = slice(begin, begin + len(array))
            yield Part(begin // self._part_rows, where, Rows(array, self.frame, factors))

    def sample(self, indices: NDArray[np.integer[Any]]) -> Rows:
        """Some rows, which ascend, in memory, as rows in the same frame."""
        array = self._pick(np.asarray(indices))
        factors = unit_factors(array, self.frame.metric, self._n_threads)
        return Rows(array, self.frame, factors)

    def take(self, indices: NDArray[np.integer[Any]]) -> Floats:
        """Some rows, which ascend, as float64 in the frame."""
        return self.frame.enter(self._few(np.asarray(indices)))

    def fingerprint(self, indices: NDArray[np.int64]) -> list[Array]:
        """Arrays that tell these rows, which ascend, from others."""
        return [self.take(indices)]

    def scaled(self) -> Any:
        """Not to be had: it would be a copy of all rows."""
        raise NotImplementedError("rows that are read in parts are never copied whole")

    def _few(self, indices: NDArray[np.int64]) -> Floats:
        """Some rows outside of the frame, of unit length if that is the metric."""
        array = self._pick(indices)
        factors = unit_factors(array, self.frame.metric, self._n_threads)
        points = array.astype(np.float64)
        if factors is not None:
            points *= factors[:, None]
        return points

    def _pick(self, indices: NDArray[np.int64]) -> Array:
        picked = np.empty((len(indices), self.n_features), dtype=read_type(self._source))
        at_once = max(1, BYTES_TO_PICK_FROM // self.row_bytes)
        at = 0
        while at < len(indices):  # from the next one that is wanted, as far as one reading goes
            begin = int(indices[at])
            until = int(np.searchsorted(indices, begin + at_once))
            array = self._source.read(begin, int(indices[until - 1]) + 1)
            picked[at:until] = array[indices[at:until] - begin]
            at = until
        return picked

    def _arrays(self, order: Any) -> Iterator[tuple[int, Array]]:
        """Parts as arrays that are valid until the next one, and the number of their first row."""
        if not self._buffers:
            shape = (min(self._part_rows, self.n_rows), self.n_features)
            self._buffers = [np.empty(shape, dtype=read_type(self._source)) for _ in range(2)]
        if len(order) == 0:
            return
        with ThreadPoolExecutor(1) as reader:
            coming = reader.submit(self._read, order[0], self._buffers[0])
            for i, number in enumerate(order):
                array = coming.result()
                if i + 1 < len(order):
                    coming = reader.submit(self._read, order[i + 1], self._buffers[(i + 1) % 2])
                yield number * self._part_rows, array

    def _read(self, number: int, buffer: Array) -> Array:
        begin = number * self._part_rows
        end = min(begin + self._part_rows, self.n_rows)
        array = buffer[: end - begin]
        if self._source.dtype == array.dtype:
            return self._source.read(begin, end, array)
        step = max(1, BATCH_BYTES // self.row_bytes)
        for at in range(begin, end, step):  # in pieces: there is no room for all of it twice
            some = self._source.read(at, min(at + step, end))
            array[at - begin : at - begin + len(some)] = some
        return array
