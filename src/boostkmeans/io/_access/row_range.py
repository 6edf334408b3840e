"""`RowRange`: consecutive rows of a store."""

from typing import Any

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

    def load(self) -> Any:
        """Return all rows of the range."""
        return self._whole.load()[self._begin : self._begin + self.shape[0]]

    def close(self) -> None:
        """Close the other store."""
        self._whole.close()
