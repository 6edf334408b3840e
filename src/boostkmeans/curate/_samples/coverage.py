"""`coverage`: how well chosen rows cover the clusters and the space of all rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import nearest
from boostkmeans.curate._row_sets import open_rows
from boostkmeans.curate._samples.clustered_rows import ClusteredRows, clustered_rows, is_estimator
from boostkmeans.curate._samples.levels import ClusterLevels

OWNER = "coverage"
# Largest number of rows whose distances to the nearest chosen row are computed.
MAX_DISTANCES = 10_000
# Seed of the choice of these rows.
SEED = 0


@dataclass(frozen=True)
class ClusterSpread:
    """How rows are distributed over clusters."""

    n_rows: int
    """Number of rows."""
    n_clusters: int
    """Number of clusters that contain a row."""
    entropy: float
    """Entropy of the shares of the clusters, in bits."""
    effective_clusters: float
    """2 to the power of the entropy: the number of equally large clusters with the same entropy."""
    largest_share: float
    """Share of the rows that are in the largest cluster."""

    @classmethod
    def of(cls, labels: NDArray[Any]) -> "ClusterSpread":
        """Measure labels.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
            Cluster of each row.

        Returns
        -------
        spread : ClusterSpread
            The measures.
        """
        sizes = np.bincount(labels) if len(labels) else np.zeros(1, dtype=np.int64)
        shares = sizes[sizes > 0] / max(1, len(labels))
        entropy = float(-(shares * np.log2(shares)).sum()) + 0.0  # without a negative zero
        largest = float(shares.max(initial=0.0))
        return cls(len(labels), len(shares), entropy, 2**entropy if len(labels) else 0.0, largest)


@dataclass(frozen=True)
class Coverage:
    """How well chosen rows cover all rows."""

    before: ClusterSpread
    """All rows."""
    after: ClusterSpread
    """The chosen rows."""
    mean_distance: float | None
    """Mean distance of a row to the nearest chosen row; None without rows."""
    max_distance: float | None
    """Largest of these distances."""

    @property
    def covered_share(self) -> float:
        """Share of the clusters that contain a chosen row."""
        return self.after.n_clusters / self.before.n_clusters


def coverage(
    model: Any,
    rows: ArrayLike,
    *,
    X: Any = None,
    metric: str | None = None,
    n_threads: int | None = None,
) -> Coverage:
    """Measure how well chosen rows cover the clusters of a model.

    Parameters
    ----------
    model : fitted estimator, ClusterLevels or array of labels
        Clusters of all rows, as in `sample`. Labels may also be classes of any type, e.g. texts.
    rows : array-like of int
        Numbers of the chosen rows, such as the result of `sample` or of `deduplicate(...).keep`.
    X : array-like, sparse matrix or Vectors, default=None
        All rows. If given, the distances of rows to the nearest chosen row are measured, for at most
        10,000 rows that are drawn at random.
    metric : {"euclidean", "cosine"}, default=None
        Metric of these distances. "cosine" scales each row to unit length first. By default, it is the
        metric of the model.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process.

    Returns
    -------
    Coverage
        The clusters, their entropy and the largest share before and after the choice.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.curate import coverage
    >>> labels = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    >>> found = coverage(labels, [0, 6])
    >>> found.after.n_clusters, found.before.largest_share, found.after.largest_share
    (2, 0.75, 0.5)
    """
    known = _known_clusters(model, X)
    chosen = _checked_rows(rows, known.n_rows)
    distances = None
    if X is not None:
        distances = _distances(X, chosen, metric or known.metric, resolve_threads(n_threads))
    return Coverage(
        ClusterSpread.of(known.labels),
        ClusterSpread.of(known.labels[chosen]),
        None if distances is None else float(distances.mean()),
        None if distances is None else float(distances.max()),
    )


def _known_clusters(model: Any, X: Any) -> ClusteredRows:
    """Return the clusters of all rows at the finest level. Labels of any type are numbered."""
    if is_estimator(model):
        return clustered_rows(model, X, [], 0, OWNER)
    if not isinstance(model, ClusterLevels):
        found = np.asarray(model)
        if found.ndim == 1 and len(found):
            model = np.unique(found, return_inverse=True)[1]
    return clustered_rows(model, X, None, 0, OWNER)


def _checked_rows(rows: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    found = np.asarray(rows)
    is_valid = found.ndim == 1 and len(found) > 0 and found.dtype.kind in "iu"
    if not is_valid or found.min() < 0 or found.max() >= n_rows:
        expected = f"row numbers in the range [0, {n_rows - 1}]"
        raise ParameterError("rows", expected, rows, owner=OWNER)
    return np.unique(found).astype(np.int64)


def _distances(X: Any, chosen: NDArray[np.int64], metric: str, n_threads: int) -> NDArray[np.float64]:
    """Return the distances of some rows to the nearest chosen row."""
    rows = open_rows(X, metric, n_threads, task="Measuring distances of")
    rng = np.random.default_rng(SEED)
    some = np.sort(rng.choice(rows.n_rows, min(MAX_DISTANCES, rows.n_rows), replace=False))
    _, squares = nearest(rows.sample(some), rows.take(chosen), n_threads)
    # The square root comes first: the square may be beyond float64 in the unit of the user.
    with np.errstate(over="ignore"):  # Distances beyond float64 are infinite.
        return np.asarray(np.ldexp(np.sqrt(squares), -rows.frame.exponent))
