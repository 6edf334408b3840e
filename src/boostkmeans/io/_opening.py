"""`open_vectors`: a file of vectors by its name."""

import io
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from boostkmeans._data.memory import default_memory_limit
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io import _formats
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.byte_source import GZIP_MAGIC, ByteSource
from boostkmeans.io._access.spool import PIECE, Spool
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._readers.arrow_files import ParquetRows, open_ipc
from boostkmeans.io._readers.hdf5 import open_hdf5
from boostkmeans.io._readers.npy import open_npy
from boostkmeans.io._readers.npz import open_npz
from boostkmeans.io._readers.separated import DTYPE, TableOptions, check_table, read_separated
from boostkmeans.io._readers.sparse_store import read_sparse
from boostkmeans.io._readers.vector_files import COUNTED, LED, open_counted, open_led
from boostkmeans.io._signatures import ENOUGH, check_text, declared_size
from boostkmeans.io._sizes import parse_bytes
from boostkmeans.io._vectors import Vectors

# Formats that hold several arrays, of which one is named; and those of columns, of which several are.
OF_ARRAYS, OF_COLUMNS = ("npz", "hdf5"), ("parquet", "arrow", "csv", "tsv")
# First bytes that tell the format.
HEAD = 16


def open_vectors(
    path: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    *,
    format: str | None = None,  # noqa: A002
    key: str | Sequence[str] | None = None,
    header: bool | None = None,
    max_memory: int | str | None = None,
    progress: ProgressCallback | None = None,
) -> Vectors:
    """Opens a file of vectors, one a row. Its beginning is checked at once, its rows are read on demand.

    Parameters
    ----------
    path : path
        By its ending: `.npy`, `.npz` (arrays, or a sparse matrix as SciPy saves it), `.fvecs`, `.ivecs`,
        `.bvecs`, `.fbin`, `.f16bin`, `.ibin`, `.u8bin`, `.i8bin`, `.parquet`, `.arrow`, `.feather`,
        `.hdf5`, `.csv`, `.txt`, `.dat`, `.tsv`, `.mtx` (Matrix Market), `.svm` (svmlight) or `.mat`
        (CLUTO). "-" is standard input. Any of these may be compressed with gzip.
    format : str, default=None
        For files whose ending does not tell: "npy", "npz", "fvecs", "ivecs", "bvecs", "fbin", "ibin",
        "u8bin", "i8bin", "parquet", "arrow", "hdf5", "csv", "tsv", "matrix-market", "svmlight",
        "cluto". Without it, first bytes are looked at; standard input is CSV if they tell nothing.
    key : str or sequence of str, default=None
        The array of an `.npz`, the dataset of an HDF5 file (None: the only one, or "train"); the column
        of lists, or the columns of numbers, of a table (None: the only column of lists, or all).
    header : bool, default=None
        Whether the first line of a CSV or TSV has names (None: if none of them is a number).
    max_memory : int or str, default=None
        Bytes that may be used, such as "2GB". What can only be read once is kept in memory up to a
        quarter of it, and 1 GiB at most; what is more goes to a temporary file that has no name, in
        the folder that the variable TMPDIR names.
    progress : callable, default=None
        Called as `progress(what, done, total)` while a file is read that takes a pass.

    Raises
    ------
    DataFormatError
        The file is not what it should be; the message names file, place and remedy.

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
    limit = None if max_memory is None else parse_bytes(max_memory)
    source = ByteSource(os.fsdecode(path))
    _check_path(source.path)
    kind = format or _by_name(source) or _sniffed(source)
    if header is not None and kind not in _formats.TEXTS:
        raise ValueError(f"header is for tables as text, and not for a file of format {kind!r}.")
    opening = _Opening(source, kind, _keys(kind, key), header, limit, progress or ignore_progress)
    return Vectors(source.name, kind, opening.store(), limit)


@dataclass(frozen=True)
class _Opening:
    source: ByteSource
    kind: str
    keys: list[str] | None
    header: bool | None
    max_memory: int | None
    progress: ProgressCallback

    def store(self) -> Store:
        """The rows, from a file as it is, or from what has to be read once first."""
        source, kind = self.source, self.kind
        is_file = source.path != "-" and stat.S_ISREG(Path(source.path).stat().st_mode)
        if kind in _formats.TEXTS:
            options = TableOptions(kind, self.keys, self.header)
            if is_file:
                check_table(source, options)
            return LazyStore(
                source.name,
                lambda: read_separated(source, options, self.max_memory, self.progress),
                dtype=DTYPE,
                is_sparse=False,
            )
        if kind in _formats.SPARSE:
            if is_file:
                head = source.beginning(ENOUGH)
                check_text(source.name, kind, head, len(head) < ENOUGH)
            return LazyStore(source.name, self._sparse, is_sparse=True)
        if not is_file:
            return LazyStore(source.name, self._spooled_rows)
        file = BinaryFile(source.name, io.FileIO(source.path, "rb"))
        try:
            if file.head(len(GZIP_MAGIC)) != GZIP_MAGIC:
                return self._of_file(file)
        except BaseException:
            file.close()
            raise
        file.close()
        return self._of_compressed()

    def _sparse(self) -> Store:
        most = default_memory_limit() if self.max_memory is None else self.max_memory
        return read_sparse(self.source.name, self.kind, self.source.read(most))

    def _of_file(self, file: BinaryFile) -> Store:
        key = self.keys[0] if self.keys else None
        if self.kind == "npy":
            return open_npy(file)
        if self.kind in LED:
            return open_led(file, self.kind)
        if self.kind in COUNTED:
            return open_counted(file, self.kind)
        if self.kind == "npz":
            return open_npz(file, key, self.max_memory) or self._sparse_npz(file)
        if self.kind == "hdf5":
            return open_hdf5(file, key, self.max_memory)
        if self.kind == "parquet":
            return ParquetRows(file, self.keys, self.max_memory)
        return open_ipc(file, self.keys, self.max_memory)

    def _sparse_npz(self, file: BinaryFile) -> Store:
        def read() -> Store:
            with file.file:
                return read_sparse(file.name, "npz", file.head(file.size))

        return LazyStore(file.name, read, file=file, is_sparse=True)

    def _of_compressed(self) -> Store:
        """Uncompressed once, when the first row is wanted."""
        name = self.source.name
        promise = declared_size(name, self.kind, self.source.beginning(ENOUGH))
        if promise is None:
            return LazyStore(name, self._spooled_rows)
        if promise.length > self.source.most_bytes():
            raise DataFormatError(
                f"{name}: {promise.length} bytes are promised, more than can be compressed into this "
                "file. It is damaged or cut short."
            )
        return LazyStore(name, self._spooled_rows, shape=promise.shape, dtype=promise.dtype)

    def _spooled_rows(self) -> Store:
        file = self._spooled()
        try:
            return self._of_file(file)
        except BaseException:
            file.close()
            raise

    def _spooled(self) -> BinaryFile:
        """What the stream has; of what should be so long, no more than shows that it is longer."""
        spool = Spool(self.max_memory)
        expected = None
        try:
            with self.source.opened() as stream:
                while piece := stream.read(PIECE):
                    if spool.size == 0:
                        promise = declared_size(self.source.name, self.kind, piece[:ENOUGH])
                        expected = promise.length if promise else None
                    spool.write(piece)
                    self.progress("reading", spool.size, expected)
                    if expected is not None and spool.size > expected:
                        break
            return spool.finished(self.source.name)
        finally:
            spool.close()


def _check_path(path: str) -> None:
    """Raises an error that says more than that there is no such file."""
    if not path:
        raise ValueError("path must name a file, or be '-' for standard input. Got ''.")
    if "://" in path and not Path(path).exists():
        raise ValueError(f"{path} is an address, not a file: download it first.")
    if path != "-" and Path(path).is_dir():
        parts = any(Path(path).glob("*.parquet"))
        remedy = " Its Parquet files are parts of a table: open them one by one, or join them." * parts
        raise IsADirectoryError(f"{path} is a folder, not a file of vectors.{remedy}")


def _by_name(source: ByteSource) -> str | None:
    """The format by the ending, which the first bytes of a file must not belie."""
    kind = _formats.format_of(source.path)
    if kind is not None and Path(source.path).is_file():
        _formats.check_agreement(source.name, kind, source.head(HEAD))
    return kind


def _sniffed(source: ByteSource) -> str:
    """The format by the first bytes."""
    if not source.is_stream and not Path(source.path).is_file():
        Path(source.path).stat()
        raise _formats.unknown(source.name)  # a device
    kind = _formats.format_by_magic(source.head(HEAD))
    if kind is None and source.is_stream:
        return "csv"
    if kind is None:
        raise _formats.unknown(source.name)
    return kind


def _keys(kind: str, key: str | Sequence[str] | None) -> list[str] | None:
    if key is None:
        return None
    keys = [key] if isinstance(key, str) else list(cast(Sequence[Any], key))
    if not keys or not all(isinstance(one, str) for one in keys):
        raise ValueError(f"key must be a name or several. Got {key!r}.")
    if len(set(keys)) < len(keys):
        raise ValueError(f"key must name each column once. Got {keys}.")
    if kind not in (*OF_ARRAYS, *OF_COLUMNS):
        raise ValueError(f"A file of format {kind!r} holds one matrix: there is nothing to name by key.")
    if kind in OF_ARRAYS and len(keys) > 1:
        raise ValueError(f"Of a file of format {kind!r}, one array is read. Got the keys {keys}.")
    return keys
