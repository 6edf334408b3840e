"""The safetensors format: a JSON header with the place of each tensor, and the tensors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import ChoiceError, Message, Parameter
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage import strict_json
from boostkmeans._storage.tensors import DTYPES, LENGTH_BYTES
from boostkmeans.io._access.array_description import ArrayDescription
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.choice import choose_name
from boostkmeans.io._access.location import Location, other_format_remedy
from boostkmeans.io._access.row_stores import PIECE_BYTES, RowStore
from boostkmeans.io._access.store import Store
from boostkmeans.io._readers.npy import check_shape

# Longest header that is read. Files of large language models have less than 1 MB.
MAX_HEADER_BYTES = 1 << 24
METADATA = "__metadata__"
# Name of the type that NumPy does not have. Its values are the upper halves of float32.
BFLOAT16 = "BF16"
# Beginning of the names of the formats that boostkmeans writes.
OWN_FORMATS = "boostkmeans-"
ITEM_BYTES = {name: np.dtype(code).itemsize for name, code in DTYPES.items()} | {BFLOAT16: 2}


@dataclass(frozen=True)
class Tensor:
    """An entry of the header, whose place in the file was checked."""

    shape: tuple[int, ...]
    dtype: str
    offset: int
    """First byte in the file."""


def open_safetensors(file: BinaryFile, key: str | None) -> Store:
    """Return the tensor of this name, else the only one of two dimensions, else "train"."""
    tensors, metadata = read_header(file)
    where = file.location
    matrices = [name for name, one in tensors.items() if len(one.shape) == 2]
    if key is None and str(metadata.get("format", "")).startswith(OWN_FORMATS):
        raise ChoiceError(
            "The file was written by boostkmeans, and is not a file of vectors.",
            file=where.file,
            remedy=Message(
                "To read one of its arrays, name it: {key}.",
                key=Parameter("key", (matrices or list(tensors) or ["name"])[0]),
            ),
        )
    name = choose_name(where, "tensor", key, list(tensors) if key else matrices or list(tensors))
    tensor, inner = tensors[name], where.within(f"tensor {escape_untrusted(repr(name))}")
    if tensor.dtype not in ITEM_BYTES:
        raise inner.error(
            f"Values of type {escape_untrusted(tensor.dtype)} are not supported.",
            "Convert them to float32 or bfloat16.",
        )
    shape = check_shape(inner, tensor.shape)
    if tensor.dtype == BFLOAT16:
        return Bfloat16Store(file, tensor.offset, shape)
    return RowStore(file, tensor.offset, shape, np.dtype(DTYPES[tensor.dtype]))


def list_safetensors(file: BinaryFile) -> list[ArrayDescription]:
    """Return the tensors of a file."""
    tensors, _ = read_header(file)
    return [ArrayDescription(name, one.shape, one.dtype) for name, one in tensors.items()]


def read_header(file: BinaryFile) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the metadata of a file. Raise DataFormatError if they are not valid."""
    where, begin = file.location, _header_end(file)
    try:
        header = strict_json.parse(file.head(begin - LENGTH_BYTES, LENGTH_BYTES).decode("utf-8"))
    except ValueError as error:
        problem = f"The header is not valid JSON ({escape_untrusted(str(error))})."
        raise where.error(problem, other_format_remedy("The file may be damaged.")) from None
    if not isinstance(header, dict):
        raise where.error("The header is not a JSON object.", other_format_remedy())
    metadata = header.pop(METADATA, {})
    tensors = {name: _tensor(where, name, entry, file.size - begin) for name, entry in header.items()}
    placed = {name: Tensor(one.shape, one.dtype, begin + one.offset) for name, one in tensors.items()}
    return placed, metadata if isinstance(metadata, dict) else {}


def _header_end(file: BinaryFile) -> int:
    """Return the offset of the first tensor, without reading the header."""
    length = int.from_bytes(file.head(LENGTH_BYTES), "little")
    end = LENGTH_BYTES + length
    if file.size < LENGTH_BYTES or end > file.size or length > MAX_HEADER_BYTES:
        raise file.location.error(
            f"The first {LENGTH_BYTES} bytes declare a header of {length:,} bytes, but the file has "
            f"{file.size:,}, and at most {MAX_HEADER_BYTES:,} are read.",
            other_format_remedy("The file may be damaged or truncated."),
        )
    return end


def _tensor(where: Location, name: str, entry: Any, n_bytes: int) -> Tensor:
    """Return an entry of the header. `n_bytes` is the number of bytes behind the header."""
    inner = where.within(f"tensor {escape_untrusted(repr(name))}")
    fields = entry if isinstance(entry, dict) else {}
    dtype, shape, place = (fields.get(one) for one in ("dtype", "shape", "data_offsets"))
    is_good = isinstance(dtype, str) and all(
        isinstance(one, list) and all(type(n) is int and n >= 0 for n in one) for one in (shape, place)
    )
    if not is_good or place is None or shape is None or len(place) != 2:
        raise inner.error("The header has no valid type, shape or place of the tensor.")
    begin, end = place
    if not begin <= end <= n_bytes:
        raise inner.error(
            f"The values end at byte {end:,} behind the header, but only {n_bytes:,} bytes follow. The "
            "file is damaged or truncated.",
            "Copy it again.",
        )
    expected = ITEM_BYTES.get(str(dtype))
    for n in shape:
        expected = None if expected is None else expected * n
    if expected is not None and expected != end - begin:
        raise inner.error(
            f"The shape {tuple(shape)} of type {dtype} needs {expected:,} bytes, but there are "
            f"{end - begin:,}. The file is damaged."
        )
    return Tensor(tuple(shape), str(dtype), begin)


class Bfloat16Store(Store):
    """An array of bfloat16 in row-major order. Its values are returned as float32, which is exact."""

    def __init__(self, file: BinaryFile, offset: int, shape: tuple[int, int]) -> None:
        self._file = file
        self._offset = offset
        self.shape = shape
        self.dtype = np.dtype(np.float32)

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into an array, starting with row `begin`, and convert them in pieces."""
        row_bytes = 2 * self.shape[1]
        step = max(1, PIECE_BYTES // row_bytes)
        halves = np.empty((min(step, len(target)), self.shape[1]), dtype="<u2")
        for done in range(0, len(target), step):
            some = halves[: min(step, len(target) - done)]
            self._file.read_into(self._offset + (begin + done) * row_bytes, some)
            bits = some.astype(np.uint32) << 16
            target[done : done + len(some)] = bits.view(np.float32)

    def load(self) -> NDArray[Any]:
        """Return all rows as an array in memory."""
        return np.asarray(self.rows(0, self.shape[0]))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
