"""Trees of the paper's Table 2, and their refinement by Algorithm 1."""

import statistics
from collections.abc import Callable
from typing import Any

from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
from contenders import (
    PLAIN,
    STARTS,
    Contender,
    Recorder,
    Task,
    Trace,
    TracePoint,
    distortion_of,
    fit_boosted,
    points_of,
    save_state,
    saved_state,
)

# isort: split
from boostkmeans import BisectingBoostKMeans
from boostkmeans.baselines import RBK, BisectingKMeans, ScikitLearnBisectingKMeans
from traces import STOP_REASONS

# The paper's Algorithm 2: all rows of a set, in random order, until no row moves.
EXACT: dict[str, Any] = {"sample": None, "max_passes": None}

MakeTree = Callable[[Task], Any]
"""Return a fitted tree."""


def fitted(make: Callable[..., Any], checkpoint: bool = False, **settings: Any) -> MakeTree:
    """Return a function that fits a tree, which continues from a checkpoint if it supports one."""

    def run(task: Task) -> Any:
        chosen = {"checkpoint": task.file("tree.checkpoint"), **settings} if checkpoint else settings
        return make(task.k, random_state=task.seed, n_threads=task.n_threads, **chosen).fit(task.X)

    return run


TREES: dict[str, MakeTree] = {
    "RBK": fitted(RBK, **EXACT),
    "BsKM": fitted(BisectingKMeans, init="random", max_iter=None),
    "BsKM++": fitted(BisectingKMeans, init="k-means++", max_iter=None),
    **{
        f"BsBKM({name})": fitted(BisectingBoostKMeans, checkpoint=True, init=start, **EXACT)
        for name, start in STARTS.items()
    },
    "sampled tree": fitted(BisectingBoostKMeans, checkpoint=True),
    "sampled RBK": fitted(RBK),
    "BsKM (scikit-learn)": fitted(ScikitLearnBisectingKMeans, init="random"),
    "BsKM++ (scikit-learn)": fitted(ScikitLearnBisectingKMeans, init="k-means++"),
}


def passes_of(model: Any) -> Json:
    """Return figures about the passes of the splits of a tree, if it knows them."""
    passes = getattr(getattr(model, "tree_", None), "n_passes", None)
    if passes is None:
        return {}
    splits = [int(number) for number in passes if number > 0]
    if not splits:
        return {}
    return {
        "passes": {
            "splits": len(splits),
            "total": sum(splits),
            "mean": statistics.fmean(splits),
            "median": statistics.median(splits),
            "max": max(splits),
        }
    }


def bisected(make: MakeTree) -> Contender:
    """Return a tree, whose trace has one point."""

    def run(task: Task) -> Trace:
        model = make(task)
        points = [points_of(model, len(task.X))[-1]]
        end = distortion_of(task, model.labels_)
        return Trace(
            [TracePoint(1, points[0].seconds, end)], end, "tree", model.labels_, passes_of(model)
        )

    return run


def refined(make: MakeTree) -> Contender:
    """Return a tree with its refinement by the paper's direct k-way. Point 0 is the tree.

    All trees get the same refinement, including those by cosine. It ends at the default tolerance.
    """

    def run(task: Task) -> Trace:
        path = task.file("tree.pickle")
        tree = saved_state(path)
        if tree is None:
            model = make(task)
            seconds = model.history_[-1].seconds
            tree = (model.labels_, seconds, distortion_of(task, model.labels_), passes_of(model))
            if path is not None:
                save_state(path, tree)
        labels, seconds, distortion, figures = tree
        recorder = Recorder(task)
        if not recorder.points:
            recorder.add(TracePoint(0, seconds, distortion))
        fit = fit_boosted(task, recorder, {"init": labels, **PLAIN})
        points = [TracePoint(0, seconds, distortion), *later(points_of(fit, len(task.X)), seconds)]
        end = distortion_of(task, fit.labels_)
        reason = str(fit.stop_reason_)
        stop_reason = STOP_REASONS.get(reason, reason)
        return Trace(points, end, stop_reason, fit.labels_, figures)

    return run


def later(points: list[TracePoint], seconds: float) -> list[TracePoint]:
    """Return points whose time includes that of the tree."""
    return [
        TracePoint(one.iteration, one.seconds + seconds, one.distortion, one.moves) for one in points
    ]
