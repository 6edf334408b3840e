"""`scan`: cluster with several numbers of clusters and suggest one."""

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from boostkmeans._data.frame import METRICS, Array
from boostkmeans._data.user_input import converting, without_objects
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.vector_columns import user_rows
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import check_generator, int_range, one_of
from boostkmeans._runtime.progress import logger, stage, visible_log
from boostkmeans.select._criteria import SilhouetteSample, calinski_harabasz, gap_statistic
from boostkmeans.select._result import Scan, ScanEntry
from boostkmeans.select._suggestion import suggest
from boostkmeans.select._tree_cuts import TreeCuts


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
    """Cluster X with each of several numbers of clusters, and suggest one of them.

    All clusterings share one bisecting tree, which is cut at each number and refined by a few sweeps. A
    scan is therefore faster than one fit per number, and its inertias are up to a few percent higher.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows. Sparse matrices are not supported, because the gap statistic needs dense reference rows.
    ks : iterable of int
        Numbers of clusters to try, e.g. ``range(2, 21)``.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Metric, as in `BoostKMeans`.
    n_references : int, default=5
        Number of random data sets that the gap statistic compares X with. 0 omits the gap.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on the number of threads.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process.
    verbose : int, default=0
        1 shows the progress on one line of the terminal, or as a bar in a notebook. 2 shows all
        messages as lines on stderr. Messages go to the logger "boostkmeans" instead if logging is
        configured, and are lines if stderr is a file.

    Returns
    -------
    Scan
        Measures for each number of clusters, and the suggestion.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from boostkmeans.select import scan
    >>> X, _ = make_blobs(1000, centers=6, cluster_std=0.4, random_state=4)
    >>> scan(X, range(2, 11), random_state=0).suggestion
    6
    """
    began = time.perf_counter()
    with converting("X"):
        array = check_array(user_rows(X), dtype="numeric", ensure_min_samples=3)
    array = without_objects(array, "X")
    numbers = _check_ks(ks, len(array))
    _check_options(metric, n_references)
    rng = check_generator(random_state, "scan")
    options = {"metric": metric, "n_threads": n_threads}
    with visible_log(verbose):
        entries = _measure(array, numbers, rng, options)
        if n_references > 0:
            gaps = gap_statistic(array, numbers, rng, options, n_references)
            entries = [
                replace(entry, gap=float(gap), gap_error=float(error))
                for entry, gap, error in zip(entries, gaps.values, gaps.errors, strict=True)
            ]
        suggestion, reason = suggest(entries)
        seconds = time.perf_counter() - began
        logger.info("%d numbers of clusters, suggested k=%d, %.3f s", len(numbers), suggestion, seconds)
    return Scan(entries, suggestion, reason)


def _check_ks(ks: Any, n_rows: int) -> list[int]:
    """Return the distinct numbers in ascending order."""
    expected = "an iterable of ints, e.g. range(2, 21)"
    if isinstance(ks, str) or not isinstance(ks, Iterable):
        raise ParameterError("ks", expected, ks, owner="scan")
    given = list(ks)
    if not all(isinstance(k, Integral) for k in given):
        raise ParameterError("ks", expected, given, owner="scan")
    numbers = sorted({int(k) for k in given})
    if not numbers or numbers[0] < 1 or numbers[-1] >= n_rows:
        in_range = f"ints in the range [1, n_samples - 1] = [1, {n_rows - 1}], at least one"
        raise ParameterError("ks", in_range, numbers, owner="scan")
    return numbers


def _check_options(metric: Any, n_references: Any) -> None:
    if metric not in METRICS:
        raise ParameterError("metric", one_of(METRICS), metric, owner="scan")
    if not isinstance(n_references, Integral) or n_references < 0:
        raise ParameterError("n_references", int_range(0), n_references, owner="scan")


def _measure(
    array: Array, ks: list[int], rng: np.random.RandomState, options: dict[str, Any]
) -> list[ScanEntry]:
    """Cluster with each number of clusters. The gaps are not computed here."""
    sample = SilhouetteSample(array, options["metric"], rng)
    total = BoostKMeans(1, **options).fit(array).inertia_
    cuts = TreeCuts.grow(array, ks[-1], rng, options)
    entries = []
    for k in ks:
        start = time.perf_counter()
        with stage(f"k={k}"):
            model = cuts.refine(k)
        entry = ScanEntry(
            n_clusters=k,
            inertia=model.inertia_,
            distortion=model.distortion_,
            silhouette=sample.silhouette(model.labels_),
            calinski_harabasz=calinski_harabasz(total, model.inertia_, k, len(array)),
            gap=math.nan,
            gap_error=math.nan,
            seconds=time.perf_counter() - start,
            centers=model.cluster_centers_,
        )
        logger.info("k=%d: inertia %.6g, silhouette %.3f", k, entry.inertia, entry.silhouette)
        entries.append(entry)
    return entries
