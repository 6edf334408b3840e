"""Exact nearest neighbours: the ground truth that a search is measured by."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from boostkmeans import _core
from boostkmeans._data.rows import DTYPES, Array, Rows, describe
from boostkmeans._data.streamed_rows import RowSource, in_batches
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.quantization._codes import Neighbors

# Rows that all queries are compared with at a time.
BLOCK_VALUES = 2**20


def exact_neighbors(
    X: ArrayLike,
    queries: ArrayLike,
    k: int = 100,
    *,
    n_threads: int | None = None,
    progress: ProgressCallback = ignore_progress,
) -> Neighbors:
    """The k rows of X that are nearest to each query, exactly, as `(distances, indices)`.

    Distances are squared, in float64; of equally near rows, the first come first. All rows are compared
    with all queries, block by block: what `boostkmeans.io.open_vectors` gives is never in memory as a
    whole.

    >>> exact_neighbors([[0.0], [3], [4], [9]], [[3.4]], k=2).indices
    array([[1, 2]])
    """
    array = _checked(queries, "queries")
    X = X if isinstance(X, RowSource) else _checked(X, "X")
    n, d = X.shape
    if d != array.shape[1]:
        raise ValueError(f"The queries have {array.shape[1]} features, and the rows have {d}.")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n:
        raise ValueError(f"k should be an integer from 1 to the number of rows, {n}. Got {k!r}.")
    if n_threads is not None and (not isinstance(n_threads, int | np.integer) or n_threads < 1):
        raise ValueError(f"n_threads should be an integer from 1 on, or None. Got {n_threads!r}.")
    threads = resolve_threads(n_threads)
    rows = Rows.in_own_frame(array, "euclidean", threads)
    indices = np.full((len(array), k), -1, dtype=np.int64)
    distances = np.full((len(array), k), np.inf)
    for begin, block in _blocks(X, max(1, BLOCK_VALUES // d)):
        describe(block, None, threads, begin)  # raises if a value is not finite
        points = rows.frame.enter(block.astype(np.float64))
        _core.nearest_rows(rows.core, points, begin, indices, distances, threads)
        progress("rows", begin + len(block), n)
    with np.errstate(over="ignore"):  # infinite is right where float64 holds no more
        return Neighbors(np.ldexp(distances, -2 * rows.frame.exponent), indices)


def _blocks(X: Any, n_rows: int) -> Iterator[tuple[int, Array]]:
    """Some rows at a time, and the number of the first."""
    whole = in_batches(X, at_least=0) if isinstance(X, RowSource) else [(0, X)]
    for first, batch in whole:
        for begin in range(0, len(batch), n_rows):
            yield first + begin, batch[begin : begin + n_rows]


def _checked(X: ArrayLike, name: str) -> Array:
    if isinstance(X, RowSource):
        X = X.load()
    if isinstance(X, np.ndarray) and X.dtype == np.bool_:
        X = X.view(np.uint8)
    return np.asarray(check_array(X, dtype=list(DTYPES), ensure_all_finite=False, input_name=name))
