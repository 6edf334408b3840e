"""`JoinedStore`: the rows of several stores, one after the other."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.io._access.store import Store
from boostkmeans.io._access.store_pool import FixedStores, StorePool

# Number of bytes that are converted at a time to the common type of all files.
PIECE_BYTES = 1 << 20


class JoinedStore(Store):
    """The rows of all stores of a pool, in order, converted to a common type."""

    def __init__(
        self, pool: StorePool | FixedStores, dtype: np.dtype[Any], id_dtype: np.dtype[Any] | None
    ) -> None:
        self._pool = pool
        counts = [part.shape[0] for part in pool.parts]
        self._starts = np.cumsum([0, *counts], dtype=np.int64)
        self._id_dtype = id_dtype
        self.counts_by_file = counts
        self.shape = (int(self._starts[-1]), pool.parts[0].shape[1])
        self.dtype = dtype

    @property
    def held_bytes(self) -> int:
        """Largest number of bytes that one of the stores holds: the others free their memory."""
        return max(part.held_bytes for part in self._pool.parts)

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into an array, starting with row `begin`."""
        for i, first, some in self._split(begin, begin + len(target)):
            with self._pool.borrowed(i) as store:
                self._convert(store, first, target[some])

    def load(self) -> NDArray[Any]:
        """Return all rows as an array in memory."""
        every = np.empty(self.shape, dtype=self.dtype)
        for i in range(len(self._pool.parts)):
            target = every[self._starts[i] : self._starts[i + 1]]
            with self._pool.borrowed(i) as store:
                if store.dtype == self.dtype:
                    store.load_into(target)
                else:
                    self._convert(store, 0, target)
        return every

    def ids(self, begin: int, end: int) -> NDArray[Any]:
        """Return the ids of the rows from `begin` to `end` (excluded)."""
        if self._id_dtype is None:
            return super().ids(begin, end)
        found = np.empty(end - begin, dtype=self._id_dtype)
        for i, first, some in self._split(begin, end):
            with self._pool.borrowed(i) as store:
                found[some] = store.ids(first, first + some.stop - some.start)
        return found

    def close(self) -> None:
        """Close all stores."""
        self._pool.close()

    def _split(self, begin: int, end: int) -> Iterator[tuple[int, int, slice]]:
        """Yield the stores that contain a range of rows, with their part of the range.

        The part is given by its first row in the store, and by its slice of the range.
        """
        at = begin
        while at < end:
            i = int(np.searchsorted(self._starts, at, side="right")) - 1
            until = min(end, int(self._starts[i + 1]))
            yield i, at - int(self._starts[i]), slice(at - begin, until - begin)
            at = until

    def _convert(self, store: Store, first: int, target: NDArray[Any]) -> None:
        """Read rows of a store into an array of the common type."""
        if store.dtype == self.dtype:
            store.fill(first, target)
            return
        step = max(1, PIECE_BYTES // (self.shape[1] * self.dtype.itemsize))
        for done in range(0, len(target), step):
            n = min(step, len(target) - done)
            target[done : done + n] = store.rows(first + done, first + done + n)
