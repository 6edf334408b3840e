"""`CriterionKMeans`: CLUTO's criteria for documents, optimised by single moves."""

import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Array
from boostkmeans._data.row_watch import RowWatch
from boostkmeans._data.user_input import check_still_finite
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.criterion_history import CriterionRecord
from boostkmeans._engine.criterion_run import METHODS, CriterionRun, CriterionSettings
from boostkmeans._engine.stopping import StopReason
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.model_layout import CRITERION_MODEL
from boostkmeans._estimators.plots import draw_criterion, new_axes
from boostkmeans._estimators.spread import measured_spread
from boostkmeans._runtime.errors import InvalidValuesError, Message, Parameter, ParameterConflictError
from boostkmeans._runtime.parameter_checks import (
    RANDOM_STATE,
    Allowed,
    any_of,
    check_n_clusters,
    check_parameters,
    choice,
    integer,
    real,
    satisfying,
)
from boostkmeans._runtime.progress import logger, run_name, stage, stage_prefix, visible_log
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.criteria.criterion import COMPARING, CRITERIA, DEGREES
from boostkmeans._steps.criteria.criterion_tree import SPLITS
from boostkmeans._steps.criteria.term_partition import UnitRows
from boostkmeans._steps.nearest import distances_to_assigned


class CriterionKMeans(CentreModel):
    """Clustering of documents by one of CLUTO's criteria.

    Rows are scaled to unit length. Each row moves to the cluster where it most improves the criterion,
    until no single move improves it. Gains of moves are exact. The criteria are those of Zhao and
    Karypis (2004), where D_r is the sum of the n_r rows of cluster r, and D the sum of all rows:

    - "i1" maximises the sum of ``|D_r|^2 / n_r``, like `BoostKMeans` with metric="cosine";
    - "i2" maximises the sum of ``|D_r|``, the cosines of rows and the directions of their clusters;
    - "e1" minimises the sum of ``n_r D_r . D / |D_r|``, the cosines of clusters and the collection;
    - "g1" minimises the sum of ``D_r . (D - D_r) / |D_r|^2``, the cut relative to the clusters;
    - "h1" maximises ``i1 / e1``;
    - "h2" maximises ``i2 / e1``.

    Use it for sparse rows of term weights. For "i1" and for dense vectors, `BoostKMeans` is faster. An
    array and a CSR matrix of the same data give the same labels.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    criterion : {"i1", "i2", "e1", "g1", "h1", "h2"}, default="i2"
        Criterion. "e1", "g1", "h1" and "h2" require rows without negative values.
    method : {"k-way", "bisecting", "refined"}, default="refined"
        "k-way" assigns all rows to the most similar of k random rows, and then sweeps over all clusters.
        "bisecting" splits the rows into two clusters, then splits one of these, and so on; each split
        optimises the criterion within the rows that it splits. "refined" adds sweeps over all clusters
        to "bisecting". CLUTO calls these methods direct, rb and rbr.
    split : {"largest", "best"}, default="largest"
        Which cluster is split next, for "bisecting" and "refined": the one with the most rows (or
        weight), or the one whose split most improves the criterion of all clusters. These are CLUTO's
        "large" and "best". "best" computes about twice the number of splits.
    n_init : int, default=1
        Number of runs with different random numbers. The result is the run with the best criterion.
    max_iter : int, default=100
        Maximum number of sweeps over all clusters per run, and of sweeps in each split.
    tol : float, default=0
        Tolerance: sweeps end when one improves the criterion by less than this fraction. With 0, they
        end when no row moves.
    max_time : float, default=None
        Time limit of the fit in seconds. A tree that is not complete by then is completed without
        sweeps.
    callback : callable, default=None
        Function that is called with a `CriterionRecord` after each sweep over all clusters and each
        split. The fit stops if it returns a true value, after a tree was completed without sweeps.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on the number of threads.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process.
    verbose : int, default=0
        1 shows the progress on one line of the terminal, or as a bar in a notebook. 2 shows all
        messages as lines on stderr. Messages go to the logger "boostkmeans" instead if logging is
        configured, and are lines if stderr is a file.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Cluster of each row. `predict` returns the cluster whose centre has the highest cosine, which
        may be another one. Rows of zeros and rows of weight 0 do not count, and have the label that
        `predict` returns.
    cluster_centers_ : ndarray of shape (n_clusters, n_features), float64
        Directions of the clusters: sums of their unit rows, scaled to unit length.
    cluster_sizes_ : ndarray of shape (n_clusters,), int64
        Number of rows of each cluster. No cluster is empty.
    cluster_spread_ : ndarray of shape (n_clusters,), float64
        Root mean squared distance of the unit rows of each cluster to its centre.
    objective_ : float
        Value of the criterion.
    inertia_ : float
        Weighted sum of squared distances of the unit rows to the centres of `labels_`. If no row is
        zero, it is ``2 (n - i2)``, for any criterion.
    distortion_ : float
        `inertia_` divided by the sum of the weights.
    n_iter_ : int
        Number of records in `history_`.
    converged_ : bool
        True if no single move improves the criterion: the last sweep over all clusters moved no row.
    stop_reason_ : str
        Why the fit ended: "certified" (converged), "tol", "max_iter", "max_time", "callback",
        "interrupted", or "tree" for "bisecting".
    history_ : list of CriterionRecord
        One record per split and per sweep over all clusters.

    See Also
    --------
    boostkmeans.BoostKMeans : The criterion "i1", with annealing and repair.
    boostkmeans.metrics.document_criterion : Value of a criterion for any labels.

    References
    ----------
    Y. Zhao and G. Karypis, "Empirical and theoretical comparisons of selected criterion functions for
    document clustering", Machine Learning 55, 2004.

    Examples
    --------
    >>> from boostkmeans.documents import Corpus, CriterionKMeans, tfidf
    >>> texts = ["red rose", "a rose is red", "blue sea", "the deep blue sea"]
    >>> X = tfidf(Corpus.from_texts(texts)).rows
    >>> model = CriterionKMeans(n_clusters=2, criterion="h2", random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    >>> model.converged_
    True
    """

    metric = "cosine"
    _model_name = "documents.CriterionKMeans"
    _layout = CRITERION_MODEL
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        "n_clusters": integer(1),
        "criterion": choice(CRITERIA),
        "method": choice(METHODS),
        "split": choice(SPLITS),
        "n_init": integer(1),
        "max_iter": integer(1),
        "tol": real(),
        "max_time": any_of(None, real(positive=True)),
        "callback": any_of(None, satisfying(callable, "callable")),
        "random_state": RANDOM_STATE,
        "n_threads": any_of(None, integer(1)),
        "verbose": any_of(bool, integer(0)),
    }

    objective_: float
    distortion_: float
    converged_: bool
    stop_reason_: str
    history_: list[CriterionRecord]  # type: ignore[assignment]  # no sweeps of boost k-means

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        criterion: str = "i2",
        method: str = "refined",
        split: str = "largest",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 0.0,
        max_time: float | None = None,
        callback: Callable[[CriterionRecord], bool | None] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.criterion = criterion
        self.method = method
        self.split = split
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.max_time = max_time
        self.callback = callback
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, usually term weights. They need not have unit length. CSR matrices are read without a
            copy, other sparse formats are converted.
        y : Ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. A row of weight 2 counts as two equal rows, which move together. None
            means equal weights.

        Returns
        -------
        CriterionKMeans
            The fitted estimator.
        """
        began = time.perf_counter()
        self._check_parameters()
        with self._restore_input_on_failure(), visible_log(self.verbose):
            array = self._validate(X, reset=True)
            weights = RowWeights.of(sample_weight, array.shape[0])
            data = UnitRows.of(array, weights.values, resolve_threads(self.n_threads))
            self._check_rows(array, weights, data)
            self._fit(data, weights, began)
            self._log_result(began)
        return self

    def plot_history(self, ax: Any = None) -> Any:
        """Plot the criterion over the time of the fit. Needs Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on. None creates a new figure with `matplotlib.pyplot`.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        check_is_fitted(self, "_frame")
        ax = new_axes("plot_history") if ax is None else ax
        draw_criterion(ax, self.history_, self.criterion)
        ax.set_title(f"{type(self).__name__}, k = {len(self.cluster_centers_):,}{self._reason()}")
        return ax

    def _fit(self, data: UnitRows, weights: RowWeights, began: float) -> None:
        """Perform all runs, and set the fitted attributes, after Ctrl-C from the best run so far."""
        settings = CriterionSettings(
            n_clusters=self.n_clusters,
            criterion=self.criterion,
            method=self.method,
            split=self.split,
            max_iter=self.max_iter,
            tol=self.tol,
            began=began,
            deadline=math.inf if self.max_time is None else began + self.max_time,
            callback=self.callback,
        )
        rng = check_random_state(self.random_state)
        watch = RowWatch.for_callback(data.rows, self.callback, data.n_threads)
        best: CriterionRun | None = None
        for number in range(self.n_init):
            run = CriterionRun(data, settings, rng)
            try:
                with stage(run_name(number, self.n_init)):
                    run.execute()
            except KeyboardInterrupt:
                best = _better(best, run)
                if best is not None:
                    best.reason = StopReason.INTERRUPTED
                    self.__dict__.update(self._result(best, weights))
                raise
            best = _better(best, run)
            if run.reason in (StopReason.MAX_TIME, StopReason.CALLBACK):
                break
        assert best is not None, "there is at least one run"
        if best.reason is StopReason.CERTIFIED and watch is not None and watch.has_changed():
            best.reason = StopReason.TOL
        # All attributes are set in one step, so that Ctrl-C cannot leave some of them unset.
        self.__dict__.update(self._result(best, weights))

    def _result(self, run: CriterionRun, weights: RowWeights) -> dict[str, Any]:
        """Return the fitted attributes."""
        data, partition = run.data, run.partition
        assert partition is not None
        assert run.reason is not None
        labels, centres = partition.labels, partition.directions
        data.assign_weightless(labels, centres)
        gaps, _ = distances_to_assigned(data.rows, centres, labels, data.n_threads)
        inertia = weights.total_of(gaps)
        reason = run.reason
        if reason is not StopReason.INTERRUPTED:
            check_still_finite(float(gaps.sum()))
        if reason is StopReason.CERTIFIED and not data.has_same_lengths():
            reason = StopReason.TOL
        inertias = weights.totals_by(labels, gaps, len(centres))
        return {
            "_frame": data.rows.frame,
            "cluster_spread_": measured_spread(inertias, data.rows.frame, weights, labels),
            "cluster_centers_": centres,
            "labels_": labels,
            "cluster_sizes_": np.bincount(labels, minlength=len(centres)),
            "objective_": run.value * weights.unit ** DEGREES[self.criterion],
            "inertia_": inertia,
            "distortion_": inertia / weights.total,
            "history_": run.history,
            "n_iter_": len(run.history),
            "stop_reason_": str(reason),
            "converged_": reason is StopReason.CERTIFIED,
        }

    def _check_parameters(self) -> None:
        check_parameters(self, self._allowed)

    def _check_rows(self, array: Array, weights: RowWeights, data: UnitRows) -> None:
        """Raise an error if there are too few rows, or negative values that the criterion forbids."""
        check_n_clusters(self.n_clusters, array.shape[0], weights.n_positive)
        n_directions = len(data.positive)
        if n_directions < self.n_clusters:
            raise ParameterConflictError(
                Message(
                    "{n_clusters} is more than the number of rows that are not zero ({n}).",
                    n_clusters=Parameter("n_clusters", self.n_clusters),
                    n=n_directions,
                )
            )
        values: Any = array.data if sparse.issparse(array) else array
        if self.criterion in COMPARING and values.size and values.min() < 0:
            raise InvalidValuesError(
                Message(
                    "Negative values in data passed to X: {criterion} is defined for rows without "
                    "negative values only. Use the criterion 'i1' or 'i2'.",
                    criterion=Parameter("criterion", self.criterion),
                )
            )

    def _log_result(self, began: float) -> None:
        """Log the result of a fit, for users if they asked for it."""
        logger.log(
            logging.INFO if self.verbose else logging.DEBUG,
            "%s%s: k=%d, %s %.8g, stop reason %s, %.3f s",
            stage_prefix(),
            type(self).__name__,
            len(self.cluster_centers_),
            self.criterion,
            self.objective_,
            self.stop_reason_,
            time.perf_counter() - began,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.criterion in COMPARING
        return tags


def _better(best: CriterionRun | None, run: CriterionRun) -> CriterionRun | None:
    """Return the better of two runs. A run without all clusters does not count."""
    if run.partition is None:
        return best
    return run if best is None or run.is_better_than(best) else best
