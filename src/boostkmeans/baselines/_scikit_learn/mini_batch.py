"""Mini-batch k-means, called "Mini-Batch" in the paper."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn import cluster

from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans.baselines._baseline import FitData, RunResult, Step, run_steps
from boostkmeans.baselines._scikit_learn.scaling import Scaling
from boostkmeans.baselines._scikit_learn.wrapper import ScikitLearnBaseline
from boostkmeans.baselines._starting_centres import check_centres, check_init


class ScikitLearnMiniBatchKMeans(ScikitLearnBaseline):
    """Mini-batch k-means in scikit-learn's implementation, with a history.

    One iteration processes one batch: its rows are assigned to their nearest centres, which move towards
    them. The more rows a centre has seen, the less it moves. As in the paper, a batch has a tenth of the
    rows by default.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    share : float, default=0.1
        Fraction of the rows in a batch. Each batch is a new random sample of at least `n_clusters` rows.
    init : {"random", "k-means++"} or array-like of shape (n_clusters, n_features), default="random"
        Initial centres: random rows of the first batch, rows of it drawn by greedy k-means++, or the
        given centres.
    n_init : int, default=1
        Number of runs with different initial centres. The result is the run with the lowest inertia.
    max_iter : int, default=100
        Number of iterations (batches) per run.
    tol : float, default=0
        Tolerance: a run stops after an iteration that lowers the inertia of all rows by less than this
        fraction. 0 disables this criterion.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible.
    n_threads : int, default=None
        Number of threads of scikit-learn. None uses its default.

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
        One record of kind "batch" per iteration, with the inertia of all rows. `seconds` excludes the
        time to compute this inertia, which exceeds the time of the iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import ScikitLearnMiniBatchKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = ScikitLearnMiniBatchKMeans(n_clusters=2, share=0.5, init="k-means++", random_state=0)
    >>> model.fit(X).n_iter_, bool(16 <= model.inertia_ < 20)
    (100, True)
    """

    _model_name = "baselines.ScikitLearnMiniBatchKMeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        share: float = 0.1,
        init: str | ArrayLike = "random",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.share = share
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads

    def _run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        return run_steps(data, self._steps(data, rng), "batch", self.tol, self._is_stopped)

    def _steps(self, data: FitData, rng: np.random.RandomState) -> Iterator[Step]:
        values = data.weights.values
        # Rows of zero weight are left out, because they would replace other rows in a batch.
        rows = np.arange(data.rows.n_rows) if values is None else np.flatnonzero(values)
        size = max(self.n_clusters, math.ceil(self.share * len(rows)))
        scaling = Scaling.of(data)
        model = self._model(data, scaling, size, rng)
        for _ in range(self.max_iter):
            # Sorted, because reading rows in the order of X is faster.
            batch = np.sort(rng.choice(rows, size, replace=False))
            weights = None if values is None else values[batch]
            with self._limited_threads():
                model.partial_fit(scaling.rows(data.array[batch]), sample_weight=weights)
            yield Step(scaling.centres(model.cluster_centers_), size * self.n_clusters)

    def _model(
        self, data: FitData, scaling: Scaling, size: int, rng: np.random.RandomState
    ) -> cluster.MiniBatchKMeans:
        init = self.init
        if not isinstance(init, str):
            init = scaling.points(check_centres(init, self.n_clusters, data.rows.n_features))
        return cluster.MiniBatchKMeans(
            self.n_clusters,
            init=init,
            n_init=1,
            batch_size=size,
            compute_labels=False,
            random_state=rng,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_init(self)
        check = ParameterChecker(self)
        check.real("share", self.share, positive=True)
        if self.share > 1:
            check.fail("share", "a float in the range (0, 1]", self.share)
