"""Bisecting k-means: the paper's "BsKM" and "BsKM++"."""

import numpy as np
from sklearn import cluster

from boostkmeans._data.frame import Floats
from boostkmeans._engine.history import SweepRecord
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._steps.partition import Labels
from boostkmeans.baselines._baseline import Data, Run
from boostkmeans.baselines._scikit_learn import ScikitLearnBaseline, for_scikit_learn
from boostkmeans.baselines._starting_centres import SEEDINGS


class BisectingKMeans(ScikitLearnBaseline):
    """Splits the largest cluster in two by Lloyd's k-means, again and again, by scikit-learn.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    init : {"random", "k-means++"}, default="random"
        Where a split starts: two random rows, or two drawn by greedy k-means++.
    n_init : int, default=1
        Trees from different random numbers, of which the one with the lowest inertia is kept.
    max_iter : int, default=300
        Iterations at most, per split.
    tol : float, default=1e-4
        As in scikit-learn: a split stops when its centres move by less, squared.
    random_state : int, RandomState or None, default=None
        With the same int, the tree is that of scikit-learn's `BisectingKMeans`.
    n_threads : int, default=None
        Threads of scikit-learn. None: as it deems right.

    Attributes
    ----------
    labels_ : array (n,) of int32
        The leaf of each row. `predict` gives the nearest centre, which may be another one.
    cluster_centers_, cluster_sizes_, inertia_, distortion_, n_iter_
        As in `BisectingBoostKMeans`; the inertia is that of `labels_`.
    history_ : list of SweepRecord
        One record, of kind "tree". Moves and evaluations are not known, and 0.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import BisectingKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> BisectingKMeans(n_clusters=2, init="k-means++", random_state=0).fit(X).inertia_
    16.0
    """

    _model_name = "baselines.BisectingKMeans"

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

    def _run(self, data: Data, rng: np.random.RandomState) -> Run:
        centres, labels = self._grow(data, rng)
        seconds = data.watch.seconds
        inertia = data.inertia(centres, labels)
        record = SweepRecord(seconds, 0, inertia, 0, "tree")
        return Run(centres, labels, inertia, [record], 1)

    def _grow(self, data: Data, rng: np.random.RandomState) -> tuple[Floats, Labels]:
        """Centres of the leaves, and the leaf of each row."""
        model = cluster.BisectingKMeans(
            self.n_clusters,
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=rng,
            bisecting_strategy="largest_cluster",
        )
        values = data.weights.values
        if values is None or data.weights.n_positive == len(values):
            with self._limited_threads():
                model.fit(for_scikit_learn(data.array), sample_weight=values)
            return model.cluster_centers_.astype(np.float64), model.labels_
        # No split can start from rows without weight: they go to the nearest centre afterwards.
        weighty = np.flatnonzero(values)
        with self._limited_threads():
            model.fit(for_scikit_learn(data.array[weighty]), sample_weight=values[weighty])
        centres = model.cluster_centers_.astype(np.float64)
        labels, _ = data.measure(centres)
        labels[weighty] = model.labels_
        return centres, labels

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ParameterChecker(self).choice("init", self.init, SEEDINGS)
