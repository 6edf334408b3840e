"""Inner nodes of a tree of clusters: shares of phrases, siblings and spellings."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from boostkmeans.documents._names.phrase_shares import PhraseShares
from boostkmeans.documents._names.sample import Ints


class Tree(Protocol):
    """Part of a `ClusterTree` that names need."""

    @property
    def children(self) -> NDArray[np.int32]:
        """Children of each node, padded with -1."""

    @property
    def clusters(self) -> NDArray[np.int32]:
        """Cluster number of each leaf, -1 for other nodes."""


class TreeNodes:
    """Rows of the nodes of a tree: first the clusters by number, then the inner nodes."""

    def __init__(self, tree: Tree, n_clusters: int) -> None:
        self.children = np.asarray(tree.children)
        clusters = np.asarray(tree.clusters)
        self.inner = np.flatnonzero(clusters < 0)
        self.row_of = clusters.astype(np.int64)
        self.row_of[self.inner] = n_clusters + np.arange(len(self.inner))
        self.below: dict[int, list[int]] = {}
        for node in range(len(clusters) - 1, -1, -1):  # Children have higher numbers than their parent.
            row = int(self.row_of[node])
            if clusters[node] >= 0:
                self.below[row] = [int(clusters[node])]
            else:
                self.below[row] = [one for child in self._children(node) for one in self.below[child]]

    def _children(self, node: int) -> list[int]:
        return [int(self.row_of[child]) for child in self.children[node] if child >= 0]

    def siblings(self) -> dict[int, list[int]]:
        """Return the rows of the siblings of each row."""
        found: dict[int, list[int]] = {}
        for node in self.inner.tolist():
            family = self._children(node)
            for row in family:
                found[row] = [other for other in family if other != row]
        return found

    def add_rows(self, shares: csr_array, sizes: Ints) -> csr_array:
        """Return the shares of the clusters, followed by those of the inner nodes."""
        n_clusters = shares.shape[0]
        rows, columns, values = [], [], []
        for i, node in enumerate(self.inner.tolist()):
            below = np.array(self.below[int(self.row_of[node])])
            rows.append(np.full(len(below), i))
            columns.append(below)
            values.append(sizes[below] / max(int(sizes[below].sum()), 1))
        if not rows:
            return shares
        parts = (np.concatenate(rows), np.concatenate(columns))
        members = csr_array((np.concatenate(values), parts), shape=(len(self.inner), n_clusters))
        return csr_array(vstack([shares, members @ shares]))

    def spelling_in(self, shares: PhraseShares) -> Callable[[int, int], str]:
        """Return a function that spells a phrase as the cluster below a row that uses it most."""

        def spelling(row: int, phrase: int) -> str:
            below = self.below[row]
            if len(below) == 1:
                return shares.spelling(below[0], phrase)
            frequency = shares.of_phrase(phrase)
            return shares.spelling(max(below, key=lambda one: frequency.get(one, 0.0)), phrase)

        return spelling
