"""The first bytes of a file or stream: whether they are of its format, and how much they promise.

What is compressed can be a thousand times as long as its file: it is not uncompressed in vain.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.row_file import LENGTH
from boostkmeans.io._formats import BY_MAGIC
from boostkmeans.io._readers.cluto import check_first_line as check_cluto
from boostkmeans.io._readers.hdf5 import SIGNATURE
from boostkmeans.io._readers.matrix_market import check_banner
from boostkmeans.io._readers.npy import MOST_HEADER, check_matrix, npy_header
from boostkmeans.io._readers.svmlight import check_lines
from boostkmeans.io._readers.vector_files import COUNTED, COUNTS, LED, counts_of

# So many bytes are enough for all of this.
ENOUGH = MOST_HEADER
# Where HDF5 may begin, behind what belongs to the user.
HDF5_AT = (0, 512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True)
class DeclaredSize:
    """What a header says before the rows come."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    length: int
    """Of all, in bytes."""


def declared_size(name: str, kind: str, head: bytes) -> DeclaredSize | None:
    """What is promised, where the format says it first; an error if the format is another one."""
    if kind == "npy":
        header = npy_header(name, head[:MOST_HEADER])
        shape = check_matrix(name, header)
        return DeclaredSize(shape, header.dtype.newbyteorder("="), header.length + header.n_bytes)
    if kind in COUNTED:
        shape = counts_of(name, kind, head)
        length = COUNTS.size + shape[0] * shape[1] * COUNTED[kind].itemsize
        return DeclaredSize(shape, COUNTED[kind], length)
    if kind in LED:
        _check_length(name, kind, head)
    if kind == "hdf5":
        _check(name, kind, any(head[at:].startswith(SIGNATURE) for at in HDF5_AT))
    if kind in ("npz", "parquet"):
        _check(name, kind, head.startswith(next(one for one, of in BY_MAGIC.items() if of == kind)))
    return None


def check_text(name: str, kind: str, head: bytes, is_all: bool) -> None:
    """Whether a sparse matrix begins so; the last line of what is not all may be cut."""
    whole = head if is_all else head[: head.rfind(b"\n") + 1]
    if whole or is_all:
        OF_TEXTS[kind](name, whole)


OF_TEXTS: dict[str, Callable[[str, bytes], Any]] = {
    "matrix-market": check_banner,
    "cluto": check_cluto,
    "svmlight": check_lines,
}


def _check_length(name: str, kind: str, head: bytes) -> None:
    length = struct.unpack("<i", head[: LENGTH.itemsize])[0] if len(head) >= LENGTH.itemsize else 0
    if length < 1:
        raise DataFormatError(
            f"{name}: not a {kind} file, which begins with the length of its first row. The file may be "
            "empty or damaged; for one of another kind, give its format."
        )


def _check(name: str, kind: str, good: bool) -> None:
    if not good:
        raise DataFormatError(
            f"{name}: not a file of format {kind!r}: it does not begin as one. For a file of another "
            "kind, give its format."
        )
