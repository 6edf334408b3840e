"""The methods of the paper's experiments on vectors, each with a trace of its fit.

A trace has the distortion and the seconds after each iteration. The time to measure a method is not part
of its own time. A fit with a `FitState` can be interrupted at any time and continues where it stopped.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported. It also makes
# `isolated` importable.
from numpy.typing import NDArray

from boostkmeans import BoostKMeans, SweepRecord, metrics
from boostkmeans.baselines import KMeans, OnlineKMeans, ScikitLearnKMeans
from bounded_fits import BoundedBoostKMeans, BoundedKMeans
from isolated import isolated
from traces import STOP_REASONS

Array = NDArray[Any]

# Maximum number of iterations, as in the paper.
ITERATIONS = 130
# Iterations of k-means between two states from which it can continue.
ITERATIONS_PER_CALL = 10
# A process is killed after this multiple of the time limit of its method.
KILL_FACTOR = 6.0
# The paper's direct k-way compares with all clusters, in all dimensions, without repair and annealing.
PLAIN: dict[str, Any] = {"n_candidates": None, "repair": False, "annealing": 0, "dimensions": None}
# Value of `init` for the starts of the paper.
STARTS = {"non": "random-partition", "rnd": "random", "kpp": "k-means++"}
# The same for `BoostKMeans`, whose "k-means++" is greedy. Splits of trees always draw one candidate.
DIRECT_STARTS = {**STARTS, "kpp": "plain-k-means++"}


@dataclass(frozen=True)
class TracePoint:
    """Time and distortion after an iteration."""

    iteration: int
    seconds: float
    distortion: float
    moves: int = 0


@dataclass(frozen=True)
class FitState:
    """What a fit needs to continue after an interruption."""

    folder: Path
    points: list[TracePoint] = field(default_factory=list)
    """The points of the trace before the interruption."""
    keep: Callable[[list[TracePoint]], None] = lambda points: None
    """Called with all points after each iteration."""


@dataclass(frozen=True)
class Task:
    """Rows, number of clusters and seed."""

    X: Array
    k: int
    seed: int
    n_threads: int | None = None
    iterations: int = ITERATIONS
    """Maximum number of iterations of direct k-way methods."""
    state: FitState | None = None
    bounded: bool = False
    """Whether bounds may save time, because the seconds do not count; see `bounded_fits.py`."""

    def file(self, name: str) -> Path | None:
        """Return the path of a file for the state of the fit, or None if the fit has no state."""
        return None if self.state is None else self.state.folder / name


@dataclass(frozen=True)
class Trace:
    """Course of a fit and its result."""

    points: list[TracePoint]
    """Points by the centres of the method, which may differ from the means of its clusters."""
    distortion: float
    """Final distortion, computed from the labels alone."""
    stop_reason: str
    """One of "converged", "iterations" and "time", or the reason that the estimator gives."""
    labels: Array
    figures: Json = field(default_factory=dict)
    """Further figures of the method."""


Contender = Callable[[Task], Trace]


class Recorder:
    """Points of a fit. They are kept after each iteration if the fit has a state."""

    def __init__(self, task: Task, up_to: int | None = None) -> None:
        self._task = task
        before = [] if task.state is None else task.state.points
        self.points = [one for one in before if up_to is None or one.iteration <= up_to]
        self._resumed = bool(self.points)

    @property
    def last(self) -> int:
        """The number of the last iteration."""
        return self.points[-1].iteration if self.points else 0

    def add(self, point: TracePoint) -> None:
        """Add a point, and keep all of them."""
        self.points.append(point)
        if self._task.state is not None:
            self._task.state.keep(self.points)

    def add_record(self, record: SweepRecord) -> None:
        """Add the next record of an estimator, as its callback."""
        distortion = record.inertia / len(self._task.X)
        # A resumed fit may repeat the last iterations, because its checkpoint is a little older.
        while self._resumed and self.points and self.points[-1].distortion <= distortion:
            self.points.pop()
        self._resumed = False
        self.add(TracePoint(self.last + 1, record.seconds, distortion, record.moves))


def distortion_of(task: Task, labels: Array) -> float:
    """Return the average distortion with the means of the clusters as centres."""
    return float(metrics.average_distortion(task.X, labels))


def points_of(model: Any, n: int, first: int = 1) -> list[TracePoint]:
    """Return the points of the history of an estimator."""
    return [
        TracePoint(number, record.seconds, record.inertia / n, record.moves)
        for number, record in enumerate(model.history_, start=first)
    ]


def trace_of(model: Any, task: Task, stop_reason: str) -> Trace:
    """Return the trace of a fitted estimator with a history."""
    return Trace(
        points_of(model, len(task.X)),
        distortion_of(task, model.labels_),
        STOP_REASONS.get(stop_reason, stop_reason),
        model.labels_,
    )


# --- k-means -------------------------------------------------------------------------------------------


def save_state(path: Path, value: Any) -> None:
    """Write a value in one step, so that an interruption leaves the previous file intact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(value))
    part.replace(path)


def saved_state(path: Path | None) -> Any:
    """Return the value of a file that `save_state` wrote, or None without it."""
    return pickle.loads(path.read_bytes()) if path is not None and path.exists() else None


def lloyd(init: str) -> Contender:
    """Return k-means that runs until nothing moves, or for the iterations of the task.

    If it must be able to continue, it is called for `ITERATIONS_PER_CALL` at a time. Each call begins
    with the assignment to the given centres, so the iterations are those of a single call.
    """

    def run(task: Task) -> Trace:
        path = task.file("centres.pickle")
        saved: Lloyd = saved_state(path) or Lloyd(0, init)
        recorder = Recorder(task, up_to=saved.iterations)
        while saved.iterations < task.iterations and not saved.converged:
            saved = lloyd_call(task, saved, recorder)
            if path is not None:
                save_state(path, saved)
        assert saved.labels is not None
        stop_reason = "converged" if saved.converged else "iterations"
        return Trace(recorder.points, distortion_of(task, saved.labels), stop_reason, saved.labels)

    return run


@dataclass(frozen=True)
class Lloyd:
    """State of k-means after some iterations."""

    iterations: int
    centres: Any
    """Centres, or the name of the start."""
    labels: Array | None = None
    converged: bool = False


def lloyd_call(task: Task, before: Lloyd, recorder: Recorder) -> Lloyd:
    """Continue k-means for some iterations, or for all that are left if it has no state."""
    left = task.iterations - before.iterations
    length = left if task.state is None else min(left, ITERATIONS_PER_CALL)
    settings: dict[str, Any] = {
        "init": before.centres, "max_iter": length, "tol": 0, "random_state": task.seed,
        "n_threads": task.n_threads, "callback": recorder.add_record,
    }  # fmt: skip
    model: KMeans
    if task.bounded:
        model = BoundedKMeans(task.k, **settings).fit_from(task.X, before.labels)
    else:
        model = KMeans(task.k, **settings).fit(task.X)
    done = before.iterations + model.n_iter_
    return Lloyd(done, model.cluster_centers_, model.labels_, model.history_[-1].moves == 0)


def scikit_learn(init: str) -> Contender:
    """Return scikit-learn's k-means."""

    def run(task: Task) -> Trace:
        model = ScikitLearnKMeans(
            task.k, init=init, max_iter=task.iterations, tol=0, random_state=task.seed,
            n_threads=task.n_threads,
        ).fit(task.X)  # fmt: skip
        return trace_of(model, task, "converged" if model.n_iter_ < task.iterations else "iterations")

    return run


# --- Boost k-means -------------------------------------------------------------------------------------


def boosted(**settings: Any) -> Contender:
    """Return `BoostKMeans` with its defaults, except for the given settings."""

    def run(task: Task) -> Trace:
        model = fit_boosted(task, Recorder(task), settings)
        return trace_of(model, task, model.stop_reason_)

    return run


def fit_boosted(task: Task, recorder: Recorder, settings: dict[str, Any]) -> BoostKMeans:
    """Return a fitted `BoostKMeans`, which continues from its checkpoint if it has one."""
    chosen: dict[str, Any] = {"random_state": task.seed, "n_threads": task.n_threads, **settings}
    if task.iterations != ITERATIONS:
        chosen["max_iter"] = task.iterations
    is_plain = all(chosen.get(name, "auto") == value for name, value in PLAIN.items())
    make = BoundedBoostKMeans if task.bounded and is_plain else BoostKMeans
    return make(
        task.k, checkpoint=task.file("fit.checkpoint"), callback=recorder.add_record, **chosen
    ).fit(task.X)


def paper_variant(init: str, moves: str = "best") -> Contender:
    """Return the paper's direct k-way, which runs until no move is left, or for `ITERATIONS`."""
    return boosted(init=DIRECT_STARTS[init], moves=moves, max_iter=ITERATIONS, tol=0, **PLAIN)


# --- LVQ -----------------------------------------------------------------------------------------------


def online(task: Task) -> Trace:
    """Run the paper's LVQ for 25 iterations, after which its learning rate is 0.

    If it must be able to continue, it is called for one iteration at a time.
    """
    if task.state is None:
        model = OnlineKMeans(task.k, max_iter=task.iterations, random_state=task.seed,
                             n_threads=task.n_threads).fit(task.X)  # fmt: skip
        return trace_of(model, task, "converged")
    path = task.state.folder / "centres.pickle"
    done, start = saved_state(path) or (0, "random")
    recorder = Recorder(task, up_to=done)
    first = OnlineKMeans()
    while (rate := first.rate - recorder.last * first.decay) > 1e-9 * first.rate:
        model = OnlineKMeans(task.k, init=start, rate=rate, max_iter=1, n_threads=task.n_threads,
                             random_state=task.seed + recorder.last).fit(task.X)  # fmt: skip
        number, start, labels = recorder.last + 1, model.cluster_centers_, model.labels_
        recorder.add(replace(points_of(model, len(task.X))[0], iteration=number))
        if rate - first.decay > 1e-9 * first.rate:  # The last iteration is repeated for its labels.
            save_state(path, (number, start))
    return Trace(recorder.points, distortion_of(task, labels), "converged", labels)


# --- Processes -----------------------------------------------------------------------------------------


def in_own_process(function: Callable[[Json], Json], run: Json, limit: float) -> Json:
    """Return the figures of a run in a separate process with its peak memory, or the failure.

    The process is killed after `KILL_FACTOR` times the limit.
    """
    outcome = isolated(function, run, limit=KILL_FACTOR * limit)
    if outcome.failure:
        return {"failure": outcome.failure}
    return {**outcome.value, "peak_megabytes": round(outcome.peak_megabytes)}
