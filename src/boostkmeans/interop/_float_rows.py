"""Rows as faiss takes them: dense, contiguous, float32, some at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from boostkmeans._data.frame import Array
from boostkmeans._data.row_source import RowSource, in_batches
from boostkmeans._data.rows import DTYPES, SPARSE_DTYPES, canonical, describe

Singles = NDArray[np.float32]

# Of the rows that are converted at a time: much for a call of faiss, little beside an index.
VALUES_AT_ONCE = 2**22


class CheckedRows:
    """Rows of an array, a sparse matrix or an open file, with so many features."""

    def __init__(self, X: Any, n_features: int, whose: str) -> None:
        """`whose`: who has so many features, for the error where these rows have others."""
        self._rows: Any = X if _is_streamed(X) else _checked(X)
        self.shape: tuple[int, int] = self._rows.shape
        if self.shape[1] != n_features:
            raise ValueError(f"X has {self.shape[1]} features, and {whose} has {n_features}.")

    def batches(self) -> Iterator[tuple[int, Array]]:
        """Dense rows of a type that the core reads, and the number of the first one."""
        at_once = max(1, VALUES_AT_ONCE // self.shape[1])
        streamed = _is_streamed(self._rows)
        for first, batch in in_batches(self._rows, 0) if streamed else [(0, self._rows)]:
            for begin in range(0, batch.shape[0], at_once):
                some: Any = batch[begin : begin + at_once]
                yield first + begin, some.toarray() if sparse.issparse(some) else some

    def singles(self, n_threads: int) -> Iterator[Singles]:
        """The same in float32. Raises ValueError where a value is not finite, or becomes so."""
        for begin, batch in self.batches():
            describe(batch, None, n_threads, begin)
            yield as_singles(batch, "X", begin)


def as_singles(array: Array, name: str, first_row: int = 0) -> Singles:
    """An array of finite values in float32."""
    with np.errstate(over="ignore"):  # it is looked for
        singles = np.ascontiguousarray(array, dtype=np.float32)
    if array.dtype.itemsize > singles.dtype.itemsize and not np.isfinite(singles).all():
        row, column = np.argwhere(~np.isfinite(singles))[0]
        raise ValueError(
            f"{name} has {array[row, column]:g} at row {first_row + row}, column {column}, which "
            "float32 (and so faiss) cannot hold. Scale the data, and fit again."
        )
    return singles


def _is_streamed(X: Any) -> bool:
    return isinstance(X, RowSource) and not X.is_sparse


def _checked(X: Any) -> Any:
    if isinstance(X, RowSource):
        X = X.load()
    if isinstance(X, np.ndarray) and X.dtype == np.bool_:
        X = X.view(np.uint8)
    dtypes = list(SPARSE_DTYPES if sparse.issparse(X) else DTYPES)
    array = check_array(X, dtype=dtypes, accept_sparse="csr", ensure_all_finite=False, input_name="X")
    return canonical(array) if sparse.issparse(array) else np.asarray(array)
