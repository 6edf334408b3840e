"""Row matching: find rows in an array by their values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Array
from boostkmeans._data.rows import ROWS_AT_ONCE, canonical

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

# Number of a row that was not found.
MISSING = -1
# Length of the words that are hashed, in bytes.
WORD = 8
# Shift by which the halves of a word are mixed. Otherwise, the low bits of a key would depend only on
# the low bits of the values.
HALF_WORD = np.uint64(32)


def matching_rows(rows: Array, wanted: Array) -> Ints:
    """Return the number of a different row of `rows` for each wanted row; MISSING if there is none.

    Among equal rows, the first ones are returned. Both arrays are dense, or both are CSR matrices.
    """
    rows, wanted = _comparable(rows, wanted), _comparable(wanted, rows)
    keys, wanted_keys = _keys(rows), _keys(wanted)
    order, wanted_order = np.argsort(keys, kind="stable"), np.argsort(wanted_keys, kind="stable")
    ordered, wanted_ordered = keys[order], wanted_keys[wanted_order]
    # The i-th of several equal wanted rows matches the i-th of the equal rows.
    rank = np.arange(len(wanted_ordered)) - np.searchsorted(wanted_ordered, wanted_ordered)
    places = np.searchsorted(ordered, wanted_ordered) + rank
    within = np.minimum(places, len(ordered) - 1)
    found = np.where(
        (places < len(ordered)) & (ordered[within] == wanted_ordered), order[within], MISSING
    )
    numbers = np.empty(len(found), dtype=np.int64)
    numbers[wanted_order] = found
    numbers[~_equal(rows, numbers, wanted)] = MISSING
    return numbers


def _comparable(array: Any, other: Any) -> Any:
    """Return an array in the common type of both, in which equal values have equal bits."""
    dtype = np.result_type(array.dtype, other.dtype)
    if sparse.issparse(array):
        array = canonical(sparse.csr_array(array, dtype=dtype, copy=True))
        array.eliminate_zeros()
        return array
    array = np.ascontiguousarray(array, dtype=dtype)
    # -0.0 and 0.0 are equal. The sum has positive zeros only.
    return array + dtype.type(0) if dtype.kind == "f" else array


def _keys(array: Any) -> Keys:
    """Return a hash value of each row."""
    if sparse.issparse(array):
        terms = _words(array.data.astype(np.float64)[:, None])[:, 0]
        sums = np.concatenate(
            [np.zeros(1, np.uint64), np.cumsum(terms * _factors(array.shape[1])[array.indices])]
        )
        return np.asarray(sums[array.indptr[1:]] - sums[array.indptr[:-1]])
    keys = np.empty(len(array), dtype=np.uint64)
    for begin in range(0, len(array), ROWS_AT_ONCE):
        words = _words(array[begin : begin + ROWS_AT_ONCE])
        keys[begin : begin + ROWS_AT_ONCE] = (words * _factors(words.shape[1])).sum(axis=1)
    return keys


def _words(some: Array) -> NDArray[np.uint64]:
    """Return the bytes of rows as mixed words."""
    data = some.view(np.uint8).reshape(len(some), -1)
    padding = -data.shape[1] % WORD
    if padding:
        data = np.pad(data, ((0, 0), (0, padding)))
    words = np.ascontiguousarray(data).view(np.uint64)
    return words ^ (words >> HALF_WORD)


def _factors(n: int) -> NDArray[np.uint64]:
    """Return odd random factors, which do not depend on the data."""
    return np.random.default_rng(0).integers(2**63, size=n, dtype=np.uint64) * np.uint64(2) + np.uint64(
        1
    )


def _equal(rows: Any, numbers: Ints, wanted: Any) -> NDArray[np.bool_]:
    """Return True for each wanted row that equals the row with its number."""
    equal: NDArray[np.bool_] = numbers != MISSING
    for begin in range(0, len(numbers), ROWS_AT_ONCE):
        some = slice(begin, begin + ROWS_AT_ONCE)
        theirs, own = rows[np.maximum(numbers[some], 0)], wanted[some]
        if sparse.issparse(own):
            differs = np.diff(sparse.csr_array(theirs != own).indptr) > 0
        else:
            differs = (theirs != own).any(axis=1)
        equal[some] &= ~differs
    return equal
