"""Equal rows, which are found by keys of 128 bits and searched only once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._pairs.links import Indices

Keys = NDArray[np.uint64]

# Rows whose keys are computed at a time, in bytes.
BYTES_AT_ONCE = 2**23
# Multipliers and shifts of SplitMix64 (Steele, Lea and Flood 2014): each bit of its output depends on
# all bits of its input.
MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
# Distance of the numbers that are mixed with the columns: the golden ratio, as in SplitMix64.
STEP = np.uint64(0x9E3779B97F4A7C15)
# Each half of a key is a sum over the columns, with different numbers for the columns.
HALVES = (np.uint64(0), np.uint64(0x632BE59BD9B4E019))


@dataclass(frozen=True)
class EqualRows:
    """Rows that are equal to an earlier row, and their numbers."""

    first: Indices
    """First row that is equal to each row."""
    counts: Indices
    """Number of rows that are equal to each row, including itself."""

    @classmethod
    def of_keys(cls, keys: Keys) -> "EqualRows":
        """Return the rows with equal keys."""
        n = len(keys)
        order = np.lexsort((keys[:, 1], keys[:, 0]))  # stable, so that equal rows stay in order
        ordered = keys[order]
        is_new = np.ones(n, dtype=bool)
        is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        starts = np.flatnonzero(is_new)
        sizes = np.diff(np.append(starts, n))
        first, counts = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        first[order] = np.repeat(order[starts], sizes)
        counts[order] = np.repeat(sizes, sizes)
        return cls(first, counts)

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """True for each row that is equal to no earlier row."""
        return np.equal(self.first, np.arange(len(self.first)))


def row_keys(array: Any) -> tuple[Keys, NDArray[np.bool_]]:
    """Return the keys of the rows of an array or CSR matrix, and whether any value is not 0.

    Equal rows have equal keys. Different rows have different keys, unless two random numbers of 128 bits
    coincide.
    """
    n = array.shape[0]
    keys, nonzero = np.empty((n, 2), dtype=np.uint64), np.empty(n, dtype=bool)
    at_once = max(1, BYTES_AT_ONCE // max(1, array.shape[1] * 8))
    for begin in range(0, n, at_once):
        some = array[begin : begin + at_once]
        where = slice(begin, begin + at_once)
        if sparse.issparse(some):
            keys[where], nonzero[where] = _sparse_keys(some)
        else:
            bits = _bits(some)
            nonzero[where] = bits.any(axis=1)
            columns = np.arange(1, some.shape[1] + 1, dtype=np.uint64) * STEP
            for half, salt in enumerate(HALVES):
                keys[where, half] = _mixed(bits + _mixed(columns + salt)).sum(axis=1, dtype=np.uint64)
    return keys, nonzero


def _sparse_keys(matrix: Any) -> tuple[Keys, NDArray[np.bool_]]:
    keys = np.zeros((matrix.shape[0], 2), dtype=np.uint64)
    bits = _bits(matrix.data)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[bits != 0]
    columns = (matrix.indices[bits != 0].astype(np.uint64) + np.uint64(1)) * STEP
    for half, salt in enumerate(HALVES):
        np.add.at(keys[:, half], row, _mixed(bits[bits != 0] + _mixed(columns + salt)))
    return keys, np.bincount(row, minlength=len(keys)) > 0


def _bits(values: NDArray[Any]) -> Keys:
    """Return the bits of values as float64. Adding 0 turns -0 into 0."""
    return (values.astype(np.float64) + 0.0).view(np.uint64)


def _mixed(values: Keys) -> Keys:
    for shift, factor in zip(SHIFTS, MULTIPLIERS, strict=False):
        values = (values ^ (values >> shift)) * factor
    return values ^ (values >> SHIFTS[2])
