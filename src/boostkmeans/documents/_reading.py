"""`read_corpus`: documents from a folder, a file or standard input, whatever they are written as."""

import os
from pathlib import Path

from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, logger
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._matrix_files import READERS, read_matrix
from boostkmeans.documents._tables import Columns, read_json_lines, read_separated
from boostkmeans.documents._text_files import read_folder, read_lines
from boostkmeans.io._access.byte_source import ByteSource, check_encoding

FORMATS = ("lines", "csv", "tsv", "jsonl", *READERS)
BY_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".mat": "cluto",
    ".mtx": "matrix-market",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
    ".npz": "npz",
}


def read_corpus(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    text_column: str | int | None = None,
    class_column: str | int | None = None,
    name_column: str | int | None = None,
    encoding: str = "utf-8",
    progress: ProgressCallback | None = None,
) -> Corpus:
    """Reads documents. What cannot be used is in `skipped`, by name; it does not lose the rest.

    Parameters
    ----------
    path : path
        A folder: a document for each file in it or in its sub-folders, which are then the classes; names
        that begin with a dot are passed over. A file: by its ending a table (`.csv`, `.tsv`, `.jsonl`),
        a matrix (CLUTO's `.mat`, Matrix Market's `.mtx`, svmlight's `.svm`, SciPy's `.npz`), or else a
        document on each line. "-" is standard input. Any of these may be compressed with gzip.
    format : {"lines", "csv", "tsv", "jsonl", "cluto", "matrix-market", "svmlight", "npz"}, default=None
        For files whose ending does not tell.
    text_column : str or int, default=None
        The column of a table that holds the text: a name; or in a table without a header a number, from
        1 on. None: the one called "text", or the only one with words in it.
    class_column, name_column : str or int, default=None
        Columns with classes and with names of the documents. A column "class" or "label" is found by
        itself; without names, documents are called by their lines.
    encoding : str, default="utf-8"
        Of texts.
    progress : callable, default=None
        Called as `progress(what, done, total)` while files are read.

    Raises
    ------
    DataFormatError
        Nothing could be read; the message names file, place and remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from boostkmeans.documents import read_corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("text,class\\na red rose,rose\\na blue violet,violet\\n")
    ...     corpus = read_corpus(path)
    >>> corpus.texts, corpus.classes
    (['a red rose', 'a blue violet'], ['rose', 'violet'])
    """
    check_encoding(encoding)
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}. Got {format!r}.")
    show = progress or ignore_progress
    source = ByteSource(os.fspath(path))
    columns = Columns(text_column, class_column, name_column)
    if source.path != "-" and Path(source.path).is_dir():
        _refuse_columns(columns, source)
        corpus = read_folder(Path(source.path), encoding, show)
    else:
        corpus = _read_file(source, format or format_of(source.path), columns, encoding, show)
    logger.info("%s: %d documents, %d skipped", corpus.source, len(corpus), len(corpus.skipped))
    return corpus


def format_of(path: str) -> str:
    """The format that the ending of a file tells."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return BY_ENDING.get(suffixes[-1], "lines") if suffixes else "lines"


def _read_file(
    source: ByteSource, kind: str, columns: Columns, encoding: str, progress: ProgressCallback
) -> Corpus:
    if kind == "csv":
        return read_separated(source, ",", columns, encoding, progress)
    if kind == "tsv":
        return read_separated(source, "\t", columns, encoding, progress)
    if kind == "jsonl":
        return read_json_lines(source, columns, encoding, progress)
    _refuse_columns(columns, source)
    if kind == "lines":
        return read_lines(source, encoding, progress)
    if source.path == "-":
        raise ValueError(f"The format {kind!r} cannot be read from standard input: give a file.")
    return read_matrix(source, kind)


def _refuse_columns(columns: Columns, source: ByteSource) -> None:
    if columns.named:
        raise ValueError(
            f"Columns can only be named for a table (CSV, TSV, JSON Lines). {source.name} is read as "
            "something else; its format can be given."
        )
