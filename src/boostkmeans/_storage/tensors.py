"""Files of a JSON header and named arrays, in the safetensors format.

Reading such a file never executes anything in it. Files are written atomically. The `__metadata__` of a
file holds "checksum", "format", "format_version" and "header", which is a JSON text. The safetensors
library reads the arrays; the functions of this module check the file before and after that.
"""

import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.path_length import check_path_length
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._runtime.version import VERSION as LIBRARY_VERSION
from boostkmeans._storage import head_checksum, strict_json
from boostkmeans._storage.atomic_file import atomic_write

# NumPy's types by their names in safetensors, which stores little-endian numbers.
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}

# Length of the field at the beginning of a file that holds the length of the JSON text.
LENGTH_BYTES = 8
# Longest JSON text that is written and read. Parsing takes about ten times this memory.
MAX_HEADER_BYTES = 1 << 25
# The JSON text is padded to a multiple of the widest type, so that the tensors are aligned.
ALIGNMENT = 8

# Entries of `__metadata__`. Files of version 0.13 and earlier have no checksum.
ENTRIES = (head_checksum.ENTRY, "format", "format_version", "header")

# Format versions as text: 1 to 9 digits, which Python converts quickly.
VERSION = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
# Number larger than every version that `VERSION` matches.
ANY_VERSION = 10**9

SAVE_AGAIN = "Copy the file again, or save it again."


class TensorFile(NamedTuple):
    """Content of a file."""

    version: int
    header: dict[str, Any]
    tensors: dict[str, NDArray[Any]]


class FileSummary(NamedTuple):
    """Format, version and header of a file."""

    format_name: str
    version: int
    header: dict[str, Any]


def can_be_stored(dtype: np.dtype[Any]) -> bool:
    """Return True if safetensors has this type."""
    return dtype.newbyteorder("<") in NAMES


def write_tensors(
    path: str | os.PathLike[str],
    format_name: str,
    version: int,
    header: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
) -> None:
    """Write a file atomically, replacing an existing one.

    The header is stored as JSON. The fields "library_version" and "checksums" (the CRC-32 of each
    tensor) are added to it. `head_checksum` covers the rest of the file.
    """
    # The widest types come first: then all tensors are aligned without gaps, which the format forbids.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    head = _head(format_name, version, header, ordered)
    length = len(head).to_bytes(LENGTH_BYTES, "little")
    with atomic_write(path, force=True) as file:
        file.write(length)
        file.write(head_checksum.sealed(length, head))
        for _, tensor in ordered:
            file.write(_little_endian(tensor))


def read_tensors(path: str | os.PathLike[str], format_name: str, newest: int) -> TensorFile:
    """Read a file of the given format, in any version up to `newest`.

    Raises DataFormatError if the file is damaged, has another format or a newer version, and OSError if
    it cannot be read.
    """
    checksum = _check_head(Path(path))
    shown = escape_untrusted(os.fspath(path))
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            _check_entries(shown, metadata, checksum)
            version, header = _checked_header(shown, metadata, format_name, newest)
            names = list(file.keys())
            _check_tensors(shown, file, names, Path(path).stat().st_size)
            tensors = {name: _native(file.get_tensor(name)) for name in names}
        _check_sums(shown, header, tensors)
    except SafetensorError as error:
        _fail_to_parse(shown, error)
    return TensorFile(version, header, tensors)


def peek(path: str | os.PathLike[str]) -> FileSummary | None:
    """Return the format, version and header of a file that `write_tensors` wrote, without its arrays.

    Returns None if the file is something else. Raises DataFormatError if it is damaged. The fields of
    the header are not checked.
    """
    check_path_length(os.fspath(path))
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        length, first = int.from_bytes(file.read(LENGTH_BYTES), "little"), file.read(1)
    if length > MAX_HEADER_BYTES or first != b"{":
        return None
    checksum = _check_head(Path(path))
    shown = escape_untrusted(os.fspath(path))
    try:
        with safe_open(path, framework="numpy") as opened:
            metadata = opened.metadata() or {}
    except SafetensorError as error:
        _fail_to_parse(shown, error)
    if "format" not in metadata:
        return None
    _check_entries(shown, metadata, checksum)
    version, header = _checked_header(shown, metadata, metadata["format"], ANY_VERSION)
    return FileSummary(metadata["format"], version, header)


def _head(
    format_name: str,
    version: int,
    header: Mapping[str, Any],
    tensors: list[tuple[str, NDArray[Any]]],
) -> bytes:
    """Return the JSON text of a file, padded with blanks, with a checksum of zeros."""
    checksums = {name: zlib.crc32(_little_endian(tensor)) for name, tensor in tensors}
    text = strict_json.write({**header, "library_version": LIBRARY_VERSION, "checksums": checksums})
    whole: dict[str, Any] = {
        "__metadata__": {
            head_checksum.ENTRY: head_checksum.BLANK,
            "format": format_name,
            "format_version": str(version),
            "header": text,
        }
    }
    begin = 0
    for name, tensor in tensors:
        end = begin + tensor.nbytes
        dtype = NAMES[tensor.dtype.newbyteorder("<")]
        whole[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, end]}
        begin = end
    head = strict_json.write(whole).encode("ascii")
    head += b" " * (-len(head) % ALIGNMENT)
    if len(head) > MAX_HEADER_BYTES:
        raise ValueError(
            f"The header takes {len(head):,} bytes. The format allows at most {MAX_HEADER_BYTES:,}. "
            "Pass long lists among the parameters as arrays."
        )
    return head


def _little_endian(tensor: NDArray[Any]) -> memoryview:
    """Return the bytes of an array in the byte order of the format."""
    little = np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<"))
    return little.reshape(-1).view(np.uint8).data


def _native(tensor: NDArray[Any]) -> NDArray[Any]:
    """Return the array in the byte order of this machine, aligned and writable."""
    return np.require(tensor, tensor.dtype.newbyteorder("="), ["C", "A", "W"])


def _check_head(path: Path) -> str | None:
    """Raise if the head of a file is damaged. Return its checksum, or None if it has none.

    A file that is shorter than its first bytes declare is refused before memory is allocated for it.
    """
    check_path_length(os.fspath(path))
    shown = escape_untrusted(os.fspath(path))
    if path.exists() and not path.is_file() and not path.is_dir():
        _fail(shown, "This is not a regular file.")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        field = file.read(LENGTH_BYTES)
        length = int.from_bytes(field, "little")
        readable = length <= min(size - LENGTH_BYTES, MAX_HEADER_BYTES)
        text = file.read(length) if readable else b""
    if size < LENGTH_BYTES or length > size - LENGTH_BYTES:
        _fail(
            shown,
            f"The file has {size:,} bytes, fewer than its first {LENGTH_BYTES} bytes declare: it is "
            "truncated or not a safetensors file.",
        )
    if length > MAX_HEADER_BYTES:
        _fail(
            shown,
            f"The header has {length:,} bytes. The format allows at most {MAX_HEADER_BYTES:,}.",
        )
    checksum = head_checksum.stored_checksum(text)
    if checksum is not None and not head_checksum.is_intact(field, text):
        _fail(
            shown, "The header does not match its checksum: the file has changed since it was written."
        )
    return checksum


def _check_entries(path: str, metadata: Mapping[str, str], checksum: str | None) -> None:
    """Raise if `__metadata__` has unknown entries, or a checksum that was not verified."""
    for name in metadata:
        if name not in ENTRIES:
            _fail(path, f"The metadata has an unknown entry {escape_untrusted(repr(name))}.")
    if metadata.get(head_checksum.ENTRY) != checksum:
        _fail(path, "The checksum is not the first entry of the file: another program has changed it.")


def _checked_header(
    path: str, metadata: Mapping[str, str], format_name: str, newest: int
) -> tuple[int, dict[str, Any]]:
    """Return the version and the parsed header of a file."""
    found = metadata.get("format")
    if found != format_name:
        got = "no format" if found is None else escape_untrusted(repr(found))
        _fail(
            path, f"Expected the format {format_name!r}. Got {got}.", "Check that it is the right file."
        )
    version = metadata.get("format_version", "")
    if not VERSION.fullmatch(version):
        _fail(path, f"Expected a format_version of at least 1. Got {escape_untrusted(repr(version))}.")
    try:
        header = strict_json.parse(metadata.get("header", ""))
    except ValueError as error:
        header = error
    by = header.get("library_version") if isinstance(header, dict) else None
    if int(version) > newest:
        writer = escape_untrusted(by) if isinstance(by, str) else "of a later version"
        _fail(
            path,
            f"The file was written by boostkmeans {writer} in version {version} of the format "
            f"{format_name!r}. This version of boostkmeans reads versions up to {newest}.",
            "Upgrade boostkmeans.",
        )
    if not isinstance(header, dict) or not isinstance(by, str):
        reason = f" ({escape_untrusted(str(header))})" if isinstance(header, ValueError) else ""
        _fail(path, f"The header is not a JSON object with a 'library_version'{reason}.")
    return int(version), header


def _check_tensors(path: str, file: Any, names: list[str], size: int) -> None:
    """Check types and shapes before memory is allocated.

    A tensor without values could declare any number of rows.
    """
    for name in names:
        view = file.get_slice(name)
        place = f"tensor {escape_untrusted(repr(name))}"
        if view.get_dtype() not in DTYPES:
            dtype = escape_untrusted(str(view.get_dtype()))
            _fail(path, f"The type {dtype} is not supported.", at=place)
        if any(length > size for length in view.get_shape()):
            _fail(path, f"The shape {view.get_shape()} is larger than the file.", at=place)


def _check_sums(path: str, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
    """Raise if the values of a tensor have changed since they were written."""
    checksums = header.get("checksums")
    if not isinstance(checksums, dict):
        _fail(path, "The header has no checksums.")
    for name, tensor in tensors.items():
        if checksums.get(name) != zlib.crc32(_little_endian(tensor)):
            _fail(
                path,
                "The values do not match their checksum: the file has changed since it was written.",
                at=f"tensor {escape_untrusted(repr(name))}",
            )


def _fail_to_parse(path: str, error: SafetensorError) -> NoReturn:
    reason = escape_untrusted(str(error))
    _fail(path, f"The file is damaged or not a safetensors file ({reason}).")


def _fail(path: str, problem: str, remedy: str = SAVE_AGAIN, *, at: str = "") -> NoReturn:
    raise DataFormatError(problem, file=path, place=at, remedy=remedy) from None
