"""`search_batches`: search for many queries, one batch at a time."""

from collections.abc import Iterator

from numpy.typing import ArrayLike

from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io import Vectors
from boostkmeans.quantization._neighbors import Neighbors
from boostkmeans.quantization._product_quantizer import ProductQuantizer

# Number of queries per batch: the cost of a call is negligible, and progress is reported often.
QUERIES_PER_BATCH = 256


def search_batches(
    quantizer: ProductQuantizer,
    queries: Vectors,
    codes: ArrayLike,
    k: int = 10,
    *,
    symmetric: bool = False,
    progress: ProgressCallback | None = None,
) -> Iterator[Neighbors]:
    """Yield the nearest codes of queries in a file, one batch of queries at a time.

    All queries are checked before the first search, so that an error names the row in the file.

    Parameters
    ----------
    quantizer : ProductQuantizer
        Fitted quantizer.
    queries : Vectors
        Queries, e.g. from `boostkmeans.io.open_vectors`.
    codes : array-like of shape (n, n_subspaces)
        Codes to search among, as `quantizer.encode` returns them.
    k : int, default=10
        Number of codes to return for each query.
    symmetric : bool, default=False
        Encode the queries, too, and compare codes with codes.
    progress : callable, default=None
        Called as `progress(what, done, total)` with numbers of queries.

    Yields
    ------
    Neighbors
        Squared distances and row numbers of the k nearest codes of each query of the batch.
    """
    check_queries(quantizer, queries)
    report = progress or ignore_progress
    n_queries = len(queries)
    report("searching", 0, n_queries)
    for begin in range(0, n_queries, QUERIES_PER_BATCH):
        end = min(begin + QUERIES_PER_BATCH, n_queries)
        yield quantizer.search(queries.between(begin, end), codes, k, symmetric=symmetric)
        report("searching", end, n_queries)


def check_queries(quantizer: ProductQuantizer, vectors: Vectors) -> None:
    """Raise an error if there are no rows, or if a value is not finite.

    The rows are encoded and the codes discarded. This takes little time compared with a search.
    """
    for _ in quantizer.encode_batches(vectors):
        pass
