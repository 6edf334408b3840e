"""Agreement of the files of a data set: the same columns, and common types."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from boostkmeans.io._access.choice import list_names
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.store import LazyStore
from boostkmeans.io._file_opening import OpenedFile

# Names of dense and sparse rows, by `is_sparse`.
KINDS = ("dense", "sparse")


@dataclass(frozen=True)
class FileFacts:
    """Properties of a file that must agree with those of the other files. None means unknown."""

    name: str
    format: str
    shape: tuple[int, int] | None
    dtype: np.dtype[Any] | None
    is_sparse: bool | None
    feature_names: list[str] | None
    id_dtype: np.dtype[Any] | None

    @classmethod
    def known(cls, file: OpenedFile, id_column: str | None) -> Self:
        """Return what is known without a pass over the file."""
        store = file.store
        if not isinstance(store, LazyStore):
            return cls.read(file, id_column)
        facts = (store.known_shape, store.known_dtype, store.known_sparse)
        return cls(file.name, file.format, *facts, feature_names=None, id_dtype=None)

    @classmethod
    def read(cls, file: OpenedFile, id_column: str | None) -> Self:
        """Return everything. The file is read if necessary."""
        store = file.store
        ids = None if id_column is None else store.ids(0, 0).dtype
        return cls(
            file.name, file.format, store.shape, store.dtype, store.is_sparse, store.feature_names, ids
        )

    @property
    def location(self) -> Location:
        """Location of the file, for error messages."""
        return Location(self.name)

    def check(self, first: "FileFacts") -> None:
        """Raise DataFormatError unless the file agrees with the first file of its data set."""
        if first.is_sparse is not None and self.is_sparse not in (None, first.is_sparse):
            raise self.location.error(
                f"The rows are {KINDS[bool(self.is_sparse)]}, but those of {first.name} are "
                f"{KINDS[first.is_sparse]}.",
                "All files of a data set must have the same kind of rows.",
            )
        if self.feature_names is not None and first.feature_names is not None:
            self._check_names(first.name, first.feature_names, self.feature_names)
        if self.shape is not None and first.shape is not None and self.shape[1] != first.shape[1]:
            mine, its = self.shape[1], first.shape[1]
            raise self.location.error(
                f"The rows have {mine} values, but those of {first.name} have {its}.",
                "All files of a data set must have the same number of columns.",
            )

    def has_other_order(self, first: "FileFacts") -> bool:
        """Return True if the columns of the first file are here in a different order."""
        mine, its = self.feature_names, first.feature_names
        return mine is not None and its is not None and mine != its

    def _check_names(self, first_name: str, expected: list[str], found: list[str]) -> None:
        missing = [one for one in expected if one not in found]
        more = [one for one in found if one not in expected]
        parts = [f"no column {list_names(missing)}"] if missing else []
        parts += [f"an additional column {list_names(more)}"] if more else []
        if parts:
            raise self.location.error(
                f"The file has {' and '.join(parts)}, unlike {first_name}.",
                "All files of a data set must have the same columns.",
            )


def common_dtype(files: Sequence[FileFacts]) -> np.dtype[Any]:
    """Return the type that holds the values of all files exactly. Raise DataFormatError if none does."""
    types = [(one, one.dtype) for one in files if one.dtype is not None]
    dtype = types[0][1]
    for file, its in types[1:]:
        common = lossless_dtype(dtype, its)
        if common is None:
            raise file.location.error(
                f"The values of type {its} and those of type {dtype} in the files before have no common "
                "type that holds them exactly.",
                "Convert the files to one type.",
            )
        dtype = common
    return dtype


def common_id_dtype(files: Sequence[FileFacts]) -> np.dtype[Any] | None:
    """Return the type of the ids of all files, or None without ids."""
    types = [(one, one.id_dtype) for one in files if one.id_dtype is not None]
    if not types:
        return None
    dtype = types[0][1]
    for file, its in types[1:]:
        common = np.result_type(dtype, its)
        if (its.kind == "O") != (dtype.kind == "O") or common.kind == "f":
            shown = ["strings" if one.kind == "O" else str(one) for one in (its, dtype)]
            raise file.location.error(
                f"The ids are {shown[0]}, but those of the files before are {shown[1]}.",
                "All files of a data set must have ids of the same type.",
            )
        dtype = common
    return dtype


def lossless_dtype(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the smallest type that holds all values of two types exactly, or None.

    >>> lossless_dtype(np.dtype("f4"), np.dtype("i4"))
    dtype('float64')
    >>> lossless_dtype(np.dtype("f4"), np.dtype("i8"))
    """
    common = np.result_type(one, other)
    is_lossy = common.kind == "f" and any(t.kind in "iu" and t.itemsize >= 8 for t in (one, other))
    return None if is_lossy else common
