"""Explored rows: X of any type, read in batches or a few rows at a time, in the frame of a model."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from boostkmeans._data.frame import Array, Floats
from boostkmeans._data.row_source import RowSource, read_type
from boostkmeans._data.rows import Rows
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._runtime.threads import resolve_threads

# Bytes of a batch of rows. The arrays that are computed for a batch need a few times as much memory.
BATCH_BYTES = 2**24
# Maximum number of rows of a batch, if they are short.
MAX_BATCH_ROWS = 2**16


class Batch(NamedTuple):
    """Consecutive rows."""

    begin: int
    rows: Rows

    @property
    def where(self) -> slice:
        """Range of the rows in X."""
        return slice(self.begin, self.begin + self.rows.n_rows)


class ExploredRows:
    """The rows of X in the frame of a fitted model.

    Rows from a file are read in batches, one pass per call of `batches`. Rows in memory are divided into
    the same batches, so that both give the same results.
    """

    def __init__(self, model: CentreModel, X: Any, n_threads: int | None) -> None:
        """Check that the rows fit the model."""
        self.n_threads = resolve_threads(n_threads)
        self._frame = model._frame
        self._source: RowSource | None = None
        self._array: Any = None
        if isinstance(X, RowSource) and not X.is_sparse and X.shape[0] > 0:
            model._validate_source(X, reset=False, whole=False)
            self._source = X
            (n, d), row_bytes = X.shape, X.shape[1] * read_type(X).itemsize
        else:
            self._array = model._validate(X, reset=False)
            n, d = self._array.shape
            row_bytes = _stored_bytes(self._array) // n
        self.n_rows, self.n_features = int(n), int(d)
        self._step = max(1, min(MAX_BATCH_ROWS, BATCH_BYTES // max(1, row_bytes)))
        self._centres = model.cluster_centers_

    def batches(self) -> Iterator[Batch]:
        """Iterate over all rows."""
        for begin in range(0, self.n_rows, self._step):
            array = self._read(begin, min(begin + self._step, self.n_rows))
            yield Batch(begin, Rows.in_frame(array, self._frame, self.n_threads, first_row=begin))

    def centres_for(self, rows: Rows) -> Floats:
        """Return the centres of the model in the frame of a batch.

        Batches of a sparse matrix are not shifted, except those that are nearly dense.
        """
        return rows.frame.enter(self._centres)

    def centres(self) -> Floats:
        """Return the centres of the model in the units of the frame, without its shift."""
        return np.ascontiguousarray(np.ldexp(self._centres, self._frame.exponent))

    def multiplied(self, batch: Batch, matrix: Any = None) -> Floats:
        """Return the rows of a batch times a matrix, in the units of the frame, without its shift.

        The matrix may be sparse. None returns the rows as they are, as a dense array.
        """
        product = batch.rows.scaled() if matrix is None else batch.rows.scaled() @ matrix
        dense: Floats = product.toarray() if sparse.issparse(product) else product
        return np.ldexp(dense, self._frame.exponent)

    def in_user_units(self, squared: Floats) -> Floats:
        """Return distances in the units of X for squared distances in the frame."""
        with np.errstate(over="ignore"):  # Distances beyond float64 are infinite.
            return np.ldexp(np.sqrt(squared), -self._frame.exponent)

    def _read(self, begin: int, end: int) -> Array:
        if self._source is not None:
            return self._source.read(begin, end).astype(read_type(self._source), copy=False)
        some: Array = self._array[begin:end]
        return some


def _stored_bytes(array: Any) -> int:
    """Return the size of an array, or of the stored values of a sparse matrix and their columns."""
    if sparse.issparse(array):
        return int(array.data.nbytes + array.indices.nbytes)
    return int(array.nbytes)
