"""Checks of the arguments of `name_clusters`."""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._runtime.parameter_checks import int_range
from boostkmeans.documents._names.sample import Ints
from boostkmeans.documents._names.tree_nodes import Tree

OWNER = "name_clusters"


def as_texts(texts: Any) -> Sequence[str]:
    """Return a sequence that can be indexed by position, without copying a list."""
    if isinstance(texts, str | bytes):
        raise ValueError("texts must be a sequence with one string per row. Got a single string.")
    if isinstance(texts, list | tuple):
        return texts
    # Index of a pandas Series is a label, not a position.
    return list(texts.tolist() if hasattr(texts, "tolist") else texts)


def as_labels(labels: Any, n_texts: int) -> Ints:
    """Return the labels as integers of at least 0, one per text."""
    values = np.asarray(labels)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise ParameterError("labels", "one int per text", labels, owner=OWNER)
    if len(values) != n_texts:
        raise ParameterConflictError(f"There are {n_texts:,} texts, but {len(values):,} labels.")
    if values.size and values.min() < 0:
        raise ParameterError("labels", "ints of at least 0", int(values.min()), owner=OWNER)
    return values.astype(np.int64)


def as_number_of_clusters(n_clusters: Any, labels: Ints) -> int:
    """Return the number of clusters: as given, or from the largest label."""
    least = int(labels.max(initial=-1)) + 1
    if n_clusters is None:
        return least
    if not isinstance(n_clusters, Integral) or isinstance(n_clusters, bool) or n_clusters < 1:
        raise ParameterError("n_clusters", int_range(1), n_clusters, owner=OWNER)
    if n_clusters < least:
        raise ParameterConflictError(
            Message(
                "{n_clusters} is too small: the largest label is {largest}.",
                n_clusters=Parameter("n_clusters", n_clusters),
                largest=least - 1,
            )
        )
    return int(n_clusters)


def check_options(n_terms: Any, namer: Any, stop_words: Any) -> None:
    """Raise an error for options of the wrong type."""
    if not isinstance(n_terms, Integral) or isinstance(n_terms, bool) or n_terms < 0:
        raise ParameterError("n_terms", int_range(0), n_terms, owner=OWNER)
    check_namer(namer, OWNER)
    good = stop_words is None or stop_words == "english"
    if not good and not isinstance(stop_words, str) and isinstance(stop_words, Iterable):
        good = all(isinstance(word, str) for word in stop_words)
    if not good:
        raise ParameterError(
            "stop_words", '"english", a sequence of words or None', stop_words, owner=OWNER
        )


def check_namer(namer: Any, owner: str) -> None:
    """Raise an error if the namer is not a function."""
    if namer is not None and not callable(namer):
        raise ParameterError("namer", "a function of texts and terms, or None", namer, owner=owner)


def as_neighbours(neighbours: Any, n_clusters: int) -> list[list[int]]:
    """Return the neighbours of each cluster, without the cluster itself and without repetition."""
    found = [list(dict.fromkeys(np.asarray(some, dtype=np.int64).tolist())) for some in neighbours]
    if len(found) != n_clusters:
        raise ParameterConflictError(
            Message(
                "{neighbours} has {n} rows for {n_clusters} clusters.",
                neighbours=Parameter("neighbours"),
                n=len(found),
                n_clusters=n_clusters,
            )
        )
    for some in found:
        for one in some:
            if not 0 <= one < n_clusters:
                raise ParameterError(
                    "neighbours", f"clusters from 0 to {n_clusters - 1}", one, owner=OWNER
                )
    return [[one for one in some if one != cluster] for cluster, some in enumerate(found)]


def check_tree(tree: Tree | None, n_clusters: int) -> None:
    """Raise an error if the leaves of the tree are not the clusters."""
    if tree is None:
        return
    leaves = np.sort(np.asarray(tree.clusters)[np.asarray(tree.clusters) >= 0])
    if not np.array_equal(leaves, np.arange(n_clusters)):
        raise ParameterConflictError(
            Message(
                "{tree} has {n} leaves for {n_clusters} clusters.",
                tree=Parameter("tree"),
                n=len(leaves),
                n_clusters=n_clusters,
            )
        )
