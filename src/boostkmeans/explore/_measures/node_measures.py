"""Node measures: sizes, tightness and places of the nodes of a tree, from those of its clusters."""

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._steps.cluster_tree import ClusterTree, levels
from boostkmeans.explore._measures.cluster_measures import ClusterMeasures


def measure_nodes(
    tree: ClusterTree, clusters: ClusterMeasures, centres: Floats, places: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the size, the mean squared distance to the centre, and the place of each node.

    Sums over the rows of a node follow from those of its clusters. A node is placed at its cluster that
    is nearest to the mean of their places.
    """
    n, leaf = len(tree.clusters), tree.clusters >= 0
    own = tree.clusters[leaf]
    sizes, inertia = np.zeros(n), np.zeros(n)
    middle, mean_place = np.zeros((n, centres.shape[1])), np.zeros((n, 2))
    sizes[leaf] = clusters.sizes[own]
    inertia[leaf] = sizes[leaf] * np.nan_to_num(clusters.tightness[own])
    middle[leaf], mean_place[leaf] = centres[own], places[own]
    for nodes in levels(tree.children)[::-1]:
        for node in nodes.tolist():
            parts = tree.children[node][tree.children[node] >= 0]
            weights = sizes[parts]
            sizes[node] = weights.sum()
            share = weights / sizes[node] if sizes[node] > 0 else np.full(len(parts), 1 / len(parts))
            middle[node] = share @ middle[parts]
            mean_place[node] = share @ mean_place[parts]
            gaps = ((middle[parts] - middle[node]) ** 2).sum(axis=1)
            inertia[node] = (inertia[parts] + weights * gaps).sum()
    tightness = np.where(sizes > 0, inertia / np.maximum(sizes, 1), np.nan)
    return sizes, tightness, _places_of_nodes(tree, mean_place, places)


def _places_of_nodes(tree: ClusterTree, mean_place: Floats, places: Floats) -> Floats:
    found = np.empty_like(mean_place)
    for node, leaves in enumerate(clusters_below(tree)):
        gaps = ((places[leaves] - mean_place[node]) ** 2).sum(axis=1)
        found[node] = places[leaves[int(gaps.argmin())]]
    return found


def clusters_below(tree: ClusterTree) -> list[list[int]]:
    """Return the clusters of each node. Children have larger numbers than their parents."""
    below: list[list[int]] = [[] for _ in tree.clusters]
    for node in range(len(below) - 1, -1, -1):
        if tree.clusters[node] >= 0:
            below[node] = [int(tree.clusters[node])]
        else:
            parts = tree.children[node]
            below[node] = [one for child in parts[parts >= 0] for one in below[child]]
    return below
