"""Reading one value per row: weights, classes, row numbers."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from boostkmeans import DataFormatError


def read_numbers(path: str) -> NDArray[np.float64]:
    """Read one number per row from a .npy file, or from a text file with one number per line."""
    values = read_column(path)
    try:
        return values.astype(np.float64)
    except (ValueError, TypeError):
        bad = next((i for i, value in enumerate(values.tolist()) if not _is_number(value)), 0)
        raise DataFormatError(
            f"Value {bad + 1} is {str(values[bad])!r}. Expected one number per row.", file=path
        ) from None


def read_column(path: str) -> NDArray[Any]:
    """Read one value per row from a .npy file, or from a text file with one value per line.

    Pickled objects are rejected, so that no code from the file is executed.
    """
    return _read_npy(path) if _is_npy(path) else _read_text(path)


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


def _read_text(path: str) -> NDArray[Any]:
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise not_utf8(path, "one value per line", error) from None
    while lines and not lines[-1].strip():
        lines.pop()
    return np.array([line.strip() for line in lines], dtype=str)


def not_utf8(path: str, expected: str, error: UnicodeDecodeError) -> DataFormatError:
    """Return the error for a text file in another encoding."""
    return DataFormatError(
        f"Expected {expected} in UTF-8, but byte {error.start} is not valid.",
        file=path,
        remedy="Convert the file, e.g. by 'iconv -f latin1 -t utf-8'.",
    )


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True
