"""Sharded rows: the blocks of a data set on the workers, and what the driver knows about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Array, Floats, Frame, exponent_for, fit_frame
from boostkmeans._data.rows import CHECKSUM_MODULUS, MAX_EXPANDED_CELLS, MIN_EXPANDED_DENSITY
from boostkmeans._data.weights import RowWeights, check_total
from boostkmeans._runtime.errors import (
    DataFormatError,
    EmptyDataError,
    InvalidValuesError,
    Message,
    Parameter,
)
from boostkmeans._sharded.backend import Reference
from boostkmeans._sharded.shard.block import (
    BlockDescription,
    block_checksum,
    describe_block,
    take_rows,
)
from boostkmeans._sharded.shard.view import view_shard
from boostkmeans._sharded.tasks import Tasks

# Minimum number of shards for two waves.
MIN_SHARDS_OF_WAVES = 4


@dataclass(frozen=True)
class ShardedRows:
    """Rows in blocks, in a common frame. The position of a block is its number."""

    tasks: Tasks
    blocks: tuple[Reference, ...]
    views: tuple[Reference, ...]
    descriptions: tuple[BlockDescription, ...]
    names: tuple[str, ...]
    frame: Frame
    stays_sparse: bool
    weights: RowWeights
    """Weights without their values, which are on the workers. `values` is an empty array if they
    differ."""

    @classmethod
    def describe(
        cls,
        tasks: Tasks,
        blocks: Sequence[Reference],
        names: Sequence[str],
        weights: Sequence[Reference] | None,
        metric: str,
        owner: str,
        first_rows: Sequence[int] | None = None,
    ) -> "ShardedRows":
        """Describe all blocks. Raise an error that names a bad block.

        `first_rows` has the number of the first row of each block in its file, for messages.
        """
        own = [None] * len(blocks) if weights is None else list(weights)
        first_rows = [0] * len(blocks) if first_rows is None else first_rows
        found: list[BlockDescription] = tasks.get(
            *[
                tasks.submit(describe_block, *one, metric, name, first)
                for *one, name, first in zip(blocks, own, names, first_rows, strict=True)
            ]
        )
        _check_widths(found, names, owner)
        sparse = _stays_sparse(found)
        described = tuple(found)
        frame = _common_frame(tasks, blocks, described, metric, sparse)
        row_weights = _common_weights(described, weights is not None)
        unit = None if row_weights.values is None else row_weights.unit
        views = [
            tasks.submit(view_shard, block, weight, number, name, frame, sparse, unit)
            for number, (block, weight, name) in enumerate(zip(blocks, own, names, strict=True))
        ]
        return cls(
            tasks, tuple(blocks), tuple(views), described, tuple(names), frame, sparse, row_weights
        )

    @property
    def n_shards(self) -> int:
        """Number of blocks."""
        return len(self.blocks)

    @cached_property
    def waves(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the shards that sweep at the same time. See `waves_of`."""
        return waves_of(self.n_shards)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Number of rows of each block."""
        return tuple(one.n_rows for one in self.descriptions)

    @cached_property
    def first_positive(self) -> tuple[int, ...]:
        """For each block, the number of rows of positive weight in the blocks before it."""
        weighted = self.weights.values is not None
        numbers = [one.n_positive if weighted else one.n_rows for one in self.descriptions]
        return (0, *(int(one) for one in np.cumsum(numbers)[:-1]))

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.descriptions[0].n_features

    @property
    def n_blocks(self) -> int:
        """Number of blocks, by the name that checkpoints use."""
        return self.n_shards

    def fingerprint(self, indices: NDArray[np.int64]) -> list[Array]:
        """Return arrays that identify the data, from some rows given by ascending indices."""
        parts: list[Array] = []
        for part in self.take(indices):
            parts += [part.data, part.indices, part.indptr] if hasattr(part, "indptr") else [part]
        totals = [[one.n_rows, one.total_weight] for one in self.descriptions]
        return [*parts, np.array(totals)]

    def checksum(self, n_threads: int) -> int:
        """Return a checksum of the values of all rows, which takes a pass over them on the workers."""
        firsts = np.cumsum([0, *self.lengths[:-1]]).tolist()
        found: list[int] = self.tasks.get(
            *[
                self.tasks.submit(block_checksum, block, first)
                for block, first in zip(self.blocks, firsts, strict=True)
            ]
        )
        return sum(found) % CHECKSUM_MODULUS

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, on average for sparse rows."""
        size = sum(one.n_stored * np.dtype(one.dtype).itemsize for one in self.descriptions)
        return max(1, size // self.n_rows)

    @property
    def shards(self) -> list[tuple[Reference, Reference]]:
        """Block and view of each shard."""
        return list(zip(self.blocks, self.views, strict=True))

    def take(self, indices: NDArray[np.int64]) -> list[Any]:
        """Copy some rows, given by ascending indices, to the driver, as one array per block."""
        return _take(self.tasks, self.blocks, self.lengths, indices)


def _check_widths(found: Sequence[BlockDescription], names: Sequence[str], owner: str) -> None:
    """Raise an error unless all blocks have the same number of features and the same kind."""
    if not found or sum(one.n_rows for one in found) == 0:
        raise EmptyDataError((0, found[0].n_features if found else 0), owner)
    if found[0].n_features == 0:
        raise EmptyDataError((sum(one.n_rows for one in found), 0), owner)
    for one, name in zip(found, names, strict=True):
        if one.n_features != found[0].n_features:
            raise DataFormatError(
                f"It has {one.n_features} features, but {names[0]} has {found[0].n_features}.", file=name
            )
        if one.is_sparse != found[0].is_sparse:
            kinds = ("dense", "sparse") if found[0].is_sparse else ("sparse", "dense")
            raise DataFormatError(f"It is {kinds[0]}, but {names[0]} is {kinds[1]}.", file=name)


def _stays_sparse(found: Sequence[BlockDescription]) -> bool:
    """Return True if the core computes with the nonzero values only, by the rule for all rows."""
    cells = sum(one.n_rows * one.n_features for one in found)
    stored = sum(one.n_stored for one in found)
    few = stored < MIN_EXPANDED_DENSITY * cells
    return found[0].is_sparse and cells > MAX_EXPANDED_CELLS and few


def _common_frame(
    tasks: Tasks,
    blocks: Sequence[Reference],
    found: tuple[BlockDescription, ...],
    metric: str,
    stays_sparse: bool,
) -> Frame:
    low = np.min([one.low for one in found if one.low is not None], axis=0)
    high = np.max([one.high for one in found if one.high is not None], axis=0)
    if stays_sparse:
        largest = 1.0 if metric == "cosine" else max(float(high.max()), -float(low.min()), 0.0)
        return Frame(np.zeros(len(low)), exponent_for(largest), metric)
    types = [np.dtype(one.dtype) for one in found if one.n_rows]
    dtype = types[0] if all(one == types[0] for one in types) else np.dtype(np.float64)
    lengths = tuple(one.n_rows for one in found)

    def take(few: NDArray[np.int64]) -> Floats:
        points: Floats = np.concatenate(
            [_dense(part) for part in _take(tasks, blocks, lengths, few) if part.shape[0]]
        )
        if metric == "cosine":
            norms = np.sqrt(np.einsum("ij,ij->i", points, points))
            points /= np.where(norms > 0, norms, 1.0)[:, None]
        return points

    return fit_frame(take, sum(lengths), dtype, low, high, metric)


def _take(
    tasks: Tasks, blocks: Sequence[Reference], lengths: Sequence[int], indices: NDArray[np.int64]
) -> list[Any]:
    starts = np.concatenate([[0], np.cumsum(lengths)])
    borders = np.searchsorted(indices, starts)
    chosen = [
        tasks.submit(take_rows, block, indices[borders[i] : borders[i + 1]] - starts[i])
        for i, block in enumerate(blocks)
        if borders[i] < borders[i + 1]
    ]
    return tasks.get(*chosen)


def _dense(part: Any) -> Array:
    dense = part.toarray() if hasattr(part, "toarray") else part
    return np.asarray(dense, dtype=np.float64)


def _common_weights(found: Sequence[BlockDescription], given: bool) -> RowWeights:
    """Return the weights of all shards without their values."""
    n = sum(one.n_rows for one in found)
    if not given:
        return RowWeights.of(None, n)
    smallest = min(one.min_weight for one in found)
    largest = max(one.max_weight for one in found)
    if largest == 0:
        text = "Sample weights must contain at least one non-zero number."
        raise InvalidValuesError(Message(text, parameter=Parameter("sample_weight")))
    with np.errstate(over="ignore"):
        total = float(np.sum([one.total_weight for one in found]))
    check_total(total)
    if smallest == largest:
        return RowWeights(None, largest, largest * n, n)
    unit = RowWeights.of(np.array([smallest, largest]), 2).unit
    return RowWeights(np.empty(0), unit, total, sum(one.n_positive for one in found))


def waves_of(n_shards: int) -> tuple[tuple[int, ...], ...]:
    """Divide shards into waves, which sweep one after the other.

    The shards of a wave do not see each other's moves; the next wave sees them. Two waves need fewer
    rounds than one, and end at a lower inertia. The numbers of a wave follow the Thue-Morse sequence: if
    there are 2, 4, 8 or 16 workers, and each holds every p-th shard or neighbouring shards, a wave keeps
    all of them busy.
    """
    if n_shards < MIN_SHARDS_OF_WAVES:
        return (tuple(range(n_shards)),)
    first = tuple(i for i in range(n_shards) if i.bit_count() % 2 == 0)
    return first, tuple(i for i in range(n_shards) if i.bit_count() % 2 == 1)
