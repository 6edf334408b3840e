"""`open_file`: the rows of one file, in any format."""

from dataclasses import dataclass
from pathlib import Path

from boostkmeans._data.memory import default_memory_limit
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io import _formats
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.byte_source import GZIP_MAGIC, ByteSource
from boostkmeans.io._access.spool import PIECE_BYTES, Room, Spool
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._access.table_columns import TableColumns
from boostkmeans.io._file_options import (
    FileOptions,
    check_header,
    check_id_column,
    checked_drop,
    checked_keys,
)
from boostkmeans.io._readers.arrow.ipc_files import open_ipc
from boostkmeans.io._readers.arrow.parquet_store import ParquetStore
from boostkmeans.io._readers.hdf5 import open_hdf5
from boostkmeans.io._readers.json_lines import check_json_lines, read_json_lines
from boostkmeans.io._readers.npy import open_npy
from boostkmeans.io._readers.npz import open_npz, sparse_header
from boostkmeans.io._readers.safetensors_file import open_safetensors
from boostkmeans.io._readers.separated import DTYPE, TableOptions, check_table, read_separated
from boostkmeans.io._readers.sparse_store import read_sparse
from boostkmeans.io._readers.vector_files import BIN_DTYPES, VECS_DTYPES, open_bin, open_vecs
from boostkmeans.io._signatures import SIGNATURE_BYTES, check_text, declared_size

# Number of bytes at the beginning of a file that are read to identify its format.
MAGIC_BYTES = 16


@dataclass(frozen=True)
class OpenedFile:
    """A file whose beginning was checked, and its rows."""

    name: str
    format: str
    store: Store


def open_file(path: str, options: FileOptions) -> OpenedFile:
    """Open a file, or standard input for "-"."""
    source = ByteSource(path)
    _check_path(source.path)
    format_name = options.format or _format_by_name(source) or _format_by_content(source)
    check_header(format_name, options.header)
    keys = checked_keys(format_name, options.key)
    check_id_column(format_name, options.id_column, keys)
    columns = TableColumns(keys, options.id_column, checked_drop(format_name, options.drop))
    return OpenedFile(source.name, format_name, _Opener(source, format_name, columns, options).store())


@dataclass(frozen=True)
class _Opener:
    """A file with checked options, and the creation of a matching store."""

    source: ByteSource
    format_name: str
    table_columns: TableColumns
    """The columns to read. `key` is also the name of an array."""
    options: FileOptions

    @property
    def room(self) -> Room:
        """Limits of memory and disk for temporary data."""
        return self.options.room_for([self.source])

    def store(self) -> Store:
        """Return the rows of the file, either directly or after a pass over the content."""
        source = self.source
        is_file = source.is_regular_file()
        if self.format_name in _formats.TEXT_TABLES:
            return self._text_table(is_file)
        if self.format_name == "jsonl":
            return self._json_lines(is_file)
        if self.format_name in _formats.SPARSE_TEXTS:
            if is_file:
                head = source.beginning(SIGNATURE_BYTES)
                is_all = len(head) < SIGNATURE_BYTES
                check_text(source.name, self.format_name, head, is_all=is_all)
            return LazyStore(source.name, self._sparse, is_sparse=True)
        if not is_file:
            return LazyStore(source.name, self._spooled_store)
        file = source.binary_file()
        try:
            if file.head(len(GZIP_MAGIC)) != GZIP_MAGIC:
                return self._binary_store(file)
        except BaseException:
            file.close()
            raise
        file.close()
        return self._compressed_store()

    def _text_table(self, is_file: bool) -> Store:
        options = TableOptions(self.format_name, self.table_columns, self.options.header)
        if is_file:
            check_table(self.source, options)
        return LazyStore(
            self.source.name,
            lambda: read_separated(self.source, options, self.room, self.options.progress),
            dtype=DTYPE,
            is_sparse=False,
        )

    def _json_lines(self, is_file: bool) -> Store:
        if is_file:
            check_json_lines(self.source, self.table_columns)
        return LazyStore(
            self.source.name,
            lambda: read_json_lines(self.source, self.table_columns, self.room, self.options.progress),
            dtype=DTYPE,
            is_sparse=False,
        )

    def _sparse(self) -> Store:
        given = self.options.max_memory
        limit = default_memory_limit() if given is None else given
        return read_sparse(self.source.name, self.format_name, self.source.read(limit))

    def _binary_store(self, file: BinaryFile) -> Store:
        key = self.table_columns.key[0] if self.table_columns.key else None
        if self.format_name == "npy":
            return open_npy(file, room=self.room)
        if self.format_name in VECS_DTYPES:
            return open_vecs(file, self.format_name)
        if self.format_name in BIN_DTYPES:
            return open_bin(file, self.format_name)
        if self.format_name == "npz":
            return open_npz(file, key, self.room, self.options.progress) or self._sparse_npz(file)
        if self.format_name == "safetensors":
            return open_safetensors(file, key)
        if self.format_name == "hdf5":
            return open_hdf5(file, key, self.room)
        if self.format_name == "parquet":
            return ParquetStore(file, self.table_columns, self.room)
        return open_ipc(file, self.table_columns, self.room)

    def _sparse_npz(self, file: BinaryFile) -> Store:
        def read() -> Store:
            with file.file:
                return read_sparse(file.name, "npz", file.head(file.size))

        declared = sparse_header(file)
        if declared is None:
            return LazyStore(file.name, read, file=file, is_sparse=True)
        return LazyStore(
            file.name,
            read,
            file=file,
            shape=declared.shape,
            dtype=declared.dtype,
            is_sparse=True,
            stored_bytes=declared.n_bytes,
        )

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
        shape, dtype = declared.shape, declared.dtype
        return LazyStore(name, self._spooled_store, shape=shape, dtype=dtype, is_sparse=False)

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
        spool = Spool(self.room)
        expected = None
        try:
            with self.source.opened() as stream:
                while piece := stream.read(PIECE_BYTES):
                    if spool.size == 0:
                        head = piece[:SIGNATURE_BYTES]
                        declared = declared_size(self.source.name, self.format_name, head)
                        expected = declared.n_bytes if declared else None
                        spool = Spool(self.room, expected)
                    spool.write(piece)
                    self.options.progress("reading", spool.size, expected)
                    if expected is not None and spool.size > expected:
                        break
            return spool.finish(self.source.name)
        finally:
            spool.close()


def _check_path(path: str) -> None:
    """Raise an error that explains why the path cannot be opened."""
    if not path:
        raise ParameterError("path", "the name of a file, or '-' for standard input", path)
    if path != "-" and Path(path).is_dir():
        raise IsADirectoryError(f"{escape_untrusted(path)} is a folder, not a file of vectors.")


def _format_by_name(source: ByteSource) -> str | None:
    """Return the format for the suffix. Raise DataFormatError if the content contradicts it."""
    format_name = _formats.format_by_suffix(source.name)
    if format_name is not None and source.is_regular_file():
        _formats.check_agreement(source.location, format_name, source.head(MAGIC_BYTES))
    return format_name


def _format_by_content(source: ByteSource) -> str:
    """Return the format that the first bytes identify, or "csv" for streams."""
    if not source.is_stream and source.remote is None and not source.is_regular_file():
        raise _formats.unknown_format_error(source.location)  # a device
    format_name = _formats.format_by_magic(source.head(MAGIC_BYTES))
    if format_name is None and source.is_stream:
        return "csv"
    if format_name is None:
        raise _formats.unknown_format_error(source.location)
    return format_name
