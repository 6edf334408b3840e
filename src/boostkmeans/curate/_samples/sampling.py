"""`sample`: rows that represent the clusters of a model."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._runtime.parameter_checks import check_generator, choice
from boostkmeans.curate._samples.allocation import allocate
from boostkmeans.curate._samples.choice_in_clusters import central_rows, diverse_rows, random_rows
from boostkmeans.curate._samples.clustered_rows import ClusteredRows, clustered_rows

OWNER = "sample"
METHODS = ("hierarchical", "uniform", "central", "diverse")
# Methods that need the rows themselves.
NEED_ROWS = ("central", "diverse")


def sample(
    model: Any,
    n: int,
    *,
    method: str = "hierarchical",
    X: Any = None,
    levels: Sequence[int] | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
) -> NDArray[np.int64]:
    """Choose rows that represent the clusters of a model.

    All methods except "uniform" divide the sample evenly between clusters. A cluster with fewer rows
    than its share contributes all of them, and the others share the rest.

    Parameters
    ----------
    model : fitted estimator, ClusterLevels or array of labels
        Clusters of the rows: a `BoostKMeans` or `BisectingBoostKMeans`, the result of `fit_levels`, or
        the label of each row.
    n : int
        Number of rows of the sample, at most the number of rows.
    method : {"hierarchical", "uniform", "central", "diverse"}, default="hierarchical"
        "hierarchical" divides the sample evenly between the clusters of the coarsest level, then between
        the clusters of the next level in each of them, and so on (Vo et al. 2024), and draws rows at
        random in each of the finest clusters. "central" chooses those nearest to the centre instead, and
        "diverse" those that k-means++ would choose as seeds, which lie far from each other. "uniform"
        ignores the clusters, and draws all rows with the same probability.
    X : array-like, sparse matrix or Vectors, default=None
        Rows, which "central" and "diverse" need. If they are not the rows of the fit in the same order,
        or if the model has no labels, the model predicts their clusters.
    levels : sequence of int, default=None
        Numbers of clusters of the levels above the clusters of an estimator. They are cuts of the tree
        of a `BisectingBoostKMeans`, and clusters of the centres of other estimators. By default, each
        level has a tenth of the clusters of the next one, and at least 10. ``[]`` uses one level.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. An int gives the same rows every time, for any number of threads.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process.

    Returns
    -------
    rows : ndarray of shape (n,), int64
        Numbers of the chosen rows, all different, in ascending order.

    References
    ----------
    H. V. Vo et al., "Automatic Data Curation for Self-Supervised Learning: A Clustering-Based Approach",
    Transactions on Machine Learning Research, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.curate import sample
    >>> labels = np.repeat([0, 1, 2], [1000, 10, 3])
    >>> rows = sample(labels, 12, random_state=0)
    >>> np.bincount(labels[rows]).tolist()
    [5, 4, 3]
    """
    allowed = choice(METHODS)
    if not allowed.accepts(method):
        raise ParameterError("method", allowed.expected, method, owner=OWNER)
    rng = check_generator(random_state, OWNER)
    seed = int(rng.randint(2**31 - 1))
    if method in NEED_ROWS and X is None:
        raise ParameterConflictError(
            Message(
                "{method} needs the rows. Pass them as {X}.",
                shell="{method} needs the rows: name the file of vectors after the model.",
                method=Parameter("method", method),
                X=Parameter("X"),
            )
        )
    rows = clustered_rows(model, X, levels, seed, OWNER)
    _check_number(n, rows.n_rows)
    return np.sort(_choose(rows, int(n), method, X, rng, n_threads))


def _choose(
    rows: ClusteredRows,
    n: int,
    method: str,
    X: Any,
    rng: np.random.RandomState,
    n_threads: int | None,
) -> NDArray[np.int64]:
    if method == "uniform":
        return np.asarray(rng.permutation(rows.n_rows)[:n], dtype=np.int64)
    shares = allocate(rows.levels, n, rng)
    if method == "hierarchical":
        return random_rows(rows.labels, shares, rng)
    if method == "central":
        return central_rows(X, rows, shares, n_threads)
    return diverse_rows(X, rows, shares, rng, n_threads)


def _check_number(n: Any, n_rows: int) -> None:
    if not isinstance(n, Integral) or isinstance(n, bool) or not 1 <= int(n) <= n_rows:
        expected = f"an int in the range [1, {n_rows}] (the number of rows)"
        raise ParameterError("n", expected, n, owner=OWNER)
