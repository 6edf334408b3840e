"""Conversion of rows to the form that faiss takes: dense, contiguous, float32, in batches."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from boostkmeans._data.frame import Array
from boostkmeans._data.row_source import RowSource, in_batches
from boostkmeans._data.rows import DTYPES, SPARSE_DTYPES, canonical, describe
from boostkmeans._data.user_input import converting
from boostkmeans._estimators.vector_columns import user_rows

FloatRows = NDArray[np.float32]

# Values per batch: 16 MB of float32, enough to make the cost of a call to faiss negligible.
BATCH_VALUES = 2**22


class CheckedRows:
    """Rows of an array, a sparse matrix or an open file, with a checked number of features."""

    def __init__(self, X: Any, n_features: int, owner: str) -> None:
        """Check the rows. `owner` is the name of the object with the expected number of features."""
        self._rows: Any = X if _is_streamed(X) else _as_array(X)
        self.shape: tuple[int, int] = self._rows.shape
        if self.shape[1] != n_features:
            raise ValueError(f"X has {self.shape[1]} features, but {owner} has {n_features}.")

    def batches(self) -> Iterator[tuple[int, Array]]:
        """Yield dense rows in batches, each with the index of its first row."""
        n_rows = max(1, BATCH_VALUES // self.shape[1])
        streamed = _is_streamed(self._rows)
        for first, batch in in_batches(self._rows, 0) if streamed else [(0, self._rows)]:
            for begin in range(0, batch.shape[0], n_rows):
                some: Any = batch[begin : begin + n_rows]
                yield first + begin, some.toarray() if sparse.issparse(some) else some

    def float_batches(self, n_threads: int) -> Iterator[FloatRows]:
        """Yield the rows in float32, in batches. Raise ValueError if a value is not finite."""
        for begin, batch in self.batches():
            describe(batch, None, n_threads, begin)  # raises if a value is not finite
            yield to_float32(batch, "X", begin)


def to_float32(array: Array, name: str, first_row: int = 0) -> FloatRows:
    """Convert finite values to float32, or raise ValueError if one exceeds its range."""
    with np.errstate(over="ignore"):  # overflow is detected below
        converted = np.ascontiguousarray(array, dtype=np.float32)
    if array.dtype.itemsize > converted.dtype.itemsize and not np.isfinite(converted).all():
        row, column = np.argwhere(~np.isfinite(converted))[0]
        raise ValueError(
            f"{name} has the value {array[row, column]:g} at row {first_row + row}, column {column}, "
            "which exceeds the range of float32, the type that faiss uses. Scale the data and fit again."
        )
    return converted


def _is_streamed(X: Any) -> bool:
    return isinstance(X, RowSource) and not X.is_sparse


def _as_array(X: Any) -> Any:
    """Return X as an array or CSR of a type that the core supports. Finiteness is checked later."""
    if isinstance(X, RowSource):
        X = X.load()
    X = user_rows(X)
    if isinstance(X, np.ndarray) and X.dtype == np.bool_:
        X = X.view(np.uint8)
    dtypes = list(SPARSE_DTYPES if sparse.issparse(X) else DTYPES)
    with converting("X"):
        array = check_array(
            X, dtype=dtypes, accept_sparse="csr", ensure_all_finite=False, input_name="X"
        )
    return canonical(array) if sparse.issparse(array) else np.asarray(array)
