"""Vectors that a command reads."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from boostkmeans._runtime.errors import NotFiniteError
from boostkmeans.cli.errors import name_files
from boostkmeans.cli.options import InputOptions, value_of
from boostkmeans.cli.progress_display import ProgressDisplay
from boostkmeans.io import Vectors, list_files, open_vectors

STDIN = "-"
# Other names of standard input.
STDIN_PATHS = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


@contextmanager
def open_input(
    path: str | Sequence[str],
    display: ProgressDisplay,
    options: InputOptions,
    *,
    model: str = "",
    dense: bool = False,
) -> Iterator[Vectors]:
    """Open the vectors of a file, or of several files as one data set.

    Errors about the rows that are raised inside the block mention the file and the model file. With
    `dense`, sparse vectors are rejected.
    """
    paths = [path] if isinstance(path, str) else path
    with (
        open_vectors(
            [STDIN if one in STDIN_PATHS else one for one in paths],
            format=value_of(options.input_format),
            key=options.key or None,
            drop=options.drop or None,
            header=options.header,
            id_column=options.id_column,
            max_memory=options.max_memory,
            max_disk=options.max_disk,
            progress=display.counter("bytes"),
        ) as vectors,
        name_files(vectors.name, model),
        _locate_values(vectors),
    ):
        if dense and vectors.is_sparse:
            raise ValueError(
                f"{vectors.name} has sparse vectors, but product quantization needs dense vectors."
            )
        yield vectors


@contextmanager
def _locate_values(vectors: Vectors) -> Iterator[None]:
    """Replace the row of an invalid value by the file that contains it and the row in this file."""
    try:
        yield
    except NotFiniteError as error:
        if len(vectors.files) > 1 and not error.source:
            error.source, error.row = vectors.locate(error.row)
        raise


def input_files(path: str | Sequence[str], options: InputOptions) -> list[str]:
    """Return the files that a command reads. Raise an error if a pattern or folder has none."""
    return list_files(path, format=value_of(options.input_format))


def is_stream(path: str) -> bool:
    """Return True if the content can be read only once."""
    return path == STDIN or path in STDIN_PATHS or Path(path).is_fifo()


def check_side_files(files: Mapping[str, str | None]) -> None:
    """Raise an error if one of the files, given by option, is standard input or a pipe."""
    for option, path in files.items():
        if path is not None and is_stream(path):
            raise ValueError(
                f"{option} must be a file: only vectors and documents can be read from a pipe."
            )
