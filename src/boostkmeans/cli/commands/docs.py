"""`boostkmeans docs`: clusters of documents, and what they are about."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.cli import options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.column import column_writer
from boostkmeans.cli.errors import exit_codes, say
from boostkmeans.cli.output import STDOUT, Output, check_outputs
from boostkmeans.documents import Corpus, DocumentClusters, Weighting, cluster_documents, read_corpus

# Skipped documents that a warning names.
NAMED = 5


class Method(StrEnum):
    """As in `cluster_documents`."""

    BISECTING = "bisecting"
    REFINED = "refined"
    K_WAY = "k-way"


class Format(StrEnum):
    """As in `read_corpus`."""

    LINES = "lines"
    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    CLUTO = "cluto"
    MATRIX_MARKET = "matrix-market"
    SVMLIGHT = "svmlight"
    NPZ = "npz"


class Idf(StrEnum):
    """As in `Weighting`."""

    SMOOTH = "smooth"
    PLAIN = "plain"
    NONE = "none"


def docs(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder, a file, or - for stdin.")],
    clusters: options.Clusters,
    method: Annotated[Method, typer.Option(help="How to cluster.")] = Method.BISECTING,
    as_json: options.AsJson = False,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to print the clusters to."),
    ] = STDOUT,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write lines of NAME, tab, CLUSTER, or an array of clusters for .npy; - "
            "prints only these.",
        ),
    ] = None,
    force: options.Force = False,
    terms: Annotated[int, typer.Option(min=0, metavar="N", help="Terms to show of each cluster.")] = 10,
    central: Annotated[int, typer.Option(min=0, metavar="N", help="Central documents to show.")] = 5,
    input_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"What the file is, if its ending does not tell: {', '.join(Format)}.",
        ),
    ] = None,
    text_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of the texts: a name, or a number without header."),
    ] = None,
    class_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of the classes.")
    ] = None,
    name_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of the documents' names.")
    ] = None,
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of the texts.")] = "utf-8",
    ngrams: Annotated[
        str, typer.Option(metavar="N[-N]", help="Words in a term: 1, or 1-2 for one or two.")
    ] = "1",
    stop_words: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="Words to leave out: english, or a file with one a line."),
    ] = None,
    min_df: Annotated[
        str,
        typer.Option(
            metavar="N", help="Leave out terms of fewer documents: a number, or a share like 0.01."
        ),
    ] = "1",
    max_df: Annotated[str, typer.Option(metavar="N", help="Leave out terms of more documents.")] = "1.0",
    max_terms: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep the most frequent terms only.")
    ] = None,
    sublinear: Annotated[
        bool, typer.Option("--sublinear", help="Count 1 + log(n) for a term that occurs n times.")
    ] = False,
    idf: Annotated[
        Idf | None,
        typer.Option(
            help="Weight of rare terms. By default smooth for texts, plain for matrices; none for a "
            "matrix that is weighted already.",
        ),
    ] = None,
    n_init: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs, of which the best is kept.")
    ] = 1,
    quality: Annotated[
        options.Quality | None,
        typer.Option(help="Effort of refined and k-way, and for these only. By default balanced."),
    ] = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans docs examples/sentences.txt -k 3
      boostkmeans docs articles/ -k 20 --stop-words english --min-df 2
      boostkmeans docs tickets.csv -k 10 --text-column body --json
      boostkmeans docs sports.mat -k 7 --method refined --labels labels.tsv
      zcat posts.txt.gz | boostkmeans docs - -k 5

    Clusters documents, and says of each cluster how large it is, which terms make up its centre, which
    set it apart from all others, and which documents are nearest to its centre.

    PATH is a folder of text files (sub-folders are classes), a text with a document on each line, a
    table with a column of texts (.csv, .tsv, .jsonl), or a matrix (CLUTO .mat with .clabel and .rclass,
    .mtx, .svm, .npz). Any of these may be compressed with gzip. Documents that cannot be read are
    skipped, and named on stderr. Where classes are known, entropy, purity and NMI are given.
    """
    with exit_codes(debug=debug):
        result_to = Output(output, force)
        labels_to = None if labels is None else Output(labels, force)
        check_outputs({"PATH": path}, {"--output": result_to, "--labels": labels_to})
        if as_json and labels == output == STDOUT:
            raise ValueError("--json and --labels - both want standard output: write one to a file.")
        weighting = Weighting(
            ngram_range=_range("--ngrams", ngrams),
            stop_words=_stop_words(stop_words),
            min_df=_frequency("--min-df", min_df),
            max_df=_frequency("--max-df", max_df),
            max_features=max_terms,
            sublinear_tf=sublinear,
            idf=None if idf is None else idf.value,
        )
        with shown_progress(verbose=verbose) as shown:
            corpus = read_corpus(
                path,
                format=None if input_format is None else input_format.value,
                text_column=_column(text_column),
                class_column=_column(class_column),
                name_column=_column(name_column),
                encoding=encoding,
                progress=shown.progress,
            )
            _warn_of_skipped(corpus)
            found = cluster_documents(
                corpus,
                clusters,
                method=method.value,
                weighting=weighting,
                n_terms=terms,
                n_central=central,
                n_init=n_init,
                quality=None if quality is None else quality.value,
                random_state=seed,
                n_threads=threads,
                progress=shown.progress,
                verbose=shown.verbose,
            )
        if labels_to is not None:
            _write_labels(labels_to, found)
        if labels != STDOUT or output != STDOUT:
            result_to.write(json.dumps(found.to_dict(), allow_nan=False) if as_json else found.table())


def _warn_of_skipped(corpus: Corpus) -> None:
    n_skipped = len(corpus.skipped)
    if n_skipped:
        say(f"warning: {n_skipped} of {len(corpus) + n_skipped} documents are skipped:")
        for document in corpus.skipped[:NAMED]:
            say(f"  {document.name}: {document.reason}")
        if n_skipped > NAMED:
            say(f"  and {n_skipped - NAMED} more, which --json names")


def _write_labels(output: Output, found: DocumentClusters) -> None:
    if output.path == STDOUT or output.ending != ".npy":
        output.write(_label_lines(found))
        return
    with column_writer(output, len(found.labels), np.int32) as write:
        write(found.labels)


def _label_lines(found: DocumentClusters) -> str:
    return "\n".join(
        f"{escape_untrusted(name)}\t{label}"
        for name, label in zip(found.corpus.names, found.labels.tolist(), strict=True)
    )


def _column(given: str | None) -> str | int | None:
    return int(given) if given is not None and given.isdecimal() else given


def _range(option: str, given: str) -> tuple[int, int]:
    low, _, high = given.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise ValueError(f"{option} must be a number or two, as in 1-2. Got {given!r}.") from None


def _frequency(option: str, given: str) -> float:
    try:
        return int(given) if given.isdecimal() else float(given)
    except ValueError:
        raise ValueError(
            f"{option} must be a number of documents, or a share of them like 0.5. Got {given!r}."
        ) from None


def _stop_words(given: str | None) -> str | list[str] | None:
    if given is None or given == "english":
        return given
    try:
        return Path(given).read_text(encoding="utf-8-sig").split()
    except UnicodeDecodeError as error:
        raise DataFormatError(
            f"{given}: stop words must be in UTF-8, and byte {error.start} is not. Convert the file: "
            "'iconv -f latin1 -t utf-8', for example."
        ) from None
