"""`inspect_files`: the sizes and types of the files of a data set, read from their headers."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boostkmeans._runtime.short_repr import short_repr
from boostkmeans.io import _formats
from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._agreement import FileFacts, common_dtype, common_id_dtype
from boostkmeans.io._file_options import FileOptions
from boostkmeans.io._file_sets import AnyPath, find_files
from boostkmeans.io._joining import AgreeingFile, open_agreeing


@dataclass(frozen=True)
class InspectedFile:
    """Properties of a file of vectors."""

    path: str = field(repr=False)  # a URL may contain a password
    format: str
    key: tuple[str, ...] | None
    """Columns or array to pass to `open_vectors`."""
    n_rows: int
    file_bytes: int
    """Size of the file."""
    stored_bytes: int
    """Number of bytes of all rows in memory. Of sparse rows, only stored values count."""
    group_starts: tuple[int, ...] | None
    """First rows of the row groups of a Parquet file."""


@dataclass(frozen=True)
class InspectedFiles:
    """Properties of the files of a data set."""

    __repr__ = short_repr

    name: str
    files: tuple[InspectedFile, ...]
    n_features: int
    dtype: np.dtype[Any]
    """Type that holds the values of all files exactly."""
    is_sparse: bool
    feature_names: list[str] | None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows of all files, and number of columns."""
        return sum(file.n_rows for file in self.files), self.n_features


def inspect_files(
    path: AnyPath | Iterable[AnyPath],
    *,
    format: str | None = None,  # noqa: A002
    key: str | Sequence[str] | None = None,
    id_column: str | None = None,
) -> InspectedFiles:
    """Return the sizes and types of the files of a data set, and check that they agree.

    Only headers and footers are read, except for formats that do not state the number of rows there:
    CSV, TSV, Arrow, sparse matrices as text, and compressed files.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a pattern, a folder, or a sequence of these, as in `open_vectors`.
    format : str, default=None
        Format of the files, if their suffix does not identify it.
    key : str or sequence of str, default=None
        Array, dataset or columns to read, as in `open_vectors`.
    id_column : str, default=None
        Column of a table with the ids of the rows.

    Returns
    -------
    files : InspectedFiles
        The files, in order.

    Raises
    ------
    DataFormatError
        If a file does not have the expected content, or does not agree with the first file.
    """
    _formats.check_format(format)
    found = find_files(path, format)
    options = FileOptions(format, key, id_column=id_column)
    facts: list[FileFacts] = []
    files: list[InspectedFile] = []
    for file in open_agreeing(found.paths, options, read=True):
        with closing(file.store):
            facts.append(file.facts)
            files.append(_inspected(file))
    common_id_dtype(facts)
    first = facts[0]
    n_features = 0 if first.shape is None else first.shape[1]
    return InspectedFiles(
        found.name,
        tuple(files),
        n_features,
        common_dtype(facts),
        bool(first.is_sparse),
        first.feature_names,
    )


def _inspected(file: AgreeingFile) -> InspectedFile:
    key, starts = file.options.key, file.store.group_starts
    return InspectedFile(
        path=file.path,
        format=file.facts.format,
        key=(key,) if isinstance(key, str) else None if key is None else tuple(key),
        n_rows=file.store.shape[0],
        file_bytes=ByteSource(file.path).n_bytes(),
        stored_bytes=file.store.stored_bytes,
        group_starts=None if starts is None else tuple(starts),
    )
