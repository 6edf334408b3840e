"""Summary of runs against known classes, as in the paper's Table 3."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from boostkmeans.baselines._comparison.runs import MethodRun

SCORES = ("entropy", "purity", "nmi", "ari")


@dataclass(frozen=True)
class ScoreSummary:
    """Scores of all runs of a method with one number of clusters, by the choice of the run."""

    method: str
    """Name of the method."""
    n_clusters: int
    """Number of clusters."""
    runs: list[MethodRun]
    """Runs without an error."""
    error: Exception | None
    """First error, if a run failed."""

    @property
    def by_objective(self) -> Mapping[str, float]:
        """Scores of the run with the lowest distortion, or the best criterion if the method has one.

        A user can choose this run without classes.
        """
        return _scores(min(self.runs, key=_cost))

    @property
    def by_entropy(self) -> Mapping[str, float]:
        """Scores of the run with the lowest entropy, which the paper reports."""
        return _scores(min(self.runs, key=lambda run: _scores(run)["entropy"]))

    @property
    def mean(self) -> Mapping[str, float]:
        """Mean scores of all runs."""
        return {name: statistics.fmean(_scores(run)[name] for run in self.runs) for name in SCORES}

    @property
    def deviation(self) -> Mapping[str, float]:
        """Standard deviations of the scores. 0 for a single run."""
        if len(self.runs) == 1:
            return dict.fromkeys(SCORES, 0.0)
        return {name: statistics.stdev(_scores(run)[name] for run in self.runs) for name in SCORES}

    @property
    def seconds(self) -> float:
        """Mean time of a run."""
        return statistics.fmean(run.seconds for run in self.runs)


def summarize_scores(runs: Iterable[MethodRun]) -> list[ScoreSummary]:
    """Combine the runs of each method and number of clusters.

    Parameters
    ----------
    runs : iterable of MethodRun
        Runs of `compare` with classes, for one or several numbers of clusters.

    Returns
    -------
    list of ScoreSummary
        One summary per method and number of clusters, in the order of their first runs.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import METHODS, compare, summarize_scores
    >>> classes = np.arange(3).repeat(20)
    >>> X = 9 * np.eye(3)[classes] + np.random.default_rng(0).uniform(size=(60, 3))
    >>> runs = compare(X, 3, {"k-means++": METHODS["k-means++"]}, classes=classes)
    >>> [summary] = summarize_scores(runs)
    >>> summary.by_objective["entropy"], summary.by_objective["purity"]
    (0.0, 1.0)
    """
    groups: dict[tuple[str, int], list[MethodRun]] = {}
    for run in runs:
        groups.setdefault((run.method, run.n_clusters), []).append(run)
    return [
        ScoreSummary(
            method,
            n_clusters,
            [run for run in some if run.error is None],
            next((run.error for run in some if run.error is not None), None),
        )
        for (method, n_clusters), some in groups.items()
    ]


def _cost(run: MethodRun) -> float:
    return run.distortion if run.cost is None else run.cost


def _scores(run: MethodRun) -> Mapping[str, float]:
    if run.scores is None:
        raise ValueError("The runs have no scores. Pass the classes to compare.")
    return run.scores
