"""Formats for vectors: .fvecs, .ivecs and .bvecs of TexMex, and .fbin and its variants of big-ann."""

import struct
from typing import Any

import numpy as np

from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.location import Location, other_format_remedy
from boostkmeans.io._access.row_stores import ROW_LENGTH, RowStore, VecsStore
from boostkmeans.io._access.store import Store

# Types of the formats in which a length precedes each row.
VECS_DTYPES: dict[str, np.dtype[Any]] = {
    "fvecs": np.dtype("<f4"),
    "ivecs": np.dtype("<i4"),
    "bvecs": np.dtype("u1"),
}
# Types of the formats in which a header precedes all rows.
BIN_DTYPES: dict[str, np.dtype[Any]] = {
    "fbin": np.dtype("<f4"),
    "f16bin": np.dtype("<f2"),
    "ibin": np.dtype("<i4"),
    "u8bin": np.dtype("u1"),
    "i8bin": np.dtype("i1"),
}
# This header: the number of rows and the number of columns.
BIN_HEADER = struct.Struct("<II")


def open_vecs(file: BinaryFile, format_name: str) -> Store:
    """Return the rows of a .fvecs, .ivecs or .bvecs file."""
    dtype = VECS_DTYPES[format_name]
    if file.size < ROW_LENGTH.itemsize:
        raise file.location.error(
            f"A {format_name} file begins with the length of its first row, but this file has only "
            f"{file.size} bytes.",
            "It may be empty or truncated.",
        )
    (n_columns,) = struct.unpack("<i", file.head(ROW_LENGTH.itemsize))
    stride = ROW_LENGTH.itemsize + n_columns * dtype.itemsize
    if n_columns < 1 or stride > file.size or file.size % stride:
        raise file.location.error(
            f"The first row declares {n_columns} values, but the {file.size:,} bytes of the file are "
            f"not a multiple of the resulting row size of {max(stride, 0)} bytes.",
            other_format_remedy("It may be truncated."),
        )
    return VecsStore(file, (file.size // stride, n_columns), dtype)


def parse_bin_header(where: Location, format_name: str, head: bytes) -> tuple[int, int]:
    """Return the numbers of rows and columns at the beginning of a .fbin file or a variant of it."""
    if len(head) < BIN_HEADER.size:
        raise where.error(
            f"A {format_name} file begins with its numbers of rows and columns, but this file has only "
            f"{len(head)} bytes.",
            "It may be empty or truncated.",
        )
    n_rows, n_columns = BIN_HEADER.unpack(head[: BIN_HEADER.size])
    if n_columns < 1:
        raise where.error(
            f"The header declares {n_rows} rows of 0 values.",
            other_format_remedy("The file may be damaged."),
        )
    return int(n_rows), int(n_columns)


def open_bin(file: BinaryFile, format_name: str) -> Store:
    """Return the rows of a .fbin, .f16bin, .ibin, .u8bin or .i8bin file."""
    dtype = BIN_DTYPES[format_name]
    n_rows, n_columns = parse_bin_header(file.location, format_name, file.head(BIN_HEADER.size))
    expected = BIN_HEADER.size + n_rows * n_columns * dtype.itemsize
    if expected != file.size:
        n_complete = (file.size - BIN_HEADER.size) // (n_columns * dtype.itemsize)
        raise file.location.error(
            f"The header declares {n_rows} rows of {n_columns} values, which take {expected:,} bytes, "
            f"but the file has {file.size:,} bytes, enough for {n_complete} complete rows.",
            other_format_remedy(
                f"It may be truncated; if this is intended, write {n_complete} into its first 4 bytes."
            ),
        )
    return RowStore(file, BIN_HEADER.size, (n_rows, n_columns), dtype)
