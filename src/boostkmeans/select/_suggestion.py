"""Suggestion of a number of clusters from the measures of a scan."""

import math
from collections.abc import Sequence

from boostkmeans.select._result import ScanEntry

# Mean silhouette from which clusters are considered well separated.
WELL_SEPARATED = 0.5


def suggest(entries: Sequence[ScanEntry]) -> tuple[int, str]:
    """Return the suggested number of clusters, and the reason.

    If two criteria agree on a number, it is suggested. Otherwise, the suggestion follows the silhouette
    if clusters are well separated, and the gap if they are not.
    """
    if len(entries) == 1:
        return entries[0].n_clusters, "the only number that was tried"
    silhouette = _maximum(entries, "silhouette")
    gap = _first_near_maximal_gap(entries)
    index = _maximum(entries, "calinski_harabasz")
    votes = {"gap": gap, "silhouette": silhouette, "Calinski-Harabasz index": index}
    for k in (silhouette, gap, index):
        supporters = [name for name, vote in votes.items() if vote == k is not None]
        if k is not None and len(supporters) > 1:
            return k, f"{_enumerate(supporters)} agree{_doubt(entries, k)}"
    if silhouette is not None and _silhouette_at(entries, silhouette) >= WELL_SEPARATED:
        height = _silhouette_at(entries, silhouette)
        return silhouette, f"the silhouette is highest: {height:.2f}, well separated clusters"
    opinions = ", ".join(f"{name}: {vote}" for name, vote in votes.items() if vote is not None)
    if gap is not None:
        return gap, f"the gap is near its maximum, but the result is not clear; {opinions}"
    best = silhouette or index or entries[0].n_clusters
    return best, f"the result is not clear; {opinions or 'no criterion is defined'}"


def _doubt(entries: Sequence[ScanEntry], k: int) -> str:
    height = _silhouette_at(entries, k)
    if height >= WELL_SEPARATED:
        return ""
    return f", but the clusters are not clearly separated, silhouette {height:.2f}"


def _silhouette_at(entries: Sequence[ScanEntry], k: int) -> float:
    return next(entry.silhouette for entry in entries if entry.n_clusters == k)


def _first_near_maximal_gap(entries: Sequence[ScanEntry]) -> int | None:
    """Return the smallest k whose gap is within one standard error of the maximum."""
    defined = [entry for entry in entries if not math.isnan(entry.gap)]
    if not defined:
        return None
    top = max(defined, key=lambda entry: entry.gap)
    return next(entry.n_clusters for entry in defined if entry.gap >= top.gap - top.gap_error)


def _maximum(entries: Sequence[ScanEntry], name: str) -> int | None:
    """Return the k with the largest value of a measure, or None if it is NaN everywhere."""
    defined = [entry for entry in entries if not math.isnan(getattr(entry, name))]
    if not defined:
        return None
    return max(defined, key=lambda entry: float(getattr(entry, name))).n_clusters


def _enumerate(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
