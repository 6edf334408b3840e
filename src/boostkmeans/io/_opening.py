"""`open_vectors`: a file of vectors by its name."""

import io
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from boostkmeans import _progress
from boostkmeans._errors import DataFormatError
from boostkmeans.io import _formats
from boostkmeans.io._arrow_files import ParquetRows, read_ipc
from boostkmeans.io._binary_file import BinaryFile
from boostkmeans.io._hdf5 import open_hdf5
from boostkmeans.io._npy import MOST_HEADER, check_matrix, npy_header, open_npy
from boostkmeans.io._npz import open_npz
from boostkmeans.io._separated import DTYPE, read_separated
from boostkmeans.io._sizes import parse_bytes
from boostkmeans.io._source import GZIP_MAGIC, Source
from boostkmeans.io._sparse_rows import read_sparse
from boostkmeans.io._spool import PIECE, Spool
from boostkmeans.io._store import Deferred, Store
from boostkmeans.io._vector_files import COUNTED, LED, open_counted, open_led
from boostkmeans.io._vectors import Vectors

# Formats that hold several arrays, of which one is named; and those of columns, of which several are.
OF_ARRAYS, OF_COLUMNS = ("npz", "hdf5"), ("parquet", "arrow", "csv", "tsv")
# First bytes that tell the format.
HEAD = 16


def open_vectors(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    key: str | Sequence[str] | None = None,
    max_memory: int | str | None = None,
    progress: _progress.Progress | None = None,
) -> Vectors:
    """Opens a file of vectors, one a row. Its header is read and checked at once, its rows on demand.

    Parameters
    ----------
    path : path
        By its ending: `.npy`, `.npz` (arrays, or a sparse matrix as SciPy saves it), `.fvecs`, `.ivecs`,
        `.bvecs`, `.fbin`, `.ibin`, `.u8bin`, `.i8bin`, `.parquet`, `.arrow`, `.feather`, `.hdf5`,
        `.csv`, `.tsv`, `.mtx` (Matrix Market), `.svm` (svmlight) or `.mat` (CLUTO). "-" is standard
        input. Any of these may be compressed with gzip.
    format : str, default=None
        For files whose ending does not tell: "npy", "npz", "fvecs", "ivecs", "bvecs", "fbin", "ibin",
        "u8bin", "i8bin", "parquet", "arrow", "hdf5", "csv", "tsv", "matrix-market", "svmlight", "cluto".
        Without it, first bytes are looked at; standard input is CSV if they tell nothing.
    key : str or sequence of str, default=None
        The array of an `.npz`, the dataset of an HDF5 file (None: the only one, or "train"); the column
        of lists, or the columns of numbers, of a table (None: the only column of lists, or all).
    max_memory : int or str, default=None
        Bytes that may be used, such as "2GB". What can only be read once is kept in memory up to a
        quarter of it, and 1 GiB at most; what is more goes to a temporary file that has no name.
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
    source = Source(os.fspath(path))
    if source.path != "-" and Path(source.path).is_dir():
        raise IsADirectoryError(f"{source.path} is a folder, not a file of vectors.")
    kind = format or _formats.format_of(source.path) or _sniffed(source)
    opening = _Opening(source, kind, _keys(kind, key), limit, progress or _progress.ignored)
    return Vectors(source.name, kind, opening.store(), limit)


@dataclass(frozen=True)
class _Opening:
    source: Source
    kind: str
    keys: list[str] | None
    max_memory: int | None
    progress: _progress.Progress

    def store(self) -> Store:
        """The rows, from a file as it is, or from what has to be read once first."""
        source, kind = self.source, self.kind
        if source.path != "-":
            Path(source.path).stat()  # if there is none, say so now
        if kind in _formats.TEXTS:
            return Deferred(self._separated, dtype=DTYPE, is_sparse=False)
        if kind in _formats.SPARSE:
            return Deferred(lambda: read_sparse(source.name, kind, source.read()), is_sparse=True)
        if source.path == "-" or not _is_plain(source.path):
            return self._of_stream()
        file = BinaryFile(source.name, io.FileIO(source.path, "rb"))
        try:
            return self._of_file(file, source.path)
        except BaseException:
            file.close()
            raise

    def _separated(self) -> Store:
        return read_separated(self.source, self.kind, self.keys, self.max_memory, self.progress)

    def _of_file(self, file: BinaryFile, path: str | None) -> Store:
        """`path` is None for a file without a name."""
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
            return open_hdf5(file, key)
        if self.kind == "parquet":
            return ParquetRows(file, path, self.keys, self.max_memory)
        return Deferred(lambda: read_ipc(file, path, self.keys, self.max_memory), give_up=file.close)

    def _sparse_npz(self, file: BinaryFile) -> Store:
        def read() -> Store:
            with file.file:
                return read_sparse(file.name, "npz", file.head(file.size))

        return Deferred(read, is_sparse=True, give_up=file.close)

    def _of_stream(self) -> Store:
        """Uncompressed once, when the first row is wanted."""
        if self.kind != "npy" or self.source.path == "-" or not Path(self.source.path).is_file():
            return Deferred(lambda: self._of_file(self._spooled(None), None))
        with self.source.opened() as stream:
            header = npy_header(self.source.name, stream.read(MOST_HEADER))
        shape = check_matrix(self.source.name, header)
        length = header.length + header.n_bytes
        if length > self.source.most_bytes():
            raise DataFormatError(
                f"{self.source.name}: {length} bytes are promised, more than can be compressed into "
                "this file. It is damaged or cut short."
            )
        return Deferred(
            lambda: self._of_file(self._spooled(length), None),
            shape=shape,
            dtype=header.dtype.newbyteorder("="),
        )

    def _spooled(self, expected: int | None) -> BinaryFile:
        """What the stream has; of what should be so long, no more than shows that it is longer."""
        spool = Spool(self.max_memory)
        try:
            with self.source.opened() as stream:
                while piece := stream.read(PIECE):
                    spool.write(piece)
                    self.progress("reading", spool.size, expected)
                    if expected is not None and spool.size > expected:
                        break
            return spool.finished(self.source.name)
        finally:
            spool.close()


def _sniffed(source: Source) -> str:
    """The format by the first bytes."""
    if source.path != "-" and not Path(source.path).is_file():
        Path(source.path).stat()
        raise _formats.unknown(source.name)  # a pipe: its first bytes would be gone
    kind = _formats.format_by_magic(source.head(HEAD))
    if kind is None and source.path == "-":
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
    if kind not in (*OF_ARRAYS, *OF_COLUMNS):
        raise ValueError(f"A file of format {kind!r} holds one matrix: there is nothing to name by key.")
    if kind in OF_ARRAYS and len(keys) > 1:
        raise ValueError(f"Of a file of format {kind!r}, one array is read. Got the keys {keys}.")
    return keys


def _is_plain(path: str) -> bool:
    """Whether it is a file, and not compressed."""
    if not stat.S_ISREG(Path(path).stat().st_mode):
        return False
    with Path(path).open("rb") as file:
        return file.read(len(GZIP_MAGIC)) != GZIP_MAGIC
