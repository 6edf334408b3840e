"""Fits on many machines: what both distributed estimators share."""

import logging
import math
import os
import time
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostkmeans._engine.checkpoints.checkpoint import Checkpoint, identity_of
from boostkmeans._engine.history import START
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._estimators.cluster_count import check_rows_for_clusters, cluster_count
from boostkmeans._estimators.clusterer import Clusterer
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.instruction_set import VARIABLE
from boostkmeans._runtime.parameter_checks import any_of, satisfying
from boostkmeans._runtime.progress import visible_log
from boostkmeans._sharded.backend import Backend, Reference, identity
from boostkmeans._sharded.best_run import (
    BestShardedRun,
    ShardedResult,
    needs_relabelling,
    result_of,
)
from boostkmeans._sharded.fit import ShardedSettings
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.run import ShardedRun
from boostkmeans._sharded.shard.trees import TreeSettings
from boostkmeans._sharded.tasks import Tasks
from boostkmeans._storage.atomic_file import check_target
from boostkmeans.distributed._engine_choice import choose_backend
from boostkmeans.distributed._gathering import gathered
from boostkmeans.distributed._inputs import Blocks, as_blocks, feature_names_of, weight_references
from boostkmeans.distributed._outputs import BlockFunction, labels_like, map_blocks

logger = logging.getLogger("boostkmeans")

ENGINE = any_of(
    None,
    "dask",
    "ray",
    "local",
    satisfying(lambda x: hasattr(x, "submit") and not isinstance(x, str), "a dask client"),
)
"""Allowed values of the parameter `engine`."""
# Attributes of a fit that refer to results on a cluster. They are not pickled.
ON_WORKERS = ("labels_", "_tree_labels")


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
            n_clusters = self._fit_shards(X, sample_weight, began)
            self._log_result(began)
        self._warn_about_result(n_clusters)
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

    def _fit_shards(self, X: Any, sample_weight: Any, began: float) -> int:
        """Fit all runs and set the fitted attributes, after Ctrl-C from the best run so far.

        Return the number of clusters that was requested.
        """
        backend = choose_backend(self.engine, X, n_threads=self.n_threads)
        try:
            return self._fit_on(backend, X, sample_weight, began)
        finally:
            backend.close()

    @staticmethod
    def _weights(sample_weight: Any, blocks: Blocks, backend: Backend) -> list[Reference] | None:
        """Return references to the weights of each block; None without weights."""
        if sample_weight is None:
            return None
        lengths = backend.get([backend.submit(n_rows_of, one) for one in blocks.references])
        return weight_references(sample_weight, blocks, lengths, backend)

    def _fit_on(self, backend: Any, X: Any, sample_weight: Any, began: float) -> int:
        tasks = Tasks(backend, chosen_instruction_set(backend), self.n_threads)
        blocks = as_blocks(X, backend)
        weights = self._weights(sample_weight, blocks, backend)
        owner = type(self).__name__
        rows = ShardedRows.describe(
            tasks, blocks.references, blocks.names, weights, self.metric, owner, blocks.first_rows
        )
        logger.info("%d rows in %d shards, on %s", rows.n_rows, rows.n_shards, backend.name)
        k = cluster_count(self.n_clusters, self.leaf_size, rows.weights.total)
        check_rows_for_clusters(k, self.leaf_size, rows.n_rows, rows.weights)
        settings = ShardedSettings(
            k,
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
                self._log_result(began)
            raise
        self._set_result(run, result, X, blocks, backend)
        return k

    def _tree_settings(self) -> TreeSettings | None:
        """Return the settings of a bisecting fit; None for a k-way fit."""
        return None

    def _set_result(
        self, run: ShardedRun, result: ShardedResult, X: Any, blocks: Any, backend: Any
    ) -> None:
        rows = run.rows
        names = feature_names_of(X, rows.n_features)
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.__dict__.update(
            {
                "_frame": rows.frame,
                "_cluster_weights": result.weights,
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
        name = f"distributed.{type(self).__name__}"
        identity_values = identity_of(name, parameters, described, rows.weights, n_threads=1)
        identity_values["instruction set"] = rows.tasks.isa
        return Checkpoint(self.checkpoint, identity_values)

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
        model = self._block_model(), n_candidates
        return self._map(X, predict_block, model, dtype=np.int32)

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
        model, k = self._block_model(), len(self.cluster_centers_)
        return self._map(X, transform_block, model, dtype=np.float64, n_columns=k, name="distances")

    def _block_model(self) -> Any:
        """Return the ordinary estimator for tasks, each of which has one block and uses one thread."""
        model = self.to_local(labels=False).set_params(n_threads=1, callback=None, checkpoint=None)
        model.__dict__.pop("feature_names_in_", None)  # Blocks are arrays.
        model.__dict__.pop("history_", None)
        return model

    def _map(self, X: Any, function: BlockFunction, model: Any, **options: Any) -> Any:
        """Call a function of a block and a model for each block of X, lazily if X is lazy."""
        backend = choose_backend(self.engine, X, n_threads=self.n_threads)
        try:
            return map_blocks(X, function, model, backend, **options)
        finally:
            backend.close()

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
        backend = choose_backend(self.engine, X, n_threads=self.n_threads)
        try:
            blocks = as_blocks(X, backend)
            weights = self._weights(sample_weight, blocks, backend)
            own = [None] * len(blocks.references) if weights is None else weights
            model = backend.submit(identity, self._block_model())
            scores = [
                backend.submit(score_block, block, weight, model)
                for block, weight in zip(blocks.references, own, strict=True)
            ]
            return float(sum(backend.get(scores)))
        finally:
            backend.close()

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
            if not hasattr(self, "labels_"):
                raise AttributeError(
                    "This estimator has no labels_: a pickle does not contain labels on a cluster. Use "
                    "to_local(labels=False)."
                )
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

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, without clients and without labels on a cluster."""
        state = {
            name: value
            for name, value in super().__getstate__().items()
            if name not in ON_WORKERS or is_local(value)
        }
        if not isinstance(state.get("engine"), str | None):
            state["engine"] = None
        return state


def chosen_instruction_set(backend: Backend) -> str:
    """Return the fastest instruction set of all workers, or the one that the user chose."""
    common, chosen = backend.instruction_sets(), os.environ.get(VARIABLE)
    return chosen if chosen in common and chosen is not None else common[-1]


def is_local(labels: Any) -> bool:
    """Return True if labels are arrays of this process."""
    parts = labels if isinstance(labels, list | tuple) else [labels]
    return all(isinstance(part, np.ndarray) for part in parts)


def n_rows_of(block: Any) -> int:
    """Return the number of rows of a block."""
    return int(block.shape[0])


def predict_block(block: Any, model: tuple[Any, int | None]) -> Any:
    """Return the labels of a block."""
    fitted, n_candidates = model
    if block.shape[0] == 0:
        return np.empty(0, dtype=np.int32)
    return fitted.predict(block, n_candidates=n_candidates)


def transform_block(block: Any, model: Any) -> Any:
    """Return the distances of a block to all centres, in float64."""
    if block.shape[0] == 0:
        return np.empty((0, len(model.cluster_centers_)))
    return model.transform(block).astype(np.float64, copy=False)


def score_block(block: Any, weights: Any, model: Any) -> float:
    """Return the negative inertia of a block."""
    if block.shape[0] == 0 or (weights is not None and not np.any(weights)):
        return 0.0
    return float(model.score(block, sample_weight=weights))


def refuse(owner: str, name: str, value: Any, reason: str) -> None:
    """Raise ParameterError if a parameter that shards do not support is set."""
    if value is not None:
        raise ParameterError(name, f"None: {reason}", value, owner=owner)
