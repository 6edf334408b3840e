"""Online k-means: the paper's "LVQ"."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._steps.seeding import N_TRIALS
from boostkmeans.baselines._baseline import Baseline, Data, Run, follow
from boostkmeans.baselines._starting_centres import check_seeding, given_centres

# Of the first rate: what rounding leaves of a rate that has come down to 0.
NO_RATE = 1e-9


class OnlineKMeans(Baseline):
    """Each row pulls its nearest centre a little towards itself, which happens at once.

    The paper calls it LVQ (learning vector quantization, here without classes). Rows come in random
    order. The paper's rate falls to 0 within 25 iterations, where this stops. Rows have no weights.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    init : {"random", "k-means++"} or array (k, d), default="random"
        Centres to start from: k random rows, k rows drawn by greedy k-means++, or given ones.
    rate : float, default=0.01
        How far a centre goes towards a row, as a fraction of the way, in the first iteration: below 1.
    decay : float, default=4e-4
        By how much the rate is lower in each further iteration, until it is 0.
    n_init : int, default=1
        Runs from different starts, of which the one with the lowest inertia is kept.
    max_iter : int, default=100
        Iterations at most, per run.
    tol : float, default=0
        Stop after an iteration that lowers the inertia by less than this fraction. 0: never.
    random_state : int, RandomState or None, default=None
        An int gives the same result every time.
    n_threads : int, default=None
        Threads of starts and measurements; rows are visited by one. None: all processors that this
        process may use.

    Attributes
    ----------
    labels_ : array (n,) of int32
        The nearest centre of each row.
    cluster_centers_, cluster_sizes_, inertia_, distortion_, n_iter_
        As in `BoostKMeans`; the centres are where the rows pulled them, not means of the clusters.
    history_ : list of SweepRecord
        One record for each iteration, of kind "online". The time to measure it does not count.

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
        """Clusters the rows of X. `y` is ignored, as scikit-learn's pipelines want it."""
        return self._fit(X, None)

    def _run(self, data: Data, rng: np.random.RandomState) -> Run:
        return follow(data, self._steps(data, rng), "online", self.tol)

    def _steps(self, data: Data, rng: np.random.RandomState) -> Iterator[tuple[Floats, int]]:
        centres = self._start(data, rng)
        for iteration in range(self.max_iter):
            rate = self.rate - iteration * self.decay
            if rate <= NO_RATE * self.rate:
                return
            order = rng.permutation(data.rows.n_rows).astype(np.int64)
            visited = _core.online_pass(data.rows.core, centres, order, rate)
            yield data.rows.frame.leave(centres), visited * self.n_clusters

    def _start(self, data: Data, rng: np.random.RandomState) -> Floats:
        """Centres in the frame."""
        rows, k = data.rows, self.n_clusters
        if not isinstance(self.init, str):
            return rows.frame.enter(given_centres(self.init, k, rows.n_features))
        if self.init == "random":
            return rows.take(rng.choice(rows.n_rows, k, replace=False))
        seed = int(rng.randint(2**63 - 1, dtype=np.int64))
        return rows.take(_core.plus_plus(rows.core, None, k, N_TRIALS, seed, data.n_threads)[0])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_seeding(self)
        check = ParameterChecker(self)
        check.real("rate", self.rate, positive=True)
        if self.rate >= 1:
            check.fail("rate", "a float in the range (0, 1)", self.rate)
        check.real("decay", self.decay)
