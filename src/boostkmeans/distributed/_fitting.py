"""Fits on many machines: what both distributed estimators share."""

import logging
import math
import time
from typing import Any, ClassVar, Self

import numpy as np
from boostkmeans.distributed._inputs import as_blocks, choose_backend, weights_of_blocks
from boostkmeans.distributed._outputs import gathered, is_lazy, labels_like, map_blocks
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostkmeans._engine.checkpoints.checkpoint import Checkpoint, identity_of
from boostkmeans._engine.history import START
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._estimators.clusterer import Clusterer
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import any_of, check_n_clusters, satisfying
from boostkmeans._runtime.progress import visible_log
from boostkmeans._sharded.best_run import (
    BestShardedRun,
    ShardedResult,
    needs_relabelling,
    result_of,
)
from boostkmeans._sharded.fit import ShardedSettings
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.run import ShardedRun
from boostkmeans._sharded.task import TaskSettings
from boostkmeans._sharded.tasks import Tasks
from boostkmeans._sharded.trees import TreeSettings
from boostkmeans._storage.atomic_file import check_target

logger = logging.getLogger("boostkmeans")

ENGINE = any_of(
    None,
    "dask",
    "ray",
    satisfying(lambda x: hasattr(x, "submit") and not isinstance(x, str), "a dask client"),
)
"""Allowed values of the parameter `engine`."""
# Attributes of a fit that refer to results on a cluster. They are not pickled.
ON_WORKERS = ("labels_", "_backend", "_tree_labels")


class DistributedClusterer(Clusterer):
    """Base class of the distributed estimators: the fit of sharded rows, and lazy results."""

    _local_class: ClassVar[type[Any]]
    """The ordinary estimator."""
    engine: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows to cluster. The chunks, blocks or files of X are the shards of the fit. The result
            depends on them, and not on the number of workers.
        y : None
            Not used, present for API consistency.
        sample_weight : array, dask array or list of arrays, default=None
            Weight of each row. A list has one array per shard.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        began = time.perf_counter()
        self._check_parameters()
        if self.checkpoint is not None:
            check_target(self.checkpoint, force=True)
        with visible_log(self.verbose):
            self._fit_shards(X, sample_weight, began)
        self._warn_about_result()
        return self

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Cluster the rows of X, and return `labels_`.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows to cluster.
        y : None
            Not used, present for API consistency.
        **kwargs : dict
            Arguments of `fit`.

        Returns
        -------
        labels : dask array, list or array
            Labels in the order and chunks of X.
        """
        return self.fit(X, **kwargs).labels_

    def _fit_shards(self, X: Any, sample_weight: Any, began: float) -> None:
        """Fit all runs and set the fitted attributes, after Ctrl-C from the best run so far."""
        backend = choose_backend(self.engine, X, self.n_threads)
        try:
            self._fit_on(backend, X, sample_weight, began)
        except BaseException:
            backend.close()
            raise

    def _fit_on(self, backend: Any, X: Any, sample_weight: Any, began: float) -> None:
        tasks = Tasks(backend, TaskSettings.of_driver(backend.instruction_sets()[-1]), self.n_threads)
        blocks = as_blocks(X, backend)
        weights = weights_of_blocks(sample_weight, blocks, backend)
        owner = type(self).__name__
        rows = ShardedRows.describe(tasks, blocks.references, blocks.names, weights, self.metric, owner)
        logger.info("%d rows in %d shards, on %s", rows.n_rows, rows.n_shards, backend.name)
        check_n_clusters(self.n_clusters, rows.n_rows, rows.weights.n_positive)
        settings = ShardedSettings(
            self.n_clusters,
            self._requested_settings(),
            self._criteria(began),
            began,
            self._tree_settings(),
        )
        best = BestShardedRun(
            rows,
            settings,
            check_random_state(self.random_state),
            self._sharded_checkpoint(rows),
        )
        try:
            run = best.find(self.n_init)
            assert run.outcome is not None
            result = result_of(run, run.outcome, relabel=needs_relabelling(run))
        except KeyboardInterrupt:
            if best.run is not None:
                outcome = Outcome(StopReason.INTERRUPTED, complete=False)
                found = result_of(best.run, outcome, relabel=False)
                self._set_result(best.run, found, X, blocks, backend)
            raise
        self._set_result(run, result, X, blocks, backend)

    def _tree_settings(self) -> TreeSettings | None:
        """Return the settings of a bisecting fit; None for a k-way fit."""
        return None

    def _set_result(
        self, run: ShardedRun, result: ShardedResult, X: Any, blocks: Any, backend: Any
    ) -> None:
        rows = run.rows
        names = blocks.feature_names
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.__dict__.update(
            {
                "_frame": rows.frame,
                "_cluster_weights": result.weights,
                "_backend": backend,
                "n_features_in_": rows.n_features,
                "cluster_centers_": result.centres,
                "labels_": labels_like(X, result.labels, rows.lengths, backend),
                "cluster_sizes_": result.sizes,
                "inertia_": result.inertia,
                "distortion_": result.inertia / rows.weights.total,
                "history_": run.history,
                "n_iter_": sum(record.kind != START for record in run.history),
                "n_samples_seen_": rows.n_rows,
                "stop_reason_": str(result.outcome.reason),
                "converged_": result.outcome.reason is StopReason.CERTIFIED,
                # Workers are not timed.
                "serial_share_": math.nan,
            }
        )

    def _sharded_checkpoint(self, rows: ShardedRows) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        parameters = {**self.get_params(deep=False)}
        del parameters["engine"]  # It does not change the result.
        described: Any = rows
        identity = identity_of(f"distributed.{type(self).__name__}", parameters, described, rows.weights)
        return Checkpoint(self.checkpoint, identity)

    def predict(self, X: Any, *, n_candidates: int | None = None) -> Any:
        """Return the nearest centre of each row. Ties go to the centre with the lower index.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows to assign.
        n_candidates : int, default=None
            As in the ordinary estimator.

        Returns
        -------
        labels : dask array, Ray Dataset, list or array
            Labels in the order and chunks of X. They are lazy if X is lazy.
        """
        check_is_fitted(self, "_frame")
        local = self.to_local(labels=False)
        if not is_lazy(X):
            return local.predict(X, n_candidates=n_candidates)
        return map_blocks(X, _Predict(local, n_candidates), np.dtype(np.int32), None)

    def transform(self, X: Any) -> Any:
        """Return the distances of each row to all centres.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows.

        Returns
        -------
        distances : dask array, Ray Dataset, list or array of shape (n_samples, n_clusters)
            Distances, lazy if X is lazy.
        """
        check_is_fitted(self, "_frame")
        local = self.to_local(labels=False)
        if not is_lazy(X):
            return local.transform(X)
        k = len(self.cluster_centers_)
        return map_blocks(X, _Transform(local), np.dtype(np.float64), k)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative inertia of X.

        Parameters
        ----------
        X : dask array or data frame, Ray Dataset, list of blocks, result of `open_shards`, or array
            Rows.
        y : None
            Not used, present for API consistency.
        sample_weight : array, dask array or list of arrays, default=None
            Weight of each row.

        Returns
        -------
        score : float
            Minus the weighted sum of squared distances to the nearest centres.
        """
        check_is_fitted(self, "_frame")
        local = self.to_local(labels=False)
        if not is_lazy(X):
            return float(local.score(X, sample_weight=sample_weight))
        backend = choose_backend(self.engine, X, self.n_threads)
        blocks = as_blocks(X, backend)
        weights = weights_of_blocks(sample_weight, blocks, backend)
        own = [None] * len(blocks.references) if weights is None else weights
        scores = [
            backend.submit(_score, local, block, weight)
            for block, weight in zip(blocks.references, own, strict=True)
        ]
        return float(sum(backend.get(scores)))

    def to_local(self, *, labels: bool = True) -> Any:
        """Return the ordinary estimator with the same centres and parameters.

        Parameters
        ----------
        labels : bool, default=True
            Whether to copy `labels_` to this process, as one array.

        Returns
        -------
        model : BoostKMeans or BisectingBoostKMeans
            The ordinary fitted estimator, which can be saved.
        """
        check_is_fitted(self, "_frame")
        parameters = self.get_params(deep=False)
        del parameters["engine"]
        model = self._local_class(**parameters)
        found = {
            name: value
            for name, value in self.__dict__.items()
            if name not in parameters and name not in (*ON_WORKERS, "engine")
        }
        model.__dict__.update(found)
        if labels:
            model.labels_ = gathered(self.labels_)
        return model

    def save(self, path: Any, *, labels: bool = True) -> None:
        """Write the ordinary estimator to a file. See `boostkmeans.BoostKMeans.save`.

        Parameters
        ----------
        path : path
            Name of the file.
        labels : bool, default=True
            Whether to store `labels_`, which are then copied to this process.
        """
        check_is_fitted(self, "_frame")
        self.to_local(labels=labels).save(path, labels=labels)

    def close(self) -> None:
        """Release the cluster that `fit` started, if it started one. `labels_` may be lost."""
        backend = self.__dict__.pop("_backend", None)
        if backend is not None:
            backend.close()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, without clients and without labels on a cluster."""
        state = {name: value for name, value in super().__getstate__().items() if name not in ON_WORKERS}
        if not isinstance(state.get("engine"), str | None):
            state["engine"] = None
        return state


class _Predict:
    """Labels of a block. An object, so that engines can pickle it."""

    def __init__(self, model: Any, n_candidates: int | None) -> None:
        self.model = model
        self.n_candidates = n_candidates

    def __call__(self, block: Any) -> Any:
        if block.shape[0] == 0:
            return np.empty(0, dtype=np.int32)
        return self.model.predict(block, n_candidates=self.n_candidates)


class _Transform:
    """Distances of a block to all centres."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, block: Any) -> Any:
        if block.shape[0] == 0:
            return np.empty((0, len(self.model.cluster_centers_)))
        return self.model.transform(block).astype(np.float64, copy=False)


def _score(model: Any, block: Any, weights: Any) -> float:
    return 0.0 if block.shape[0] == 0 else float(model.score(block, sample_weight=weights))


def refuse(owner: str, name: str, value: Any, reason: str) -> None:
    """Raise ParameterError if a parameter that shards do not support is set."""
    if value is not None:
        raise ParameterError(name, f"None: {reason}", value, owner=owner)
