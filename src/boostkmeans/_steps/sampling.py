"""A sample of rows: what a fit of all of them starts from, where they are too many, or time is short."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.rows import Floats, Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.run import Fit
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._steps.neighbours import CandidateSearch
from boostkmeans._steps.partition import Labels, assigned

# By quality: rows of a sample for each cluster, and the largest share of all rows that this may be.
SAMPLES = {"fast": (64, 1 / 4), "balanced": (1024, 1 / 8)}
# All rows may be that much farther from the centres of a sample than its own rows. If they are more, it
# missed what matters: rare rows, far away.
MOST_ABOVE = 1.15


class Sample(NamedTuple):
    """Some of the rows, in memory."""

    rows: Rows
    weights: RowWeights


def rows_of_sample(n_rows: int, n_clusters: int, quality: str) -> int | None:
    """How many rows are enough to begin with; None if all are wanted, or it would be most of them."""
    if quality not in SAMPLES:
        return None
    rows_per_cluster, largest_share = SAMPLES[quality]
    few = rows_per_cluster * n_clusters
    return few if few <= largest_share * n_rows else None


def stands_for(sample: Fit, whole: Fit) -> bool:
    """Whether the centres of a sample are as good for all rows as for those that were drawn."""
    means = [fit.inertia / fit.partition.weights.sum() for fit in (sample, whole)]
    return bool(means[1] <= MOST_ABOVE * means[0])


def sample_of(rows: Rows, weights: RowWeights, n_drawn: int, rng: np.random.RandomState) -> Sample:
    """One row from each of so many stretches of all rows, or all if there are fewer."""
    if weights.values is None:
        some = spread(rows.n_rows, n_drawn, rng)
        return Sample(rows.sample(some), RowWeights.of(None, len(some)))
    weighty = np.flatnonzero(weights.values > 0)
    some = weighty[spread(len(weighty), n_drawn, rng)]
    return Sample(rows.sample(some), RowWeights.of(weights.values[some], len(some)))


def spread(n: int, n_drawn: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Numbers below n, ascending, none of them twice: one from each of `n_drawn` stretches."""
    n_drawn = min(n, n_drawn)
    borders = np.linspace(0, n, n_drawn + 1).astype(np.int64)
    return borders[:-1] + (rng.random_sample(n_drawn) * np.diff(borders)).astype(np.int64)


def labels_by_centres(rows: Rows, centres: Floats, n_candidates: int | None, n_threads: int) -> Labels:
    """The nearest centre of each row; among so many candidates, where that is wanted."""
    if n_candidates is None:
        return assigned(rows, RowWeights.of(None, rows.n_rows), centres, n_threads)[0]
    labels = np.empty(rows.n_rows, dtype=np.int32)
    search = CandidateSearch(centres, n_candidates, n_threads)
    for part in rows.parts():
        labels[part.where] = search.nearest(part.rows)
    return labels


def labels_by_tree(rows: Rows, tree: ClusterTree, n_threads: int) -> Labels:
    """The leaf of each row, which goes down the tree, always to the nearest part."""
    labels = np.empty(rows.n_rows, dtype=np.int32)
    for part in rows.parts():
        leaves = np.empty(part.rows.n_rows, dtype=np.int32)
        _core.descend(part.rows.core, tree.children, tree.centers, leaves, n_threads)
        labels[part.where] = tree.clusters[leaves]
    return labels
