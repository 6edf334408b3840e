"""Descriptions of clusters and of nodes of a tree: terms and columns, as lists for the page."""

from typing import Any

from boostkmeans.explore._contents.table import ColumnSummary

# Number of columns of a table that are shown for each cluster.
MAX_COLUMNS_PER_CLUSTER = 8
# Digits of the weights of terms, which are drawn as short bars.
WEIGHT_DIGITS = 4


def terms_payload(terms: list[tuple[str, float]]) -> list[list[Any]]:
    """Return terms with their weights."""
    return [[term, round(weight, WEIGHT_DIGITS)] for term, weight in terms]


def columns_payload(columns: list[ColumnSummary]) -> list[list[str]]:
    """Return the columns that differ most, with their values."""
    return [[column.column, column.text] for column in columns[:MAX_COLUMNS_PER_CLUSTER]]
