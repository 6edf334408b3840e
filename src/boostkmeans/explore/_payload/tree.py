"""Tree: the splits of a bisecting model, and names, measures, terms and places of its nodes."""

from typing import Any

from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans.explore._measures.cut_separation import MAX_SETS
from boostkmeans.explore._measures.node_measures import NodeMeasures
from boostkmeans.explore._names import Naming
from boostkmeans.explore._packing import json_size, rounded
from boostkmeans.explore._payload.descriptions import columns_payload, terms_payload

# Digits of separations: the page shows three.
SEPARATION_DIGITS = 4


def tree_payload(
    tree: ClusterTree, measures: NodeMeasures, names: list[str], descriptions: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the tree for the page. `names` and `descriptions` have one entry per node."""
    return {
        "children": [
            [int(child) for child in tree.children[node] if child >= 0] for node in tree.splits
        ],
        "split": tree.splits.tolist(),
        "cluster": tree.clusters.tolist(),
        "separation_sets": MAX_SETS,
        "nodes": [
            {
                "name": names[node],
                "size": int(measures.sizes[node]),
                "tightness": rounded(measures.tightness[node]),
                "separation": _separation(measures, node),
                "x": int(measures.places[node, 0]),
                "y": int(measures.places[node, 1]),
                **descriptions[node],
            }
            for node in range(len(names))
        ],
    }


def describe_nodes(
    naming: Naming, tree: ClusterTree, max_bytes: int
) -> tuple[list[dict[str, Any]], int, list[str]]:
    """Return terms and columns of inner nodes within a budget, their size, and a sentence if some lack.

    Coarse cuts come first: nodes are numbered in the order of the splits. Leaves have the description of
    their cluster, and node 0 is never shown.
    """
    found: list[dict[str, Any]] = [{} for _ in tree.clusters]
    inner = [node for node in range(1, len(found)) if tree.clusters[node] < 0]
    n_bytes = 0
    for place, node in enumerate(inner):
        described = _description(naming, node)
        size = json_size(described) if described else 0
        if n_bytes + size > max_bytes:
            return found, n_bytes, [_sentence(place, len(inner))]
        found[node] = described
        n_bytes += size
    return found, n_bytes, []


def separation_sentences(tree: ClusterTree) -> list[str]:
    """Return a sentence if cuts of the tree lack the separation."""
    if tree.n_leaves <= MAX_SETS:
        return []
    return [f"Cuts of the tree into more than {MAX_SETS:,} sets have no separation."]


def _description(naming: Naming, node: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if naming.node_terms is not None and naming.node_distinct is not None:
        found["terms"] = terms_payload(naming.node_terms[node])
        found["distinct"] = terms_payload(naming.node_distinct[node])
    if naming.node_columns is not None:
        found["columns"] = columns_payload(naming.node_columns[node])
    return found


def _separation(measures: NodeMeasures, node: int) -> list[list[float | None]]:
    steps = measures.separations[node]
    values = [float(f"{distance:.{SEPARATION_DIGITS}g}") for _, distance in steps]
    # Steps that do not change the shown value are left out.
    return [
        [n_sets, rounded(value)]
        for i, ((n_sets, _), value) in enumerate(zip(steps, values, strict=True))
        if i == 0 or value != values[i - 1]
    ]


def _sentence(n_described: int, n_inner: int) -> str:
    return (
        f"The page has the terms of {n_described:,} of {n_inner:,} merged clusters: those of the "
        "coarsest cuts of the tree."
    )
