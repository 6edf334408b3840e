"""Fits on many machines: what both distributed estimators share."""

import logging
import math
import os
import time
from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._engine.checkpoints.checkpoint import Checkpoint, identity_of, stored_identity
from boostkmeans._engine.history import START
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._estimators.cluster_count import check_rows_for_clusters, cluster_count
from boostkmeans._estimators.clusterer import Clusterer
from boostkmeans._runtime.errors import ParameterError, shorten
from boostkmeans._runtime.instruction_set import VARIABLE
from boostkmeans._runtime.parameter_checks import any_of, satisfying
from boostkmeans._runtime.progress import visible_log
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._sharded.backend import Backend, LocalBackend
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
from boostkmeans.distributed._input_kinds import is_distributed
from boostkmeans.distributed._inputs import as_blocks, feature_names_of
from boostkmeans.distributed._lazy_assignment import LazyAssignment, weights_of_blocks
from boostkmeans.distributed._outputs import labels_like

logger = logging.getLogger("boostkmeans")

ENGINE = any_of(
    None,
    "dask",
    "ray",
    "local",
    satisfying(lambda x: hasattr(x, "submit") and not isinstance(x, str), "a dask client"),
)
"""Allowed values of the parameter `engine`."""
NO_LIMITS = (
    "limits on sizes need decisions about one row at a time, but shards do not see each other's moves"
)
# Entry of the identity in a checkpoint.
INSTRUCTION_SET = "instruction set"
# Attributes of a fit that refer to results on a cluster. They are not pickled.
ON_WORKERS = ("labels_", "_tree_labels")


class DistributedClusterer(LazyAssignment, Clusterer):
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

    def _fit_on(self, backend: Any, X: Any, sample_weight: Any, began: float) -> int:
        isa = chosen_instruction_set(backend, self.checkpoint)
        tasks = Tasks(backend, isa, threads_of_lone_tasks(backend, self.n_threads))
        blocks = as_blocks(X, backend)
        weights = weights_of_blocks(sample_weight, blocks, backend)
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
                "cluster_spread_": result.spread,
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
        identity_values[INSTRUCTION_SET] = rows.tasks.isa
        return Checkpoint(self.checkpoint, identity_values)

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

    @classmethod
    def load(cls, path: Any) -> Self:
        """Raise NotImplementedError: a saved model is an ordinary estimator.

        Parameters
        ----------
        path : path
            Name of the file.

        Returns
        -------
        model : object
            Never.
        """
        raise NotImplementedError(
            f"A saved model is an ordinary estimator. Use boostkmeans.{cls._local_class.__name__}"
            ".load(path), or boostkmeans.load_model(path)."
        )

    def _batches(self, X: Any) -> Iterator[tuple[Rows, Floats, int]]:
        if is_distributed(X):
            raise ParameterError(
                "X",
                "rows in memory or from open_vectors",
                X,
                remedy="predict, predict_many and transform accept shards and collections of Dask and "
                "Ray, lazily.",
            )
        return super()._batches(X)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted estimator with the same parameters, and with the same client."""
        # A copy has no client, which could not be copied.
        cloned: Self = BaseEstimator.__sklearn_clone__(copy(self))
        cloned.engine = self.engine
        return cloned

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


def chosen_instruction_set(backend: Backend, checkpoint: Any = None) -> str:
    """Return the fastest instruction set of all workers, or the one that the user chose.

    A fit that resumes from a checkpoint continues with the same instruction set.
    """
    common, chosen = backend.instruction_sets(), os.environ.get(VARIABLE)
    stored = None if checkpoint is None else stored_identity(checkpoint).get(INSTRUCTION_SET)
    if isinstance(stored, str) and stored not in common:
        raise ValueError(
            f"{escape_untrusted(os.fspath(checkpoint))} is the checkpoint of a fit with the instruction "
            f"set {shorten(escape_untrusted(repr(stored)))}, which not all workers support. All support "
            f"{', '.join(common)}. Use other workers, or remove the file to start over. For a fit on "
            f"different processors, set {VARIABLE} in the environment of the driver before it begins."
        )
    wanted = stored or chosen
    return wanted if isinstance(wanted, str) and wanted in common else common[-1]


def threads_of_lone_tasks(backend: Backend, n_threads: int | None) -> int | None:
    """Return the threads of tasks that all others wait for; None for all processors of a worker.

    In one process, they are the threads of all tasks: the limit on this process holds.
    """
    return resolve_threads(n_threads) if isinstance(backend, LocalBackend) else n_threads


def is_local(labels: Any) -> bool:
    """Return True if labels are arrays of this process."""
    parts = labels if isinstance(labels, list | tuple) else [labels]
    return all(isinstance(part, np.ndarray) for part in parts)


def refuse_limits(estimator: Any) -> None:
    """Raise ParameterError if there are limits on sizes, which shards do not support."""
    for name in ("min_size", "max_size"):
        value = getattr(estimator, name)
        if value is not None:
            raise ParameterError(name, f"None: {NO_LIMITS}", value, owner=type(estimator).__name__)
