"""Node measures: sizes, tightness, separation and places of the nodes of a tree."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._steps.cluster_tree import ClusterTree, levels
from boostkmeans.explore._measures.cluster_measures import ClusterMeasures
from boostkmeans.explore._measures.cut_separation import Steps, squared_separations
from boostkmeans.explore._measures.explored_rows import ExploredRows
from boostkmeans.explore._measures.rounding import squared_lengths, without_rounding


@dataclass(frozen=True)
class NodeMeasures:
    """Measures of all nodes, in the units of X."""

    sizes: Floats
    """Number of rows of each node."""
    tightness: Floats
    """Mean squared distance of the rows of each node to its centre; NaN for an empty node."""
    separations: list[Steps]
    """Distance of the centre of each node to the nearest other centre of a cut, as pairs (m, distance):
    from the cut into m sets on, until the next pair."""
    places: Floats
    """Place of each node on the map."""


def measure_nodes(
    rows: ExploredRows, tree: ClusterTree, clusters: ClusterMeasures, places: Floats
) -> NodeMeasures:
    """Measure all nodes from the measures of their clusters, without a pass over the rows.

    A node is placed at its cluster that is nearest to the mean of their places.
    """
    sizes = _sums(tree, clusters.sizes)
    middle = _means(tree, sizes, rows.centres())
    lengths = squared_lengths(middle)
    separations = [
        [(n_sets, float(rows.in_user_units(without_rounding(gap, length)))) for n_sets, gap in steps]
        for steps, length in zip(squared_separations(tree, middle), lengths.tolist(), strict=True)
    ]
    return NodeMeasures(
        sizes,
        _tightness(rows, tree, clusters, sizes, middle),
        separations,
        _places_of_nodes(tree, _means(tree, sizes, places), places),
    )


def _parts(tree: ClusterTree, node: int) -> list[int]:
    found: list[int] = tree.children[node][tree.children[node] >= 0].tolist()
    return found


def _inner_from_below(tree: ClusterTree) -> list[int]:
    """Return the nodes with children, so that children come before their parents."""
    return [node for nodes in levels(tree.children)[::-1] for node in nodes.tolist()]


def _sums(tree: ClusterTree, values: Any) -> Floats:
    """Return the sum of the values of the clusters below each node."""
    found = np.zeros(len(tree.clusters))
    leaf = tree.clusters >= 0
    found[leaf] = values[tree.clusters[leaf]]
    for node in _inner_from_below(tree):
        found[node] = found[_parts(tree, node)].sum()
    return found


def _means(tree: ClusterTree, sizes: Floats, values: Floats) -> Floats:
    """Return the mean of the values of the clusters below each node, weighted by their sizes."""
    found = np.zeros((len(tree.clusters), values.shape[1]))
    leaf = tree.clusters >= 0
    found[leaf] = values[tree.clusters[leaf]]
    for node in _inner_from_below(tree):
        parts = _parts(tree, node)
        share = sizes[parts] / sizes[node] if sizes[node] > 0 else np.full(len(parts), 1 / len(parts))
        found[node] = share @ found[parts]
    return found


def _tightness(
    rows: ExploredRows, tree: ClusterTree, clusters: ClusterMeasures, sizes: Floats, middle: Floats
) -> Floats:
    """Return the mean squared distance to the centre of each node, by the parallel axis theorem."""
    inertia = _sums(tree, clusters.sizes * np.nan_to_num(clusters.tightness))
    between = np.zeros(len(sizes))
    lengths = squared_lengths(middle)
    for node in _inner_from_below(tree):
        parts = _parts(tree, node)
        gaps = without_rounding(((middle[parts] - middle[node]) ** 2).sum(axis=1), lengths[node])
        between[node] = between[parts].sum() + sizes[parts] @ rows.in_user_units(gaps) ** 2
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(sizes > 0, (inertia + between) / np.maximum(sizes, 1), np.nan)


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
