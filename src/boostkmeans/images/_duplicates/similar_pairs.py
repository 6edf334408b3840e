"""Pairs of similar vectors: all pairs of few vectors, and pairs in neighbouring clusters of many."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._runtime.progress import ProgressCallback

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]
Pairs = tuple[Indices, Indices, Floats]
"""First vectors, second vectors, and their cosines."""

# Up to this number, all vectors are compared with each other, which takes about a second.
MAX_EXACT = 8192
# Average number of vectors per cluster if there are more.
VECTORS_PER_CLUSTER = 128
# Vectors are compared with those of their cluster and of this number of nearest clusters.
NEIGHBOURS = 16
# Number of vectors of a block. Two blocks have 4 million cosines.
BLOCK = 2048
# Rounding error of a cosine of float32 vectors.
ROUNDING = 1e-6


def similar_pairs(
    vectors: Floats, threshold: float, n_threads: int, seed: int, progress: ProgressCallback
) -> Iterator[Pairs]:
    """Yield pairs of vectors whose cosine is at least the threshold. Rows of zeros are in no pair.

    The cosine of every pair that is compared is exact. Up to 8,192 different vectors, all pairs are
    compared. Otherwise the vectors are clustered, and those of neighbouring clusters are compared.
    """
    rows = np.flatnonzero(np.abs(vectors).max(axis=1, initial=0) > 0)
    units = vectors[rows] / np.linalg.norm(vectors[rows], axis=1, keepdims=True)
    first, inverse = _different(units)
    others = np.flatnonzero(first[inverse] != np.arange(len(units)))
    if len(others):  # equal vectors are linked to the first of them, and compared only once
        yield rows[first[inverse[others]]], rows[others], np.ones(len(others), dtype=np.float32)
    units, rows = units[first], rows[first]
    if len(units) <= MAX_EXACT:
        clusters = [np.arange(len(units))]
        neighbours = [np.array([0])]
    else:
        clusters, neighbours = _clusters(units, n_threads, seed, progress)
    with threadpool_limits(n_threads, "blas"):
        for number, places in enumerate(neighbours):
            progress("comparing vectors", number, len(neighbours))
            for other in places[places >= number]:
                for a, b, cosines in _block_pairs(
                    units, clusters[number], clusters[other], threshold - ROUNDING
                ):
                    yield rows[a], rows[b], np.minimum(cosines, 1)


def _different(units: Floats) -> tuple[Indices, Indices]:
    """Return the first place of each different vector, and the number of its value for each vector."""
    keys = np.ascontiguousarray(units).view(f"V{units.shape[1] * units.itemsize}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse.ravel()


def _clusters(
    units: Floats, n_threads: int, seed: int, progress: ProgressCallback
) -> tuple[list[Indices], list[Indices]]:
    """Return the vectors of each cluster, and the clusters near each cluster, including itself.

    If a cluster is near another one, the other one is also near it.
    """
    progress("clustering vectors", 0, None)
    k = math.ceil(len(units) / VECTORS_PER_CLUSTER)
    model = BisectingBoostKMeans(k, random_state=seed, n_threads=n_threads).fit(units)
    members = np.split(np.argsort(model.labels_, kind="stable"), np.cumsum(model.cluster_sizes_)[:-1])
    centres = model.cluster_centers_.astype(np.float32)
    squares = np.square(centres).sum(axis=1)
    near: list[set[int]] = [{number} for number in range(k)]
    n_near = min(NEIGHBOURS + 1, k)
    for begin in range(0, k, BLOCK):
        distances = squares - 2 * centres[begin : begin + BLOCK] @ centres.T
        found = np.argpartition(distances, n_near - 1, axis=1)[:, :n_near]
        for number, others in enumerate(found.tolist(), start=begin):
            for other in others:
                near[number].add(other)
                near[other].add(number)
    return members, [np.array(sorted(one)) for one in near]


def _block_pairs(units: Floats, first: Indices, second: Indices, threshold: float) -> Iterator[Pairs]:
    """Yield similar pairs of two clusters, or of one cluster, block by block."""
    is_same = first is second
    for begin in range(0, len(first), BLOCK):
        a = first[begin : begin + BLOCK]
        for start in range(begin if is_same else 0, len(second), BLOCK):
            b = second[start : start + BLOCK]
            cosines = units[a] @ units[b].T
            left, right = np.nonzero(cosines >= threshold)
            if is_same and start == begin:  # each pair once, and no vector with itself
                once = left < right
                left, right = left[once], right[once]
            if len(left):
                yield a[left], b[right], cosines[left, right]
