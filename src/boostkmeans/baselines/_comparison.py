"""Comparison of methods on the same rows."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostkmeans import metrics
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.baselines._methods import DEFAULT, METHODS, Method


@dataclass(frozen=True)
class MethodRun:
    """Result of one method with one seed."""

    method: str
    """Name of the method."""
    seed: int
    """Random seed."""
    distortion: float
    """Average distortion of the labels, measured on the unscaled rows for every metric. NaN after an
    error."""
    seconds: float
    """Time of the fit, without the time to compute the distortion. NaN after an error."""
    n_sweeps: int
    """Number of sweeps or iterations."""
    curve: list[tuple[float, float]]
    """Seconds and distortion after each sweep. Empty if the metric of the method is not Euclidean."""
    error: Exception | None = None
    """Error that the method raised."""


@dataclass(frozen=True)
class MethodSummary:
    """Summary of all runs of a method."""

    method: str
    """Name of the method."""
    runs: list[MethodRun]
    """Runs without an error."""
    relative: float | None
    """Mean distortion divided by that of the best method. None if all runs failed."""
    error: Exception | None
    """First error, if a run failed."""

    @property
    def mean_distortion(self) -> float:
        """Mean distortion of the runs."""
        return statistics.fmean(run.distortion for run in self.runs)

    @property
    def best_distortion(self) -> float:
        """Distortion of the best run."""
        return min(run.distortion for run in self.runs)

    @property
    def seconds(self) -> float:
        """Mean time of a run."""
        return statistics.fmean(run.seconds for run in self.runs)

    @property
    def n_sweeps(self) -> float:
        """Mean number of sweeps of a run."""
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
    """Run each method with each seed, and yield the results one by one.

    If a method raises an error, its run has the attribute `error`, and the comparison continues.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    n_clusters : int
        Number of clusters.
    methods : mapping of str to callable, default=None
        Methods by name, e.g. some of `METHODS`. None compares the methods named in `DEFAULT`.
    seeds : sequence of int, default=(0,)
        Random seeds. Each method runs once per seed.
    n_threads : int, default=None
        Number of threads of each method. None uses the default of the method.
    progress : callable, default=None
        Function called as ``progress(what, done, total)`` before each run.

    Yields
    ------
    MethodRun
        Result of one method with one seed.

    Examples
    --------
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
    """Combine the runs of each method.

    Parameters
    ----------
    runs : iterable of MethodRun
        Runs, as returned by `compare`.

    Returns
    -------
    list of MethodSummary
        One summary per method, in the order of their first runs.
    """
    by_method: dict[str, list[MethodRun]] = {}
    for run in runs:
        by_method.setdefault(run.method, []).append(run)
    completed = {name: [run for run in some if run.error is None] for name, some in by_method.items()}
    means = {
        name: statistics.fmean(run.distortion for run in some)
        for name, some in completed.items()
        if some
    }
    best = min(means.values(), default=0.0)
    return [
        MethodSummary(
            name,
            completed[name],
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
    except Exception as error:  # one failing method must not end the comparison
        return MethodRun(name, seed, float("nan"), float("nan"), 0, [], error)
    history = model.history_
    seconds = history[-1].seconds if history else 0.0
    curve = [*_curve(model), (seconds, distortion)] if _is_euclidean(model) else []
    return MethodRun(name, seed, distortion, seconds, model.n_iter_, curve)


def _is_euclidean(model: Any) -> bool:
    return getattr(model, "metric", "euclidean") == "euclidean"


def _curve(model: Any) -> list[tuple[float, float]]:
    """Return seconds and distortion after each sweep."""
    per_row = model.distortion_ / model.inertia_ if model.inertia_ > 0 else 0.0
    return [(record.seconds, record.inertia * per_row) for record in model.history_]
