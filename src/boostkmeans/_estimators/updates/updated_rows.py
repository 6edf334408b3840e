"""Updated rows: the rows of a model after some were added and removed, before they are optimised.

There are two ways to represent the old rows: by themselves, or by the weighted centres of their clusters
if the rows are not available. The steps that follow are the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._data.frame import Array, Floats, Frame
from boostkmeans._data.row_source import RowSource, larger_than_memory
from boostkmeans._data.rows import Rows
from boostkmeans._data.stacking import stack_rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._estimators.label_check import labelled_inertia
from boostkmeans._estimators.updates.pinned_rows import with_pinned_centres
from boostkmeans._estimators.updates.removal import (
    Remainder,
    check_row_numbers,
    find_rows,
    is_row_numbers,
    remaining,
)
from boostkmeans._estimators.vector_columns import user_rows
from boostkmeans._runtime.errors import (
    InvalidValuesError,
    Message,
    Parameter,
    ParameterConflictError,
    StructuredError,
)
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import nearest_labels
from boostkmeans._steps.partition import Labels

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Changes:
    """The arguments of `update`."""

    new: Any = None
    removed: Any = None
    old: Any = None
    new_weight: ArrayLike | None = None
    removed_weight: ArrayLike | None = None
    old_weight: ArrayLike | None = None


@dataclass(frozen=True)
class UpdatedRows:
    """Old rows, or the weighted centres that represent them, followed by new rows."""

    rows: Rows
    weights: RowWeights
    centres: Floats
    """Centres of the clusters of the model, in the user's space."""
    old_labels: Labels
    """Clusters of the leading rows, which are the old ones."""
    n_new: int
    n_removed: int
    touched: NDArray[np.bool_]
    """Clusters that lost rows."""
    removed_rows: Ints | None = None
    """Numbers of the removed rows among the old rows, if they are known."""
    represented: Remainder | None = None
    """Sums of the old rows that pinned centres represent; None if the old rows are there."""

    @property
    def n_old(self) -> int:
        """Number of leading rows."""
        return len(self.old_labels)

    @property
    def n_pinned(self) -> int:
        """Number of leading rows that never move by themselves."""
        return 0 if self.represented is None else self.n_old


def rows_of_update(model: Any, changes: Changes) -> UpdatedRows:
    """Check the arguments of `update`, and return the rows of the updated model."""
    if changes.new is None and changes.removed is None:
        raise ParameterConflictError(
            Message(
                "update needs {new}, {removed}, or both.",
                new=Parameter("X_new"),
                removed=Parameter("X_removed"),
            )
        )
    changes = _converted(changes)
    threads = resolve_threads(model.n_threads)
    new = None
    if changes.new is not None:
        with _about(changes.new):
            array = model._validate(changes.new, reset=False)
            # The check of all values names the rows of X_new.
            new = Rows.in_frame(array, model._frame, threads), array
    elif changes.new_weight is not None:
        raise _superfluous("sample_weight", "X_new")
    if changes.old is None:
        return _represented_by_centres(model, changes, None if new is None else new[0], threads)
    return _with_old_rows(model, changes, None if new is None else new[1], threads)


def _converted(changes: Changes) -> Changes:
    """Return the changes with columns of vectors as arrays, and with None for rows of length 0."""
    new, new_weight = _rows_or_none(changes.new, changes.new_weight, "X_new")
    removed, removed_weight = _rows_or_none(changes.removed, changes.removed_weight, "X_removed")
    return replace(
        changes, new=new, new_weight=new_weight, removed=removed, removed_weight=removed_weight
    )


def _rows_or_none(rows: Any, weights: ArrayLike | None, name: str) -> tuple[Any, ArrayLike | None]:
    if rows is None:
        return None, weights
    if not isinstance(rows, RowSource):
        rows = user_rows(rows, name)
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if n_rows > 0:
        return rows, weights
    return None, None if weights is not None and np.size(weights) == 0 else weights


@contextmanager
def _about(rows: Any) -> Iterator[None]:
    """Add the name of the file of rows to errors about them."""
    try:
        yield
    except StructuredError as error:
        if isinstance(rows, RowSource):
            error.source = error.source or rows.name
        raise


def _superfluous(weight: str, rows: str) -> ParameterConflictError:
    return ParameterConflictError(
        Message("{weight} needs {rows}.", weight=Parameter(weight), rows=Parameter(rows))
    )


def _with_old_rows(model: Any, changes: Changes, new: Array | None, threads: int) -> UpdatedRows:
    """Return the rows that remain, followed by the new rows."""
    if changes.removed_weight is not None:
        raise ParameterConflictError(
            "removed_weight has no effect if X is given: X_weight has the weights of the removed rows."
        )
    if larger_than_memory(changes.old, len(model.cluster_centers_), weighted=False) is not None:
        raise ParameterConflictError(
            Message(
                "update needs {rows} in memory, but it does not fit. Without {rows}, the sums of the "
                "clusters represent its rows.",
                rows=Parameter("X"),
            )
        )
    with _about(changes.old):
        old = model._validate(changes.old, reset=False)
        labels, weights = _old_labels(model, old, changes.old_weight, threads)
    with _about(changes.removed):
        removed = _removed_numbers(model, changes.removed, old)
    kept = np.ones(old.shape[0], dtype=bool)
    kept[removed] = False
    n_new = 0 if new is None else new.shape[0]
    if not kept.any() and n_new == 0:
        raise ValueError("update would remove all rows.")
    array = stack_rows(old, new, np.flatnonzero(kept) if len(removed) else None)
    touched = np.zeros(len(model.cluster_centers_), dtype=bool)
    touched[labels[removed]] = True
    return UpdatedRows(
        Rows.in_own_frame(array, model.metric, threads),
        _joined_weights(weights, kept, changes.new_weight, n_new),
        model.cluster_centers_,
        labels[kept],
        n_new,
        len(removed),
        touched,
        removed_rows=removed,
    )


def _removed_numbers(model: Any, removed: Any, old: Array) -> Ints:
    """Return the numbers of the rows to remove."""
    if removed is None:
        return np.zeros(0, dtype=np.int64)
    if is_row_numbers(removed):
        return check_row_numbers(removed, old.shape[0])
    return find_rows(old, model._validate(removed, reset=False))


def _joined_weights(
    old: RowWeights, kept: NDArray[np.bool_], new_weight: ArrayLike | None, n_new: int
) -> RowWeights:
    """Return the weights of the rows that remain and of the new rows."""
    n_kept = int(np.count_nonzero(kept))
    new = RowWeights.of(new_weight, n_new) if n_new else None
    parts = [(old, None if old.values is None else old.values[kept], n_kept)]
    parts += [] if new is None else [(new, new.values, n_new)]
    user = [(np.ones(n) if values is None else values) * own.unit for own, values, n in parts]
    if all(own.values is None and own.unit == 1 for own, _, _ in parts):
        return RowWeights.of(None, n_kept + n_new)
    return RowWeights.of(np.concatenate(user), n_kept + n_new)


def _old_labels(
    model: Any, old: Array, old_weight: ArrayLike | None, threads: int
) -> tuple[Labels, RowWeights]:
    """Return the clusters and the weights of the old rows.

    If the model has no labels of all rows, these are the nearest clusters.
    """
    n_rows = old.shape[0]
    if n_rows != model.n_samples_seen_:
        raise ParameterConflictError(
            Message(
                "{rows} has {n_rows} rows, but the model contains {n_seen} rows.",
                rows=Parameter("X"),
                n_rows=n_rows,
                n_seen=model.n_samples_seen_,
            )
        )
    weights = RowWeights.of(old_weight, n_rows)
    rows = Rows.in_frame(old, model._frame, threads)
    centres = rows.frame.enter(model.cluster_centers_)
    if not has_all_labels(model):
        return nearest_labels(rows, centres, threads), weights
    found = labelled_inertia([(rows, centres, threads)], model.labels_, weights)
    if not found.equals(model.inertia_):
        raise InvalidValuesError(
            Message(
                "{rows} does not contain the rows of the model in the order of labels_, or {weight} not "
                "their weights: the inertia is {found:g}, and that of the model is {expected:g}.",
                shell="{rows} does not contain the rows of the model in the same order: the inertia is "
                "{found:g}, and that of the model is {expected:g}.",
                rows=Parameter("X"), weight=Parameter("X_weight"), found=found.value,
                expected=model.inertia_,
            )
        )  # fmt: skip
    return model.labels_, weights


def has_all_labels(model: Any) -> bool:
    """Return True if `labels_` has the cluster of every row of a model, and not only of a batch."""
    return hasattr(model, "labels_") and len(model.labels_) == model.n_samples_seen_


def _represented_by_centres(model: Any, changes: Changes, new: Rows | None, threads: int) -> UpdatedRows:
    """Return the weighted centres of the clusters, followed by the new rows."""
    if changes.old_weight is not None:
        raise _superfluous("X_weight", "X")
    k, spread = len(model.cluster_centers_), getattr(model, "cluster_spread_", None)
    whole = Remainder(
        model.cluster_centers_,
        model._cluster_weights,
        _sizes_of_all_rows(model),
        inertia_of_all_rows(model),
        np.zeros(k, dtype=bool),
        None if spread is None else np.square(spread) * model._cluster_weights,
    )
    n_removed = 0
    if changes.removed is None:
        if changes.removed_weight is not None:
            raise _superfluous("removed_weight", "X_removed")
    else:
        if is_row_numbers(changes.removed):
            raise ValueError("Row numbers in X_removed need X, the rows that they number.")
        with _about(changes.removed):
            array = model._validate(changes.removed, reset=False)
            removed = Rows.in_frame(array, model._frame, threads)
        lost = RowWeights.of(changes.removed_weight, removed.n_rows)
        whole, n_removed = remaining(whole, removed, lost, threads), removed.n_rows
    if new is None and not (whole.weights > 0).any():
        raise ValueError("update would remove all rows.")
    rows, weights = _with_centres(whole, new, changes.new_weight, threads)
    labels = np.arange(k, dtype=np.int32)
    n_new = 0 if new is None else new.n_rows
    return UpdatedRows(
        rows,
        weights,
        whole.centres,
        labels,
        n_new,
        n_removed,
        whole.touched,
        represented=whole,
    )


def _with_centres(
    whole: Remainder, new: Rows | None, new_weight: ArrayLike | None, threads: int
) -> tuple[Rows, RowWeights]:
    if new is None:
        rows = Rows.in_own_frame(whole.centres, "euclidean", threads)
        return rows, RowWeights.of(whole.weights, len(whole.weights))
    weights = RowWeights.of(new_weight, new.n_rows)
    return with_pinned_centres(whole.centres, whole.weights, new, weights, threads)


def _sizes_of_all_rows(model: Any) -> Ints:
    """Return the number of rows of each cluster, also if `cluster_sizes_` describe only a batch."""
    sizes: Ints = model.cluster_sizes_
    if sizes.sum() == model.n_samples_seen_:
        return sizes
    rounded: Floats = np.rint(model._cluster_weights)
    if rounded.sum() == model.n_samples_seen_ and (rounded == model._cluster_weights).all():
        return rounded.astype(np.int64)  # All weights were 1.
    raise ValueError(
        "The sizes of the clusters are not known, because partial_fit added weighted rows. Pass all "
        "rows as X, or fit the model again."
    )


def inertia_of_all_rows(model: Any) -> float:
    """Return the inertia of the rows of a model, also if `inertia_` describes only a batch."""
    spread = getattr(model, "cluster_spread_", None)
    if model.cluster_sizes_.sum() == model.n_samples_seen_ or spread is None:
        return float(model.inertia_)
    return float(np.square(spread) @ model._cluster_weights)


def frame_of_model(rows: Rows, metric: str) -> Frame:
    """Return the frame of an updated model. Centres are not scaled, but rows of the user are."""
    return Frame(rows.frame.shift, rows.frame.exponent, metric)
