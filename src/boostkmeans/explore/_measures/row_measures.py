"""Row measures: the cluster of each row, its distance to the centre, and the second-nearest centre."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._steps.nearest import distances_to_assigned, nearest
from boostkmeans._steps.neighbours import Lists, neighbour_lists
from boostkmeans._steps.partition import Labels
from boostkmeans.explore._measures.explored_rows import ExploredRows
from boostkmeans.explore._measures.rounding import squared_lengths, without_rounding

# Up to this number of clusters, the second-nearest centre is searched among all centres.
MAX_EXACT_CLUSTERS = 1024
# Number of neighbours of the nearest centre among which the second-nearest one is searched otherwise.
N_CANDIDATES = 64
# The labels of a fit are used if this share of them are the nearest centres. Labels of other rows, or of
# the same rows in another order, agree by chance only. Size limits may keep rows from their nearest
# centre.
MIN_AGREEMENT = 0.5

WHAT = "measuring rows"


@dataclass(frozen=True)
class RowMeasures:
    """Measures of all rows, in the units of X."""

    labels: Labels
    """Cluster of each row."""
    distances: Floats
    """Distance of each row to the centre of its cluster."""
    second: Labels
    """Nearest other cluster of each row; -1 if there is only one cluster."""
    margins: Floats
    """Distance to the nearest other centre minus the distance to the own centre. NaN if there is only
    one cluster. It is negative if size limits keep a row from its nearest centre."""


@dataclass(frozen=True)
class _TwoNearest:
    """The two nearest centres of each row, and their squared distances in the frame."""

    first: Labels
    first_gaps: Floats
    second: Labels
    second_gaps: Floats
    fitted_gaps: Floats | None
    """Squared distance to the centre of the label in the fit, if the fit has labels."""


def measure_rows(rows: ExploredRows, fitted: Labels | None, progress: ProgressCallback) -> RowMeasures:
    """Measure all rows in one pass. `fitted` are the labels of the fit, if it had as many rows."""
    found = _find_two(rows, fitted, progress)
    labels, gaps, second, second_gaps = (
        found.first,
        found.first_gaps,
        found.second,
        found.second_gaps,
    )
    if fitted is not None and np.mean(fitted == found.first) >= MIN_AGREEMENT:
        # A row that is not in its nearest cluster has that one as its nearest other cluster.
        assert found.fitted_gaps is not None
        differs = fitted != found.first
        labels, gaps = fitted, found.fitted_gaps
        second = np.where(differs, found.first, second)
        second_gaps = np.where(differs, found.first_gaps, second_gaps)
    lengths = squared_lengths(rows.centres())[labels]
    distances = rows.in_user_units(without_rounding(gaps, lengths))
    has_second = second >= 0
    margins = np.where(has_second, rows.in_user_units(np.where(has_second, second_gaps, 0)), np.nan)
    return RowMeasures(labels.astype(np.int32), distances, second, margins - distances)


def labels_of_fit(model: Any, n_rows: int) -> Labels | None:
    """Return the labels of a fit with this number of rows, or None."""
    labels: NDArray[np.int32] | None = getattr(model, "labels_", None)
    return labels if labels is not None and len(labels) == n_rows else None


def _find_two(rows: ExploredRows, fitted: Labels | None, progress: ProgressCallback) -> _TwoNearest:
    n = rows.n_rows
    first, second = np.empty(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    first_gaps, second_gaps = np.empty(n), np.full(n, np.inf)
    fitted_gaps = None if fitted is None else np.empty(n)
    lists: Lists | None = None
    progress(WHAT, 0, n)
    for batch in rows.batches():
        where, centres = batch.where, rows.centres_for(batch.rows)
        first[where], first_gaps[where] = nearest(batch.rows, centres, rows.n_threads)
        if fitted is not None and fitted_gaps is not None:
            fitted_gaps[where] = distances_to_assigned(
                batch.rows, centres, fitted[where], rows.n_threads
            )[0]
        if len(centres) > MAX_EXACT_CLUSTERS and lists is None:
            lists = neighbour_lists(centres, N_CANDIDATES, rows.n_threads)
        if len(centres) > 1:
            second[where], second_gaps[where] = second_nearest(
                batch.rows, centres, first[where], lists, rows.n_threads
            )
        progress(WHAT, where.stop, n)
    return _TwoNearest(first, first_gaps, second, second_gaps, fitted_gaps)


def second_nearest(
    rows: Rows, centres: Floats, first: Labels, lists: Lists | None, n_threads: int
) -> tuple[Labels, Floats]:
    """Return the nearest centre of each row other than `first`, and its squared distance.

    With `lists` of neighbours, only those of the first centre are compared.
    """
    if lists is None:
        return nearest(rows, centres, n_threads, exclude=first)
    k = len(centres)
    singles = _core.Groups(
        order=np.arange(k, dtype=np.int32), starts=np.arange(k + 1, dtype=np.int64), lists=lists
    )
    second = np.empty(rows.n_rows, dtype=np.int32)
    _core.nearest_in_groups(rows.core, centres, first.copy(), singles, second, n_threads)
    return second, distances_to_assigned(rows, centres, second, n_threads)[0]
