"""Names: of clusters and of nodes of a tree, from texts, from a table, or given by the user."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._steps.partition import Labels
from boostkmeans.documents import name_clusters
from boostkmeans.explore._contents.lengths import cluster_names
from boostkmeans.explore._contents.row_contents import RowContents
from boostkmeans.explore._contents.table import ColumnSummary, name_of
from boostkmeans.explore._measures.cluster_measures import ClusterMeasures
from boostkmeans.explore._measures.node_measures import clusters_below

Namer = Callable[[list[str], list[str]], str]
"""Function that receives texts and terms of a cluster and returns its name."""
Terms = list[tuple[str, float]]
"""Terms with weights between 0 and 1."""


@dataclass(frozen=True)
class Naming:
    """Names and descriptions of all clusters."""

    names: list[str]
    terms: list[Terms] = field(default_factory=list)
    """Terms that are frequent in each cluster; empty without texts."""
    distinct: list[Terms] = field(default_factory=list)
    """Terms that distinguish each cluster from its neighbours; empty without texts."""
    columns: list[list[ColumnSummary]] = field(default_factory=list)
    """Columns of a table in each cluster; empty without a table."""
    node_names: list[str] | None = None
    """Names of the nodes of the tree, from texts; None without texts or without a tree."""
    node_terms: list[Terms] | None = None
    """The same as `terms`, for the nodes of the tree."""
    node_distinct: list[Terms] | None = None
    """Terms that distinguish each node of the tree from its siblings."""
    node_columns: list[list[ColumnSummary]] | None = None
    """Columns of a table in each node of the tree; None without a table or without a tree."""


def find_names(
    contents: RowContents,
    labels: Labels,
    clusters: ClusterMeasures,
    tree: ClusterTree | None,
    names: Iterable[Any] | None,
    namer: Namer | None,
    progress: ProgressCallback,
) -> Naming:
    """Name the clusters: by the user's names, by their texts, by a table, or by their numbers."""
    k = len(clusters.sizes)
    _check_namer(contents, names, namer)
    given = None if names is None else cluster_names(names, k)
    columns, node_columns = _columns(contents, labels, k, tree)
    if contents.texts is not None:
        found = name_clusters(
            contents.texts,
            labels,
            n_clusters=k,
            neighbours=clusters.neighbours,
            tree=tree,
            namer=namer,
            progress=progress,
        )
        return Naming(
            given or found.names,
            found.terms,
            found.distinct,
            columns,
            found.node_names,
            found.node_terms,
            found.node_distinct,
            node_columns,
        )
    if given is None and columns:
        given = [name_of(columns[number], number) for number in range(k)]
    shown = given or [f"cluster {number}" for number in range(k)]
    return Naming(shown, columns=columns, node_columns=node_columns)


def _columns(
    contents: RowContents, labels: Labels, k: int, tree: ClusterTree | None
) -> tuple[list[list[ColumnSummary]], list[list[ColumnSummary]] | None]:
    """Summarise the table in each cluster, and in each node of the tree."""
    if contents.table is None:
        return [], None
    if tree is None:
        return contents.table.summaries(labels, k), None
    found = contents.table.summaries(labels, k, clusters_below(tree))
    return found[:k], found[k:]


def name_nodes(naming: Naming, tree: ClusterTree, clusters: ClusterMeasures) -> list[str]:
    """Name the nodes of a tree. Without texts, an inner node is named after its largest cluster."""
    found = []
    for node, below in enumerate(clusters_below(tree)):
        if len(below) == 1:
            found.append(naming.names[below[0]])
        elif node == 0:
            found.append("all rows")
        elif naming.node_names is not None:
            found.append(naming.node_names[node])
        else:
            largest = max(below, key=lambda cluster: int(clusters.sizes[cluster]))
            found.append(f"{naming.names[largest]} and {len(below) - 1} more")
    return found


def _check_namer(contents: RowContents, names: Iterable[Any] | None, namer: Namer | None) -> None:
    if namer is not None and contents.texts is None:
        raise ParameterConflictError(
            Message(
                "{namer} needs {texts}, from which it makes names.",
                namer=Parameter("namer"),
                texts=Parameter("texts"),
            )
        )
    if namer is not None and names is not None:
        raise ParameterConflictError(
            Message(
                "{namer} and {names} cannot both be given.",
                namer=Parameter("namer"),
                names=Parameter("names"),
            )
        )
