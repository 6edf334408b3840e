"""Options of commands that read documents, and the reading itself."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from boostkmeans import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.cli.errors import print_message
from boostkmeans.cli.files.column_input import not_utf8
from boostkmeans.cli.files.input import check_side_files
from boostkmeans.cli.options import value_of
from boostkmeans.documents import Corpus, Weighting, read_corpus

# Maximum number of skipped documents that a warning names.
MAX_SKIPPED_SHOWN = 5

# Maximum size of a file of stop words: the longest lists of a language have some 10 kB.
MAX_STOP_WORD_BYTES = 1 << 24

# Values of parameters of `read_corpus` and `Weighting`.
Format = StrEnum("Format", ["lines", "csv", "tsv", "jsonl", "cluto", "matrix-market", "svmlight", "npz"])
Idf = StrEnum("Idf", ["smooth", "plain", "none"])


@dataclass(frozen=True)
class CorpusOptions:
    """Options that determine how documents are read."""

    input_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"Format of the file (default: by the file name): {', '.join(Format)}.",
        ),
    ] = None
    text_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column of the texts: its name, or its number if there is no header."
        ),
    ] = None
    class_column: Annotated[str | None, typer.Option(metavar="NAME", help="Column of the classes.")] = (
        None
    )
    name_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of the documents' names.")
    ] = None
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of the texts.")] = "utf-8"


@dataclass(frozen=True)
class TermOptions:
    """Options that determine which terms count, and how much."""

    ngrams: Annotated[
        str, typer.Option(metavar="N[-N]", help="Number of words in a term, e.g. 1, or 1-2 for a range.")
    ] = "1"
    stop_words: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS", help="Words to ignore: english, or a file with one word per line."
        ),
    ] = None
    min_df: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Ignore terms that occur in fewer documents: a number, or a share such as 0.01.",
        ),
    ] = "1"
    max_df: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Ignore terms that occur in more documents: a number, or a share such as 0.5.",
        ),
    ] = "1.0"
    max_terms: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Use the N most frequent terms only (default: all)."),
    ] = None
    sublinear: Annotated[
        bool, typer.Option("--sublinear", help="Use 1 + log(n) for a term that occurs n times.")
    ] = False
    idf: Annotated[
        Idf | None,
        typer.Option(
            help="Weight of rare terms (default: smooth for texts, plain for matrices); use none for a "
            "matrix that is already weighted.",
        ),
    ] = None


def read_documents(path: str, options: CorpusOptions, progress: ProgressCallback) -> Corpus:
    """Read documents as the options say, and print a warning about skipped ones."""
    corpus = read_corpus(
        path,
        format=value_of(options.input_format),
        text_column=_parse_column(options.text_column),
        class_column=_parse_column(options.class_column),
        name_column=_parse_column(options.name_column),
        encoding=options.encoding,
        progress=progress,
    )
    _print_skipped(corpus)
    return corpus


def weighting_of(options: TermOptions) -> Weighting:
    """Return the weighting that the options describe."""
    return Weighting(
        ngram_range=_parse_range("--ngrams", options.ngrams),
        stop_words=_read_stop_words(options.stop_words),
        min_df=_parse_frequency("--min-df", options.min_df),
        max_df=_parse_frequency("--max-df", options.max_df),
        max_features=options.max_terms,
        sublinear_tf=options.sublinear,
        idf=value_of(options.idf),
    )


def _print_skipped(corpus: Corpus) -> None:
    n_skipped = len(corpus.skipped)
    if not n_skipped:
        return
    print_message(f"warning: {n_skipped} of {len(corpus) + n_skipped} documents are skipped:")
    for document in corpus.skipped[:MAX_SKIPPED_SHOWN]:
        print_message(f"  {document.name}: {document.reason}")
    if n_skipped > MAX_SKIPPED_SHOWN:
        print_message(f"  and {n_skipped - MAX_SKIPPED_SHOWN} more; --json lists them all")


def _parse_column(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isdecimal() else text


def _parse_range(option: str, text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise ValueError(
            f"{option} must be an integer, or two with a dash, e.g. 1-2. Got {text!r}."
        ) from None


def _parse_frequency(option: str, text: str) -> float:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise ValueError(
            f"{option} must be a number of documents, or a share of them such as 0.5. Got {text!r}."
        ) from None


def _read_stop_words(text: str | None) -> str | list[str] | None:
    if text is None or text == "english":
        return text
    check_side_files({"--stop-words": text})
    with Path(text).open("rb") as file:
        content = file.read(MAX_STOP_WORD_BYTES + 1)
    if len(content) > MAX_STOP_WORD_BYTES:
        raise DataFormatError(
            f"The file of stop words has more than {MAX_STOP_WORD_BYTES:,} bytes.", file=text
        )
    try:
        return content.decode("utf-8-sig").split()
    except UnicodeDecodeError as error:
        raise not_utf8(text, "stop words", error) from None
