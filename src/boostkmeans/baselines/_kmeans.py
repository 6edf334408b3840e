"""Lloyd's k-means: the paper's "k-means" and "k-means++"."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn import cluster

from boostkmeans._engine.history import SweepRecord
from boostkmeans.baselines._baseline import Data, Run
from boostkmeans.baselines._iteration_log import IterationLog, reading
from boostkmeans.baselines._scikit_learn import ScikitLearnBaseline, for_scikit_learn
from boostkmeans.baselines._starting_centres import check_seeding, given_centres


class KMeans(ScikitLearnBaseline):
    """K-means by Lloyd's two steps, in scikit-learn's implementation, with a history.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    init : {"random", "k-means++"} or array (k, d), default="random"
        Centres to start from: k random rows, k rows drawn by greedy k-means++, or given ones.
    n_init : int, default=1
        Runs from different starts, of which the one with the lowest inertia is kept.
    max_iter : int, default=300
        Iterations at most, per run.
    tol : float, default=1e-4
        As in scikit-learn: stop when the centres move by less, squared, times the variance of X.
    random_state : int, RandomState or None, default=None
        With the same int, the start is that of scikit-learn's `KMeans`.
    n_threads : int, default=None
        Threads of scikit-learn. None: as it deems right.

    Attributes
    ----------
    labels_ : array (n,) of int32
        The nearest centre of each row.
    cluster_centers_, cluster_sizes_, inertia_, distortion_, n_iter_
        As in `BoostKMeans`.
    history_ : list of SweepRecord
        One record for each iteration, of kind "lloyd". Moves are not known, and 0. For float32 input,
        inertias but the last are as precise as that.

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
        init = self.init
        if not isinstance(init, str):
            init = given_centres(init, self.n_clusters, data.rows.n_features)
        model = cluster.KMeans(
            self.n_clusters,
            init=init,
            n_init=1,
            max_iter=self.max_iter,
            tol=self.tol,
            verbose=1,
            random_state=rng,
            algorithm="lloyd",
        )
        with reading(data.watch) as log, self._limited_threads():
            model.fit(for_scikit_learn(data.array), sample_weight=data.weights.values)
        seconds = data.watch.seconds
        centres = model.cluster_centers_.astype(np.float64)
        labels, inertia = data.measure(centres)
        history = history_of(log, model, data, inertia, seconds)
        return Run(centres, labels, inertia, history, model.n_iter_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_seeding(self)


def history_of(
    log: IterationLog, model: cluster.KMeans, data: Data, inertia: float, seconds: float
) -> list[SweepRecord]:
    """A record for each iteration; for the whole fit, if its lines were not understood.

    A line has the inertia before its iteration moved the centres. So the one after is in the next line,
    and the last one is that of the result.
    """
    distances = data.rows.n_rows * model.n_clusters
    if len(log.entries) != model.n_iter_:
        return [SweepRecord(seconds, 0, inertia, distances * model.n_iter_, "lloyd")]
    after = [printed * data.weights.unit for _, printed in log.entries[1:]] + [inertia]
    times = [at for at, _ in log.entries]
    return [
        SweepRecord(at, 0, value, distances, "lloyd") for at, value in zip(times, after, strict=True)
    ]
