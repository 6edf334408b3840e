"""Plan of a search: coordinates in a few dimensions, and the clusters of the rows in them."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Floats, Frame
from boostkmeans._data.projection import (
    Projection,
    Spectrum,
    contraction,
    projection_scale,
    spectrum_rows,
)
from boostkmeans._data.rows import Indices, Rows
from boostkmeans._pairs.limits import PairLimit
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._steps.neighbours import Groups, neighbour_lists
from boostkmeans._steps.problem import stratified_indices

# Coordinates of a row fill whole vectors of any instruction set, together with the length of the rest.
COLUMNS_UNIT = 16
# Cost of computing the distance of two rows in all dimensions, in multiply-adds of the comparison of
# coordinates: per feature, and in addition.
COST_PER_FEATURE = 4
COST_PER_DISTANCE = 200
# Rows whose distances determine the number of coordinates.
ROWS_TO_COMPARE = 1024
# Number of features up to which principal components are computed from all features. Beyond, they are
# computed from few rows, because the time grows with the cube of the number of features.
MAX_FEATURES = 2048
ROWS_OF_WIDE_DATA = 512
# The number of clusters is this factor times the root of the number of rows. More clusters leave fewer
# rows to compare, but take more time themselves. Factors between 1 and 2 were fastest for 500,000 rows.
CLUSTERS_PER_ROOT = 1.5
# Up to this number of rows, all rows are one cluster.
MAX_UNCLUSTERED = 4096
# Limits of the number of clusters, and of the rows from which they are built.
MAX_CLUSTERS = 8192
ROWS_PER_CLUSTER = 16


class SampledRows(Protocol):
    """Rows that can be sampled. Any `RowSet` is one."""

    frame: Frame
    n_rows: int
    n_features: int

    def sample(self, indices: Indices) -> Rows:
        """Copy some rows, given by ascending indices, into memory."""

    def take(self, indices: Indices) -> Floats:
        """Copy some rows, given by ascending indices, as dense points in the frame."""


Lists = tuple[NDArray[np.int64], NDArray[np.int32]]


@dataclass(frozen=True)
class PairPlan(SizedByFields):
    """All that workers need to find the pairs of two blocks of rows. It can be pickled."""

    axes: Floats
    centres: Floats
    """Centres of the clusters in the coordinates."""
    radius: float
    """Largest distance of a pair in the unit of the coordinates."""
    square: float
    """Largest squared distance of a pair in the frame."""
    lists: Lists | None
    """Clusters that are compared with each cluster, as ranges of a list. None for all clusters."""

    @property
    def is_exhaustive(self) -> bool:
        """True if no pair can be missed."""
        return self.lists is None

    @classmethod
    def of(
        cls,
        rows: SampledRows,
        limit: PairLimit,
        n_neighbours: int | None,
        seed: int,
        n_threads: int,
    ) -> "PairPlan":
        """Choose coordinates and clusters for rows, from samples of them."""
        rng = np.random.RandomState(seed)
        square = limit.square_in(rows.frame)
        some = stratified_indices(rows.n_rows, _spectrum_rows(rows.n_features), rng)
        axes = _choose_axes(rows.take(some), square)
        n_clusters = _number_of_clusters(rows.n_rows)
        some = stratified_indices(rows.n_rows, n_clusters * ROWS_PER_CLUSTER, rng)
        values = Projection.onto(rows.sample(some), axes, n_threads).values
        centres = _centres(values, n_clusters, seed, n_threads)
        radius = math.sqrt(square) * projection_scale(rows.n_features)
        return cls(axes, centres, radius, square, _lists(centres, n_neighbours, n_threads))


def _spectrum_rows(n_features: int) -> int:
    return ROWS_OF_WIDE_DATA if n_features > MAX_FEATURES else spectrum_rows(n_features)


def _choose_axes(points: Floats, square: float) -> Floats:
    """Return the leading axes of the rows, such that few distant rows have near coordinates."""
    axes = _all_axes(points)
    numbers = [n - 1 for n in _powers(COLUMNS_UNIT, axes.shape[1] + 1)]
    numbers = [n for n in numbers if n < axes.shape[1]] + [axes.shape[1]]
    compared = points[:: max(1, len(points) // ROWS_TO_COMPARE)]
    shares = _shares_below(compared @ axes, numbers, square)
    distance = COST_PER_DISTANCE + COST_PER_FEATURE * points.shape[1]
    costs = [n + 1 + share * distance for n, share in zip(numbers, shares, strict=True)]
    return contraction(axes[:, : numbers[int(np.argmin(costs))]])


def _all_axes(points: Floats) -> Floats:
    """Return principal axes, as columns in the order of their variance."""
    if points.shape[1] <= MAX_FEATURES:
        return Spectrum.of(points).axes
    _, _, rows = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return np.ascontiguousarray(rows.T)


def _powers(first: int, end: int) -> list[int]:
    """Return `first`, twice `first`, and so on, below `end`."""
    return [first << i for i in range(32) if first << i < end]


def _shares_below(coordinates: Floats, numbers: list[int], square: float) -> list[float]:
    """Return the share of pairs of rows that are near in the first coordinates, for each number.

    The lengths of the rests are left out, so that the shares are upper limits.
    """
    n = len(coordinates)
    squares = np.zeros((n, n))
    shares, begin = [], 0
    for end in numbers:
        part = coordinates[:, begin:end]
        lengths = np.square(part).sum(axis=1)
        squares += lengths[:, None] + lengths - 2 * part @ part.T
        n_near = int((squares <= square).sum()) - n
        shares.append(max(0, n_near) / max(1, n * (n - 1)))
        begin = end
    return shares


def _number_of_clusters(n_rows: int) -> int:
    if n_rows <= MAX_UNCLUSTERED:
        return 1
    return min(MAX_CLUSTERS, round(CLUSTERS_PER_ROOT * math.sqrt(n_rows)))


def _centres(values: NDArray[np.float32], n_clusters: int, seed: int, n_threads: int) -> Floats:
    """Return the means of groups of rows: the leaves of a bisecting tree."""
    points = values.astype(np.float64)
    if n_clusters == 1:
        return np.asarray(points.mean(axis=0, keepdims=True))
    size = max(1, len(points) // n_clusters)
    return np.asarray(np.unique(Groups.build(points, n_threads, seed, size=size).means, axis=0))


def _lists(centres: Floats, n_neighbours: int | None, n_threads: int) -> Lists | None:
    """Return the nearest clusters of each cluster, or None if they are all clusters.

    If a cluster is near another one, the other one is also near it.
    """
    k = len(centres)
    if n_neighbours is None or n_neighbours >= k - 1:
        return None
    near = np.arange(k)[:, None]
    if n_neighbours > 0:
        near = np.hstack([near, neighbour_lists(centres, n_neighbours, n_threads)])
    row, column = np.repeat(np.arange(k), near.shape[1]), near.ravel()
    row, column = row[column >= 0], column[column >= 0]
    graph: Any = sparse.csr_array((np.ones(len(row), dtype=np.int8), (row, column)), shape=(k, k))
    graph = (graph + graph.T).tocsr()
    graph.sort_indices()
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
