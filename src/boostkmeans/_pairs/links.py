"""Links between rows, and the groups that they connect."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Indices = NDArray[np.int64]

# Number of links after which they are merged into components, which bounds the memory.
MAX_WAITING = 1 << 20


class Links:
    """Connected components of rows, built from links that arrive in batches.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    """

    def __init__(self, n_rows: int) -> None:
        self._components = np.arange(n_rows)
        self._waiting: list[tuple[Indices, Indices]] = []
        self._n_waiting = 0

    def connect(self, first: Indices, second: Indices) -> None:
        """Link rows in pairs."""
        if len(first) == 0:
            return
        self._waiting.append((first, second))
        self._n_waiting += len(first)
        if self._n_waiting > MAX_WAITING:
            self._merge()

    def components(self) -> Indices:
        """Return the first row of the component of each row."""
        self._merge()
        _, first, inverse = np.unique(self._components, return_index=True, return_inverse=True)
        return np.asarray(first[inverse.ravel()], dtype=np.int64)

    def _merge(self) -> None:
        if not self._waiting:
            return
        first, second = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        n = len(self._components)
        ends = (self._components[first], self._components[second])
        graph = coo_array((np.ones(len(first), dtype=np.int8), ends), shape=(n, n))
        _, merged = connected_components(graph, directed=False)
        self._components = merged[self._components]
        self._waiting, self._n_waiting = [], 0


class RowGroups:
    """Groups of rows, in the order of their first rows. It behaves like a sequence of arrays.

    Parameters
    ----------
    rows : ndarray of int64
        Rows of all groups, one group after the other, each in ascending order.
    starts : ndarray of int64
        Start of each group in `rows`, followed by the number of rows.
    """

    def __init__(self, rows: Indices, starts: Indices) -> None:
        self.rows = rows
        self.starts = starts

    @classmethod
    def of_components(cls, components: Indices) -> "RowGroups":
        """Return the components with at least two rows.

        Parameters
        ----------
        components : ndarray of shape (n_rows,)
            Component of each row, given by its first row.

        Returns
        -------
        groups : RowGroups
            The rows of each component.
        """
        sizes = np.bincount(components, minlength=len(components))
        members = np.flatnonzero(sizes[components] > 1)
        order = members[np.argsort(components[members], kind="stable")]
        firsts = np.flatnonzero(sizes > 1)
        return cls(order, np.concatenate([[0], np.cumsum(sizes[firsts])]).astype(np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> Indices:
        if not -len(self) <= number < len(self):
            raise IndexError(f"There are {len(self):,} groups. Got the number {number}.")
        number %= len(self)
        return self.rows[self.starts[number] : self.starts[number + 1]]

    def __iter__(self) -> Iterator[Indices]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self):,} groups of {len(self.rows):,} rows>"

    @property
    def sizes(self) -> Indices:
        """Number of rows of each group."""
        return np.diff(self.starts)

    @property
    def numbers(self) -> Indices:
        """Number of the group of each item of `rows`."""
        return np.repeat(np.arange(len(self)), self.sizes)
