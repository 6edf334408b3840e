"""Whether the arrays of a model file are those of a model. Files come from strangers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._models.layout import Tensor
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._steps.cluster_tree import ClusterTree, Nodes, levels
from boostkmeans._storage.fields import Fields, fail

Arrays = Mapping[str, NDArray[Any]]


class Checker:
    """Raises DataFormatError for the file (or the model) that it was made for."""

    def __init__(self, source: str, remedy: str) -> None:
        self._source = source
        self._remedy = remedy

    def require(self, good: bool | np.bool_, what: str) -> None:
        """Says what is wrong, unless it is good."""
        if not good:
            raise DataFormatError(f"{self._source}: {what}. {self._remedy}")

    def names(self, found: set[str], expected: set[str]) -> None:
        """That these arrays are there, and no others."""
        missing, others = sorted(expected - found), sorted(found - expected)
        self.require(not missing, f"without tensor {', '.join(map(repr, missing))}")
        self.require(not others, f"unexpected tensor {escape_untrusted(', '.join(map(repr, others)))}")

    def layout(self, arrays: Arrays, table: Mapping[str, Tensor], lengths: dict[str, int]) -> None:
        """Types, shapes and ranges. `lengths` has those dimensions that are known already."""
        for name, tensor in table.items():
            array, dtype = arrays[name], np.dtype(tensor.dtype)
            self.require(
                array.dtype == dtype, f"tensor {name!r} should be of {dtype}, and is of {array.dtype}"
            )
            good = array.ndim == len(tensor.dimensions)
            good = good and all(
                lengths.setdefault(dimension, length) == length
                for dimension, length in zip(tensor.dimensions, array.shape, strict=True)
            )
            expected = ", ".join(f"{one}={lengths.get(one, '?')}" for one in tensor.dimensions)
            self.require(
                good, f"tensor {name!r} should be of shape ({expected}), and is of {array.shape}"
            )
        for name, tensor in table.items():
            self._range(name, arrays[name], tensor, lengths)

    def _range(self, name: str, array: NDArray[Any], tensor: Tensor, lengths: Mapping[str, int]) -> None:
        if array.dtype.kind == "f":
            good = not np.isnan(array).any() if tensor.may_be_infinite else np.isfinite(array).all()
            self.require(good, f"tensor {name!r} has NaN or infinity")
        if array.size:
            self.require(array.min() >= tensor.low, f"tensor {name!r} has a value below {tensor.low}")
            if tensor.below is not None:
                most = lengths[tensor.below] - 1
                self.require(array.max() <= most, f"tensor {name!r} has a value above {most}")

    def clusters(self, arrays: Arrays, n_rows: int) -> None:
        """That there are some, and that every row is in one."""
        k, d = arrays["cluster_centers"].shape
        self.require(k > 0 and d > 0, f"{k} centres of {d} features")
        sizes = arrays["cluster_sizes"]
        total = _exact_sum(sizes)
        self.require(total == n_rows, f"cluster_sizes add up to {total}, but n_rows is {n_rows}")
        if "labels" in arrays:
            counts = np.bincount(arrays["labels"], minlength=k)
            self.require(
                (counts == sizes).all(), "labels are not as many of each cluster as cluster_sizes"
            )

    def tree(self, tree: ClusterTree, n_clusters: int, n_rows: int) -> None:
        """That nodes hang together as `ClusterTree` says."""
        n, n_sections = tree.children.shape
        self.require(n > 0 and n_sections >= 2, f"a tree of {n} nodes with up to {n_sections} parts")
        has = tree.children >= 0
        n_parts = has.sum(axis=1)
        self.require(
            (has == (np.arange(n_sections) < n_parts[:, None])).all() and (n_parts != 1).all(),
            "a node of the tree has one part, or a gap between its parts",
        )
        inner = np.flatnonzero(n_parts)
        self.require(
            np.array_equal(np.sort(tree.splits), inner), "tree.splits are not the nodes with parts"
        )
        parts, whole = (
            tree.children[tree.splits][has[tree.splits]],
            np.repeat(tree.splits, n_parts[tree.splits]),
        )
        self.require(
            np.array_equal(parts, np.arange(1, n)) and (parts > whole).all(),
            "the parts of the tree's nodes are not numbered by its splits",
        )
        self.require(
            tree.parents[0] == -1 and np.array_equal(tree.parents[1:], whole),
            "tree.parents do not agree with tree.children",
        )
        self.require(
            np.array_equal(tree.clusters, _leaves_from_left(tree.children, n_parts)),
            "tree.clusters do not number the leaves from left to right",
        )
        leaf = np.flatnonzero(n_parts == 0)
        self.require(len(leaf) == n_clusters, f"a tree of {len(leaf)} leaves for {n_clusters} clusters")
        self._tree_sizes(tree, has, leaf, n_rows)

    def _tree_sizes(
        self, tree: ClusterTree, has: NDArray[np.bool_], leaf: NDArray[np.intp], n_rows: int
    ) -> None:
        self.require(tree.sizes.max() <= n_rows, f"a node of the tree has more than {n_rows} rows")
        sums = np.where(has, tree.sizes[tree.children], 0).sum(axis=1)
        inner = has[:, 0]
        self.require((sums == tree.sizes)[inner].all(), "tree.sizes of parts do not add up")
        if len(tree.labels):  # rows without weight are in a leaf, but do not count there
            counts = np.bincount(tree.labels, minlength=len(leaf))
            self.require(
                (counts[tree.clusters[leaf]] >= tree.sizes[leaf]).all(),
                "tree.labels have fewer rows in a leaf than tree.sizes",
            )


def _leaves_from_left(children: Nodes, n_parts: NDArray[np.intp]) -> Nodes:
    """The number of each leaf, and -1 for other nodes. Parts have higher numbers than their node."""
    n_leaves = np.where(n_parts == 0, 1, 0)
    by_level = levels(children)
    for nodes in by_level[::-1]:
        n_leaves[nodes] = np.where(children[nodes] >= 0, n_leaves[children[nodes]], 0).sum(axis=1)
    first = np.zeros(len(children), dtype=np.int32)
    for nodes in by_level:
        parts = children[nodes]
        begins = np.cumsum(np.where(parts >= 0, n_leaves[parts], 0), axis=1)
        begins = np.concatenate([np.zeros((len(nodes), 1), dtype=begins.dtype), begins[:, :-1]], axis=1)
        there = parts >= 0
        first[parts[there]] = (first[nodes][:, None] + begins)[there]
    return np.where(n_parts == 0, first, np.int32(-1))


def _exact_sum(sizes: NDArray[np.int64]) -> int:
    """Which int64 itself might not hold."""
    half = 32
    return (int((sizes >> half).sum()) << half) + int((sizes & (2**half - 1)).sum())


def names_of_features(header: Fields, n_features: int) -> dict[str, Any]:
    """The attribute that has them, if the file does."""
    if header.values.get("feature_names") is None:
        return {}
    names = header.items("feature_names")
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        fail(header.path, "header.feature_names", f"{n_features} texts", names)
    return {"feature_names_in_": np.array(names, dtype=object)}
