"""The kinds of X that a distributed fit accepts."""

from enum import Enum
from typing import Any

import numpy as np
from scipy import sparse

from boostkmeans._data.row_source import RowSource
from boostkmeans._runtime.errors import ParameterError
from boostkmeans.distributed._engines.packages import loaded
from boostkmeans.distributed._shard_files import Shards

ACCEPTED = (
    "the result of open_shards, a dask array or data frame, a Ray Dataset, a list of dask Delayed "
    "objects, dask futures or Ray object references, an array, a CSR matrix, or a list of these"
)


class InputKind(Enum):
    """A kind of X. The value describes it in messages."""

    SHARDS = "shards"
    DASK_ARRAY = "a dask array"
    DASK_FRAME = "a dask data frame"
    DASK_DELAYED = "dask Delayed objects"
    DASK_FUTURES = "dask futures"
    RAY_DATASET = "a Ray Dataset"
    RAY_OBJECTS = "Ray object references"
    ARRAY = "an array"
    ARRAYS = "a list of arrays"

    @property
    def engine(self) -> str | None:
        """Name of the engine that has the blocks; None if any backend can read them."""
        word = self.name.split("_")[0].lower()
        return word if word in ("dask", "ray") else None


# Kinds of X itself and of the items of a list, by the package and the name of their class.
TYPES = {
    ("dask.array", "Array"): InputKind.DASK_ARRAY,
    ("dask.dataframe", "DataFrame"): InputKind.DASK_FRAME,
    ("ray.data", "Dataset"): InputKind.RAY_DATASET,
}
ITEM_TYPES = {
    ("dask.delayed", "Delayed"): InputKind.DASK_DELAYED,
    ("distributed", "Future"): InputKind.DASK_FUTURES,
    ("ray", "ObjectRef"): InputKind.RAY_OBJECTS,
}


def kind_of(X: Any) -> InputKind:
    """Return the kind of X, or raise ParameterError."""
    if isinstance(X, Shards):
        return InputKind.SHARDS
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return InputKind.ARRAY
    found = _find(X, TYPES)
    if found is None and isinstance(X, list | tuple) and len(X):
        found = kind_of_items(X)
    if found is None:
        shown = f"{type(X).__module__}.{type(X).__qualname__}" if hasattr(X, "shape") else X
        raise ParameterError("X", ACCEPTED, shown, remedy=_remedy_for(X))
    return found


def _remedy_for(X: Any) -> str:
    """Return what to pass instead of X."""
    if isinstance(X, RowSource):
        return (
            "Pass the result of open_shards for the same files, or fit boostkmeans.BoostKMeans, which "
            "reads the result of open_vectors on one machine."
        )
    series = getattr(loaded("dask.dataframe"), "Series", None)
    if series is not None and isinstance(X, series):
        return "Pass X.to_frame(), if the items are vectors."
    return "Pass X.to_numpy()." if hasattr(X, "to_numpy") else ""


def check_engine_of(kind: InputKind, engine: str) -> None:
    """Raise ParameterError unless an engine can read X of this kind."""
    if kind.engine not in (None, engine):
        raise ParameterError(
            "engine",
            f"None or {kind.engine!r} for X, which is {kind.value}",
            engine,
            remedy="Omit engine, or pass the result of open_shards, which every engine reads.",
        )


def kind_of_items(items: list[Any] | tuple[Any, ...]) -> InputKind | None:
    """Return the kind of a list by its items; None if they are of other types or of several."""
    kinds = {_find(item, ITEM_TYPES) for item in items}
    if len(kinds) > 1:
        return None
    (kind,) = kinds
    if kind is None and all(isinstance(item, np.ndarray) or sparse.issparse(item) for item in items):
        return InputKind.ARRAYS
    return kind


def is_distributed(X: Any) -> bool:
    """Return True for shards and for collections of Dask and Ray, whose rows are not in this process."""
    if isinstance(X, Shards) or _find(X, TYPES) is not None:
        return True
    kind = kind_of_items(X) if isinstance(X, list | tuple) and len(X) else None
    return kind is not None and kind.engine is not None


def _find(value: Any, types: dict[tuple[str, str], InputKind]) -> InputKind | None:
    """Return the kind of the first type that a value has. Only packages in use are considered."""
    for (package, name), kind in types.items():
        module = loaded(package)
        if module is not None and isinstance(value, getattr(module, name)):
            return kind
    return None
