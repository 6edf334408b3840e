"""The text format of svmlight and libsvm: "label column:value column:value ..." on each line."""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from boostkmeans._runtime.errors import shorten
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.choice import no_rows_error
from boostkmeans.io._access.location import Location
from boostkmeans.io._readers.number_lines import MAX_COLUMNS, MAX_SHOWN

EXPECTED = "Expected 'label column:value column:value ...' with ascending columns"


@dataclass(frozen=True)
class Labelled:
    """A matrix and the labels of its rows."""

    matrix: Any
    labels: Any
    first_column: int
    """Number of the first column in the file: 0 or 1."""


def read_svmlight(name: str, data: bytes) -> Labelled:
    """Return the matrix of a file with this content. `name` is the file name for messages."""
    try:
        matrix, labels = load_svmlight_file(io.BytesIO(data), zero_based=True)
    except (ValueError, OverflowError) as error:
        check_lines(name, data)
        raise Location(name).error(f"{EXPECTED} ({escape_untrusted(str(error))}).") from None
    if matrix.shape[0] == 0:
        raise no_rows_error(Location(name))
    first_column = 0 if matrix.indices.min(initial=1) == 0 else 1
    return Labelled(_without_first_column(matrix) if first_column else matrix, labels, first_column)


def _without_first_column(matrix: Any) -> csr_array:
    """Return the matrix without its first column, which is empty if the file has one-based indices."""
    shape = (matrix.shape[0], max(matrix.shape[1] - 1, 0))
    return csr_array((matrix.data, matrix.indices - 1, matrix.indptr), shape=shape)


def check_lines(name: str, data: bytes) -> None:
    """Raise DataFormatError for the first invalid line. scikit-learn does not report the line number."""
    found = _first_invalid_line(io.BytesIO(data))
    if found is not None:
        line, problem = found
        raise Location(name, f"line {line}").error(problem)


def _first_invalid_line(lines: Iterable[bytes]) -> tuple[int, str] | None:
    """Return the number of the first invalid line, and the problem."""
    for number, line in enumerate(lines, start=1):
        label, *pairs = line.split(b"#")[0].split() or [b"0"]
        try:
            float(label)
            columns = [int(pair.split(b":")[0]) for pair in pairs if not pair.startswith(b"qid:")]
            _ = [float(pair.split(b":")[1]) for pair in pairs]
        except (ValueError, IndexError):
            return number, f"{EXPECTED}."
        largest = max(columns, default=0)
        if largest > MAX_COLUMNS:
            got = shorten(str(largest), MAX_SHOWN)
            return number, f"The largest column that is supported is {MAX_COLUMNS}. Got {got}."
        if min(columns, default=0) < 0 or not all(a < b for a, b in pairwise(columns)):
            return number, f"{EXPECTED}."
    return None
