"""`BisectingBoostKMeans`: a tree of splits, each by boost k-means (the paper's Algorithm 2)."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boostkmeans import _core
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.fit import Start, start_tree
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.run import Run
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._estimators.cluster_count import DEFAULT_N_CLUSTERS
from boostkmeans._estimators.clusterer import MOST_SWEEPS, Clusterer
from boostkmeans._estimators.model_layout import TREE_CLUSTERER
from boostkmeans._runtime.parameter_checks import Allowed, any_of, choice, integer, real
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._steps.neighbours import CandidateSearch
from boostkmeans._steps.partition import Labels
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.size_limits.limits import Limits
from boostkmeans._steps.split_rules import SPLITS, STARTS, SplitRules

# Number of candidate centres in the search for the cluster of a leaf after refinement.
CANDIDATES_OF_LEAVES = 1024


class BisectingBoostKMeans(Clusterer):
    """Split the rows into two clusters, then split one of these, and so on, by boost k-means.

    This is the fastest method for many clusters: the cost grows with log(k). The tree is stored in
    `tree_` and gives any smaller number of clusters without another fit (`cut`). The inertia is a few
    percent above that of `BoostKMeans(init="bisecting")`, which continues from the same tree, as
    `refine` does.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters, k. None if `leaf_size` sets it.
    leaf_size : float, default=None
        Average number of rows of a cluster, or their weight if there are weights. It sets the number of
        clusters instead of `n_clusters`: the total weight divided by `leaf_size`, rounded, and at least
        1. `n_clusters` must then be None or its default, 8.
    n_sections : int, default=2
        Number of clusters into which a cluster is split. The last split makes only as many as are
        needed.
    init : {"random-partition", "random", "k-means++"}, default="random-partition"
        How the boost k-means of a split starts: the paper's BsBKM(non), (rnd) and (kpp).
    split : {"largest", "inertia", "average"}, default="largest"
        Which cluster is split next: the one with the most rows (or weight), with the highest inertia, or
        with the highest average squared distance between two of its rows.
    sample : {"auto"} or None, default="auto"
        Rows that a split uses. "auto" uses a sample of 512 to 2,048 rows of a larger cluster (more for
        sparse rows); the other rows join the nearest section. None uses all rows, which must fit into
        memory.
    max_passes : int, None or "auto", default="auto"
        Maximum number of passes of a split over its rows. None continues until a pass moves no row.
        "auto" makes at most ten passes, and stops when a pass gains less than 0.01 % of the inertia of
        the cluster. Unless both this parameter and `sample` are "auto", a pass visits the rows one by
        one in a new random order. ``sample=None, max_passes=None`` is Algorithm 2 of the paper.
    refine : bool or int, default=False
        Whether sweeps of boost k-means follow the tree. With an int, it is the maximum number of sweeps.
    moves : {"best", "first"}, default="best"
        As in `BoostKMeans`, for the refinement.
    n_candidates : int, None or "auto", default="auto"
        As in `BoostKMeans`, for the refinement.
    repair : bool, int or "auto", default="auto"
        As in `BoostKMeans`, for the refinement.
    annealing : float, (float, int) or "auto", default="auto"
        As in `BoostKMeans`, for the refinement.
    quality : {"fast", "balanced", "best"}, default="balanced"
        As in `BoostKMeans`, for the refinement.
    min_size, max_size : float, default=None
        Minimum and maximum number of rows of each cluster, or their weight if there are weights. The
        tree is built without limits. Then rows move from leaf to leaf until the limits hold, as in the
        start of a `BoostKMeans`; the sweeps of `refine` keep to them. `tree_` and `cut` ignore limits.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales each row to unit length first.
    n_init : int, default=1
        Number of trees (with their refinements) from different random numbers. The best is the result.
    max_iter : int, default=100
        Maximum number of sweeps and repair rounds of the refinement.
    tol : float, default=1e-4
        As in `BoostKMeans`, for the refinement.
    max_time : float, default=None
        Time limit of the refinement in seconds. The tree is always completed. Without refinement, all
        `n_init` trees are completed.
    callback : callable, default=None
        Function that is called with a `SweepRecord` after each sweep of the refinement.
    checkpoint : path, default=None
        As in `BoostKMeans`. Checkpoints are also written while the tree grows.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. An int gives the same result every time, for any number of threads.
    n_threads : int, default=None
        Number of threads. By default, all processors available to this process.
    verbose : int, default=0
        1 shows the progress on one line of the terminal, or as a bar in a notebook. 2 shows all
        messages as lines on stderr. Messages go to the logger "boostkmeans" instead if logging is
        configured, and are lines if stderr is a file.

    Attributes
    ----------
    tree_ : ClusterTree
        The splits, with the size, inertia and centre of each node, and the number of passes of each
        split (`tree_.n_passes`), which is -1 for splits that a checkpoint of version 0.9 or earlier
        contained. Refinement does not change the tree.
    labels_ : ndarray of shape (n_samples,), int32
        Cluster of each row: its leaf, or its cluster after refinement.
    cluster_centers_ : ndarray of shape (k, n_features), float64
        Means of the clusters.
    n_clusters_ : int
        Number of clusters of the fitted model.
    cluster_sizes_ : ndarray of shape (k,), int64
        Number of rows in each cluster.
    cluster_spread_ : ndarray of shape (k,), float64
        Root mean squared distance of the rows of each cluster to its centre; 0 if it is empty. None if
        a fit from a file was interrupted. `outlier_scores` uses it.
    inertia_ : float
        Weighted sum of squared distances of the rows to their centres.
    distortion_ : float
        `inertia_` divided by the sum of the weights.
    n_iter_ : int
        Number of records in `history_`.
    converged_ : bool
        True if it is certified that no single move lowers the inertia.
    stop_reason_ : str
        "tree" without refinement, else as in `BoostKMeans`.
    history_ : list of SweepRecord
        One record for the tree, followed by those of the refinement.
    serial_share_ : float
        As in `BoostKMeans`.

    See Also
    --------
    BoostKMeans : Lower inertia for the same number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans import BisectingBoostKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = BisectingBoostKMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.inertia_
    16.0
    >>> model.cut(1).tolist()
    [0, 0, 0, 0, 0, 0]
    """

    _model_name = "BisectingBoostKMeans"
    _layout = TREE_CLUSTERER
    INIT_METHODS: ClassVar[tuple[str, ...]] = STARTS
    """Names that `init` accepts."""
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **Clusterer._allowed,
        "n_sections": integer(2),
        "init": choice(STARTS),
        "split": choice(SPLITS),
        "sample": any_of("auto", None),
        "max_passes": any_of("auto", None, integer(1)),
        "refine": any_of(bool, integer(1)),
        "min_size": any_of(None, real()),
        "max_size": any_of(None, real(positive=True)),
    }

    tree_: ClusterTree

    def __init__(
        self,
        n_clusters: int | None = DEFAULT_N_CLUSTERS,
        *,
        leaf_size: float | None = None,
        n_sections: int = 2,
        init: str = "random-partition",
        split: str = "largest",
        sample: str | None = "auto",
        max_passes: int | str | None = "auto",
        refine: bool | int = False,
        moves: str = "best",
        n_candidates: int | str | None = "auto",
        repair: bool | int | str = "auto",
        annealing: float | tuple[float, int] | str = "auto",
        quality: str = "balanced",
        min_size: float | None = None,
        max_size: float | None = None,
        metric: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        max_time: float | None = None,
        callback: Callable[[SweepRecord], bool | None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.leaf_size = leaf_size
        self.n_sections = n_sections
        self.init = init
        self.split = split
        self.sample = sample
        self.max_passes = max_passes
        self.refine = refine
        self.moves = moves
        self.n_candidates = n_candidates
        self.repair = repair
        self.annealing = annealing
        self.quality = quality
        self.min_size = min_size
        self.max_size = max_size
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.max_time = max_time
        self.callback = callback
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def predict(self, X: ArrayLike, *, tree: bool = False, n_candidates: int | None = None) -> Labels:
        """Return the nearest centre of each row. Ties go to the centre with the lower index.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to assign.
        tree : bool, default=False
            Whether to search by descending the tree, always to the nearest child. This takes about
            log(k) instead of k comparisons, and finds the nearest centre for about half of the rows.
        n_candidates : int, default=None
            As in `BoostKMeans`. Use this parameter and `tree` for many rows at a time, because each call
            first processes all centres.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            Index of the cluster of each row.
        """
        if not tree:
            return super().predict(X, n_candidates=n_candidates)
        if n_candidates is not None:
            raise ValueError("predict accepts either tree=True or n_candidates, not both.")
        found = []
        for rows, _, n_threads in self._batches(X):
            leaves = np.empty(rows.n_rows, dtype=np.int32)
            centres = rows.frame.enter(self.tree_.centers)
            _core.descend(rows.core, self.tree_.children, centres, leaves, n_threads)
            found.append(leaves)
        return np.asarray(self._clusters_of_leaves()[self.tree_.clusters[np.concatenate(found)]])

    def _clusters_of_leaves(self) -> Labels:
        """Return the cluster of each leaf: the nearest one, because refinement moves the centres.

        Limits on sizes do the same.
        """
        at_leaf = np.flatnonzero(self.tree_.clusters >= 0)
        ordered = at_leaf[np.argsort(self.tree_.clusters[at_leaf])]
        has_limits = self.min_size is not None or self.max_size is not None
        if self.stop_reason_ == StopReason.TREE and not has_limits:
            return np.arange(len(ordered), dtype=np.int32)
        n_threads = resolve_threads(self.n_threads)
        leaves = Rows(self.tree_.centers[ordered], replace(self._frame, metric="euclidean"), None)
        centres = self._frame.enter(self.cluster_centers_)
        return CandidateSearch(centres, CANDIDATES_OF_LEAVES, n_threads).nearest(leaves)

    def cut(self, n_clusters: int) -> Labels:
        """Return the labels of the fitted rows when the tree had `n_clusters` leaves.

        Parameters
        ----------
        n_clusters : int
            Number of clusters. With more than two sections, not every number is possible. Refinement
            does not affect the result.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            Index of the cluster of each row.
        """
        check_is_fitted(self, "_frame")
        return self.tree_.cut(n_clusters)

    def update(self, X_new: Any = None, **changes: Any) -> Any:
        """Raise NotImplementedError: the tree would not describe the updated clusters.

        Parameters
        ----------
        X_new : array-like, default=None
            Rows to add.
        **changes : dict
            Other arguments of `BoostKMeans.update`.

        Returns
        -------
        self : object
            Never.
        """
        raise NotImplementedError(
            "The tree of BisectingBoostKMeans would not describe updated clusters. Continue from its "
            "clusters with BoostKMeans(n_clusters, init=model.labels_).fit(X), which can be updated."
        )

    @property
    def _refines(self) -> bool:
        return not isinstance(self.refine, bool | np.bool_) or bool(self.refine)

    @property
    def _max_sweeps(self) -> int:
        asked = self.max_iter if isinstance(self.refine, bool | np.bool_) else int(self.refine)
        return min(asked, MOST_SWEEPS)

    def _start(self) -> Start:
        rules = SplitRules(self.n_sections, self.init, self.split, self.sample, self.max_passes)
        return start_tree(rules, refine=self._refines)

    def _problem(self, rows: RowSet, weights: RowWeights, n_clusters: int, n_threads: int) -> Problem:
        limits = None
        if self.min_size is not None or self.max_size is not None:
            limits = Limits.from_sizes(self.min_size, self.max_size, weights, n_clusters)
        return Problem(rows, weights, n_clusters, n_threads, limits)

    def _result(
        self, run: Run, outcome: Outcome, rows: RowSet, weights: RowWeights, *, relabel: bool
    ) -> dict[str, Any]:
        assert run.tree is not None
        # By design, the leaf of a row is not always the one with the nearest centre.
        relabel = relabel and outcome.reason is not StopReason.TREE
        result = super()._result(run, outcome, rows, weights, relabel=relabel)
        with np.errstate(over="ignore"):
            inertia = np.ldexp(run.tree.inertia, -2 * rows.frame.exponent) * weights.unit
        tree = replace(
            run.tree,
            centers=rows.frame.leave(run.tree.centers),
            inertia=inertia,
            weights=run.tree.weights * weights.unit,
        )
        return {**result, "tree_": tree}
