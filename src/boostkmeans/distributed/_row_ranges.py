"""Cutting the rows of a file into ranges for shards."""

from collections.abc import Sequence
from itertools import pairwise


def cut_rows(n_rows: int, max_rows: int, group_starts: Sequence[int] | None) -> list[tuple[int, int]]:
    """Return ranges of about equal length, with at most `max_rows` rows each.

    The ranges begin at row groups if no group is longer than `max_rows`: a reader then decodes each
    group once. A file without rows gives one empty range.

    >>> cut_rows(10, 4, None)
    [(0, 3), (3, 6), (6, 10)]
    >>> cut_rows(10, 6, [0, 3, 5, 8])
    [(0, 5), (5, 10)]
    """
    if n_rows <= max_rows:
        return [(0, n_rows)]
    bounds = None if group_starts is None else [*group_starts, n_rows]
    if bounds is None or max(end - begin for begin, end in pairwise(bounds)) > max_rows:
        n_parts = -(-n_rows // max_rows)
        return list(pairwise(i * n_rows // n_parts for i in range(n_parts + 1)))
    return _cut_groups(bounds, _even_limit(bounds, max_rows))


def _cut_groups(bounds: Sequence[int], max_rows: int) -> list[tuple[int, int]]:
    """Join consecutive groups while they have at most `max_rows` rows together."""
    cuts = [bounds[0]]
    for begin, end in pairwise(bounds):
        if end - cuts[-1] > max_rows:
            cuts.append(begin)
    return list(pairwise([*cuts, bounds[-1]]))


def _even_limit(bounds: Sequence[int], max_rows: int) -> int:
    """Return the smallest limit that gives the same number of ranges. It makes them more even."""
    n_parts = len(_cut_groups(bounds, max_rows))
    low, high = max(end - begin for begin, end in pairwise(bounds)), max_rows
    while low < high:
        middle = (low + high) // 2
        if len(_cut_groups(bounds, middle)) <= n_parts:
            high = middle
        else:
            low = middle + 1
    return low
