"""Vectors that a command reads."""

from collections.abc import Iterator
from contextlib import contextmanager

from boostkmeans._errors import DataFormatError, NotFiniteError
from boostkmeans.cli._bar import Shown
from boostkmeans.cli._options import Format
from boostkmeans.io import Vectors, open_vectors


@contextmanager
def opened(
    path: str,
    shown: Shown,
    *,
    input_format: Format | None = None,
    key: list[str] | None = None,
    max_memory: str | None = None,
) -> Iterator[Vectors]:
    """The vectors of a file. While it lasts, a value that is not finite is bad data of this file."""
    with open_vectors(
        path,
        format=None if input_format is None else input_format.value,
        key=key or None,
        max_memory=max_memory,
        progress=shown.counting("bytes"),
    ) as vectors:
        try:
            yield vectors
        except NotFiniteError as error:
            raise DataFormatError(f"{vectors.name}: {error}") from None
