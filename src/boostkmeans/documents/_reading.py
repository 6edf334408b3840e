"""`read_corpus`: documents from a folder, a file or standard input, in any supported format."""

import os
from pathlib import Path

from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._runtime.parameter_checks import one_of
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, logger
from boostkmeans.documents import _matrix_files
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._matrix_files import read_matrix_corpus
from boostkmeans.documents._table_columns import Columns
from boostkmeans.documents._tables import read_json_lines, read_separated
from boostkmeans.documents._text_files import read_folder, read_lines
from boostkmeans.io import _formats
from boostkmeans.io._access.byte_source import ByteSource, check_encoding

FORMATS = ("lines", "csv", "tsv", "jsonl", *_matrix_files.FORMATS)
# Suffixes that mean a table of numbers for vectors, but plain text for documents.
PLAIN_TEXT_SUFFIXES = (".txt", ".dat")
# Formats by the suffix of the file name: the formats of vectors that documents support, and JSON Lines.
FORMAT_BY_SUFFIX = {
    suffix: name
    for suffix, name in _formats.FORMAT_BY_SUFFIX.items()
    if name in FORMATS and suffix not in PLAIN_TEXT_SUFFIXES
} | dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl")


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
    r"""Read documents from a folder or a file.

    Documents that cannot be used are listed in the attribute `skipped`; the others are read.

    Parameters
    ----------
    path : str or path-like
        Folder or file. In a folder, each file in it or in its sub-folders is a document, and the
        sub-folders are the classes; names that begin with a dot are ignored. The suffix of a file name
        determines the format: a table (`.csv`, `.tsv`, `.jsonl`), a matrix (CLUTO's `.mat`, Matrix
        Market's `.mtx`, svmlight's `.svm`, SciPy's `.npz`), or else one document per line. "-" is
        standard input. Files may be compressed with gzip.
    format : {"lines", "csv", "tsv", "jsonl", "cluto", "matrix-market", "svmlight", "npz"}, default=None
        Format of the file. None uses the suffix of its name.
    text_column : str or int, default=None
        Column of a table that holds the text: a name, or a column number from 1 if the table has no
        header. None uses the column "text", or the only column with words.
    class_column : str or int, default=None
        Column with the classes. None uses the column "class" or "label", if it exists.
    name_column : str or int, default=None
        Column with the names of the documents. None uses line numbers.
    encoding : str, default="utf-8"
        Encoding of texts.
    progress : callable, default=None
        Function called as ``progress(what, done, total)`` while files are read.

    Returns
    -------
    Corpus
        The documents.

    Raises
    ------
    DataFormatError
        If no document could be read. The error names the file, the place and a remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from boostkmeans.documents import read_corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("text,class\na red rose,rose\na blue violet,violet\n")
    ...     corpus = read_corpus(path)
    >>> corpus.texts, corpus.classes
    (['a red rose', 'a blue violet'], ['rose', 'violet'])
    """
    check_encoding(encoding)
    if format is not None and format not in FORMATS:
        raise ParameterError("format", one_of(FORMATS), format, owner="read_corpus")
    report = progress or ignore_progress
    source = ByteSource(os.fspath(path))
    columns = Columns(text_column, class_column, name_column)
    if source.path != "-" and Path(source.path).is_dir():
        _check_no_columns(columns, source)
        corpus = read_folder(Path(source.path), encoding, report)
    else:
        corpus = _read_file(source, format or format_of(source.path), columns, encoding, report)
    logger.info("%s: %d documents, %d skipped", corpus.source, len(corpus), len(corpus.skipped))
    return corpus


def format_of(path: str) -> str:
    """Return the format for the suffix of a file name; "lines" for an unknown suffix."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return FORMAT_BY_SUFFIX.get(suffixes[-1], "lines") if suffixes else "lines"


def _read_file(
    source: ByteSource, format_name: str, columns: Columns, encoding: str, progress: ProgressCallback
) -> Corpus:
    if format_name == "csv":
        return read_separated(source, None, columns, encoding, progress)
    if format_name == "tsv":
        return read_separated(source, "\t", columns, encoding, progress)
    if format_name == "jsonl":
        return read_json_lines(source, columns, encoding, progress)
    _check_no_columns(columns, source)
    if format_name == "lines":
        return read_lines(source, encoding, progress)
    if source.path == "-":
        raise ParameterConflictError(
            Message(
                "{format} cannot be read from standard input.", format=Parameter("format", format_name)
            ),
            remedy="Pass a file.",
        )
    return read_matrix_corpus(source, format_name)


def _check_no_columns(columns: Columns, source: ByteSource) -> None:
    """Raise an error if columns were given for documents that are not in a table."""
    if columns.given:
        raise ParameterConflictError(
            f"Columns can only be named for tables (CSV, TSV, JSON Lines), but {source.name} has "
            "another format.",
            remedy=Message("If it is a table, pass its {format}.", format=Parameter("format")),
        )
