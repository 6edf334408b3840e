"""`BoostKMeans`: direct k-way boost k-means with scikit-learn's contract."""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state

from boostkmeans._data.rows import Array, Frame, Rows, canonical
from boostkmeans._data.streamed_rows import StreamedRows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.checkpoint import SAMPLE
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.problem import Job
from boostkmeans._engine.run import Fit
from boostkmeans._engine.schedule import Course
from boostkmeans._estimators.clusterer import Clusterer
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.progress import visible_log
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.limits import Limits
from boostkmeans._steps.partition import Partition, nearest
from boostkmeans._steps.sampling import labels_by_centres, rows_of_sample, sample_of, stands_for
from boostkmeans._steps.seeding import NAMES, Init, Start

logger = logging.getLogger("boostkmeans")


class BoostKMeans(Clusterer):
    """K-means by single moves: a row changes its cluster as soon as this lowers the inertia.

    Reaches a lower inertia than Lloyd's k-means, in fewer passes. Use it wherever you would use
    scikit-learn's `KMeans`. Do not use it for data without a meaningful mean (categories, say).

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    init : str, array or callable, default="auto"
        Where to start. "random-partition": random clusters of equal size; "random": the nearest of k
        random rows; "k-means++": the nearest of k rows drawn by greedy k-means++;
        "sampled-k-means++": the same, with these rows drawn from a sample; "bisecting": the
        leaves of a tree, as in `BisectingBoostKMeans`, for large k by far the fastest; an array (k, d)
        of centres (with "cosine" only their direction counts); an array (n,) of labels; a callable
        `init(X, n_clusters, random_state)` that returns one of these arrays. "auto" is "bisecting",
        or up to 16 clusters "sampled-k-means++"; without repair, that is so wherever it
        is cheap: up to 1,024 clusters, and of more than 65,536 rows, if there are 64 for each cluster.
    moves : {"best", "first"}, default="best"
        A row moves to the best cluster, or to the first better one from a random one on.
    n_candidates : int, None or "auto", default="auto"
        How many clusters a row looks at (the paper's top-k0): those nearest to its own. None: all.
        With candidates, a sweep costs n x n_candidates instead of n x n_clusters, the end is a little
        above, and `labels_` are those of the last sweep: few rows are nearer to another centre. With
        tol=0, sweeps over all clusters follow until the optimum is certified. "auto": all below 512
        clusters, else 128, or 32 where clusters have fewer than 32 rows; now and then all of them,
        where some rows have found more that way; and up to 2,048 clusters, sweeps over all follow.
    repair : bool, int or "auto", default="auto"
        Rounds in which clusters are merged that cost little, and others split that gain more, until
        nothing is left to gain (True), none (False), or at most so many. "auto": as `quality` says; none
        if `init` is an array, so that clusters keep their numbers.
    annealing : float, (float, int) or "auto", default="auto"
        The temperature t of the first sweeps: a move is taken if (1 - t) x what it costs to go is below
        (1 + t) x what it costs to stay. It falls linearly to 0, over so many sweeps as `quality` says or
        as are given with it. 0: none. "auto": as `quality` says, lower where clusters explain little of
        the inertia; none if `init` is an array, for moves="first", and if `max_iter` is below 20. What
        is returned is the best partition seen.
    quality : {"fast", "balanced", "best"}, default="balanced"
        What "auto" stands for: "fast" repairs a little (on a sample of 64 rows for each cluster, if that
        is at most a quarter of all rows and like them, before it goes on with all), "balanced" anneals
        for 10 to 20 sweeps and repairs (on a sample of 1,024 rows for each cluster, if that is at most
        an eighth), "best" anneals for 90 sweeps. `history_[0].note` tells what was chosen.
    min_size, max_size : float, default=None
        The rows that each cluster has at least and at most, or their weight if there are weights. They
        hold from the start on. `labels_` are then not always those of the nearest centres.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales each row to unit length first. Centres are then means of unit rows.
    n_init : int, default=1
        Runs from different starts, of which the one with the lowest inertia is kept.
    max_iter : int, default=100
        Sweeps and rounds of repair at most, per run.
    tol : float, default=1e-4
        Stop after a sweep that lowers the inertia by less than this fraction. 0: go on until a sweep
        certifies that no single move improves the partition any more.
    max_time : float, default=None
        Seconds after which `fit` stops, in the middle of a sweep if need be. The start is completed,
        and without candidates the rows get the labels of their nearest centres, whatever the time.
    callback : callable, default=None
        Called as `callback(record)` with a `SweepRecord` after each sweep; a true value stops the fit.
    checkpoint : path, default=None
        A file for the state of the fit, written after each sweep (as long as this takes less than 5 % of
        the time, and at least once in a minute). If it is there when `fit` begins, and is of the same
        data and parameters, the fit goes on from it, and ends as if it had never been stopped.
    random_state : int, RandomState or None, default=None
        An int gives the same result every time, on any number of threads.
    n_threads : int, default=None
        Threads of each call. None: all processors that this process may use.
    verbose : int, default=0
        Above 0, progress goes to the logger "boostkmeans", and to stderr if logging is not set up.

    Attributes
    ----------
    labels_ : array (n,) of int32
        Cluster of each row: that of its nearest centre (unless the fit was interrupted, ended with
        candidates, or there are limits on sizes).
    cluster_centers_ : array (k, d) of float64
        Means of the clusters, as they were when the last sweep ended.
    cluster_sizes_ : array (k,) of int64
        Rows in each cluster.
    inertia_ : float
        Sum of squared distances of the rows to their centres, weighted.
    distortion_ : float
        `inertia_` by the sum of the weights.
    n_iter_ : int
        Sweeps and rounds of repair of the run that was kept.
    converged_ : bool
        Whether it is certified that no single move (within the limits) lowers the inertia.
    stop_reason_ : str
        "certified", "tol", "max_iter", "max_time", "callback" or "interrupted".
    history_ : list of SweepRecord
        One record for each sweep or round of repair of the run that was kept.
    n_samples_seen_ : int
        Rows of the fit, and of all batches since.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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

    INIT_METHODS: ClassVar[tuple[str, ...]] = NAMES
    """Names that `init` accepts."""
    _model_name = "BoostKMeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "auto",
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
        self.init = init
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

    def partial_fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Takes a batch of rows into account, with all batches before it.

        The first batch is fitted as by `fit`. In a later one, earlier rows count with their weight at
        the centre of their cluster and stay there, while the new rows enter and move among the
        clusters as in any sweep, without repair and annealing. `labels_`, `inertia_`, `cluster_sizes_`
        and `history_` are those of the batch, `cluster_centers_` and `n_samples_seen_` of all batches.
        The batch is copied, and its rows look at all clusters. An interrupted batch leaves the model as
        it was.
        """
        if self.min_size is not None or self.max_size is not None:
            raise ValueError("partial_fit cannot keep min_size and max_size: use fit.")
        if self.checkpoint is not None:
            raise ValueError("partial_fit has no checkpoints: save the model after each batch.")
        if not hasattr(self, "_frame"):
            return self.fit(X, sample_weight=sample_weight)
        began = time.perf_counter()
        self._check_parameters()
        array = self._validate(X, reset=False)
        weights = RowWeights.of(sample_weight, array.shape[0])
        with visible_log(self.verbose):
            self._fit_batch(array, weights, began, resolve_threads(self.n_threads))
        return self

    def _start_fit(self, job: Job) -> Fit:
        limits = Limits.of(self.min_size, self.max_size, job.weights, self.n_clusters)
        init = self.init
        if isinstance(job.rows, StreamedRows):
            if limits or callable(init):
                what = "A callable init needs" if callable(init) else "Limits on sizes need"
                raise ValueError(f"{what} all rows in memory, and they are too many for it.")
            if isinstance(init, str):
                found = self._start_from_sample(job, job.rows.sample_rows)
                assert found is not None
                return found
        elif self._may_sample and not limits:
            few = rows_of_sample(job.weights.n_positive, self.n_clusters, self.quality)
            fit = None if few is None else self._start_from_sample(job, few)
            if fit is not None:
                return fit
        if callable(init):
            init = init(job.X, self.n_clusters, job.rng)
            if isinstance(init, str):
                ParameterChecker(self).choice("init", init, NAMES)
        plan = self._plan(init, job.rows, self.n_clusters)
        start = Start(job.rows, job.weights.values, self.n_clusters, job.rng, job.n_threads, job.keeper)
        labels = (
            start.named(plan.init) if isinstance(plan.init, str) else start.given(np.asarray(plan.init))
        )
        fit = job.run_from(labels, self.n_clusters, Fit)
        fit.begin()
        self._follow(fit, plan.without_repair() if job.rows.n_parts > 1 else plan)
        if limits:
            fit.keep_within(limits, self._stop_rules(job.began).deadline)
        return fit

    @property
    def _may_sample(self) -> bool:
        """Whether nothing that the user asked for needs all rows from the beginning."""
        asked = (self.init, self.repair, self.annealing)
        return all(isinstance(x, str) and x == "auto" for x in asked)

    def _start_from_sample(self, job: Job, n_drawn: int) -> Fit | None:
        """A sample is clustered as the parameters say; its centres are the start of all rows.

        None if these can be clustered otherwise, and the sample is not like them.
        """
        rows = job.rows
        sample = sample_of(rows, job.weights, n_drawn, job.rng)
        stop = replace(self._stop_rules(job.began), callback=None)
        course = self._next_run(replace(job, rows=sample.rows, weights=sample.weights), stop, SAMPLE)
        course.run()
        fit = course.fit
        plan = self._plan(self.init, rows, self.n_clusters).after_sample(
            fit.rows.n_rows, fit.n_sweeps, in_parts=rows.n_parts > 1
        )
        centres = fit.partition.centres
        labels = labels_by_centres(rows, centres, plan.n_candidates, job.n_threads)
        whole = job.run_from(labels, self.n_clusters, Fit)
        whole.begin()
        if rows.n_parts == 1 and not stands_for(fit, whole):
            logger.info("the sample is not like the other rows: all rows from the beginning")
            return None
        self._follow(whole, plan)
        return whole

    def _unbegun_fit(self, job: Job) -> Fit:
        fit = job.unbegun(self.n_clusters, Fit)
        fit.limits = Limits.of(self.min_size, self.max_size, job.weights, self.n_clusters)
        return fit

    def _fit_batch(self, array: Array, weights: RowWeights, began: float, threads: int) -> None:
        """Past and batch as one set of rows, of which only the batch is visited."""
        k = len(self.cluster_centers_)
        batch = Rows.in_frame(array, self._frame, threads)
        labels, _ = nearest(batch, batch.frame.enter(self.cluster_centers_), threads)
        new = batch.scaled()
        if sparse.issparse(new):
            together = canonical(sparse.vstack([sparse.csr_array(self.cluster_centers_), new], "csr"))
        else:
            together = np.concatenate([self.cluster_centers_, new])
        new_weights = np.ones(batch.n_rows) if weights.values is None else weights.values
        rows = Rows.in_own_frame(together, "euclidean", threads)
        partition = Partition.of(np.concatenate([np.arange(k), labels]), k, batch.n_features)
        partition.composites[:] = rows.frame.enter(self.cluster_centers_)  # where empty ones are
        fit = Fit(
            rows=rows,
            row_weights=RowWeights.of(
                np.concatenate([self._cluster_weights, new_weights * weights.unit]), k + batch.n_rows
            ),
            partition=partition,
            rng=check_random_state(self.random_state),
            n_threads=threads,
            moves=self.moves,
            began=began,
            n_pinned=k,
        )
        fit.begin()
        Course(fit, self._stop_rules(began)).run()
        frame = Frame(rows.frame.shift, rows.frame.exponent, self.metric)
        in_frame = Rows.in_frame(array, frame, threads)
        result = self._result(fit, in_frame, weights, threads, relabel=True)
        self._adopt({**result, "n_samples_seen_": self.n_samples_seen_ + batch.n_rows})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check = ParameterChecker(self)
        if isinstance(self.init, str):
            check.choice("init", self.init, NAMES)
        for name in ("min_size", "max_size"):
            value = getattr(self, name)
            if value is not None:
                check.real(name, value, positive=name == "max_size")
