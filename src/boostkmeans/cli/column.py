"""Files with one value a row: labels, distances, weights, classes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.cli.output import STDOUT, Output, print_part, writing_to

TEXTS = (".txt", ".csv")
# Values that become lines at a time.
LINES_AT_ONCE = 1 << 16

Write = Callable[[NDArray[Any]], bool]
"""Takes the next values. False if nobody wants any more."""


def check_column(option: str, output: Output | None) -> None:
    """Raises an error if the name of the file does not tell how to write it."""
    if output is None or output.path == STDOUT or output.ending in (".npy", *TEXTS):
        return
    raise ValueError(
        f"{option} must be a file that ends in .npy, .txt or .csv, or - for standard output. "
        f"Got {output.path!r}."
    )


@contextmanager
def column_writer(output: Output, n_rows: int, dtype: type[np.generic]) -> Iterator[Write]:
    """What writes values, some after the other. A file is there once all are written, or not at all."""
    if output.path == STDOUT:
        yield lambda values: all(map(print_part, _lines(values)))
        return
    with output.opened() as file:
        if output.ending == ".npy":
            descr = npy.dtype_to_descr(np.dtype(dtype))
            npy.write_array_header_1_0(
                file, {"descr": descr, "fortran_order": False, "shape": (n_rows,)}
            )

            def write(values: NDArray[Any]) -> bool:
                with writing_to(output.path):
                    file.write(np.ascontiguousarray(values, dtype=dtype).data)
                return True

        else:

            def write(values: NDArray[Any]) -> bool:
                with writing_to(output.path):
                    for lines in _lines(values):
                        file.write(lines.encode("ascii"))
                return True

        yield write


def _lines(values: NDArray[Any]) -> Iterator[str]:
    for begin in range(0, len(values), LINES_AT_ONCE):
        yield "".join(f"{value}\n" for value in values[begin : begin + LINES_AT_ONCE].tolist())


def read_numbers(path: str) -> NDArray[np.float64]:
    """A number for each row: a vector in .npy, or one a line."""
    values = read_column(path)
    try:
        return values.astype(np.float64)
    except (ValueError, TypeError):
        bad = next((i for i, value in enumerate(values.tolist()) if not _is_number(value)), 0)
        raise DataFormatError(
            f"{path}: value {bad + 1} is {values[bad]!r}. Expected is a number for each row."
        ) from None


def read_column(path: str) -> NDArray[Any]:
    """A value for each row: a vector in .npy, or a text with one a line. Nothing in it is executed."""
    with Path(path).open("rb") as file:
        is_npy = file.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX
    return _from_npy(path) if is_npy else _from_text(path)


def column_header(path: str) -> tuple[int, str] | None:
    """How many values of which type a vector in .npy has; None for anything else."""
    with Path(path).open("rb") as file:
        if file.read(len(npy.MAGIC_PREFIX)) != npy.MAGIC_PREFIX:
            return None
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError):  # which whoever opens it says better
        return None
    return (len(values), str(values.dtype)) if values.ndim == 1 else None


def _from_npy(path: str) -> NDArray[Any]:
    try:
        values = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise DataFormatError(f"{path}: not a file of plain values ({error}). Save it anew.") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataFormatError(
            f"{path}: expected is a vector, one value a row. Got an array of shape {values.shape}."
        )
    return np.asarray(values)


def _from_text(path: str) -> NDArray[Any]:
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataFormatError(
            f"{path}: expected is a value a line in UTF-8, and byte {error.start} is not. Convert it: "
            "'iconv -f latin1 -t utf-8', for example."
        ) from None
    while lines and not lines[-1].strip():
        lines.pop()
    return np.array([line.strip() for line in lines], dtype=str)


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True
