"""Partition: the one representation of a clustering. Plain arrays, in the frame of the rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.rows import Floats, Part, Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._storage.state import SavedState, State

Labels = NDArray[np.int32]

# Composites with more values are copied only where there is no other way.
LARGE = 2**24
# Rows that are copied at a time.
WEIGHTLESS_AT_ONCE = 65_536
# Clusters that are compared at a time.
MERGED_AT_ONCE = 1024


@dataclass
class Partition:
    """Labels, and what follows from them: composites (sums of members), weights and counts."""

    labels: Labels
    composites: Floats
    weights: Floats
    counts: NDArray[np.int64]
    stale: bool = False
    """Whether the composites may not be those of the labels: another partition has taken them over."""
    _has_centres: bool = False
    """Whether the composites are centres by now: see `take_centres`."""

    @classmethod
    def of(cls, labels: NDArray[np.integer[Any]], n_clusters: int, n_features: int) -> "Partition":
        """A partition with these labels, the rest of which is yet to be recomputed."""
        return cls(
            labels=np.ascontiguousarray(labels, dtype=np.int32),
            composites=np.zeros((n_clusters, n_features)),
            weights=np.zeros(n_clusters),
            counts=np.zeros(n_clusters, dtype=np.int64),
        )

    def state(self) -> State:
        """All of it."""
        labels, composites, weights, counts = self.arrays
        return {
            "labels": labels, "composites": composites, "weights": weights, "counts": counts,
            "stale": self.stale,
        }  # fmt: skip

    @classmethod
    def restored(cls, saved: SavedState, n_rows: int, n_clusters: int, n_features: int) -> "Partition":
        """What `state` gave."""
        return cls(
            labels=saved.array("labels", np.int32, (n_rows,), 0, n_clusters - 1),
            composites=saved.array("composites", np.float64, (n_clusters, n_features)),
            weights=saved.array("weights", np.float64, (n_clusters,)),
            counts=saved.array("counts", np.int64, (n_clusters,), 0, n_rows),
            stale=saved.boolean("stale"),
        )

    @property
    def arrays(self) -> tuple[Labels, Floats, Floats, NDArray[np.int64]]:
        """As the core wants them."""
        return self.labels, self.composites, self.weights, self.counts

    def made_anew(self, rows: Rows, row_weights: Floats | None, n_threads: int) -> "Partition":
        """The same labels with sums of the rows."""
        new = Partition.of(self.labels, self.n_clusters, rows.n_features)
        new.recompute(rows, row_weights, n_threads)
        return new

    def of_part(self, part: Part) -> "Partition":
        """The same, with the labels of some rows: what moves there, moves here."""
        return replace(self, labels=self.labels[part.where])

    def copy(self) -> "Partition":
        """One that shares no memory with this one."""
        labels, composites, weights, counts = self.arrays
        return Partition(labels.copy(), composites.copy(), weights.copy(), counts.copy())

    @property
    def n_clusters(self) -> int:
        """How many clusters there are, empty ones included."""
        return len(self.weights)

    @property
    def centres(self) -> Floats:
        """Means of the clusters. An empty one has its composite, which is then a position."""
        return self.composites / np.where(self.weights > 0, self.weights, 1.0)[:, None]

    def take_centres(self) -> Floats:
        """The same in the memory of the composites, which are gone then: for the end of a fit."""
        if not self._has_centres:
            self.composites /= np.where(self.weights > 0, self.weights, 1.0)[:, None]
            self._has_centres = True
        return self.composites

    @property
    def squares(self) -> Floats:
        """|D|^2 / W of each cluster."""
        squares = np.einsum("ij,ij->i", self.composites, self.composites)
        divided: Floats = np.divide(
            squares, self.weights, out=np.zeros_like(squares), where=self.weights > 0
        )
        return divided

    @property
    def objective(self) -> float:
        """Sum of |D|^2 / W, the paper's I1*: what a fit raises as it lowers the inertia."""
        return float(self.squares.sum())

    @property
    def square_of_all(self) -> float:
        """|D|^2 / W of all rows as one cluster."""
        weighty = self.weights > 0
        whole = np.where(weighty, 1.0, 0.0) @ self.composites
        return float(whole @ whole) / float(self.weights.sum())

    def recompute(
        self,
        rows: Rows,
        row_weights: Floats | None,
        n_threads: int,
        *,
        inertias: Floats | None = None,
    ) -> tuple[float, float]:
        """Brings everything in line with the labels; returns (inertia, drift of the composites).

        `inertias` is filled with the inertia of each cluster.
        """
        if rows.n_parts == 1:
            return _core.recompute(rows.core, row_weights, *self.arrays, inertias, n_threads)
        found, each = self._sums_of_parts(rows, row_weights, n_threads)
        filled = found.counts > 0
        change = np.abs(found.composites[filled] - self.composites[filled]).max(initial=0.0)
        self.composites[filled] = found.composites[filled]  # that of an empty one is a position
        self.weights[:], self.counts[:] = found.weights, found.counts
        if inertias is not None:
            inertias[:] = each
        return float(each.sum()), float(change / np.abs(self.composites).max(initial=1e-300))

    def _sums_of_parts(
        self, rows: Rows, row_weights: Floats | None, n_threads: int
    ) -> tuple["Partition", Floats]:
        """Composites, weights and counts by the labels; and inertias, which no difference spoils.

        Inertias of two parts of a cluster add up to that of both, with what it costs to merge them
        (Chan et al. 1979).
        """
        k, d = self.composites.shape
        total, found = Partition.of(self.labels, k, d), Partition.of(self.labels, k, d)
        each, inertias = np.zeros(k), np.zeros(k)
        for part in rows.parts():
            weights = None if row_weights is None else row_weights[part.where]
            of_part = found.of_part(part)
            of_part.composites[:] = 0.0
            _core.recompute(part.rows.core, weights, *of_part.arrays, inertias, n_threads)
            each += inertias + _costs_of_merging(total, of_part)
            total.composites += of_part.composites
            total.weights += of_part.weights
            total.counts += of_part.counts
        return total, each


def _costs_of_merging(a: Partition, b: Partition) -> Floats:
    """By how much the inertia rises when each cluster of one is merged with that of the other."""
    costs = np.zeros(a.n_clusters)
    both = np.flatnonzero((a.weights > 0) & (b.weights > 0))
    own, other = a.weights[both], b.weights[both]
    for begin in range(0, len(both), MERGED_AT_ONCE):
        some = both[begin : begin + MERGED_AT_ONCE]
        gaps = a.composites[some] / a.weights[some, None] - b.composites[some] / b.weights[some, None]
        costs[some] = np.einsum("ij,ij->i", gaps, gaps)
    costs[both] *= own * other / (own + other)
    return costs


def nearest(
    rows: Rows, centres: Floats, n_threads: int, *, exclude: Labels | None = None
) -> tuple[Labels, Floats]:
    """Exact nearest centre of each row, and its squared distance in the frame.

    With `exclude` (a centre per row that does not count), the second nearest.
    """
    labels = np.empty(rows.n_rows, dtype=np.int32)
    distances = np.empty(rows.n_rows)
    _core.nearest(rows.core, centres, labels, distances, exclude, n_threads)
    return labels, distances


def assigned(
    rows: Rows, row_weights: RowWeights, centres: Floats, n_threads: int
) -> tuple[Labels, float]:
    """Exact nearest centre of each row, and the inertia in the frame, by the user's weights."""
    labels = np.empty(rows.n_rows, dtype=np.int32)
    total = 0.0
    for part in rows.parts():
        labels[part.where], distances = nearest(part.rows, centres, n_threads)
        total += row_weights.total_of(distances, part.where)
    return labels, total


def own_distances(rows: Rows, centres: Floats, labels: Labels, n_threads: int) -> tuple[Floats, Floats]:
    """Squared distance of each row to the centre that its label names, and |x|^2, in the frame."""
    distances, norms = np.empty(rows.n_rows), np.empty(rows.n_rows)
    _core.own_distances(rows.core, centres, labels, distances, norms, n_threads)
    return distances, norms


def put_weightless(
    labels: Labels, rows: Rows, row_weights: Floats, centres: Floats, n_threads: int
) -> None:
    """Puts rows without weight, which no sweep moves, to their nearest centre, in place."""
    empty = np.flatnonzero(row_weights <= 0)
    for part in rows.parts(rows.parts_with(empty)):
        weightless = np.flatnonzero(row_weights[part.where] <= 0)
        in_part = labels[part.where]
        for begin in range(0, len(weightless), WEIGHTLESS_AT_ONCE):
            some = weightless[begin : begin + WEIGHTLESS_AT_ONCE]
            in_part[some] = nearest(part.rows.sample(some), centres, n_threads)[0]
