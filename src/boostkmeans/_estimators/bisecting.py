"""`BisectingBoostKMeans`: a tree of splits, each by boost k-means (the paper's Alg. 2)."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boostkmeans import _core
from boostkmeans._data.rows import Rows
from boostkmeans._data.streamed_rows import StreamedRows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.problem import Job
from boostkmeans._engine.run import Fit
from boostkmeans._engine.schedule import Course
from boostkmeans._estimators.clusterer import Clusterer
from boostkmeans._models.checks import Checker
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.cluster_tree import ClusterTree, build_tree
from boostkmeans._steps.neighbours import CandidateSearch
from boostkmeans._steps.partition import Labels, put_weightless
from boostkmeans._steps.sampling import labels_by_tree, sample_of
from boostkmeans._steps.seeding import grown
from boostkmeans._steps.tree_builder import SPLITS, STARTS, Growth, SplitRules
from boostkmeans._storage.state import SavedState, State

# Centres that a leaf looks at to find its cluster, where refinement has moved them.
SEEN_BY_LEAVES = 1024


@dataclass
class TreeFit(Fit):
    """A run that began with a tree."""

    tree: ClusterTree | None = None

    def state(self) -> State:
        """With the tree."""
        return {**super().state(), "tree": None if self.tree is None else self.tree.state()}

    def restore(self, saved: SavedState) -> None:
        """With the tree."""
        super().restore(saved)
        self.tree = ClusterTree.restored(saved.child("tree"), self.rows.n_rows, self.rows.n_features)
        check = Checker(saved.path, "Remove the file to begin anew.")
        check.tree(self.tree, self.partition.n_clusters, self.rows.n_rows)


class BisectingBoostKMeans(Clusterer):
    """Splits the rows in two, then one of the parts, and so on, each time by boost k-means.

    By far the fastest way to many clusters: the cost grows with log(k). The tree stays in `tree_`, and
    gives any smaller number of clusters for free (`cut`). The inertia is some percent above that of
    `BoostKMeans(init="bisecting")`, which goes on from this tree, as `refine` does.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    n_sections : int, default=2
        Parts that a split makes. The last one makes as many as are still needed.
    init : {"random-partition", "random", "k-means++"}, default="random-partition"
        How the boost k-means of a split starts: the paper's BsBKM(non), (rnd) and (kpp).
    split : {"largest", "inertia"}, default="largest"
        Which part is next: the one with the most rows (or weight), or with the highest inertia.
    refine : bool or int, default=False
        Sweeps of boost k-means after the tree. True: as `tol` and `max_iter` say; an int: so many at
        most.
    moves, n_candidates, repair, annealing, quality, metric, max_iter, tol, callback, random_state, \
n_threads, verbose
        As in `BoostKMeans`; all but `metric`, `random_state`, `n_threads` and `verbose` are about the
        refinement.
    n_init : int, default=1
        Trees (with their refinements) from different random numbers, of which the best is kept.
    checkpoint : path, default=None
        As in `BoostKMeans`; the tree is kept, too, while it grows.
    max_time : float, default=None
        Seconds after which the refinement stops. A tree is completed, whatever the time, and so are the
        `n_init` trees without refinement.

    Attributes
    ----------
    tree_ : ClusterTree
        The splits: children, sizes, inertia and centre of each node. Refinement does not change it.
    labels_ : array (n,) of int32
        Cluster of each row: its leaf, or what the refinement made of that.
    cluster_centers_, cluster_sizes_, inertia_, distortion_, n_iter_, converged_, history_
        As in `BoostKMeans`. The first record of `history_` is that of the tree, and counts in
        `n_iter_`.
    stop_reason_ : str
        "tree" without refinement; else as in `BoostKMeans`.

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_sections: int = 2,
        init: str = "random-partition",
        split: str = "largest",
        refine: bool | int = False,
        moves: str = "best",
        n_candidates: int | str | None = "auto",
        repair: bool | int | str = "auto",
        annealing: float | tuple[float, int] | str = "auto",
        quality: str = "balanced",
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
        self.n_sections = n_sections
        self.init = init
        self.split = split
        self.refine = refine
        self.moves = moves
        self.n_candidates = n_candidates
        self.repair = repair
        self.annealing = annealing
        self.quality = quality
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

    tree_: ClusterTree

    def predict(self, X: ArrayLike, *, tree: bool = False, n_candidates: int | None = None) -> Labels:
        """The nearest centre of each row, exactly; of equally near ones the first.

        With `tree`, rows go down the tree instead, always to the nearest part: log(k) steps instead of
        k, which end at the nearest centre for about half of the rows. For `n_candidates` see
        `BoostKMeans`. Both are for many rows at a time: a call begins with work on all centres.
        """
        if not tree:
            return super().predict(X, n_candidates=n_candidates)
        if n_candidates is not None:
            raise ValueError("predict takes either tree=True or n_candidates, not both.")
        found = []
        for rows, _, threads in self._batches(X):
            leaves = np.empty(rows.n_rows, dtype=np.int32)
            centres = rows.frame.enter(self.tree_.centers)
            _core.descend(rows.core, self.tree_.children, centres, leaves, threads)
            found.append(leaves)
        return np.asarray(self._clusters_of_leaves()[self.tree_.clusters[np.concatenate(found)]])

    def _clusters_of_leaves(self) -> Labels:
        """Refinement moves clusters: that of a leaf is then the one whose centre is nearest."""
        at_leaf = np.flatnonzero(self.tree_.clusters >= 0)
        ordered = at_leaf[np.argsort(self.tree_.clusters[at_leaf])]
        if self.stop_reason_ == "tree":
            return np.arange(len(ordered), dtype=np.int32)
        threads = resolve_threads(self.n_threads)
        leaves = Rows(self.tree_.centers[ordered], replace(self._frame, metric="euclidean"), None)
        centres = self._frame.enter(self.cluster_centers_)
        return CandidateSearch(centres, SEEN_BY_LEAVES, threads).nearest(leaves)

    def cut(self, n_clusters: int) -> Labels:
        """Labels of the fitted rows when the tree had only so many leaves.

        With more than two sections, not every number can be had. Refinement plays no role here.
        """
        check_is_fitted(self, "_frame")
        return self.tree_.cut(n_clusters)

    def _start_fit(self, job: Job) -> Fit:
        if isinstance(job.rows, StreamedRows):
            fit = self._tree_of_sample(job, job.rows)
        else:
            fit = self._tree_of_all(job)
        if self._refines:
            plan = self._plan("bisecting", job.rows, fit.partition.n_clusters)
            self._follow(fit, plan.without_repair() if job.rows.n_parts > 1 else plan)
        return fit

    def _tree_of_all(self, job: Job) -> TreeFit:
        """Rows in memory, as the leaves have them."""
        rules = SplitRules(self.n_sections, self.init, self.split)
        seed = int(job.rng.randint(2**63 - 1, dtype=np.int64))
        growth = Growth.over(job.rows, job.weights.values, rules, seed, job.n_threads)
        order = grown(growth, self.n_clusters, job.keeper)
        n_leaves = len(growth.leaves(order))
        fit = job.run_from(growth.labels(order), n_leaves, TreeFit)
        inertias = np.zeros(n_leaves)
        fit.begin(inertias)
        fit.tree = build_tree(growth, order, fit.partition, inertias)
        fit.record(len(growth.members), 0, "tree")
        return fit

    def _tree_of_sample(self, job: Job, rows: StreamedRows) -> TreeFit:
        """All rows go down the tree of some of them."""
        sample = sample_of(rows, job.weights, rows.sample_rows, job.rng)
        tree = self._tree_of_all(replace(job, rows=sample.rows, weights=sample.weights)).tree
        assert tree is not None
        fit = job.run_from(labels_by_tree(rows, tree, job.n_threads), tree.n_leaves, TreeFit)
        inertias = np.zeros(tree.n_leaves)
        fit.begin(inertias)
        if job.weights.values is not None and job.weights.n_positive < rows.n_rows:
            partition = fit.partition
            put_weightless(partition.labels, rows, job.weights.values, partition.centres, job.n_threads)
        fit.tree = tree.of_partition(fit.partition, inertias)
        fit.note = f"the tree of a sample of {sample.rows.n_rows} rows; then all rows, in parts"
        fit.record(rows.n_rows, 0, "tree")
        return fit

    def _unbegun_fit(self, job: Job) -> Fit:
        return job.unbegun(self.n_clusters, TreeFit)

    @property
    def _refines(self) -> bool:
        return not isinstance(self.refine, bool | np.bool_) or bool(self.refine)

    def _run(self, course: Course) -> None:
        if self._refines:
            super()._run(course)
        else:
            course.fit.stop_reason = "tree"

    @property
    def _most_sweeps(self) -> int:
        return self.max_iter if isinstance(self.refine, bool | np.bool_) else int(self.refine)

    def _result(
        self, fit: Fit, rows: Rows, weights: RowWeights, threads: int, *, relabel: bool
    ) -> dict[str, Any]:
        assert isinstance(fit, TreeFit)
        assert fit.tree is not None
        # The leaves of a tree are not the nearest centres, and are not meant to be.
        relabel = relabel and fit.stop_reason != "tree"
        result = super()._result(fit, rows, weights, threads, relabel=relabel)
        with np.errstate(over="ignore"):
            inertia = np.ldexp(fit.tree.inertia, -2 * rows.frame.exponent) * weights.unit
        tree = replace(
            fit.tree,
            centers=rows.frame.leave(fit.tree.centers),
            inertia=inertia,
            weights=fit.tree.weights * weights.unit,
        )
        return {**result, "tree_": tree}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check = ParameterChecker(self)
        check.integer("n_sections", self.n_sections, 2)
        check.choice("init", self.init, STARTS)
        check.choice("split", self.split, SPLITS)
        if not isinstance(self.refine, bool | np.bool_):
            check.integer("refine", self.refine, 1)
