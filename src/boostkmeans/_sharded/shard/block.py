"""Block: the rows of one shard as an array or CSR matrix, and what a fit must know about them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Array, Floats
from boostkmeans._data.rows import (
    DTYPES,
    SPARSE_DTYPES,
    RowLengthError,
    array_checksum,
    canonical,
    check_finite,
    describe,
    unit_factors,
)
from boostkmeans._runtime.errors import DataFormatError, FeatureCountError, NotFiniteError
from boostkmeans._runtime.object_size import SizedByFields


@contextmanager
def errors_name_block(name: str, first_row: int = 0) -> Iterator[None]:
    """Let errors about the rows of a block name the block and the row.

    `first_row` is the number of its first row in its file or array.
    """
    try:
        yield
    except NotFiniteError as error:
        problem = f"The value {error.value} in column {error.column} is not finite."
        place = f"row {first_row + error.row}"
        raise DataFormatError(problem, file=name, place=place, remedy="Remove or replace it.") from None
    except RowLengthError as error:
        problem = f"The row has length {error.length:g}, which cannot be scaled to unit length."
        place = f"row {first_row + error.row}"
        raise DataFormatError(problem, file=name, place=place, remedy=error.remedy) from None
    except FeatureCountError as error:
        problem = f"It has {error.n_features} features, but the model has {error.n_expected}."
        raise DataFormatError(problem, file=name) from None


@dataclass(frozen=True)
class BlockDescription(SizedByFields):
    """Shape, type and range of a block, and the sum of its weights."""

    n_rows: int
    n_features: int
    dtype: str
    is_sparse: bool
    n_stored: int
    """Number of stored values of a sparse block."""
    low: Floats | None
    """Minimum of each column; None for a sparse block without rows."""
    high: Floats | None
    n_positive: int
    """Number of rows of positive weight."""
    total_weight: float
    min_weight: float
    max_weight: float


def core_array(raw: Any, name: str) -> Any:
    """Return a block in a type that the core reads, without a copy if possible."""
    if sparse.issparse(raw):
        matrix = raw.tocsr()
        kind = matrix.dtype if matrix.dtype in SPARSE_DTYPES else np.float64
        return canonical(matrix.astype(kind, copy=False))
    array = np.asarray(raw)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise DataFormatError(
            f"A block must be a 2-D array of numbers. This one has shape {array.shape} and type "
            f"{array.dtype}.",
            file=name,
        )
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    native = array.dtype.newbyteorder("=")
    return array.astype(native if native in DTYPES else np.float64, copy=False)


def describe_block(
    block: Any, weights: Array | None, metric: str, name: str, first_row: int = 0
) -> BlockDescription:
    """Describe a block. Raise an error that names the block and the row if a value is not finite.

    `first_row` is the number of the first row in its file.
    """
    n, d = block.shape
    with errors_name_block(name, first_row):
        low, high = _range(block, metric)
    values = np.ones(n) if weights is None else checked_weights(weights, n, name, first_row)
    return BlockDescription(
        n_rows=n,
        n_features=d,
        dtype=str(block.dtype),
        is_sparse=sparse.issparse(block),
        n_stored=int(block.nnz) if sparse.issparse(block) else n * d,
        low=low,
        high=high,
        n_positive=int(np.count_nonzero(values)),
        total_weight=_sum_of(values),
        min_weight=float(values.min(initial=np.inf)),
        max_weight=float(values.max(initial=0.0)),
    )


def _sum_of(weights: Floats) -> float:
    """Return the sum of weights, which may be infinite. The driver then refuses all weights."""
    with np.errstate(over="ignore"):
        return float(weights.sum())


def _range(block: Any, metric: str) -> tuple[Floats | None, Floats | None]:
    """Return the minimum and maximum of each column of the rows, scaled as the metric says."""
    if block.shape[0] == 0:
        return None, None
    factors = unit_factors(block, metric, 1)
    if not sparse.issparse(block):
        return describe(block, factors, 1)
    check_finite(block)
    if factors is not None:  # Rows of unit length.
        return np.full(block.shape[1], -1.0), np.ones(block.shape[1])
    return (
        block.min(axis=0).toarray().ravel().astype(np.float64),
        block.max(axis=0).toarray().ravel().astype(np.float64),
    )


def checked_weights(weights: Any, n_rows: int, name: str, first_row: int = 0) -> Floats:
    """Return the weights of a block as float64. Raise DataFormatError if they are invalid."""
    values: Floats = np.asarray(weights, dtype=np.float64)
    if values.shape != (n_rows,):
        problem = f"There are weights of shape {values.shape} for {n_rows} rows."
    elif not np.isfinite(values).all():
        problem = f"The weight of row {first_row + int((~np.isfinite(values)).argmax())} is not finite."
    elif (values < 0).any():
        problem = f"The weight of row {first_row + int((values < 0).argmax())} is negative."
    else:
        return values
    raise DataFormatError(problem, file=name)


def block_checksum(block: Any, first_row: int) -> int:
    """Return a checksum of the values of a block, whose rows are numbered from `first_row`."""
    return array_checksum(block, 1, first_row) if block.shape[0] else 0


def take_rows(block: Any, indices: NDArray[np.int64]) -> Any:
    """Copy some rows of a block."""
    return block[indices]
