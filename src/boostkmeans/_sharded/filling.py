"""Filling of empty clusters by the rows that are farthest from their centres, among all shards."""

import numpy as np

from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.run import ShardedPartition
from boostkmeans._sharded.shard.sums import sizes_of, sum_shard
from boostkmeans._sharded.shard.sweeping import FarRows, far_rows, move_rows


def fill_empty_clusters(
    rows: ShardedRows, partition: ShardedPartition, n_clusters: int
) -> ShardedPartition:
    """Move a row into each empty cluster. The last row of a cluster does not move.

    A cluster stays empty if all rows lie on their centres.
    """
    if partition.summary.n_empty == 0:
        return partition
    tasks = rows.tasks
    sizes, *found = tasks.get(
        tasks.submit(sizes_of, partition.snapshot),
        *[
            tasks.submit(far_rows, *shard, labels, partition.snapshot, n_clusters)
            for shard, labels in zip(rows.shards, partition.labels, strict=True)
        ],
    )
    moves = _choose(sizes, found)
    labels, sums = [], []
    for number, (block, view) in enumerate(rows.shards):
        own, chosen = partition.labels[number], moves[number]
        if not chosen:
            labels.append(own)
            sums.append(tasks.submit(sum_shard, block, view, own, n_clusters))
            continue
        at, targets = np.array(chosen, dtype=np.int64).T
        moved, total = tasks.submit(
            move_rows, block, view, own, at, targets.astype(np.int32), n_clusters, n_results=2
        )
        labels.append(moved)
        sums.append(total)
    return ShardedPartition.from_sums(rows, labels, sums, partition.snapshot)


def _choose(sizes: np.ndarray, found: list[FarRows]) -> list[list[tuple[int, int]]]:
    """Return the rows of each shard that move, and their new clusters."""
    shards = np.repeat(np.arange(len(found)), [len(one.rows) for one in found])
    distances = np.concatenate([one.distances for one in found])
    rows = np.concatenate([one.rows for one in found])
    labels = np.concatenate([one.labels for one in found])
    left, waiting = sizes.copy(), np.flatnonzero(sizes == 0).tolist()
    moves: list[list[tuple[int, int]]] = [[] for _ in found]
    for at in np.argsort(-distances, kind="stable"):
        if not waiting:
            break
        if left[labels[at]] > 1:
            left[labels[at]] -= 1
            moves[shards[at]].append((int(rows[at]), waiting.pop(0)))
    return moves
