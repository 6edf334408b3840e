"""Label check: whether rows are those to which the labels of a model belong, in the same order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._steps.nearest import distances_to_assigned
from boostkmeans._steps.partition import Labels

# The inertia of the rows must be that of the model within this share: the order of a sum may differ.
INERTIA_TOLERANCE = 1e-6
# The same as a share of all squared lengths, for rows that lie on their centres.
SQUARES_TOLERANCE = 1e-9


@dataclass(frozen=True)
class LabelledInertia:
    """Inertia of rows with given labels, in the user's unit."""

    value: float
    slack: float
    """Rounding error that is allowed for rows that lie on their centres."""

    def equals(self, expected: float) -> bool:
        """Return True if the inertia is the expected one, up to rounding."""
        return abs(self.value - expected) <= INERTIA_TOLERANCE * expected + self.slack


def labelled_inertia(
    batches: Iterable[tuple[Rows, Floats, int]], labels: Labels, weights: RowWeights
) -> LabelledInertia:
    """Return the inertia of all rows. A batch has rows, centres in their frame, and threads."""
    value = slack = 0.0
    begin = 0
    for rows, centres, threads in batches:
        where = slice(begin, begin + rows.n_rows)
        gaps, squares = distances_to_assigned(rows, centres, labels[where], threads)
        value += rows.frame.inertia(weights.total_of(gaps, where))
        slack += SQUARES_TOLERANCE * rows.frame.inertia(weights.total_of(squares, where))
        begin = where.stop
    return LabelledInertia(value, slack)


def labels_belong_to(model: Any, X: Any) -> bool:
    """Return True if `labels_` of a model are the clusters of the rows of X, which have no weights."""
    labels = model.labels_  # on many machines, they are not an array
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if not isinstance(labels, np.ndarray) or n_rows != len(labels):
        return False
    weights = RowWeights.of(None, n_rows)
    return labelled_inertia(model._batches(X), labels, weights).equals(model.inertia_)
