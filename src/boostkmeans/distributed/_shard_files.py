"""`open_shards`: files of vectors as shards of a distributed fit."""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError, ParameterError, StructuredError
from boostkmeans.distributed._column_advice import for_open_shards
from boostkmeans.distributed._row_ranges import cut_rows
from boostkmeans.io import (
    InspectedFile,
    InspectedFiles,
    Vectors,
    inspect_files,
    open_vectors,
)
from boostkmeans.io._access.urls import public_name
from boostkmeans.io._file_sets import AnyPath
from boostkmeans.io._sizes import parse_memory

# Default size of the largest shard. A worker slot needs several shards for an even load, and each of
# them should take seconds, not milliseconds.
MAX_SHARD_BYTES = "128MB"


@dataclass(frozen=True)
class ShardFile:
    """Consecutive rows of a file. It is small and can be pickled; a worker reads the rows.

    Parameters
    ----------
    path : str
        Path of the file. Every worker must be able to read it.
    begin, end : int
        Range of rows, with `end` excluded.
    n_rows_of_file : int
        Number of rows of the whole file.
    file_bytes : int
        Size of the file.
    n_features : int
        Number of columns.
    dtype : str
        Type to which the values are converted: the common type of all files.
    format : str or None, default=None
        Format of the file, if its suffix does not identify it.
    key : tuple of str or None, default=None
        Columns or array to read.
    id_column : str or None, default=None
        Column with the ids of the rows.
    """

    path: str = field(repr=False)  # a URL may contain a password
    begin: int
    end: int
    n_rows_of_file: int
    file_bytes: int
    n_features: int
    dtype: str
    format: str | None = None
    key: tuple[str, ...] | None = None
    id_column: str | None = None

    def __len__(self) -> int:
        return self.end - self.begin

    def __repr__(self) -> str:
        return f"ShardFile({self.name!r})"

    @property
    def name(self) -> str:
        """Name for messages: the path without a password, and the rows if they are not all rows."""
        if self.end - self.begin == self.n_rows_of_file:
            return public_name(self.path)
        return f"{public_name(self.path)}[{self.begin}:{self.end}]"

    def read(self) -> Any:
        """Read the rows.

        Returns
        -------
        rows : ndarray or csr_array
            The rows from `begin` to `end`, in the common stored type of all files.

        Raises
        ------
        DataFormatError
            If the file is damaged, missing, or was modified after `open_shards`. The error names the
            file.
        """
        with self._opened() as vectors:
            rows = vectors.read(self.begin, self.end)
        return rows.astype(self.dtype, copy=False)

    def read_ids(self) -> NDArray[Any] | None:
        """Read the ids of the rows.

        Returns
        -------
        ids : ndarray or None
            Integers, or strings in an array of objects. None if there is no column of ids.

        Raises
        ------
        DataFormatError
            If the file is damaged, missing, or was modified after `open_shards`.
        """
        if self.id_column is None:
            return None
        with self._opened() as vectors:
            return vectors.read_ids(self.begin, self.end)

    def _opened(self) -> Vectors:
        try:
            vectors = open_vectors(self.path, format=self.format, key=self.key, id_column=self.id_column)
        except FileNotFoundError:
            raise DataFormatError(
                f"The file is missing on {platform.node()}. It existed when the shards were opened.",
                file=public_name(self.path),
                remedy="Use a folder that all machines share, or an object store.",
            ) from None
        try:
            self._check_unchanged(vectors)
        except BaseException:
            vectors.close()
            raise
        return vectors

    def _check_unchanged(self, vectors: Vectors) -> None:
        expected = (self.n_rows_of_file, self.n_features)
        if vectors.shape == expected and vectors.file_bytes == self.file_bytes:
            return
        raise DataFormatError(
            f"The file had {expected[0]:,} rows of {expected[1]:,} values in {self.file_bytes:,} bytes "
            f"when the shards were opened. On {platform.node()} it has {vectors.shape[0]:,} rows of "
            f"{vectors.shape[1]:,} values in {vectors.file_bytes:,} bytes.",
            file=public_name(self.path),
            remedy="Do not modify files during a fit. All machines must see the same files.",
        )


@dataclass(frozen=True)
class Shards:
    """The shards of a data set, in order. Created by `open_shards`.

    Parameters
    ----------
    name : str
        Name of the data set: the path, the pattern, or the first of several paths.
    parts : tuple of ShardFile
        The shards.
    shape : tuple of int
        Number of rows of all shards, and number of columns.
    dtype : dtype
        Common type of the values: it holds the values of all files exactly.
    is_sparse : bool
        Whether the rows are CSR matrices.
    feature_names : list of str or None, default=None
        Names of the columns, if the files have names.
    id_column : str or None, default=None
        Column with the ids of the rows.
    """

    name: str
    parts: tuple[ShardFile, ...]
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    is_sparse: bool
    feature_names: list[str] | None = None
    id_column: str | None = None

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        return f"Shards({self.name!r}, {len(self)} shards, shape={self.shape}, dtype={self.dtype})"

    def __array__(self, *args: Any, **options: Any) -> Any:
        """Raise ParameterError: workers read the rows. Local estimators convert X to an array."""
        raise ParameterError(
            "X",
            "rows in memory or from boostkmeans.io.open_vectors",
            type(self).__name__,
            remedy="boostkmeans.distributed.BoostKMeans fits the result of open_shards.",
        )

    @property
    def names(self) -> list[str]:
        """Names of the shards, for messages."""
        return [part.name for part in self.parts]


def open_shards(
    paths: AnyPath | Iterable[AnyPath],
    *,
    column: str | Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002
    id_column: str | None = None,
    max_shard_bytes: int | str = MAX_SHARD_BYTES,
) -> Shards:
    """Open files of vectors as shards of a distributed fit.

    A file is one shard, unless it is larger than `max_shard_bytes`. Only the files and this limit
    determine the shards, never the number of workers. Headers and footers of all files are read and
    compared at once, and workers read the rows. Formats that do not state the number of rows in a
    header (CSV, TSV, Arrow, and everything compressed with gzip) are read once here.

    Parameters
    ----------
    paths : path or sequence of paths
        A file, a pattern such as "emb-*.parquet", a folder, or a sequence of these, as in
        `boostkmeans.io.open_vectors`. The files of a pattern or a folder are in the lexicographic
        order of their paths. All workers must be able to read the files by the same paths.
    column : str or sequence of str, default=None
        Column of lists, or columns of numbers, of a table; array or dataset of an `.npz` or HDF5 file.
        By default, it is chosen as in `open_vectors`.
    format : str, default=None
        Format of the files, if their suffix does not identify it.
    id_column : str, default=None
        Column of a table with the ids of the rows, which are strings or integers.
    max_shard_bytes : int or str, default="128MB"
        Largest size of a shard, in the type in which the values are stored. A larger file is cut into
        ranges of rows of equal length. In Parquet files, ranges consist of whole row groups if no
        group is larger than this limit. A sparse file that is cut is read as a whole for each of its
        shards, so that several smaller files are faster.

    Returns
    -------
    shards : Shards
        The shards, in order.

    Raises
    ------
    DataFormatError
        If a file does not have the expected content, or if its columns differ from those of the first
        file. The message names the file.
    FileNotFoundError
        If a file is missing, or if a pattern or a folder has no matching file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from boostkmeans.distributed import open_shards
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(3):
    ...         np.save(pathlib.Path(folder, f"emb-{i}.npy"), np.full((4, 2), float(i)))
    ...     shards = open_shards(f"{folder}/emb-*.npy")
    ...     shards.shape, len(shards), shards.parts[2].read()[0].tolist()
    ((12, 2), 3, [2.0, 2.0])
    """
    max_bytes = parse_memory("max_shard_bytes", max_shard_bytes)
    try:
        found = inspect_files(paths, format=format, key=column, id_column=id_column)
    except StructuredError as error:
        raise for_open_shards(error) from None
    parts = [
        part for file in found.files for part in _shards_of(file, found, format, id_column, max_bytes)
    ]
    return Shards(
        name=found.name,
        parts=tuple(parts),
        shape=found.shape,
        dtype=found.dtype,
        is_sparse=found.is_sparse,
        feature_names=found.feature_names,
        id_column=id_column,
    )


def _shards_of(
    file: InspectedFile,
    found: InspectedFiles,
    format_name: str | None,
    id_column: str | None,
    max_bytes: int,
) -> list[ShardFile]:
    row_bytes = max(1, file.stored_bytes // max(1, file.n_rows))
    max_rows = max(1, max_bytes // row_bytes)
    return [
        ShardFile(
            path=file.path,
            begin=begin,
            end=end,
            n_rows_of_file=file.n_rows,
            file_bytes=file.file_bytes,
            n_features=found.n_features,
            dtype=found.dtype.str,
            format=format_name,
            key=file.key,
            id_column=id_column,
        )
        for begin, end in cut_rows(file.n_rows, max_rows, file.group_starts)
    ]
