"""`open_vectors`: open a file of vectors of any format."""

import io
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from boostkmeans._data.memory import default_memory_limit
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io import _formats
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.byte_source import GZIP_MAGIC, ByteSource
from boostkmeans.io._access.spool import PIECE_BYTES, Spool
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._readers.arrow_files import ParquetStore, open_ipc
from boostkmeans.io._readers.hdf5 import open_hdf5
from boostkmeans.io._readers.npy import open_npy
from boostkmeans.io._readers.npz import open_npz
from boostkmeans.io._readers.separated import DTYPE, TableOptions, check_table, read_separated
from boostkmeans.io._readers.sparse_store import read_sparse
from boostkmeans.io._readers.vector_files import BIN_DTYPES, VECS_DTYPES, open_bin, open_vecs
from boostkmeans.io._signatures import SIGNATURE_BYTES, check_text, declared_size
from boostkmeans.io._sizes import parse_memory
from boostkmeans.io._vectors import Vectors

# Formats of files that hold several arrays. `key` names one of them.
ARRAY_FORMATS = ("npz", "hdf5")
# Formats of tables. `key` names one or more columns.
TABLE_FORMATS = ("parquet", "arrow", "csv", "tsv")
# Number of bytes at the beginning of a file that are read to identify its format.
MAGIC_BYTES = 16


def open_vectors(
    path: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    *,
    format: str | None = None,  # noqa: A002
    key: str | Sequence[str] | None = None,
    header: bool | None = None,
    max_memory: int | str | None = None,
    progress: ProgressCallback | None = None,
) -> Vectors:
    """Open a file of vectors, one per row.

    The beginning of the file is checked at once. Rows are read when they are needed.

    Parameters
    ----------
    path : path
        Name of the file. The format follows from its suffix: `.npy`, `.npz` (arrays, or a sparse matrix
        saved by SciPy), `.fvecs`, `.ivecs`, `.bvecs`, `.fbin`, `.f16bin`, `.ibin`, `.u8bin`, `.i8bin`,
        `.parquet`, `.arrow`, `.feather`, `.hdf5`, `.csv`, `.txt`, `.dat`, `.tsv`, `.mtx` (Matrix
        Market), `.svm` (svmlight) or `.mat` (CLUTO). "-" is standard input. Every file may be
        compressed with gzip.
    format : str, default=None
        Format of the file, if its suffix does not identify it: "npy", "npz", "fvecs", "ivecs", "bvecs",
        "fbin", "ibin", "u8bin", "i8bin", "parquet", "arrow", "hdf5", "csv", "tsv", "matrix-market",
        "svmlight" or "cluto". By default, the format is detected from the first bytes; standard input is
        CSV if they do not identify a format.
    key : str or sequence of str, default=None
        Array of an `.npz` file or dataset of an HDF5 file; by default the only one, or "train". For
        tables, the column of lists or the columns of numbers; by default the only column of lists, or
        all columns.
    header : bool, default=None
        Whether the first line of a CSV or TSV file holds column names. By default, it does if none of
        its cells is a number.
    max_memory : int or str, default=None
        Memory limit, in bytes or as a string such as "2GB"; by default half of the machine's memory.
        Content that can be read only once is stored in memory up to a quarter of the limit and at most
        1 GiB. Larger content goes to an unnamed temporary file in the folder that the environment
        variable TMPDIR names.
    progress : callable, default=None
        Function called as `progress(what, done, total)` while a file must be read as a whole.

    Returns
    -------
    vectors : Vectors
        The rows of the file.

    Raises
    ------
    DataFormatError
        If the file does not have the expected content. The message names the file, the place and a
        remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from boostkmeans.io import open_vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "some.npy")
    ...     np.save(path, np.arange(6.0).reshape(3, 2))
    ...     with open_vectors(path) as vectors:
    ...         vectors.shape, vectors[-1].tolist(), [len(batch) for batch in vectors.batches(2)]
    ((3, 2), [4.0, 5.0], [2, 1])
    """
    _formats.check_format(format)
    limit = None if max_memory is None else parse_memory("max_memory", max_memory)
    source = ByteSource(os.fsdecode(path))
    _check_path(source.path)
    format_name = format or _format_by_name(source) or _format_by_content(source)
    if header is not None and format_name not in _formats.TEXT_TABLES:
        raise ParameterConflictError(
            Message(
                "{header} is for tables as text, but the format of this file is {name!r}.",
                header=Parameter("header"),
                name=format_name,
            )
        )
    keys = _checked_keys(format_name, key)
    opener = _Opener(source, format_name, keys, header, limit, progress or ignore_progress)
    return Vectors(source.name, format_name, opener.store(), limit)


@dataclass(frozen=True)
class _Opener:
    """Arguments of `open_vectors`, and the creation of a matching store."""

    source: ByteSource
    format_name: str
    keys: list[str] | None
    header: bool | None
    max_memory: int | None
    progress: ProgressCallback

    def store(self) -> Store:
        """Return the rows of the file, either directly or after a pass over the content."""
        source = self.source
        is_file = source.path != "-" and stat.S_ISREG(Path(source.path).stat().st_mode)
        if self.format_name in _formats.TEXT_TABLES:
            return self._text_table(is_file)
        if self.format_name in _formats.SPARSE_TEXTS:
            if is_file:
                head = source.beginning(SIGNATURE_BYTES)
                is_all = len(head) < SIGNATURE_BYTES
                check_text(source.name, self.format_name, head, is_all=is_all)
            return LazyStore(source.name, self._sparse, is_sparse=True)
        if not is_file:
            return LazyStore(source.name, self._spooled_store)
        file = BinaryFile(source.name, io.FileIO(source.path, "rb"))
        try:
            if file.head(len(GZIP_MAGIC)) != GZIP_MAGIC:
                return self._binary_store(file)
        except BaseException:
            file.close()
            raise
        file.close()
        return self._compressed_store()

    def _text_table(self, is_file: bool) -> Store:
        options = TableOptions(self.format_name, self.keys, self.header)
        if is_file:
            check_table(self.source, options)
        return LazyStore(
            self.source.name,
            lambda: read_separated(self.source, options, self.max_memory, self.progress),
            dtype=DTYPE,
            is_sparse=False,
        )

    def _sparse(self) -> Store:
        limit = default_memory_limit() if self.max_memory is None else self.max_memory
        return read_sparse(self.source.name, self.format_name, self.source.read(limit))

    def _binary_store(self, file: BinaryFile) -> Store:
        key = self.keys[0] if self.keys else None
        if self.format_name == "npy":
            return open_npy(file)
        if self.format_name in VECS_DTYPES:
            return open_vecs(file, self.format_name)
        if self.format_name in BIN_DTYPES:
            return open_bin(file, self.format_name)
        if self.format_name == "npz":
            return open_npz(file, key, self.max_memory) or self._sparse_npz(file)
        if self.format_name == "hdf5":
            return open_hdf5(file, key, self.max_memory)
        if self.format_name == "parquet":
            return ParquetStore(file, self.keys, self.max_memory)
        return open_ipc(file, self.keys, self.max_memory)

    def _sparse_npz(self, file: BinaryFile) -> Store:
        def read() -> Store:
            with file.file:
                return read_sparse(file.name, "npz", file.head(file.size))

        return LazyStore(file.name, read, file=file, is_sparse=True)

    def _compressed_store(self) -> Store:
        """Return a store that decompresses the file when the first row is needed."""
        name = self.source.name
        declared = declared_size(name, self.format_name, self.source.beginning(SIGNATURE_BYTES))
        if declared is None:
            return LazyStore(name, self._spooled_store)
        if declared.n_bytes > self.source.max_bytes():
            raise self.source.location.error(
                f"The header declares {declared.n_bytes:,} bytes, more than a compressed file of this "
                "size can contain. The file is damaged or truncated.",
                "Copy it again.",
            )
        return LazyStore(name, self._spooled_store, shape=declared.shape, dtype=declared.dtype)

    def _spooled_store(self) -> Store:
        file = self._spooled()
        try:
            return self._binary_store(file)
        except BaseException:
            file.close()
            raise

    def _spooled(self) -> BinaryFile:
        """Return the content of the stream as a file.

        Reading stops as soon as there is more content than the header declares: this is an error, and
        the rest could be arbitrarily long.
        """
        spool = Spool(self.max_memory)
        expected = None
        try:
            with self.source.opened() as stream:
                while piece := stream.read(PIECE_BYTES):
                    if spool.size == 0:
                        head = piece[:SIGNATURE_BYTES]
                        declared = declared_size(self.source.name, self.format_name, head)
                        expected = declared.n_bytes if declared else None
                    spool.write(piece)
                    self.progress("reading", spool.size, expected)
                    if expected is not None and spool.size > expected:
                        break
            return spool.finish(self.source.name)
        finally:
            spool.close()


def _check_path(path: str) -> None:
    """Raise an error that explains why the path cannot be opened."""
    if not path:
        raise ParameterError("path", "the name of a file, or '-' for standard input", path)
    if "://" in path and not Path(path).exists():
        raise ValueError(f"{path} is a URL, not a file. Download the file first.")
    if path != "-" and Path(path).is_dir():
        is_dataset = any(Path(path).glob("*.parquet"))
        remedy = " Open its Parquet files one by one, or join them into one file." if is_dataset else ""
        raise IsADirectoryError(f"{path} is a folder, not a file of vectors.{remedy}")


def _format_by_name(source: ByteSource) -> str | None:
    """Return the format for the suffix. Raise DataFormatError if the content contradicts it."""
    format_name = _formats.format_by_suffix(source.path)
    if format_name is not None and Path(source.path).is_file():
        _formats.check_agreement(source.location, format_name, source.head(MAGIC_BYTES))
    return format_name


def _format_by_content(source: ByteSource) -> str:
    """Return the format that the first bytes identify, or "csv" for streams."""
    if not source.is_stream and not Path(source.path).is_file():
        Path(source.path).stat()  # raise FileNotFoundError if there is no such file
        raise _formats.unknown_format_error(source.location)  # a device
    format_name = _formats.format_by_magic(source.head(MAGIC_BYTES))
    if format_name is None and source.is_stream:
        return "csv"
    if format_name is None:
        raise _formats.unknown_format_error(source.location)
    return format_name


def _checked_keys(format_name: str, key: str | Sequence[str] | None) -> list[str] | None:
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
