"""Class-based TF-IDF: weights of phrases that are frequent in a cluster and rare elsewhere."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Share that is added to all shares, so that a rare phrase does not win because it is absent elsewhere.
SMOOTHING = 0.004
# Number of neighbours of a cluster, and of phrases by which neighbours are found.
N_NEIGHBOURS = 8
N_PHRASES_FOR_NEIGHBOURS = 50
# Number of clusters whose similarities to all others are computed together.
BLOCK = 512


class Background:
    """Shares of the phrases in groups of clusters, which the shares of a cluster are compared with."""

    def __init__(self, shares: csr_array, overall: Floats) -> None:
        self.shares = shares
        self._overall = overall
        self._scratch = np.zeros(shares.shape[1])

    @classmethod
    def of_clusters(cls, shares: csr_array, sizes: Ints) -> Self:
        """Return the background of all clusters."""
        return cls(shares, np.asarray((sizes / max(int(sizes.sum()), 1)) @ shares).ravel())

    def with_rows(self, shares: csr_array) -> "Background":
        """Return the same background with further rows, which are groups of clusters."""
        return Background(shares, self._overall)

    def row(self, number: int) -> tuple[Ints, Floats]:
        """Return the phrases of a cluster and their shares."""
        part = slice(self.shares.indptr[number], self.shares.indptr[number + 1])
        return self.shares.indices[part], self.shares.data[part]

    def overall(self, phrases: Ints) -> Floats:
        """Return the share of all texts that contain each of the phrases."""
        return self._overall[phrases]

    def mean(self, phrases: Ints, others: Sequence[int]) -> Floats:
        """Return the mean share of each of the phrases in some clusters."""
        if not len(others):
            return np.zeros(len(phrases))
        for other in others:
            indices, values = self.row(other)
            self._scratch[indices] += values
        found = self._scratch[phrases] / len(others)
        for other in others:
            self._scratch[self.row(other)[0]] = 0.0
        return found


def weigh(shares: Floats, elsewhere: Floats) -> Floats:
    """Return share * log(share / share elsewhere), or 0 where the phrase is more frequent elsewhere."""
    ratio = (shares + SMOOTHING) / (elsewhere + SMOOTHING)
    return np.asarray(shares * np.log(np.maximum(ratio, 1.0)))


def nearest_by_phrases(background: Background, n_neighbours: int = N_NEIGHBOURS) -> list[list[int]]:
    """Return the clusters whose weighted phrases have the highest cosine, nearest first."""
    n = background.shares.shape[0]
    indices, values, starts = [], [], [0]
    for number in range(n):
        phrases, shares = background.row(number)
        weights = weigh(shares, background.overall(phrases))
        best = np.argsort(-weights, kind="stable")[:N_PHRASES_FOR_NEIGHBOURS]
        length = float(np.linalg.norm(weights[best]))
        indices.append(phrases[best])
        values.append(weights[best] / length if length > 0 else weights[best])
        starts.append(starts[-1] + len(best))
    rows = csr_array(
        (np.concatenate(values), np.concatenate(indices), starts), shape=background.shares.shape
    )
    found: list[list[int]] = []
    for start in range(0, n, BLOCK):
        cosines = (rows[start : start + BLOCK] @ rows.T).toarray()
        for i, line in enumerate(cosines):
            line[start + i] = 0.0
            order = np.argsort(-line, kind="stable")[:n_neighbours]
            found.append([int(other) for other in order if line[other] > 0])
    return found
