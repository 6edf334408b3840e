"""Sample of the texts of each cluster."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.documents._names.words import MAX_LENGTH

Ints = NDArray[np.int64]

# Number of characters that are read in total (a few seconds), and limits of the texts per cluster.
MAX_CHARACTERS = 4_000_000
MIN_PER_CLUSTER, MAX_PER_CLUSTER = 25, 1000
# Number of texts from which the mean length is estimated.
N_FOR_LENGTH = 1000


def sample_members(texts: Sequence[str], labels: Ints, n_clusters: int) -> list[Ints]:
    """Return the indices of at most a fixed number of random texts of each cluster, in order."""
    random = np.random.default_rng(0)  # Names must not differ between two calls.
    n_texts = MAX_CHARACTERS // max(_mean_length(texts, random), 1)
    limit = min(max(n_texts // n_clusters, MIN_PER_CLUSTER), MAX_PER_CLUSTER)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters))[:-1]
    return [
        members if len(members) <= limit else np.sort(random.choice(members, limit, replace=False))
        for members in np.split(order, ends)
    ]


def texts_at(texts: Sequence[str], where: Ints) -> list[str]:
    """Return some texts. Raise an error if one is not a string."""
    found: list[Any] = [texts[i] for i in where.tolist()]
    for i, text in zip(where.tolist(), found, strict=True):
        if not isinstance(text, str):
            raise ValueError(f"texts must be strings. Got {type(text).__name__} at position {i}.")
    return found


def _mean_length(texts: Sequence[str], random: np.random.Generator) -> int:
    some = texts_at(texts, random.integers(len(texts), size=N_FOR_LENGTH)) if len(texts) else [""]
    return sum(min(len(text), MAX_LENGTH) for text in some) // len(some)
