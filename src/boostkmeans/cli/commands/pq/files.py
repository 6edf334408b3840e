"""Vectors and codes that these commands read."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from boostkmeans import ProductQuantizer
from boostkmeans._data.row_source import ArraySource
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.cli.bar import Shown
from boostkmeans.cli.input import opened
from boostkmeans.cli.options import Format
from boostkmeans.io import Vectors
from boostkmeans.quantization import _codes
from boostkmeans.quantization._codes import Codes


@contextmanager
def opened_dense(
    path: str,
    shown: Shown,
    *,
    input_format: Format | None = None,
    key: list[str] | None = None,
    header: bool | None = None,
    max_memory: str | None = None,
    quantizer: str | None = None,
) -> Iterator[Vectors]:
    """As `opened`, for vectors that are dense."""
    with opened(
        path,
        shown,
        input_format=input_format,
        key=key,
        header=header,
        max_memory=max_memory,
        model=quantizer,
    ) as vectors:
        if vectors.is_sparse:
            raise ValueError(
                f"{vectors.name} has sparse vectors, and product quantization is for dense ones."
            )
        yield vectors


def as_source(rows: NDArray[Any], vectors: Vectors) -> Any:
    """Some rows of a file that are in memory, with its name and those of its features."""
    return ArraySource(rows, name=vectors.name, feature_names=vectors.feature_names)


def read_codes(path: str, shown: Shown, quantizer: ProductQuantizer) -> Codes:
    """Codes of a file, mapped where that is possible, all of which name centroids that there are."""
    with opened(path, shown) as stored:
        try:
            return _codes.check_codes(stored.load(), quantizer.codebooks_)
        except ValueError as error:
            raise DataFormatError(f"{path}: {error} Is it of this quantizer?") from None
