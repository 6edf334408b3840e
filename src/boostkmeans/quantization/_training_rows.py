"""`training_rows`: the rows of a file that a quantizer is trained on."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from boostkmeans._data import memory
from boostkmeans._data.row_source import ArraySource
from boostkmeans._data.rows import describe
from boostkmeans._steps.problem import stratified_indices
from boostkmeans.io import Vectors
from boostkmeans.quantization._product_quantizer import ProductQuantizer


def training_rows(quantizer: ProductQuantizer, vectors: Vectors, n_rows: int | None = None) -> Any:
    """Return all rows of a file, or a sample, for training a quantizer within the memory limit.

    A sample takes one random row from each of `n_rows` equal ranges of the file. It depends only on
    `quantizer.random_state`, the sizes and the memory limit.

    Parameters
    ----------
    quantizer : ProductQuantizer
        Quantizer that will be fitted.
    vectors : Vectors
        Dense rows of a file. The memory limit is `vectors.max_memory`, by default half of the machine's
        memory.
    n_rows : int, default=None
        Number of rows of the sample. By default all rows, or the largest number that fits into memory.

    Returns
    -------
    Vectors or ArraySource
        `vectors` itself, or the sample. `ProductQuantizer.fit` accepts both.

    Raises
    ------
    MemoryError
        If `n_rows` rows do not fit into memory, or if fewer rows than centroids do.
    """
    n_all, n_fitting = len(vectors), _n_rows_that_fit(quantizer, vectors)
    n_wanted = n_all if n_rows is None else min(n_all, n_rows)
    if n_wanted > n_fitting:
        if n_rows is not None or n_fitting < quantizer.n_centroids:
            raise MemoryError(
                f"Training on {n_wanted:,} rows of {vectors.shape[1]:,} features needs more memory than "
                f"the limit of {memory.format_bytes(_limit(vectors))}, which allows {n_fitting:,} rows. "
                "Train on fewer rows, or raise the limit."
            )
        n_wanted = n_fitting
    return vectors if n_wanted == n_all else _sample(quantizer, vectors, n_wanted)


def _sample(quantizer: ProductQuantizer, vectors: Vectors, n_rows: int) -> ArraySource:
    indices = stratified_indices(len(vectors), n_rows, check_random_state(quantizer.random_state))
    rows = vectors[indices]
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():  # name the row in the file, not in the sample
        row = int(indices[finite.argmin()])
        describe(vectors.read(row, row + 1), None, 1, row)
    return ArraySource(rows, name=vectors.name, feature_names=vectors.feature_names)


def _n_rows_that_fit(quantizer: ProductQuantizer, vectors: Vectors) -> int:
    n_features, float32 = vectors.shape[1], np.dtype(np.float32).itemsize
    # A row as it is in the file, a copy of it divided into subspaces, and a rotated copy.
    n_copies = 2 if quantizer.rotation else 1
    bytes_per_row = n_features * (vectors.dtype.itemsize + float32 * n_copies)
    # All subspaces are clustered at the same time, in the worst case.
    bytes_per_row += quantizer.n_subspaces * memory.PER_ROW
    return max(0, _limit(vectors) - memory.PROCESS) // bytes_per_row


def _limit(vectors: Vectors) -> int:
    return memory.default_memory_limit() if vectors.max_memory is None else vectors.max_memory
