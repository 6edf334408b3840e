"""Landmarks: points that represent the parts of each cluster, and their places."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from boostkmeans._data.frame import Floats
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._steps.neighbours import Groups
from boostkmeans._steps.partition import Labels
from boostkmeans.explore._layout.arrangement import arrange
from boostkmeans.explore._layout.local_maps import LocalMaps

# Number of landmarks of all clusters together. t-SNE of them takes about ten seconds.
N_LANDMARKS = 2000
# More centres than this are arranged in groups, and placed around the means of their groups.
MAX_ARRANGED = 4000
# Share of the way from a landmark to its centre by which it is moved before the arrangement. This
# keeps the landmarks of a cluster together.
PULL = 0.1
# Radius of an enlarged cluster, relative to the distance between its middle and the nearest other one.
FILLED = 0.45
# Largest factor by which a cluster is enlarged.
MAX_ENLARGEMENT = 4.0

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Landmarks:
    """Landmarks of all clusters, cluster by cluster."""

    points: Floats
    starts: Ints
    """First landmark of each cluster, followed by the number of landmarks."""
    places: Floats

    @property
    def clusters(self) -> Ints:
        """Cluster of each landmark."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def find_landmarks(
    sample: Floats, labels: Labels, sizes: Ints, centres: Floats, seed: int, n_threads: int
) -> Landmarks:
    """Divide each cluster into parts of a few rows, and arrange the means of all parts.

    `sample` are rows with these labels, and `sizes` are the numbers of all rows of each cluster. A
    cluster without rows in the sample is represented by its centre.
    """
    k = len(centres)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=k))
    quotas = _quotas(sizes)
    parts = []
    for cluster in range(k):
        members = sample[order[(ends[cluster - 1] if cluster else 0) : ends[cluster]]]
        if quotas[cluster] <= 1 or len(members) <= 1:
            parts.append(centres[cluster : cluster + 1])
        else:
            parts.append(_means_of_parts(members, int(quotas[cluster]), seed, n_threads))
    points = np.ascontiguousarray(np.concatenate(parts))
    starts = np.cumsum([0, *map(len, parts)])
    own = np.repeat(np.arange(k), np.diff(starts))
    pulled = points + PULL * (centres[own] - points)
    places = _places(pulled, seed, n_threads)
    return Landmarks(points, starts, enlarge_clusters(places, own, k))


def enlarge_clusters(places: Floats, own: Ints, n_clusters: int) -> Floats:
    """Enlarge each cluster around its middle until it fills the space between its neighbours.

    t-SNE leaves wide gaps between clusters whose landmarks have only each other as neighbours.
    """
    middles = np.array([np.median(places[own == cluster], axis=0) for cluster in range(n_clusters)])
    if n_clusters < 2:
        return places
    gaps = cKDTree(middles).query(middles, k=2)[0][:, 1]
    offsets = places - middles[own]
    lengths = np.linalg.norm(offsets, axis=1)
    radii = np.zeros(n_clusters)
    np.maximum.at(radii, own, lengths)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(radii > 0, FILLED * gaps / radii, 1.0)
    enlarged: Floats = middles[own] + offsets * np.clip(factors, 1.0, MAX_ENLARGEMENT)[own, None]
    return enlarged


def _quotas(sizes: Ints) -> Ints:
    """Return the number of landmarks of each cluster: in proportion to its size, and at least one."""
    n = int(sizes.sum())
    if len(sizes) >= N_LANDMARKS:
        return np.ones(len(sizes), dtype=np.int64)
    if n <= N_LANDMARKS:
        return sizes.astype(np.int64)
    return np.maximum(1, np.round(N_LANDMARKS * sizes / n)).astype(np.int64)


def _means_of_parts(members: Floats, n_parts: int, seed: int, n_threads: int) -> Floats:
    distinct = np.unique(members, axis=0)
    if len(distinct) <= n_parts:
        return distinct
    model = BisectingBoostKMeans(n_parts, random_state=seed, n_threads=n_threads).fit(members)
    return np.asarray(model.cluster_centers_)


def _places(points: Floats, seed: int, n_threads: int) -> Floats:
    if len(points) <= MAX_ARRANGED:
        return arrange(points, seed)
    groups = Groups.build(points, n_threads, seed, size=-(-len(points) // N_LANDMARKS))
    own = np.empty(len(points), dtype=np.int32)
    own[groups.order] = np.repeat(np.arange(len(groups.means)), np.diff(groups.starts))
    maps = LocalMaps.around(groups.means, _places(groups.means, seed, n_threads), points, own, n_threads)
    return maps.place(points, own)
