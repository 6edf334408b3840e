"""`plain_rows`: columns of vectors and tensors of other libraries as arrays."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.user_input import accepted_rows
from boostkmeans._runtime.errors import InvalidValuesError, Message, ParameterError

PATHS = (str, bytes, os.PathLike)
# Types of tensors that NumPy has. Other types of floats, such as bfloat16, become float32.
NUMPY_FLOATS = ("float16", "float32", "float64")


def user_rows(X: Any, name: str = "X") -> Any:
    """Return rows from a user that can be converted to an array safely. See both functions."""
    return accepted_rows(plain_rows(X, name), name)


def plain_rows(X: Any, name: str = "X") -> Any:
    """Return a column of vectors or a tensor as an array, and other objects as they are.

    Columns are those of pandas, polars and Arrow. Tensors are those of PyTorch. Arrays are shared where
    possible. A path, and rows of different lengths, raise an error. `name` is the name of X in errors.
    """
    if isinstance(X, PATHS) or (isinstance(X, list | tuple) and len(X) and isinstance(X[0], PATHS)):
        raise _path_error(X, name)
    if isinstance(X, list | tuple):
        return _plain_sequence(X, name)
    if isinstance(X, np.ndarray):
        return _plain_array(X, name)
    convert = CONVERSIONS.get(type(X).__module__.partition(".")[0])
    return X if convert is None else convert(X, name)


def _path_error(X: Any, name: str) -> ParameterError:
    one = X if isinstance(X, PATHS) else X[0]
    return ParameterError(
        name,
        "an array with one row per vector",
        X,
        remedy=f"To read a file, pass open_vectors({os.fsdecode(one)[:80]!r}); the function is in "
        "boostkmeans.io.",
    )


def _plain_array(X: NDArray[Any], name: str) -> Any:
    if X.dtype.name == "bfloat16":  # a type of the package ml_dtypes, which JAX uses
        return X.astype(np.float32)
    if X.dtype == object and X.ndim == 1 and any(map(_is_vector, X[:1])):
        return _stacked(X.tolist(), name)
    return X


def _plain_sequence(X: Sequence[Any], name: str) -> Any:
    """Check the lengths of rows. Numbers and other items are left to scikit-learn."""
    if not len(X) or not _is_vector(X[0]):
        return X
    return _stacked(X, name) if _is_tensor(X[0]) else _with_equal_lengths(X, name)


def _from_pandas(X: Any, name: str) -> Any:
    if X.ndim == 2:
        places = [j for j in range(X.shape[1]) if _holds_vectors(X.iloc[:, j])]
        if not places:
            return X
        _check_only_column(name, X.columns[places[0]], X.shape[1])
        X = X.iloc[:, 0]
    if not _holds_vectors(X):
        return X
    if X.dtype == object:
        return _stacked(X.tolist(), name)
    return _from_arrow(X.array.__arrow_array__(), name)


def _holds_vectors(column: Any) -> bool:
    """Return True if a column of pandas holds lists or arrays."""
    kind = getattr(column.dtype, "pyarrow_dtype", None)
    if kind is not None:
        return _is_list_type(kind)
    return bool(column.dtype == object) and _is_vector(
        next((one for one in column if one is not None), None)
    )


def _from_polars(X: Any, name: str) -> Any:
    if hasattr(X, "get_columns"):  # a data frame
        lists = [one.name for one in X.get_columns() if _is_polars_list(one)]
        if not lists:
            return X
        _check_only_column(name, lists[0], X.width)
        X = X[lists[0]]
    return _from_arrow(X.to_arrow(), name) if _is_polars_list(X) else X


def _is_polars_list(column: Any) -> bool:
    return str(getattr(column, "dtype", "")).startswith(("List", "Array"))


def _from_arrow(X: Any, name: str) -> Any:
    # The readers of files are slow to import, and not always needed.
    from boostkmeans.io._access.location import Location
    from boostkmeans.io._readers.arrow.table_rows import table_rows

    pa = sys.modules["pyarrow"]
    if isinstance(X, pa.Table | pa.RecordBatch):
        lists = [field.name for field in X.schema if _is_list_type(field.type)]
        if not lists:
            return X
        _check_only_column(name, lists[0], X.num_columns)
        X = X.column(0)
    if not isinstance(X, pa.Array | pa.ChunkedArray) or not _is_list_type(X.type):
        return X
    return table_rows(pa.table({name: X}), Location(name))


def _is_list_type(kind: Any) -> bool:
    """Return True for Arrow's types of lists, and for extension types, such as tensors."""
    return "list" in str(kind) or hasattr(kind, "storage_type")


def _check_only_column(name: str, column: Any, n_columns: int) -> None:
    """Raise an error if a table has more columns than its column of vectors."""
    if n_columns > 1:
        raise InvalidValuesError(
            Message(
                "The column {column!r} of {name} holds vectors, but {name} has {n} columns. Pass this "
                "column alone: {name}[{column!r}].",
                column=column,
                name=name,
                n=n_columns,
            )
        )


def _from_torch(X: Any, name: str) -> Any:
    if not _is_tensor(X):
        return X
    torch = sys.modules["torch"]
    if X.layout is not torch.strided:
        raise InvalidValuesError(
            Message(
                "{name} is a sparse tensor. Pass {name}.to_dense(), or a CSR matrix of SciPy.", name=name
            )
        )
    if X.device.type != "cpu":
        raise InvalidValuesError(
            Message(
                "{name} is a tensor on the device {device}. Pass {name}.cpu().",
                name=name,
                device=X.device,
            )
        )
    X = X.detach()
    if X.dtype.is_floating_point and str(X.dtype).partition(".")[2] not in NUMPY_FLOATS:
        X = X.to(torch.float32)  # exact, because these types are smaller
    return X.resolve_conj().resolve_neg().numpy()


CONVERSIONS: dict[str, Callable[[Any, str], Any]] = {
    "pandas": _from_pandas,
    "polars": _from_polars,
    "pyarrow": _from_arrow,
    "torch": _from_torch,
}
"""Conversions by the package of the type."""


def _is_tensor(item: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(item, torch.Tensor)


def _is_vector(item: Any) -> bool:
    """Return True if an item of a sequence is a row."""
    return isinstance(item, list | tuple) or (getattr(item, "ndim", 0) == 1 and hasattr(item, "__len__"))


def _stacked(rows: Sequence[Any], name: str) -> NDArray[Any]:
    """Return rows of equal length as one array."""
    checked = _with_equal_lengths(rows, name)
    if _is_tensor(checked[0]):
        checked = [_from_torch(row, name) for row in checked]
    return np.array(checked)


def _with_equal_lengths(rows: Sequence[Any], name: str) -> Sequence[Any]:
    """Return the rows. Raise an error that names the first one of another length than row 0."""
    length = None
    for i, row in enumerate(rows):
        if not _is_vector(row):
            raise InvalidValuesError(
                Message(
                    "{name} must have one vector per row. Row {row} is {got}.",
                    name=name,
                    row=i,
                    got=repr(row)[:40],
                )
            )
        length = len(row) if length is None else length
        if len(row) != length:
            raise InvalidValuesError(
                Message(
                    "{name} must have rows of equal length. Row {row} has {got} values, but row 0 has "
                    "{length}.",
                    name=name,
                    row=i,
                    got=len(row),
                    length=length,
                )
            )
    return rows
