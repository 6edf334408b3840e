"""Runs of methods on the same rows, and their summaries."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from boostkmeans import metrics
from boostkmeans._estimators.criterion_kmeans import CriterionKMeans
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans._steps.criteria.criterion import MINIMISED
from boostkmeans.baselines._methods import DEFAULT, METHODS, Method


@dataclass(frozen=True)
class MethodRun:
    """Result of one method with one seed."""

    __repr__ = short_repr

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
    n_clusters: int = 0
    """Number of clusters that the method was asked for."""
    scores: dict[str, float] | None = None
    """Agreement with the classes: "entropy" (0 is best), "purity", "nmi" and "ari" (1 is best). None
    without classes, or after an error."""
    cost: float | None = None
    """What the method minimises, if this is not the distortion: the value of a criterion, negative if it
    is maximised."""


@dataclass(frozen=True)
class MethodSummary:
    """Summary of all runs of a method."""

    __repr__ = short_repr

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
    classes: Sequence[Any] | None = None,
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
    classes : sequence, default=None
        Class of each row, or None for a row of unknown class. They are only used for `scores`.
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
    task = _Task(X, n_clusters, n_threads, classes)
    total, done = len(chosen) * len(seeds), 0
    for name, method in chosen.items():
        for seed in seeds:
            show(name if len(seeds) == 1 else f"{name}, seed {seed}", done, total)
            yield task.run(name, method, seed)
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


@dataclass(frozen=True)
class _Task:
    """What all runs of a comparison share."""

    X: Any
    n_clusters: int
    n_threads: int | None
    classes: Sequence[Any] | None

    def run(self, name: str, method: Method, seed: int) -> MethodRun:
        """Run one method with one seed."""
        try:
            model = method(self.n_clusters, seed).set_params(n_threads=self.n_threads).fit(self.X)
            distortion = metrics.average_distortion(self.X, model.labels_)
        except Exception as error:  # one failing method must not end the comparison
            nan = float("nan")
            return MethodRun(name, seed, nan, nan, 0, [], error, self.n_clusters)
        history = model.history_
        seconds = history[-1].seconds if history else 0.0
        curve = [*_curve(model), (seconds, distortion)] if _is_euclidean(model) else []
        scores = None if self.classes is None else class_scores(self.classes, model.labels_)
        return MethodRun(
            name, seed, distortion, seconds, model.n_iter_, curve, None, self.n_clusters, scores,
            _cost(model),
        )  # fmt: skip


def class_scores(classes: Sequence[Any], labels: Any) -> dict[str, float]:
    """Return the agreement of clusters and classes over the rows of known class."""
    known = np.array([one is not None for one in classes])
    truth = [one for one in classes if one is not None]
    found = np.asarray(labels)[known]
    if not truth:
        raise ValueError("classes must contain at least one known class. All of them are None.")
    return {
        "entropy": metrics.entropy(truth, found),
        "purity": metrics.purity(truth, found),
        "nmi": float(normalized_mutual_info_score(truth, found)),
        "ari": float(adjusted_rand_score(truth, found)),
    }


def _cost(model: Any) -> float | None:
    """Return the value of the criterion of a `CriterionKMeans`, negative if it is maximised."""
    if not isinstance(model, CriterionKMeans):
        return None
    return model.objective_ if model.criterion in MINIMISED else -model.objective_


def _is_euclidean(model: Any) -> bool:
    """Return whether the history of a fitted model has Euclidean distortions."""
    metric = getattr(model, "metric_", getattr(model, "metric", "euclidean"))
    return bool(metric == "euclidean")


def _curve(model: Any) -> list[tuple[float, float]]:
    """Return seconds and distortion after each sweep."""
    per_row = model.distortion_ / model.inertia_ if model.inertia_ > 0 else 0.0
    return [(record.seconds, record.inertia * per_row) for record in model.history_]
