"""Options that determine how a file is read, and their checks against its format."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._access.spool import Room
from boostkmeans.io._access.table_columns import is_pattern
from boostkmeans.io._formats import TEXT_TABLES

# Formats of files that hold several arrays. `key` names one of them.
ARRAY_FORMATS = ("npz", "hdf5", "safetensors")
# Formats of tables. `key` names one or more columns.
TABLE_FORMATS = ("parquet", "arrow", "csv", "tsv", "jsonl")


@dataclass(frozen=True)
class FileOptions:
    """Arguments of `open_vectors` that determine how a file is read."""

    format: str | None = None
    key: str | Sequence[str] | None = None
    header: bool | None = None
    id_column: str | None = None
    max_memory: int | None = None
    progress: ProgressCallback = ignore_progress
    drop: str | Sequence[str] | None = None
    max_disk: int | None = None

    @property
    def has_patterns(self) -> bool:
        """True if columns are selected by wildcards or ranges."""
        given = [[one] if isinstance(one, str) else one or [] for one in (self.key, self.drop)]
        return any(is_pattern(name) for names in given for name in names)

    def room_for(self, sources: Iterable[ByteSource]) -> Room:
        """Return the limits of memory and disk for temporary data of these files."""
        given = tuple(sources)
        sizes = [one.n_bytes() for one in given if one.is_regular_file()]
        file_bytes = sum(sizes) if len(sizes) == len(given) else None
        return Room(self.max_memory, self.max_disk, file_bytes)


def check_header(format_name: str, header: bool | None) -> None:
    """Raise an error if `header` is given for a format without a header line."""
    if header is not None and format_name not in TEXT_TABLES:
        raise ParameterConflictError(
            Message(
                "{header} is for tables as text, but the format of this file is {name!r}.",
                header=Parameter("header"),
                name=format_name,
            )
        )


def check_id_column(format_name: str, id_column: str | None, keys: list[str] | None) -> None:
    """Raise an error if `id_column` is given for a format without columns, or is also a feature."""
    if id_column is not None and not isinstance(cast(Any, id_column), str):
        raise ParameterError("id_column", "the name of a column", id_column)
    if id_column is not None and id_column in (keys or []):
        raise ParameterConflictError(
            Message(
                "The column {name!r} cannot be both {id_column} and {key}.",
                name=id_column,
                id_column=Parameter("id_column"),
                key=Parameter("key"),
            )
        )
    if id_column is not None and format_name not in TABLE_FORMATS:
        raise ParameterConflictError(
            Message(
                "{id_column} is for tables (Parquet, Arrow, CSV, TSV, JSON Lines), but the format of "
                "this file is {name!r}.",
                id_column=Parameter("id_column"),
                name=format_name,
            )
        )


def checked_drop(format_name: str, drop: str | Sequence[str] | None) -> list[str] | None:
    """Return the names in `drop` as a list. Raise an error if the format has no columns."""
    if drop is None:
        return None
    names = [drop] if isinstance(drop, str) else list(cast(Sequence[Any], drop))
    if not all(isinstance(one, str) for one in names):
        raise ParameterError("drop", "a name or a sequence of names", drop)
    if names and format_name not in TABLE_FORMATS:
        raise ParameterConflictError(
            Message(
                "{drop} is for tables (Parquet, Arrow, CSV, TSV, JSON Lines), but the format of this "
                "file is {name!r}.",
                drop=Parameter("drop"),
                name=format_name,
            )
        )
    return names


def checked_keys(format_name: str, key: str | Sequence[str] | None) -> list[str] | None:
    """Return the names in `key` as a list. Raise an error if the format has no such names."""
    if key is None:
        return None
    keys = [key] if isinstance(key, str) else list(cast(Sequence[Any], key))
    if not keys or not all(isinstance(one, str) for one in keys):
        raise ParameterError("key", "a name or a sequence of names", key)
    if len(set(keys)) < len(keys):
        raise ParameterError("key", "names without duplicates", keys)
    name = Parameter("key")
    if format_name not in (*ARRAY_FORMATS, *TABLE_FORMATS):
        raise ParameterConflictError(
            Message(
                "A file of format {format_name!r} holds a single matrix, so {key} is not allowed.",
                format_name=format_name,
                key=name,
            )
        )
    if format_name in ARRAY_FORMATS and len(keys) > 1:
        raise ParameterConflictError(
            Message(
                "For a file of format {format_name!r}, {key} must name one array. Got {keys}.",
                format_name=format_name,
                key=name,
                keys=keys,
            )
        )
    return keys
