"""Projection: rows in a few principal components, in which the layout is computed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Floats
from boostkmeans.explore._measures.explored_rows import Batch, ExploredRows

# Number of principal components. On sentence embeddings of 512 dimensions, 200 components preserve as
# many neighbours as 100.
N_COMPONENTS = 100
# Rows with more features are first reduced to this number by a count sketch.
MAX_FEATURES = 1024

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class ProjectedSample:
    """Some rows in principal components, and the matrix that projects other rows."""

    rows: Indices
    """Numbers of the rows, ascending."""
    points: Floats
    matrix: Floats
    offset: Floats

    def project(self, rows: ExploredRows, batch: Batch) -> Floats:
        """Return the rows of a batch in the components."""
        return rows.multiplied(batch, self.matrix) - self.offset

    def project_centres(self, centres: Floats) -> Floats:
        """Return centres in the components."""
        return centres @ self.matrix - self.offset


def project_sample(rows: ExploredRows, chosen: Indices, seed: int) -> ProjectedSample:
    """Find the principal components of some rows."""
    sketch = _sketch(rows.n_features, seed)
    some = np.empty((len(chosen), rows.n_features if sketch is None else MAX_FEATURES))
    for batch in rows.batches():
        low, high = np.searchsorted(chosen, (batch.where.start, batch.where.stop))
        if low < high:
            part = Batch(batch.begin, batch.rows.sample(chosen[low:high] - batch.begin))
            some[low:high] = rows.multiplied(part, sketch)
    mean = some.mean(axis=0)
    some -= mean
    _, axes = np.linalg.eigh(some.T @ some)
    axes = np.ascontiguousarray(axes[:, ::-1][:, : min(N_COMPONENTS, axes.shape[1])])
    matrix = axes if sketch is None else np.ascontiguousarray(sketch @ axes)
    return ProjectedSample(chosen, some @ axes, matrix, mean @ axes)


def _sketch(n_features: int, seed: int) -> Any:
    """Return a matrix that adds each feature to, or subtracts it from, one of a few sums.

    Distances between sketches of rows are accurate to a few percent (Charikar et al. 2002).
    """
    if n_features <= MAX_FEATURES:
        return None
    rng = np.random.default_rng(seed)
    place, sign = rng.integers(MAX_FEATURES, size=n_features), rng.choice([-1.0, 1.0], size=n_features)
    return sparse.csr_array((sign, (np.arange(n_features), place)), shape=(n_features, MAX_FEATURES))
