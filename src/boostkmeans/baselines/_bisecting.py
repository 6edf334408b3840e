"""Bisecting k-means, called "BsKM" and "BsKM++" in the paper."""

import warnings
from dataclasses import replace

import numpy as np

from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.clusterer import FewerClustersWarning
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._steps.cluster_tree import ClusterTree, build_tree
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.split_rules import SplitRules
from boostkmeans._steps.tree_builder import TreeBuilder
from boostkmeans.baselines._baseline import FitData, RunResult, WeightedBaseline
from boostkmeans.baselines._starting_centres import INITS


class BisectingKMeans(WeightedBaseline):
    """Bisecting k-means on the same compiled core as `BisectingBoostKMeans`.

    The largest cluster is split into two by Lloyd's k-means, with all of its rows, until there are
    `n_clusters`. Equal rows may lead to fewer clusters, with a warning.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    init : {"random", "k-means++"}, default="random"
        First centres of a split: two random rows, or two rows drawn by k-means++ as published.
    n_init : int, default=1
        Number of trees grown with different random numbers. The result is the one with the lowest
        inertia.
    max_iter : int or None, default=300
        Maximum number of iterations per split. None means no limit, as in the paper.
    tol : float, default=0
        Tolerance: a split stops after an iteration that lowers the inertia by less than this fraction of
        the inertia of the set. With 0, it stops when no row moves.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on the number of threads.
    n_threads : int, default=None
        Number of threads of each call. None uses all processors available to this process.

    Attributes
    ----------
    tree_ : ClusterTree
        The splits, with the size, inertia and centre of each node, and the number of iterations
        (`n_passes`) of each split. `save` does not store it.
    labels_ : ndarray of shape (n_samples,), int32
        Leaf of each row. `predict` returns the nearest centre, which may be another one.
    cluster_centers_ : ndarray of shape (k, n_features), float64
        Means of the leaves.
    cluster_sizes_ : ndarray of shape (k,), int64
        Number of rows of each cluster.
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of `labels_`.
    distortion_ : float
        Weighted mean squared distance.
    n_iter_ : int
        Number of records in `history_`, which is 1.
    history_ : list of SweepRecord
        One record of kind "tree". Its evaluations are the distances of all iterations of all splits.

    See Also
    --------
    ScikitLearnBisectingKMeans : The implementation of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import BisectingKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> BisectingKMeans(n_clusters=2, init="k-means++", random_state=0).fit(X).inertia_
    16.0
    """

    _model_name = "baselines.BisectingKMeans"

    max_iter: int | None  # type: ignore[assignment]  # None is allowed here only
    tree_: ClusterTree

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str = "random",
        n_init: int = 1,
        max_iter: int | None = 300,
        tol: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads

    def _run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        rows, weights = data.rows, data.weights
        seed = int(rng.randint(2**63 - 1, dtype=np.int64))
        rules = SplitRules(
            init=self.init, sample=None, max_passes=self.max_iter, rule="lloyd", tol=self.tol
        )
        builder = TreeBuilder.for_rows(rows, weights.values, rules, seed, data.n_threads)
        order = builder.grow(self.n_clusters)
        labels = builder.labels(order)
        n_leaves = len(builder.leaves(order))
        inertias = np.zeros(n_leaves)
        partition, in_frame = Partition.from_labels(
            labels, n_leaves, rows, weights.values, data.n_threads, inertias=inertias
        )
        seconds = data.watch.seconds
        tree = _in_user_space(build_tree(builder, order, partition, inertias), data)
        inertia = rows.frame.inertia(in_frame * weights.unit)
        record = SweepRecord(seconds, 0, inertia, _evaluations(tree), "tree")
        centres = rows.frame.leave(partition.centres)
        return RunResult(centres, labels, inertia, [record], 1, attributes={"tree_": tree})

    def _warn_about_result(self) -> None:
        n_found = len(self.cluster_centers_)
        if n_found < self.n_clusters:
            warnings.warn(FewerClustersWarning(n_found, int(self.n_clusters)), stacklevel=4)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ParameterChecker(self).choice("init", self.init, INITS)

    def _check_max_iter(self, check: ParameterChecker) -> None:
        if self.max_iter is not None:
            check.integer("max_iter", self.max_iter, 1)


def _in_user_space(tree: ClusterTree, data: FitData) -> ClusterTree:
    frame, unit = data.rows.frame, data.weights.unit
    with np.errstate(over="ignore"):
        inertia = np.ldexp(tree.inertia, -2 * frame.exponent) * unit
    return replace(tree, centers=frame.leave(tree.centers), inertia=inertia, weights=tree.weights * unit)


def _evaluations(tree: ClusterTree) -> int:
    """Return the number of distances to the two centres of the splits."""
    assert tree.n_passes is not None, "the builder records passes"
    return 2 * int(tree.n_passes @ tree.sizes)
