"""Shard: a block as rows in the frame of the fit. Its state is an array of labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostkmeans._data.frame import Array, Floats, Frame
from boostkmeans._data.rows import Rows, unit_factors
from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._sharded.shard.block import checked_weights
from boostkmeans._steps.problem import Problem


@dataclass(frozen=True)
class ShardView(SizedByFields):
    """How the rows of a block are seen: frame, factors and weights. It does not contain the block."""

    number: int
    name: str
    frame: Frame
    stays_sparse: bool
    factors: Floats | None
    weights: Floats | None
    """Weight of each row, scaled to at most 1; None if all weights are equal."""

    def rows(self, block: Any) -> Rows:
        """Return the rows of the block."""
        return Rows(block, self.frame, self.factors, stays_sparse=self.stays_sparse)

    def problem(self, block: Any, n_clusters: int, n_threads: int = 1) -> Problem:
        """Return the rows of the block as a problem."""
        rows = self.rows(block)
        weights = RowWeights(self.weights, 1.0, 1.0, rows.n_rows)
        return Problem(rows, weights, n_clusters, n_threads)


def view_shard(
    block: Any,
    weights: Array | None,
    number: int,
    name: str,
    frame: Frame,
    stays_sparse: bool,
    weight_unit: float | None,
) -> ShardView:
    """Return the view of a block. Weights are divided by `weight_unit`; None means equal weights."""
    factors = None
    if frame.metric == "cosine" and block.shape[0]:
        factors = unit_factors(block, frame.metric, 1)
    elif frame.metric == "cosine":
        factors = np.empty(0)
    scaled = None
    if weight_unit is not None:
        values = np.ones(block.shape[0]) if weights is None else weights
        scaled = np.ascontiguousarray(checked_weights(values, block.shape[0], name) / weight_unit)
    return ShardView(number, name, frame, stays_sparse, factors, scaled)
