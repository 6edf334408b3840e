"""Ids of rows: given by the caller, the index of a data frame, or a column of a file."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError
from boostkmeans.distributed import Shards
from boostkmeans.io import Vectors


def ids_of(X: Any, ids: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    """Return the id of each row; None if there are none. A default index of numbers is no id."""
    found = _own_ids(X) if ids is None else np.asarray(ids)
    if found is not None and found.shape != (n_rows,):
        raise ParameterConflictError(
            Message(
                "{ids} must have one value per row. Got shape {shape}, but there are {n} rows.",
                ids=Parameter("ids"),
                shape=found.shape,
                n=n_rows,
            )
        )
    return found


def _own_ids(X: Any) -> NDArray[Any] | None:
    if isinstance(X, Vectors):
        return X.ids if X.has_ids else None
    if isinstance(X, Shards):
        if X.id_column is None:
            return None
        return np.concatenate([np.asarray(part.read_ids()) for part in X.parts])
    if not hasattr(X, "iloc"):
        return None
    index = X.index
    return None if type(index).__name__ == "RangeIndex" else np.asarray(index.to_numpy())
