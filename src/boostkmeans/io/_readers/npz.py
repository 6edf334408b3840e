"""The .npz format of NumPy and SciPy: a zip archive of arrays. Nothing in it is unpickled."""

import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array

from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.array_description import ArrayDescription
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.byte_source import MAX_EXPANSION
from boostkmeans.io._access.choice import choose_name
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.spool import Room, Spool
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._readers.library_faults import library_faults
from boostkmeans.io._readers.npy import (
    MAX_HEADER_BYTES,
    NpyHeader,
    check_matrix,
    check_values,
    open_npy,
    parse_array,
    parse_header,
)
from boostkmeans.io._readers.number_lines import MAX_COLUMNS

# Arrays of a compressed sparse matrix.
COMPRESSED = ("indptr", "indices", "data")
# Arrays of a sparse matrix in coordinate format.
COORDINATES = ("row", "col", "data")
# Arrays of a sparse matrix, by the format that SciPy stores.
ARRAYS = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "coo": COORDINATES,
    "bsr": COMPRESSED,
    "dia": ("offsets", "data"),
}
# Exceptions that zipfile raises for files that it cannot read.
ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, struct.error,
    OverflowError, NotImplementedError,
)  # fmt: skip
# Length of the fixed part of the header in front of each member of a zip archive.
LOCAL_HEADER_BYTES = 30
# Offset in this header of the lengths of the name and of the extra field, which follow the header.
LENGTHS_OFFSET = 26


def open_npz(
    file: BinaryFile, key: str | None, room: Room, progress: ProgressCallback = ignore_progress
) -> Store | None:
    """Return the array of this name, or the only one. Return None if the file has a sparse matrix."""
    where = file.location
    with _zip_faults(where), zipfile.ZipFile(file.file) as archive:
        members = {
            one.filename.removesuffix(".npy"): one for one in archive.infolist() if _is_array(one)
        }
        if key is None and "format" in members and "shape" in members:
            return None
        member = members[choose_name(where, "array", key, list(members))]
        inner = where.within(member.filename)
        _check_length(inner, member)
        header = _member_header(inner, archive, member)
        shape = check_matrix(inner, header)
        check_values(inner, header, member.file_size - header.length)
        if member.compress_type == zipfile.ZIP_STORED:
            begin = _content_offset(file, member)
            return open_npy(file, begin, begin + member.file_size, member.filename, room)
    return LazyStore(
        file.name,
        lambda: _decompressed(file, member, room, progress),
        file=file,
        shape=shape,
        dtype=header.dtype.newbyteorder("="),
        is_sparse=False,
    )


def list_npz(file: BinaryFile) -> list[ArrayDescription]:
    """Return the arrays of a file, according to their headers."""
    where = file.location
    with _zip_faults(where), zipfile.ZipFile(file.file) as archive:
        found = []
        for member in filter(_is_array, archive.infolist()):
            inner = where.within(member.filename)
            _check_length(inner, member)
            header = _member_header(inner, archive, member)
            name = member.filename.removesuffix(".npy")
            found.append(ArrayDescription(name, header.shape, str(header.dtype)))
        return found


@dataclass(frozen=True)
class SparseHeader:
    """Shape, type and size of a sparse matrix, according to the headers of its arrays."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    n_bytes: int
    """Number of bytes of all arrays."""


def sparse_header(file: BinaryFile) -> SparseHeader | None:
    """Return the header of a sparse matrix without reading it.

    Return None if an array is missing: an attempt to read the matrix raises a better error.
    """
    where = file.location
    with _zip_faults(where), zipfile.ZipFile(file.file) as archive:
        members = {one.filename.removesuffix(".npy"): one for one in archive.infolist()}
        if "shape" not in members or "data" not in members:
            return None
        for name in ("shape", "data"):
            _check_length(where.within(members[name].filename), members[name])
        if members["shape"].file_size > MAX_HEADER_BYTES:
            return None
        shape = parse_array(where.within("shape.npy"), archive.read(members["shape"]))
        header = _member_header(where.within("data.npy"), archive, members["data"])
    n_bytes = sum(one.file_size for one in members.values())
    dtype = header.dtype.newbyteorder("=")
    return SparseHeader(_checked_shape(where, shape, file.size), dtype, n_bytes)


def arrays_of(name: str, content: BinaryIO) -> dict[str, Any]:
    """Return all arrays of an .npz file. `name` is the name of the file in error messages."""
    where = Location(name)
    with _zip_faults(where), zipfile.ZipFile(content) as archive:
        found = {}
        for member in archive.infolist():
            if not _is_array(member):
                continue
            inner = where.within(member.filename)
            _check_length(inner, member)
            header = _member_header(inner, archive, member)
            check_values(inner, header, member.file_size - header.length)
            found[member.filename.removesuffix(".npy")] = parse_array(inner, archive.read(member))
        return found


def sparse_matrix(name: str, arrays: Mapping[str, Any], file_size: int) -> Any:
    """Return the matrix that scipy.sparse.save_npz stored as these arrays."""
    where = Location(name)
    layout = as_text(arrays["format"][()]) if "format" in arrays else None
    needed = ARRAYS.get(layout or "", ())
    if not needed or any(one not in arrays for one in (*needed, "shape")):
        found = escape_untrusted(", ".join(sorted(arrays))) or "none"
        raise where.error(
            "Expected a sparse matrix written by scipy.sparse.save_npz (csr, csc, coo, bsr or dia). Got "
            f"the arrays: {found}."
        )
    shape = _checked_shape(where, arrays["shape"], file_size)
    if layout in ("bsr", "dia"):
        return _from_blocks(where, str(layout), arrays, shape)
    first, second, data = (arrays[one] for one in needed)
    if layout == "coo":
        return coo_array((data, (first, second)), shape=shape)
    matrix = {"csr": csr_array, "csc": csc_array}[str(layout)]((data, second, first), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _checked_shape(where: Location, stored: Any, file_size: int) -> tuple[int, int]:
    """Return the shape of a matrix. Raise DataFormatError if a file of this size cannot hold it."""
    shape = tuple(int(n) for n in np.ravel(stored))
    if len(shape) != 2 or min(shape) < 0:
        raise where.error(f"{shape} is not the shape of a matrix.")
    if shape[0] > file_size * MAX_EXPANSION or shape[1] > MAX_COLUMNS:
        raise where.error(f"The shape {shape} is too large for this file.")
    return shape[0], shape[1]


def as_text(value: Any) -> str:
    """Return a string or encoded bytes as a string."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _from_blocks(where: Location, layout: str, arrays: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
    """Return a matrix of blocks or diagonals as CSR."""
    data = arrays["data"]
    if layout == "dia":
        if data.ndim != 2 or arrays["offsets"].shape != data.shape[:1]:
            raise where.error("The diagonals do not match their offsets.", "Save the matrix again.")
        return csr_array(dia_array((data, arrays["offsets"]), shape=shape))
    if data.ndim != 3:
        raise where.error(f"Expected blocks of 3 dimensions. Got {data.ndim}.", "Save the matrix again.")
    matrix = bsr_array((data, arrays["indices"], arrays["indptr"]), shape=shape)
    matrix.check_format(full_check=True)
    return csr_array(matrix)


def _zip_faults(where: Location) -> AbstractContextManager[None]:
    return library_faults(where, "an npz file", "Save it again with np.savez.", ZIP_ERRORS)


def _is_array(member: zipfile.ZipInfo) -> bool:
    return member.filename.endswith(".npy")


def _check_length(where: Location, member: zipfile.ZipInfo) -> None:
    """Raise DataFormatError if the member declares an impossible length or compression."""
    if member.file_size > MAX_EXPANSION * max(member.compress_size, 1):
        raise where.error(
            f"The declared length of {member.file_size:,} bytes is impossible for "
            f"{member.compress_size:,} compressed bytes. The file is damaged.",
            "Save it again.",
        )
    if member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size:
        raise where.error(
            "The array is not compressed, but has two different lengths. The file is damaged.",
            "Save it again.",
        )
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise where.error(
            "NumPy does not use this method of compression.", "Save it again with np.savez."
        )


def _member_header(where: Location, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NpyHeader:
    with archive.open(member) as stream:
        return parse_header(where, stream.read(MAX_HEADER_BYTES))


def _content_offset(file: BinaryFile, member: zipfile.ZipInfo) -> int:
    """Return the offset of a member that is not compressed. zipfile has already checked its header."""
    lengths = file.head(4, member.header_offset + LENGTHS_OFFSET)
    name_length, extra_length = struct.unpack("<HH", lengths)
    begin = member.header_offset + LOCAL_HEADER_BYTES + int(name_length + extra_length)
    if begin + member.file_size > file.size:
        raise file.location.within(member.filename).error(
            "The array extends beyond the end of the file. The file is damaged.", "Save it again."
        )
    return begin


def _decompressed(
    file: BinaryFile, member: zipfile.ZipInfo, room: Room, progress: ProgressCallback
) -> Store:
    spool = Spool(room, member.file_size)
    try:
        with (
            _zip_faults(file.location),
            zipfile.ZipFile(file.file) as archive,
            archive.open(member.filename) as stream,
        ):
            spool.write_stream(stream, progress, member.file_size)
        file.close()
        return open_npy(spool.finish(file.name), place=member.filename)
    finally:
        spool.close()
