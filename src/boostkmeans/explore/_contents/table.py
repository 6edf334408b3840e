"""Tables: columns of data frames of any library, and their values in each cluster."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Floats
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._steps.partition import Labels
from boostkmeans.explore._contents.lengths import check_length, is_missing

# A column of strings with more distinct values, such as ids, is not summarised.
MAX_CATEGORIES = 200
# The same holds if values occur less often than this number of times on average.
MIN_ROWS_PER_CATEGORY = 3
# Maximum number of characters of a shown value.
MAX_CELL_LENGTH = 120
# Up to this value, whole numbers are shown with all digits, even if they are floats.
MAX_WHOLE = 1e15
# A name mentions a numeric column if the mean of the cluster differs from that of all rows by at least
# this number of standard deviations.
MIN_DEVIATIONS = 0.5
# A name mentions a value if its share in the cluster exceeds its share in all rows by this much.
MIN_EXCESS = 0.2
# Number of columns in a name.
COLUMNS_IN_NAME = 2


@dataclass(frozen=True)
class ColumnSummary:
    """A column in one cluster."""

    column: str
    text: str
    """Value of the cluster, compared with all rows."""
    phrase: str
    """The same as part of a name; empty if the cluster does not differ from other rows."""
    strength: float
    """How much the cluster differs: 0 not at all, above 1 strongly."""


class Table:
    """A table with one row per row of X."""

    def __init__(self, table: Any, n_rows: int) -> None:
        """Read the columns of a data frame (pandas, polars, pyarrow) or of a dict."""
        columns = _columns_of(table)
        names = _distinct([str(name) for name, _ in columns])
        self.columns = dict(zip(names, (_as_array(column) for _, column in columns), strict=True))
        if not self.columns:
            raise ParameterConflictError(Message("{table} has no columns.", table=Parameter("table")))
        for column in self.columns.values():
            check_length("table", column, n_rows)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.columns)

    def cells(self, row: int) -> list[str]:
        """Return the values of a row as texts."""
        return [_cell(column[row]) for column in self.columns.values()]

    def summaries(
        self, labels: Labels, n_clusters: int, groups: Sequence[Sequence[int]] = ()
    ) -> list[list[ColumnSummary]]:
        """Summarise the columns in clusters and in groups of clusters, those that differ most first."""
        found: list[list[ColumnSummary]] = [[] for _ in range(n_clusters + len(groups))]
        members = _members(groups, n_clusters)
        for name, column in self.columns.items():
            for place, one in enumerate(_summarise(name, column, labels, members)):
                if one is not None:
                    found[place].append(one)
        return [sorted(ones, key=lambda one: -one.strength) for ones in found]


def _members(groups: Sequence[Sequence[int]], n_clusters: int) -> sparse.csr_array:
    """Return a matrix that adds up values of clusters: the clusters themselves, then the groups."""
    parts = [[cluster] for cluster in range(n_clusters)] + [list(group) for group in groups]
    columns = np.array([cluster for part in parts for cluster in part], dtype=np.int64)
    starts = np.cumsum([0, *map(len, parts)])
    ones = np.ones(len(columns))
    return sparse.csr_array((ones, columns, starts), shape=(len(parts), n_clusters))


def name_of(summaries: list[ColumnSummary], number: int) -> str:
    """Return a name for a cluster: the columns by which it differs from other rows."""
    phrases = [one.phrase for one in summaries if one.phrase][:COLUMNS_IN_NAME]
    return ", ".join(phrases) or f"cluster {number}"


def _columns_of(table: Any) -> list[tuple[Any, Any]]:
    """Return names and values of the columns. Names may be equal, so columns are read by position."""
    if isinstance(table, Mapping):
        return list(table.items())
    if hasattr(table, "column_names") and hasattr(table, "column"):  # pyarrow
        return [(name, table.column(i).to_pylist()) for i, name in enumerate(table.column_names)]
    if hasattr(table, "columns") and hasattr(table, "iloc"):  # pandas
        return [(name, table.iloc[:, i]) for i, name in enumerate(table.columns)]
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):  # polars, which has no equal names
        return [(name, table[name]) for name in table.columns]
    raise ParameterError(
        "table", "a data frame, a pyarrow table or a dict of columns", table, owner="page"
    )


def _distinct(names: list[str]) -> list[str]:
    """Add a number to names that occurred before.

    >>> _distinct(["a", "b", "a", "a"])
    ['a', 'b', 'a (2)', 'a (3)']
    """
    found: dict[str, None] = {}
    for name in names:
        number, one = 1, name
        while one in found:
            number += 1
            one = f"{name} ({number})"
        found[one] = None
    return list(found)


def _as_array(column: Any) -> NDArray[Any]:
    """Return numbers as they are, and anything else as objects."""
    array = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else list(column))
    if array.ndim != 1:
        array = np.array([*map(str, array)], dtype=object)
    if array.dtype.kind in "iuf":
        return array
    if array.dtype.kind == "M":  # as objects, they could become numbers of nanoseconds
        dates: NDArray[Any] = np.datetime_as_string(array, unit="auto").astype(object)
        dates[np.isnat(array)] = None
        return dates
    if array.dtype.kind == "m":
        return np.array([None if is_missing(one) else str(one) for one in column], dtype=object)
    if array.dtype.kind == "O" and all(_is_number(one) for one in array[:100]):
        try:  # numbers with missing values
            return np.array([math.nan if is_missing(one) else float(one) for one in array])
        except (TypeError, ValueError):
            return array
    return array.astype(object)


def _is_number(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: Any) -> str:
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating):
        number = float(value)
        is_whole = number.is_integer() and abs(number) < MAX_WHOLE
        return str(int(number)) if is_whole else f"{number:.6g}"
    text = str(value)
    return text if len(text) <= MAX_CELL_LENGTH else text[: MAX_CELL_LENGTH - 1] + "…"


def _summarise(
    name: str, column: NDArray[Any], labels: Labels, members: sparse.csr_array
) -> list[ColumnSummary | None]:
    if column.dtype.kind != "O":
        return _numeric(name, column.astype(np.float64), labels, members)
    categories: dict[str, int] = {}
    limit = min(MAX_CATEGORIES, max(2, len(column) // MIN_ROWS_PER_CATEGORY))
    codes = np.empty(len(column), dtype=np.int64)
    for row, value in enumerate(column):
        codes[row] = categories.setdefault(_cell(value), len(categories))
        if len(categories) > limit:
            return [None] * members.shape[0]
    return _categorical(name, list(categories), codes, labels, members)


def _numeric(
    name: str, values: Floats, labels: Labels, members: sparse.csr_array
) -> list[ColumnSummary | None]:
    known = np.isfinite(values)
    n_sets, n_clusters = members.shape
    if not known.any():
        return [None] * n_sets
    mean, deviation = float(values[known].mean()), float(values[known].std())
    counts = members @ np.bincount(labels[known], minlength=n_clusters)
    sums = members @ np.bincount(labels[known], weights=values[known], minlength=n_clusters)
    found: list[ColumnSummary | None] = []
    for count, total in zip(counts.tolist(), sums.tolist(), strict=True):
        if count == 0:
            found.append(None)
            continue
        gap = (total / count - mean) / deviation if deviation > 0 else 0.0
        phrase = f"{'high' if gap > 0 else 'low'} {name}" if abs(gap) >= MIN_DEVIATIONS else ""
        text = f"mean {total / count:.4g} (all rows: {mean:.4g})"
        found.append(ColumnSummary(name, text, phrase, abs(gap)))
    return found


def _categorical(
    name: str,
    values: list[str],
    codes: NDArray[np.int64],
    labels: Labels,
    members: sparse.csr_array,
) -> list[ColumnSummary | None]:
    """Show the value whose share in the cluster exceeds its share in all rows by most."""
    v = len(values)
    n_sets, n_clusters = members.shape
    counts = np.bincount(labels * np.int64(v) + codes, minlength=n_clusters * v)
    counts = counts.reshape(n_clusters, v)
    overall = counts.sum(axis=0) / max(1, len(codes))
    counts = members @ counts
    sizes = counts.sum(axis=1)
    found: list[ColumnSummary | None] = []
    for place in range(n_sets):
        if sizes[place] == 0:
            found.append(None)
            continue
        shares = counts[place] / sizes[place]
        top = int((shares - overall).argmax())
        excess = float(shares[top] - overall[top])
        value = values[top] or "(empty)"
        text = f"{value}: {shares[top]:.0%} (all rows: {overall[top]:.0%})"
        phrase = f"{name} {value}" if excess >= MIN_EXCESS else ""
        found.append(ColumnSummary(name, text, phrase, 2 * excess))
    return found
