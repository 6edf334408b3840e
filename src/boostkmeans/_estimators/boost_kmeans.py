"""`BoostKMeans`: direct k-way boost k-means with scikit-learn's interface."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Array, Frame
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.core_times import CoreClock
from boostkmeans._engine.fit import Start, start_kway
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.plan import Plan
from boostkmeans._engine.run import Run
from boostkmeans._engine.schedule import Schedule
from boostkmeans._estimators.cluster_count import DEFAULT_N_CLUSTERS
from boostkmeans._estimators.clusterer import Clusterer
from boostkmeans._estimators.spread import spread_with_batch
from boostkmeans._estimators.updates.pinned_rows import with_pinned_centres
from boostkmeans._estimators.updates.update_report import UpdateReport
from boostkmeans._estimators.updates.updated_rows import Changes
from boostkmeans._estimators.updates.updating import updated_attributes
from boostkmeans._runtime.parameter_checks import (
    Allowed,
    any_of,
    choice,
    integer,
    numbers_of_clusters,
    real,
    satisfying,
)
from boostkmeans._runtime.progress import visible_log
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import nearest
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.seeding import INIT_NAMES, Init
from boostkmeans._steps.size_limits.limits import Limits, Sizes


class BoostKMeans(Clusterer):
    """K-means by single moves: a row changes its cluster as soon as this lowers the inertia.

    It reaches a lower inertia than Lloyd's k-means, in fewer passes. Use it wherever you would use
    scikit-learn's `KMeans`. Do not use it for data without a meaningful mean, such as categories.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters, k. None if `leaf_size` sets it.
    leaf_size : float, default=None
        Average number of rows of a cluster, or their weight if there are weights. It sets the number of
        clusters instead of `n_clusters`: the total weight divided by `leaf_size`, rounded, and at least
        1. `n_clusters` must then be None or its default, 8.
    init : str, array or callable, default="auto"
        How to start:

        - "random-partition": random clusters of equal size;
        - "random": assign rows to the nearest of k random rows;
        - "k-means++": assign rows to the nearest of k rows drawn by greedy k-means++, which chooses each
          of them among several candidates;
        - "plain-k-means++": the same, with one candidate each. This is k-means++ as published;
        - "sampled-k-means++": greedy k-means++, with the k rows drawn from a sample;
        - "bisecting": use the leaves of a tree, as in `BisectingBoostKMeans`. This is the fastest start
          for large k;
        - an array of shape (k, n_features): assign rows to the nearest of these centres. With metric
          "cosine", only the direction of the centres counts;
        - an integer array of shape (n_samples,): the initial labels;
        - a callable `init(X, n_clusters, random_state)` that returns one of these;
        - "auto": "sampled-k-means++" for k <= 16, and "bisecting" otherwise. Without repair,
          "sampled-k-means++" is used up to k = 1,024, unless n_samples > 65,536 and n_samples < 64 k.
    moves : {"best", "first"}, default="best"
        Whether a row moves to the best cluster, or to the first cluster that lowers the inertia. The
        search for the latter starts at a random cluster.
    n_candidates : int, None or "auto", default="auto"
        Number of clusters that a row is compared with (the paper's top-k0): those nearest to its own.
        None compares with all clusters. With candidates, a sweep costs n x n_candidates instead of n x
        k. The result is slightly worse, and `labels_` are those of the last sweep, so that some rows are
        nearer to another centre. With tol=0, sweeps over all clusters follow until the optimum is
        certified. "auto" uses all clusters for k < 512. Otherwise it uses 128 candidates, or 32 if there
        are fewer than 32 rows per cluster. It occasionally compares some rows with all clusters, and
        inserts full sweeps if they are worth their cost. Up to k = 2,048, it finishes with full sweeps.
    repair : bool, int or "auto", default="auto"
        Maximum number of repair rounds. In each round, pairs of clusters whose merge costs little are
        merged, and the same number of other clusters is split. True repeats until nothing improves,
        False disables repair. "auto" uses the number that `quality` sets, and 0 if `init` is an array,
        so that clusters keep their numbers.
    annealing : float, (float, int) or "auto", default="auto"
        Temperature t of the first sweep, and optionally the number of annealed sweeps. A move is
        accepted if (1 - t) times its cost is below (1 + t) times the cost of staying. The temperature
        falls linearly to 0 over the number of sweeps that is given or that `quality` sets. 0 disables
        annealing. "auto" uses what `quality` sets, with a lower temperature if clusters explain little
        of the inertia. It does not anneal if `init` is an array, for moves="first", and if `max_iter` is
        below 20. The fit returns the best partition that it has seen.
    quality : {"fast", "balanced", "best"}, default="balanced"
        Trade-off between run time and inertia, which determines the meaning of "auto". "fast" makes a
        few repair rounds. "balanced" anneals for 10 to 20 sweeps and repairs. "best" anneals for 90
        sweeps. "fast" and "balanced" first fit a sample of 64 or 1,024 rows per cluster, if this is at
        most a quarter or an eighth of all rows and if the sample is representative. `history_[0].note`
        reports the choices.
    dimensions : int, None or "auto", default="auto"
        Number of leading principal components in which the fit runs first. Sweeps in all dimensions
        follow, and they decide the result. None uses all dimensions from the beginning.
        "auto" uses the components that hold 87 % of the variance of a sample, if this is estimated to
        take at most 70 % of the time, and if `init`, `repair` and `annealing` are "auto". The rows in
        these components need 4 bytes per row and component. Sparse rows always use all dimensions.
    min_size, max_size : float or array-like of shape (n_clusters,), default=None
        Minimum and maximum number of rows of each cluster, or their weight if there are weights. The
        limits hold from the start. With limits, `labels_` are not always those of the nearest centres.
        Of an array, value i is the limit of cluster i. If `init` is an array or a callable, the clusters
        have the numbers of its centres or labels. Otherwise, they are numbered such that the clusters
        that are largest at the start have the largest limits. A maximum of inf is no limit.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales each row to unit length first. Centres are then means of unit rows.
    n_init : int, default=1
        Number of runs from different starts. The run with the lowest inertia is the result.
    max_iter : int, default=100
        Maximum number of sweeps and repair rounds per run.
    tol : float, default=1e-4
        Stop after a sweep that lowers the inertia by less than this share. With few clusters and many
        rows (up to 64 clusters, at least 50,000 rows and 2,048 rows per cluster), sweeps gain little for
        a long time. There, continue until the estimated improvement by all further sweeps is below a
        tenth of this share. With 0, continue until a sweep certifies that no single move improves the
        partition.
    max_time : float, default=None
        Time limit in seconds. The fit stops within a sweep if necessary. The start is always completed.
        If rows are compared with all clusters, the final assignment to the nearest centres is completed,
        too.
    callback : callable, default=None
        Function that is called with a `SweepRecord` after each sweep, and after a start that took long.
        The fit stops if it returns a true value.
    checkpoint : path, default=None
        File for the state of the fit. It is written after each sweep, as long as this takes less than
        5 % of the time, and at least once per minute. If the file exists and belongs to the same data
        and parameters, the fit continues from it and gives the result of an uninterrupted fit.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. An int gives the same result every time, for any number of threads.
    n_threads : int, default=None
        Number of threads. By default, all processors available to this process. Fits of small data
        (n_samples x n_features x k up to 2,097,152 and k up to 32) use a single thread.
    verbose : int, default=0
        1 shows the progress on one line of the terminal, or as a bar in a notebook. 2 shows all
        messages as lines on stderr. Messages go to the logger "boostkmeans" instead if logging is
        configured, and are lines if stderr is a file.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Cluster of each row. This is the cluster with the nearest centre, unless the fit was interrupted,
        ended with candidates, or has limits on sizes.
    cluster_centers_ : ndarray of shape (k, n_features), float64
        Means of the clusters after the last sweep.
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
        Number of sweeps and repair rounds of the best run.
    converged_ : bool
        True if it is certified that no single move (within the limits) lowers the inertia.
    stop_reason_ : str
        "certified", "tol", "max_iter", "max_time", "callback" or "interrupted".
    history_ : list of SweepRecord
        One record per sweep or repair round of the best run. If the run starts from a tree or from a
        sample, a record of kind "start" precedes them.
    n_samples_seen_ : int
        Number of rows of the fit and of all later batches.
    serial_share_ : float
        Share of the single-threaded time of the fit in which only one thread can work, between 0 and 1.
        It limits the speed-up on many processors. A loaded model does not have this attribute.
    update_report_ : UpdateReport
        What the last `update` changed. A loaded model does not have this attribute.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X has them.

    See Also
    --------
    BisectingBoostKMeans : A tree of clusters, faster for very large k.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans import BoostKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = BoostKMeans(n_clusters=2, tol=0, random_state=0).fit(X)
    >>> model.inertia_, model.converged_
    (16.0, True)
    >>> bool(model.predict([[0, 0]])[0] == model.labels_[0])
    True
    """

    _model_name = "BoostKMeans"
    INIT_METHODS: ClassVar[tuple[str, ...]] = INIT_NAMES
    """Names that `init` accepts."""
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **Clusterer._allowed,
        "init": any_of(
            choice(INIT_NAMES),
            satisfying(lambda x: not isinstance(x, str | None), "an array or a callable"),
        ),
        "dimensions": any_of(None, "auto", integer(1)),
        "min_size": any_of(None, real(), numbers_of_clusters()),
        "max_size": any_of(None, real(positive=True), numbers_of_clusters(positive=True)),
    }

    update_report_: UpdateReport

    def __init__(
        self,
        n_clusters: int | None = DEFAULT_N_CLUSTERS,
        *,
        leaf_size: float | None = None,
        init: Init = "auto",
        moves: str = "best",
        n_candidates: int | str | None = "auto",
        repair: bool | int | str = "auto",
        annealing: float | tuple[float, int] | str = "auto",
        quality: str = "balanced",
        dimensions: int | str | None = "auto",
        min_size: Sizes = None,
        max_size: Sizes = None,
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
        self.init = init
        self.moves = moves
        self.n_candidates = n_candidates
        self.repair = repair
        self.annealing = annealing
        self.quality = quality
        self.dimensions = dimensions
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

    def partial_fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of rows to the clusters of all previous batches.

        The first batch is fitted as by `fit`. In later batches, the rows of earlier batches are
        represented by the weighted centres and do not move. The new rows move among all clusters,
        without repair and annealing. Afterwards, `labels_`, `inertia_`, `cluster_sizes_` and `history_`
        describe the batch, whereas `cluster_centers_`, `cluster_spread_` and `n_samples_seen_` describe
        all batches. The batch is copied. An interrupted batch leaves the model unchanged.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of the batch.
        y : None
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. By default all weights are 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.min_size is not None or self.max_size is not None:
            raise ValueError("partial_fit does not support min_size and max_size. Use fit.")
        if self.checkpoint is not None:
            raise ValueError("partial_fit does not support checkpoint. Save the model after each batch.")
        if not hasattr(self, "_frame"):
            return self.fit(X, sample_weight=sample_weight)
        began, clock = time.perf_counter(), CoreClock()
        self._check_parameters()
        array = self._validate(X, reset=False)
        weights = RowWeights.of(sample_weight, array.shape[0])
        with visible_log(self.verbose, self._max_sweeps):
            self._fit_batch(array, weights, began, resolve_threads(self.n_threads))
            self._log_result(began)
        self.__dict__.update(clock.attributes())
        return self

    def update(
        self,
        X_new: ArrayLike | None = None,
        *,
        X_removed: ArrayLike | None = None,
        X: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        removed_weight: ArrayLike | None = None,
        X_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows to the clusters and remove rows from them, and optimise only what changed.

        New rows join their nearest clusters. Sweeps over the clusters that gained or lost rows, and over
        their neighbours, follow. Clusters are split and merged where that lowers the inertia, where the
        limits on sizes require it, and, with `leaf_size`, so that the number of clusters follows the
        number of rows. Otherwise there are `n_clusters` clusters. Clusters that survive keep their
        numbers; `update_report_` tells the exceptions.

        Without X, each cluster is represented by its sums. Its old rows then stay together, and removed
        rows are subtracted from the cluster with the nearest centre. With X, the old rows move, too.

        Afterwards, `labels_` describe the old rows that remain, in their order, followed by the new
        rows. If they are not known, because rows were removed without X or the model was saved without
        labels, there are no `labels_`. `inertia_` and `cluster_sizes_` describe all rows; without X,
        `inertia_` is the sum of squared distances if no old row changes its cluster. An update that
        fails or is interrupted leaves the model unchanged.

        Parameters
        ----------
        X_new : array-like or sparse matrix of shape (n_new, n_features), default=None
            Rows to add.
        X_removed : array-like, default=None
            Rows to remove: their values, of shape (n_removed, n_features). With X, also their numbers in
            X, an integer array of shape (n_removed,). With X, each removed row must equal a different
            row of X.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            All rows of the model, in the order of `labels_`. They must fit into memory.
        sample_weight : array-like of shape (n_new,), default=None
            Weight of each new row. By default all weights are 1.
        removed_weight : array-like of shape (n_removed,), default=None
            Weight of each removed row, if X is not given. By default all weights are 1.
        X_weight : array-like of shape (n_samples,), default=None
            Weight of each row of X. By default all weights are 1.

        Returns
        -------
        self : object
            The updated estimator.
        """
        check_is_fitted(self, "_frame")
        if self.checkpoint is not None:
            raise ValueError("update does not support checkpoint. Save the model after each update.")
        began, clock = time.perf_counter(), CoreClock()
        self._check_parameters()
        changes = Changes(X_new, X_removed, X, sample_weight, removed_weight, X_weight)
        with visible_log(self.verbose, self._max_sweeps):
            requested, criteria = self._requested_settings(), self._criteria(began)
            result = updated_attributes(self, changes, requested, criteria, began)
            known = {name: value for name, value in result.items() if value is not None}
            self.__dict__.update(known, **clock.attributes())
            for name in result.keys() - known.keys():
                self.__dict__.pop(name, None)
            self._log_result(began)
        return self

    def _start(self) -> Start:
        return start_kway

    def _problem(self, rows: RowSet, weights: RowWeights, n_clusters: int, n_threads: int) -> Problem:
        limits = None
        if self.min_size is not None or self.max_size is not None:
            limits = Limits.from_sizes(
                self.min_size, self.max_size, weights, n_clusters,
                is_numbered=not isinstance(self.init, str),
            )  # fmt: skip
        return Problem(rows, weights, n_clusters, n_threads, limits)

    def _fit_batch(self, array: Array, weights: RowWeights, began: float, n_threads: int) -> None:
        """Fit the centres, as rows that never move, together with the rows of the batch."""
        k = len(self.cluster_centers_)
        batch = Rows.in_frame(array, self._frame, n_threads)
        labels, _ = nearest(batch, batch.frame.enter(self.cluster_centers_), n_threads)
        rows, all_weights = with_pinned_centres(
            self.cluster_centers_, self._cluster_weights, batch, weights, n_threads
        )
        run = Run.start(
            Problem(rows, all_weights, k, n_threads, n_pinned=k),
            Plan(moves=self.moves),
            np.concatenate([np.arange(k, dtype=np.int32), labels]),
            check_random_state(self.random_state),
            began=began,
            positions=rows.frame.enter(self.cluster_centers_),
        )
        Schedule.for_run(run, self._criteria(began)).execute()
        frame = Frame(rows.frame.shift, rows.frame.exponent, self.metric)
        in_frame = Rows.in_frame(array, frame, n_threads)
        assert run.outcome is not None
        result = self._result(run, run.outcome, in_frame, weights, relabel=True)
        result["n_samples_seen_"] = self.n_samples_seen_ + batch.n_rows
        result["cluster_spread_"] = spread_with_batch(self, result, weights)
        self.__dict__.update(result)
