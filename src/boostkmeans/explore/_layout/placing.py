"""Placing: places of all rows, around the landmarks of their clusters."""

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from boostkmeans import _core
from boostkmeans._data.frame import Floats, Frame
from boostkmeans._data.rows import Rows
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._steps.partition import Labels
from boostkmeans.explore._layout.landmarks import Landmarks, find_landmarks
from boostkmeans.explore._layout.local_maps import LocalMaps
from boostkmeans.explore._layout.projection import project_sample
from boostkmeans.explore._measures.explored_rows import ExploredRows

# Number of rows from which landmarks are computed.
SAMPLE_ROWS = 20_000
# Minimum number of rows per cluster in the sample, if the cluster has them.
MIN_SAMPLE_PER_CLUSTER = 4
# Range of the coordinates on the page.
MAX_COORDINATE = 65535

WHAT = "placing rows"


def place_rows(rows: ExploredRows, labels: Labels, seed: int, progress: ProgressCallback) -> Floats:
    """Return the place of each row. The result does not depend on the number of threads."""
    sizes = np.bincount(labels, minlength=len(rows.centres()))
    progress("arranging clusters", 0, None)
    places = np.empty((rows.n_rows, 2))
    with threadpool_limits(1):
        sample = project_sample(rows, sample_rows(labels, sizes, seed), seed)
        centres = sample.project_centres(rows.centres())
        few = labels[sample.rows]
        landmarks = find_landmarks(sample.points, few, sizes, centres, seed, rows.n_threads)
        own = nearest_landmarks(sample.points, few, landmarks, rows.n_threads)
        maps = LocalMaps.around(landmarks.points, landmarks.places, sample.points, own, rows.n_threads)
        progress(WHAT, 0, rows.n_rows)
        for batch in rows.batches():
            points = sample.project(rows, batch)
            own = nearest_landmarks(points, labels[batch.where], landmarks, rows.n_threads)
            places[batch.where] = maps.place(points, own)
            progress(WHAT, batch.where.stop, rows.n_rows)
    return places


def sample_rows(labels: Labels, sizes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return rows of all clusters, in proportion to their sizes, ascending."""
    n = len(labels)
    if n <= SAMPLE_ROWS:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(n)
    shuffled = shuffled[np.argsort(labels[shuffled], kind="stable")]  # cluster by cluster
    wanted = np.maximum(MIN_SAMPLE_PER_CLUSTER, np.ceil(SAMPLE_ROWS * sizes / n)).astype(np.int64)
    ranks = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(shuffled[ranks < np.repeat(wanted, sizes)])


def nearest_landmarks(points: Floats, labels: Labels, landmarks: Landmarks, n_threads: int) -> Labels:
    """Return the nearest landmark of each row among those of its cluster."""
    rows = Rows(np.ascontiguousarray(points), Frame(np.zeros(points.shape[1]), 0), None)
    k = len(landmarks.starts) - 1
    groups = _core.Groups(
        order=np.arange(len(landmarks.points), dtype=np.int32),
        starts=landmarks.starts.astype(np.int64),
        lists=np.arange(k, dtype=np.int32)[:, None].copy(),
    )
    found = np.empty(len(points), dtype=np.int32)
    own = np.ascontiguousarray(labels, dtype=np.int32).copy()
    _core.nearest_in_groups(rows.core, landmarks.points, own, groups, found, n_threads)
    return found


def to_square(places: Floats) -> Floats:
    """Return places as whole numbers in a square, with equal scales of both axes."""
    low, high = places.min(axis=0), places.max(axis=0)
    extent = float((high - low).max())
    if extent <= 0:
        return np.full(places.shape, MAX_COORDINATE // 2, dtype=np.float64)
    middle = low / 2 + high / 2
    scaled: Floats = np.rint(((places - middle) / extent + 0.5) * MAX_COORDINATE)
    return scaled.clip(0, MAX_COORDINATE)


def places_of_clusters(square: Floats, labels: Labels, n_clusters: int) -> Floats:
    """Return the median place of the rows of each cluster. An empty cluster is in the middle."""
    sizes = np.bincount(labels, minlength=n_clusters)
    middle = np.minimum(np.cumsum(sizes) - sizes + sizes // 2, len(labels) - 1)
    found = np.empty((n_clusters, 2))
    for axis in range(2):
        order = np.lexsort((square[:, axis], labels))
        found[:, axis] = square[order[middle], axis]
    found[sizes == 0] = MAX_COORDINATE // 2
    return found
