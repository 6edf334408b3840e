"""Repair of sharded clusters: halves from a sample, their sums from all shards, and swaps."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._runtime.threads import threads_of_lone_task
from boostkmeans._sharded.shard.sampling import Sample
from boostkmeans._sharded.shard.sums import ShardSums, Snapshot, sum_labels
from boostkmeans._sharded.shard.view import ShardView
from boostkmeans._steps.nearest import distances_to_assigned
from boostkmeans._steps.neighbours import assign_by_candidates
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.repair import Halves, Repair, Swaps, merge_costs, split_clusters


@dataclass(frozen=True)
class HalfCentres(SizedByFields):
    """Centres of two halves of each cluster, in the frame. The second half of cluster c is k + c."""

    centres: Floats


def halve_sample(
    sample: Sample, snapshot: Snapshot, n_candidates: int | None, seed: int, max_threads: int | None
) -> HalfCentres:
    """Split the sampled rows of each cluster in two.

    Both halves of a cluster with fewer than two distinct sampled rows are its centre.
    """
    k, centres = snapshot.n_clusters, snapshot.view().centres
    n_threads = threads_of_lone_task(max_threads)
    problem = sample.problem(k, n_threads)
    labels = assign_by_candidates(problem.rows, centres, n_candidates, n_threads)
    partition, _ = Partition.from_labels(
        labels, k, problem.rows, problem.row_weights, n_threads, positions=centres
    )
    halves = split_clusters(problem, partition, seed)
    found, _ = Partition.from_labels(
        halves.labels,
        2 * k,
        problem.rows,
        problem.row_weights,
        n_threads,
        positions=np.vstack([centres, centres]),
    )
    return HalfCentres(found.centres)


def halve_labels(rows: Rows, labels: Labels, halves: HalfCentres) -> Labels:
    """Return the nearer half of its cluster for each row. Ties go to the first half."""
    k = len(halves.centres) // 2
    first, _ = distances_to_assigned(rows, halves.centres[:k], labels, 1)
    second, _ = distances_to_assigned(rows, halves.centres[k:], labels, 1)
    return np.where(second < first, labels + np.int32(k), labels).astype(np.int32)


def halve_shard(block: Any, view: ShardView, labels: Labels, halves: HalfCentres) -> ShardSums:
    """Return the sums of the halves of all clusters over one shard."""
    rows = view.rows(block)
    found = halve_labels(rows, labels, halves) if len(labels) else labels
    return sum_labels(view, rows, found, len(halves.centres))


def choose_swaps(
    snapshot: Snapshot,
    halved: ShardSums,
    min_gain: float,
    max_threads: int | None,
) -> Swaps | None:
    """Pair the best splits with the cheapest merges; None if they do not gain enough."""
    k, sums = snapshot.n_clusters, halved.sums
    n_threads = threads_of_lone_task(max_threads)
    one = np.arange(k)
    gains = merge_costs(sums.composites, sums.weights, one, one + k, n_threads)
    labels = np.empty(0, dtype=np.int32)
    halves = Halves(labels, sums.weights, sums.counts, gains, sums.composites)
    return Repair.of_halves(snapshot.view(), halves, n_threads).improving_swaps(min_gain)


def swap_shard(
    block: Any,
    view: ShardView,
    labels: Labels,
    halves: HalfCentres,
    swaps: Swaps,
) -> tuple[Labels, ShardSums]:
    """Rename the rows of merged and split clusters."""
    k, rows = len(halves.centres) // 2, view.rows(block)
    renamed = swaps.renamed(k)
    found = renamed[labels]
    some = np.flatnonzero(np.isin(labels, swaps.split))
    if len(some):  # Few clusters are split, so few rows are compared.
        found[some] = renamed[halve_labels(rows.sample(some), labels[some], halves)]
    return found, sum_labels(view, rows, found, k)
