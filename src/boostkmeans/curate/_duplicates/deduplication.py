"""`deduplicate`: groups of near duplicates, and the rows to keep."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans._pairs.limits import PairLimit
from boostkmeans._pairs.search import NearRows, SearchOptions
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import SEED, Allowed, any_of, integer
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.curate._duplicates.keeping import KeepFunction, check_keep, choose_rows, kept_pairs
from boostkmeans.curate._duplicates.local_rows import LocalRows
from boostkmeans.curate._duplicates.missed_pairs import (
    NONE_MISSED,
    MissedPairs,
    draw_checked,
    estimate_missed,
)
from boostkmeans.curate._duplicates.result import Deduplication
from boostkmeans.curate._duplicates.shard_rows import ShardRows, is_distributed
from boostkmeans.curate._ids import ids_of

OWNER = "deduplicate"
# Number of rows that are compared with all rows if pairs can be missed. If each of them has one pair,
# and none is missed, at most 0.4 % of all pairs are missed, with a confidence of 95 %.
N_CHECKED = 1000
ALLOWED: dict[str, Allowed] = {
    "n_neighbours": any_of(None, integer(0)),
    "n_checked": any_of(None, integer(0)),
    "random_state": SEED,
    "n_threads": any_of(None, integer(1)),
}


def deduplicate(
    X: Any,
    threshold: float = 0.95,
    *,
    metric: str = "cosine",
    keep: str | KeepFunction = "central",
    ids: ArrayLike | None = None,
    n_neighbours: int | None = None,
    n_checked: int | None = None,
    engine: Any = None,
    random_state: int = 0,
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Deduplication:
    """Find near duplicates, and choose one row of each group of them.

    Two rows are near duplicates if their cosine is at least the threshold, or if their distance is at
    most the threshold. A group is a set of rows that are connected by such pairs. No two kept rows are
    near duplicates, unless a function `keep` returns several rows of a group. The data are not changed.

    By default, every pair is found. Rows are clustered, and bounds on the distances between clusters
    exclude most pairs; the others are computed exactly, in float64. High thresholds take less time.

    Parameters
    ----------
    X : array-like, sparse matrix, Vectors, or data on many machines
        Rows. Files opened with `boostkmeans.io.open_vectors` may be larger than memory. The result of
        `boostkmeans.distributed.open_shards`, dask arrays and Ray Datasets are searched by the workers
        of a cluster.
    threshold : float, default=0.95
        Cosine above 0 and at most 1 for metric "cosine", and a distance for metric "euclidean". It
        depends on the vectors: inspect some groups near the threshold.
    metric : {"cosine", "euclidean"}, default="cosine"
        Meaning of the threshold. Rows of zeros have no cosine: they are duplicates of each other only.
    keep : {"central", "first"} or callable, default="central"
        Row of each group to keep: the one nearest to the mean of the group (the first of two rows), the
        first one, or the result of a function, which is called with the row numbers of a group and
        returns one or several of them.
    ids : array-like of shape (n_samples,), default=None
        Ids of the rows. By default, those of a data frame's index or of `open_vectors(id_column=...)`.
    n_neighbours : int, default=None
        Number of nearest clusters with which each cluster is compared. By default, all clusters that can
        contain a pair are compared, so that no pair is missed. A number saves time if the threshold is
        low and there are millions of rows.
    n_checked : int, default=None
        Number of rows, drawn at random, that are compared with all rows to estimate the number of missed
        pairs. 0 omits the comparison. By default, 1,000 rows are compared if `n_neighbours` limits the
        search. Otherwise no pair can be missed, and no row is compared.
    engine : None, "dask", "ray", "local" or dask client, default=None
        Where data on many machines are searched, as in `boostkmeans.distributed.BoostKMeans`.
    random_state : int, default=0
        Seed of the clusters and of the checked rows. The result depends on it only with `n_neighbours`.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process. The result does not depend
        on it.
    progress : callable, default=None
        Function called as ``progress(what, done, total)``.

    Returns
    -------
    Deduplication
        The rows to keep, the groups, and the number of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.curate import deduplicate
    >>> X = np.random.default_rng(0).normal(size=(1000, 16))
    >>> X[500] = 2 * X[3] + 0.01
    >>> found = deduplicate(X, threshold=0.99)
    >>> [group.tolist() for group in found.groups], found.n_pairs, len(found.keep)
    ([[3, 500]], 1, 999)
    """
    limit = PairLimit.checked(metric, threshold, OWNER)
    check_keep(keep, OWNER)
    given = {"n_neighbours": n_neighbours, "n_checked": n_checked, "n_threads": n_threads}
    for name, value in {**given, "random_state": random_state}.items():
        if not ALLOWED[name].accepts(value):
            raise ParameterError(name, ALLOWED[name].expected, value, owner=OWNER)
    options = SearchOptions(
        n_neighbours, int(random_state), resolve_threads(n_threads), progress or ignore_progress
    )
    if engine is not None or is_distributed(X):
        with ShardRows.opened(X, limit, options, engine) as shards:
            return _deduplicate(shards, X, limit, keep, ids, n_checked, options)
    return _deduplicate(LocalRows.of(X, limit, options), X, limit, keep, ids, n_checked, options)


def _deduplicate(
    rows: LocalRows | ShardRows,
    X: Any,
    limit: PairLimit,
    keep: str | KeepFunction,
    ids: ArrayLike | None,
    n_checked: int | None,
    options: SearchOptions,
) -> Deduplication:
    n_rows, n_features = rows.shape
    known_ids = ids_of(X, ids, n_rows)
    found = rows.find()
    groups = found.groups
    options.progress("choosing rows", 0, None)
    chosen = choose_rows(groups, keep, rows.take, n_features)
    is_kept = np.ones(n_rows, dtype=bool)
    is_kept[groups.rows] = False
    is_kept[chosen] = True
    return Deduplication(
        keep=np.flatnonzero(is_kept),
        groups=groups,
        similarities=limit.similarities(found.nearest[groups.rows], rows.frame),
        n_rows=n_rows,
        n_pairs=found.n_pairs,
        missed=_missed_pairs(rows, found, n_checked, options.seed),
        kept_pairs=kept_pairs(groups, chosen, rows.square, rows.take),
        ids=known_ids,
        metric=limit.metric,
        threshold=limit.threshold,
    )


def _missed_pairs(
    rows: LocalRows | ShardRows, found: NearRows, n_checked: int | None, seed: int
) -> MissedPairs | None:
    """Return the estimate of the missed pairs; None if it is not known."""
    if n_checked is None:
        n_checked = 0 if found.is_exhaustive else N_CHECKED
    if n_checked == 0:
        return NONE_MISSED if found.is_exhaustive else None
    checked = draw_checked(found, n_checked, seed)
    return estimate_missed(found, checked, rows.count_partners(checked, found))
