"""Clusterer: the code that both estimators share, from parameters to fitted attributes."""

import inspect
import logging
import math
import os
import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from boostkmeans._data.frame import METRICS, Array
from boostkmeans._data.row_source import memory_left, source_to_stream
from boostkmeans._data.row_watch import RowWatch
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.streamed_rows import StreamedRows
from boostkmeans._data.user_input import check_still_finite
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.checkpoints.checkpoint import Checkpoint, identity_of
from boostkmeans._engine.core_times import CoreClock
from boostkmeans._engine.fit import BestRun, FitContext, Start
from boostkmeans._engine.history import START, SweepRecord
from boostkmeans._engine.plan import QUALITIES, RequestedSettings
from boostkmeans._engine.run import Run
from boostkmeans._engine.stopping import Outcome, StoppingCriteria, StopReason
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.cluster_count import (
    N_CLUSTERS,
    check_cluster_count,
    check_rows_for_clusters,
    cluster_count,
)
from boostkmeans._estimators.model_layout import CLUSTERER
from boostkmeans._estimators.spread import measured_spread
from boostkmeans._runtime.errors import Message, OptionName, Parameter, ParameterError
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._runtime.parameter_checks import (
    RANDOM_STATE,
    Allowed,
    any_of,
    check_parameters,
    choice,
    integer,
    real,
    satisfying,
)
from boostkmeans._runtime.progress import logger, stage_prefix, visible_log
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.coincident import are_distinguishable
from boostkmeans._steps.nearest import (
    assign_nearest,
    assign_zero_weight_rows,
    inertia_of_clusters,
)
from boostkmeans._steps.problem import Problem
from boostkmeans._storage.atomic_file import check_target

MOVES = ("best", "first")
# The core counts sweeps in 64 bits. No fit comes near this number.
MOST_SWEEPS = 2**31 - 1


def _is_temperature(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and bool(0 <= value < 1)


def _is_annealing(value: Any) -> bool:
    """Return True for a temperature, or a tuple of a temperature and a number of sweeps."""
    if not isinstance(value, tuple):
        return _is_temperature(value)
    integer_sweeps = len(value) == 2 and isinstance(value[1], int | np.integer)
    return integer_sweeps and _is_temperature(value[0]) and bool(value[1] >= 1)


class Clusterer(SizedByFields, CentreModel):
    """Base class of the estimators: parameters, `fit`, and the fitted attributes."""

    _layout = CLUSTERER
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        "n_clusters": N_CLUSTERS,
        "leaf_size": any_of(None, real(positive=True)),
        "moves": choice(MOVES),
        "metric": choice(METRICS),
        "n_init": integer(1),
        "max_iter": integer(1),
        "tol": real(),
        "n_candidates": any_of(None, "auto", integer(1)),
        "quality": choice(QUALITIES),
        "repair": any_of("auto", bool, integer(0)),
        "annealing": any_of(
            "auto",
            satisfying(
                _is_annealing, "a temperature in [0, 1), or a tuple of it and a number of sweeps"
            ),
        ),
        "max_time": any_of(None, real(positive=True)),
        "callback": any_of(None, satisfying(callable, "callable")),
        "checkpoint": any_of(None, satisfying(lambda x: isinstance(x, str | os.PathLike), "a path")),
        "random_state": RANDOM_STATE,
        "n_threads": any_of(None, integer(1)),
        "verbose": any_of(bool, integer(0)),
    }

    n_clusters: int | None
    leaf_size: float | None
    moves: str
    n_candidates: int | str | None
    repair: bool | int | str
    annealing: float | tuple[float, int] | str
    quality: str
    metric: str
    n_init: int
    max_iter: int
    tol: float
    max_time: float | None
    callback: Callable[[SweepRecord], bool | None] | None
    checkpoint: str | os.PathLike[str] | None
    random_state: int | np.random.RandomState | None
    verbose: int
    n_samples_seen_: int
    distortion_: float
    stop_reason_: str
    serial_share_: float

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster. CSR matrices are read without a copy, other sparse formats are converted. A
            column of vectors of pandas, polars or Arrow, and a tensor of PyTorch, are used like arrays.
            The result of `boostkmeans.io.open_vectors` is accepted too. If it does not fit into its
            `max_memory` (or half of the machine's memory), a sample is clustered first. The sweeps over
            all rows then read them from the file.
        y : None
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. By default all weights are 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        began = time.perf_counter()
        self._check_parameters()
        if self.checkpoint is not None:
            check_target(self.checkpoint, force=True)
        with self._restore_input_on_failure(), visible_log(self.verbose, self._max_sweeps):
            n_clusters = self._fit(X, sample_weight, began)
            self._log_result(began)
        self._warn_about_result(n_clusters)
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled estimator. Parameters that its version did not have get their defaults."""
        parameters = inspect.signature(type(self)).parameters.values()
        defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
        super().__setstate__({**defaults, **state})

    @property
    def n_clusters_(self) -> int:
        """Number of clusters of the fitted model."""
        return len(self.cluster_centers_)

    @abstractmethod
    def _start(self) -> Start:
        """Return the function that starts a run."""

    @abstractmethod
    def _problem(self, rows: RowSet, weights: RowWeights, n_clusters: int, n_threads: int) -> Problem:
        """Return the problem to solve."""

    @property
    def _checkpoint_name(self) -> str:
        """Name of the estimator in its checkpoints. A subclass with the same results may share it."""
        return type(self).__name__

    @property
    def _max_sweeps(self) -> int:
        """Maximum number of sweeps and repair rounds per run."""
        return min(self.max_iter, MOST_SWEEPS)

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None, began: float) -> int:
        """Fit all runs and set the fitted attributes, after Ctrl-C from the best run so far.

        Return the number of clusters that was requested.
        """
        clock = CoreClock()
        n_threads = resolve_threads(self.n_threads)
        k = self._requested_clusters(X, sample_weight)
        source = source_to_stream(X, k, weighted=sample_weight is not None)
        rows: RowSet
        array = None
        if source is None:
            array = self._validate(X, reset=True)
            weights = RowWeights.of(sample_weight, array.shape[0])
            check_rows_for_clusters(k, self.leaf_size, array.shape[0], weights)
            rows = Rows.in_own_frame(array, self.metric, n_threads)
        else:
            self._validate_source(source, reset=True, whole=False)
            weights = RowWeights.of(sample_weight, source.shape[0])
            check_rows_for_clusters(k, self.leaf_size, source.shape[0], weights)
            rows = StreamedRows.within_memory(
                source, self.metric, k, n_threads, weighted=sample_weight is not None
            )
            logger.info("the rows do not fit into memory and are read in %d blocks", rows.n_blocks)
        left = memory_left(X, k, weighted=sample_weight is not None)
        context = self._context(rows, weights, array, began, left)
        best = BestRun(self._problem(rows, weights, k, n_threads), context, self._start())
        watch = RowWatch.for_callback(rows, self.callback, n_threads)
        try:
            run = best.find(self.n_init)
            # After sweeps over candidates, finding the nearest of all centres would take longer than the
            # fit. With limits, the nearest centre may be full.
            relabel = run.candidates is None and run.problem.limits is None
            assert run.outcome is not None
            outcome = _confirmed(run.outcome, watch)
            result = self._result(run, outcome, rows, weights, relabel=relabel)
        except KeyboardInterrupt:
            if best.run is not None:
                outcome = Outcome(StopReason.INTERRUPTED, complete=False)
                result = self._result(best.run, outcome, rows, weights, relabel=False)
                self.__dict__.update(result, **clock.attributes())
                self._log_result(began)
            raise
        self.__dict__.update(result, **clock.attributes())
        return k

    def _requested_clusters(self, X: Any, sample_weight: ArrayLike | None) -> int:
        """Return the number of clusters that the parameters request for these rows."""
        total = 0.0
        if self.leaf_size is not None:
            total = RowWeights.of(sample_weight, _num_samples(X)).total
        return cluster_count(self.n_clusters, self.leaf_size, total)

    def _context(
        self,
        rows: RowSet,
        weights: RowWeights,
        array: Array | None,
        began: float,
        memory_left: float,
    ) -> FitContext:
        """Return the settings of all runs, with the checkpoint from which they resume."""
        checkpoint = None if self.checkpoint is None else self._open_checkpoint(rows, weights)
        requested = replace(self._requested_settings(), memory_left=memory_left)
        if checkpoint is not None and checkpoint.uses_all_dimensions:
            requested = replace(requested, dimensions=None)
        return FitContext(
            requested=requested,
            criteria=self._criteria(began),
            rng=check_random_state(self.random_state),
            began=began,
            X=array,
            checkpoint=checkpoint,
        )

    def _requested_settings(self) -> RequestedSettings:
        return RequestedSettings(
            init=getattr(self, "init", None),
            repair=self.repair,
            annealing=self.annealing,
            n_candidates=self.n_candidates,
            quality=self.quality,
            moves=self.moves,
            max_iter=self._max_sweeps,
            dimensions=getattr(self, "dimensions", None),
        )

    def _criteria(self, began: float) -> StoppingCriteria:
        deadline = math.inf if self.max_time is None else began + self.max_time
        return StoppingCriteria(self.tol, self._max_sweeps, deadline, self.callback)

    def _open_checkpoint(self, rows: RowSet, weights: RowWeights) -> Checkpoint:
        assert self.checkpoint is not None
        identity = identity_of(
            self._checkpoint_name,
            self.get_params(deep=False),
            rows,
            weights,
            resolve_threads(self.n_threads),
        )
        return Checkpoint(self.checkpoint, identity)

    def _result(
        self, run: Run, outcome: Outcome, rows: RowSet, weights: RowWeights, *, relabel: bool
    ) -> dict[str, Any]:
        """Return the fitted attributes: centres of the run, labels and inertia of these rows.

        `relabel` assigns all rows to their nearest centres, as `predict` does. If the run ended early,
        some rows are nearer to another centre than to their own. In a certified partition, only ties and
        rounding make a difference. If it is a larger one, the result is not certified.
        """
        own, reason = run.problem, outcome.reason
        labels, inertia = run.partition.labels, run.inertia_in_user_units
        in_frame = run.take_centres()
        centres = own.rows.frame.leave(in_frame)
        if rows is not own.rows or not rows.frame.is_exact:  # Round the centres as `predict` does.
            in_frame = rows.frame.enter(centres)
        inertias = None if run.inertias is None else run.inertias * own.weights.unit
        if relabel:
            projection = own.projection if rows is own.rows else None
            inertias = np.zeros(len(centres))
            found, total = assign_nearest(
                rows, weights, in_frame, own.n_threads, projection=projection, guesses=labels,
                inertias=inertias,
            )  # fmt: skip
            check_still_finite(total)
            if reason is not StopReason.CERTIFIED or not np.array_equal(found, labels):
                labels, inertia = found, rows.frame.inertia(total)
        elif weights.values is not None and self._may_assign_zero_weight_rows(
            run, outcome, rows, weights
        ):
            assign_zero_weight_rows(labels, rows, weights.values, in_frame, own.n_threads)
        if outcome.reason is not StopReason.INTERRUPTED:
            check_still_finite(run.inertia)
        if reason is StopReason.CERTIFIED and rows is own.rows and not run.is_inertia_of(labels):
            reason = StopReason.TOL
        if reason is StopReason.CERTIFIED and math.isinf(inertia):
            reason = StopReason.TOL
        if not are_distinguishable(in_frame):
            reason = StopReason.TOL if reason is StopReason.CERTIFIED else reason
            warnings.warn(
                "The values of X differ by more than 150 orders of magnitude. Float64 cannot represent "
                "the squared distances between some of the centres. Remove outliers, or scale columns.",
                RuntimeWarning,
                stacklevel=2,
            )
        if inertias is None and (outcome.reason is not StopReason.INTERRUPTED or rows.in_memory):
            inertias = inertia_of_clusters(rows, weights, in_frame, labels, own.n_threads)
        spread = None if inertias is None else measured_spread(inertias, rows.frame, weights, labels)
        return {
            "_frame": rows.frame,
            "_cluster_weights": run.partition.weights * own.weights.unit,
            "cluster_spread_": spread,
            "cluster_centers_": centres,
            "labels_": labels,
            "cluster_sizes_": np.bincount(labels, minlength=len(centres)),
            "inertia_": inertia,
            "distortion_": inertia / weights.total,
            "history_": run.history,
            "n_iter_": sum(record.kind != START for record in run.history),
            "n_samples_seen_": len(labels),
            "stop_reason_": str(reason),
            "converged_": reason is StopReason.CERTIFIED,
        }

    @staticmethod
    def _may_assign_zero_weight_rows(
        run: Run, outcome: Outcome, rows: RowSet, weights: RowWeights
    ) -> bool:
        """Return True if rows of zero weight may have a label other than that of their nearest centre.

        After Ctrl-C, another pass over streamed rows would take too long.
        """
        return (
            weights.n_positive < rows.n_rows
            and (outcome.reason is not StopReason.CERTIFIED or run.problem.limits is not None)
            and (outcome.reason is not StopReason.INTERRUPTED or rows.in_memory)
        )

    def _check_parameters(self) -> None:
        """Raise ParameterError for an invalid parameter."""
        check_parameters(self, self._allowed)
        check_cluster_count(self.n_clusters, self.leaf_size, type(self).__name__)
        annealing = self.annealing
        if isinstance(annealing, tuple) and annealing[1] > self._max_sweeps:
            expected = f"a tuple of a temperature and at most {self._max_sweeps} sweeps (max_iter)"
            raise ParameterError("annealing", expected, annealing, owner=type(self).__name__)

    def _log_result(self, began: float) -> None:
        """Log the result of a fit, for users if they asked for it."""
        logger.log(
            logging.INFO if self.verbose else logging.DEBUG,
            "%s%s: k=%d, inertia %.8g, stop reason %s, %d sweeps, %.3f s",
            stage_prefix(),
            type(self).__name__,
            len(self.cluster_centers_),
            self.inertia_,
            self.stop_reason_,
            self.n_iter_,
            time.perf_counter() - began,
        )

    def _warn_about_result(self, n_clusters: int) -> None:
        n_found = np.count_nonzero(self.cluster_sizes_)
        if n_found < n_clusters:
            warnings.warn(FewerClustersWarning(int(n_found), n_clusters), stacklevel=3)
        if math.isinf(self.inertia_):
            warnings.warn(
                "The inertia is too large for float64 and is reported as infinite. The result is not "
                "certified. Divide X by a large factor, or scale columns.",
                RuntimeWarning,
                stacklevel=3,
            )


def _confirmed(outcome: Outcome, watch: RowWatch | None) -> Outcome:
    """Return the outcome. A certificate of rows that have changed in the meantime is withdrawn."""
    if outcome.reason is StopReason.CERTIFIED and watch is not None and watch.has_changed():
        return replace(outcome, reason=StopReason.TOL)
    return outcome


class FewerClustersWarning(ConvergenceWarning):
    """The fit found fewer distinct clusters than requested. The message matches that of scikit-learn.

    Parameters
    ----------
    n_found : int
        Number of clusters that have rows.
    n_clusters : int
        Number of clusters that were requested.
    """

    def __init__(self, n_found: int, n_clusters: int) -> None:
        self.message = Message(
            "Number of distinct clusters ({n_found}) found smaller than {parameter} ({n_clusters}). "
            "Possibly due to duplicate points in X.",
            n_found=n_found,
            parameter=Parameter("n_clusters"),
            n_clusters=n_clusters,
        )
        super().__init__(self.message.render())

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        return self.message.render(option)
