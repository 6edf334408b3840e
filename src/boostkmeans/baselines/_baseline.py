"""Base class of the baselines: validation, several runs, and the measurement of a run."""

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.spread import measured_spread
from boostkmeans._runtime.parameter_checks import ParameterChecker, check_n_clusters
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import distances_to_assigned, inertia_of_clusters, nearest
from boostkmeans._steps.partition import Labels
from boostkmeans.baselines._stopwatch import Stopwatch


@dataclass(frozen=True)
class FitData:
    """Rows and weights of a fit, and its clock."""

    array: Any
    """Validated X, dense or CSR."""
    rows: Rows
    weights: RowWeights
    n_threads: int
    watch: Stopwatch

    def measure(self, centres: Floats) -> tuple[Labels, float]:
        """Return the nearest centre of each row and the exact inertia. The clock is paused."""
        with self.watch.paused():
            labels, gaps = nearest(self.rows, self.rows.frame.enter(centres), self.n_threads)
            return labels, self.rows.frame.inertia(self.weights.total_of(gaps))

    def inertia(self, centres: Floats, labels: Labels) -> float:
        """Return the inertia of labels that may differ from the nearest centres. The clock is paused."""
        with self.watch.paused():
            in_frame = self.rows.frame.enter(centres)
            gaps, _ = distances_to_assigned(self.rows, in_frame, labels, self.n_threads)
            return self.rows.frame.inertia(self.weights.total_of(gaps))


@dataclass(frozen=True)
class RunResult:
    """Result of one run, in the units of X."""

    centres: Floats
    labels: Labels
    inertia: float
    history: list[SweepRecord]
    n_iter: int
    stopped: bool = False
    """True if the callback or the time limit ended the run. The fit then performs no further runs."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Other fitted attributes."""


class Baseline(CentreModel):
    """Base class of the baselines."""

    # Defaults for estimators without these parameters, and for pickles of earlier versions.
    max_time: float | None = None
    callback: Callable[[SweepRecord], bool | None] | None = None

    n_clusters: int
    n_init: int
    max_iter: int
    tol: float
    random_state: int | np.random.RandomState | None

    @abstractmethod
    def _run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        """Perform one run from a new start."""

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        watch = Stopwatch()
        self._check_parameters()
        with self._restore_input_on_failure():
            return self._fit_rows(X, sample_weight, watch)

    def _fit_rows(self, X: ArrayLike, sample_weight: ArrayLike | None, watch: Stopwatch) -> Self:
        array = self._validate(X, reset=True)
        weights = RowWeights.of(sample_weight, array.shape[0])
        check_n_clusters(self.n_clusters, array.shape[0], weights.n_positive)
        threads = resolve_threads(self.n_threads)
        data = FitData(array, Rows.in_own_frame(array, "euclidean", threads), weights, threads, watch)
        rng = check_random_state(self.random_state)
        best = self._best_run(data, rng)
        # All attributes are set in one step, so that Ctrl-C cannot leave some of them unset.
        self.__dict__.update(_fitted_attributes(best, data))
        if math.isinf(self.inertia_):
            warnings.warn(
                "The inertia is too large for float64 and is reported as infinite. Divide X by a large "
                "factor, or scale columns.",
                RuntimeWarning,
                stacklevel=4,
            )
        self._warn_about_result()
        return self

    def _best_run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        best = run = self._run(data, rng)
        for _ in range(1, self.n_init):
            if run.stopped:
                break
            run = self._run(data, rng)
            best = min(best, run, key=lambda one: one.inertia)
        return best

    def _is_stopped(self, record: SweepRecord) -> bool:
        """Pass a record to the callback. Return True if it or the time limit ends the fit."""
        stopped = self.callback is not None and bool(self.callback(record))
        return stopped or (self.max_time is not None and record.seconds >= self.max_time)

    def _check_parameters(self) -> None:
        check = ParameterChecker(self)
        check.integer("n_clusters", self.n_clusters, 1)
        check.integer("n_init", self.n_init, 1)
        self._check_max_iter(check)
        check.real("tol", self.tol)
        check.random_state(self.random_state)
        if self.n_threads is not None:
            check.integer("n_threads", self.n_threads, 1)
        if self.max_time is not None:
            check.real("max_time", self.max_time, positive=True)
        if self.callback is not None and not callable(self.callback):
            check.fail("callback", "None or callable", self.callback)

    def _check_max_iter(self, check: ParameterChecker) -> None:
        check.integer("max_iter", self.max_iter, 1)

    def _warn_about_result(self) -> None:
        """Warn if the result is not what the user asked for."""


class WeightedBaseline(Baseline):
    """Base class of the baselines that support row weights."""

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. None means equal weights.

        Returns
        -------
        object
            The fitted estimator.
        """
        return self._fit(X, sample_weight)


def _fitted_attributes(run: RunResult, data: FitData) -> dict[str, Any]:
    rows, weights = data.rows, data.weights
    in_frame = rows.frame.enter(run.centres)
    inertias = inertia_of_clusters(rows, weights, in_frame, run.labels, data.n_threads)
    return {
        "cluster_spread_": measured_spread(inertias, rows.frame, weights, run.labels),
        "_frame": data.rows.frame,
        "cluster_centers_": run.centres,
        "labels_": run.labels,
        "cluster_sizes_": np.bincount(run.labels, minlength=len(run.centres)),
        "inertia_": run.inertia,
        "distortion_": run.inertia / data.weights.total,
        "history_": run.history,
        "n_iter_": run.n_iter,
        **run.attributes,
    }


class Step(NamedTuple):
    """Result of one iteration: centres in the user's space, and the number of computed distances."""

    centres: Floats
    evaluations: int
    is_recorded: bool = True
    """Whether the inertia is measured. The last step must be recorded."""


def run_steps(
    data: FitData,
    steps: Iterator[Step],
    kind: str,
    tol: float,
    is_stopped: Callable[[SweepRecord], bool],
) -> RunResult:
    """Perform a run whose inertia is measured after its steps, while the clock is paused.

    The run ends with the last step, or when the inertia falls by less than a fraction `tol` from one
    record to the next, or when `is_stopped` returns True for a record.
    """
    labels = np.full(data.rows.n_rows, -1, dtype=np.int32)
    history: list[SweepRecord] = []
    evaluations = n_steps = 0
    stopped = False
    for step in steps:
        n_steps += 1
        evaluations += step.evaluations
        if not step.is_recorded:
            continue
        centres, before, seconds = step.centres, labels, data.watch.seconds
        labels, inertia = data.measure(centres)
        moves = int(np.count_nonzero(labels != before))
        history.append(SweepRecord(seconds, moves, inertia, evaluations, kind))
        evaluations = 0
        stopped = is_stopped(history[-1])
        if stopped or _is_slow(history, tol):
            break
    return RunResult(centres, labels, inertia, history, n_steps, stopped)


def _is_slow(history: list[SweepRecord], tol: float) -> bool:
    """Return True if the last record improved the inertia by less than a fraction `tol`."""
    if tol <= 0 or len(history) < 2:
        return False
    return history[-2].inertia - history[-1].inertia < tol * history[-2].inertia
