"""Pinned rows: weighted centres that represent rows of a model that are not available any more.

The sums of a cluster and of its new rows add up exactly, so that the moves of new rows are decided as if
the old rows were there. Only the old rows themselves cannot move.
"""

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._data.stacking import stack_rows
from boostkmeans._data.weights import RowWeights


def with_pinned_centres(
    centres: Floats, cluster_weights: Floats, new: Rows, weights: RowWeights, n_threads: int
) -> tuple[Rows, RowWeights]:
    """Return the centres, in the user's space, followed by new rows, and the weights of all.

    For metric "cosine", the new rows are copies of unit length.
    """
    rows = Rows.in_own_frame(stack_rows(centres, new.scaled()), "euclidean", n_threads)
    own = np.ones(new.n_rows) if weights.values is None else weights.values
    together = np.concatenate([cluster_weights, own * weights.unit])
    return rows, RowWeights.of(together, len(together))
