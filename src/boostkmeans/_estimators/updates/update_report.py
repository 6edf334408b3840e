"""Report of an update: which clusters and rows changed."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._engine.updates.ledger import ClusterLedger
from boostkmeans._runtime.short_repr import short_repr

Ints = NDArray[np.int64]

# Fields with one value per row.
PER_ROW = ("labels", "removed_rows")


@dataclass(frozen=True, repr=False)
class UpdateReport:
    """What `BoostKMeans.update` changed, as found in `update_report_`.

    Clusters that survive keep their numbers, except where fewer clusters remain: then the clusters with
    the highest numbers take the numbers that became free. A created cluster has the lowest free number.
    """

    n_added: int
    """Number of rows that were added."""
    n_removed: int
    """Number of rows that were removed."""
    n_kept: int
    """Number of earlier rows that are still in the model."""
    n_moved: int
    """Number of kept rows whose cluster is another one than before."""
    n_clusters_before: int
    n_clusters_after: int
    split: Ints
    """Numbers of the clusters, after the update, of which a part became a cluster of its own."""
    merged: Ints
    """Numbers of the clusters, after the update, that received all rows of another cluster."""
    created: Ints
    """Numbers of the clusters that did not exist before the update."""
    removed: Ints
    """Former numbers of the clusters that do not exist any more. A created cluster may have the same
    number."""
    successors: Ints
    """For each cluster before the update, the number after it of the cluster that continues it or, if it
    was merged, of the cluster that received its rows; -1 if it has none."""
    inertia_before: float
    inertia_after: float
    labels: NDArray[np.int32]
    """Clusters of the rows that were added."""
    removed_rows: Ints | None
    """Numbers in X of the rows that were removed; None without X."""

    __repr__ = short_repr

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values for JSON, without those that have one value per row.

        Returns
        -------
        values : dict
            Numbers and lists by the names of the fields.
        """
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in PER_ROW}
        return {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in values.items()}


def report_of(ledger: ClusterLedger, **values: Any) -> UpdateReport:
    """Return the report of an update with this ledger. `values` are the other fields."""
    return UpdateReport(
        n_clusters_before=len(ledger.successors),
        n_clusters_after=len(ledger.origins),
        split=np.flatnonzero(ledger.is_split),
        merged=np.flatnonzero(ledger.is_merged),
        created=ledger.created,
        removed=np.flatnonzero(~ledger.survives),
        successors=ledger.successors,
        **values,
    )
