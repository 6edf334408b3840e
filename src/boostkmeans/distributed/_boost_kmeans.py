"""`BoostKMeans` for rows on many machines."""

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.boost_kmeans import BoostKMeans as LocalBoostKMeans
from boostkmeans._estimators.cluster_count import DEFAULT_N_CLUSTERS
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import Allowed
from boostkmeans._steps.seeding import Init
from boostkmeans.distributed._fitting import ENGINE, DistributedClusterer, refuse_limits


class BoostKMeans(DistributedClusterer, LocalBoostKMeans):
    """Boost k-means of rows on many machines, with Dask or Ray, or in one process.

    The labels are the same in one process, on Dask and on Ray, for any number of workers, and after the
    loss of workers. They depend on the shards of X. They differ from those of `boostkmeans.BoostKMeans`,
    because shards are swept at the same time.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters, k. None if `leaf_size` sets it.
    leaf_size : float, default=None
        Average number of rows of a cluster, or their weight if there are weights. It sets the number of
        clusters instead of `n_clusters`: the total weight divided by `leaf_size`, rounded, and at least
        1. `n_clusters` must then be None or its default, 8.
    init : str or array, default="auto"
        As in `boostkmeans.BoostKMeans`. A name is the start of the sample with which the fit begins. An
        array has the centres or the initial labels of all rows. A callable is not supported.
    moves : {"best", "first"}, default="best"
        As in `boostkmeans.BoostKMeans`.
    n_candidates : int, None or "auto", default="auto"
        As in `boostkmeans.BoostKMeans`. Clusters with few rows per shard share a list of candidates,
        which is twice as long.
    repair : bool, int or "auto", default="auto"
        As in `boostkmeans.BoostKMeans`. Clusters are split by their rows in the sample.
    annealing : float, (float, int) or "auto", default="auto"
        As in `boostkmeans.BoostKMeans`.
    quality : {"fast", "balanced", "best"}, default="balanced"
        As in `boostkmeans.BoostKMeans`. The fit begins with a sample of 16, 32 or 64 rows per cluster.
    dimensions : int, None or "auto", default="auto"
        As in `boostkmeans.BoostKMeans`. The principal components are those of the sample. The rows in
        these components need 4 bytes per row and component on the workers.
    min_size, max_size : None
        Not supported: shards do not see each other's moves.
    metric : {"euclidean", "cosine"}, default="euclidean"
        As in `boostkmeans.BoostKMeans`.
    n_init : int, default=1
        Number of runs from different starts. The run with the lowest inertia is the result.
    max_iter : int, default=100
        Maximum number of rounds and repairs per run.
    tol : float, default=1e-4
        Stop after a round that lowers the inertia by less than this share. With 0, continue until a
        round certifies that no single move improves the partition.
    max_time : float, default=None
        Time limit in seconds. The start and the current round are always completed.
    callback : callable, default=None
        Function that is called with a `SweepRecord` in this process after each round. The fit stops if
        it returns a true value.
    checkpoint : path, default=None
        File of this process for the state of the fit, including all labels. If the file exists and
        belongs to the same data and parameters, the fit continues from it, on any engine.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. An int gives the same result every time.
    n_threads : int, default=None
        Number of threads in one process, and of tasks for which all shards wait, such as the fit of the
        sample. By default, all processors that the process may use, or OMP_NUM_THREADS if it is lower.
        On workers, OMP_NUM_THREADS=1 does not count, because Dask and Ray set it. Tasks of shards use
        one thread each. The labels do not depend on the number of threads.
    verbose : int, default=0
        As in `boostkmeans.BoostKMeans`.
    engine : {"dask", "ray", "local"}, dask client or None, default=None
        Where to run. "local" is this process. By default, the type of X decides, then a running cluster,
        and otherwise the fit runs in this process.

    Attributes
    ----------
    labels_ : dask array, list or array
        Cluster of each row, in the order and chunks of X. They stay on the workers.
    cluster_centers_ : ndarray of shape (k, n_features), float64
        Means of the clusters after the last round.
    n_clusters_ : int
        Number of clusters of the fitted model.
    cluster_sizes_ : ndarray of shape (k,), int64
        Number of rows in each cluster.
    cluster_spread_ : ndarray of shape (k,), float64
        Root mean squared distance of the rows of each cluster to its centre; None after an interrupt.
    inertia_ : float
        Weighted sum of squared distances of the rows to their centres.
    distortion_ : float
        `inertia_` divided by the sum of the weights.
    n_iter_ : int
        Number of rounds and repairs of the best run.
    converged_ : bool
        True if it is certified that no single move lowers the inertia.
    stop_reason_ : str
        As in `boostkmeans.BoostKMeans`.
    history_ : list of SweepRecord
        One record per round or repair of the best run, after one for the start.
    n_samples_seen_ : int
        Number of rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X has them.

    See Also
    --------
    boostkmeans.BoostKMeans : The ordinary estimator, for rows on one machine.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.distributed import BoostKMeans
    >>> X = [np.array([[1.0, 2], [1, 4], [1, 0]]), np.array([[10.0, 2], [10, 4], [10, 0]])]
    >>> model = BoostKMeans(n_clusters=2, tol=0, random_state=0).fit(X)
    >>> model.inertia_, model.converged_, [len(labels) for labels in model.labels_]
    (16.0, True, [3, 3])
    """

    _allowed: ClassVar[Mapping[str, Allowed]] = {**LocalBoostKMeans._allowed, "engine": ENGINE}
    _local_class = LocalBoostKMeans

    def __init__(
        self,
        n_clusters: int | None = DEFAULT_N_CLUSTERS,
        *,
        leaf_size: float | None = None,
        init: Init = "auto",
        moves: str = "best",
        n_candidates: int | str | None = "auto",
        repair: bool | int | str = "auto",
        annealing: float | tuple[float, int] | str = "auto",
        quality: str = "balanced",
        dimensions: int | str | None = "auto",
        min_size: None = None,
        max_size: None = None,
        metric: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        max_time: float | None = None,
        callback: Callable[[SweepRecord], bool | None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
        verbose: int = 0,
        engine: Any = None,
    ) -> None:
        super().__init__(
            n_clusters,
            leaf_size=leaf_size,
            init=init,
            moves=moves,
            n_candidates=n_candidates,
            repair=repair,
            annealing=annealing,
            quality=quality,
            dimensions=dimensions,
            min_size=min_size,
            max_size=max_size,
            metric=metric,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            max_time=max_time,
            callback=callback,
            checkpoint=checkpoint,
            random_state=random_state,
            n_threads=n_threads,
            verbose=verbose,
        )
        self.engine = engine

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Raise NotImplementedError: batches are added to the ordinary estimator.

        Parameters
        ----------
        X : array
            Rows of the batch.
        y : None
            Not used, present for API consistency.
        sample_weight : array, default=None
            Weight of each row.

        Returns
        -------
        self : object
            Never.
        """
        raise NotImplementedError("Use to_local().partial_fit(X) to add a batch on one machine.")

    def update(self, X_new: Any = None, **changes: Any) -> Any:
        """Raise NotImplementedError: the ordinary estimator is updated.

        Parameters
        ----------
        X_new : array, default=None
            Rows to add.
        **changes : dict
            Other arguments of `boostkmeans.BoostKMeans.update`.

        Returns
        -------
        self : object
            Never.
        """
        raise NotImplementedError("Use to_local().update(X_new) to update the model on one machine.")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        refuse_limits(self)
        if callable(self.init):
            expected = "a name or an array: no process has all rows that a callable would need"
            raise ParameterError("init", expected, self.init, owner=type(self).__name__)
