"""Access of pyarrow to open files, and conversion of its errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.location import other_format_remedy
from boostkmeans.io._access.remote_file import RemoteFile
from boostkmeans.io._readers.arrow.columns import import_pyarrow
from boostkmeans.io._readers.library_faults import library_faults

# Largest ratio of decoded bytes to bytes of the file. Runs of equal values take almost no space, so any
# ratio is possible, but a larger one would let a small damaged file exhaust the memory.
MAX_EXPANSION = 10_000
# Size in pyarrow's message about memory that it could not allocate.
WANTED_BYTES = re.compile(r"of size (\d+)")


def as_arrow_file(file: BinaryFile) -> Any:
    """Return the open file for pyarrow. Opening it by its name could give another file."""
    pa = import_pyarrow()
    file.check_unchanged()
    if isinstance(file, RemoteFile):
        return pa.PythonFile(file.stream(), mode="r")
    with suppress(OSError):  # only Linux has such names
        return pa.OSFile(f"/proc/self/fd/{file.file.fileno()}")
    return pa.BufferReader(pa.py_buffer(file.mapped(0, (file.size,), np.dtype(np.uint8))))


@contextmanager
def arrow_faults(file: BinaryFile) -> Iterator[None]:
    """Convert errors of pyarrow into DataFormatError.

    A failed allocation is converted only if the file is too small to justify the size.
    """
    pa = import_pyarrow()
    kinds = (pa.ArrowException, OSError, ValueError, OverflowError)
    remedy = other_format_remedy("Write it again.")
    try:
        with library_faults(file.location, "a Parquet or Arrow file", remedy, kinds):
            yield
    except pa.ArrowMemoryError as error:
        size = WANTED_BYTES.search(str(error))
        if size is None or int(size[1]) <= file.size * MAX_EXPANSION:
            raise
        raise DataFormatError(
            f"The file declares {size[1]} bytes of data, more than {file.size:,} bytes should hold. The "
            "file is damaged.",
            file=file.name,
            remedy=remedy,
        ) from None
