"""Exact nearest neighbours by comparing all rows with all queries."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from boostkmeans import _core
from boostkmeans._data.frame import Array
from boostkmeans._data.row_source import RowSource, in_batches
from boostkmeans._data.rows import DTYPES, Rows, describe
from boostkmeans._data.user_input import converting
from boostkmeans._estimators.vector_columns import user_rows
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import any_of, integer
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.quantization._neighbors import Neighbors

# Values of X compared with all queries at a time: a block must fit into memory as float64 (8 MB).
BLOCK_VALUES = 2**20


def exact_neighbors(
    X: ArrayLike,
    queries: ArrayLike,
    k: int = 100,
    *,
    n_threads: int | None = None,
    progress: ProgressCallback = ignore_progress,
) -> Neighbors:
    """Find the k nearest rows of X for each query, exactly.

    All rows are compared with all queries, block by block. Rows opened with
    `boostkmeans.io.open_vectors` are never in memory as a whole.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or Vectors
        Rows to search.
    queries : array-like of shape (n_queries, n_features), or Vectors
        Rows to find the neighbours of.
    k : int, default=100
        Number of neighbours per query, at most `n_samples`.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process.
    progress : callable, optional
        Function called as `progress(what, done, total)` after each block.

    Returns
    -------
    Neighbors
        The named tuple `(distances, indices)`. Distances are squared, in float64. Equally near rows are
        ordered by their row number.

    Examples
    --------
    >>> from boostkmeans.metrics import exact_neighbors
    >>> exact_neighbors([[0.0], [3], [4], [9]], [[3.4]], k=2).indices
    array([[1, 2]])
    """
    query_array = _as_array(queries, "queries")
    X = X if isinstance(X, RowSource) else _as_array(X, "X")
    n, d = X.shape
    if d != query_array.shape[1]:
        raise ValueError(f"queries have {query_array.shape[1]} features, but X has {d}.")
    _check_parameters(k, n, n_threads)
    threads = resolve_threads(n_threads)
    rows = Rows.in_own_frame(query_array, "euclidean", threads)
    indices = np.full((len(query_array), k), -1, dtype=np.int64)
    distances = np.full((len(query_array), k), np.inf)
    for begin, block in _blocks(X, max(1, BLOCK_VALUES // d)):
        describe(block, None, threads, begin)  # raises if a value is not finite
        points = rows.frame.enter(block.astype(np.float64))
        _core.nearest_rows(rows.core, points, begin, indices, distances, threads)
        progress("rows", begin + len(block), n)
    # A distance beyond the range of float64 is correctly reported as infinity.
    with np.errstate(over="ignore"):
        return Neighbors(np.ldexp(distances, -2 * rows.frame.exponent), indices)


def _check_parameters(k: Any, n_rows: int, n_threads: Any) -> None:
    owner = "exact_neighbors"
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n_rows:
        expected = f"an int in the range [1, {n_rows}] (the number of rows)"
        raise ParameterError("k", expected, k, owner=owner)
    if n_threads is not None and (not isinstance(n_threads, int | np.integer) or n_threads < 1):
        expected_threads = any_of(None, integer(1)).expected
        raise ParameterError("n_threads", expected_threads, n_threads, owner=owner)


def _blocks(X: Any, n_rows: int) -> Iterator[tuple[int, Array]]:
    """Yield blocks of at most `n_rows` rows, each with the index of its first row."""
    batches = in_batches(X, at_least=0) if isinstance(X, RowSource) else [(0, X)]
    for first, batch in batches:
        for begin in range(0, len(batch), n_rows):
            yield first + begin, batch[begin : begin + n_rows]


def _as_array(X: ArrayLike, name: str) -> Array:
    """Return X as a dense array of a type that the core reads. Finiteness is checked later."""
    if isinstance(X, RowSource):
        X = X.load()
    X = user_rows(X, name)
    if isinstance(X, np.ndarray) and X.dtype == np.bool_:
        X = X.view(np.uint8)
    with converting(name):
        array = check_array(X, dtype=list(DTYPES), ensure_all_finite=False, input_name=name)
    return np.asarray(array)
