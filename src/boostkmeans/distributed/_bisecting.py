"""`BisectingBoostKMeans` for rows on many machines."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.bisecting import BisectingBoostKMeans as LocalBisectingBoostKMeans
from boostkmeans._estimators.cluster_count import DEFAULT_N_CLUSTERS
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import Allowed
from boostkmeans._sharded.best_run import ShardedResult
from boostkmeans._sharded.run import ShardedRun
from boostkmeans._sharded.shard.trees import TreeSettings
from boostkmeans._steps.split_rules import SplitRules
from boostkmeans.distributed._block_conversion import naming_its_block
from boostkmeans.distributed._fitting import ENGINE, DistributedClusterer, refuse_limits
from boostkmeans.distributed._gathering import gathered
from boostkmeans.distributed._outputs import labels_like


class BisectingBoostKMeans(DistributedClusterer, LocalBisectingBoostKMeans):
    """A tree of clusters of rows on many machines, with Dask or Ray, or in one process.

    The tree is built from a sample on one worker. All rows then descend it. With `refine`, rounds of
    boost k-means over all shards follow. The labels do not depend on the engine or the number of
    workers.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters, k. None if `leaf_size` sets it.
    leaf_size : float, default=None
        Average number of rows of a cluster, or their weight if there are weights. It sets the number of
        clusters instead of `n_clusters`: the total weight divided by `leaf_size`, rounded, and at least
        1. `n_clusters` must then be None or its default, 8.
    n_sections : int, default=2
        As in `boostkmeans.BisectingBoostKMeans`.
    init : {"random-partition", "random", "k-means++"}, default="random-partition"
        As in `boostkmeans.BisectingBoostKMeans`.
    split : {"largest", "inertia", "average"}, default="largest"
        As in `boostkmeans.BisectingBoostKMeans`.
    sample : {"auto"}, default="auto"
        Only "auto" is supported: the exact algorithm needs all rows of a cluster in one place.
    max_passes : int, None or "auto", default="auto"
        As in `boostkmeans.BisectingBoostKMeans`.
    refine : bool or int, default=False
        Whether rounds of boost k-means follow the tree. With an int, it is their maximum number.
    moves : {"best", "first"}, default="best"
        As in `BoostKMeans`, for the refinement.
    n_candidates : int, None or "auto", default="auto"
        As in `BoostKMeans`, for the refinement.
    repair : bool, int or "auto", default="auto"
        As in `BoostKMeans`, for the refinement.
    annealing : float, (float, int) or "auto", default="auto"
        As in `BoostKMeans`, for the refinement.
    quality : {"fast", "balanced", "best"}, default="balanced"
        As in `BoostKMeans`. It also determines the size of the sample.
    min_size, max_size : None
        Not supported: shards do not see each other's moves.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales each row to unit length first.
    n_init : int, default=1
        Number of trees (with their refinements) from different random numbers. The best is the result.
    max_iter : int, default=100
        Maximum number of rounds and repairs of the refinement.
    tol : float, default=1e-4
        As in `BoostKMeans`, for the refinement.
    max_time : float, default=None
        Time limit of the refinement in seconds. The tree is always completed.
    callback : callable, default=None
        Function that is called with a `SweepRecord` after each round of the refinement.
    checkpoint : path, default=None
        As in `BoostKMeans`.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. An int gives the same result every time.
    n_threads : int, default=None
        As in `BoostKMeans`.
    verbose : int, default=0
        As in `boostkmeans.BoostKMeans`.
    engine : {"dask", "ray", "local"}, dask client or None, default=None
        As in `BoostKMeans`.

    Attributes
    ----------
    tree_ : ClusterTree
        The splits, with the size, inertia and centre of each node, over all rows. Its `labels` are
        empty: use `to_local().cut(n_clusters)` to cut the tree.
    labels_ : dask array, list or array
        Cluster of each row, in the order and chunks of X. They stay on the workers.
    cluster_centers_ : ndarray of shape (k, n_features), float64
        Means of the clusters.
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
        Number of records in `history_`.
    converged_ : bool
        True if it is certified that no single move lowers the inertia.
    stop_reason_ : str
        "tree" without refinement, else as in `BoostKMeans`.
    history_ : list of SweepRecord
        One record for the tree, followed by those of the refinement.

    See Also
    --------
    boostkmeans.BisectingBoostKMeans : The ordinary estimator, for rows on one machine.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.distributed import BisectingBoostKMeans
    >>> X = [np.array([[1.0, 2], [1, 4], [1, 0]]), np.array([[10.0, 2], [10, 4], [10, 0]])]
    >>> model = BisectingBoostKMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.inertia_, model.stop_reason_
    (16.0, 'tree')
    """

    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **LocalBisectingBoostKMeans._allowed,
        "engine": ENGINE,
    }
    _local_class = LocalBisectingBoostKMeans

    def __init__(
        self,
        n_clusters: int | None = DEFAULT_N_CLUSTERS,
        *,
        leaf_size: float | None = None,
        n_sections: int = 2,
        init: str = "random-partition",
        split: str = "largest",
        sample: str | None = "auto",
        max_passes: int | str | None = "auto",
        refine: bool | int = False,
        moves: str = "best",
        n_candidates: int | str | None = "auto",
        repair: bool | int | str = "auto",
        annealing: float | tuple[float, int] | str = "auto",
        quality: str = "balanced",
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
            n_sections=n_sections,
            init=init,
            split=split,
            sample=sample,
            max_passes=max_passes,
            refine=refine,
            moves=moves,
            n_candidates=n_candidates,
            repair=repair,
            annealing=annealing,
            quality=quality,
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        refuse_limits(self)
        if self.sample is None:
            expected = '"auto": the exact algorithm needs all rows of a cluster in one place'
            raise ParameterError("sample", expected, None, owner=type(self).__name__)

    def _tree_settings(self) -> TreeSettings:
        rules = SplitRules(self.n_sections, self.init, self.split, self.sample, self.max_passes)
        return TreeSettings(rules, self._refines)

    def _set_result(
        self, run: ShardedRun, result: ShardedResult, X: Any, blocks: Any, backend: Any
    ) -> None:
        super()._set_result(run, result, X, blocks, backend)
        assert run.tree is not None
        frame, unit = run.rows.frame, run.rows.weights.unit
        with np.errstate(over="ignore"):
            inertia = np.ldexp(run.tree.inertia, -2 * frame.exponent) * unit
        self.tree_ = replace(
            run.tree,
            centers=frame.leave(run.tree.centers),
            inertia=inertia,
            weights=run.tree.weights * unit,
        )
        self._tree_labels = labels_like(X, run.tree_labels, run.rows.lengths, backend)

    def predict(self, X: Any, *, tree: bool = False, n_candidates: int | None = None) -> Any:
        """Return the nearest centre of each row. Ties go to the centre with the lower index.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows to assign.
        tree : bool, default=False
            Whether to search by descending the tree, as in `boostkmeans.BisectingBoostKMeans`.
        n_candidates : int, default=None
            As in the ordinary estimator.

        Returns
        -------
        labels : dask array, Ray Dataset, list or array
            Labels in the order and chunks of X. They are lazy if X is lazy.
        """
        if not tree:
            return super().predict(X, n_candidates=n_candidates)
        if n_candidates is not None:
            raise ValueError("predict accepts either tree=True or n_candidates, not both.")
        return self._map(X, descend_block, self._block_model(), dtype=np.int32)

    def to_local(self, *, labels: bool = True) -> Any:
        """Return the ordinary estimator with the same centres and parameters.

        Parameters
        ----------
        labels : bool, default=True
            Whether to copy `labels_` and the leaves of all rows to this process.

        Returns
        -------
        model : BisectingBoostKMeans
            The ordinary fitted estimator, which can be saved.
        """
        model = super().to_local(labels=labels)
        if labels:
            leaves = gathered(self._tree_labels)
            model.tree_ = replace(model.tree_, labels=leaves)
        return model

    def cut(self, n_clusters: int) -> Any:
        """Return the labels of the fitted rows when the tree had `n_clusters` leaves.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            Index of the cluster of each row, in this process.
        """
        return self.to_local().cut(n_clusters)


@naming_its_block
def descend_block(block: Any, model: Any) -> Any:
    """Return the labels of a block by descending the tree."""
    if block.shape[0] == 0:
        return np.empty(0, dtype=np.int32)
    return model.predict(block, tree=True)
