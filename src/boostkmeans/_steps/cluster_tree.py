"""Cluster tree: the splits of a bisecting fit, and the sizes, centres and inertias of its nodes."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import RowSet
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.tree_builder import UNKNOWN_PASSES, Ints, TreeBuilder
from boostkmeans._storage.state import SavedState, State

Nodes = NDArray[np.int32]

# Names of the arrays that refer to nodes, and of those that hold sums over the rows of a node.
NODES, SUMS = ("children", "parents", "splits", "clusters"), ("sizes", "weights", "inertia")


@dataclass(frozen=True, eq=False)
class ClusterTree(SizedByFields):
    """The splits of a bisecting fit as a tree of nodes.

    Node 0 contains all rows. The children of the first split follow it, then those of the second split,
    and so on. Children therefore have higher numbers than their parent. The leaves are the clusters,
    from left to right.

    >>> import numpy as np
    >>> from boostkmeans import BisectingBoostKMeans
    >>> X = np.array([[0.0], [1], [10], [11], [12], [40]])
    >>> tree = BisectingBoostKMeans(n_clusters=3, random_state=0).fit(X).tree_
    >>> tree.sizes[tree.children[0]].sum()
    np.int64(6)
    >>> len(set(tree.cut(2).tolist()))
    2
    """

    children: Nodes
    """Children of each node, shape (n_nodes, n_sections), padded with -1."""
    parents: Nodes
    """Parent of each node, -1 for node 0."""
    splits: Nodes
    """Nodes with children, in the order in which they were split."""
    sizes: Ints
    """Number of rows of positive weight in each node."""
    weights: Floats
    """Sum of the weights of the rows in each node."""
    inertia: Floats
    """Weighted sum of squared distances of the rows in each node to its centre."""
    centers: Floats
    """Centre of each node, shape (n_nodes, n_features)."""
    clusters: Nodes
    """Cluster number of each leaf, -1 for other nodes."""
    labels: Labels
    """Cluster of each row; empty if the model was saved without labels."""
    n_passes: Ints | None = None
    """Number of passes of the split of each node, 0 for leaves. With `max_passes=None`, the last pass of
    a split moves no row. -1 if the number is unknown, because version 0.9 or earlier made the split and
    stored it in a checkpoint. None if the model was saved by such a version."""

    def state(self) -> State:
        """Return the tree as plain values for a checkpoint."""
        return {name: getattr(self, name) for name in (*NODES, *SUMS, "centers", "labels", "n_passes")}

    @classmethod
    def restore(cls, saved: SavedState, n_rows: int, n_features: int) -> "ClusterTree":
        """Restore the tree from the result of `state`. `check_tree` checks its structure."""
        children = saved.array("children", np.int32, (None, None), -1)
        n = len(children)
        # A child comes after its parent, so that every path down the tree ends.
        if ((children >= 0) & (children <= np.arange(n)[:, None])).any():
            saved.fail("children", "nodes with larger numbers than their parents", "others")
        nodes = {name: saved.array(name, np.int32, (n,), -1, n - 1) for name in ("parents", "clusters")}
        return cls(
            children=saved.array("children", np.int32, (n, None), -1, n - 1),
            parents=nodes["parents"],
            splits=saved.array("splits", np.int32, (None,), 0, n - 1),
            sizes=saved.array("sizes", np.int64, (n,), 0, n_rows),
            weights=saved.array("weights", np.float64, (n,), 0),
            inertia=saved.array("inertia", np.float64, (n,), 0),
            centers=saved.array("centers", np.float64, (n, n_features)),
            clusters=nodes["clusters"],
            labels=saved.array("labels", np.int32, (n_rows,), 0, int(nodes["clusters"].max(initial=0))),
            n_passes=None
            if saved.values.get("n_passes") is None
            else saved.array("n_passes", np.int64, (n,), UNKNOWN_PASSES),
        )

    @property
    def n_leaves(self) -> int:
        """Number of leaves, which is the number of clusters."""
        return int(self.clusters.max()) + 1

    def __repr__(self) -> str:
        n_nodes, n_features = self.centers.shape
        return (
            f"ClusterTree(n_leaves={self.n_leaves}, n_nodes={n_nodes}, n_rows={self.sizes[0]}, "
            f"n_features={n_features})"
        )

    def for_partition(self, partition: Partition, inertias: Floats) -> "ClusterTree":
        """Return a tree with the same splits for the rows of a partition, in its frame."""
        tree = _with_sums(self.children, self.parents, self.splits, self.clusters, partition, inertias)
        return replace(tree, n_passes=self.n_passes)

    def cut(self, n_clusters: int) -> Labels:
        """Return the label of each row when the tree had `n_clusters` leaves.

        Parameters
        ----------
        n_clusters : int
            Number of leaves: for a binary tree, any number from 1 to `n_leaves`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Index of the leaf of each row, in the order of `cut_nodes`.
        """
        if not len(self.labels):
            raise ValueError(
                "This tree has no labels, because the model was saved without them. Use cut_nodes, or "
                "save the model with labels=True."
            )
        return self.cut_leaves(n_clusters)[self.labels]

    def cut_nodes(self, n_clusters: int) -> Nodes:
        """Return the leaves of the tree when it had `n_clusters` leaves, from left to right.

        Parameters
        ----------
        n_clusters : int
            Number of leaves: for a binary tree, any number from 1 to `n_leaves`.

        Returns
        -------
        nodes : ndarray of shape (n_clusters,)
            Indices of the nodes.
        """
        made = 1 + np.cumsum((self.children[self.splits] >= 0).sum(axis=1) - 1)
        n_splits = 0 if n_clusters == 1 else int(np.searchsorted(made, n_clusters)) + 1
        known = n_splits <= len(self.splits) and (n_splits == 0 or made[n_splits - 1] == n_clusters)
        if n_clusters < 1 or not known:
            binary = self.children.shape[1] == 2
            possible = f"1 to {self.n_leaves}" if binary else f"{[1, *made.tolist()]}"
            raise ValueError(f"This tree can be cut into {possible} clusters. Got {n_clusters}.")
        split = self.splits[:n_splits]
        nodes = np.append(self.children[split].ravel(), 0)
        left = np.setdiff1d(nodes[nodes >= 0], split)
        return left[np.argsort(self._first_leaves()[left])].astype(np.int32)

    def to_linkage(self) -> Floats:
        """Return the tree as a linkage matrix for `scipy.cluster.hierarchy.dendrogram`.

        The observations are the clusters. The height of a node is the square root of its inertia. A node
        with more than two children becomes several nodes of the same height.
        """
        number = self.clusters.astype(np.int64)  # Index of each node in SciPy's numbering.
        n_under = np.where(number >= 0, 1, 0)
        lines = []
        # A node is never lower than its children. Among equal heights, late splits come first.
        last_first = self.splits[::-1]
        for node in last_first[np.argsort(self.inertia[last_first], kind="stable")]:
            height = np.sqrt(self.inertia[node])
            children = self.children[node][self.children[node] >= 0]
            joined, count = number[children[0]], n_under[children[0]]
            for child in children[1:]:
                count += n_under[child]
                lines.append((min(joined, number[child]), max(joined, number[child]), height, count))
                joined = self.n_leaves + len(lines) - 1
            number[node], n_under[node] = joined, count
        return np.array(lines, dtype=np.float64).reshape(-1, 4)

    def cut_leaves(self, n_clusters: int) -> Labels:
        """Return the label that each leaf had when the tree had `n_clusters` leaves.

        Parameters
        ----------
        n_clusters : int
            Number of leaves: for a binary tree, any number from 1 to `n_leaves`.

        Returns
        -------
        labels : ndarray of shape (n_leaves,), int32
            Index of the cluster that contains each leaf.
        """
        starts = self._first_leaves()[self.cut_nodes(n_clusters)]
        ranks = np.searchsorted(starts, np.arange(self.n_leaves), side="right") - 1
        return ranks.astype(np.int32)

    def _first_leaves(self) -> Nodes:
        """Return the leftmost cluster below each node."""
        first = self.clusters.copy()
        for nodes in levels(self.children)[::-1]:
            first[nodes] = first[self.children[nodes, 0]]
        return first


def levels(children: Nodes) -> list[Nodes]:
    """Return the nodes with children, grouped by their distance from node 0."""
    found = []
    nodes = np.zeros(1, dtype=np.int32)
    while len(inner := nodes[children[nodes, 0] >= 0]):
        found.append(inner)
        below = children[inner].ravel()
        nodes = below[below >= 0]
    return found


def build_tree(builder: TreeBuilder, order: Ints, partition: Partition, inertias: Floats) -> ClusterTree:
    """Return the tree after these splits, in the frame. `partition` is that of its leaves."""
    numbers = np.append(0, builder.children(order))  # Set of the builder for each node.
    node_of = np.full(len(builder.begins), -1, dtype=np.int32)
    node_of[numbers] = np.arange(len(numbers), dtype=np.int32)
    splits = node_of[order]
    n_sections = max(2, int(builder.n_children[order].max(initial=2)))
    children = np.full((len(numbers), n_sections), -1, dtype=np.int32)
    counts = builder.n_children[order]
    for section in range(n_sections):
        has = counts > section
        children[splits[has], section] = node_of[builder.first_child[order[has]] + section]
    parents = np.full(len(numbers), -1, dtype=np.int32)
    for section in range(n_sections):
        inner = splits[children[splits, section] >= 0]
        parents[children[inner, section]] = inner
    clusters = np.full(len(numbers), -1, dtype=np.int32)
    leaves = builder.leaves(order)
    clusters[node_of[leaves]] = np.arange(len(leaves), dtype=np.int32)
    n_passes = np.zeros(len(numbers), dtype=np.int64)
    n_passes[splits] = builder.n_passes[order]
    tree = _with_sums(children, parents, splits, clusters, partition, inertias)
    return replace(tree, n_passes=n_passes)


def _with_sums(
    children: Nodes,
    parents: Nodes,
    splits: Nodes,
    clusters: Nodes,
    partition: Partition,
    inertias: Floats,
) -> ClusterTree:
    """Compute the sums of all nodes, from the leaves up."""
    leaf = clusters >= 0
    n, d = len(clusters), partition.composites.shape[1]
    sizes, weights, inertia = np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n)
    centres = np.zeros((n, d))
    sizes[leaf] = partition.counts[clusters[leaf]]
    weights[leaf] = partition.weights[clusters[leaf]]
    inertia[leaf] = inertias[clusters[leaf]]
    centres[leaf] = partition.centres[clusters[leaf]]
    for nodes in levels(children)[::-1]:
        parts = children[nodes]
        own = np.where(parts >= 0, weights[parts], 0.0)  # Padding has no weight.
        weights[nodes] = own.sum(axis=1)
        share = own / weights[nodes][:, None]
        for section in range(parts.shape[1]):
            centres[nodes] += share[:, section, None] * centres[parts[:, section]]
        for section in range(parts.shape[1]):
            part = parts[:, section]
            gaps = ((centres[part] - centres[nodes]) ** 2).sum(axis=1)
            inertia[nodes] += np.where(part >= 0, inertia[part], 0.0) + own[:, section] * gaps
            sizes[nodes] += np.where(part >= 0, sizes[part], 0)
    return ClusterTree(
        children, parents, splits, sizes, weights, inertia, centres, clusters, partition.labels.copy()
    )


def assign_by_tree(rows: RowSet, tree: ClusterTree, n_threads: int) -> Labels:
    """Return the leaf that each row reaches by always descending to the nearest child."""
    labels = np.empty(rows.n_rows, dtype=np.int32)
    for block in rows.blocks():
        leaves = np.empty(block.rows.n_rows, dtype=np.int32)
        _core.descend(block.rows.core, tree.children, tree.centers, leaves, n_threads)
        labels[block.where] = tree.clusters[leaves]
    return labels
