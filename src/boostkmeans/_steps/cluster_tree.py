"""Cluster tree: the splits of a bisecting fit, and the sizes, centres and inertias of its nodes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import RowSet
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.tree_builder import Ints, TreeBuilder
from boostkmeans._storage.state import SavedState, State

Nodes = NDArray[np.int32]

# Names of the arrays that refer to nodes, and of those that hold sums over the rows of a node.
NODES, SUMS = ("children", "parents", "splits", "clusters"), ("sizes", "weights", "inertia")


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """Nodes 0 (all rows), 1, 2, ...: the first split makes the first nodes after 0, and so on.

    A node's parts have higher numbers than the node, and follow each other. Leaves are the clusters,
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
    """(nodes, sections): the parts of each node; -1 where there are none, or no more."""
    parents: Nodes
    """(nodes,): -1 for node 0."""
    splits: Nodes
    """Nodes with parts, in the order in which they were split."""
    sizes: Ints
    """(nodes,): rows of positive weight."""
    weights: Floats
    """(nodes,): sums of the rows' weights."""
    inertia: Floats
    """(nodes,): sums of weighted squared distances of the rows to their centre."""
    centers: Floats
    """(nodes, d): means of the rows."""
    clusters: Nodes
    """(nodes,): number of the cluster that a leaf is; -1 for nodes with parts."""
    labels: Labels
    """(n,): cluster of each row; empty if the model was saved without labels."""

    def state(self) -> State:
        """All of it."""
        return {name: getattr(self, name) for name in (*NODES, *SUMS, "centers", "labels")}

    @classmethod
    def restored(cls, saved: SavedState, n_rows: int, n_features: int) -> "ClusterTree":
        """What `state` gave."""
        children = saved.array("children", np.int32, (None, None), -1)
        n = len(children)
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
        )

    @property
    def n_leaves(self) -> int:
        """How many clusters there are."""
        return int(self.clusters.max()) + 1

    def of_partition(self, partition: Partition, inertias: Floats) -> "ClusterTree":
        """The same splits with other rows in the leaves, in the frame of these."""
        return _with_sums(self.children, self.parents, self.splits, self.clusters, partition, inertias)

    def cut(self, n_clusters: int) -> Labels:
        """Labels of all rows as they were when there were only so many clusters."""
        if not len(self.labels):
            raise ValueError(
                "This tree does not know its rows: the model was saved without labels. Use cut_nodes, "
                "or save it with labels=True."
            )
        return self._ranks(n_clusters)[self.labels]

    def cut_nodes(self, n_clusters: int) -> Nodes:
        """The nodes that were clusters when there were only so many, from left to right."""
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
        """The tree as SciPy's linkage matrix, which `scipy.cluster.hierarchy.dendrogram` draws.

        Its observations are the clusters. The height of a node is the square root of its inertia. A node
        with more than two parts becomes several at the same height.
        """
        number = self.clusters.astype(np.int64)  # of each node among SciPy's
        n_under = np.where(number >= 0, 1, 0)
        lines = []
        # A node is never lower than its parts; of equally high ones, those split last come first.
        last_first = self.splits[::-1]
        for node in last_first[np.argsort(self.inertia[last_first], kind="stable")]:
            height = np.sqrt(self.inertia[node])
            parts = self.children[node][self.children[node] >= 0]
            joined, count = number[parts[0]], n_under[parts[0]]
            for part in parts[1:]:
                count += n_under[part]
                lines.append((min(joined, number[part]), max(joined, number[part]), height, count))
                joined = self.n_leaves + len(lines) - 1
            number[node], n_under[node] = joined, count
        return np.array(lines, dtype=np.float64).reshape(-1, 4)

    def _ranks(self, n_clusters: int) -> Labels:
        """For each cluster, its place among so many."""
        starts = self._first_leaves()[self.cut_nodes(n_clusters)]
        ranks = np.searchsorted(starts, np.arange(self.n_leaves), side="right") - 1
        return ranks.astype(np.int32)

    def _first_leaves(self) -> Nodes:
        """The leftmost cluster under each node."""
        first = self.clusters.copy()
        for nodes in levels(self.children)[::-1]:
            first[nodes] = first[self.children[nodes, 0]]
        return first


def levels(children: Nodes) -> list[Nodes]:
    """Nodes with parts, by their distance from node 0."""
    found = []
    nodes = np.zeros(1, dtype=np.int32)
    while len(inner := nodes[children[nodes, 0] >= 0]):
        found.append(inner)
        parts = children[inner].ravel()
        nodes = parts[parts >= 0]
    return found


def build_tree(growth: Growth, order: Ints, partition: Partition, inertias: Floats) -> ClusterTree:
    """The tree of a growth after these splits, in the frame. `partition` is that of its leaves."""
    numbers = np.append(0, growth.parts(order))  # of the growth's sets, by node
    node_of = np.full(len(growth.begins), -1, dtype=np.int32)
    node_of[numbers] = np.arange(len(numbers), dtype=np.int32)
    splits = node_of[order]
    n_sections = max(2, int(growth.n_children[order].max(initial=2)))
    children = np.full((len(numbers), n_sections), -1, dtype=np.int32)
    counts = growth.n_children[order]
    for section in range(n_sections):
        has = counts > section
        children[splits[has], section] = node_of[growth.first_child[order[has]] + section]
    parents = np.full(len(numbers), -1, dtype=np.int32)
    for section in range(n_sections):
        inner = splits[children[splits, section] >= 0]
        parents[children[inner, section]] = inner
    clusters = np.full(len(numbers), -1, dtype=np.int32)
    leaves = growth.leaves(order)
    clusters[node_of[leaves]] = np.arange(len(leaves), dtype=np.int32)
    return _with_sums(children, parents, splits, clusters, partition, inertias)


def _with_sums(
    children: Nodes,
    parents: Nodes,
    splits: Nodes,
    clusters: Nodes,
    partition: Partition,
    inertias: Floats,
) -> ClusterTree:
    """What the nodes are like, from the leaves up."""
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
        own = np.where(parts >= 0, weights[parts], 0.0)  # what fills up a line has no weight
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
