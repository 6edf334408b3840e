"""Checks of a cluster tree from an untrusted file."""

import numpy as np
from numpy.typing import NDArray

from boostkmeans._steps.cluster_tree import ClusterTree, Nodes, levels
from boostkmeans._storage.tensor_checks import Checker


def check_tree(check: Checker, tree: ClusterTree, n_clusters: int, n_rows: int) -> None:
    """Raise DataFormatError unless the nodes are connected as `ClusterTree` describes."""
    n, n_sections = tree.children.shape
    check.require(
        n > 0 and n_sections >= 2, f"The tree has {n} nodes with up to {n_sections} children each."
    )
    has_child = tree.children >= 0
    n_children = has_child.sum(axis=1)
    _check_nodes(check, tree, has_child, n_children)
    check.require(
        np.array_equal(tree.clusters, _leaf_numbers(tree.children, n_children)),
        "tree.clusters does not number the leaves from left to right.",
    )
    leaves = np.flatnonzero(n_children == 0)
    check.require(
        len(leaves) == n_clusters, f"The tree has {len(leaves)} leaves. Expected {n_clusters}."
    )
    _check_sizes(check, tree, has_child, leaves, n_rows)
    if tree.n_passes is not None:
        check.require((tree.n_passes[leaves] == 0).all(), "A leaf of the tree has passes.")


def _check_nodes(
    check: Checker, tree: ClusterTree, has_child: NDArray[np.bool_], n_children: NDArray[np.intp]
) -> None:
    """Check that children, splits and parents agree and that nodes are numbered by their splits."""
    n, n_sections = tree.children.shape
    check.require(
        (has_child == (np.arange(n_sections) < n_children[:, None])).all() and (n_children != 1).all(),
        "A node of the tree has a single child, or a gap between its children.",
    )
    check.require(
        np.array_equal(np.sort(tree.splits), np.flatnonzero(n_children)),
        "tree.splits does not list the nodes that have children.",
    )
    children = tree.children[tree.splits][has_child[tree.splits]]
    parents = np.repeat(tree.splits, n_children[tree.splits])
    check.require(
        np.array_equal(children, np.arange(1, n)) and (children > parents).all(),
        "The nodes of the tree are not numbered in the order of its splits.",
    )
    check.require(
        tree.parents[0] == -1 and np.array_equal(tree.parents[1:], parents),
        "tree.parents does not match tree.children.",
    )


def _check_sizes(
    check: Checker,
    tree: ClusterTree,
    has_child: NDArray[np.bool_],
    leaves: NDArray[np.intp],
    n_rows: int,
) -> None:
    """Check that the sizes of nodes add up and match the labels."""
    check.require(tree.sizes.max() <= n_rows, f"A node of the tree has more than {n_rows} rows.")
    sums = np.where(has_child, tree.sizes[tree.children], 0).sum(axis=1)
    check.require(
        (sums == tree.sizes)[has_child[:, 0]].all(),
        "The tree.sizes of children do not add up to that of their parent.",
    )
    if len(tree.labels):
        # Rows of zero weight have a label but are not counted in tree.sizes.
        counts = np.bincount(tree.labels, minlength=len(leaves))
        check.require(
            (counts[tree.clusters[leaves]] >= tree.sizes[leaves]).all(),
            "A leaf has fewer rows in tree.labels than in tree.sizes.",
        )


def _leaf_numbers(children: Nodes, n_children: NDArray[np.intp]) -> Nodes:
    """Return the number of each leaf from left to right, and -1 for the other nodes."""
    n_leaves = np.where(n_children == 0, 1, 0)
    by_level = levels(children)
    for nodes in by_level[::-1]:
        n_leaves[nodes] = np.where(children[nodes] >= 0, n_leaves[children[nodes]], 0).sum(axis=1)
    first = np.zeros(len(children), dtype=np.int32)
    for nodes in by_level:
        below = children[nodes]
        exists = below >= 0
        ends = np.cumsum(np.where(exists, n_leaves[below], 0), axis=1)
        begins = np.concatenate([np.zeros((len(nodes), 1), dtype=ends.dtype), ends[:, :-1]], axis=1)
        first[below[exists]] = (first[nodes][:, None] + begins)[exists]
    return np.where(n_children == 0, first, np.int32(-1))
