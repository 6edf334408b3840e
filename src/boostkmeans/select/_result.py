"""Result of a scan over numbers of clusters."""

import math
from dataclasses import dataclass, field
from typing import Any

from boostkmeans._data.frame import Floats
from boostkmeans.select._html_table import html_table
from boostkmeans.select._plot import plot_entries

# Maximum number of numbers of clusters that the representation of a scan lists.
MAX_SHOWN_KS = 10


@dataclass(frozen=True)
class ScanEntry:
    """Measures for one number of clusters."""

    n_clusters: int
    """Number of clusters."""
    inertia: float
    """Sum of squared distances to the centres."""
    distortion: float
    """Mean squared distance to the centres."""
    silhouette: float
    """Mean silhouette over a sample of the rows, from -1 to 1: higher is better. NaN for one cluster,
    and if the sample has too few rows per cluster."""
    calinski_harabasz: float
    """Ratio of the variance between clusters to the variance within: higher is better. NaN for one
    cluster, and if the inertia is 0."""
    gap: float
    """Gap statistic: mean log distortion of random reference rows minus that of X. NaN if it was not
    requested."""
    gap_error: float
    """Standard error of the gap."""
    seconds: float
    """Time for this number of clusters, without the shared tree."""
    centers: Floats = field(repr=False)
    """Centres, of shape (n_clusters, n_features)."""


@dataclass(frozen=True)
class Scan:
    """Result of `scan`. Its string form is a table, also in notebooks."""

    entries: list[ScanEntry]
    """Measures, one entry per number of clusters, in ascending order."""
    suggestion: int
    """Suggested number of clusters."""
    reason: str
    """Reason for the suggestion, with a caveat if the criteria disagree or clusters overlap."""

    def __str__(self) -> str:
        header = f"{'k':>7} {'inertia':>12} {'silhouette':>10} {'Calinski-H.':>11} {'gap':>8} {'+-':>7}"
        lines = [
            f"{e.n_clusters:>7} {e.inertia:>12.6g} {e.silhouette:>10.3f} {e.calinski_harabasz:>11.5g} "
            f"{e.gap:>8.4f} {e.gap_error:>7.4f}{' <' if e.n_clusters == self.suggestion else ''}"
            for e in self.entries
        ]
        return "\n".join([header, *lines, f"suggested: {self.suggestion} ({self.reason})"])

    def __repr__(self) -> str:
        ks = [entry.n_clusters for entry in self.entries]
        shown = str(ks) if len(ks) <= MAX_SHOWN_KS else f"{len(ks)} numbers from {ks[0]} to {ks[-1]}"
        return f"Scan(n_clusters={shown}, suggestion={self.suggestion}, reason={self.reason!r})"

    def _repr_html_(self) -> str:
        return html_table(self.entries, self.suggestion, self.reason)

    @property
    def table(self) -> list[dict[str, Any]]:
        """Measures without the centres, one dict per number of clusters, e.g. for `pandas.DataFrame`."""
        return [
            {name: value for name, value in vars(entry).items() if name != "centers"}
            for entry in self.entries
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the table, the suggestion and the reason in types that JSON supports.

        Returns
        -------
        dict
            Keys "entries", "suggestion" and "reason". NaN is replaced by None.
        """
        entries = [{name: _none_for_nan(value) for name, value in row.items()} for row in self.table]
        return {"entries": entries, "suggestion": self.suggestion, "reason": self.reason}

    def centers(self, n_clusters: int) -> Floats:
        """Return the centres found for a number of clusters, e.g. as `init` of `BoostKMeans`.

        Parameters
        ----------
        n_clusters : int
            One of the scanned numbers.

        Returns
        -------
        ndarray of shape (n_clusters, n_features)
            Centres. There are fewer if the data has fewer distinct rows.
        """
        for entry in self.entries:
            if entry.n_clusters == n_clusters:
                return entry.centers
        scanned = [entry.n_clusters for entry in self.entries]
        raise ValueError(f"n_clusters={n_clusters} is not among the scanned numbers {scanned}.")

    def plot(self, figure: Any = None) -> Any:
        """Plot inertia, silhouette, Calinski-Harabasz index and gap against k.

        Parameters
        ----------
        figure : matplotlib.figure.Figure, default=None
            Figure to draw on. None creates a new one.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return plot_entries(self.entries, self.suggestion, self.reason, figure)


def _none_for_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
