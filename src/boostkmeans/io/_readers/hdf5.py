"""HDF5. Its library finds the dataset; rows that lie in one piece are then read without it.

What leads out of the file (links, external and virtual data) and what needs code from elsewhere
(filters) is not followed: files come from strangers.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.byte_source import MAX_EXPANSION
from boostkmeans.io._access.choice import chosen
from boostkmeans.io._access.row_file import RowFile
from boostkmeans.io._access.spool import most_in_memory
from boostkmeans.io._access.store import Store
from boostkmeans.io._readers.library_faults import library_faults
from boostkmeans.io._readers.npy import NUMERIC, check_shape

# Filters that are part of HDF5 or h5py: deflate, shuffle, fletcher32, szip, nbit, scale-offset, lzf.
FILTERS = (1, 2, 3, 4, 5, 6, 32000)
# Chunks up to this size need no justification by the size of the file.
SMALL_CHUNK = 1 << 22
SIGNATURE = b"\x89HDF\r\n\x1a\n"
# What is within a header has less than 64 KB.
MOST_COMPACT = 1 << 16
# HDF5 has a cache of this size for chunks anyway, with so many places, of which most should be free.
LEAST_CACHE, LEAST_SLOTS, SLOTS_PER_CHUNK = 1 << 20, 521, 100
# Datasets within groups that are looked for, and groups within groups.
MOST_NESTED, MOST_DEPTH = 100, 8
# What h5py raises at what it cannot read.
FAULTS = (OSError, RuntimeError, ValueError, TypeError, KeyError, OverflowError, SystemError)


class LibraryRows(Store):
    """A dataset in chunks, compressed or not, or within its header: read by the library."""

    def __init__(self, file: BinaryFile, archive: Any, dataset: Any, shape: tuple[int, int]) -> None:
        self._file, self._archive, self._dataset = file, archive, dataset
        self._lock = threading.Lock()
        self.shape = shape
        self.dtype = np.dtype(dataset.dtype).newbyteorder("=")

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Reads the chunks that the rows are in."""
        self._file.check_unchanged()
        with self._lock, _faults(self._file.name):
            if len(target):
                self._dataset.read_direct(target, np.s_[begin : begin + len(target)])

    def load(self) -> NDArray[Any]:
        """All of it, in memory."""
        return np.asarray(self.rows(0, self.shape[0]))

    def close(self) -> None:
        """Closes the library's file and ours."""
        self._archive.close()
        self._file.close()


def open_hdf5(file: BinaryFile, key: str | None, max_memory: int | None) -> Store:
    """The dataset of that name, the only one of two dimensions, or "train"."""
    if not _is_signed(file):
        raise DataFormatError(
            f"{file.name}: not an HDF5 file: it does not begin with {SIGNATURE!r}. For a file of "
            "another kind, give its format."
        )
    h5py = _h5py()
    with _faults(file.name):
        with h5py.File(file.file, "r") as archive:
            dataset = _dataset(file.name, archive, key)
            plain = _opened(file, dataset)
            if plain is not None:
                return plain
            name, shape, cache = dataset.name, dataset.shape, _cache(dataset, max_memory)
        archive = h5py.File(file.file, "r", **cache)
        return LibraryRows(file, archive, archive[name], shape)


def _is_signed(file: BinaryFile) -> bool:
    """Whether the signature is at the beginning, or behind something of the user: at 512, 1024, ..."""
    at = 0
    while at < file.size:
        if file.head(len(SIGNATURE), at) == SIGNATURE:
            return True
        at = max(512, 2 * at)
    return False


def _cache(dataset: Any, max_memory: int | None) -> dict[str, int]:
    """Room for all chunks that a row is in: what does not fit is decoded again at each read."""
    if dataset.chunks is None:
        return {}
    n_chunks = -(-dataset.shape[1] // dataset.chunks[1])
    n_bytes = n_chunks * dataset.chunks[0] * dataset.chunks[1] * dataset.dtype.itemsize
    if not LEAST_CACHE < n_bytes <= most_in_memory(max_memory):
        return {}
    return {"rdcc_nbytes": n_bytes, "rdcc_nslots": max(LEAST_SLOTS, SLOTS_PER_CHUNK * n_chunks + 1)}


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise ImportError(
            "HDF5 files are read by h5py, which is not installed: pip install 'boostkmeans[hdf5]'"
        ) from None
    return h5py


def _dataset(name: str, archive: Any, key: str | None) -> Any:
    if key is None:
        every = [one for one in archive if _is_dataset(archive, one)]
        every = every or list(islice(_nested(archive, "", 0), MOST_NESTED))
        key = chosen(name, "dataset", None, [one for one in every if archive[one].ndim == 2] or every)
    group = archive
    *folders, last = key.strip("/").split("/")
    for folder in folders:
        if not _is_own(group, folder) or group.get(folder, getclass=True) is not _h5py().Group:
            raise DataFormatError(f"{name}: there is no group {folder!r} on the way to {key!r}.")
        group = group[folder]
    if not _is_dataset(group, last):
        chosen(name, "dataset", last, [one for one in group if _is_dataset(group, one)])
    return group[last]


def _nested(group: Any, path: str, depth: int) -> Iterator[str]:
    """Datasets in groups. Links may lead in circles, so that there is an end."""
    for one in group:
        if _is_dataset(group, one):
            yield path + one
        elif (
            depth < MOST_DEPTH and _is_own(group, one) and group.get(one, getclass=True) is _h5py().Group
        ):
            yield from _nested(group[one], f"{path}{one}/", depth + 1)


def _is_own(group: Any, name: str) -> bool:
    """Whether it lies in this file, and not where a link leads to."""
    return name in group and isinstance(group.get(name, getlink=True), _h5py().HardLink)


def _is_dataset(group: Any, name: str) -> bool:
    return _is_own(group, name) and group.get(name, getclass=True) is _h5py().Dataset


def _opened(file: BinaryFile, dataset: Any) -> Store | None:
    """The rows, where they lie in one piece; None: as they should be, but for the library to read."""
    called = f"{file.name}: {dataset.name}"
    dtype = np.dtype(dataset.dtype)
    if dtype.kind not in NUMERIC or dtype.itemsize > 8:
        raise DataFormatError(
            f"{called}: values must be real numbers of at most 8 bytes, these are {dtype}. Name another "
            "dataset with key=..., or convert it."
        )
    shape = check_shape(called, tuple(int(n) for n in dataset.shape or ()))
    if dataset.external or dataset.is_virtual:
        raise DataFormatError(
            f"{called}: the values are in other files, which are not read. Copy them into one: h5repack."
        )
    n_bytes = shape[0] * shape[1] * dtype.itemsize
    is_compact = dataset.id.get_create_plist().get_layout() == _h5py().h5d.COMPACT
    if is_compact and n_bytes <= min(MOST_COMPACT, file.size):
        return None
    if n_bytes == 0 and dataset.chunks is None:
        return RowFile(file, 0, shape, dtype)
    if dataset.chunks is None:
        offset = dataset.id.get_offset()
        if dataset.id.get_storage_size() != n_bytes or (n_bytes and offset is None):
            raise DataFormatError(
                f"{called}: {shape} values are {n_bytes} bytes, but {dataset.id.get_storage_size()} are "
                "stored. The file may have been cut short, or the values never written."
            )
        if offset is None or offset + n_bytes > file.size:
            raise DataFormatError(
                f"{called}: {n_bytes} bytes from byte {offset} on go beyond the file, which has "
                f"{file.size}. It may have been cut short."
            )
        return RowFile(file, int(offset), shape, dtype)
    _check_chunks(called, file, dataset, shape, n_bytes)
    return None


def _check_chunks(
    called: str, file: BinaryFile, dataset: Any, shape: tuple[int, int], n_bytes: int
) -> None:
    filters = dataset.id.get_create_plist()
    codes = [filters.get_filter(i)[0] for i in range(filters.get_nfilters())]
    foreign = [code for code in codes if code not in FILTERS]
    if foreign:
        raise DataFormatError(
            f"{called}: compressed by filter {foreign[0]}, which is not part of HDF5. Write it again "
            "with gzip or without compression: h5repack -f GZIP=1."
        )
    stored = dataset.id.get_storage_size()
    per_chunk = int(np.prod([int(n) for n in dataset.chunks], dtype=object)) * dataset.dtype.itemsize
    n_chunks = -(-shape[0] // dataset.chunks[0]) * -(-shape[1] // dataset.chunks[1])
    limit = MAX_EXPANSION * min(stored, file.size)
    if stored > file.size or n_bytes > limit or per_chunk > max(SMALL_CHUNK, limit):
        raise DataFormatError(
            f"{called}: {shape} values are {n_bytes} bytes, in chunks of {per_chunk}; that cannot be in "
            f"the {stored} bytes that are stored. The file is damaged."
        )
    if dataset.id.get_num_chunks() != n_chunks:
        raise DataFormatError(
            f"{called}: only {dataset.id.get_num_chunks()} of {n_chunks} chunks were written. The file "
            "is not complete."
        )


def _faults(name: str) -> AbstractContextManager[None]:
    return library_faults(name, "an HDF5 file", "Write it again, or give its format.", FAULTS)
