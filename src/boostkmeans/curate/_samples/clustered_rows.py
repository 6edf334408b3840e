"""Clustered rows: the labels of rows at one or several levels, from any kind of model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans.curate._samples.levels import ClusterLevels

Labels = NDArray[np.int32]
Model = Any
"""A fitted estimator, `ClusterLevels`, or an array of labels."""

# Number of clusters of a level for each cluster of the level above it, if the user names no levels. The
# paper's levels differ by factors between 5 and 20.
LEVEL_FACTOR = 10


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
    """Return the labels of the rows of a fit, or of X if the model has no labels for it."""
    if isinstance(model, ClusterLevels):
        _check_no_levels(levels, "the result of fit_levels", owner)
        return ClusteredRows(model.labels[::-1], model.centers[0], model.metric)
    if not hasattr(model, "cluster_centers_"):
        _check_no_levels(levels, "an array of labels", owner)
        return ClusteredRows([_as_labels(model)], None, "euclidean")
    labels = _labels_of(model, X)
    centres: Floats = model.cluster_centers_
    above = _levels_above(model, _checked_levels(levels, len(centres), owner), seed)
    return ClusteredRows([one[labels] for one in above] + [labels], centres, model.metric)


def _labels_of(model: Model, X: Any) -> Labels:
    """Return the labels of the fit, or those that the model predicts for X."""
    known = getattr(model, "labels_", None)
    if known is not None and len(known) and (X is None or len(known) == _n_rows(X)):
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


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


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
