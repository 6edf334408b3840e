"""Documents as a matrix file: CLUTO, Matrix Market, svmlight, or SciPy's npz."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.documents._corpus import Corpus, as_rows
from boostkmeans.io import LabelledMatrix, read_matrix
from boostkmeans.io._access.byte_source import ByteSource

FORMATS = ("cluto", "matrix-market", "svmlight", "npz")


def read_matrix_corpus(source: ByteSource, format_name: str) -> Corpus:
    """Read a matrix with one row per document.

    Names of columns and rows and classes of rows may be stored in CLUTO's text files `FILE.clabel`,
    `FILE.rlabel` and `FILE.rclass`, one per line. The arrays "terms", "labels" and "class_names" of an
    npz file, and the labels of an svmlight file, take precedence.
    """
    found = read_matrix(source.path, format_name)
    matrix = as_rows(found.matrix, source.name)
    n_rows, n_columns = matrix.shape
    if n_rows == 0:
        raise DataFormatError("The matrix has no rows, and therefore no documents.", file=source.name)
    classes = _stored_classes(source, found, n_rows) or _side_file(source, "rclass", n_rows)
    terms = _stored_strings(source, found, "terms", n_columns)
    return Corpus(
        names=_side_file(source, "rlabel", n_rows) or [f"row {i}" for i in range(1, n_rows + 1)],
        matrix=matrix,
        terms=terms or _side_file(source, "clabel", n_columns),
        classes=None if classes is None else list(classes),
        source=source.name,
        first_column=found.first_column,
    )


def _stored_classes(source: ByteSource, found: LabelledMatrix, n_rows: int) -> list[str] | None:
    """Return the classes that the matrix file itself stores."""
    if found.row_labels is not None:
        return [f"{label:g}" for label in found.row_labels]
    labels = _stored_strings(source, found, "labels", n_rows)
    if labels is None or "class_names" not in found.arrays:
        return labels
    names = [_as_text(name) for name in np.ravel(found.arrays["class_names"])]
    numbers: NDArray[Any] = found.arrays["labels"]
    if numbers.dtype.kind not in "ui":
        return labels
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(names):
        raise DataFormatError(
            f"The labels range from {numbers.min()} to {numbers.max()}, but there are {len(names)} "
            "class_names.",
            file=source.name,
        )
    return [names[number] for number in numbers]


def _stored_strings(
    source: ByteSource, found: LabelledMatrix, name: str, expected: int
) -> list[str] | None:
    """Return an array of an npz file as strings, or None if there is no such array."""
    if name not in found.arrays:
        return None
    values: NDArray[Any] = np.ravel(found.arrays[name])
    if len(values) != expected:
        raise DataFormatError(
            f"The array {name!r} has {len(values)} values, but the shape of the matrix requires "
            f"{expected}.",
            file=source.name,
        )
    return [_as_text(value) for value in values]


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _side_file(source: ByteSource, suffix: str, expected: int) -> list[str] | None:
    """Return the lines of `FILE.mat.SUFFIX` or `FILE.SUFFIX`, or None if neither exists."""
    path = Path(source.path)
    candidates = (Path(f"{path}.{suffix}"), path.with_suffix(f".{suffix}"))
    side_file = next((candidate for candidate in candidates if candidate.is_file()), None)
    if side_file is None:
        return None
    # One invalid character must not make the whole file unusable.
    text = ByteSource(str(side_file)).read().decode("utf-8", "backslashreplace")
    lines = [line.strip() for line in io.StringIO(text, newline="\n")]
    while len(lines) > expected and not lines[-1]:
        lines.pop()
    if len(lines) != expected:
        what = "columns" if suffix == "clabel" else "rows"
        raise DataFormatError(
            f"The file has {len(lines)} lines, but {source.name} has {expected} {what}.",
            file=str(side_file),
            remedy="Rename the file if it does not belong to the matrix.",
        )
    return lines
