"""NumPy's and SciPy's .npz: a zip of arrays. Nothing in it is unpickled."""

import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, BinaryIO

import numpy as np
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.byte_source import MAX_EXPANSION
from boostkmeans.io._access.choice import chosen
from boostkmeans.io._access.spool import Spool
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._readers.library_faults import library_faults
from boostkmeans.io._readers.npy import (
    MOST_HEADER,
    NpyHeader,
    array_of,
    check_matrix,
    check_values,
    npy_header,
    open_npy,
)
from boostkmeans.io._readers.number_lines import MAX_COLUMNS

# The arrays that each layout of a sparse matrix consists of.
COMPRESSED, COORDINATES = ("indptr", "indices", "data"), ("row", "col", "data")
ARRAYS = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "coo": COORDINATES,
    "bsr": COMPRESSED,
    "dia": ("offsets", "data"),
}
# What zipfile raises at what it cannot read.
FAULTS = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, struct.error,
    OverflowError, NotImplementedError,
)  # fmt: skip
# Before the content of a member: a header of which the last two numbers say how long the rest of it is.
LOCAL_HEADER, LENGTHS_AT = 30, 26


def open_npz(file: BinaryFile, key: str | None, max_memory: int | None) -> Store | None:
    """The array of that name, or the only one; None if the file has a sparse matrix instead."""
    with _faults(file.name), zipfile.ZipFile(file.file) as archive:
        members = {
            one.filename.removesuffix(".npy"): one for one in archive.infolist() if _is_array(one)
        }
        if key is None and "format" in members and "shape" in members:
            return None
        name = chosen(file.name, "array", key, list(members))
        member = members[name]
        _check_length(file.name, member)
        header = _header(file.name, archive, member)
        called = f"{file.name}: {member.filename}"
        shape = check_matrix(called, header)
        check_values(called, header, member.file_size - header.length)
        if member.compress_type == zipfile.ZIP_STORED:
            begin = _content_of(file, member)
            return open_npy(file, begin, begin + member.file_size, called)
    return LazyStore(
        file.name,
        lambda: _inflated(file, member.filename, max_memory),
        file=file,
        shape=shape,
        dtype=header.dtype.newbyteorder("="),
    )


def arrays_of(name: str, content: BinaryIO) -> dict[str, Any]:
    """All arrays of an .npz, each as long as its header says."""
    with _faults(name), zipfile.ZipFile(content) as archive:
        found = {}
        for member in archive.infolist():
            if not _is_array(member):
                continue
            _check_length(name, member)
            called = f"{name}: {member.filename}"
            check_values(
                called,
                header := _header(name, archive, member),
                member.file_size - header.length,
            )
            found[member.filename.removesuffix(".npy")] = array_of(called, archive.read(member))
        return found


def sparse_matrix(name: str, arrays: Mapping[str, Any], most_bytes: int) -> Any:
    """The matrix that scipy.sparse.save_npz made these arrays of."""
    layout = as_text(arrays["format"][()]) if "format" in arrays else None
    needed = ARRAYS.get(layout or "", ())
    if not needed or any(one not in arrays for one in (*needed, "shape")):
        raise DataFormatError(
            f"{name}: expected a sparse matrix as scipy.sparse.save_npz writes it (csr, csc or "
            f"coo; bsr or dia); found the arrays {', '.join(sorted(arrays)) or 'none'}."
        )
    shape = tuple(int(n) for n in np.ravel(arrays["shape"]))
    if len(shape) != 2 or min(shape) < 0:
        raise DataFormatError(f"{name}: {shape} is not the shape of a matrix.")
    if shape[0] > most_bytes * MAX_EXPANSION or shape[1] > MAX_COLUMNS:
        raise DataFormatError(f"{name}: {shape} is more than such a file can hold.")
    if layout in ("bsr", "dia"):
        return _of_blocks(name, str(layout), arrays, shape)
    first, second, data = (arrays[one] for one in needed)
    if layout == "coo":
        return coo_array((data, (first, second)), shape=shape)
    matrix = {"csr": csr_array, "csc": csc_array}[str(layout)]((data, second, first), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _of_blocks(name: str, layout: str, arrays: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
    """Blocks or diagonals as CSR, which must not take much more than they do."""
    data = arrays["data"]
    if layout == "dia":
        if data.ndim != 2 or arrays["offsets"].shape != data.shape[:1]:
            raise DataFormatError(f"{name}: the diagonals do not fit to their offsets. Save it again.")
        return csr_array(dia_array((data, arrays["offsets"]), shape=shape))
    if data.ndim != 3:
        raise DataFormatError(f"{name}: blocks must have 3 dimensions, not {data.ndim}. Save it again.")
    matrix = bsr_array((data, arrays["indices"], arrays["indptr"]), shape=shape)
    matrix.check_format(full_check=True)
    return csr_array(matrix)


def as_text(value: Any) -> str:
    """A string, or bytes that are one."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _faults(name: str) -> AbstractContextManager[None]:
    return library_faults(name, "an npz file", "Save it again with np.savez.", FAULTS)


def _is_array(member: zipfile.ZipInfo) -> bool:
    return member.filename.endswith(".npy")


def _check_length(name: str, member: zipfile.ZipInfo) -> None:
    if member.file_size > MAX_EXPANSION * max(member.compress_size, 1):
        raise DataFormatError(
            f"{name}: {member.filename} cannot be as long as it says: {member.file_size} bytes, of "
            f"{member.compress_size} compressed ones. The file is damaged."
        )
    if member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size:
        raise DataFormatError(f"{name}: {member.filename} has two lengths. The file is damaged.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataFormatError(
            f"{name}: {member.filename} is compressed in a way that NumPy does not use. Save it again "
            "with np.savez."
        )


def _header(name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NpyHeader:
    with archive.open(member) as stream:
        return npy_header(f"{name}: {member.filename}", stream.read(MOST_HEADER))


def _content_of(file: BinaryFile, member: zipfile.ZipInfo) -> int:
    """Where a member that is not compressed begins. zipfile looked at its header a moment ago."""
    lengths = file.head(4, member.header_offset + LENGTHS_AT)
    of_name, of_extra = struct.unpack("<HH", lengths)
    begin = member.header_offset + LOCAL_HEADER + int(of_name + of_extra)
    if begin + member.file_size > file.size:
        raise DataFormatError(f"{file.name}: {member.filename} goes beyond the file, which is damaged.")
    return begin


def _inflated(file: BinaryFile, filename: str, max_memory: int | None) -> Store:
    spool = Spool(max_memory)
    try:
        with _faults(file.name), zipfile.ZipFile(file.file) as archive, archive.open(filename) as stream:
            spool.take(stream)
        file.close()
        return open_npy(spool.finished(f"{file.name}: {filename}"))
    finally:
        spool.close()
