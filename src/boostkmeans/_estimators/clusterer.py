"""What the estimators share on the way from parameters to fitted attributes."""

import logging
import math
import os
import time
import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from boostkmeans._data.rows import Rows
from boostkmeans._data.streamed_rows import MappedRows, RowSource, StreamedRows, has_to_stream
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.checkpoint import SWEEPS, Keeper, random_state, set_random_state
from boostkmeans._engine.history import SweepRecord
from boostkmeans._engine.plan import QUALITIES, Plan, Wishes, plan_for
from boostkmeans._engine.problem import Job
from boostkmeans._engine.run import Fit
from boostkmeans._engine.schedule import Course, StopRules
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.parameter_checks import ParameterChecker, check_n_clusters
from boostkmeans._runtime.progress import visible_log
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.candidates import Candidates
from boostkmeans._steps.coincident import first_at_same_place
from boostkmeans._steps.partition import assigned, put_weightless
from boostkmeans._storage.atomic_file import check_target
from boostkmeans._storage.state import SavedState

logger = logging.getLogger("boostkmeans")

METRICS = ("euclidean", "cosine")
MOVES = ("best", "first")
# What the tolerance of a move (1e-12 of its terms) can hide: the weight of a row in its cluster, and the
# rounding of a centre in the frame.
LEAST_SHARE, MOST_ROUNDING = 1e-9, 1e-13


class Clusterer(CentreModel):
    """Base of the estimators: `fit`, checks, and what a fit leaves behind."""

    n_clusters: int
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

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Clusters the rows of X, a dense array or a sparse matrix.

        CSR is read as it is, other sparse formats are converted. What `boostkmeans.io.open_vectors`
        gives is taken too; if it is larger than its `max_memory` (or half of the machine's memory), a
        sample of it is clustered, and from there all rows, which are read from the file in each sweep.
        `y` is ignored, as scikit-learn's pipelines want it.
        """
        began = time.perf_counter()
        self._check_parameters()
        if self.checkpoint is not None:
            check_target(self.checkpoint, force=True)
        with self._input_kept_if_it_fails():
            self._fit(X, sample_weight, began)
        self._warn_about_result()
        return self

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None, began: float) -> None:
        threads = resolve_threads(self.n_threads)
        source = self._source_to_stream(X, weighted=sample_weight is not None)
        if source is None:
            array = self._validate(X, reset=True)
        else:
            array = self._validate_source(source, reset=True, whole=False)
        n = array.shape[0] if source is None else source.shape[0]
        weights = RowWeights.of(sample_weight, n)
        check_n_clusters(self.n_clusters, n, weights.n_positive)
        with visible_log(self.verbose):
            if source is None:
                rows = Rows.in_own_frame(array, self.metric, threads)
            else:
                rows = StreamedRows.of(
                    source, self.metric, self.n_clusters, threads, weighted=sample_weight is not None
                )
                logger.info("rows are read in %d parts: there are too many for the memory", rows.n_parts)
            keeper = Keeper.of(self, rows, weights)
            rng = check_random_state(self.random_state)
            self._fit_rows(Job(array, rows, weights, rng, threads, self.moves, began, keeper))

    def _source_to_stream(self, X: Any, *, weighted: bool) -> RowSource | None:
        """What rows are read from in each sweep, if there are too many for the memory."""
        if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiub":
            X = MappedRows(X)
        return (
            X
            if isinstance(X, RowSource) and has_to_stream(X, self.n_clusters, weighted=weighted)
            else None
        )

    @abstractmethod
    def _start_fit(self, job: Job) -> Fit:
        """A run before its first sweep."""

    @abstractmethod
    def _unbegun_fit(self, job: Job) -> Fit:
        """A run that is yet to be restored."""

    def _restored(self, job: Job, saved: SavedState) -> Fit:
        """A run that a checkpoint has kept."""
        fit = self._unbegun_fit(job)
        fit.restore(saved)
        if not fit.is_of_its_rows():
            raise ValueError(
                f"{self.checkpoint} is the checkpoint of another fit: its clusters are not of these "
                "rows and weights. Remove it to begin anew, or choose another file."
            )
        return fit

    def _next_run(self, job: Job, stop: StopRules, stage: str) -> Course:
        """A run that begins, or goes on from what was kept of that stage."""
        saved = job.keeper.saved(stage)
        fit = self._start_fit(job) if saved is None else self._restored(job, saved.child("fit"))

        def keep(course: Course, *, now: bool) -> None:
            job.keeper.keep(
                stage,
                lambda: {"rng": random_state(job.rng), "fit": fit.state(), "course": course.state()},
                now=now,
            )

        course = Course(fit, stop, keep)
        if saved is not None:
            set_random_state(job.rng, saved.child("rng"))
            course.restore(saved.child("course"))
        return course

    def _run(self, course: Course) -> None:
        course.run()

    def _fit_rows(self, job: Job) -> None:
        keeper, stop = job.keeper, self._stop_rules(job.began)
        best = None if keeper.best is None else self._restored(job, keeper.best)
        try:
            for _ in range(keeper.n_done, self.n_init):
                keeper.begin_run(job.rng, None if best is None else best.state())
                course = self._next_run(job, stop, SWEEPS)
                fit = course.fit
                try:
                    self._run(course)
                finally:  # interrupted or not, it may be the best so far
                    best = fit if best is None or fit.inertia < best.inertia else best
                if course.disturbed:
                    break
                keeper.n_done += 1
            if best is None:
                raise DataFormatError(f"{self.checkpoint}: the checkpoint is damaged: it has no runs.")
            if keeper.n_done == self.n_init:
                keeper.finish(best.state())
            # Where rows did not look at all clusters, this would take longer than the whole fit did.
            # Within limits, the nearest centre may be one that has no room.
            relabel = best.saw_all and not best.limits and not has_nearest_labels(best)
            result = self._result(best, job.rows, job.weights, job.n_threads, relabel=relabel)
        except KeyboardInterrupt:
            if best is not None:
                best.stop_reason = "interrupted"
                self._adopt(self._result(best, job.rows, job.weights, job.n_threads, relabel=False))
            raise
        self._adopt(result)

    def _stop_rules(self, began: float) -> StopRules:
        deadline = math.inf if self.max_time is None else began + self.max_time
        return StopRules(self.tol, self._most_sweeps, deadline, self.callback)

    @property
    def _most_sweeps(self) -> int:
        return self.max_iter

    def _plan(self, init: object, rows: Rows, n_clusters: int) -> Plan:
        """Settles what the parameters leave open."""
        wishes = Wishes(
            init=init,
            repair=self.repair,
            annealing=self.annealing,
            n_candidates=self.n_candidates,
            quality=self.quality,
            moves=self.moves,
            max_iter=self._most_sweeps,
        )
        plan = plan_for(wishes, rows.n_rows, rows.n_features, n_clusters)
        if plan.reasons:
            logger.info("%s", plan)
        return plan

    def _follow(self, fit: Fit, plan: Plan) -> None:
        """Tells a run what was planned for it."""
        if plan.n_candidates is not None:
            # Who names a number, or takes the first better cluster, wants the paper's top-k0 as it is.
            # Some rows of a file cost as much as all. What sparse rows cost has another law.
            as_asked = not isinstance(self.n_candidates, str) or self.moves == "first"
            looks_around = not (as_asked or fit.rows.n_parts > 1 or fit.rows.stays_sparse)
            fit.candidates = Candidates(
                plan.n_candidates, fit.n_threads, plan.then_all, looks_around, float(self.tol)
            )
        fit.plan = plan
        fit.note = str(plan)

    def _result(
        self, fit: Fit, rows: Rows, weights: RowWeights, threads: int, *, relabel: bool
    ) -> dict[str, Any]:
        """The fitted attributes: centres from the fit, labels and the rest for these rows.

        Where the run ended early, some rows are nearer to another centre than to their own: `relabel`.
        """
        labels, inertia = fit.partition.labels, fit.user_inertia
        in_frame = fit.partition.take_centres()
        if rows is not fit.rows or not rows.frame.is_exact:  # as `predict` will see them
            in_frame = rows.frame.enter(fit.rows.frame.leave(in_frame))
        if relabel:
            labels, total = assigned(rows, weights, in_frame, threads)
            inertia = rows.frame.inertia(total)
        elif (
            weights.values is not None
            and weights.n_positive < rows.n_rows
            and (not fit.certified or fit.limits)
            and (fit.stop_reason != "interrupted" or rows.n_parts == 1)  # that would take too long
        ):
            put_weightless(labels, rows, weights.values, in_frame, threads)
        centres = fit.rows.frame.leave(fit.partition.take_centres())
        return {
            "_frame": rows.frame,
            "_cluster_weights": fit.partition.weights * fit.row_weights.unit,
            "cluster_centers_": centres,
            "labels_": labels,
            "cluster_sizes_": np.bincount(labels, minlength=len(centres)),
            "inertia_": inertia,
            "distortion_": inertia / weights.total,
            "history_": fit.history,
            "n_iter_": len(fit.history),
            "n_samples_seen_": len(labels),
            "stop_reason_": fit.stop_reason,
            "converged_": fit.certified,
        }

    def _adopt(self, result: dict[str, Any]) -> None:
        """All attributes at once, so that nothing can leave half of them."""
        self.__dict__.update(result)

    def _check_parameters(self) -> None:
        check = ParameterChecker(self)
        check.integer("n_clusters", self.n_clusters, 1)
        check.choice("moves", self.moves, MOVES)
        check.choice("metric", self.metric, METRICS)
        check.integer("n_init", self.n_init, 1)
        check.integer("max_iter", self.max_iter, 1)
        check.real("tol", self.tol)
        if isinstance(self.n_candidates, str):
            check.choice("n_candidates", self.n_candidates, ("auto",))
        elif self.n_candidates is not None:
            check.integer("n_candidates", self.n_candidates, 1)
        check.choice("quality", self.quality, QUALITIES)
        self._check_repair(check)
        self._check_annealing(check)
        if self.max_time is not None:
            check.real("max_time", self.max_time, positive=True)
        if self.callback is not None and not callable(self.callback):
            check.fail("callback", "callable or None", self.callback)
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | os.PathLike):
            check.fail("checkpoint", "a path or None", self.checkpoint)
        if self.n_threads is not None:
            check.integer("n_threads", self.n_threads, 1)
        if not isinstance(self.verbose, bool):
            check.integer("verbose", self.verbose, 0)

    def _check_repair(self, check: ParameterChecker) -> None:
        if isinstance(self.repair, str):
            check.choice("repair", self.repair, ("auto",))
        elif not isinstance(self.repair, bool | np.bool_):
            check.integer("repair", self.repair, 0)

    def _check_annealing(self, check: ParameterChecker) -> None:
        annealing = self.annealing
        if isinstance(annealing, str):
            check.choice("annealing", annealing, ("auto",))
            return
        if isinstance(annealing, tuple) and len(annealing) != 2:
            check.fail("annealing", "a temperature, or a tuple of it and a number of sweeps", annealing)
        temperature, n_sweeps = annealing if isinstance(annealing, tuple) else (annealing, 1)
        good = (
            isinstance(temperature, Real) and not isinstance(temperature, bool) and 0 <= temperature < 1
        )
        if not good or not isinstance(n_sweeps, Integral) or not 1 <= n_sweeps <= self._most_sweeps:
            check.fail(
                "annealing",
                "'auto', a temperature in [0, 1), or a tuple of it and a number of sweeps, no more than "
                f"max_iter={self._most_sweeps}",
                annealing,
            )

    def _warn_about_result(self) -> None:
        n_found = np.count_nonzero(self.cluster_sizes_)
        if n_found < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({n_found}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if math.isinf(self.inertia_):
            warnings.warn(
                "The inertia is too large for float64 and reported as infinite; labels and centres "
                "are right. Divide X by a large factor to see it.",
                RuntimeWarning,
                stacklevel=3,
            )


def has_nearest_labels(fit: Fit) -> bool:
    """Whether the labels of the partition are those of the nearest centres.

    A certified partition has them, but for rows without or nearly without weight, which have no say
    in where they are; for rows that lie on several centres at once (duplicates), which go to the
    first of these; and where the data lies so far from 0 that its centres are rounded.
    """
    partition, values, frame = fit.partition, fit.row_weights.values, fit.rows.frame
    if not fit.certified:
        return False
    if values is not None and values.min() < LEAST_SHARE * partition.weights.max():
        return False
    if not frame.is_exact:
        centres = partition.centres
        rounded = np.abs(frame.enter(frame.leave(centres)) - centres).max()
        if rounded > MOST_ROUNDING:
            return False
    first = first_at_same_place(partition)
    return bool((first == np.arange(len(first))).all())
