"""Row bounds: proofs that rows cannot gain by a move, kept from one sweep to the next."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._steps.partition import Labels, Partition


@dataclass(frozen=True)
class RowBounds:
    """For each row, how far the centres must move before the row can gain by a move.

    A sweep with bounds makes the same moves as a sweep without them, but it skips most rows once the
    centres move little. Centres may change in any way between two sweeps. Rows whose labels change
    must be passed to `forget`.
    """

    margins: NDArray[np.float32]
    paths: Floats
    """Length of the path of each centre so far."""
    centres: Floats
    """The centres to which the paths lead."""
    totals: Floats
    """Sum of the longest steps of all centres, and the largest squared norm of a visited row."""

    @classmethod
    def for_partition(cls, partition: Partition) -> "RowBounds":
        """Return bounds with which the next sweep visits all rows."""
        return cls(
            margins=np.full(len(partition.labels), -np.inf, dtype=np.float32),
            paths=np.zeros(partition.n_clusters),
            centres=np.zeros_like(partition.composites),
            totals=np.zeros(2),
        )

    @property
    def view(self) -> _core.RowBounds:
        """The bounds as the core reads and changes them."""
        return _core.RowBounds(
            margins=self.margins, paths=self.paths, centres=self.centres, totals=self.totals
        )

    def forget(self, before: Labels, after: Labels) -> None:
        """Make the next sweep visit the rows whose labels differ."""
        self.margins[before != after] = -np.inf
