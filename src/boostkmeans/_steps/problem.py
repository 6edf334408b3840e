"""Problem: the input of a fit. A sample of a problem is again a problem."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._data.projection import Projection
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._steps.size_limits.limits import Limits


@dataclass(frozen=True)
class Problem:
    """Rows, their weights, the number of clusters, limits on sizes, and the threads to use."""

    rows: RowSet
    weights: RowWeights
    n_clusters: int
    n_threads: int
    limits: Limits | None = None
    n_pinned: int = 0
    """Number of leading rows that contribute to the sums but never move (see `pinned_rows.py`)."""
    projection: Projection | None = None
    """The rows in a few dimensions, from which sweeps derive lower bounds of distances."""

    @property
    def row_weights(self) -> Floats | None:
        """Weight of each row as the core reads it; None if all weights are equal."""
        return self.weights.values

    @property
    def rows_in_memory(self) -> Rows:
        """The rows, for steps that need all of them in memory."""
        assert isinstance(self.rows, Rows), "the plan must not ask for this step on streamed rows"
        return self.rows

    def with_count(self, n_clusters: int) -> "Problem":
        """Return the problem with another number of clusters. All limits on sizes must be equal."""
        limits = self.limits
        if limits is not None and n_clusters != self.n_clusters:
            limits = limits.for_count(n_clusters)
        return replace(self, n_clusters=n_clusters, limits=limits)

    def sample(self, n_drawn: int, rng: np.random.RandomState) -> "Problem":
        """Return a problem in memory with a random sample of the rows, evenly spread over the data."""
        if self.row_weights is None:
            some = stratified_indices(self.rows.n_rows, n_drawn, rng)
            weights = RowWeights.of(None, len(some))
        else:
            weighted = np.flatnonzero(self.row_weights > 0)
            some = weighted[stratified_indices(len(weighted), n_drawn, rng)]
            weights = RowWeights.of(self.row_weights[some], len(some))
        return Problem(self.rows.sample(some), weights, self.n_clusters, self.n_threads)


def stratified_indices(n: int, n_drawn: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Draw one index from each of `n_drawn` ranges of equal length that cover [0, n), ascending."""
    n_drawn = min(n, n_drawn)
    borders = np.linspace(0, n, n_drawn + 1).astype(np.int64)
    return borders[:-1] + (rng.random_sample(n_drawn) * np.diff(borders)).astype(np.int64)
