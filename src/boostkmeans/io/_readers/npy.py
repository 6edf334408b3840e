"""NumPy's .npy. Its header is the text of a Python dictionary; here it is matched, never evaluated."""

import re
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.row_file import ColumnFile, RowFile
from boostkmeans.io._access.store import Store

MAGIC = b"\x93NUMPY"
# The longest header that is read: one of a matrix has 128 bytes.
MOST_HEADER = 10_000
# Digits of a number in a shape: more are of no file.
NUMBER = r"\d{1,20}L?"
DESCR = re.compile(r"""['"]descr['"]\s*:\s*(?:['"]([^'"]*)['"]|(\[))""")
ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
SHAPE = re.compile(rf"""['"]shape['"]\s*:\s*\(\s*((?:-?{NUMBER}\s*,\s*)*(?:-?{NUMBER})?)\s*\)""")
TYPE = re.compile(r"[<>|=]?[?bBiufcSUVOmM]\d{0,9}(?:\[\d{0,9}[a-zA-Z]{1,2}\])?")
NUMERIC = "buif"


@dataclass(frozen=True)
class NpyHeader:
    """What stands before the values."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    length: int
    """Bytes, so that the values begin there."""

    @property
    def n_bytes(self) -> int:
        """That the values take. Python's numbers do not overflow."""
        size = self.dtype.itemsize
        for n in self.shape:
            size *= n
        return size


def npy_header(name: str, head: bytes) -> NpyHeader:
    """The header of an array whose file begins so. `name` is for messages."""
    if not head.startswith(MAGIC):
        raise DataFormatError(
            f"{name}: not a NumPy array: it should begin with {MAGIC!r}, but begins with {head[:6]!r}. "
            "For a file of another kind, give its format."
        )
    version, text_begin = head[6:7], 10 if head[6:7] == b"\1" else 12
    if version not in (b"\1", b"\2", b"\3") or len(head) < text_begin:
        raise _damaged(name, f"version {head[6:8]!r} of the format is not known")
    (text_length,) = struct.unpack("<H" if text_begin == 10 else "<I", head[8:text_begin])
    length = text_begin + text_length
    if length > min(len(head), MOST_HEADER):
        raise _damaged(name, f"a header of {text_length} bytes is longer than the file, or than any")
    text = head[text_begin:length].decode("latin-1")
    descr, order, shape = (pattern.search(text) for pattern in (DESCR, ORDER, SHAPE))
    if descr is None or order is None or shape is None:
        raise _damaged(name, f"the header {text.strip()[:80]!r} does not tell type, order and shape")
    numbers = tuple(int(word.strip().rstrip("L")) for word in shape[1].split(",") if word.strip())
    return NpyHeader(numbers, _dtype(name, descr), order[1] == "True", length)


def check_values(name: str, header: NpyHeader, room: int) -> None:
    """The file must have as many values as the header promises: before anybody makes room for them."""
    if header.n_bytes != room or any(n < 0 for n in header.shape):
        why = "The file may be damaged or cut short"
        if room > header.n_bytes:
            why = "It is longer than that: if a second array follows, save each in a file of its own"
        raise DataFormatError(
            f"{name} promises {header.n_bytes} bytes and has {room}: shape {header.shape} of "
            f"{header.dtype}, from byte {header.length} on. {why}."
        )


def check_matrix(name: str, header: NpyHeader) -> tuple[int, int]:
    """The shape, if it is one of vectors."""
    if header.dtype.kind not in NUMERIC or header.dtype.itemsize > 8:
        raise DataFormatError(
            f"{name}: values must be real numbers of at most 8 bytes, these are {header.dtype}. Convert "
            "them: np.save(path, array.astype('float32'))."
        )
    return check_shape(name, header.shape)


def check_shape(name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """The shape, if it is that of rows with columns."""
    if len(shape) != 2:
        remedy = "Save array.reshape(-1, 1) or array.reshape(1, -1)" if len(shape) == 1 else "Reshape it"
        raise DataFormatError(
            f"{name}: vectors have 2 dimensions, rows and columns; this array has the shape {shape}. "
            f"{remedy}."
        )
    if shape[0] < 0 or shape[1] < 1:
        raise DataFormatError(
            f"{name}: the shape {shape} has no columns, so that there is nothing to read."
        )
    return shape[0], shape[1]


def open_npy(
    file: BinaryFile, offset: int = 0, end: int | None = None, name: str | None = None
) -> Store:
    """The matrix in a .npy file, or in a part of a larger one."""
    called = name or file.name
    end = file.size if end is None else end
    header = npy_header(called, file.head(min(MOST_HEADER, end - offset), offset))
    shape = check_matrix(called, header)
    check_values(called, header, end - offset - header.length)
    kind = ColumnFile if header.fortran else RowFile
    return kind(file, offset + header.length, shape, header.dtype)


def array_of(name: str, content: bytes) -> NDArray[Any]:
    """A whole array of a .npy that is in memory: a copy, which can be written to."""
    header = npy_header(name, content)
    check_values(name, header, len(content) - header.length)
    flat = np.frombuffer(bytearray(content), dtype=header.dtype, offset=header.length)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _dtype(name: str, descr: re.Match[str]) -> np.dtype[Any]:
    if descr[2]:
        raise DataFormatError(
            f"{name}: a table of several fields, where an array of numbers is expected. Save it as one: "
            "numpy.lib.recfunctions.structured_to_unstructured."
        )
    if not TYPE.fullmatch(descr[1]):
        raise _damaged(name, f"{descr[1][:40]!r} is not a type of values")
    try:
        dtype = np.dtype(descr[1])
    except (TypeError, ValueError):
        raise _damaged(name, f"{descr[1]!r} is not a type of values") from None
    if dtype.hasobject:
        raise DataFormatError(
            f"{name} holds Python objects, which are not read: they could run code. Save numbers as an "
            "array of a numeric dtype, strings as one of dtype 'U'."
        )
    if dtype.itemsize == 0:
        raise DataFormatError(f"{name}: the values have no length. Expected are numbers.")
    return dtype


def _damaged(name: str, what: str) -> DataFormatError:
    return DataFormatError(f"{name}: not a NumPy array, or a damaged one: {what}. Save it again.")
