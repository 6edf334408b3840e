"""Separation in cuts of a tree: the distance of each node to the nearest other node of the same cut."""

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._steps.cluster_tree import ClusterTree

# Cuts into more sets have no separation. The distances between all nodes of these cuts take 32 MB.
MAX_SETS = 1024

Steps = list[tuple[int, float]]
"""Pairs (m, d): from the cut into m sets on, until the next pair, the squared distance is d."""


def squared_separations(tree: ClusterTree, centres: Floats, max_sets: int = MAX_SETS) -> list[Steps]:
    """Return the squared distance of each node to the nearest other node, in each cut that contains it.

    A node stays in the cuts until it is split. Its nearest node changes only when that one is split, or
    when a split creates a nearer one, so that few pairs describe all cuts.
    """
    found: list[Steps] = [[] for _ in tree.clusters]
    families = _families(tree, max_sets)
    n_nodes = 1 + sum(len(children) for _, children in families)
    between = _gaps_between(centres[:n_nodes])  # Nodes are numbered in the order of the splits.
    in_cut = np.zeros(n_nodes, dtype=bool)
    in_cut[0] = True
    nearest = np.full(n_nodes, -1)
    for node, children in families:
        in_cut[node], in_cut[children] = False, True
        nodes = np.flatnonzero(in_cut)
        stale = nodes[(nearest[nodes] == node) | np.isin(nodes, children)]
        nearest[stale] = nodes[between[np.ix_(stale, nodes)].argmin(axis=1)]
        changed = set(stale.tolist())
        for child in children:
            nearer = nodes[between[child, nodes] < between[nodes, nearest[nodes]]]
            nearest[nearer] = child
            changed.update(nearer.tolist())
        for one in sorted(changed):
            # The differences avoid the rounding errors of products.
            gap = float(((centres[one] - centres[nearest[one]]) ** 2).sum())
            found[one].append((len(nodes), gap))
    return found


def _families(tree: ClusterTree, max_sets: int) -> list[tuple[int, list[int]]]:
    """Return each node that is split, with its children, up to a cut into `max_sets` sets."""
    found, n_sets = [], 1
    for node in tree.splits.tolist():
        children = [int(child) for child in tree.children[node] if child >= 0]
        n_sets += len(children) - 1
        if n_sets > max_sets:
            break
        found.append((node, children))
    return found


def _gaps_between(centres: Floats) -> Floats:
    """Return the squared distances between all centres; those of a centre to itself are infinite."""
    moved = centres - centres[0]  # so that the products lose few digits
    lengths = (moved**2).sum(axis=1)
    gaps: Floats = lengths[:, None] + lengths - 2 * (moved @ moved.T)
    np.fill_diagonal(gaps, np.inf)
    return gaps
