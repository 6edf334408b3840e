"""`read_rows`: the rows of a file in memory, or a sample of them."""

from typing import Any

import numpy as np

from boostkmeans.io import Vectors, check_memory


def read_rows(vectors: Vectors, n_clusters: int, max_rows: int | None, seed: int) -> Any:
    """Return all rows, or a random sample in the order of the file."""
    n_all = len(vectors)
    n_rows = n_all if max_rows is None else min(n_all, max_rows)
    try:
        check_memory(vectors, n_clusters, n_rows)
    except MemoryError as error:
        raise MemoryError(f"{error} Use fewer rows with --max-rows.") from None
    if n_rows == n_all:
        return vectors.load()
    return vectors[np.sort(np.random.default_rng(seed).choice(n_all, n_rows, replace=False))]
