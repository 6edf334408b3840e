"""Reading one value per row: weights, classes, row numbers."""

from array import array
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from boostkmeans import DataFormatError
from boostkmeans._runtime.errors import shorten
from boostkmeans.io._access.byte_source import ByteSource, find_text_fault
from boostkmeans.io._access.location import Location
from boostkmeans.io._readers.text_lines import row_lines

# Maximum number of characters of a line. Numbers, ids and names of classes are short.
MAX_LINE_LENGTH = 1 << 16
# Number of characters of a value that an error shows.
MAX_SHOWN = 200
EXPECTED_VALUES = "Expected a text with one value per line."
TO_UTF8 = "Convert the file, e.g. by 'iconv -f latin1 -t utf-8'."


def read_numbers(path: str) -> NDArray[np.float64]:
    """Read one number per row from a .npy file, or from a text file with one number per line."""
    return _convert_numbers(_read_npy(path), path) if _is_npy(path) else _parse_numbers(path)


def read_column(path: str) -> NDArray[Any]:
    """Read one value per row from a .npy file, or from a text file with one value per line.

    Pickled objects are rejected, so that no code from the file is executed.
    """
    if _is_npy(path):
        return _read_npy(path)
    # An array of the type str would give each row the memory of the longest one.
    return np.array(list(_text_values(path)), dtype=object)


def describe_column(path: str) -> tuple[int, str] | None:
    """Return the length and the type of a 1-D array in a .npy file; None for any other content."""
    if not _is_npy(path):
        return None
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError):  # `open_vectors` raises a better error
        return None
    return (len(values), str(values.dtype)) if values.ndim == 1 else None


def _is_npy(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX


def _read_npy(path: str) -> NDArray[Any]:
    try:
        values = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise DataFormatError(
            f"This is not an array of plain values ({error}).",
            file=path,
            remedy="Save it again as numbers or strings.",
        ) from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataFormatError(
            f"Expected a 1-D array with one value per row. Got an array of shape {values.shape}.",
            file=path,
        )
    return np.asarray(values)


def _text_values(path: str) -> Iterator[str]:
    """Yield the lines of a text without blanks around them. Blank lines at the end are left out."""
    source, n_blank = ByteSource(path), 0
    for number, line in row_lines(source, EXPECTED_VALUES, longest=MAX_LINE_LENGTH):
        value = line.strip()
        if not value:
            n_blank += 1
            continue
        if not value.isascii() or "\0" in value:  # millions of numbers pass this without a search
            _check_text(value, source.location.within(f"line {number}"))
        yield from repeat("", n_blank)
        n_blank = 0
        yield value


def _check_text(value: str, where: Location) -> None:
    fault = find_text_fault(value, "UTF-8")
    if fault is not None:
        raise where.error(f"The text is {fault.reason}.", TO_UTF8 if fault.wrong_encoding else "")


def _parse_numbers(path: str) -> NDArray[np.float64]:
    found = array("d")
    for value in _text_values(path):
        try:
            found.append(float(value))
        except ValueError:
            raise _not_a_number(len(found), value, path) from None
    return np.array(found, dtype=np.float64)


def _convert_numbers(values: NDArray[Any], path: str) -> NDArray[np.float64]:
    try:
        return values.astype(np.float64)
    except (ValueError, TypeError):
        bad = next((i for i, value in enumerate(values.tolist()) if not _is_number(value)), 0)
        raise _not_a_number(bad, str(values[bad]), path) from None


def _not_a_number(row: int, value: str, path: str) -> DataFormatError:
    return DataFormatError(
        f"Value {row + 1} is {shorten(repr(value), MAX_SHOWN)}. Expected one number per row.", file=path
    )


def not_utf8(path: str, expected: str, error: UnicodeDecodeError) -> DataFormatError:
    """Return the error for a text file in another encoding."""
    return DataFormatError(
        f"Expected {expected} in UTF-8, but byte {error.start} is not valid.",
        file=path,
        remedy=TO_UTF8,
    )


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True
