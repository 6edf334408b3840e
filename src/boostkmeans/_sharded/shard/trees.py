"""Trees of sharded rows: a tree of a sample, whose leaves all rows reach by descending."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boostkmeans._data.cluster_sums import ClusterSums
from boostkmeans._runtime.threads import threads_of_lone_task
from boostkmeans._sharded.shard.sampling import Sample
from boostkmeans._sharded.shard.sums import ShardSums, Snapshot, sum_labels
from boostkmeans._sharded.shard.view import ShardView
from boostkmeans._steps.cluster_tree import ClusterTree, assign_by_tree, build_tree
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.split_rules import SplitRules
from boostkmeans._steps.tree_builder import TreeBuilder


@dataclass(frozen=True)
class TreeSettings:
    """How the clusters of a bisecting fit are split, and whether rounds of all shards follow."""

    rules: SplitRules
    refine: bool


def grow_tree(
    sample: Sample, rules: SplitRules, n_clusters: int, seed: int, max_threads: int | None
) -> ClusterTree:
    """Build a tree of sampled rows, in the frame, without their labels."""
    n_threads = threads_of_lone_task(max_threads)
    problem = sample.problem(n_clusters, n_threads)
    rows = problem.rows_in_memory
    builder = TreeBuilder.for_rows(rows, problem.row_weights, rules, seed, n_threads)
    order = builder.grow(n_clusters)
    n_leaves, labels = len(builder.leaves(order)), builder.labels(order)
    sums = ClusterSums.of(rows, problem.row_weights, labels, n_leaves, n_threads)
    leaves = Partition(labels, sums.composites, sums.weights, sums.counts)
    tree = build_tree(builder, order, leaves, sums.inertias)
    return replace(tree, labels=np.empty(0, dtype=np.int32))


def descend_shard(block: Any, view: ShardView, tree: ClusterTree) -> tuple[Labels, ShardSums]:
    """Assign the rows of a shard to leaves, always descending to the nearest child."""
    rows, labels = view.rows(block), np.empty(0, dtype=np.int32)
    if rows.n_rows:
        labels = assign_by_tree(rows, tree, 1)
    return labels, sum_labels(view, rows, labels, tree.n_leaves)


def tree_of_rows(tree: ClusterTree, leaves: Snapshot) -> ClusterTree:
    """Return the tree with the sizes, centres and inertias of all rows."""
    return tree.for_partition(leaves.view(), leaves.inertias)


def n_leaves_of(tree: ClusterTree) -> int:
    """Return the number of leaves, which may be less than requested."""
    return tree.n_leaves
