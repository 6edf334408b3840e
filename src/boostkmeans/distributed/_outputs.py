"""Results in the form of X: a dask array, a Ray Dataset, object references, or arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostkmeans._runtime.errors import ParameterError
from boostkmeans._sharded.backend import Reference, identity
from boostkmeans.distributed._block_conversion import BlockFunction, Column, Place, to_block
from boostkmeans.distributed._dask_outputs import dask_array, map_dask
from boostkmeans.distributed._engines.packages import import_engine
from boostkmeans.distributed._input_kinds import InputKind, kind_of
from boostkmeans.distributed._inputs import as_blocks

LABEL = "label"
"""Name of the column of labels in Ray Datasets."""


def labels_like(X: Any, references: Sequence[Reference], lengths: Sequence[int], backend: Any) -> Any:
    """Return the labels of all rows in the form of X.

    Parameters
    ----------
    X : object
        The data of the fit.
    references : sequence of references
        The labels of each block.
    lengths : sequence of int
        Number of rows of each block.
    backend : Backend
        The backend of the references.

    Returns
    -------
    labels : dask array, Ray Dataset, list or ndarray
        On Dask, a dask array with the chunks of rows of X. On Ray, a Dataset with the column "label" for
        a Dataset, and a list with one object reference per block otherwise. In one process, a list with
        one array per block. An array has an array of labels with every engine. Labels stay on the
        workers, unless the cluster ends with the backend.
    """
    kind = kind_of(X)
    if kind is InputKind.ARRAY:
        return np.concatenate(backend.get(references))
    stays = kind is not InputKind.ARRAYS and not backend.is_private
    if kind is InputKind.RAY_DATASET and stays:
        references = [backend.submit(label_table, one) for one in references]
    blocks = computed(references, backend) if stays else backend.get(references)
    if backend.name == "dask" and kind is not InputKind.ARRAYS:
        return dask_array(blocks, lengths, np.dtype(np.int32))
    if kind is InputKind.RAY_DATASET and stays:
        import ray.data

        return ray.data.from_arrow_refs(blocks)
    return blocks


def computed(references: Sequence[Reference], backend: Any) -> list[Reference]:
    """Wait until results exist on the workers. `Backend.close` cancels tasks that have not run."""
    backend.get([backend.submit(len, one) for one in references])
    return list(references)


def map_blocks(
    X: Any,
    function: BlockFunction,
    model: Any,
    backend: Any,
    *,
    dtype: Any,
    n_columns: int | None = None,
    column: Column = None,
    name: str = LABEL,
) -> Any:
    """Call a function for each block of X, lazily if X is lazy.

    Parameters
    ----------
    X : object
        The rows.
    function : callable
        Function of a block, `model` and the `Place` of the block. It is pickled by reference.
    model : object
        What the function needs, such as the centres. It is sent once to each worker.
    backend : Backend
        Where blocks are computed that no lazy collection represents. Lazy results do not use it.
    dtype : dtype
        Type of the results.
    n_columns : int, default=None
        Number of columns of the results. By default they are one-dimensional.
    column : str or list of str, default=None
        Columns of X, if its blocks are tables.
    name : str, default="label"
        Name of the column that is added to a Ray Dataset.

    Returns
    -------
    results : dask array, Ray Dataset, list or ndarray
        A lazy dask array for dask collections, and for shards on Dask; a lazy Dataset for a Ray Dataset,
        with the columns of X and one more; a list of object references for shards and references on Ray;
        a list of arrays for shards in one process and for a list of arrays; an array for an array.
    """
    kind = kind_of(X)
    if kind is InputKind.RAY_DATASET:
        return _map_dataset(X, function, model, column, name)
    if kind.engine == "dask" or (kind is InputKind.SHARDS and backend.name == "dask"):
        return map_dask(X, kind, function, model, np.dtype(dtype), n_columns, column)
    shared = backend.submit(identity, model)
    blocks = as_blocks(X, backend, column)
    results = [
        backend.submit(function, one, shared, place)
        for one, place in zip(blocks.references, blocks.places, strict=True)
    ]
    if kind in (InputKind.SHARDS, InputKind.RAY_OBJECTS) and not backend.is_private:
        backend.detach()
        return results
    values = backend.get(results)
    return np.concatenate(values) if kind is InputKind.ARRAY else values


def label_table(labels: Any) -> Any:
    """Return a table of labels for a Ray Dataset."""
    import pyarrow as pa

    return pa.table({LABEL: labels})


def _map_dataset(dataset: Any, function: BlockFunction, model: Any, column: Column, name: str) -> Any:
    _check_new_column(dataset, name)
    # The driver owns the model. If the driver dies, nobody needs it.
    shared = import_engine("ray").put(model)
    return dataset.map_batches(
        add_column, batch_format="pyarrow", batch_size=None, fn_args=[function, shared, column, name]
    )


def _check_new_column(dataset: Any, name: str) -> None:
    """Raise ParameterError if a Dataset has the column that would be added to it."""
    if name in (dataset.columns() or ()):
        raise ParameterError(
            "X",
            f"a Ray Dataset without the column {name!r}, which is added to it",
            "a Dataset with this column",
            remedy=f"Rename it with X.rename_columns({{{name!r}: 'other'}}), or omit it with "
            f"X.drop_columns([{name!r}]).",
        )


def add_column(table: Any, function: BlockFunction, shared: Any, column: Column, name: str) -> Any:
    """Return an Arrow table with one more column: the results of a function of its rows.

    `shared` is the reference to the model. Ray Data does not resolve it.
    """
    import pyarrow as pa
    import ray

    place = Place("a batch of X")
    rows = to_block(table, place.name, column)
    results = np.ascontiguousarray(function(rows, ray.get(shared), place))
    if results.ndim == 1:
        return table.append_column(name, pa.array(results))
    values = pa.FixedSizeListArray.from_arrays(pa.array(results.ravel()), results.shape[1])
    return table.append_column(name, values)
