"""Lloyd's k-means, called "k-means" and "k-means++" in the paper."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans._data.frame import Floats
from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.clusterer import FewerClustersWarning
from boostkmeans.baselines._baseline import FitData, RunResult, WeightedBaseline
from boostkmeans.baselines._lloyd import Lloyd, mean_variance
from boostkmeans.baselines._starting_centres import check_init, starting_centres


class KMeans(WeightedBaseline):
    """Lloyd's k-means on the same compiled core as `BoostKMeans`.

    All rows are assigned to the nearest of the first centres. An iteration then computes the means of
    the clusters in float64, and assigns each row to the nearest mean, exactly. Rows are read as they
    are, without a copy (float64, float32, float16, uint8, int8), so that run times compare algorithms
    rather than implementations.

    The row that is farthest from its centre becomes the centre of an empty cluster, as in scikit-learn.
    A cluster stays empty, at its position, if no row of another cluster with several rows lies off its
    centre.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    init : {"random", "k-means++"} or array-like of shape (n_clusters, n_features), default="random"
        First centres: random rows, rows drawn by k-means++ as published (one candidate per centre), or
        the given centres. A run that was stopped continues with `init=model.cluster_centers_`.
    n_init : int, default=1
        Number of runs with different first centres. The result is the run with the lowest inertia.
    max_iter : int, default=300
        Maximum number of iterations per run.
    tol : float, default=1e-4
        Tolerance, as in scikit-learn: a run stops when the squared movement of the centres is at most
        `tol` times the mean variance of the features. With 0, a run stops when no label changes.
    max_time : float, default=None
        Time limit of the fit in seconds. No iteration begins later, except for the first.
    callback : callable, default=None
        Function that is called with a `SweepRecord` after each iteration. The fit stops if it returns a
        true value.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on the number of threads.
    n_threads : int, default=None
        Number of threads of each call. None uses all processors available to this process.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Nearest centre of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features), float64
        Centres.
    cluster_sizes_ : ndarray of shape (n_clusters,), int64
        Number of rows of each cluster.
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of `labels_`.
    distortion_ : float
        Weighted mean squared distance.
    n_iter_ : int
        Number of iterations. scikit-learn counts one more if no label changes in the last iteration.
    history_ : list of SweepRecord
        One record of kind "lloyd" per iteration, with the inertia of the new labels and centres. The run
        has converged if the last record has no moves.

    See Also
    --------
    ScikitLearnKMeans : The implementation of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import KMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> KMeans(n_clusters=2, init="k-means++", random_state=0).fit(X).inertia_
    16.0
    """

    _model_name = "baselines.KMeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "random",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        max_time: float | None = None,
        callback: Callable[[SweepRecord], bool | None] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.max_time = max_time
        self.callback = callback
        self.random_state = random_state
        self.n_threads = n_threads

    def _run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        tolerance = self.tol * mean_variance(data) if self.tol > 0 else 0.0
        centres = starting_centres(self.init, self.n_clusters, data, rng)
        state = self._first_state(data, centres)
        evaluations = data.rows.n_rows * self.n_clusters
        history: list[SweepRecord] = []
        stopped = False
        for _ in range(self.max_iter):
            moves, movement = state.iterate()
            # The first record includes the assignment to the starting centres.
            computed = evaluations if history else 2 * evaluations
            history.append(SweepRecord(data.watch.seconds, moves, state.inertia, computed, "lloyd"))
            stopped = self._is_stopped(history[-1])
            if stopped or moves == 0 or movement <= tolerance:
                break
        n_iter, inertia = len(history), history[-1].inertia
        return RunResult(state.centres, state.labels, inertia, history, n_iter, stopped)

    def _first_state(self, data: FitData, centres: Floats) -> Lloyd:
        """Assign all rows to the first centres."""
        return Lloyd(data, centres)

    def _warn_about_result(self) -> None:
        n_found = int(np.count_nonzero(self.cluster_sizes_))
        if n_found < self.n_clusters:
            warnings.warn(FewerClustersWarning(n_found, int(self.n_clusters)), stacklevel=4)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_init(self)
