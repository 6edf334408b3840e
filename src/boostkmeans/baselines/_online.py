"""Online k-means, called "LVQ" in the paper."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans import _core
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._steps.seeding import N_TRIALS
from boostkmeans.baselines._baseline import Baseline, FitData, RunResult, Step, run_steps
from boostkmeans.baselines._starting_centres import check_init, starting_centres

# Rates below this fraction of the first rate count as 0: they are rounding errors of the decay.
NEGLIGIBLE_RATE = 1e-9
# Rows of a block per thread: those that a thread compares with all centres at a time. In larger blocks,
# more rows have a nearest centre that other rows of the block have moved, and are compared again.
ROWS_PER_THREAD = 48
# Minimum number of clusters for blocks.
MIN_CLUSTERS_FOR_BLOCKS = 64


class OnlineKMeans(Baseline):
    """Online k-means: each row immediately moves its nearest centre a little towards itself.

    The paper calls it LVQ (learning vector quantization, here without classes). Rows are visited in
    random order. A run stops when the learning rate reaches 0. With the paper's rates, this takes 25
    iterations. Row weights are not supported.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    init : {"random", "k-means++"} or array-like of shape (n_clusters, n_features), default="random"
        Initial centres: random rows, rows drawn by greedy k-means++, or the given centres.
    rate : float, default=0.01
        Learning rate of the first iteration, between 0 and 1: a centre moves by this fraction of its
        distance to the row.
    decay : float, default=4e-4
        Decrease of the learning rate per iteration, until it is 0.
    n_init : int, default=1
        Number of runs with different initial centres. The result is the run with the lowest inertia.
    max_iter : int, default=100
        Maximum number of iterations per run.
    tol : float, default=0
        Tolerance: a run stops after an iteration that lowers the inertia by less than this fraction. 0
        disables this criterion.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible.
    n_threads : int, default=None
        Number of threads. Rows move centres one after the other, but threads share the search for the
        nearest centres of a block of rows. The result does not depend on the number of threads. Sparse
        rows are visited by one thread. None uses all processors available to this process.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Nearest centre of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features), float64
        Centres after the last iteration; they are not means of the clusters.
    cluster_sizes_ : ndarray of shape (n_clusters,), int64
        Number of rows of each cluster.
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of `labels_`.
    distortion_ : float
        Weighted mean squared distance.
    n_iter_ : int
        Number of iterations.
    history_ : list of SweepRecord
        One record of kind "online" per iteration. `seconds` excludes the time to compute the inertia.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import OnlineKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = OnlineKMeans(n_clusters=2, init="k-means++", random_state=0).fit(X)
    >>> model.n_iter_, sorted(model.cluster_sizes_.tolist())
    (25, [3, 3])
    """

    _model_name = "baselines.OnlineKMeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "random",
        rate: float = 0.01,
        decay: float = 4e-4,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.rate = rate
        self.decay = decay
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        OnlineKMeans
            The fitted estimator.
        """
        return self._fit(X, None)

    def _run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        return run_steps(data, self._steps(data, rng), "online", self.tol, self._is_stopped)

    def _steps(self, data: FitData, rng: np.random.RandomState) -> Iterator[Step]:
        centres = starting_centres(self.init, self.n_clusters, data, rng, n_trials=N_TRIALS)
        block_rows = rows_per_block(data, self.n_clusters)
        for iteration in range(self.max_iter):
            rate = self.rate - iteration * self.decay
            if rate <= NEGLIGIBLE_RATE * self.rate:
                return
            order = rng.permutation(data.rows.n_rows).astype(np.int64)
            visited = _core.online_pass(
                data.rows.core, centres, order, rate, block_rows=block_rows, n_threads=data.n_threads
            )
            yield Step(data.rows.frame.leave(centres), visited * self.n_clusters)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_init(self)
        check = ParameterChecker(self)
        check.real("rate", self.rate, positive=True)
        if self.rate >= 1:
            check.fail("rate", "a float in the range (0, 1)", self.rate)
        check.real("decay", self.decay)


def rows_per_block(data: FitData, n_clusters: int) -> int:
    """Return the number of rows whose nearest centres are searched at the same time."""
    if data.rows.stays_sparse or n_clusters < MIN_CLUSTERS_FOR_BLOCKS:
        return 1
    return ROWS_PER_THREAD * data.n_threads
