"""Sample of the texts of each cluster."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Number of texts that are read in total, and the limits per cluster.
MAX_TEXTS = 60_000
MIN_PER_CLUSTER, MAX_PER_CLUSTER = 60, 1000


def sample_members(labels: Ints, n_clusters: int) -> list[Ints]:
    """Return the indices of at most a fixed number of random texts of each cluster, in order."""
    limit = min(max(MAX_TEXTS // max(n_clusters, 1), MIN_PER_CLUSTER), MAX_PER_CLUSTER)
    random = np.random.default_rng(0)  # Names must not differ between two calls.
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
