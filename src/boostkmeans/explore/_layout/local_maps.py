"""Local maps: linear maps from the surroundings of a point to the surroundings of its place."""

from dataclasses import dataclass

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._steps.neighbours import neighbour_lists
from boostkmeans._steps.partition import Labels

# Number of neighbours from which the map of a point is computed.
N_NEIGHBOURS = 10
# Ridge penalty, relative to the mean squared distance to the neighbours.
PENALTY = 0.1
# Radius of the rows around a point, relative to the distance between the places of neighbours.
RADIUS = 0.3
# Number of nearest places from which this distance is computed, as their median.
NEAREST_PLACES = 3
# Share of the rows of a point that lie within the radius. Farther rows are moved towards it.
WITHIN, MAX_RADIUS = 0.9, 1.3
# A point with fewer sample rows uses the typical scale of all points.
MIN_ROWS_FOR_SCALE = 3
# Rows that are placed at a time: their maps are copied.
ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class LocalMaps:
    """One linear map per point, from differences of rows and the point to offsets in the plane."""

    points: Floats
    places: Floats
    maps: Floats
    """Shape (n_points, n_features, 2)."""
    radii: Floats
    """Largest offset of each point."""

    @classmethod
    def around(
        cls, points: Floats, places: Floats, sample: Floats, own: Labels, n_threads: int
    ) -> "LocalMaps":
        """Fit the maps to the neighbours of each point, and their scales to sample rows.

        `own` has the point of each sample row.
        """
        n, d = points.shape
        m = min(N_NEIGHBOURS, n - 1)
        maps, radii = np.zeros((n, d, 2)), np.zeros(n)
        if m > 0:
            lists = neighbour_lists(np.ascontiguousarray(points), m, n_threads)
            for i, near in enumerate(lists):
                near = near[near >= 0]
                ways, offsets = points[near] - points[i], places[near] - places[i]
                maps[i] = _ridge(ways, offsets)
                lengths = np.sort(np.linalg.norm(offsets, axis=1))[:NEAREST_PLACES]
                radii[i] = RADIUS * np.median(lengths)
        found = cls(points, places, maps, radii)
        return cls(points, places, maps * found._scales(sample, own)[:, None, None], radii)

    def place(self, rows: Floats, own: Labels) -> Floats:
        """Return the places of rows around their points."""
        offsets = self._offsets(rows, own)
        lengths = np.linalg.norm(offsets, axis=1)
        limits = MAX_RADIUS * self.radii[own]
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(lengths > limits, limits / lengths, 1.0)
        return self.places[own] + offsets * factors[:, None]

    def _offsets(self, rows: Floats, own: Labels) -> Floats:
        found = np.empty((len(rows), 2))
        for begin in range(0, len(rows), ROWS_AT_ONCE):
            some = slice(begin, begin + ROWS_AT_ONCE)
            ways = rows[some] - self.points[own[some]]
            found[some] = np.einsum("nd,nde->ne", ways, self.maps[own[some]])
        return found

    def _scales(self, sample: Floats, own: Labels) -> Floats:
        """Return factors by which most rows of a point lie within its radius."""
        lengths = np.linalg.norm(self._offsets(sample, own), axis=1)
        order = np.lexsort((lengths, own))
        counts = np.bincount(own, minlength=len(self.points))
        ends = np.cumsum(counts)
        at = np.clip(ends - counts + (WITHIN * counts).astype(np.int64), 0, len(order) - 1)
        reach = lengths[order][np.minimum(at, np.maximum(ends - 1, 0))]
        known = (counts >= MIN_ROWS_FOR_SCALE) & (reach > 0)
        scales = np.where(known, self.radii / np.where(known, reach, 1.0), 0.0)
        typical = float(np.median(scales[known])) if known.any() else 1.0
        return np.where(known, scales, typical)


def _ridge(ways: Floats, offsets: Floats) -> Floats:
    """Return the matrix that maps the ways to the offsets best, with a penalty on large entries."""
    products = ways @ ways.T
    penalty = PENALTY * np.trace(products) / len(ways)
    if penalty <= 0:
        return np.zeros((ways.shape[1], 2))
    return np.asarray(ways.T @ np.linalg.solve(products + penalty * np.eye(len(ways)), offsets))
