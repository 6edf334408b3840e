"""Mini-batch k-means: the paper's "Mini-Batch"."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn import cluster

from boostkmeans._data.frame import Floats
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans.baselines._baseline import Data, Run, follow
from boostkmeans.baselines._scikit_learn import ScikitLearnBaseline, for_scikit_learn
from boostkmeans.baselines._starting_centres import check_seeding, given_centres


class MiniBatchKMeans(ScikitLearnBaseline):
    """K-means by random batches, in scikit-learn's implementation, with a history.

    An iteration is one batch: its rows go to their nearest centres, which move towards them, the less so
    the more rows they have seen. As in the paper, a batch has a tenth of the rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    share : float, default=0.1
        Part of the rows that is in a batch, drawn anew for each. It has `n_clusters` rows at least.
    init : {"random", "k-means++"} or array (k, d), default="random"
        Centres to start from: k random rows of the first batch, k of them drawn by greedy k-means++, or
        given ones.
    n_init : int, default=1
        Runs from different starts, of which the one with the lowest inertia is kept.
    max_iter : int, default=100
        Iterations, per run.
    tol : float, default=0
        Stop after an iteration that lowers the inertia of all rows by less than this fraction. 0: never.
    random_state : int, RandomState or None, default=None
        An int gives the same result every time.
    n_threads : int, default=None
        Threads of scikit-learn. None: as it deems right.

    Attributes
    ----------
    labels_ : array (n,) of int32
        The nearest centre of each row.
    cluster_centers_, cluster_sizes_, inertia_, distortion_, n_iter_
        As in `BoostKMeans`; the centres are means of rows seen, not of the clusters as they are.
    history_ : list of SweepRecord
        One record for each iteration, of kind "batch", with the inertia of all rows. It takes longer to
        measure than the iteration itself, and does not count in `seconds`.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import MiniBatchKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = MiniBatchKMeans(n_clusters=2, share=0.5, init="k-means++", random_state=0).fit(X)
    >>> model.n_iter_, bool(16 <= model.inertia_ < 20)
    (100, True)
    """

    _model_name = "baselines.MiniBatchKMeans"

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

    def _run(self, data: Data, rng: np.random.RandomState) -> Run:
        return follow(data, self._steps(data, rng), "batch", self.tol)

    def _steps(self, data: Data, rng: np.random.RandomState) -> Iterator[tuple[Floats, int]]:
        values = data.weights.values
        # Rows without weight would take the place of others.
        rows = np.arange(data.rows.n_rows) if values is None else np.flatnonzero(values)
        size = max(self.n_clusters, math.ceil(self.share * len(rows)))
        model = self._model(data, size, rng)
        for _ in range(self.max_iter):
            # In the order of X, which is faster to read.
            batch = np.sort(rng.choice(rows, size, replace=False))
            weights = None if values is None else values[batch]
            with self._limited_threads():
                model.partial_fit(for_scikit_learn(data.array[batch]), sample_weight=weights)
            yield model.cluster_centers_.astype(np.float64), size * self.n_clusters

    def _model(self, data: Data, size: int, rng: np.random.RandomState) -> cluster.MiniBatchKMeans:
        init = self.init
        if not isinstance(init, str):
            init = given_centres(init, self.n_clusters, data.rows.n_features)
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
        check_seeding(self)
        check = ParameterChecker(self)
        check.real("share", self.share, positive=True)
        if self.share > 1:
            check.fail("share", "a float in the range (0, 1]", self.share)
