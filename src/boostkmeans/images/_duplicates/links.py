"""Links between similar images, and the groups that they connect."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Indices = NDArray[np.int64]

# Number of links after which they are merged into components, which bounds the memory.
MAX_WAITING = 1 << 20


class Links:
    """Connected components of images, built from links that arrive in batches.

    Parameters
    ----------
    n_images : int
        Number of images.
    """

    def __init__(self, n_images: int) -> None:
        self._components = np.arange(n_images)
        self._waiting: list[tuple[Indices, Indices]] = []
        self._n_waiting = 0
        self.similarities = np.zeros(n_images, dtype=np.float32)
        """Similarity of each image to the image most similar to it, among those linked to it."""

    def add(self, first: Indices, second: Indices, similarities: NDArray[np.float32]) -> None:
        """Link images in pairs."""
        for places in (first, second):
            np.maximum.at(self.similarities, places, similarities)
        self._waiting.append((first, second))
        self._n_waiting += len(first)
        if self._n_waiting > MAX_WAITING:
            self._merge()

    def groups(self) -> list[Indices]:
        """Return the images of each component with at least two images, in ascending order."""
        self._merge()
        order = np.argsort(self._components, kind="stable")
        sizes = np.bincount(self._components)
        parts = np.split(order, np.cumsum(sizes)[:-1]) if len(order) else []
        found = [part for part in parts if len(part) > 1]
        return sorted(found, key=lambda part: int(part[0]))

    def _merge(self) -> None:
        if not self._waiting:
            return
        first, second = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        n = len(self._components)
        ends = (self._components[first], self._components[second])
        graph = coo_array((np.ones(len(first), dtype=np.int8), ends), shape=(n, n))
        _, merged = connected_components(graph, directed=False)
        self._components = merged[self._components]
        self._waiting, self._n_waiting = [], 0
