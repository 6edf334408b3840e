"""Mini-batch k-means, called "Mini-Batch" in the paper."""

import math
from collections.abc import Callable, Iterator
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._engine.history import SweepRecord
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._steps.nearest import nearest_labels
from boostkmeans._steps.partition import Partition
from boostkmeans.baselines._baseline import FitData, RunResult, Step, WeightedBaseline, run_steps
from boostkmeans.baselines._starting_centres import check_init, starting_centres

SHARES_OF = ("batch", "total")


class MiniBatchKMeans(WeightedBaseline):
    """Mini-batch k-means (Sculley 2010) on the same compiled core as `BoostKMeans`.

    One iteration processes one batch: its rows are assigned to their nearest centres, and each centre
    becomes the mean of all rows that were ever assigned to it. This is Sculley's learning rate: one
    divided by the number of rows that the centre has seen.

    In the paper, "the iteration covers 10 % of the input data". This can be read in two ways. By
    default, each batch has a tenth of the rows. With ``share_of="total"``, all batches together see a
    tenth of the rows, each row once.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    share : float, default=0.1
        Fraction of the rows in a batch, or in all batches.
    share_of : {"batch", "total"}, default="batch"
        Meaning of `share`. "batch": each batch is a new random sample with this fraction of the rows.
        "total": one random sample with this fraction of the rows is divided into `max_iter` batches. For
        1,000,000 rows, these are 100 batches of 1,000 rows, the size that Sculley uses. Fewer than
        `max_iter` rows are divided into batches of one row.
    init : {"random", "k-means++"} or array-like of shape (n_clusters, n_features), default="random"
        First centres: random rows, rows drawn by k-means++ as published (one candidate per centre), or
        the given centres.
    n_init : int, default=1
        Number of runs with different first centres. The result is the run with the lowest inertia.
    max_iter : int, default=100
        Number of iterations (batches) per run.
    tol : float, default=0
        Tolerance: a run stops if the inertia of all rows falls by less than this fraction from one
        record to the next. 0 disables this criterion.
    record_every : int, default=1
        Number of iterations between two records. A record needs the inertia of all rows, which takes
        longer than an iteration. The last iteration is always recorded.
    max_time : float, default=None
        Time limit of the fit in seconds, without the time of the measurements. It is checked when an
        iteration is recorded.
    callback : callable, default=None
        Function that is called with each `SweepRecord`. The fit stops if it returns a true value.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on the number of threads.
    n_threads : int, default=None
        Number of threads of each call. None uses all processors available to this process.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Nearest centre of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features), float64
        Centres: means of the rows of earlier batches, not of the final clusters.
    cluster_sizes_ : ndarray of shape (n_clusters,), int64
        Number of rows of each cluster.
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of `labels_`.
    distortion_ : float
        Weighted mean squared distance.
    n_iter_ : int
        Number of iterations.
    history_ : list of SweepRecord
        Records of kind "batch", with the inertia of all rows. `seconds` excludes the time to compute
        this inertia, and `evaluations` its distances.

    See Also
    --------
    ScikitLearnMiniBatchKMeans : The implementation of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import MiniBatchKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = MiniBatchKMeans(n_clusters=2, share=0.5, init="k-means++", random_state=0).fit(X)
    >>> model.n_iter_, bool(16 <= model.inertia_ < 20)
    (100, True)
    >>> X = np.random.default_rng(0).normal(size=(2000, 4))
    >>> once = MiniBatchKMeans(n_clusters=5, share_of="total", max_iter=20, random_state=0).fit(X)
    >>> sum(record.evaluations for record in once.history_) // 5  # rows seen
    200
    """

    _model_name = "baselines.MiniBatchKMeans"

    # Defaults for pickles of earlier versions.
    share_of = "batch"
    record_every = 1

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        share: float = 0.1,
        share_of: str = "batch",
        init: str | ArrayLike = "random",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 0.0,
        record_every: int = 1,
        max_time: float | None = None,
        callback: Callable[[SweepRecord], bool | None] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.share = share
        self.share_of = share_of
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.record_every = record_every
        self.max_time = max_time
        self.callback = callback
        self.random_state = random_state
        self.n_threads = n_threads

    def _run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        return run_steps(data, self._steps(data, rng), "batch", self.tol, self._is_stopped)

    def _steps(self, data: FitData, rng: np.random.RandomState) -> Iterator[Step]:
        centres = starting_centres(self.init, self.n_clusters, data, rng)
        seen = np.zeros(self.n_clusters)
        batches = self._batches_of_rows(data, rng)
        for number, (batch, is_last) in enumerate(batches, start=1):
            centres, seen = _after_batch(data, batch, centres, seen)
            is_recorded = is_last or number % self.record_every == 0
            yield Step(data.rows.frame.leave(centres), len(batch) * self.n_clusters, is_recorded)

    def _batches_of_rows(
        self, data: FitData, rng: np.random.RandomState
    ) -> Iterator[tuple[NDArray[np.int64], bool]]:
        """Yield the rows of each batch in ascending order, and whether it is the last one."""
        values = data.weights.values
        # Rows of zero weight are left out, because they would replace other rows in a batch.
        rows = np.arange(data.rows.n_rows) if values is None else np.flatnonzero(values)
        size = math.ceil(self.share * len(rows))
        if self.share_of == "batch":
            for number in range(self.max_iter):
                batch = rng.choice(rows, size, replace=False)
                yield np.sort(batch), number == self.max_iter - 1
            return
        n_batches = min(self.max_iter, size)
        parts = np.array_split(rng.choice(rows, size, replace=False), n_batches)
        for number, part in enumerate(parts):
            yield np.sort(part), number == n_batches - 1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_init(self)
        check = ParameterChecker(self)
        if not isinstance(self.share, Real) or isinstance(self.share, bool) or not 0 < self.share <= 1:
            check.fail("share", "a float in the range (0, 1]", self.share)
        check.choice("share_of", self.share_of, SHARES_OF)
        check.integer("record_every", self.record_every, 1)


def _after_batch(
    data: FitData, batch: NDArray[np.int64], centres: Floats, seen: Floats
) -> tuple[Floats, Floats]:
    """Return centres and their weights after a batch: means of all rows that were assigned to them.

    Sculley moves a centre by 1 / (rows seen) towards each row of the batch, one after the other. The
    mean is the result of these movements.
    """
    rows, values = data.rows.sample(batch), data.weights.values
    labels = nearest_labels(rows, centres, data.n_threads)
    weights = None if values is None else values[batch]
    partition, _ = Partition.from_labels(labels, len(centres), rows, weights, data.n_threads)
    total = seen + partition.weights
    moved = np.flatnonzero(partition.weights > 0)
    after = centres.copy()
    # The movement is exact even if a centre has seen many more rows than the batch has.
    gaps = partition.composites[moved] / partition.weights[moved, None] - centres[moved]
    after[moved] += gaps * (partition.weights[moved] / total[moved])[:, None]
    return after, total
