"""HDF5 files. The library finds the dataset; contiguous rows are then read without it.

Links to other files, external and virtual data are not followed, and filters that need additional code
are rejected, because files are not trusted.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import Message, Parameter
from boostkmeans._runtime.installation import install_hint
from boostkmeans.io._access.array_description import ArrayDescription
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.byte_source import MAX_EXPANSION
from boostkmeans.io._access.choice import choose_name
from boostkmeans.io._access.location import Location, other_format_remedy
from boostkmeans.io._access.row_stores import RowStore
from boostkmeans.io._access.spool import Room, max_spool_memory
from boostkmeans.io._access.store import Store
from boostkmeans.io._readers.library_faults import library_faults
from boostkmeans.io._readers.npy import NUMERIC, check_shape

# Filters of HDF5 and h5py: deflate, shuffle, fletcher32, szip, nbit, scale-offset, lzf.
FILTERS = (1, 2, 3, 4, 5, 6, 32000)
# Chunks up to this number of bytes are accepted in a file of any size.
SMALL_CHUNK_BYTES = 1 << 22
SIGNATURE = b"\x89HDF\r\n\x1a\n"
# Largest size of a dataset that is stored in its header.
MAX_COMPACT_BYTES = 1 << 16
# Default size of the cache of chunks in HDF5.
DEFAULT_CACHE_BYTES = 1 << 20
# Default number of slots of the hash table of this cache.
DEFAULT_CACHE_SLOTS = 521
# The HDF5 manual recommends 100 slots per chunk in the cache.
SLOTS_PER_CHUNK = 100
# Number of datasets inside groups that are listed.
MAX_NESTED = 100
# Number of datasets that a description of a file lists.
MAX_LISTED = 1000
# Maximum depth of nested groups that are searched.
MAX_DEPTH = 8
# Exceptions that h5py raises for files that it cannot read.
H5PY_ERRORS = (OSError, RuntimeError, ValueError, TypeError, KeyError, OverflowError, SystemError)


class Hdf5Store(Store):
    """A dataset that the library reads: in chunks, or stored in its header."""

    def __init__(self, file: BinaryFile, archive: Any, dataset: Any, shape: tuple[int, int]) -> None:
        self._file = file
        self._archive = archive
        self._dataset = dataset
        self._lock = threading.Lock()
        self.shape = shape
        self.dtype = np.dtype(dataset.dtype).newbyteorder("=")

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into an array, starting with row `begin`."""
        self._file.check_unchanged()
        with self._lock, _hdf5_faults(self._file.location):
            if len(target):
                self._dataset.read_direct(target, np.s_[begin : begin + len(target)])

    def load(self) -> NDArray[Any]:
        """Return all rows as an array in memory."""
        return np.asarray(self.rows(0, self.shape[0]))

    def close(self) -> None:
        """Close the file of the library and the file itself."""
        self._archive.close()
        self._file.close()


def open_hdf5(file: BinaryFile, key: str | None, room: Room) -> Store:
    """Return the dataset of this name, else the only two-dimensional dataset, else "train"."""
    if not _has_signature(file):
        raise file.location.error(
            f"An HDF5 file begins with {SIGNATURE!r}, but this file does not.", other_format_remedy()
        )
    h5py = _import_h5py()
    with _hdf5_faults(file.location):
        with h5py.File(file.file, "r") as archive:
            dataset = _find_dataset(file.location, archive, key)
            contiguous = _open_contiguous(file, dataset)
            if contiguous is not None:
                return contiguous
            name, shape, cache = dataset.name, dataset.shape, _cache_options(dataset, room)
        archive = h5py.File(file.file, "r", **cache)
        return Hdf5Store(file, archive, archive[name], shape)


def list_hdf5(file: BinaryFile) -> list[ArrayDescription]:
    """Return the datasets of a file, including those inside groups, up to a limit."""
    h5py = _import_h5py()
    with _hdf5_faults(file.location), h5py.File(file.file, "r") as archive:
        names = islice(_nested_datasets(archive, "", 0), MAX_LISTED)
        return [
            ArrayDescription(name, tuple(archive[name].shape or ()), str(archive[name].dtype))
            for name in names
        ]


def _has_signature(file: BinaryFile) -> bool:
    """Return True if the signature is at the beginning, or after user data at byte 512, 1024, ..."""
    at = 0
    while at < file.size:
        if file.head(len(SIGNATURE), at) == SIGNATURE:
            return True
        at = max(512, 2 * at)
    return False


def _cache_options(dataset: Any, room: Room) -> dict[str, int]:
    """Return options for a cache that can hold all chunks of a row.

    Chunks that do not fit into the cache are decoded again at each read.
    """
    if dataset.chunks is None:
        return {}
    n_chunks = -(-dataset.shape[1] // dataset.chunks[1])
    n_bytes = n_chunks * dataset.chunks[0] * dataset.chunks[1] * dataset.dtype.itemsize
    if not DEFAULT_CACHE_BYTES < n_bytes <= max_spool_memory(room.memory):
        return {}
    n_slots = max(DEFAULT_CACHE_SLOTS, SLOTS_PER_CHUNK * n_chunks + 1)
    return {"rdcc_nbytes": n_bytes, "rdcc_nslots": n_slots}


def _import_h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"Reading HDF5 files requires h5py, which is not installed: {install_hint('hdf5')}"
        ) from None
    return h5py


def _find_dataset(where: Location, archive: Any, key: str | None) -> Any:
    """Return the dataset that the key names, or the default one."""
    if key is None:
        every = [one for one in archive if _is_dataset(archive, one)]
        every = every or list(islice(_nested_datasets(archive, "", 0), MAX_NESTED))
        matrices = [one for one in every if archive[one].ndim == 2]
        key = choose_name(where, "dataset", None, matrices or every)
    group = archive
    *folders, last = key.strip("/").split("/")
    for folder in folders:
        if not _is_group(group, folder):
            raise where.error(f"The file has no group {folder!r}, which is part of {key!r}.")
        group = group[folder]
    if not _is_dataset(group, last):
        choose_name(where, "dataset", last, [one for one in group if _is_dataset(group, one)])
    return group[last]


def _nested_datasets(group: Any, path: str, depth: int) -> Iterator[str]:
    """Iterate over the datasets inside groups. The depth is limited, because links can form cycles."""
    for one in group:
        if _is_dataset(group, one):
            yield path + one
        elif depth < MAX_DEPTH and _is_group(group, one):
            yield from _nested_datasets(group[one], f"{path}{one}/", depth + 1)


def _is_in_file(group: Any, name: str) -> bool:
    """Return True if the object is stored in this file, not behind a soft or external link."""
    return name in group and isinstance(group.get(name, getlink=True), _import_h5py().HardLink)


def _is_group(group: Any, name: str) -> bool:
    return _is_in_file(group, name) and group.get(name, getclass=True) is _import_h5py().Group


def _is_dataset(group: Any, name: str) -> bool:
    return _is_in_file(group, name) and group.get(name, getclass=True) is _import_h5py().Dataset


def _open_contiguous(file: BinaryFile, dataset: Any) -> Store | None:
    """Return the rows if they are contiguous, or None if the library must read them.

    Raises DataFormatError if the dataset is not a valid matrix.
    """
    where = file.location.within(dataset.name)
    dtype = np.dtype(dataset.dtype)
    if dtype.kind not in NUMERIC or dtype.itemsize > 8:
        raise where.error(
            f"The values must be real numbers of at most 8 bytes, but their type is {dtype}.",
            Message("Convert them, or name another dataset with {key}.", key=Parameter("key")),
        )
    shape = check_shape(where, tuple(int(n) for n in dataset.shape or ()))
    if dataset.external or dataset.is_virtual:
        raise where.error(
            "The values are stored in other files, which is not supported.",
            "Copy them into one file with h5repack.",
        )
    n_bytes = shape[0] * shape[1] * dtype.itemsize
    is_compact = dataset.id.get_create_plist().get_layout() == _import_h5py().h5d.COMPACT
    if is_compact and n_bytes <= min(MAX_COMPACT_BYTES, file.size):
        return None
    if dataset.chunks is not None:
        _check_chunks(where, file, dataset, shape, n_bytes)
        return None
    if n_bytes == 0:
        return RowStore(file, 0, shape, dtype)
    offset = dataset.id.get_offset()
    n_stored = dataset.id.get_storage_size()
    if n_stored != n_bytes or offset is None:
        raise where.error(
            f"The shape {shape} needs {n_bytes:,} bytes, but {n_stored:,} are stored. The file may be "
            "truncated, or the values were never written."
        )
    if offset + n_bytes > file.size:
        raise where.error(
            f"The values need {n_bytes:,} bytes from byte {offset:,} on, but the file has only "
            f"{file.size:,}. It may be truncated."
        )
    return RowStore(file, int(offset), shape, dtype)


def _check_chunks(
    where: Location, file: BinaryFile, dataset: Any, shape: tuple[int, int], n_bytes: int
) -> None:
    """Raise DataFormatError if the chunks have foreign filters, impossible sizes, or are incomplete."""
    filters = dataset.id.get_create_plist()
    codes = [filters.get_filter(i)[0] for i in range(filters.get_nfilters())]
    foreign = [code for code in codes if code not in FILTERS]
    if foreign:
        raise where.error(
            f"The dataset is compressed by filter {foreign[0]}, which is not part of HDF5.",
            "Write it again with gzip or without compression: h5repack -f GZIP=1.",
        )
    stored = dataset.id.get_storage_size()
    per_chunk = int(np.prod([int(n) for n in dataset.chunks], dtype=object)) * dataset.dtype.itemsize
    n_chunks = -(-shape[0] // dataset.chunks[0]) * -(-shape[1] // dataset.chunks[1])
    limit = MAX_EXPANSION * min(stored, file.size)
    if stored > file.size or n_bytes > limit or per_chunk > max(SMALL_CHUNK_BYTES, limit):
        raise where.error(
            f"The shape {shape} needs {n_bytes:,} bytes in chunks of {per_chunk:,}, which cannot be "
            f"compressed into the {stored:,} bytes that are stored. The file is damaged."
        )
    if dataset.id.get_num_chunks() != n_chunks:
        raise where.error(
            f"Only {dataset.id.get_num_chunks()} of {n_chunks} chunks were written. The file is not "
            "complete."
        )


def _hdf5_faults(where: Location) -> AbstractContextManager[None]:
    remedy = other_format_remedy("Write it again.")
    return library_faults(where, "an HDF5 file", remedy, H5PY_ERRORS)
