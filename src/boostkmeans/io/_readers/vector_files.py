"""Formats of nothing but vectors: TexMex's .fvecs and big-ann's .fbin, with their sisters."""

import struct
from typing import Any

import numpy as np

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.row_file import LENGTH, LedRowFile, RowFile
from boostkmeans.io._access.store import Store

# Each row is led by its length.
LED: dict[str, np.dtype[Any]] = {
    "fvecs": np.dtype("<f4"),
    "ivecs": np.dtype("<i4"),
    "bvecs": np.dtype("u1"),
}
# The numbers of rows and columns come first, as uint32, then all values.
COUNTED: dict[str, np.dtype[Any]] = {
    "fbin": np.dtype("<f4"),
    "f16bin": np.dtype("<f2"),
    "ibin": np.dtype("<i4"),
    "u8bin": np.dtype("u1"),
    "i8bin": np.dtype("i1"),
}
COUNTS = struct.Struct("<II")


def open_led(file: BinaryFile, kind: str) -> Store:
    """A .fvecs, .ivecs or .bvecs."""
    dtype = LED[kind]
    if file.size < LENGTH.itemsize:
        raise DataFormatError(
            f"{file.name}: {file.size} bytes are no {kind} file, which begins with the length of its "
            "first row. The file may be empty or cut short."
        )
    (n_columns,) = struct.unpack("<i", file.head(LENGTH.itemsize))
    stride = LENGTH.itemsize + n_columns * dtype.itemsize
    if n_columns < 1 or stride > file.size or file.size % stride:
        raise DataFormatError(
            f"{file.name}: the first row says that it has {n_columns} values, but then the file's "
            f"{file.size} bytes are not a number of rows of {max(stride, 0)} bytes. It may be cut "
            f"short, or not be {kind}: then give its format."
        )
    return LedRowFile(file, (file.size // stride, n_columns), dtype)


def counts_of(name: str, kind: str, head: bytes) -> tuple[int, int]:
    """The numbers of rows and columns that a file begins with."""
    if len(head) < COUNTS.size:
        raise DataFormatError(
            f"{name}: {len(head)} bytes are no {kind} file, which begins with its numbers of rows and "
            "columns. The file may be empty or cut short."
        )
    n_rows, n_columns = COUNTS.unpack(head[: COUNTS.size])
    if n_columns < 1:
        raise DataFormatError(
            f"{name}: the first {COUNTS.size} bytes promise {n_rows} rows of 0 values. The file may be "
            f"damaged, or not be {kind}: then give its format."
        )
    return int(n_rows), int(n_columns)


def open_counted(file: BinaryFile, kind: str) -> Store:
    """A .fbin, .f16bin, .ibin, .u8bin or .i8bin."""
    dtype = COUNTED[kind]
    n_rows, n_columns = counts_of(file.name, kind, file.head(COUNTS.size))
    expected = COUNTS.size + n_rows * n_columns * dtype.itemsize
    if expected != file.size:
        whole = (file.size - COUNTS.size) // (n_columns * dtype.itemsize)
        raise DataFormatError(
            f"{file.name}: the first {COUNTS.size} bytes promise {n_rows} rows of {n_columns} values, "
            f"that is {expected} bytes, but the file has {file.size}, enough for {whole} whole rows. It "
            f"may be cut short (if so on purpose, write {whole} into the first 4 bytes), or not be "
            f"{kind}: then give its format."
        )
    return RowFile(file, COUNTS.size, (n_rows, n_columns), dtype)
