"""Choice of rows within clusters: at random, near the centre, or far from each other."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import distances_to_assigned
from boostkmeans.curate._row_sets import open_rows
from boostkmeans.curate._samples.allocation import Counts
from boostkmeans.curate._samples.clustered_rows import ClusteredRows, Labels

Indices = NDArray[np.int64]

# Task for messages about memory.
TASK = "Choosing a sample of"
# Rows that are summed at a time.
ROWS_AT_ONCE = 4096
# Bytes of the rows from which diverse rows are chosen at a time.
BYTES_AT_ONCE = 2**27


def random_rows(labels: Labels, shares: Counts, rng: np.random.RandomState) -> Indices:
    """Draw rows of each cluster at random."""
    return _first_of_clusters(rng.permutation(len(labels)), labels, shares)


def central_rows(X: Any, rows: ClusteredRows, shares: Counts, n_threads: int | None) -> Indices:
    """Return the rows of each cluster that are nearest to its centre. Ties go to the first rows."""
    threads = resolve_threads(n_threads)
    row_set = open_rows(X, rows.metric, threads, task=TASK)
    centres = _centres_in_frame(row_set, rows)
    distances = np.empty(rows.n_rows)
    for block in row_set.blocks():
        found, _ = distances_to_assigned(block.rows, centres, rows.labels[block.where], threads)
        distances[block.where] = found
    return _first_of_clusters(np.argsort(distances, kind="stable"), rows.labels, shares)


def diverse_rows(
    X: Any,
    rows: ClusteredRows,
    shares: Counts,
    rng: np.random.RandomState,
    n_threads: int | None,
) -> Indices:
    """Return rows of each cluster that lie far from each other: seeds of k-means++."""
    threads = resolve_threads(n_threads)
    row_set = open_rows(X, rows.metric, threads, task=TASK)
    members = _members(rows.labels, len(shares))
    found = []
    for clusters in _batches(members, shares, max(1, BYTES_AT_ONCE // row_set.row_bytes)):
        together = np.sort(np.concatenate([members[one] for one in clusters]))
        some = row_set.sample(together)
        for cluster in clusters:
            own = members[cluster]
            places = np.searchsorted(together, own)
            found.append(own[_spread(some.sample(places), int(shares[cluster]), rng, threads)])
    return np.concatenate(found)


def _spread(rows: Rows, n: int, rng: np.random.RandomState, n_threads: int) -> Indices:
    """Return n different rows that are far from each other. Equal rows are chosen last."""
    seed = int(rng.randint(2**31 - 1))
    if n == rows.n_rows:
        return np.arange(n)
    chosen, _ = _core.plus_plus(
        rows.core, row_weights=None, n_clusters=n, n_trials=1, seed=seed, n_threads=n_threads
    )
    different = np.unique(chosen)
    others = np.setdiff1d(np.arange(rows.n_rows), different)
    return np.concatenate([different, rng.permutation(others)[: n - len(different)]])


def _first_of_clusters(order: Indices, labels: Labels, shares: Counts) -> Indices:
    """Return the first rows of each cluster in an order of all rows."""
    ordered = order[np.argsort(labels[order], kind="stable")]
    sizes = np.bincount(labels, minlength=len(shares))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    place = np.arange(len(labels)) - np.repeat(starts, sizes)
    return np.asarray(ordered[place < np.repeat(shares, sizes)], dtype=np.int64)


def _members(labels: Labels, n_clusters: int) -> list[Indices]:
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels, minlength=n_clusters))[:-1])


def _batches(members: list[Indices], shares: Counts, at_once: int) -> Iterator[list[int]]:
    """Yield clusters with a share, such that their rows fit into memory together."""
    batch: list[int] = []
    total = 0
    for cluster in np.flatnonzero(shares).tolist():
        if batch and total + len(members[cluster]) > at_once:
            yield batch
            batch, total = [], 0
        batch.append(cluster)
        total += len(members[cluster])
    if batch:
        yield batch


def _centres_in_frame(row_set: RowSet, rows: ClusteredRows) -> Floats:
    """Return the centres of the clusters. Without a model, they are the means of the rows."""
    if rows.centres is not None:
        return row_set.frame.enter(rows.centres)
    sizes = np.bincount(rows.labels)
    sums = np.zeros((len(sizes), row_set.n_features))
    for block in row_set.blocks():
        labels = rows.labels[block.where]
        for begin in range(0, len(labels), ROWS_AT_ONCE):
            some = np.arange(begin, min(begin + ROWS_AT_ONCE, len(labels)))
            np.add.at(sums, labels[some], block.rows.take(some))
    return sums / np.maximum(sizes, 1)[:, None]
