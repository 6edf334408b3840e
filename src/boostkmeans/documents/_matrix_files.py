"""Documents as a ready matrix: CLUTO, Matrix Market, svmlight, or SciPy's npz.

Files come from strangers: what a header promises is held against the size of the file first, and nothing
is unpickled.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.documents._corpus import Corpus, as_rows
from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._readers.cluto import read_cluto
from boostkmeans.io._readers.matrix_market import read_matrix_market
from boostkmeans.io._readers.npz import arrays_of, as_text, sparse_matrix
from boostkmeans.io._readers.svmlight import read_svmlight


@dataclass(frozen=True)
class _Labelled:
    """A matrix with what its file says about rows and columns."""

    matrix: Any
    terms: list[str] | None = None
    classes: list[str] | None = None
    first_column: int = 1


def read_matrix(source: ByteSource, kind: str) -> Corpus:
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


def _cluto(source: ByteSource) -> _Labelled:
    return _Labelled(read_cluto(source.name, source.read()))


def _matrix_market(source: ByteSource) -> _Labelled:
    return _Labelled(read_matrix_market(source.name, source.read()))


def _svmlight(source: ByteSource) -> _Labelled:
    found = read_svmlight(source.name, source.read())
    classes = [f"{label:g}" for label in found.labels]
    return _Labelled(found.matrix, classes=classes, first_column=found.first_column)


def _npz(source: ByteSource) -> _Labelled:
    arrays = arrays_of(source.name, io.BytesIO(source.read()))
    matrix = sparse_matrix(source.name, arrays, source.max_bytes())
    n_rows, n_columns = matrix.shape
    return _Labelled(
        matrix,
        terms=_strings(source, arrays, "terms", n_columns),
        classes=_class_names(source, arrays, n_rows),
    )


def _class_names(source: ByteSource, arrays: Any, n_rows: int) -> list[str] | None:
    labels = _strings(source, arrays, "labels", n_rows)
    if labels is None or "class_names" not in arrays:
        return labels
    names = [as_text(name) for name in np.ravel(arrays["class_names"])]
    numbers: NDArray[Any] = arrays["labels"]
    if numbers.dtype.kind not in "ui":
        return labels
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(names):
        raise DataFormatError(
            f"{source.name}: the labels go from {numbers.min()} to {numbers.max()}, but there are "
            f"{len(names)} class_names."
        )
    return [names[number] for number in numbers]


def _strings(source: ByteSource, arrays: Any, name: str, expected: int) -> list[str] | None:
    if name not in arrays:
        return None
    values: NDArray[Any] = np.ravel(arrays[name])
    if len(values) != expected:
        raise DataFormatError(
            f"{source.name}: the array {name!r} has {len(values)} values, but the matrix is such that "
            f"there should be {expected}."
        )
    return [as_text(value) for value in values]


def _beside(source: ByteSource, ending: str, expected: int) -> list[str] | None:
    """The lines of `FILE.mat.ENDING` or `FILE.ENDING`, if there is one."""
    path = Path(source.path)
    for candidate in (Path(f"{path}.{ending}"), path.with_suffix(f".{ending}")):
        if candidate.is_file():
            break
    else:
        return None
    # One strange character does not make a term worthless.
    text = ByteSource(str(candidate)).read().decode("utf-8", "backslashreplace")
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
