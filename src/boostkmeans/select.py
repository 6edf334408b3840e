"""Choosing the number of clusters: `scan` tries several, for less than the cost of a fit for each."""

import logging
import math
import textwrap
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances, silhouette_score
from sklearn.preprocessing import normalize
from sklearn.utils import check_array, check_random_state

from boostkmeans._data.frame import METRICS, Array, Floats
from boostkmeans._data.rows import Rows
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.progress import visible_log
from boostkmeans._steps.partition import Labels

logger = logging.getLogger("boostkmeans")

# How the tree's clusters are refined for each k: enough to compare, not to finish.
REFINEMENT: dict[str, Any] = {"repair": 2, "annealing": 0, "tol": 1e-3, "max_iter": 12}
# Rows for the silhouette, which compares all pairs of them, and how many a cluster must have among these
# on average; and rows for the gap, which clusters as many random ones several times.
SILHOUETTE_ROWS, ROWS_PER_CLUSTER = 2000, 4
GAP_ROWS = 5000
# A mean silhouette from which on clusters are clearly apart.
CLEARLY_APART = 0.5


@dataclass(frozen=True)
class ScanEntry:
    """What was found for one number of clusters."""

    n_clusters: int
    inertia: float
    distortion: float
    silhouette: float
    """Mean over a sample of the rows, from -1 to 1: how much nearer its own cluster is than the next.
    NaN where it is not defined, or the sample has too few rows for so many clusters."""
    calinski_harabasz: float
    """Variance between the clusters by the variance within: the higher, the better. NaN for k = 1."""
    gap: float
    """By how much the logarithm of the distortion lies below that of rows without clusters."""
    gap_error: float
    """Standard error of the gap."""
    seconds: float
    """Time for this number, the tree not counted."""
    centers: Floats


@dataclass(frozen=True)
class Scan:
    """The result of `scan`. As a string, it is a table."""

    entries: list[ScanEntry]
    suggestion: int
    reason: str

    def __str__(self) -> str:
        header = f"{'k':>7} {'inertia':>12} {'silhouette':>10} {'Calinski-H.':>11} {'gap':>8} {'+-':>7}"
        lines = [
            f"{e.n_clusters:>7} {e.inertia:>12.6g} {e.silhouette:>10.3f} {e.calinski_harabasz:>11.5g} "
            f"{e.gap:>8.4f} {e.gap_error:>7.4f}{' <' if e.n_clusters == self.suggestion else ''}"
            for e in self.entries
        ]
        return "\n".join([header, *lines, f"suggested: {self.suggestion}, {self.reason}"])

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each number, without the centres: `pandas.DataFrame(found.table)`."""
        return [
            {name: value for name, value in vars(entry).items() if name != "centers"}
            for entry in self.entries
        ]

    def to_dict(self) -> dict[str, Any]:
        """The table, suggestion and reason in types that JSON knows; what is not defined is None."""
        rows = []
        for row in self.table:
            rows.append(
                {n: None if isinstance(v, float) and math.isnan(v) else v for n, v in row.items()}
            )
        return {"entries": rows, "suggestion": self.suggestion, "reason": self.reason}

    def centers(self, n_clusters: int) -> Floats:
        """The centres that were found for that number: a good `init` for `BoostKMeans`.

        Fewer, where the data has fewer different rows.
        """
        for entry in self.entries:
            if entry.n_clusters == n_clusters:
                return entry.centers
        raise ValueError(f"{n_clusters} is not among the numbers of this scan.")

    def plot(self, figure: Any = None) -> Any:
        """Draws the four measures against k with matplotlib; returns the figure."""
        if figure is None:
            try:
                from matplotlib.figure import Figure
            except ImportError:
                raise ImportError("Scan.plot needs matplotlib: pip install boostkmeans[plot]") from None
            figure = Figure(figsize=(9, 6), layout="constrained")
        ks = [entry.n_clusters for entry in self.entries]
        measures = (
            ("inertia", "inertia: falls, the question is where it bends"),
            ("silhouette", "silhouette: high is good"),
            ("calinski_harabasz", "Calinski-Harabasz: high is good"),
            ("gap", "gap: the first k near the highest"),
        )
        for axes, (name, title) in zip(figure.subplots(2, 2).ravel(), measures, strict=True):
            values = [getattr(entry, name) for entry in self.entries]
            errors = [e.gap_error for e in self.entries] if name == "gap" else None
            axes.errorbar(ks, values, yerr=errors, marker="o", markersize=3)
            axes.axvline(self.suggestion, color="grey", linestyle=":")
            axes.set(title=title, xlabel="k")
        figure.suptitle("\n".join(textwrap.wrap(f"k = {self.suggestion}: {self.reason}", 90)))
        return figure


def scan(
    X: ArrayLike,
    ks: Iterable[int],
    *,
    metric: str = "euclidean",
    n_references: int = 5,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    verbose: int = 0,
) -> Scan:
    """Clusters X into each of some numbers of clusters, and suggests one of them.

    One bisecting tree serves all: for each number it is cut there and refined a little. So the whole
    takes less time than a fit for each number, and inertias are up to some percent above those of fits.

    Parameters
    ----------
    X : array (n, d)
        The rows. Not a sparse matrix: the gap is measured against rows that are dense.
    ks : iterable of int
        Numbers of clusters to try, e.g. `range(2, 21)`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        As in `BoostKMeans`.
    n_references : int, default=5
        Sets of random rows that the gap is measured against. 0: no gap.
    random_state, n_threads, verbose
        As in `BoostKMeans`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from boostkmeans.select import scan
    >>> X, _ = make_blobs(1000, centers=6, cluster_std=0.4, random_state=4)
    >>> scan(X, range(2, 11), random_state=0).suggestion
    6
    """
    array = check_array(X, dtype="numeric", ensure_min_samples=3)
    numbers = _checked(ks, len(array), metric, n_references)
    rng = check_random_state(random_state)
    common = {"metric": metric, "n_threads": n_threads}
    with visible_log(verbose):
        entries = _measure(array, numbers, rng, common)
        if n_references > 0:
            entries = _with_gaps(entries, array, rng, common, n_references)
    suggestion, reason = _suggest(entries)
    return Scan(entries, suggestion, reason)


def _checked(ks: Iterable[int], n_rows: int, metric: str, n_references: int) -> list[int]:
    if isinstance(ks, str) or not isinstance(ks, Iterable):
        raise ValueError(f"ks must be several numbers of clusters, as in range(2, 21). Got {ks!r}.")
    wanted = list(ks)
    if not all(isinstance(k, Integral) for k in wanted):
        raise ValueError(f"ks must be whole numbers. Got {wanted}.")
    numbers = sorted({int(k) for k in wanted})
    if not numbers or numbers[0] < 1 or numbers[-1] >= n_rows:
        raise ValueError(
            f"ks must be numbers of clusters from 1 to n_samples - 1 = {n_rows - 1}. Got {numbers}."
        )
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {METRICS}. Got {metric!r}.")
    if not isinstance(n_references, Integral) or n_references < 0:
        raise ValueError(f"n_references must be a whole number of at least 0. Got {n_references!r}.")
    return numbers


def _tree(
    array: Array, numbers: list[int], rng: np.random.RandomState, common: dict[str, Any]
) -> tuple[BisectingBoostKMeans, int]:
    """One tree for all numbers, and the seed that it grew from."""
    seed = int(rng.randint(2**31 - 1))
    tree = BisectingBoostKMeans(numbers[-1], split="inertia", random_state=seed, **common)
    with warnings.catch_warnings():  # of fewer clusters, where rows are equal: that is seen to
        warnings.simplefilter("ignore", ConvergenceWarning)
        return tree.fit(array), seed


def _refined(
    array: Array, tree: BisectingBoostKMeans, k: int, seed: int, common: dict[str, Any]
) -> BoostKMeans:
    """The tree, cut and refined at a number."""
    labels = tree.cut(min(k, len(tree.cluster_sizes_)))
    found = int(labels.max()) + 1
    return BoostKMeans(found, init=labels, random_state=seed, **REFINEMENT, **common).fit(array)


def _in_place(rows: Array, metric: str) -> Floats:
    """Some rows as their distances do not depend on unit and offset: in a frame, or of unit length."""
    if metric == "cosine":
        largest = np.abs(rows).max(axis=1, keepdims=True).astype(np.float64)
        return np.asarray(normalize(rows / np.where(largest > 0, largest, 1.0)))
    framed = Rows.in_own_frame(np.ascontiguousarray(rows), metric, 1)
    return framed.take(np.arange(framed.n_rows))


def _measure(
    array: Array, numbers: list[int], rng: np.random.RandomState, common: dict[str, Any]
) -> list[ScanEntry]:
    n = len(array)
    sample = np.sort(rng.choice(n, min(n, SILHOUETTE_ROWS), replace=False))
    apart = pairwise_distances(_in_place(array[sample], common["metric"]))
    if common["metric"] == "cosine":
        apart = apart**2 / 2
    total = BoostKMeans(1, **common).fit(array).inertia_
    entries = []
    tree, seed = _tree(array, numbers, rng, common)
    for k in numbers:
        began = time.perf_counter()
        model = _refined(array, tree, k, seed, common)
        within, between = model.inertia_, total - model.inertia_
        defined = 1 < k < n and within > 0
        entry = ScanEntry(
            n_clusters=k,
            inertia=within,
            distortion=model.distortion_,
            silhouette=_silhouette(apart, model.labels_[sample]),
            calinski_harabasz=between / (k - 1) / (within / (n - k)) if defined else math.nan,
            gap=math.nan,
            gap_error=math.nan,
            seconds=time.perf_counter() - began,
            centers=model.cluster_centers_,
        )
        logger.info("k=%d: inertia %.6g, silhouette %.3f", k, entry.inertia, entry.silhouette)
        entries.append(entry)
    return entries


def _silhouette(apart: Floats, labels: Labels) -> float:
    if not 1 < len(np.unique(labels)) <= len(labels) / ROWS_PER_CLUSTER:
        return math.nan
    return float(silhouette_score(apart, labels, metric="precomputed"))


def _with_gaps(
    entries: list[ScanEntry],
    array: Array,
    rng: np.random.RandomState,
    common: dict[str, Any],
    n_references: int,
) -> list[ScanEntry]:
    """The gap statistic (Tibshirani, Walther, Hastie 2001), against uniform rows in a box along the axes
    of the data; on a sample where there are many rows."""
    numbers = [entry.n_clusters for entry in entries]
    n = min(len(array), max(GAP_ROWS, 4 * numbers[-1]))
    rows = _in_place(array[np.sort(rng.choice(len(array), n, replace=False))], common["metric"])
    own = _log_distortions(rows, numbers, rng, common)
    centre = rows.mean(axis=0)
    axes = np.linalg.svd(rows - centre, full_matrices=False)[2]
    along = (rows - centre) @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    references = []
    for i in range(n_references):
        made = rng.uniform(low, high, size=along.shape) @ axes + centre
        references.append(_log_distortions(made, numbers, rng, common))
        logger.info("gap: reference %d of %d", i + 1, n_references)
    gaps = np.mean(references, axis=0) - own
    errors = np.std(references, axis=0) * math.sqrt(1 + 1 / n_references)
    return [
        ScanEntry(**{**entry.__dict__, "gap": float(gap), "gap_error": float(error)})
        for entry, gap, error in zip(entries, gaps, errors, strict=True)
    ]


def _log_distortions(
    rows: Floats, numbers: list[int], rng: np.random.RandomState, common: dict[str, Any]
) -> Floats:
    tiny = np.finfo(np.float64).tiny
    tree, seed = _tree(rows, numbers, rng, common)
    fits = (_refined(rows, tree, k, seed, common) for k in numbers)
    return np.array([math.log(max(fit.distortion_, tiny)) for fit in fits])


def _suggest(entries: list[ScanEntry]) -> tuple[int, str]:
    """The number that most speaks for, and what does."""
    if len(entries) == 1:
        return entries[0].n_clusters, "the only number that was tried"
    by_gap = _first_enough_gap(entries)
    by_silhouette = _highest(entries, "silhouette")
    by_ratio = _highest(entries, "calinski_harabasz")
    named = {
        "the gap": by_gap,
        "the silhouette": by_silhouette,
        "the Calinski-Harabasz index": by_ratio,
    }
    for k in (by_silhouette, by_gap, by_ratio):
        agreeing = [name for name, value in named.items() if value == k is not None]
        if k is not None and len(agreeing) > 1:
            height = next(e.silhouette for e in entries if e.n_clusters == k)
            apart = height >= CLEARLY_APART
            doubt = "" if apart else f", but they are not clearly apart (silhouette {height:.2f})"
            return k, f"on which {' and '.join(agreeing)} agree{doubt}"
    if by_silhouette is not None:
        height = next(e.silhouette for e in entries if e.n_clusters == by_silhouette)
        if height >= CLEARLY_APART:
            return by_silhouette, f"where the silhouette is highest ({height:.2f}: clearly apart)"
    others = ", ".join(f"{name} says {value}" for name, value in named.items() if value is not None)
    if by_gap is not None:
        return by_gap, f"whose gap is within its error of the highest; but not clear ({others})"
    best = by_silhouette or by_ratio or entries[0].n_clusters
    return best, f"but nothing speaks clearly for a number ({others or 'nothing is defined'})"


def _first_enough_gap(entries: list[ScanEntry]) -> int | None:
    """The smallest k whose gap is within a standard error of the highest one."""
    defined = [e for e in entries if not math.isnan(e.gap)]
    if not defined:
        return None
    top = max(defined, key=lambda e: e.gap)
    return next(e.n_clusters for e in defined if e.gap >= top.gap - top.gap_error)


def _highest(entries: list[ScanEntry], name: str) -> int | None:
    defined = [e for e in entries if not math.isnan(getattr(e, name))]
    return max(defined, key=lambda e: float(getattr(e, name))).n_clusters if defined else None
