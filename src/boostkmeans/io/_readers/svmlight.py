"""svmlight's and libsvm's text: "label column:value column:value ..." on each line."""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.choice import no_rows
from boostkmeans.io._readers.number_lines import MAX_COLUMNS

EXPECTED = "expected 'label column:value column:value ...', columns ascending"


@dataclass(frozen=True)
class Labelled:
    """A matrix, the labels of its rows, and what its file counts columns from."""

    matrix: Any
    labels: Any
    first_column: int


def read_svmlight(name: str, data: bytes) -> Labelled:
    """The matrix of a file with that content. `name` is for messages."""
    try:
        matrix, labels = load_svmlight_file(io.BytesIO(data), zero_based=True)
    except (ValueError, OverflowError) as error:
        check_lines(name, data)
        raise DataFormatError(f"{name}: {EXPECTED} ({error}).") from None
    if matrix.shape[0] == 0:
        raise no_rows(name)
    first_column = 0 if matrix.indices.min(initial=1) == 0 else 1
    return Labelled(_without_first(matrix) if first_column else matrix, labels, first_column)


def _without_first(matrix: Any) -> csr_array:
    """The matrix without its first column, which is empty: the file counts from 1."""
    shape = (matrix.shape[0], max(matrix.shape[1] - 1, 0))
    return csr_array((matrix.data, matrix.indices - 1, matrix.indptr), shape=shape)


def check_lines(name: str, data: bytes) -> None:
    """scikit-learn does not say which line it was that is wrong."""
    line = _first_wrong_line(io.BytesIO(data))
    if line is not None:
        raise DataFormatError(f"{name}, line {line}: {EXPECTED}.")


def _first_wrong_line(lines: Iterable[bytes]) -> int | None:
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
