"""Methods side by side on the same rows."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostkmeans import metrics
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.baselines._paper_methods import PAPER_METHODS, Method


def _boost(quality: str) -> Method:
    return lambda n_clusters, seed: BoostKMeans(n_clusters, quality=quality, random_state=seed)


METHODS: dict[str, Method] = {
    "boost-fast": _boost("fast"),
    "boost-balanced": _boost("balanced"),
    "boost-best": _boost("best"),
    "bisecting": lambda n_clusters, seed: BisectingBoostKMeans(n_clusters, random_state=seed),
    "refined": lambda n_clusters, seed: BisectingBoostKMeans(n_clusters, refine=True, random_state=seed),
    **PAPER_METHODS,
}
"""From `(n_clusters, random_state)` to an estimator that is not fitted: ours, and `PAPER_METHODS`."""

DEFAULT = (
    "boost-fast", "boost-balanced", "boost-best", "bisecting", "k-means", "k-means++", "Mini-Batch"
)  # fmt: skip
"""Methods that say most in the least time."""


@dataclass(frozen=True)
class MethodRun:
    """One method with one seed."""

    method: str
    seed: int
    distortion: float
    """Of the rows as they are, from the labels alone: whatever the method itself measures by."""
    seconds: float
    """Of the method alone, without what it takes to measure it."""
    n_sweeps: int
    curve: list[tuple[float, float]]
    """Seconds and distortion after each sweep; empty where the method measures by another metric."""
    error: Exception | None = None
    """Why there is no result, if there is none."""


@dataclass(frozen=True)
class MethodSummary:
    """All runs of a method. Where none came to an end, there is nothing but the error."""

    method: str
    runs: list[MethodRun]
    relative: float | None
    """Its mean distortion by that of the best method."""
    error: Exception | None

    @property
    def mean_distortion(self) -> float:
        """Over the runs."""
        return statistics.fmean(run.distortion for run in self.runs)

    @property
    def best_distortion(self) -> float:
        """Of the best run."""
        return min(run.distortion for run in self.runs)

    @property
    def seconds(self) -> float:
        """Of a run, on average."""
        return statistics.fmean(run.seconds for run in self.runs)

    @property
    def n_sweeps(self) -> float:
        """Of a run, on average."""
        return statistics.fmean(run.n_sweeps for run in self.runs)


def compare(
    X: Any,
    n_clusters: int,
    methods: Mapping[str, Method] | None = None,
    *,
    seeds: Sequence[int] = (0,),
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Iterator[MethodRun]:
    """Runs each method with each seed, and gives one result after the other.

    A method that fails gives a run with an `error`, and the others go on. Without `methods`, those of
    `DEFAULT` are compared.

    >>> import numpy as np
    >>> from boostkmeans.baselines import METHODS, compare, summarize
    >>> X = np.random.default_rng(0).normal(size=(500, 8))
    >>> some = {name: METHODS[name] for name in ("boost-balanced", "k-means")}
    >>> [summary.method for summary in summarize(compare(X, 20, some, seeds=range(3)))]
    ['boost-balanced', 'k-means']
    """
    chosen = {name: METHODS[name] for name in DEFAULT} if methods is None else methods
    show = progress or ignore_progress
    total, done = len(chosen) * len(seeds), 0
    for name, method in chosen.items():
        for seed in seeds:
            show(name if len(seeds) == 1 else f"{name}, seed {seed}", done, total)
            yield _run(name, method, X, n_clusters, seed, n_threads)
            done += 1


def summarize(runs: Iterable[MethodRun]) -> list[MethodSummary]:
    """The runs of each method together, in the order in which methods came."""
    by_method: dict[str, list[MethodRun]] = {}
    for run in runs:
        by_method.setdefault(run.method, []).append(run)
    good = {name: [run for run in some if run.error is None] for name, some in by_method.items()}
    means = {name: statistics.fmean(r.distortion for r in some) for name, some in good.items() if some}
    best = min(means.values(), default=0.0)
    return [
        MethodSummary(
            name,
            good[name],
            (means[name] / best if best > 0 else 1.0) if name in means else None,
            next((run.error for run in some if run.error is not None), None),
        )
        for name, some in by_method.items()
    ]


def _run(
    name: str, method: Method, X: Any, n_clusters: int, seed: int, n_threads: int | None
) -> MethodRun:
    try:
        model = method(n_clusters, seed).set_params(n_threads=n_threads).fit(X)
        distortion = metrics.average_distortion(X, model.labels_)
    except Exception as error:  # of whatever kind: the others shall go on
        return MethodRun(name, seed, float("nan"), float("nan"), 0, [], error)
    history = model.history_
    seconds = history[-1].seconds if history else 0.0
    curve = [*_course(model), (seconds, distortion)] if _is_euclidean(model) else []
    return MethodRun(name, seed, distortion, seconds, model.n_iter_, curve)


def _is_euclidean(model: Any) -> bool:
    return getattr(model, "metric", "euclidean") == "euclidean"


def _course(model: Any) -> list[tuple[float, float]]:
    """Seconds and distortion after each sweep."""
    per_row = model.distortion_ / model.inertia_ if model.inertia_ > 0 else 0.0
    return [(record.seconds, record.inertia * per_row) for record in model.history_]
