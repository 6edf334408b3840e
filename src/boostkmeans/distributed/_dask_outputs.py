"""Results of a distributed fit as dask arrays."""

import math
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np

from boostkmeans.distributed._block_conversion import BlockFunction, Column, Place, to_block
from boostkmeans.distributed._input_kinds import InputKind
from boostkmeans.distributed._inputs import delayed_blocks, read_shard, whole_rows


def dask_array(blocks: Sequence[Any], lengths: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """Return a dask array of one-dimensional blocks, which are arrays or futures."""
    import dask.array as da

    name = f"labels-{uuid.uuid4().hex}"
    graph = {(name, i): block for i, block in enumerate(blocks)}
    return da.Array(graph, name, chunks=(tuple(lengths),), dtype=dtype, meta=np.empty(0, dtype))


def computed_array(array: Any) -> Any:
    """Compute a dask array with the client that has its blocks, which need not be the default client."""
    from distributed import Future

    values = dict(array.__dask_graph__()).values()
    clients = [value.client for value in values if isinstance(value, Future)]
    return clients[0].compute(array, sync=True) if clients else array.compute()


def map_dask(
    X: Any,
    kind: InputKind,
    function: BlockFunction,
    model: Any,
    dtype: np.dtype[Any],
    n_columns: int | None,
    column: Column,
) -> Any:
    """Return a lazy dask array with the results of a function for each block. See `map_blocks`.

    The model is a task of its own, so each worker receives it once.
    """
    import dask

    shared = dask.delayed(model, pure=False, traverse=False)
    if kind is InputKind.DASK_ARRAY:
        return _map_array(X, function, shared, dtype, n_columns)
    if kind is InputKind.SHARDS:
        read = dask.delayed(read_shard, pure=False)
        call = dask.delayed(function, pure=False)
        results = [call(read(one), shared, Place(one.name, one.begin)) for one in X.parts]
        return _concatenate(results, [len(part) for part in X.parts], dtype, n_columns)
    raw = list(X) if kind is InputKind.DASK_FUTURES else delayed_blocks(X, kind)
    convert = dask.delayed(convert_and_call, pure=False)
    results = [convert(function, one, f"block {i} of X", shared, column) for i, one in enumerate(raw)]
    return _concatenate(results, [math.nan] * len(results), dtype, n_columns)


def convert_and_call(function: BlockFunction, raw: Any, name: str, model: Any, column: Column) -> Any:
    """Convert a block of X, and call a function with it."""
    return function(to_block(raw, name, column), model, Place(name))


def call_for_chunk(chunk: Any, *, function: BlockFunction, model: Any, block_info: Any = None) -> Any:
    """Call a function for a chunk of a dask array."""
    number = block_info[0]["chunk-location"][0] if block_info else 0
    return convert_and_call(function, chunk, f"block {number} of X", model, None)


def _map_array(
    X: Any,
    function: BlockFunction,
    shared: Any,
    dtype: np.dtype[Any],
    n_columns: int | None,
) -> Any:
    rows = whole_rows(X)
    shape: dict[str, Any] = {"drop_axis": 1, "meta": np.empty(0, dtype)}
    if n_columns is not None:
        shape = {"chunks": (rows.chunks[0], (n_columns,)), "meta": np.empty((0, n_columns), dtype)}
    return rows.map_blocks(call_for_chunk, function=function, model=shared, dtype=dtype, **shape)


def _concatenate(
    results: list[Any], lengths: Sequence[float], dtype: np.dtype[Any], n_columns: int | None
) -> Any:
    import dask.array as da

    width = () if n_columns is None else (n_columns,)
    meta = np.empty((0, *width), dtype)
    parts = [
        da.from_delayed(one, shape=(length, *width), dtype=dtype, meta=meta)
        for one, length in zip(results, lengths, strict=True)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)
