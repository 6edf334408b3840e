"""Checks of the first bytes of a file or stream.

Compressed content can be a thousand times as long as its file. Before it is decompressed, the checks
detect content of another format or of an impossible length.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostkmeans._storage.tensors import LENGTH_BYTES
from boostkmeans.io._access.location import Location, other_format_remedy
from boostkmeans.io._access.row_stores import ROW_LENGTH
from boostkmeans.io._formats import FORMAT_BY_MAGIC
from boostkmeans.io._readers.cluto import check_first_line as check_cluto
from boostkmeans.io._readers.hdf5 import SIGNATURE
from boostkmeans.io._readers.matrix_market import check_banner
from boostkmeans.io._readers.npy import MAX_HEADER_BYTES, check_matrix, parse_header
from boostkmeans.io._readers.svmlight import check_lines
from boostkmeans.io._readers.vector_files import (
    BIN_DTYPES,
    BIN_HEADER,
    VECS_DTYPES,
    parse_bin_header,
)

# Number of bytes that suffice for all checks.
SIGNATURE_BYTES = MAX_HEADER_BYTES
# Offsets at which the signature of HDF5 may be. User data may precede it.
HDF5_OFFSETS = (0, 512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True)
class DeclaredSize:
    """Size of the content according to its header."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    n_bytes: int
    """Number of bytes of the content, including the header."""


def declared_size(name: str, format_name: str, head: bytes) -> DeclaredSize | None:
    """Return the size that the first bytes declare, or None if the format does not declare it there.

    Raises DataFormatError if the first bytes are not those of the format.
    """
    where = Location(name)
    if format_name == "npy":
        header = parse_header(where, head[:MAX_HEADER_BYTES])
        shape = check_matrix(where, header)
        return DeclaredSize(shape, header.dtype.newbyteorder("="), header.length + header.n_bytes)
    if format_name in BIN_DTYPES:
        shape = parse_bin_header(where, format_name, head)
        dtype = BIN_DTYPES[format_name]
        return DeclaredSize(shape, dtype, BIN_HEADER.size + shape[0] * shape[1] * dtype.itemsize)
    if format_name in VECS_DTYPES:
        _check_row_length(where, format_name, head)
    if format_name == "hdf5":
        _check_magic(where, format_name, any(head[at:].startswith(SIGNATURE) for at in HDF5_OFFSETS))
    if format_name == "safetensors":
        _check_magic(where, format_name, head[LENGTH_BYTES : LENGTH_BYTES + 1] == b"{")
    if format_name in ("npz", "parquet"):
        magic = next(one for one, name in FORMAT_BY_MAGIC.items() if name == format_name)
        _check_magic(where, format_name, head.startswith(magic))
    return None


def check_text(name: str, format_name: str, head: bytes, *, is_all: bool) -> None:
    """Raise DataFormatError unless a sparse matrix as text begins with these bytes.

    `is_all` is False if the file is longer. The last line is then ignored, because it may be incomplete.
    """
    complete = head if is_all else head[: head.rfind(b"\n") + 1]
    if complete or is_all:
        TEXT_CHECKS[format_name](name, complete)


TEXT_CHECKS: dict[str, Callable[[str, bytes], Any]] = {
    "matrix-market": check_banner,
    "cluto": check_cluto,
    "svmlight": check_lines,
}


def _check_row_length(where: Location, format_name: str, head: bytes) -> None:
    size = ROW_LENGTH.itemsize
    length = struct.unpack("<i", head[:size])[0] if len(head) >= size else 0
    if length < 1:
        raise where.error(
            f"A {format_name} file begins with the length of its first row, but this file does not.",
            other_format_remedy("The file may be empty or damaged."),
        )


def _check_magic(where: Location, format_name: str, good: bool) -> None:
    if not good:
        raise where.error(
            f"The file does not begin like a file of format {format_name!r}.", other_format_remedy()
        )
