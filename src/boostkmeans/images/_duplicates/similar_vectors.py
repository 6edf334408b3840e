"""Similar vectors of images: those with a high cosine."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.rows import Rows
from boostkmeans._pairs.limits import PairLimit
from boostkmeans._pairs.links import Indices
from boostkmeans._pairs.search import SearchOptions, find_near_rows
from boostkmeans._runtime.progress import ProgressCallback

Floats = NDArray[np.float32]

# Seed of the search. It affects only the time.
SEED = 0


class SimilarVectors(NamedTuple):
    """Vectors that are similar to another vector."""

    rows: Indices
    """Their numbers."""
    first: Indices
    """First vector of the group of each of them."""
    similarities: NDArray[np.float64]
    """Cosine with the most similar vector, for each of them."""


def similar_vectors(
    vectors: Floats, threshold: float, n_threads: int, progress: ProgressCallback
) -> SimilarVectors:
    """Return all vectors whose cosine with another vector is at least the threshold.

    Vectors of zeros are similar to no other vector: images without keypoints have them.
    """
    used = np.flatnonzero(np.abs(vectors).max(axis=1, initial=0) > 0)
    if len(used) == 0:
        nothing = np.empty(0, dtype=np.int64)
        return SimilarVectors(nothing, nothing, np.empty(0))
    limit = PairLimit("cosine", threshold)
    rows = Rows.in_own_frame(np.ascontiguousarray(vectors[used]), limit.metric, n_threads)
    found = find_near_rows(rows, limit, SearchOptions(None, SEED, n_threads, progress))
    similar = np.flatnonzero(found.degrees > 0)
    similarities = limit.similarities(found.nearest[similar], rows.frame)
    return SimilarVectors(used[similar], used[found.components[similar]], similarities)
