"""NumPy's .npy format. Its header is the text of a Python dictionary, which is never evaluated here."""

import re
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.location import Location, other_format_remedy
from boostkmeans.io._access.row_stores import ColumnStore, RowStore
from boostkmeans.io._access.spool import ANY_ROOM, Room, Spool
from boostkmeans.io._access.store import LazyStore, Store

MAGIC = b"\x93NUMPY"
# Longest header that is read. The header of a matrix has 128 bytes.
MAX_HEADER_BYTES = 10_000
# A number in a shape. No file has a length of more than 20 digits.
NUMBER = r"\d{1,20}L?"
DESCR = re.compile(r"""['"]descr['"]\s*:\s*(?:['"]([^'"]*)['"]|(\[))""")
ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
SHAPE = re.compile(rf"""['"]shape['"]\s*:\s*\(\s*((?:-?{NUMBER}\s*,\s*)*(?:-?{NUMBER})?)\s*\)""")
TYPE = re.compile(r"[<>|=]?[?bBiufcSUVOmM]\d{0,9}(?:\[\d{0,9}[a-zA-Z]{1,2}\])?")
# Number of bytes per read of an array that is copied.
PIECE_BYTES = 1 << 24
# Kinds of NumPy types that hold real numbers.
NUMERIC = "buif"


@dataclass(frozen=True)
class NpyHeader:
    """Header of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    length: int
    """Length of the header in bytes, which is the offset of the values."""

    @property
    def n_bytes(self) -> int:
        """Size of the values in bytes. Python's integers do not overflow."""
        size = self.dtype.itemsize
        for n in self.shape:
            size *= n
        return size


def parse_header(where: Location, head: bytes) -> NpyHeader:
    """Return the header of an array whose file begins with these bytes."""
    if not head.startswith(MAGIC):
        raise where.error(
            f"A NumPy array begins with {MAGIC!r}, but this file begins with {head[:6]!r}.",
            other_format_remedy(),
        )
    version, text_begin = head[6:7], 10 if head[6:7] == b"\1" else 12
    if version not in (b"\1", b"\2", b"\3") or len(head) < text_begin:
        raise _damaged(where, f"version {head[6:8]!r} of the format is not known")
    (text_length,) = struct.unpack("<H" if text_begin == 10 else "<I", head[8:text_begin])
    length = text_begin + text_length
    if length > min(len(head), MAX_HEADER_BYTES):
        raise _damaged(where, f"its header of {text_length:,} bytes is too long")
    text = head[text_begin:length].decode("latin-1")
    descr, order, shape = (pattern.search(text) for pattern in (DESCR, ORDER, SHAPE))
    if descr is None or order is None or shape is None:
        raise _damaged(where, f"its header {text.strip()[:80]!r} has no type, order or shape")
    numbers = tuple(int(word.strip().rstrip("L")) for word in shape[1].split(",") if word.strip())
    return NpyHeader(numbers, _dtype(where, descr), order[1] == "True", length)


def check_values(where: Location, header: NpyHeader, n_bytes: int) -> None:
    """Raise DataFormatError unless there are as many bytes of values as the header declares.

    Call it before memory is allocated for the values.
    """
    if header.n_bytes != n_bytes or any(n < 0 for n in header.shape):
        remedy = "The file may be damaged or truncated: save it again."
        if n_bytes > header.n_bytes:
            remedy = "If a second array follows, save each array in its own file."
        raise where.within(f"byte {header.length}").error(
            f"The header declares {header.n_bytes:,} bytes of values (shape {header.shape}, type "
            f"{header.dtype}), but there are {n_bytes:,}.",
            remedy,
        )


def check_matrix(where: Location, header: NpyHeader) -> tuple[int, int]:
    """Return the shape of a matrix of real numbers. Raise DataFormatError for other arrays."""
    if header.dtype.kind not in NUMERIC or header.dtype.itemsize > 8:
        raise where.error(
            f"The values must be real numbers of at most 8 bytes, but their type is {header.dtype}.",
            "Convert them: np.save(path, array.astype('float32')).",
        )
    return check_shape(where, header.shape)


def check_shape(where: Location, shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape if it has rows and columns. Raise DataFormatError otherwise."""
    if len(shape) != 2:
        remedy = "Reshape the array."
        if len(shape) == 1:
            remedy = "Save array.reshape(-1, 1) or array.reshape(1, -1)."
        raise where.error(
            f"Expected an array of 2 dimensions, rows and columns. Got the shape {shape}.", remedy
        )
    if shape[0] < 0 or shape[1] < 1:
        raise where.error(f"The shape {shape} has no columns, so there is nothing to read.")
    return shape[0], shape[1]


def open_npy(
    file: BinaryFile,
    offset: int = 0,
    end: int | None = None,
    place: str = "",
    room: Room = ANY_ROOM,
) -> Store:
    """Return the matrix in a .npy file, or in the bytes from `offset` to `end` of a larger file.

    `place` names the part of the larger file in error messages.
    """
    where = file.location.within(place) if place else file.location
    end = file.size if end is None else end
    header = parse_header(where, file.head(min(MAX_HEADER_BYTES, end - offset), offset))
    shape = check_matrix(where, header)
    check_values(where, header, end - offset - header.length)
    begin = offset + header.length
    if not header.fortran:
        return RowStore(file, begin, shape, header.dtype)
    if file.is_mappable:
        return ColumnStore(file, begin, shape, header.dtype)
    # Some rows of a remote file in column-major order would take one request per column.
    return LazyStore(
        file.name,
        lambda: _spooled_columns(file, begin, shape, header.dtype, room),
        file=file,
        shape=shape,
        dtype=header.dtype.newbyteorder("="),
        is_sparse=False,
    )


def _spooled_columns(
    file: BinaryFile, offset: int, shape: tuple[int, int], dtype: np.dtype[Any], room: Room
) -> Store:
    """Return a copy of an array in column-major order, in memory or in a temporary file."""
    n_bytes = shape[0] * shape[1] * dtype.itemsize
    spool = Spool(room, n_bytes)
    try:
        for begin in range(0, n_bytes, PIECE_BYTES):
            spool.write(file.head(min(PIECE_BYTES, n_bytes - begin), offset + begin))
        return ColumnStore(spool.finish(file.name), 0, shape, dtype)
    finally:
        spool.close()


def parse_array(where: Location, content: bytes) -> NDArray[Any]:
    """Return the array of a .npy file with this content, as a writable copy."""
    header = parse_header(where, content)
    check_values(where, header, len(content) - header.length)
    flat = np.frombuffer(bytearray(content), dtype=header.dtype, offset=header.length)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _dtype(where: Location, descr: re.Match[str]) -> np.dtype[Any]:
    """Return the type that the header names. Raise DataFormatError unless it is a plain type."""
    if descr[2]:
        raise where.error(
            "Expected an array of numbers. Got a structured array of several fields.",
            "Convert it with numpy.lib.recfunctions.structured_to_unstructured.",
        )
    if not TYPE.fullmatch(descr[1]):
        raise _damaged(where, f"{descr[1][:40]!r} is not a type")
    try:
        dtype = np.dtype(descr[1])
    except (TypeError, ValueError):
        raise _damaged(where, f"{descr[1]!r} is not a type") from None
    if dtype.hasobject:
        raise where.error(
            "The array holds Python objects, which are not read because they could run code.",
            "Save numbers as an array of a numeric dtype, and strings as one of dtype 'U'.",
        )
    if dtype.itemsize == 0:
        raise where.error("Expected numbers. Got values without a length.")
    return dtype


def _damaged(where: Location, reason: str) -> DataFormatError:
    return where.error(f"The array is damaged, or not a NumPy array: {reason}.", "Save it again.")
