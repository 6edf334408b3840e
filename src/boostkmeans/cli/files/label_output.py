"""The output of --labels: standard output, a file, or a folder with one file per input file."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from boostkmeans._runtime.installation import install_hint
from boostkmeans.cli.files.label_table import WriteTable, table_writer
from boostkmeans.cli.files.output import STDOUT, Output, check_ending, writing_to
from boostkmeans.cli.files.row_writer import COLUMN_ENDINGS, WriteRows, row_writer
from boostkmeans.io import FileRows, Vectors
from boostkmeans.io._label_tables import LABEL, TABLE_ENDINGS

LabelFormat = StrEnum("LabelFormat", ["npy", "txt", "csv", "tsv", "parquet"])
LabelsFormat = Annotated[
    LabelFormat | None,
    typer.Option(
        help="Format of the files in --labels DIR/ (default: npy, or parquet with --id). They have the "
        "names of the input files, e.g. emb-003.labels.npy.",
    ),
]
"""Option for the format of label files in a folder."""
# Endings of label files. Files with ids are tables.
LABEL_ENDINGS = (*COLUMN_ENDINGS, ".parquet")
ID_ENDINGS = TABLE_ENDINGS
# Part of the name of a label file in a folder, after the name of the input file.
SUFFIX = ".labels"


@dataclass(frozen=True)
class LabelOutput:
    """Destination of the labels."""

    path: str
    has_ids: bool
    format: LabelFormat | None
    """Format of the files in a folder. None stands for the default."""
    force: bool
    n_columns: int = 1
    """Number of labels per row."""

    @classmethod
    def from_options(
        cls,
        path: str | None,
        label_format: LabelFormat | None,
        id_column: str | None,
        *,
        force: bool,
        n_columns: int = 1,
    ) -> "LabelOutput | None":
        """Return the output, or None without --labels. Raise an error if the options do not match."""
        if label_format is not None and (path is None or not _is_folder(path)):
            raise ValueError(
                "--labels-format is for --labels DIR/, a folder with one file per input file. The name "
                "of a single file determines its format."
            )
        if path is None:
            return None
        output = cls(path, id_column is not None, label_format, force, n_columns)
        output._check_format()
        return output

    @property
    def is_stdout(self) -> bool:
        """True if the labels are printed."""
        return self.path == STDOUT

    @property
    def is_folder(self) -> bool:
        """True if there is one label file per input file."""
        return _is_folder(self.path)

    def outputs(self, inputs: list[str]) -> list[Output]:
        """Return all files that will be written for these input files, to check them in advance.

        Raise an error if the folder cannot be created, or if two input files have the same name.
        """
        if not self.is_folder:
            return [Output(self.path, self.force)]
        folder = Path(self.path)
        paths: dict[str, str] = {}
        for one in inputs:
            path = self._path_of(one)
            if path in paths:
                raise ValueError(
                    f"The labels of {paths[path]} and of {one} would both be written to {path}. Use one "
                    "label file for all files, or input files with different names."
                )
            paths[path] = one
        if folder.exists():
            return [Output(path, self.force) for path in paths]
        Output(str(folder), force=False).check()  # the folder will be created
        return []

    @contextmanager
    def writing(self, vectors: Vectors) -> Iterator[WriteRows]:
        """Open the output, and return a function that writes the labels of the next rows."""
        if self.is_folder:
            with writing_to(self.path):
                Path(self.path).mkdir(exist_ok=True)
            with ExitStack() as stack:
                yield _FolderWriter(self, vectors, stack).write
        else:
            with self._writing_file(Output(self.path, self.force), vectors, 0, len(vectors)) as write:
                yield write

    def open_part(self, vectors: Vectors, file: FileRows) -> AbstractContextManager[WriteRows]:
        """Open the label file of one of the input files."""
        output = Output(self._path_of(file.name), self.force)
        return self._writing_file(output, vectors, file.begin, file.end)

    @contextmanager
    def _writing_file(
        self, output: Output, vectors: Vectors, begin: int, end: int
    ) -> Iterator[WriteRows]:
        """Open a label file for the rows from `begin` to `end` (excluded)."""
        columns = value_columns(LABEL, self.n_columns)
        with values_writer(
            output, np.int32, columns, end - begin, vectors if self.has_ids else None, begin
        ) as write:
            yield write

    def _path_of(self, name: str) -> str:
        stem = "stdin" if name in (STDOUT, "standard input") else name.rstrip("/").rpartition("/")[2]
        stem = Path(stem.removesuffix(".gz")).stem or stem
        default = LabelFormat.parquet if self.has_ids else LabelFormat.npy
        return str(Path(self.path, f"{stem}{SUFFIX}.{(self.format or default).value}"))

    def _check_format(self) -> None:
        endings = ID_ENDINGS if self.has_ids else LABEL_ENDINGS
        shown = Output(self._path_of("x") if self.is_folder else self.path, self.force)
        if self.has_ids and not shown.is_stdout and shown.ending not in endings:
            name = "--labels-format" if self.is_folder else "--labels"
            raise ValueError(
                f"Labels with ids are a table, so {name} must be .csv, .tsv or .parquet. Got "
                f"{shown.ending!r}."
            )
        check_ending("--labels", shown, endings, stdout=True)
        check_pyarrow("--labels", shown)


class _FolderWriter:
    """Writer of consecutive labels to one file per input file."""

    def __init__(self, output: LabelOutput, vectors: Vectors, stack: ExitStack) -> None:
        self._output = output
        self._vectors = vectors
        self._files = iter(vectors.files)
        self._stack = stack  # it holds the current file, which is discarded after an error
        self._write: WriteRows | None = None
        self._left = 0
        self._next()

    def write(self, labels: NDArray[Any]) -> bool:
        """Write the labels of the next rows."""
        at = 0
        while at < len(labels) and self._write is not None:
            some = labels[at : at + self._left]
            self._write(some)
            at += len(some)
            self._left -= len(some)
            self._next()
        return True

    def _next(self) -> None:
        """Complete files until there is one with rows left. Files without rows get empty label files."""
        while self._left == 0:
            self._stack.close()
            file = next(self._files, None)
            self._write = None
            if file is None:
                return
            self._write = self._stack.enter_context(self._output.open_part(self._vectors, file))
            self._left = file.end - file.begin


def _is_folder(path: str) -> bool:
    return path != STDOUT and (path.endswith(("/", os.sep)) or Path(path).is_dir())


def check_pyarrow(name: str, output: Output | None) -> None:
    """Raise an error before the work begins if a Parquet file cannot be written."""
    if output is not None and output.ending == ".parquet" and find_spec("pyarrow") is None:
        raise ImportError(f"{name} as .parquet needs pyarrow: {install_hint('parquet')}")


def value_columns(name: str, n_columns: int) -> list[str]:
    """Return the names of the columns of a table. Several columns are numbered from 1."""
    return [name] if n_columns == 1 else [f"{name}_{i}" for i in range(1, n_columns + 1)]


def value_writer(
    output: Output, vectors: Vectors, dtype: Any, column: str, *, has_ids: bool, n_columns: int = 1
) -> AbstractContextManager[WriteRows]:
    """Open an output for one value or several per row of these vectors, which are written in batches.

    With `has_ids`, tables contain the ids of the rows. `column` is the name of the values in a table.
    """
    columns = value_columns(column, n_columns)
    return values_writer(output, dtype, columns, len(vectors), vectors if has_ids else None, 0)


@contextmanager
def values_writer(
    output: Output,
    dtype: Any,
    columns: list[str],
    n_rows: int,
    with_ids_of: Vectors | None,
    begin: int,
) -> Iterator[WriteRows]:
    """Open an output for the values of rows, with their ids from row `begin` on in tables."""
    is_table = output.is_stdout or output.ending in ID_ENDINGS
    if (with_ids_of is None or not is_table) and output.ending != ".parquet":
        shape = (n_rows,) if len(columns) == 1 else (n_rows, len(columns))
        with row_writer(output, shape, dtype) as write:
            yield write
        return
    id_dtype = None if with_ids_of is None else with_ids_of.read_ids(0, 0).dtype
    with table_writer(output, id_dtype, columns, dtype) as write_table:
        yield _with_ids(write_table, with_ids_of, begin)


def _with_ids(write: WriteTable, vectors: Vectors | None, begin: int) -> WriteRows:
    """Return a function that adds the ids of the rows, which start at `begin`."""
    at = begin

    def write_rows(labels: NDArray[Any]) -> bool:
        nonlocal at
        ids = None if vectors is None else vectors.read_ids(at, at + len(labels))
        at += len(labels)
        return write(labels, ids)

    return write_rows
