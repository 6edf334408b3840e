"""The methods of the paper's experiments on vectors, ours among them, each with a course and a limit.

A course has the distortion and the seconds after each iteration. A method that is not at its end when
its time is up stops there, with what it has. What it takes to measure a method is not in its time.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from experiment import Json

# isort: split
# What is above settles threads, before NumPy is imported, and where `isolated` is found.
import numpy as np
from numpy.typing import NDArray
from sklearn import cluster
from threadpoolctl import threadpool_limits

from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord, metrics
from boostkmeans.baselines import RBK, BisectingKMeans, KMeans, OnlineKMeans
from isolated import isolated

Array = NDArray[Any]

# The paper's k-means ends here.
ITERATIONS = 130
# Lloyd's iterations between two looks at the clock: few enough to stop in time at the paper's size.
LEG = 10
# Times its limit, after which a method is killed.
HARD_FACTOR = 6.0
# Of the rows, in a batch of Mini-Batch.
SHARE = 0.1
# The paper's direct k-way looks at all clusters, and knows neither repair nor annealing.
PLAIN: dict[str, Any] = {"n_candidates": None, "repair": False, "annealing": 0}
STARTS = {"non": "random-partition", "rnd": "random", "kpp": "k-means++"}


@dataclass(frozen=True)
class Task:
    """What is to be clustered, and how long it may take."""

    X: Array
    k: int
    seed: int
    limit: float = float("inf")
    """Seconds."""
    n_threads: int | None = None


@dataclass(frozen=True)
class Point:
    """Where a course is after so many iterations."""

    iteration: int
    seconds: float
    distortion: float


@dataclass(frozen=True)
class Course:
    """From the first iteration to the end."""

    points: list[Point]
    distortion: float
    """At the end, from the labels alone: whatever the method itself measures by. The points of a method
    that has centres other than the means of its clusters are by these centres."""
    ended: str
    """Why: "converged", "iterations", "time", or as the estimator calls it."""
    labels: Array


Contender = Callable[[Task], Course]


def distortion_of(task: Task, labels: Array) -> float:
    """By the means of the clusters."""
    return float(metrics.average_distortion(task.X, labels))


def points_of(history: Iterable[SweepRecord], n: int) -> list[Point]:
    """Of records."""
    return [Point(i + 1, record.seconds, record.inertia / n) for i, record in enumerate(history)]


def lloyd(init: str) -> Contender:
    """K-means, until nothing moves or `ITERATIONS`.

    scikit-learn cannot be stopped by the clock, but goes on from centres. So there are legs where there
    is a limit: what each takes to begin counts, which is little where a limit is needed.
    """

    def run(task: Task) -> Course:
        points: list[Point] = []
        start: Any = init
        ended = "iterations"
        while len(points) < ITERATIONS and ended == "iterations":
            done, before = len(points), points[-1].seconds if points else 0.0
            length = ITERATIONS if task.limit == float("inf") else min(LEG, ITERATIONS - done)
            model = KMeans(
                task.k, init=start, max_iter=length, tol=0, random_state=task.seed,
                n_threads=task.n_threads,
            ).fit(task.X)  # fmt: skip
            points += [
                Point(done + p.iteration, before + p.seconds, p.distortion)
                for p in points_of(model.history_, len(task.X))
            ]
            start = model.cluster_centers_
            if model.n_iter_ < length:
                ended = "converged"
            elif points[-1].seconds >= task.limit:
                ended = "time"
        return Course(points, distortion_of(task, model.labels_), ended, model.labels_)

    return run


def boosted(**settings: Any) -> Contender:
    """`BoostKMeans`. What it has by default stays as it is, but for what is given."""

    def run(task: Task) -> Course:
        limit = None if task.limit == float("inf") else task.limit
        chosen = {"max_time": limit, "random_state": task.seed, "n_threads": task.n_threads, **settings}
        model = BoostKMeans(task.k, **chosen).fit(task.X)
        return course_of(model, task, model.stop_reason_)

    return run


def paper_way(init: str, moves: str = "best") -> Contender:
    """The paper's direct k-way, until no move is left, or `ITERATIONS`."""

    def run(task: Task) -> Course:
        return boosted(init=STARTS[init], moves=moves, max_iter=ITERATIONS, tol=0, **PLAIN)(task)

    return run


def bisected(make: Callable[..., Any], **settings: Any) -> Contender:
    """A tree: one point."""

    def run(task: Task) -> Course:
        model = make(task.k, random_state=task.seed, n_threads=task.n_threads, **settings).fit(task.X)
        return course_of(model, task, getattr(model, "stop_reason_", "tree"))

    return run


def online(task: Task) -> Course:
    """The paper's LVQ: 25 iterations, when its rate is 0. One by one where there is a limit."""
    if task.limit == float("inf"):
        model = OnlineKMeans(task.k, random_state=task.seed, n_threads=task.n_threads).fit(task.X)
        return course_of(model, task, "converged")
    points: list[Point] = []
    settings: dict[str, Any] = {"init": "random"}
    first = OnlineKMeans().rate
    ended = "converged"
    while (rate := first - len(points) * OnlineKMeans().decay) > 1e-9 * first:
        model = OnlineKMeans(task.k, rate=rate, max_iter=1, random_state=task.seed + len(points),
                             n_threads=task.n_threads, **settings).fit(task.X)  # fmt: skip
        before = points[-1].seconds if points else 0.0
        one = points_of(model.history_, len(task.X))[0]
        points.append(Point(len(points) + 1, before + one.seconds, one.distortion))
        settings = {"init": model.cluster_centers_}
        if points[-1].seconds >= task.limit:
            ended = "time"
            break
    return Course(points, distortion_of(task, model.labels_), ended, model.labels_)


def mini_batch(n_batches: int = ITERATIONS, seconds: float | None = None) -> Contender:
    """Mini-Batch with a tenth of the rows in each batch: so many batches, or for so many seconds.

    All rows are measured now and then only: that takes longer than a batch, and does not count.
    """

    def limited(task: Task) -> Course:
        with threadpool_limits(task.n_threads):
            return run(task)

    def run(task: Task) -> Course:
        rng = np.random.RandomState(task.seed)
        size = max(task.k, int(SHARE * len(task.X)))
        model = cluster.MiniBatchKMeans(task.k, init="random", n_init=1, batch_size=size,
                                        compute_labels=False, random_state=rng)  # fmt: skip
        most = min(task.limit, float("inf") if seconds is None else seconds)
        points: list[Point] = []
        spent, batch, measured = 0.0, 0, 0
        while (batch < n_batches or seconds is not None) and spent < most:
            began = time.perf_counter()
            rows = np.sort(rng.choice(len(task.X), size, replace=False))
            model.partial_fit(task.X[rows])
            spent += time.perf_counter() - began
            batch += 1
            if batch <= 10 or batch >= 1.15 * measured:
                points.append(Point(batch, spent, -model.score(task.X) / len(task.X)))
                measured = batch
        if measured < batch:
            points.append(Point(batch, spent, -model.score(task.X) / len(task.X)))
        labels = model.predict(task.X)
        ended = "time" if spent >= most else "iterations"
        return Course(points, distortion_of(task, labels), ended, labels)

    return limited


def as_long_as(other: Contender) -> Contender:
    """Mini-Batch that is given as much time as another method took, of which it is found out first."""

    def run(task: Task) -> Course:
        seconds = other(task).points[-1].seconds
        return mini_batch(seconds=seconds)(task)

    return run


def course_of(model: Any, task: Task, ended: str) -> Course:
    """Of a fitted estimator with a history."""
    end = distortion_of(task, model.labels_)
    points = points_of(model.history_, len(task.X))
    return Course(points, end, {"certified": "converged", "max_iter": "iterations",
                                "max_time": "time"}.get(ended, ended), model.labels_)  # fmt: skip


def in_own_process(function: Callable[[Json], Json], run: Json, limit: float) -> Json:
    """What a function of a module makes of a run, with the peak of memory; or why there is nothing.

    What the clock does not stop (seeding by k-means++, measuring) is killed after some more time.
    """
    outcome = isolated(function, run, limit=HARD_FACTOR * limit)
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
    "Mini-Batch, as long as BKM(non)": as_long_as(paper_way("non")),
    "LVQ": online,
    **{f"BKM({start})": paper_way(start) for start in STARTS},
    **{f"BKM({start})+Fast": paper_way(start, "first") for start in STARTS},
    "ours, fast": boosted(quality="fast"),
    "ours": boosted(),
    "ours, best": boosted(quality="best"),
    "BsBKM(non)": BISECTING["BsBKM(non)"],
    "BsBKM(non), refined": bisected(BisectingBoostKMeans, refine=True),
}
