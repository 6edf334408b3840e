"""`check_memory`: compare the memory that rows and centres need with the user's limit."""

from boostkmeans._data import memory
from boostkmeans.io._vectors import Vectors


def check_memory(vectors: Vectors, n_clusters: int, n_rows: int | None = None) -> None:
    """Raise MemoryError if rows and centres need more memory than `vectors.max_memory`.

    Parameters
    ----------
    vectors : Vectors
        The rows. Without a `max_memory`, nothing is checked.
    n_clusters : int
        Number of centres.
    n_rows : int, default=None
        Number of rows that are in memory at the same time. None means that rows are processed in small
        batches.
    """
    limit, n_features = vectors.max_memory, vectors.shape[1]
    row_bytes = 0 if vectors.is_sparse else vectors.nbytes // max(1, len(vectors))
    need = memory.MemoryEstimate(1 if n_rows is None else n_rows, row_bytes, n_clusters, n_features)
    if limit is None or need.fits(limit):
        return
    rows = "" if n_rows is None else f"{n_rows:,} rows and "
    raise MemoryError(
        f"{rows}{n_clusters:,} clusters of {n_features:,} features need at least "
        f"{memory.format_bytes(need.in_memory)} of memory; the limit is {memory.format_bytes(limit)}."
    )
