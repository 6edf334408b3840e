"""Fits at the paper's size that take less time, because lower bounds exclude most clusters.

The bounds are those of the leading principal components of the rows (see "Projected fits" in
docs/mathematics.md). They never change what is compared, only how much of it is computed:

- k-means has the same labels and centres after each iteration.
- Algorithm 1 decides about the same moves by the same float64 costs. Proposals are computed in float32,
  with and without bounds, but in a different order of additions. In rare ties, the proposals differ, and
  so do the curves, by much less than those of two seeds.

The components come from a random generator of their own, so the fit draws the same random numbers. Only
runs whose seconds do not count use bounds.
"""

from dataclasses import replace
from typing import Any, Self

from experiment import N_THREADS

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

from boostkmeans import BoostKMeans
from boostkmeans._data.frame import Floats
from boostkmeans._data.projection import Projection, Spectrum, spectrum_rows
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._steps.partition import Labels
from boostkmeans._steps.problem import Problem, stratified_indices
from boostkmeans.baselines import KMeans
from boostkmeans.baselines._baseline import FitData
from boostkmeans.baselines._lloyd import Lloyd

# Bounds take longer than they save below these numbers of clusters and of features.
MIN_CLUSTERS = 512
MIN_FEATURES = 64
# The components that hold this share of the variance, rounded up to a multiple of `AXES_UNIT`.
VARIANCE_SHARE = 0.85
AXES_UNIT = 16
# Bounds take longer than they save if more than this share of the dimensions is needed, as for VLAD
# vectors. SIFT descriptors need 48 of 128 dimensions.
MAX_AXES_SHARE = 0.4
# Seed of the sample from which the components are computed.
SEED = 0


def spectrum_of(rows: Rows) -> Spectrum:
    """Return the principal components of a sample of the rows."""
    rng = np.random.RandomState(SEED)
    return Spectrum.of(rows.take(stratified_indices(rows.n_rows, spectrum_rows(rows.n_features), rng)))


def components_for(spectrum: Spectrum) -> int:
    """Return the number of components whose bounds save time, or 0."""
    number = -(-spectrum.components_for(VARIANCE_SHARE) // AXES_UNIT) * AXES_UNIT
    return number if number <= MAX_AXES_SHARE * len(spectrum.shares) else 0


def projection_of(rows: RowSet, k: int, n_threads: int) -> Projection | None:
    """Return the projection of the rows whose bounds a fit uses, or None if bounds do not pay."""
    if k < MIN_CLUSTERS or rows.n_features < MIN_FEATURES or rows.stays_sparse:
        return None
    if not isinstance(rows, Rows):
        return None
    spectrum = spectrum_of(rows)
    number = components_for(spectrum)
    return Projection.of(rows, spectrum, number, n_threads) if number else None


def number_of_components(X: Any, k: int) -> int:
    """Return the number of components whose bounds a fit of these rows uses, or 0."""
    if k < MIN_CLUSTERS or X.shape[1] < MIN_FEATURES:
        return 0
    return components_for(spectrum_of(Rows.in_own_frame(X, "euclidean", N_THREADS)))


class BoundedBoostKMeans(BoostKMeans):
    """`BoostKMeans` with bounds from its start. It continues from checkpoints of `BoostKMeans`."""

    @property
    def _checkpoint_name(self) -> str:
        return "BoostKMeans"

    def _problem(self, rows: RowSet, weights: RowWeights, n_clusters: int, n_threads: int) -> Problem:
        problem = super()._problem(rows, weights, n_clusters, n_threads)
        return replace(problem, projection=projection_of(rows, n_clusters, n_threads))


class BoundedKMeans(KMeans):
    """`KMeans` with bounds."""

    _guesses: Labels | None = None

    def fit_from(self, X: Any, guesses: Labels | None) -> Self:
        """Cluster the rows of X. Guesses of the first labels save time."""
        self._guesses = guesses
        try:
            return self.fit(X)
        finally:
            self._guesses = None

    def _first_state(self, data: FitData, centres: Floats) -> Lloyd:
        projection = projection_of(data.rows, self.n_clusters, data.n_threads)
        return Lloyd(data, centres, projection, self._guesses)
