"""The methods of the paper's experiments on vectors, each with a trace of its fit and a time limit.

A trace has the distortion and the seconds after each iteration. A method that exceeds its time limit
stops with its current result. The time to measure a method is not part of its own time.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported. It also makes
# `isolated` importable.
import numpy as np
from numpy.typing import NDArray
from sklearn import cluster
from threadpoolctl import threadpool_limits

from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord, metrics
from boostkmeans.baselines import RBK, BisectingKMeans, KMeans, OnlineKMeans
from isolated import isolated

Array = NDArray[Any]

# Maximum number of iterations, as in the paper.
ITERATIONS = 130
# Iterations of Lloyd between two checks of the time limit: few enough to stop in time at the paper's
# size.
ITERATIONS_PER_CHECK = 10
# A process is killed after this multiple of the time limit of its method.
KILL_FACTOR = 6.0
# Share of the rows in a batch of Mini-Batch, as in the paper.
BATCH_SHARE = 0.1
# Mini-Batch measures the distortion after each of the first batches, then after 15 % more batches each
# time.
MEASURED_BATCHES = 10
MEASURED_GROWTH = 1.15
# The paper's direct k-way compares with all clusters, and has neither repair nor annealing.
PLAIN: dict[str, Any] = {"n_candidates": None, "repair": False, "annealing": 0}
# Value of `init` for the starts of the paper.
STARTS = {"non": "random-partition", "rnd": "random", "kpp": "k-means++"}
# Names of stop reasons that all methods share.
STOP_REASONS = {"certified": "converged", "max_iter": "iterations", "max_time": "time"}


@dataclass(frozen=True)
class Task:
    """Rows, number of clusters, seed and time limit."""

    X: Array
    k: int
    seed: int
    limit: float = float("inf")
    """Time limit in seconds."""
    n_threads: int | None = None


@dataclass(frozen=True)
class TracePoint:
    """Time and distortion after an iteration."""

    iteration: int
    seconds: float
    distortion: float


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


Contender = Callable[[Task], Trace]


def distortion_of(task: Task, labels: Array) -> float:
    """Return the average distortion with the means of the clusters as centres."""
    return float(metrics.average_distortion(task.X, labels))


def points_of(history: Iterable[SweepRecord], n: int) -> list[TracePoint]:
    """Return the points of a history."""
    return [TracePoint(i + 1, record.seconds, record.inertia / n) for i, record in enumerate(history)]


def trace_of(model: Any, task: Task, stop_reason: str) -> Trace:
    """Return the trace of a fitted estimator with a history."""
    return Trace(
        points_of(model.history_, len(task.X)),
        distortion_of(task, model.labels_),
        STOP_REASONS.get(stop_reason, stop_reason),
        model.labels_,
    )


def lloyd(init: str) -> Contender:
    """Return k-means that runs until nothing moves, or for `ITERATIONS`.

    scikit-learn has no time limit, but can continue from centres. With a time limit, it is therefore
    called for `ITERATIONS_PER_CHECK` iterations at a time. The small overhead of each call counts.
    """

    def run(task: Task) -> Trace:
        points: list[TracePoint] = []
        start: Any = init
        stop_reason = "iterations"
        while len(points) < ITERATIONS and stop_reason == "iterations":
            done, before = len(points), points[-1].seconds if points else 0.0
            unlimited = task.limit == float("inf")
            length = ITERATIONS if unlimited else min(ITERATIONS_PER_CHECK, ITERATIONS - done)
            model = KMeans(
                task.k, init=start, max_iter=length, tol=0, random_state=task.seed,
                n_threads=task.n_threads,
            ).fit(task.X)  # fmt: skip
            points += [
                TracePoint(done + p.iteration, before + p.seconds, p.distortion)
                for p in points_of(model.history_, len(task.X))
            ]
            start = model.cluster_centers_
            if model.n_iter_ < length:
                stop_reason = "converged"
            elif points[-1].seconds >= task.limit:
                stop_reason = "time"
        return Trace(points, distortion_of(task, model.labels_), stop_reason, model.labels_)

    return run


def boosted(**settings: Any) -> Contender:
    """Return `BoostKMeans` with its defaults, except for the given settings."""

    def run(task: Task) -> Trace:
        limit = None if task.limit == float("inf") else task.limit
        chosen = {"max_time": limit, "random_state": task.seed, "n_threads": task.n_threads, **settings}
        model = BoostKMeans(task.k, **chosen).fit(task.X)
        return trace_of(model, task, model.stop_reason_)

    return run


def paper_variant(init: str, moves: str = "best") -> Contender:
    """Return the paper's direct k-way, which runs until no move is left, or for `ITERATIONS`."""
    return boosted(init=STARTS[init], moves=moves, max_iter=ITERATIONS, tol=0, **PLAIN)


def bisected(make: Callable[..., Any], **settings: Any) -> Contender:
    """Return a tree, whose trace has one point."""

    def run(task: Task) -> Trace:
        model = make(task.k, random_state=task.seed, n_threads=task.n_threads, **settings).fit(task.X)
        return trace_of(model, task, getattr(model, "stop_reason_", "tree"))

    return run


def online(task: Task) -> Trace:
    """Run the paper's LVQ for 25 iterations, after which its learning rate is 0.

    With a time limit, it is called for one iteration at a time.
    """
    if task.limit == float("inf"):
        model = OnlineKMeans(task.k, random_state=task.seed, n_threads=task.n_threads).fit(task.X)
        return trace_of(model, task, "converged")
    points: list[TracePoint] = []
    settings: dict[str, Any] = {"init": "random"}
    first = OnlineKMeans().rate
    stop_reason = "converged"
    while (rate := first - len(points) * OnlineKMeans().decay) > 1e-9 * first:
        model = OnlineKMeans(task.k, rate=rate, max_iter=1, random_state=task.seed + len(points),
                             n_threads=task.n_threads, **settings).fit(task.X)  # fmt: skip
        before = points[-1].seconds if points else 0.0
        one = points_of(model.history_, len(task.X))[0]
        points.append(TracePoint(len(points) + 1, before + one.seconds, one.distortion))
        settings = {"init": model.cluster_centers_}
        if points[-1].seconds >= task.limit:
            stop_reason = "time"
            break
    return Trace(points, distortion_of(task, model.labels_), stop_reason, model.labels_)


def mini_batches(X: Array, k: int, seed: int) -> Iterator[Any]:
    """Yield a MiniBatchKMeans after each batch, without end. A batch has a tenth of the rows."""
    rng = np.random.RandomState(seed)
    size = max(k, int(BATCH_SHARE * len(X)))
    model = cluster.MiniBatchKMeans(
        k, init="random", n_init=1, batch_size=size, compute_labels=False, random_state=rng
    )
    while True:
        model.partial_fit(X[np.sort(rng.choice(len(X), size, replace=False))])
        yield model


def mini_batch(n_batches: int = ITERATIONS, seconds: float | None = None) -> Contender:
    """Return Mini-Batch with a number of batches, or with as many as fit into `seconds`.

    The distortion of all rows is measured for some batches only, because it takes longer than a batch.
    Measuring does not count as time.
    """

    def limited(task: Task) -> Trace:
        with threadpool_limits(task.n_threads):
            return run(task)

    def run(task: Task) -> Trace:
        limit = min(task.limit, float("inf") if seconds is None else seconds)
        models = mini_batches(task.X, task.k, task.seed)
        points: list[TracePoint] = []
        spent, batch, measured = 0.0, 0, 0
        while (batch < n_batches or seconds is not None) and spent < limit:
            began = time.perf_counter()
            model = next(models)
            spent += time.perf_counter() - began
            batch += 1
            if batch <= MEASURED_BATCHES or batch >= MEASURED_GROWTH * measured:
                points.append(TracePoint(batch, spent, -model.score(task.X) / len(task.X)))
                measured = batch
        if measured < batch:
            points.append(TracePoint(batch, spent, -model.score(task.X) / len(task.X)))
        labels = model.predict(task.X)
        stop_reason = "time" if spent >= limit else "iterations"
        return Trace(points, distortion_of(task, labels), stop_reason, labels)

    return limited


def mini_batch_as_long_as(other: Contender) -> Contender:
    """Return Mini-Batch that gets as much time as another method takes, which is run first."""

    def run(task: Task) -> Trace:
        seconds = other(task).points[-1].seconds
        return mini_batch(seconds=seconds)(task)

    return run


def in_own_process(function: Callable[[Json], Json], run: Json, limit: float) -> Json:
    """Return the figures of a run in a separate process with its peak memory, or the failure.

    Methods check their time limit themselves. Seeding by k-means++ and measuring do not, so the
    process is killed after `KILL_FACTOR` times the limit.
    """
    outcome = isolated(function, run, limit=KILL_FACTOR * limit)
    if outcome.failure:
        return {"failure": outcome.failure}
    return {**outcome.value, "peak_megabytes": round(outcome.peak_megabytes)}


BISECTING: dict[str, Contender] = {
    "RBK": bisected(RBK),
    "BsKM": bisected(BisectingKMeans, init="random"),
    "BsKM++": bisected(BisectingKMeans, init="k-means++"),
    "BsBKM(non)": bisected(BisectingBoostKMeans, init="random-partition"),
    "BsBKM(rnd)": bisected(BisectingBoostKMeans, init="random"),
    "BsBKM(kpp)": bisected(BisectingBoostKMeans, init="k-means++"),
}

CONTENDERS: dict[str, Contender] = {
    "k-means": lloyd("random"),
    "k-means++": lloyd("k-means++"),
    "Mini-Batch": mini_batch(),
    "Mini-Batch, as long as BKM(non)": mini_batch_as_long_as(paper_variant("non")),
    "LVQ": online,
    **{f"BKM({start})": paper_variant(start) for start in STARTS},
    **{f"BKM({start})+Fast": paper_variant(start, "first") for start in STARTS},
    "boostkmeans, fast": boosted(quality="fast"),
    "boostkmeans": boosted(),
    "boostkmeans, best": boosted(quality="best"),
    "BsBKM(non)": BISECTING["BsBKM(non)"],
    "BsBKM(non), refined": bisected(BisectingBoostKMeans, refine=True),
}
