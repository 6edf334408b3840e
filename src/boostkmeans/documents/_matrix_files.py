"""Documents as a ready matrix: CLUTO, Matrix Market, svmlight, or SciPy's npz.

Files come from strangers: what a header promises is held against the size of the file first, and nothing
is unpickled.
"""

import io
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.datasets import load_svmlight_file

from boostkmeans._errors import DataFormatError
from boostkmeans.documents._cluto import read_cluto
from boostkmeans.documents._corpus import Corpus, as_rows
from boostkmeans.documents._matrix_market import read_matrix_market
from boostkmeans.documents._number_lines import MAX_COLUMNS
from boostkmeans.documents._source import MOST_EXPANSION, Source

# Arrays of a compressed matrix that are pointers and indices; and those of a coordinate one.
COMPRESSED, COORDINATES = ("indptr", "indices", "data"), ("row", "col", "data")


@dataclass(frozen=True)
class _Labelled:
    """A matrix with what its file says about rows and columns."""

    matrix: Any
    terms: list[str] | None = None
    classes: list[str] | None = None
    first_column: int = 1


def read_matrix(source: Source, kind: str) -> Corpus:
    """A matrix of one of the `READERS`; names of columns, rows and classes may lie beside it.

    As CLUTO has it, they are in `FILE.clabel`, `FILE.rlabel` and `FILE.rclass`, one a line.
    """
    try:
        found = READERS[kind](source)
        matrix = as_rows(found.matrix, source.name)
    except (ValueError, OverflowError, IndexError, TypeError) as error:
        if isinstance(error, DataFormatError):
            raise
        raise DataFormatError(
            f"{source.name}: not a {NAMES[kind]} file, or a damaged one: {error}"
        ) from None
    n_rows, n_columns = matrix.shape
    if n_rows == 0:
        raise DataFormatError(f"{source.name}: the matrix has no rows, that is, no documents.")
    rows = range(1, n_rows + 1)
    classes = found.classes or _beside(source, "rclass", n_rows)
    return Corpus(
        names=_beside(source, "rlabel", n_rows) or [f"row {i}" for i in rows],
        matrix=matrix,
        terms=found.terms or _beside(source, "clabel", n_columns),
        classes=None if classes is None else list(classes),
        source=source.name,
        first_column=found.first_column,
    )


def _cluto(source: Source) -> _Labelled:
    return _Labelled(read_cluto(source.name, source.read()))


def _matrix_market(source: Source) -> _Labelled:
    return _Labelled(read_matrix_market(source.name, source.read()))


def _svmlight(source: Source) -> _Labelled:
    try:
        with source.opened() as stream:
            matrix, labels = load_svmlight_file(stream, zero_based=True)
    except (ValueError, OverflowError) as error:
        with source.opened() as stream:
            line = _first_wrong_line(stream)
        place = "" if line is None else f", line {line}"
        raise DataFormatError(
            f"{source.name}{place}: expected 'label column:value column:value ...', columns ascending "
            f"({error})."
        ) from None
    first_column = 0 if matrix.indices.min(initial=1) == 0 else 1
    return _Labelled(
        _without_first(matrix) if first_column else matrix,
        classes=[f"{label:g}" for label in labels],
        first_column=first_column,
    )


def _without_first(matrix: Any) -> csr_array:
    """The matrix without its first column, which is empty: the file counts from 1."""
    shape = (matrix.shape[0], max(matrix.shape[1] - 1, 0))
    return csr_array((matrix.data, matrix.indices - 1, matrix.indptr), shape=shape)


def _first_wrong_line(lines: Iterable[bytes]) -> int | None:
    """scikit-learn does not say which one it was."""
    for number, line in enumerate(lines, start=1):
        label, *pairs = line.split(b"#")[0].split() or [b"0"]
        try:
            float(label)
            columns = [int(pair.split(b":")[0]) for pair in pairs if not pair.startswith(b"qid:")]
            _ = [float(pair.split(b":")[1]) for pair in pairs]
        except (ValueError, IndexError):
            return number
        ascending = all(a < b for a, b in pairwise(columns))
        if not ascending or not all(0 <= column <= MAX_COLUMNS for column in columns):
            return number
    return None


def _npz(source: Source) -> _Labelled:
    content = io.BytesIO(source.read())  # once, so that what was checked is what is loaded
    try:
        with zipfile.ZipFile(content) as archive:
            _check_members(source, archive)
        content.seek(0)
        with np.load(content, allow_pickle=False) as arrays:
            return _from_arrays(source, arrays)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, KeyError) as error:
        raise DataFormatError(f"{source.name}: not an npz file, or a damaged one: {error}") from None


def _check_members(source: Source, archive: zipfile.ZipFile) -> None:
    """Each array must be as long as its header says: NumPy would make room for it before it looks."""
    for member in archive.infolist():
        if not member.filename.endswith(".npy"):
            continue
        if member.file_size > MOST_EXPANSION * max(member.compress_size, 1):
            raise DataFormatError(f"{source.name}: {member.filename} cannot be as long as it says.")
        with archive.open(member) as stream:
            shape, dtype = _array_header(stream)
            room = member.file_size - stream.tell()
        if dtype.hasobject:
            raise DataFormatError(
                f"{source.name}: {member.filename} holds Python objects, which are not read: they could "
                "run code. Save strings as an array of dtype 'U'."
            )
        if dtype.itemsize == 0:
            raise DataFormatError(f"{source.name}: the values of {member.filename} have no length.")
        size = dtype.itemsize * int(np.prod([int(n) for n in shape], dtype=object))
        if size != room or any(n < 0 for n in shape):
            raise DataFormatError(
                f"{source.name}: {member.filename} promises {size} bytes and has {room}. The file may be"
                " damaged."
            )


def _array_header(stream: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype


def _from_arrays(source: Source, arrays: Any) -> _Labelled:
    layout = _text(arrays["format"][()]) if "format" in arrays else None
    needed = {"csr": COMPRESSED, "csc": COMPRESSED, "coo": COORDINATES}.get(layout or "", ())
    if not needed or any(name not in arrays for name in (*needed, "shape")):
        raise DataFormatError(
            f"{source.name}: expected a sparse matrix as scipy.sparse.save_npz writes it (csr, csc or "
            f"coo); found the arrays {', '.join(sorted(arrays)) or 'none'}."
        )
    shape = tuple(int(n) for n in np.ravel(arrays["shape"]))
    if len(shape) != 2 or min(shape) < 0:
        raise DataFormatError(f"{source.name}: {shape} is not the shape of a matrix.")
    if shape[0] > source.most_bytes() * MOST_EXPANSION or shape[1] > MAX_COLUMNS:
        raise DataFormatError(f"{source.name}: {shape} is more than such a file can hold.")
    first, second, data = (arrays[name] for name in needed)
    if layout == "coo":
        matrix = coo_array((data, (first, second)), shape=shape)
    else:
        matrix = {"csr": csr_array, "csc": csc_array}[str(layout)]((data, second, first), shape=shape)
        matrix.check_format(full_check=True)
    n_rows, n_columns = shape
    return _Labelled(
        matrix,
        terms=_strings(source, arrays, "terms", n_columns),
        classes=_class_names(source, arrays, n_rows),
    )


def _class_names(source: Source, arrays: Any, n_rows: int) -> list[str] | None:
    labels = _strings(source, arrays, "labels", n_rows)
    if labels is None or "class_names" not in arrays:
        return labels
    names = [_text(name) for name in np.ravel(arrays["class_names"])]
    numbers: NDArray[Any] = arrays["labels"]
    if numbers.dtype.kind not in "ui":
        return labels
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(names):
        raise DataFormatError(
            f"{source.name}: the labels go from {numbers.min()} to {numbers.max()}, but there are "
            f"{len(names)} class_names."
        )
    return [names[number] for number in numbers]


def _strings(source: Source, arrays: Any, name: str, expected: int) -> list[str] | None:
    if name not in arrays:
        return None
    values: NDArray[Any] = np.ravel(arrays[name])
    if len(values) != expected:
        raise DataFormatError(
            f"{source.name}: the array {name!r} has {len(values)} values, but the matrix is such that "
            f"there should be {expected}."
        )
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _beside(source: Source, ending: str, expected: int) -> list[str] | None:
    """The lines of `FILE.mat.ENDING` or `FILE.ENDING`, if there is one."""
    path = Path(source.path)
    for candidate in (Path(f"{path}.{ending}"), path.with_suffix(f".{ending}")):
        if candidate.is_file():
            break
    else:
        return None
    # One strange character does not make a term worthless.
    text = Source(str(candidate)).read().decode("utf-8", "backslashreplace")
    lines = [line.strip() for line in io.StringIO(text, newline="\n")]
    while len(lines) > expected and not lines[-1]:
        lines.pop()
    if len(lines) != expected:
        what = "columns" if ending == "clabel" else "rows"
        raise DataFormatError(
            f"{candidate}: {len(lines)} lines, but {source.name} has {expected} {what}. Rename the file"
            " if it does not belong there."
        )
    return lines


READERS = {"cluto": _cluto, "matrix-market": _matrix_market, "svmlight": _svmlight, "npz": _npz}
NAMES = {
    "cluto": "CLUTO",
    "matrix-market": "Matrix Market",
    "svmlight": "svmlight",
    "npz": "npz",
}
