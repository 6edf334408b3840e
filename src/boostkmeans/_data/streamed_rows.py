"""Streamed rows: data larger than memory, which every pass reads block by block from a source."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Array, Floats, Frame, fit_frame
from boostkmeans._data.row_source import (
    BATCH_BYTES,
    RowSource,
    estimate_memory,
    memory_limit,
    read_type,
)
from boostkmeans._data.rows import (
    CHECKSUM_MODULUS,
    Indices,
    RowBlock,
    Rows,
    array_checksum,
    describe,
    unit_factors,
)

# Bytes per read when single rows are selected.
BYTES_TO_PICK_FROM = 2**23


class StreamedRows:
    """Rows of a source, in blocks. The next block is read while the current one is processed.

    It implements the interface `RowSet`.
    """

    stays_sparse = False
    in_memory = False

    def __init__(
        self, source: RowSource, metric: str, n_threads: int, *, block_rows: int, max_sample: int
    ) -> None:
        """Describe all rows in one pass. Raise NotFiniteError if a value is not finite."""
        self.n_rows, self.n_features = source.shape
        self.row_bytes = self.n_features * read_type(source).itemsize
        self.n_blocks = -(-self.n_rows // block_rows)
        self.max_sample: int | None = max_sample
        self._block_rows = block_rows
        self._source = source
        self._metric = metric
        self._n_threads = n_threads
        self._buffers: list[Array] = []
        self.frame = self._fit_frame()

    @classmethod
    def within_memory(
        cls, source: RowSource, metric: str, n_clusters: int, n_threads: int, *, weighted: bool = False
    ) -> "StreamedRows":
        """Return rows whose blocks and samples fit into the memory limit of the source."""
        need = estimate_memory(source, n_clusters, weighted=weighted)
        block_rows, max_sample = need.split(memory_limit(source))
        return cls(source, metric, n_threads, block_rows=block_rows, max_sample=max_sample)

    def _fit_frame(self) -> Frame:
        low, high = np.full(self.n_features, np.inf), np.full(self.n_features, -np.inf)
        for begin, array in self._arrays(range(self.n_blocks)):
            factors = unit_factors(array, self._metric, self._n_threads, begin)
            lowest, highest = describe(array, factors, self._n_threads, begin)
            np.minimum(low, lowest, out=low)
            np.maximum(high, highest, out=high)
        return fit_frame(self._points, self.n_rows, read_type(self._source), low, high, self._metric)

    def block_order(self, rng: np.random.RandomState) -> list[int]:
        """See `RowSet`. The order is random."""
        return [int(number) for number in rng.permutation(self.n_blocks)]

    def blocks_containing(self, indices: Indices) -> list[int]:
        """See `RowSet`."""
        return [int(number) for number in np.unique(np.asarray(indices) // self._block_rows)]

    def blocks(self, order: list[int] | None = None) -> Iterator[RowBlock]:
        """See `RowSet`."""
        for begin, array in self._arrays(range(self.n_blocks) if order is None else order):
            factors = unit_factors(array, self._metric, self._n_threads, begin)
            where = slice(begin, begin + len(array))
            yield RowBlock(begin // self._block_rows, where, Rows(array, self.frame, factors))

    def block_bounds(self, number: int) -> tuple[int, int]:
        """See `RowSet`."""
        return number * self._block_rows, min((number + 1) * self._block_rows, self.n_rows)

    def sample(self, indices: Indices) -> Rows:
        """See `RowSet`."""
        array = self._pick(np.asarray(indices))
        factors = unit_factors(array, self._metric, self._n_threads)
        return Rows(array, self.frame, factors)

    def take(self, indices: Indices) -> Floats:
        """See `RowSet`."""
        return self.frame.enter(self._points(np.asarray(indices)))

    def fingerprint(self, indices: NDArray[np.int64]) -> list[Array]:
        """See `RowSet`."""
        return [self.take(indices)]

    def checksum(self, n_threads: int) -> int:
        """See `RowSet`."""
        found = (
            array_checksum(array, n_threads, begin)
            for begin, array in self._arrays(range(self.n_blocks))
        )
        return sum(found) % CHECKSUM_MODULUS

    def _points(self, indices: NDArray[np.int64]) -> Floats:
        """Return some rows in the user's space, scaled to unit length for metric "cosine"."""
        array = self._pick(indices)
        factors = unit_factors(array, self._metric, self._n_threads)
        points = array.astype(np.float64)
        if factors is not None:
            points *= factors[:, None]
        return points

    def _pick(self, indices: NDArray[np.int64]) -> Array:
        """Read some rows. A read starts at the next requested row and has a fixed number of bytes."""
        picked = np.empty((len(indices), self.n_features), dtype=read_type(self._source))
        at_once = max(1, BYTES_TO_PICK_FROM // self.row_bytes)
        at = 0
        while at < len(indices):
            begin = int(indices[at])
            until = int(np.searchsorted(indices, begin + at_once))
            array = self._source.read(begin, int(indices[until - 1]) + 1)
            picked[at:until] = array[indices[at:until] - begin]
            at = until
        return picked

    def _arrays(self, order: Sequence[int]) -> Iterator[tuple[int, Array]]:
        """Yield blocks as arrays, each with the index of its first row.

        Two buffers alternate, so an array is valid until the next one is yielded.
        """
        if not self._buffers:
            shape = (min(self._block_rows, self.n_rows), self.n_features)
            self._buffers = [np.empty(shape, dtype=read_type(self._source)) for _ in range(2)]
        if len(order) == 0:
            return
        with ThreadPoolExecutor(1) as reader:
            pending = reader.submit(self._read, order[0], self._buffers[0])
            for i, number in enumerate(order):
                array = pending.result()
                if i + 1 < len(order):
                    pending = reader.submit(self._read, order[i + 1], self._buffers[(i + 1) % 2])
                yield number * self._block_rows, array

    def _read(self, number: int, buffer: Array) -> Array:
        begin = number * self._block_rows
        end = min(begin + self._block_rows, self.n_rows)
        array = buffer[: end - begin]
        if self._source.dtype == array.dtype:
            return self._source.read(begin, end, array)
        step = max(1, BATCH_BYTES // self.row_bytes)
        for at in range(begin, end, step):  # In pieces: there is memory for one copy only.
            some = self._source.read(at, min(at + step, end))
            array[at - begin : at - begin + len(some)] = some
        return array
