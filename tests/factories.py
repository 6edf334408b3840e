"""Problems and partitions for tests of single steps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.rows import RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.size_limits.limits import Limits

Floats = NDArray[np.float64]


def make_problem(
    rows: RowSet,
    n_clusters: int,
    weights: Floats | None = None,
    *,
    n_threads: int = 1,
    limits: Limits | None = None,
) -> Problem:
    """Return a problem whose weights are used as they are, without scaling."""
    n = rows.n_rows
    if weights is None:
        row_weights = RowWeights(None, 1.0, float(n), n)
    else:
        row_weights = RowWeights(weights, 1.0, float(weights.sum()), int(np.count_nonzero(weights)))
    return Problem(rows, row_weights, n_clusters, n_threads, limits)


def make_partition(
    labels: NDArray[Any],
    n_clusters: int,
    rows: RowSet,
    weights: Floats | None = None,
    n_threads: int = 1,
) -> Partition:
    """Return the partition with these labels."""
    return Partition.from_labels(labels, n_clusters, rows, weights, n_threads)[0]


def blank_partition(labels: NDArray[Any], n_clusters: int, n_features: int) -> Partition:
    """Return a partition whose sums are still 0, for tests of the functions that compute them."""
    return Partition(
        np.ascontiguousarray(labels, dtype=np.int32),
        np.zeros((n_clusters, n_features)),
        np.zeros(n_clusters),
        np.zeros(n_clusters, dtype=np.int64),
    )


def core_limits(n_clusters: int, least: float = 0.0, most: float = np.inf) -> dict[str, Any]:
    """Return the same limits for all clusters, as arguments of `_core.SweepOptions`."""
    return {"min_weights": np.full(n_clusters, least), "max_weights": np.full(n_clusters, most)}
