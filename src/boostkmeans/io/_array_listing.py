"""`list_arrays`: the arrays of a file that holds several."""

import os
from collections.abc import Callable
from contextlib import closing

from boostkmeans.io import _formats
from boostkmeans.io._access.array_description import ArrayDescription
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.byte_source import GZIP_MAGIC, ByteSource
from boostkmeans.io._access.urls import local_path
from boostkmeans.io._readers.hdf5 import list_hdf5
from boostkmeans.io._readers.npz import list_npz
from boostkmeans.io._readers.safetensors_file import list_safetensors

# Functions that list the arrays, by format.
LISTS: dict[str, Callable[[BinaryFile], list[ArrayDescription]]] = {
    "npz": list_npz,
    "hdf5": list_hdf5,
    "safetensors": list_safetensors,
}
# Number of bytes at the beginning of a file that identify its format.
MAGIC_BYTES = 16


def list_arrays(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> list[ArrayDescription] | None:
    """Return the arrays of an npz, HDF5 or safetensors file, without reading their values.

    Parameters
    ----------
    path : path
        Name of a file.
    format : str, default=None
        Format of the file, if its suffix and its first bytes do not identify it.

    Returns
    -------
    arrays : list of ArrayDescription or None
        The arrays in the order of the file, including those that do not hold vectors. None for a
        file of another format or a compressed file.

    Raises
    ------
    DataFormatError
        If the file is damaged.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from boostkmeans.io import list_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "some.npz")
    ...     np.savez(path, train=np.zeros((3, 2)), labels=np.zeros(3, dtype=int))
    ...     [(array.name, array.shape) for array in list_arrays(path)]
    [('train', (3, 2)), ('labels', (3,))]
    """
    _formats.check_format(format)
    source = ByteSource(local_path(os.fspath(path)))
    if not source.is_regular_file():
        return None
    with closing(source.binary_file()) as file:
        head = file.head(MAGIC_BYTES)
        found = format or _formats.format_by_suffix(source.name) or _formats.format_by_magic(head)
        if found not in LISTS or head.startswith(GZIP_MAGIC):
            return None
        return LISTS[found](file)
