"""Files of a header and named arrays, in the format safetensors: nothing in them is ever executed.

Written piece by piece, as a whole or not at all; read by the library, with checks of our own around it.
Their `__metadata__` has "format", "format_version" and "header", which is a JSON text.
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
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage import strict_json
from boostkmeans._storage.atomic_file import atomic_write

# By safetensors' names. All are written little-endian.
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}

LENGTH_BYTES = 8
# What the library reads at most before the tensors.
MOST_HEADER_BYTES = 100_000_000
# So that every tensor begins where its type likes it.
ALIGNMENT = 8

# Above all that `VERSION` matches.
ANY_VERSION = 10**9

VERSION = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


class TensorFile(NamedTuple):
    """What was read."""

    version: int
    header: dict[str, Any]
    tensors: dict[str, NDArray[Any]]


def can_be_stored(dtype: np.dtype[Any]) -> bool:
    """Whether there is a tensor of that type."""
    return dtype.newbyteorder("<") in NAMES


def write_tensors(
    path: str | os.PathLike[str],
    format_name: str,
    version: int,
    header: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
) -> None:
    """Writes a file, or replaces one: the old or the new is there, whenever the machine stops.

    The header becomes JSON, with "library_version" and "checksums" (CRC-32 of each tensor) added to it.
    """
    # The widest first: then all are aligned without gaps, which the format does not allow.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    head = _head(format_name, version, header, ordered)
    with atomic_write(path, force=True) as file:
        file.write(len(head).to_bytes(LENGTH_BYTES, "little"))
        file.write(head)
        for _, tensor in ordered:
            file.write(_little(tensor))


def read_tensors(path: str | os.PathLike[str], format_name: str, newest: int) -> TensorFile:
    """Reads a file of that format, up to the version `newest`. Raises DataFormatError, and OSError."""
    _check_length(Path(path))
    shown = escape_untrusted(str(path))
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            version, header = _checked_header(shown, metadata, format_name, newest)
            names = list(file.keys())
            _check_tensors(shown, file, names, Path(path).stat().st_size)
            tensors = {name: _native(file.get_tensor(name)) for name in names}
        _check_sums(shown, header, tensors)
    except SafetensorError as error:
        _fail(path, f"damaged or no safetensors file ({escape_untrusted(str(error))})")
    return TensorFile(version, header, tensors)


def peek(path: str | os.PathLike[str]) -> tuple[str, int, dict[str, Any]] | None:
    """Format, version and header of a file that `write_tensors` made, without its arrays.

    None if the file is something else. Raises DataFormatError if it is damaged. What the header says is
    not checked.
    """
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        length, first = int.from_bytes(file.read(LENGTH_BYTES), "little"), file.read(1)
    if length > MOST_HEADER_BYTES or first != b"{":
        return None
    _check_length(Path(path))
    try:
        with safe_open(path, framework="numpy") as opened:
            metadata = opened.metadata() or {}
    except SafetensorError as error:
        _fail(path, f"damaged or no safetensors file ({escape_untrusted(str(error))})")
    if "format" not in metadata:
        return None
    version, header = _checked_header(
        escape_untrusted(str(path)), metadata, metadata["format"], ANY_VERSION
    )
    return metadata["format"], version, header


def _head(
    format_name: str,
    version: int,
    header: Mapping[str, Any],
    tensors: list[tuple[str, NDArray[Any]]],
) -> bytes:
    """The JSON in front of the values, filled up with blanks."""
    from boostkmeans import __version__  # late: the package is not complete when this is imported

    checksums = {name: zlib.crc32(_little(tensor)) for name, tensor in tensors}
    text = strict_json.write({**header, "library_version": __version__, "checksums": checksums})
    whole: dict[str, Any] = {
        "__metadata__": {"format": format_name, "format_version": str(version), "header": text}
    }
    begin = 0
    for name, tensor in tensors:
        end = begin + tensor.nbytes
        dtype = NAMES[tensor.dtype.newbyteorder("<")]
        whole[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, end]}
        begin = end
    head = strict_json.write(whole).encode("ascii")
    head += b" " * (-len(head) % ALIGNMENT)
    if len(head) > MOST_HEADER_BYTES:
        raise ValueError(
            f"The header takes {len(head):,} bytes, more than the {MOST_HEADER_BYTES:,} that "
            "the format allows: give long lists among the parameters as arrays."
        )
    return head


def _little(tensor: NDArray[Any]) -> memoryview:
    """Its bytes in the order of the format."""
    little = np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<"))
    return little.reshape(-1).view(np.uint8).data


def _check_length(path: Path) -> None:
    """That the file has what its first bytes promise, before anything is allocated for it."""
    if path.exists() and not path.is_file() and not path.is_dir():
        _fail(path, "no regular file")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
    if size < LENGTH_BYTES or length > size - LENGTH_BYTES:
        _fail(
            path,
            f"it has {size} bytes, of which the first {LENGTH_BYTES} promise more: cut short, or no "
            "safetensors file",
        )
    if length > MOST_HEADER_BYTES:
        _fail(path, f"a header of {length:,} bytes, above the {MOST_HEADER_BYTES:,} of the format")


def _checked_header(
    path: str, metadata: Mapping[str, str], format_name: str, newest: int
) -> tuple[int, dict[str, Any]]:
    found = metadata.get("format")
    if found != format_name:
        what = "none" if found is None else repr(found)
        _fail(
            path,
            f"its metadata should say format {format_name!r}, and say {what}",
            "Is it the right file?",
        )
    version = metadata.get("format_version", "")
    if not VERSION.fullmatch(version):
        _fail(path, f"format_version should be a number from 1 on, and is {version!r}")
    try:
        header = strict_json.parse(metadata.get("header", ""))
    except ValueError as error:
        header = error
    by = header.get("library_version") if isinstance(header, dict) else None
    if int(version) > newest:
        writer = escape_untrusted(by) if isinstance(by, str) else "of a later version"
        raise DataFormatError(
            f"{path}: written by boostkmeans {writer} in version {version} of the format "
            f"{format_name!r}; this one reads up to version {newest}. Upgrade boostkmeans."
        )
    if not isinstance(header, dict) or not isinstance(by, str):
        reason = f" ({escape_untrusted(str(header))})" if isinstance(header, ValueError) else ""
        _fail(path, f"the header should be a JSON object with a 'library_version', and is not{reason}")
    return int(version), header


def _check_tensors(path: str, file: Any, names: list[str], size: int) -> None:
    """Types, and shapes: an array without values may claim any number of rows."""
    for name in names:
        view = file.get_slice(name)
        if view.get_dtype() not in DTYPES:
            _fail(path, f"tensor {name!r} has the type {escape_untrusted(str(view.get_dtype()))}")
        if any(length > size for length in view.get_shape()):
            _fail(path, f"tensor {name!r} has the shape {view.get_shape()}, larger than the file")


def _check_sums(path: str, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
    """That the values are those that were written: a bit may change on the way."""
    checksums = header.get("checksums")
    if not isinstance(checksums, dict):
        _fail(path, "the header has no checksums")
    for name, tensor in tensors.items():
        if checksums.get(name) != zlib.crc32(_little(tensor)):
            _fail(
                path,
                f"the values of tensor {escape_untrusted(repr(name))} are not those that were written",
            )


def _native(tensor: NDArray[Any]) -> NDArray[Any]:
    """In the byte order of this machine, aligned and writable: copied where it is not so already."""
    return np.require(tensor, tensor.dtype.newbyteorder("="), ["C", "A", "W"])


def _fail(
    path: str | os.PathLike[str], what: str, remedy: str = "Fetch it again, or save it anew."
) -> NoReturn:
    raise DataFormatError(f"{escape_untrusted(str(path))}: {what}. {remedy}")
