"""The result of `deduplicate`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._pairs.links import Indices, RowGroups
from boostkmeans.curate._duplicates.missed_pairs import MissedPairs


@dataclass(frozen=True, repr=False)
class Deduplication:
    """Groups of near duplicates, and the rows to keep."""

    keep: Indices
    """Numbers of the rows to keep, in ascending order."""
    groups: RowGroups
    """Groups of near duplicates: a sequence of arrays of row numbers, ordered by their first rows."""
    similarities: Floats
    """For each row of a group, in the order of `groups.rows`: the cosine with the most similar other
    row, or the distance to the nearest one."""
    n_rows: int
    """Number of rows of the data."""
    n_pairs: int
    """Number of pairs of near duplicates that were found."""
    missed: MissedPairs | None
    """Estimate of the number of pairs that were missed; None if pairs may be missed and no row was
    checked."""
    kept_pairs: NDArray[np.int64]
    """Pairs of kept rows of the same group that are near duplicates, in two columns. Only a function
    `keep` that returns several rows leaves such pairs."""
    ids: NDArray[Any] | None
    """Ids of all rows; None if they have none."""
    metric: str
    """Metric of the threshold."""
    threshold: float
    """Cosine from which, or distance up to which, two rows are near duplicates."""

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @property
    def n_removed(self) -> int:
        """Number of rows that are not kept."""
        return self.n_rows - len(self.keep)

    @property
    def keep_ids(self) -> NDArray[Any]:
        """Ids of the rows to keep. Raise ValueError if the rows have no ids."""
        if self.ids is None:
            raise ValueError("The rows have no ids. Pass ids=, or use keep, which has row numbers.")
        return self.ids[self.keep]

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the rows of all groups as columns of a table.

        Returns
        -------
        columns : dict of str to ndarray
            The columns "group" (counted from 0), "row", "id" (if the rows have ids), "similarity" (or
            "distance"), and "kept".
        """
        rows = self.groups.rows
        ids = {} if self.ids is None else {"id": self.ids[rows]}
        name = "similarity" if self.metric == "cosine" else "distance"
        return {
            "group": self.groups.numbers,
            "row": rows,
            **ids,
            name: self.similarities,
            "kept": np.isin(rows, self.keep),
        }

    def __repr__(self) -> str:
        sign = ">=" if self.metric == "cosine" else "<="
        text = (
            f"<Deduplication: {len(self.keep):,} of {self.n_rows:,} rows kept, {self.n_groups:,} "
            f"groups, {self.n_pairs:,} pairs with {self.metric} {sign} {self.threshold:g}"
        )
        if self.missed is None:
            return f"{text}>"
        if self.missed.is_guaranteed:
            return f"{text}, none missed>"
        low, high = self.missed.interval
        return f"{text}, about {self.missed.estimate:,.0f} missed ({low:,.0f} to {high:,.0f})>"
