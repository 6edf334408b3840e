"""Queries, and what is found for them, some at a time."""

from collections.abc import Iterator
from typing import Any

from boostkmeans import ProductQuantizer
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.cli.commands.pq.files import as_source
from boostkmeans.io import Vectors
from boostkmeans.quantization import Codes, Neighbors

# Queries that are looked up at a time: many beside the cost of a call, few beside patience.
QUERIES_AT_ONCE = 256


def check_queries(quantizer: ProductQuantizer, queries: Vectors) -> None:
    """Raises the errors that a search would, with the numbers of rows in the file.

    Encoding takes a moment, beside a search.
    """
    for _ in quantizer.encode_batches(queries):
        pass


def found_by_batches(
    quantizer: ProductQuantizer,
    queries: Any,
    codes: Codes,
    k: int,
    *,
    symmetric: bool,
    progress: ProgressCallback,
) -> Iterator[Neighbors]:
    """The k nearest codes of each query of a source, some queries after the other."""
    n_queries = queries.shape[0]
    progress("searching", 0, n_queries)
    for begin in range(0, n_queries, QUERIES_AT_ONCE):
        end = min(begin + QUERIES_AT_ONCE, n_queries)
        some = as_source(queries.read(begin, end), queries)
        yield quantizer.search(some, codes, k, symmetric=symmetric)
        progress("searching", end, n_queries)
