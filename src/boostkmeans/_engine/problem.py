"""What a fit works on, and with."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.checkpoint import Keeper
from boostkmeans._engine.run import Fit
from boostkmeans._steps.partition import Partition

AnyFit = TypeVar("AnyFit", bound=Fit)


@dataclass(frozen=True)
class Job:
    """All that its runs share."""

    X: Any
    """As the user gave it, once it is validated."""
    rows: Rows
    weights: RowWeights
    rng: np.random.RandomState
    n_threads: int
    moves: str
    began: float
    """As time.perf_counter() has it."""
    keeper: Keeper

    def run_from(self, labels: NDArray[np.integer[Any]], n_clusters: int, kind: type[AnyFit]) -> AnyFit:
        """A run with these labels, which is yet to begin."""
        return kind(
            rows=self.rows,
            row_weights=self.weights,
            partition=Partition.of(labels, n_clusters, self.rows.n_features),
            rng=self.rng,
            n_threads=self.n_threads,
            moves=self.moves,
            began=self.began,
        )

    def unbegun(self, n_clusters: int, kind: type[AnyFit]) -> AnyFit:
        """A run that is yet to be restored."""
        return self.run_from(np.zeros(0, dtype=np.int32), n_clusters, kind)
