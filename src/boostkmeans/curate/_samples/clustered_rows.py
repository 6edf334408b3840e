"""Clustered rows: the labels of rows at one or several levels, from any kind of model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.label_check import labels_belong_to
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans.curate._samples.levels import ClusterLevels

Labels = NDArray[np.int32]
Model = Any
"""A fitted estimator, an `AssignedModel`, `ClusterLevels`, or an array of labels."""

# Number of clusters of a level for each cluster of the level above it, if the user names no levels. The
# paper's levels differ by factors between 5 and 20.
LEVEL_FACTOR = 10


@dataclass(frozen=True)
class AssignedModel:
    """A fitted estimator, and the clusters of some rows, which are then found only once."""

    model: Any
    labels: Labels

    @classmethod
    def of(cls, model: Any, X: Any) -> "AssignedModel":
        """Return the estimator with its labels for X, or with those of its own rows if X is None."""
        return model if isinstance(model, AssignedModel) else cls(model, _labels_of(model, X))


@dataclass(frozen=True)
class ClusteredRows:
    """The cluster of each row, at each level from the coarsest to the finest."""

    levels: list[Labels]
    centres: Floats | None
    """Centres of the finest clusters; None if only labels are known."""
    metric: str

    @property
    def labels(self) -> Labels:
        """Label of each row at the finest level."""
        return self.levels[-1]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)


def clustered_rows(
    model: Model, X: Any, levels: Sequence[int] | None, seed: int, owner: str
) -> ClusteredRows:
    """Return the labels of the rows of X, or of the rows of the fit if X is None."""
    if isinstance(model, ClusterLevels):
        _check_no_levels(levels, "the result of fit_levels", owner)
        return ClusteredRows(model.labels[::-1], model.centers[0], model.metric)
    if not is_estimator(model):
        _check_no_levels(levels, "an array of labels", owner)
        return ClusteredRows([_as_labels(model)], None, "euclidean")
    assigned = AssignedModel.of(model, X)
    estimator, labels = assigned.model, assigned.labels
    centres: Floats = estimator.cluster_centers_
    above = _levels_above(estimator, _checked_levels(levels, len(centres), owner), seed)
    return ClusteredRows([one[labels] for one in above] + [labels], centres, estimator.metric)


def is_estimator(model: Model) -> bool:
    """Return True for a fitted estimator, with or without the labels of other rows."""
    return isinstance(model, AssignedModel) or hasattr(model, "cluster_centers_")


def _labels_of(model: Any, X: Any) -> Labels:
    """Return the labels of the fit if X is None or the rows of the fit, else the predicted ones.

    X may have as many rows as the fit by chance, or the same rows in another order.
    """
    known = getattr(model, "labels_", None)
    is_known = known is not None and len(known) > 0
    if is_known and (X is None or labels_belong_to(model, X)):
        return np.asarray(known, dtype=np.int32)
    if X is None:
        raise ParameterConflictError(
            Message(
                "This model has no labels, because it was saved without them. Pass the rows as {X}.",
                shell="The model has no labels of its rows: name the file of vectors after the model.",
                X=Parameter("X"),
            )
        )
    return np.asarray(model.predict(X), dtype=np.int32)


def _as_labels(labels: ArrayLike) -> Labels:
    found = np.asarray(labels)
    if found.ndim != 1 or len(found) == 0 or found.dtype.kind not in "iu" or found.min() < 0:
        expected = "a fitted estimator, the result of fit_levels, or an array of labels of at least 0"
        raise ParameterError("model", expected, labels)
    return found.astype(np.int32)


def _check_no_levels(levels: Sequence[int] | None, what: str, owner: str) -> None:
    if levels is not None:
        raise ParameterError("levels", f"None, because the model is {what}", levels, owner=owner)


def _checked_levels(levels: Sequence[int] | None, n_clusters: int, owner: str) -> list[int]:
    """Return the numbers of clusters of the levels above the finest, in ascending order."""
    if levels is None:
        found: list[int] = []
        while n_clusters // LEVEL_FACTOR ** (len(found) + 1) >= LEVEL_FACTOR:
            found.append(n_clusters // LEVEL_FACTOR ** (len(found) + 1))
        return found[::-1]
    if len(levels) == 0:
        return []
    numbers = np.unique(np.asarray(levels))
    is_valid = numbers.ndim == 1 and numbers.dtype.kind in "iu"
    if not is_valid or (len(numbers) and not (numbers[0] >= 1 and numbers[-1] <= n_clusters)):
        expected = f"ints in the range [1, {n_clusters}] (the number of clusters)"
        raise ParameterError("levels", expected, levels, owner=owner)
    return [int(one) for one in numbers if one < n_clusters]


def _levels_above(model: Model, numbers: list[int], seed: int) -> list[Labels]:
    """Return the label of each cluster at the levels above it, from the coarsest to the finest.

    They are cuts of the tree of a bisecting fit. Other models have no tree: their centres are clustered.
    """
    if hasattr(model, "tree_"):
        return [model.tree_.cut_leaves(number) for number in numbers]
    if not numbers:
        return []
    centres = BisectingBoostKMeans(max(numbers), random_state=seed).fit(model.cluster_centers_)
    return [centres.cut(number) for number in numbers]
