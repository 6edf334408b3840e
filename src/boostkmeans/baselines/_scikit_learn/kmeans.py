"""Lloyd's k-means, called "k-means" and "k-means++" in the paper."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn import cluster

from boostkmeans._engine.history import SweepRecord
from boostkmeans.baselines._baseline import FitData, RunResult
from boostkmeans.baselines._scikit_learn.iteration_log import IterationLog, capture_iterations
from boostkmeans.baselines._scikit_learn.scaling import Scaling
from boostkmeans.baselines._scikit_learn.wrapper import ScikitLearnBaseline
from boostkmeans.baselines._starting_centres import check_centres, check_init


class ScikitLearnKMeans(ScikitLearnBaseline):
    """Lloyd's k-means in scikit-learn's implementation, with a history.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    init : {"random", "k-means++"} or array-like of shape (n_clusters, n_features), default="random"
        Initial centres: random rows, rows drawn by greedy k-means++, or the given centres.
    n_init : int, default=1
        Number of runs with different initial centres. The result is the run with the lowest inertia.
    max_iter : int, default=300
        Maximum number of iterations per run.
    tol : float, default=1e-4
        Tolerance, as in scikit-learn: a run stops when the squared movement of the centres is less than
        `tol` times the mean variance of the features.
    random_state : int, RandomState or None, default=None
        Seed. With the same int, the initial centres equal those of scikit-learn's `KMeans`.
    n_threads : int, default=None
        Number of threads of scikit-learn. None uses its default.

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
        Number of iterations.
    history_ : list of SweepRecord
        One record of kind "lloyd" per iteration. The number of moves is unknown and recorded as 0. For
        float32 input, all inertias except the last have the precision of float32.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import ScikitLearnKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> ScikitLearnKMeans(n_clusters=2, init="k-means++", random_state=0).fit(X).inertia_
    16.0
    """

    _model_name = "baselines.ScikitLearnKMeans"

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

    def _run(self, data: FitData, rng: np.random.RandomState) -> RunResult:
        init, scaling = self.init, Scaling.of(data)
        if not isinstance(init, str):
            init = scaling.points(check_centres(init, self.n_clusters, data.rows.n_features))
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
        with capture_iterations(data.watch) as log, self._limited_threads():
            model.fit(scaling.rows(data.array), sample_weight=data.weights.values)
        seconds = data.watch.seconds
        centres = scaling.centres(model.cluster_centers_)
        labels, inertia = data.measure(centres)
        history = _history(log, scaling, model, data, inertia, seconds)
        return RunResult(centres, labels, inertia, history, model.n_iter_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_init(self)


def _history(
    log: IterationLog,
    scaling: Scaling,
    model: cluster.KMeans,
    data: FitData,
    inertia: float,
    seconds: float,
) -> list[SweepRecord]:
    """Return one record per iteration, or one for the whole fit if the lines could not be parsed.

    Each printed line has the inertia before the centres move. The inertia after an iteration is
    therefore in the next line. For the last iteration, it is the final inertia.
    """
    evaluations = data.rows.n_rows * model.n_clusters
    if len(log.entries) != model.n_iter_:
        return [SweepRecord(seconds, 0, inertia, evaluations * model.n_iter_, "lloyd")]
    unit = data.weights.unit
    inertias = [*(scaling.inertia(printed) * unit for _, printed in log.entries[1:]), inertia]
    times = [at for at, _ in log.entries]
    return [
        SweepRecord(at, 0, value, evaluations, "lloyd")
        for at, value in zip(times, inertias, strict=True)
    ]
