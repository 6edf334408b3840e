"""Cluster measures: size, tightness, separation, neighbours, and rows that represent a cluster."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._steps.neighbours import Lists, neighbour_lists
from boostkmeans.explore._measures.explored_rows import ExploredRows
from boostkmeans.explore._measures.rounding import squared_lengths, without_rounding
from boostkmeans.explore._measures.row_measures import RowMeasures

# Number of neighbours per cluster.
N_NEIGHBOURS = 8
# Number of central, borderline and outlying rows per cluster.
N_SHOWN = 8
# Pairs of centres whose distances are computed at a time.
PAIRS_AT_ONCE = 4096

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ClusterMeasures:
    """Measures of all clusters, in the units of X."""

    sizes: Ints
    """Number of rows of each cluster."""
    tightness: Floats
    """Mean squared distance of the rows of each cluster to its centre; NaN for an empty cluster."""
    separation: Floats
    """Distance of each centre to the nearest other centre; NaN if there is only one."""
    neighbours: list[list[int]]
    """Nearest other clusters of each cluster, nearest first."""
    central: list[list[int]]
    """Rows nearest to the centre of each cluster, nearest first."""
    borderline: list[list[int]]
    """Rows of each cluster with the smallest margins, smallest first."""
    outlying: list[list[int]]
    """Rows farthest from the centre of each cluster, farthest first."""


def measure_clusters(rows: ExploredRows, measures: RowMeasures) -> ClusterMeasures:
    """Measure all clusters. This needs no pass over the rows."""
    centres = rows.centres()
    k, labels = len(centres), measures.labels
    sizes = np.bincount(labels, minlength=k)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.bincount(labels, weights=measures.distances**2, minlength=k)
        tightness = np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)
    lists, gaps = _nearest_centres(centres, rows.n_threads)
    has_other = gaps.shape[1] > 0
    return ClusterMeasures(
        sizes=sizes,
        tightness=tightness,
        separation=_separation(rows, centres, gaps[:, 0]) if has_other else np.full(k, np.nan),
        neighbours=[[int(one) for one in line if one >= 0] for line in lists],
        central=_first_rows(labels, measures.distances, sizes),
        borderline=_first_rows(labels, measures.margins, sizes) if has_other else [[] for _ in sizes],
        outlying=_first_rows(labels, -measures.distances, sizes),
    )


def _separation(rows: ExploredRows, centres: Floats, gaps: Floats) -> Floats:
    return rows.in_user_units(without_rounding(gaps, squared_lengths(centres)))


def _nearest_centres(centres: Floats, n_threads: int) -> tuple[Lists, Floats]:
    """Return the nearest other centres of each centre, and their squared distances, nearest first."""
    k = len(centres)
    n_neighbours = min(N_NEIGHBOURS, k - 1)
    if n_neighbours == 0:
        return np.empty((k, 0), dtype=np.int32), np.empty((k, 0))
    lists = neighbour_lists(centres, n_neighbours, n_threads)
    gaps = np.empty(lists.shape)
    for begin in range(0, k, PAIRS_AT_ONCE // n_neighbours):
        some = slice(begin, begin + PAIRS_AT_ONCE // n_neighbours)
        gaps[some] = ((centres[some, None] - centres[lists[some]]) ** 2).sum(axis=2)
    gaps[lists < 0] = np.inf
    order = np.argsort(gaps, axis=1, kind="stable")
    return np.take_along_axis(lists, order, axis=1), np.take_along_axis(gaps, order, axis=1)


def _first_rows(labels: NDArray[np.int32], values: Floats, sizes: Ints) -> list[list[int]]:
    """Return the rows of each cluster with the smallest values. Ties go to the first row."""
    order = np.lexsort((values, labels))
    starts = np.cumsum(sizes) - sizes
    return [
        order[start : start + min(N_SHOWN, size)].tolist()
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
