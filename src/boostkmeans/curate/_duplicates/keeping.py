"""The rows of each group that are kept."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._pairs.links import Indices, RowGroups
from boostkmeans._runtime.errors import ParameterError

KeepFunction = Callable[[Indices], Any]
"""Function of the rows of a group that returns the rows to keep, one number or several."""
TakeRows = Callable[[Indices], Floats]
"""Return some rows, given by ascending numbers, as points of float64."""

CHOICES = ("central", "first")
# Bytes of the points of the groups whose central rows are found at a time.
BYTES_AT_ONCE = 2**27
# Relative difference below which two rows are equally near to the mean of their group. The first of them
# is then the central one, so that rounding errors do not matter.
TIE = 1e-9
# Rows of a group that are compared with each other at a time.
COMPARED_AT_ONCE = 2048


def check_keep(keep: Any, owner: str) -> None:
    """Raise ParameterError unless `keep` is a choice or a function."""
    if not (callable(keep) or (isinstance(keep, str) and keep in CHOICES)):
        raise ParameterError("keep", "'central', 'first' or a function", keep, owner=owner)


def choose_rows(groups: RowGroups, keep: str | KeepFunction, take: TakeRows, width: int) -> Indices:
    """Return the rows to keep of all groups, in ascending order. `width` is the number of features."""
    if callable(keep):
        chosen = [_chosen(keep, rows) for rows in groups]
        return np.sort(np.concatenate([*chosen, np.empty(0, dtype=np.int64)]))
    firsts = groups.rows[groups.starts[:-1]]
    return np.sort(firsts if keep == "first" else _central_rows(groups, take, width))


def _chosen(keep: KeepFunction, rows: Indices) -> Indices:
    found = np.unique(np.asarray(keep(rows.copy())))
    is_valid = found.dtype.kind in "iu" and found.size > 0 and bool(np.isin(found, rows).all())
    if not is_valid:
        expected = "a function that returns at least one of the row numbers that it is given"
        raise ParameterError("keep", expected, found.tolist(), owner="deduplicate")
    return found.astype(np.int64)


def _central_rows(groups: RowGroups, take: TakeRows, width: int) -> Indices:
    """Return the row of each group that is nearest to its mean. Of two rows, it is the first."""
    found = groups.rows[groups.starts[:-1]].copy()
    large = np.flatnonzero(groups.sizes > 2)
    at_once = max(1, BYTES_AT_ONCE // (8 * width))
    for some in _batches(groups.sizes[large], at_once):
        numbers = large[some]
        rows = np.concatenate([groups[number] for number in numbers])
        if len(rows) > at_once:  # a single large group
            found[numbers] = _central_row_of(rows, take, at_once)
            continue
        order = np.argsort(rows)
        points = np.empty((len(rows), width))
        points[order] = take(rows[order])
        starts = np.concatenate([[0], np.cumsum(groups.sizes[numbers])])
        means = np.add.reduceat(points, starts[:-1], axis=0) / np.diff(starts)[:, None]
        points -= np.repeat(means, np.diff(starts), axis=0)
        squares = np.square(points).sum(axis=1)
        limits = np.minimum.reduceat(squares, starts[:-1]) * (1 + TIE)
        is_nearest = squares <= np.repeat(limits, np.diff(starts))
        places = np.where(is_nearest, np.arange(len(rows)), len(rows))
        found[numbers] = rows[np.minimum.reduceat(places, starts[:-1])]
    return found


def _central_row_of(rows: Indices, take: TakeRows, at_once: int) -> int:
    """Return the row nearest to the mean of a group that is read in parts. Rows ascend."""
    parts = [rows[begin : begin + at_once] for begin in range(0, len(rows), at_once)]
    mean = np.sum([take(part).sum(axis=0) for part in parts], axis=0) / len(rows)
    squares = np.concatenate([np.square(take(part) - mean).sum(axis=1) for part in parts])
    return int(rows[np.argmax(squares <= squares.min() * (1 + TIE))])


def _batches(sizes: Indices, at_once: int) -> list[slice]:
    """Return ranges of groups with at most this number of rows, or with one group."""
    found, begin, total = [], 0, 0
    for number, size in enumerate(sizes.tolist()):
        if total and total + size > at_once:
            found.append(slice(begin, number))
            begin, total = number, 0
        total += size
    return [*found, slice(begin, len(sizes))] if len(sizes) else found


def kept_pairs(groups: RowGroups, kept: Indices, square: float, take: TakeRows) -> NDArray[np.int64]:
    """Return the pairs of kept rows of the same group that are near each other.

    There are none if one row of each group is kept. `square` is the largest squared distance of a pair
    in the unit of the points.
    """
    is_kept = np.isin(groups.rows, kept)
    n_kept = np.bincount(groups.numbers[is_kept], minlength=len(groups))
    found = [np.empty((0, 2), dtype=np.int64)]
    for number in np.flatnonzero(n_kept > 1):
        where = slice(groups.starts[number], groups.starts[number + 1])
        found += _pairs_of(groups.rows[where][is_kept[where]], square, take)
    return np.concatenate(found)


def _pairs_of(rows: Indices, square: float, take: TakeRows) -> list[NDArray[np.int64]]:
    found = []
    for begin in range(0, len(rows), COMPARED_AT_ONCE):
        points = take(rows[begin : begin + COMPARED_AT_ONCE])
        for i, point in enumerate(points):
            for start in range(begin, len(rows), COMPARED_AT_ONCE):
                others = points if start == begin else take(rows[start : start + COMPARED_AT_ONCE])
                near = np.flatnonzero(np.square(others - point).sum(axis=1) <= square) + start
                near = near[near > begin + i]
                found.append(np.column_stack([np.full(len(near), rows[begin + i]), rows[near]]))
    return found
