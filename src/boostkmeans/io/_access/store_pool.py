"""`StorePool`: stores of many files, with a limit of the number of open files."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostkmeans.io._access.store import Store

# Number of stores that stay open while nobody reads them. A process may open about 1000 files.
MAX_OPEN = 64


@dataclass(frozen=True)
class PooledStore:
    """A store that can be closed and opened again."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    held_bytes: int
    open: Callable[[], Store]
    """Open the store again. It raises an error if the file was modified."""


class StorePool:
    """Stores that are opened when they are needed. Those used last stay open. Threads may share it."""

    def __init__(self) -> None:
        self.parts: list[PooledStore] = []
        self._lock = threading.Lock()
        self._open: OrderedDict[int, Store] = OrderedDict()
        self._users: Counter[int] = Counter()
        self._last: int | None = None

    def add(self, part: PooledStore, store: Store) -> None:
        """Append a store, which is open."""
        with self._lock:
            self._open[len(self.parts)] = store
            self.parts.append(part)
            self._close_unused()

    @contextmanager
    def borrowed(self, i: int) -> Iterator[Store]:
        """Return a store, which stays open during the block."""
        with self._lock:
            if i not in self._open:
                self._open[i] = self.parts[i].open()
            self._open.move_to_end(i)
            self._users[i] += 1
            store, last = self._open[i], self._last
            self._last = i
            self._close_unused()
        self._free_cache(last)
        try:
            yield store
        finally:
            with self._lock:
                self._users[i] -= 1
            self._free_cache(i)

    def close(self) -> None:
        """Close all stores."""
        with self._lock:
            for store in self._open.values():
                store.close()
            self._open.clear()

    def _free_cache(self, i: int | None) -> None:
        """Free the cache of a store that nobody reads. Caches of all files could need much memory."""
        with self._lock:
            is_idle = i is not None and i != self._last and self._users[i] == 0
            store = self._open.get(i) if is_idle and i is not None else None
        if store is not None:
            store.free_cache()

    def _close_unused(self) -> None:
        """Close the stores that were not used for the longest time, if too many are open."""
        for i in list(self._open):
            if len(self._open) <= MAX_OPEN:
                return
            if self._users[i] == 0:
                self._open.pop(i).close()


class FixedStores:
    """Stores that stay open, with the interface of a pool."""

    def __init__(self, parts: Sequence[Store]) -> None:
        self.parts = parts

    @contextmanager
    def borrowed(self, i: int) -> Iterator[Store]:
        """Return a store."""
        yield self.parts[i]

    def close(self) -> None:
        """Close all stores."""
        for store in self.parts:
            store.close()
