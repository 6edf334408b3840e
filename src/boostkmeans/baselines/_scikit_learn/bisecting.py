"""Bisecting k-means, called "BsKM" and "BsKM++" in the paper."""

import numpy as np
from sklearn import cluster

from boostkmeans._data.frame import Floats
from boostkmeans._engine.history import SweepRecord
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._steps.partition import Labels
from boostkmeans.baselines._baseline import FitData, RunResult
from boostkmeans.baselines._scikit_learn.scaling import Scaling
from boostkmeans.baselines._scikit_learn.wrapper import ScikitLearnBaseline
from boostkmeans.baselines._starting_centres import INITS


class ScikitLearnBisectingKMeans(ScikitLearnBaseline):
    """Bisecting k-means in scikit-learn's implementation.

    The largest cluster is split into two by Lloyd's k-means until there are `n_clusters`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    init : {"random", "k-means++"}, default="random"
        Initial centres of a split: two random rows, or two rows drawn by greedy k-means++.
    n_init : int, default=1
        Number of trees grown with different random numbers. The result is the one with the lowest
        inertia.
    max_iter : int, default=300
        Maximum number of iterations per split.
    tol : float, default=1e-4
        Tolerance, as in scikit-learn: a split stops when the squared movement of its centres is less
        than `tol`.
    random_state : int, RandomState or None, default=None
        Seed. With the same int, the tree equals that of scikit-learn's `BisectingKMeans`.
    n_threads : int, default=None
        Number of threads of scikit-learn. None uses its default.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Leaf of each row. `predict` returns the nearest centre, which may be another one.
    cluster_centers_ : ndarray of shape (n_clusters, n_features), float64
        Centres of the leaves.
    cluster_sizes_ : ndarray of shape (n_clusters,), int64
        Number of rows of each cluster.
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of `labels_`.
    distortion_ : float
        Weighted mean squared distance.
    n_iter_ : int
        Number of iterations.
    history_ : list of SweepRecord
        One record of kind "tree". Moves and evaluations are unknown and recorded as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import ScikitLearnBisectingKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> ScikitLearnBisectingKMeans(n_clusters=2, init="k-means++", random_state=0).fit(X).inertia_
    16.0
    """

    _model_name = "baselines.ScikitLearnBisectingKMeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str = "random",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads

    def _run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        centres, labels = self._grow(data, rng)
        seconds = data.watch.seconds
        inertia = data.inertia(centres, labels)
        record = SweepRecord(seconds, 0, inertia, 0, "tree")
        return RunResult(centres, labels, inertia, [record], 1)

    def _grow(self, data: FitData, rng: np.random.RandomState) -> tuple[Floats, Labels]:
        """Return the centres of the leaves and the leaf of each row."""
        model = cluster.BisectingKMeans(
            self.n_clusters,
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=rng,
            bisecting_strategy="largest_cluster",
        )
        values, scaling = data.weights.values, Scaling.of(data)
        if values is None or data.weights.n_positive == len(values):
            with self._limited_threads():
                model.fit(scaling.rows(data.array), sample_weight=values)
            return scaling.centres(model.cluster_centers_), model.labels_
        # A split must not start from rows without weight. They are assigned to the nearest centre later.
        weighted = np.flatnonzero(values)
        with self._limited_threads():
            model.fit(scaling.rows(data.array[weighted]), sample_weight=values[weighted])
        centres = scaling.centres(model.cluster_centers_)
        labels, _ = data.measure(centres)
        labels[weighted] = model.labels_
        return centres, labels

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ParameterChecker(self).choice("init", self.init, INITS)
