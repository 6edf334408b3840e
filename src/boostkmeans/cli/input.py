"""Vectors that a command reads."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from boostkmeans._data import memory
from boostkmeans.cli.bar import Shown
from boostkmeans.cli.errors import about
from boostkmeans.cli.options import Format
from boostkmeans.io import Vectors, open_vectors

STDIN = "-"
STDIN_PATHS = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


@contextmanager
def opened(
    path: str,
    shown: Shown,
    *,
    input_format: Format | None = None,
    key: list[str] | None = None,
    header: bool | None = None,
    max_memory: str | None = None,
    model: str | None = None,
) -> Iterator[Vectors]:
    """The vectors of a file. While it lasts, errors about the rows name it, and the model's file."""
    with open_vectors(
        STDIN if path in STDIN_PATHS else path,
        format=None if input_format is None else input_format.value,
        key=key or None,
        header=header,
        max_memory=max_memory,
        progress=shown.counting("bytes"),
    ) as vectors:
        try:
            yield vectors
        except ValueError as error:
            known = about(error, vectors.name, model)
            if known is error:
                raise
            raise known from error


def is_stream(path: str) -> bool:
    """Whether what is read of it is gone."""
    return path == STDIN or path in STDIN_PATHS or Path(path).is_fifo()


def check_side_files(files: Mapping[str, str | None]) -> None:
    """Raises an error if one of these, by their options, is standard input or a pipe."""
    for option, path in files.items():
        if path is not None and is_stream(path):
            raise ValueError(f"{option} must be a file: only vectors are read from a pipe.")


def check_memory(
    vectors: Vectors, n_rows: int, n_clusters: int, *, at_once: int | None = None, remedy: str = ""
) -> None:
    """Raises an error if the rows, or so many `at_once`, and the centres exceed --max-memory."""
    limit, n_features = vectors.max_memory, vectors.shape[1]
    row_bytes = 0 if vectors.is_sparse else vectors.nbytes // max(1, len(vectors))
    need = memory.MemoryEstimate(
        n_rows if at_once is None else at_once, row_bytes, n_clusters, n_features
    )
    if limit is not None and not need.fits(limit):
        raise MemoryError(
            f"{n_rows:,} rows into {n_clusters:,} clusters of {n_features:,} features take at least "
            f"{memory.format_bytes(need.in_memory)} of memory; the limit is {memory.format_bytes(limit)}.{remedy}"
        )
