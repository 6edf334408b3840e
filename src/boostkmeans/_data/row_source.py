"""Row sources: files and arrays from which rows are read in batches."""

import math
import mmap
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np

from boostkmeans._data.frame import Array
from boostkmeans._data.memory import MemoryEstimate, default_memory_limit
from boostkmeans._data.rows import DTYPES

# Bytes of rows that are assigned to clusters at a time.
BATCH_BYTES = 2**24


@runtime_checkable
class RowSource(Protocol):
    """A file or array of rows, such as the result of `boostkmeans.io.open_vectors`."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    is_sparse: bool
    max_memory: int | None
    feature_names: list[str] | None
    name: str

    def read(self, begin: int, end: int, out: Array | None = None) -> Array:
        """Return rows [begin, end), in `out` if given. Thread-safe."""

    def load(self) -> Any:
        """Return all rows, mapped or in memory."""


class ArraySource:
    """A row source over an array. For a memory-mapped array, only the current batch stays in memory."""

    is_sparse = False

    def __init__(
        self,
        array: Array,
        max_memory: int | None = None,
        *,
        name: str = "X",
        feature_names: list[str] | None = None,
    ) -> None:
        """Wrap an array. The other parameters are those of `open_vectors`."""
        self._array = array
        self.shape = (array.shape[0], array.shape[1])
        self.dtype = array.dtype
        self.max_memory = max_memory
        self.name = name
        self.feature_names = feature_names

    def read(self, begin: int, end: int, out: Array | None = None) -> Array:
        """See `RowSource`."""
        rows = np.array(self._array[begin:end]) if out is None else out
        if out is not None:
            out[:] = self._array[begin:end]
        mapped = getattr(self._array, "_mmap", None)
        if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)  # Otherwise the whole file would stay in memory.
        return rows

    def load(self) -> Array:
        """See `RowSource`."""
        return self._array


def read_type(source: RowSource) -> np.dtype[Any]:
    """Return the type to which rows are converted after reading. The core supports it."""
    native = source.dtype.newbyteorder("=")
    if native == np.bool_:
        return np.dtype(np.uint8)
    return native if native in DTYPES else np.dtype(np.float64)


def estimate_memory(source: RowSource, n_clusters: int, *, weighted: bool) -> MemoryEstimate:
    """Estimate the memory that a fit of these rows needs."""
    n, d = source.shape
    own = 0 if read_type(source) == source.dtype else d * source.dtype.itemsize
    held = getattr(source, "held_bytes", 0)
    return MemoryEstimate(n, d * read_type(source).itemsize, n_clusters, d, weighted, own, held)


def memory_limit(source: RowSource) -> int:
    """Return the limit that the user set for this source, or the default limit of the machine."""
    return default_memory_limit() if source.max_memory is None else source.max_memory


def memory_left(X: Any, n_clusters: int, *, weighted: bool) -> float:
    """Return the bytes within the user's `max_memory` that a fit in memory leaves.

    Return infinity if there is no limit, or if the rows are streamed: the share of the memory for their
    sample leaves room for a projection.
    """
    if not isinstance(X, RowSource) or X.is_sparse or X.max_memory is None:
        return math.inf
    left = X.max_memory - estimate_memory(X, n_clusters, weighted=weighted).in_memory
    return math.inf if left < 0 else left


def larger_than_memory(X: Any, n_clusters: int, *, weighted: bool) -> RowSource | None:
    """Return X as a row source if it does not fit into memory, else None."""
    source = as_source(X)
    if source is None:
        return None
    fits = estimate_memory(source, n_clusters, weighted=weighted).fits(memory_limit(source))
    return None if fits else source


def source_to_stream(X: Any, n_clusters: int, *, weighted: bool) -> RowSource | None:
    """Return X as a row source if a fit reads it in blocks, else None.

    Raise MemoryError if not even blocks of it fit. No row has been read then: reading a compressed file
    would write all of it to the disk.
    """
    source = larger_than_memory(X, n_clusters, weighted=weighted)
    if source is not None:
        estimate_memory(source, n_clusters, weighted=weighted).split(memory_limit(source))
    return source


def as_source(X: Any) -> RowSource | None:
    """Return X as a row source if it can be streamed, else None.

    Memory-mapped arrays and files can be streamed, but sparse rows must be in memory.
    """
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiub":
        return ArraySource(X)
    return X if isinstance(X, RowSource) and not X.is_sparse else None


def in_batches(source: RowSource, at_least: int) -> Iterator[tuple[int, Array]]:
    """Yield all rows in batches of `at_least` bytes or more, each with the index of its first row.

    Large batches keep the overhead per batch small.
    """
    n, d = source.shape
    at_once = max(1, max(BATCH_BYTES, at_least) // max(1, d * read_type(source).itemsize))
    for begin in range(0, n, at_once):
        array = source.read(begin, min(begin + at_once, n))
        yield begin, array.astype(read_type(source), copy=False)
