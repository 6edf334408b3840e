"""Tree: the splits of a bisecting model, and names, sizes and places of its nodes."""

from typing import Any

from boostkmeans._data.frame import Floats
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans.explore._measures.cluster_measures import ClusterMeasures
from boostkmeans.explore._measures.node_measures import measure_nodes
from boostkmeans.explore._packing import rounded


def tree_payload(
    tree: ClusterTree, clusters: ClusterMeasures, centres: Floats, places: Floats, names: list[str]
) -> dict[str, Any]:
    """Return the tree for the page. `names` has one name per node, `places` one place per cluster."""
    sizes, tightness, at = measure_nodes(tree, clusters, centres, places)
    return {
        "children": [
            [int(child) for child in tree.children[node] if child >= 0] for node in tree.splits
        ],
        "split": tree.splits.tolist(),
        "cluster": tree.clusters.tolist(),
        "nodes": [
            {
                "name": names[node],
                "size": int(sizes[node]),
                "tightness": rounded(tightness[node]),
                "x": int(at[node, 0]),
                "y": int(at[node, 1]),
            }
            for node in range(len(names))
        ],
    }
