"""`RowRange`: consecutive rows of a store."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.io._access.store import Store


class RowRange(Store):
    """The rows [begin, end) of another store, which is closed together with this one."""

    def __init__(self, whole: Store, begin: int, end: int) -> None:
        self._whole = whole
        self._begin = begin
        self.shape = (end - begin, whole.shape[1])
        self.dtype = whole.dtype
        self.is_sparse = whole.is_sparse
        self.is_mapped = whole.is_mapped
        self.feature_names = whole.feature_names

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into an array, starting with row `begin`."""
        self._whole.fill(self._begin + begin, target)

    def rows(self, begin: int, end: int) -> Any:
        """Return the rows from `begin` to `end` (excluded)."""
        return self._whole.rows(self._begin + begin, self._begin + end)

    def ids(self, begin: int, end: int) -> NDArray[Any]:
        """Return the ids of the rows from `begin` to `end` (excluded)."""
        return self._whole.ids(self._begin + begin, self._begin + end)

    @property
    def row_counts(self) -> list[int]:
        """Number of rows of each file that lie in the range."""
        ends = np.cumsum(self._whole.row_counts)
        inside = np.clip(ends, self._begin, self._begin + self.shape[0])
        return [int(n) for n in np.diff(inside, prepend=self._begin)]

    @property
    def held_bytes(self) -> int:
        """Number of bytes that the other store holds in memory."""
        return self._whole.held_bytes

    def load(self) -> Any:
        """Return all rows of the range."""
        return self._whole.load()[self._begin : self._begin + self.shape[0]]

    def close(self) -> None:
        """Close the other store."""
        self._whole.close()
