"""`fit_levels`: clusters of rows, clusters of their centres, and so on, with resampling."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import METRICS, Floats
from boostkmeans._data.row_source import RowSource
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import any_of, check_generator, choice, integer
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress

Labels = NDArray[np.int32]

OWNER = "fit_levels"
# Share of the average number of rows per cluster that a resampling draws from each cluster. Large
# clusters are then as large as average ones. It draws at least MIN_RESAMPLED rows.
RESAMPLED_SHARE = 0.5
MIN_RESAMPLED = 2


@dataclass(frozen=True, repr=False)
class ClusterLevels:
    """Clusters of rows at several levels, from the finest to the coarsest.

    Each cluster of a level is part of one cluster of the next level.
    """

    labels: list[Labels]
    """Cluster of each row, for each level."""
    centers: list[Floats]
    """Centres of the clusters of each level. Those of a level are clustered to form the next one."""
    metric: str
    """Metric of the finest level."""

    @property
    def n_clusters(self) -> list[int]:
        """Number of clusters of each level."""
        return [len(one) for one in self.centers]

    def __repr__(self) -> str:
        return f"ClusterLevels({len(self.labels[0]):,} rows, n_clusters={self.n_clusters})"


def fit_levels(
    X: Any,
    levels: Sequence[int],
    *,
    n_resample: int = 0,
    rows_per_cluster: int | None = None,
    metric: str = "euclidean",
    quality: str = "fast",
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> ClusterLevels:
    """Cluster rows, then the centres of the clusters, and so on.

    This is the hierarchical k-means of Vo et al. (2024). k-means has more centres where rows are dense.
    A resampling draws the same number of rows from each cluster and clusters them again, so that the
    centres become more uniform over the space that the rows cover.

    Parameters
    ----------
    X : array-like, sparse matrix or Vectors
        Rows.
    levels : sequence of int
        Numbers of clusters of the levels, e.g. ``[10000, 1000, 100]``. They are sorted in descending
        order.
    n_resample : int, default=0
        Number of resamplings at each level. The paper uses 10.
    rows_per_cluster : int, default=None
        Largest number of rows that a resampling draws from each cluster. By default, it is half of the
        average size of the clusters of the level.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Metric of the finest level.
    quality : {"fast", "balanced", "best"}, default="fast"
        As in `BoostKMeans`.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. An int gives the same result every time, for any number of threads.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process.
    progress : callable, default=None
        Function called as ``progress(what, done, total)``.

    Returns
    -------
    ClusterLevels
        The clusters of all levels, for `sample` and `coverage`.

    References
    ----------
    H. V. Vo et al., "Automatic Data Curation for Self-Supervised Learning: A Clustering-Based Approach",
    Transactions on Machine Learning Research, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.curate import fit_levels
    >>> X = np.random.default_rng(0).normal(size=(1000, 8))
    >>> fit_levels(X, [50, 5], n_resample=2, random_state=0)
    ClusterLevels(1,000 rows, n_clusters=[50, 5])
    """
    numbers = _checked_levels(levels)
    for name, allowed, value in (
        ("n_resample", integer(0), n_resample),
        ("rows_per_cluster", any_of(None, integer(1)), rows_per_cluster),
        ("metric", choice(METRICS), metric),
    ):
        if not allowed.accepts(value):
            raise ParameterError(name, allowed.expected, value, owner=OWNER)
    fit = LevelFit(
        {"quality": quality, "n_threads": n_threads},
        n_resample,
        rows_per_cluster,
        check_generator(random_state, OWNER),
        progress or ignore_progress,
        n_fits=len(numbers) * (1 + n_resample),
    )
    labels: list[Labels] = []
    centres: list[Floats] = []
    points = X
    for level, k in enumerate(numbers):
        own, points = fit.cluster(points, k, metric if level == 0 else "euclidean")
        labels.append(own if level == 0 else own[labels[-1]])
        centres.append(points)
    return ClusterLevels(labels, centres, metric)


class LevelFit:
    """Fits of one level after the other, with the same settings."""

    def __init__(
        self,
        settings: dict[str, Any],
        n_resample: int,
        rows_per_cluster: int | None,
        rng: np.random.RandomState,
        progress: ProgressCallback,
        *,
        n_fits: int,
    ) -> None:
        self._settings = settings
        self._n_resample = n_resample
        self._rows_per_cluster = rows_per_cluster
        self._rng = rng
        self._progress = progress
        self._n_fits, self._n_done = n_fits, 0

    def cluster(self, points: Any, k: int, metric: str) -> tuple[Labels, Floats]:
        """Return the label of each point, and the centres. Each cluster has a point."""
        model = self._fit(points, k, metric)
        labels: Labels = model.labels_
        for _ in range(self._n_resample):
            rows = resampled(labels, k, self._rows_per_cluster, self._rng)
            model = self._fit(_gather(points, rows), k, metric)
            labels = model.predict(points)
        used, numbers = np.unique(labels, return_inverse=True)  # a resampling may leave clusters empty
        return numbers.ravel().astype(np.int32), model.cluster_centers_[used]

    def _fit(self, points: Any, k: int, metric: str) -> BoostKMeans:
        self._progress("clustering", self._n_done, self._n_fits)
        self._n_done += 1
        n_points = points.shape[0] if hasattr(points, "shape") else len(points)
        seed = int(self._rng.randint(2**31 - 1))
        model = BoostKMeans(min(k, n_points), metric=metric, random_state=seed, **self._settings)
        return model.fit(points)


def _checked_levels(levels: Any) -> list[int]:
    numbers = np.asarray(levels)
    if numbers.ndim != 1 or len(numbers) == 0 or numbers.dtype.kind not in "iu" or numbers.min() < 1:
        raise ParameterError("levels", "a sequence of ints of at least 1", levels, owner=OWNER)
    found: list[int] = sorted({int(one) for one in numbers}, reverse=True)
    return found


def resampled(
    labels: Labels, k: int, rows_per_cluster: int | None, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw the same number of rows from each cluster, or all rows of a smaller one, in order."""
    wanted = rows_per_cluster
    if wanted is None:
        wanted = max(MIN_RESAMPLED, round(RESAMPLED_SHARE * len(labels) / k))
    mixed = rng.permutation(len(labels))
    order = mixed[np.argsort(labels[mixed], kind="stable")]
    sizes = np.bincount(labels, minlength=k)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    place = np.arange(len(labels)) - np.repeat(starts, sizes)
    return np.sort(order[place < wanted])


def _gather(points: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array, a sparse matrix, a data frame or a file."""
    if isinstance(points, RowSource):
        return points[rows]  # type: ignore[index]  # every source of the package has it
    if hasattr(points, "iloc"):
        return points.iloc[rows]
    return points[rows] if hasattr(points, "shape") else np.asarray(points)[rows]
