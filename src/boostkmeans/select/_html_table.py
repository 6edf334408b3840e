"""The measures of a scan as a table for notebooks."""

import html
import math
from collections.abc import Sequence
from typing import Any

# Title of each column, attribute of an entry, and format of its values.
COLUMNS = (
    ("k", "n_clusters", ",d"),
    ("inertia", "inertia", ".6g"),
    ("silhouette", "silhouette", ".3f"),
    ("Calinski-Harabasz", "calinski_harabasz", ".5g"),
    ("gap", "gap", ".4f"),
    ("error of the gap", "gap_error", ".4f"),
    ("seconds", "seconds", ".3f"),
)


def html_table(entries: Sequence[Any], suggestion: int, reason: str) -> str:
    """Return one row per number of clusters. The suggested one is bold."""
    header = "".join(f'<th scope="col">{title}</th>' for title, _, _ in COLUMNS)
    rows = "".join(_row(entry, suggested=entry.n_clusters == suggestion) for entry in entries)
    caption = f"Suggested: k = {suggestion} ({html.escape(reason)})"
    return (
        f'<table class="boostkmeans-scan"><caption style="text-align:left">{caption}</caption>'
        f"<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(entry: Any, *, suggested: bool) -> str:
    style = ' style="font-weight:bold"' if suggested else ""
    cells = "".join(f"<td>{_cell(getattr(entry, name), form)}</td>" for _, name, form in COLUMNS)
    return f"<tr{style}>{cells}</tr>"


def _cell(value: float, form: str) -> str:
    """Return a number as text; a dash if it is not defined."""
    return "-" if math.isnan(value) else format(value, form)
