"""Names of clusters and of the nodes of their tree, from shares of phrases."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans.documents._names.choice import Weighted
from boostkmeans.documents._names.namer import CheckedNamer, Namer
from boostkmeans.documents._names.phrase_shares import PhraseShares
from boostkmeans.documents._names.sample import Ints
from boostkmeans.documents._names.tree_nodes import Tree, TreeNodes
from boostkmeans.documents._names.weights import Background, nearest_by_phrases
from boostkmeans.documents._names.wording import NameMaker, number_name

# Number of texts and of terms that a namer receives, and of terms by which its texts are chosen.
N_TEXTS_FOR_NAMER = 10
N_TERMS_FOR_NAMER = 10
N_TERMS_FOR_TEXTS = 30
ROOT_NAME = "all texts"

Terms = list[tuple[str, float]]


@dataclass(frozen=True, repr=False)
class ClusterNames:
    """Names of clusters, and the terms that describe them."""

    __repr__ = short_repr

    names: list[str]
    """Name of each cluster. No two are equal."""
    terms: list[Terms]
    """Descriptive terms of each cluster: frequent in the cluster, compared with all texts. The weights
    are relative to the first term of the cluster, which has weight 1."""
    distinct: list[Terms]
    """Discriminating terms of each cluster: frequent in the cluster, compared with its neighbours. The
    weights are relative to the first term."""
    node_names: list[str] | None = None
    """Name of each node of the tree; leaves have the names of their clusters. None without a tree."""
    node_terms: list[Terms] | None = None
    """Descriptive terms of each node of the tree; leaves have those of their clusters. Node 0, which
    contains all texts, has none. None without a tree."""
    node_distinct: list[Terms] | None = None
    """Discriminating terms of each node of the tree: frequent in the node, compared with its siblings.
    Leaves have those of their clusters. None without a tree."""
    failures: dict[int, str] = field(default_factory=dict)
    """For each cluster that the namer could not name, what went wrong."""


@dataclass(frozen=True)
class Source:
    """What names are made from."""

    shares: PhraseShares
    sizes: Ints
    central: Callable[[int, dict[str, float], int], list[str]]
    """Function of a cluster, weights of phrases and a number. It returns this number of texts."""
    fallback: Callable[[int], str]
    """Function that names a cluster without phrases."""


def make_names(
    source: Source,
    neighbours: list[list[int]] | None,
    tree: Tree | None,
    namer: Namer | None,
    n_terms: int,
    progress: ProgressCallback,
) -> ClusterNames:
    """Name the clusters, then the inner nodes of the tree."""
    shares, n = source.shares, len(source.sizes)
    nodes = None if tree is None else TreeNodes(tree, n)
    background = Background.of_clusters(shares.shares, source.sizes)
    near = nearest_by_phrases(background) if neighbours is None else neighbours
    if nodes is not None:
        background = background.with_rows(nodes.add_rows(shares.shares, source.sizes))
    siblings = {} if nodes is None else nodes.siblings()
    spelling = shares.spelling if nodes is None else nodes.spelling_in(shares)
    maker = NameMaker(background, shares.keys, spelling)
    names = [""] * n
    # Large clusters choose first: their names are seen first.
    for cluster in sorted(range(n), key=lambda one: -source.sizes[one]):
        made = maker.name(cluster, near[cluster], siblings.get(cluster, ()))
        names[cluster] = made or number_name(source.fallback(cluster), maker.taken)
    n_descriptive = n_terms if namer is None else max(n_terms, N_TERMS_FOR_TEXTS)
    descriptive = [maker.descriptive(one, n_descriptive) for one in range(n)]
    checked = None if namer is None else CheckedNamer(namer)
    if checked is not None:
        _ask_namer(checked, names, descriptive, source, maker, progress)
    terms = [_relative(maker, one, some, n_terms) for one, some in enumerate(descriptive)]
    distinct = [
        _relative(maker, one, maker.distinct(one, near[one] or _others(one, n), n_terms), n_terms)
        for one in range(n)
    ]
    failures = {} if checked is None else checked.failures
    found = ClusterNames(names, terms, distinct, failures=failures)
    return found if nodes is None else _describe_nodes(found, nodes, maker, siblings, n_terms)


def _ask_namer(
    checked: CheckedNamer,
    names: list[str],
    descriptive: list[list[Weighted]],
    source: Source,
    maker: NameMaker,
    progress: ProgressCallback,
) -> None:
    """Replace generated names by those of the user's function, where it succeeds."""
    generated = list(names)
    taken = {name.casefold() for name in names}
    for cluster, found in enumerate(descriptive):
        progress("calling the namer", cluster, len(names))
        weights = {source.shares.keys[one.phrase]: one.weight for one in found}
        terms = [source.shares.spelling(cluster, one.phrase) for one in found[:N_TERMS_FOR_NAMER]]
        made = checked.name(cluster, source.central(cluster, weights, N_TEXTS_FOR_NAMER), terms)
        if made is None:
            continue
        taken.discard(names[cluster].casefold())
        if made.casefold() in taken:
            made = f"{made} ({generated[cluster]})"
        names[cluster] = number_name(made, taken)
    progress("calling the namer", len(names), len(names))
    maker.taken |= taken


def _describe_nodes(
    found: ClusterNames,
    nodes: TreeNodes,
    maker: NameMaker,
    siblings: dict[int, list[int]],
    n_terms: int,
) -> ClusterNames:
    """Return the same names with names and terms of the nodes."""
    terms, distinct = dict(enumerate(found.terms)), dict(enumerate(found.distinct))
    for node in nodes.inner.tolist():
        row = int(nodes.row_of[node])
        has_siblings = row in siblings  # Node 0 has none.
        terms[row] = (
            _relative(maker, row, maker.descriptive(row, n_terms), n_terms) if has_siblings else []
        )
        distinct[row] = (
            _relative(maker, row, maker.distinct(row, siblings[row], n_terms), n_terms)
            if has_siblings
            else []
        )
    rows = nodes.row_of.tolist()
    return replace(
        found,
        node_names=_name_nodes(nodes, found.names, maker, siblings),
        node_terms=[terms[row] for row in rows],
        node_distinct=[distinct[row] for row in rows],
    )


def _name_nodes(
    nodes: TreeNodes, names: list[str], maker: NameMaker, siblings: dict[int, list[int]]
) -> list[str]:
    """Return a name for each node: that of the cluster for a leaf, else what differs from siblings."""
    by_row = dict(enumerate(names))
    for node in nodes.inner.tolist():
        row = int(nodes.row_of[node])
        made = None if node == 0 else maker.name(row, (), siblings[row])
        by_row[row] = made or number_name(ROOT_NAME, maker.taken)
    return [by_row[row] for row in nodes.row_of.tolist()]


def _others(cluster: int, n: int) -> list[int]:
    return [one for one in range(n) if one != cluster]


def _relative(maker: NameMaker, row: int, found: list[Weighted], limit: int) -> Terms:
    """Return spelled terms with weights relative to the largest one."""
    largest = max((one.weight for one in found), default=1.0)
    return [(maker.spelling(row, one.phrase), one.weight / largest) for one in found[:limit]]
