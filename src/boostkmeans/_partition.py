"""Partition: the one representation of a clustering. Plain arrays, in the frame of the rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._rows import Floats, Rows

Labels = NDArray[np.int32]

# Composites with more values are copied only where there is no other way.
LARGE = 2**24
# Rows that are copied at a time.
WEIGHTLESS_AT_ONCE = 65_536


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

    @property
    def arrays(self) -> tuple[Labels, Floats, Floats, NDArray[np.int64]]:
        """As the core wants them."""
        return self.labels, self.composites, self.weights, self.counts

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
    def objective(self) -> float:
        """Sum of |D|^2 / W, the paper's I1*: what a fit raises as it lowers the inertia."""
        squares = np.einsum("ij,ij->i", self.composites, self.composites)
        return float(
            np.divide(squares, self.weights, out=np.zeros_like(squares), where=self.weights > 0).sum()
        )

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
        return _core.recompute(
            rows.core,
            row_weights,
            *self.arrays,
            inertias,
            n_threads,
        )


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


def own_distances(rows: Rows, centres: Floats, labels: Labels, n_threads: int) -> tuple[Floats, Floats]:
    """Squared distance of each row to the centre that its label names, and |x|^2, in the frame."""
    distances, norms = np.empty(rows.n_rows), np.empty(rows.n_rows)
    _core.own_distances(rows.core, centres, labels, distances, norms, n_threads)
    return distances, norms


def put_weightless(
    labels: Labels, rows: Rows, row_weights: Floats, centres: Floats, n_threads: int
) -> None:
    """Puts rows without weight, which no sweep moves, to their nearest centre, in place."""
    weightless = np.flatnonzero(row_weights <= 0)
    for begin in range(0, len(weightless), WEIGHTLESS_AT_ONCE):
        some = weightless[begin : begin + WEIGHTLESS_AT_ONCE]
        labels[some] = nearest(rows.sample(some), centres, n_threads)[0]
