"""Blocks of rows: references to the blocks of X, whatever X is."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from boostkmeans._data.user_input import accepted_weights
from boostkmeans._runtime.errors import EmptyDataError, InvalidValuesError, Message, ParameterError
from boostkmeans._sharded.backend import Reference
from boostkmeans._sharded.rows import waves_of
from boostkmeans._sharded.shard.block import core_array
from boostkmeans.distributed._block_conversion import Column, Place, to_block, to_weights
from boostkmeans.distributed._input_kinds import InputKind, check_engine_of, kind_of, kind_of_items
from boostkmeans.distributed._row_ranges import cut_rows
from boostkmeans.distributed._shard_files import ShardFile

# Names of the backends with other processes.
CLUSTERS = ("dask", "ray")
# Size of the blocks of a single array. Dask warns about tasks that contain more than 10 MB.
ARRAY_BLOCK_BYTES = 8 * 2**20
# Largest arrays that are sent to a cluster as part of its tasks. The scheduler keeps a copy.
MAX_SENT_BYTES = 2**30


@dataclass(frozen=True)
class Blocks:
    """The blocks of X, in order."""

    references: list[Reference]
    """Each resolves to a two-dimensional array in its stored type, or to a CSR matrix."""
    places: list[Place]
    """Name of each block for messages, and the number of its first row."""
    kind: InputKind

    @property
    def names(self) -> list[str]:
        """Names of the blocks."""
        return [place.name for place in self.places]

    @property
    def first_rows(self) -> list[int]:
        """Number of the first row of each block in its file or array."""
        return [place.first_row for place in self.places]


def feature_names_of(X: Any, n_features: int) -> list[str] | None:
    """Return the names of the features, if X has them."""
    names = getattr(X, "feature_names", None)
    kind = kind_of(X)
    if kind is InputKind.DASK_FRAME:
        names = list(X.columns)
    elif kind is InputKind.RAY_DATASET:
        names = X.columns()
    return [str(name) for name in names] if names is not None and len(names) == n_features else None


def n_features_of(X: Any) -> int | None:
    """Return the number of features, if X states it."""
    if kind_of(X) not in (InputKind.ARRAY, InputKind.SHARDS, InputKind.DASK_ARRAY):
        return None  # The vectors of a table may be a single column of lists.
    n_features = X.shape[1] if len(X.shape) == 2 else None
    return n_features if isinstance(n_features, int) else None


def as_blocks(X: Any, backend: Any, column: Column = None) -> Blocks:
    """Return references to the blocks of X.

    Parameters
    ----------
    X : object
        See `InputKind`.
    backend : Backend
        Where the blocks are read and converted.
    column : str or list of str, default=None
        Column of lists, or columns of numbers, if the blocks are tables.
    """
    kind = kind_of(X)
    check_engine_of(kind, backend.name)
    if kind is InputKind.SHARDS:
        references = spread_by_waves(backend, read_shard, [(part,) for part in X.parts])
        places = [Place(part.name, part.begin) for part in X.parts]
    else:
        raw = raw_blocks(X, kind, backend)
        places = _places_in_array(raw) if kind is InputKind.ARRAY else _places_in_list(raw)
        with warnings.catch_warnings():
            # Sizes are limited by MAX_SENT_BYTES.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            calls = [(one, place.name, column) for one, place in zip(raw, places, strict=True)]
            references = (
                spread_by_waves(backend, to_block, calls)
                if kind in (InputKind.ARRAY, InputKind.ARRAYS)
                else [backend.submit(to_block, *call) for call in calls]
            )
    blocks = Blocks(references, places, kind)
    if backend.name in CLUSTERS:
        backend.name_blocks(references, blocks.names)
    return blocks


def _places_in_list(raw: Sequence[Any]) -> list[Place]:
    return [Place(f"block {i} of X") for i in range(len(raw))]


def _places_in_array(raw: Sequence[Any]) -> list[Place]:
    """Return the places of blocks that `cut_array` made."""
    if len(raw) == 1:
        return [Place("X")]
    borders = np.cumsum([0, *(one.shape[0] for one in raw)]).tolist()
    return [Place(f"X[{begin}:{end}]", begin) for begin, end in pairwise(borders)]


def spread_by_waves(
    backend: Any, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
) -> list[Reference]:
    """Create blocks on all workers, so that the shards of a wave are on different ones."""
    order = [i for wave in waves_of(len(calls)) for i in wave]
    references = backend.spread(function, [calls[i] for i in order])
    found = dict(zip(order, references, strict=True))
    return [found[i] for i in range(len(calls))]


def read_shard(part: ShardFile) -> Any:
    """Read the rows of a shard."""
    return core_array(part.read(), part.name)


def raw_blocks(X: Any, kind: InputKind, backend: Any) -> list[Any]:
    """Return the blocks of X before their conversion: arrays, or references to anything."""
    if kind is InputKind.ARRAY:
        _check_size([X], backend)
        return cut_array(X)
    if kind is InputKind.ARRAYS:
        _check_size(X, backend)
        return list(X)
    if kind is InputKind.RAY_DATASET:
        return _tables_with_columns(X, backend)
    if kind in (InputKind.DASK_FUTURES, InputKind.RAY_OBJECTS):
        return list(X)
    computed: list[Any] = backend.compute(delayed_blocks(X, kind))
    return computed


def delayed_blocks(X: Any, kind: InputKind) -> list[Any]:
    """Return one Delayed object per block of a dask collection."""
    if kind is InputKind.DASK_DELAYED:
        return list(X)
    if kind is InputKind.DASK_FRAME:
        return list(X.to_delayed())
    return list(whole_rows(X).to_delayed().ravel())


def whole_rows(X: Any) -> Any:
    """Return a dask array with one chunk of columns. The sizes of its chunks of rows may be unknown."""
    if X.ndim != 2:
        raise ParameterError("X", "an array of two dimensions", X)
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def ordered_tables(dataset: Any) -> list[Any]:
    """Compute a Ray Dataset, and return references to its blocks in the order of the rows."""
    options = dataset.context.execution_options
    before = options.preserve_order
    options.preserve_order = True
    try:
        return list(dataset.to_arrow_refs())
    finally:
        options.preserve_order = before


def _tables_with_columns(dataset: Any, backend: Any) -> list[Any]:
    """Return the blocks of a Ray Dataset. A filter leaves blocks without columns, which have no rows."""
    tables = ordered_tables(dataset)
    numbers = backend.get([backend.submit(_n_columns, one) for one in tables])
    found = [one for one, n in zip(tables, numbers, strict=True) if n]
    if not found:
        raise EmptyDataError((0, 0), "a fit of a Ray Dataset")
    return found


def _n_columns(table: Any) -> int:
    return int(table.num_columns)


def cut_array(X: Any) -> list[Any]:
    """Cut an array or CSR matrix into blocks of rows. Only X determines their sizes."""
    rows = X.tocsr() if sparse.issparse(X) else X
    if rows.ndim != 2:
        raise ParameterError("X", "an array of two dimensions", X)
    row_bytes = max(1, n_bytes(rows) // max(1, rows.shape[0]))
    ranges = cut_rows(rows.shape[0], max(1, ARRAY_BLOCK_BYTES // row_bytes), None)
    return [rows[begin:end] for begin, end in ranges]


def n_bytes(array: Any) -> int:
    """Return the size of an array or sparse matrix."""
    if not sparse.issparse(array):
        return int(array.nbytes)
    csr = array.tocsr()
    return int(csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes)


def weight_references(
    sample_weight: Any, blocks: Blocks, lengths: Sequence[int], backend: Any
) -> list[Reference] | None:
    """Return one reference to the weights of each block; None without weights.

    Parameters
    ----------
    sample_weight : None, float, array, dask array or series, or list with one array per block
        The weights, in the order of the rows.
    blocks : Blocks
        The blocks of X.
    lengths : sequence of int
        Number of rows of each block.
    backend : Backend
        Where the weights are checked.
    """
    if sample_weight is None:
        return None
    raw = _raw_weights(sample_weight, lengths, backend)
    if len(raw) != len(lengths):
        raise InvalidValuesError(
            Message(
                "sample_weight has {n_weights} blocks, but X has {n_blocks}: each block of X needs the "
                "weights of its rows.",
                n_weights=len(raw), n_blocks=len(lengths),
            )
        )  # fmt: skip
    return [
        backend.submit(to_weights, one, place.name, length, place.first_row)
        for one, place, length in zip(raw, blocks.places, lengths, strict=True)
    ]


def _raw_weights(sample_weight: Any, lengths: Sequence[int], backend: Any) -> list[Any]:
    """Return the weights of each block: arrays, or references to arrays."""
    if hasattr(sample_weight, "to_delayed"):  # a dask array or series
        _check_weights("dask", "a Dask collection", backend)
        parts = sample_weight.to_delayed()
        computed: list[Any] = backend.compute(list(parts.ravel() if hasattr(parts, "ravel") else parts))
        return computed
    is_list = isinstance(sample_weight, list | tuple) and len(sample_weight) > 0
    if is_list and not np.isscalar(sample_weight[0]):
        return _weights_of_blocks(sample_weight, backend)
    weights = accepted_weights(sample_weight)
    if weights.ndim == 0:
        return [np.full(length, float(weights)) for length in lengths]
    if weights.shape != (sum(lengths),):
        raise InvalidValuesError(
            Message(
                "sample_weight.shape == {shape}, expected ({n_rows},): one weight per row.",
                shape=weights.shape, n_rows=sum(lengths),
            )
        )  # fmt: skip
    ends = np.cumsum([0, *lengths])
    return [weights[begin:end] for begin, end in pairwise(ends)]


def _weights_of_blocks(weights: Sequence[Any], backend: Any) -> list[Any]:
    """Return the weights of each block from a list with one item per block."""
    kind = kind_of_items(list(weights))
    if kind is not None:
        _check_weights(kind.engine, kind.value, backend)
    if kind is InputKind.DASK_DELAYED:
        computed: list[Any] = backend.compute(list(weights))
        return computed
    # A scheduler would look for references in lists of numbers.
    return [accepted_weights(one) if isinstance(one, list | tuple) else one for one in weights]


def _check_weights(engine: str | None, description: str, backend: Any) -> None:
    """Raise ParameterError unless the backend can read weights that an engine holds."""
    if engine not in (None, backend.name):
        where = f"on {backend.name.title()}" if backend.name in CLUSTERS else "in one process"
        raise ParameterError(
            "sample_weight",
            f"an array or a list of arrays, because X is {where}",
            description,
            remedy="Pass sample_weight.compute()." if engine == "dask" else "Pass arrays.",
        )


def _check_size(arrays: Sequence[Any], backend: Any) -> None:
    total = sum(map(n_bytes, arrays))
    if backend.name in CLUSTERS and total > MAX_SENT_BYTES:
        raise ParameterError(
            "X",
            f"at most {MAX_SENT_BYTES / 2**30:.0f} GiB if this process sends it to a cluster",
            f"{total / 2**30:.1f} GiB",
            remedy="Save it as files, and pass the result of open_shards. Workers then read the files.",
        )
