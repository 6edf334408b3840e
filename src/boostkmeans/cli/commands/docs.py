"""`boostkmeans docs`: cluster documents, and describe the clusters."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.cli.command import command
from boostkmeans.cli.errors import print_message
from boostkmeans.cli.files.column_input import not_utf8
from boostkmeans.cli.files.output import STDOUT, Output, check_outputs, output_to
from boostkmeans.cli.files.row_writer import row_writer
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import Clusters, CommonOptions, Quality, RunOptions, value_of
from boostkmeans.documents import Corpus, DocumentClusters, Weighting, cluster_documents, read_corpus

# Maximum number of skipped documents that a warning names.
MAX_SKIPPED_SHOWN = 5

# Values of parameters of `cluster_documents`, `read_corpus` and `Weighting`.
Method = StrEnum("Method", ["bisecting", "refined", "k-way"])
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


@expand_option_groups
def docs(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Folder or file of documents; - is standard input.")
    ],
    clusters: Clusters,
    method: Annotated[Method, typer.Option(help="Clustering method.")] = Method.bisecting,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="File for the description; - prints it."),
    ] = STDOUT,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the clusters: lines of name, tab and cluster, or an array for .npy; - prints "
            "these lines only.",
        ),
    ] = None,
    terms: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of terms to show for each cluster.")
    ] = 10,
    central: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of central documents to show.")
    ] = 5,
    *,
    corpus_options: CorpusOptions,
    term_options: TermOptions,
    n_init: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of runs; the best is kept.")
    ] = 1,
    quality: Annotated[
        Quality | None,
        typer.Option(
            help="Trade-off between speed and distortion, for refined and k-way (default: balanced)."
        ),
    ] = None,
    run_options: RunOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans docs examples/sentences.txt -k 3
      boostkmeans docs articles/ -k 20 --stop-words english --min-df 2
      boostkmeans docs tickets.csv -k 10 --text-column body --json
      boostkmeans docs sports.mat -k 7 --method refined --labels labels.tsv
      zcat posts.txt.gz | boostkmeans docs - -k 5

    Cluster documents, and print for each cluster its size, the terms with the largest weight in its
    centre, the terms that distinguish it from the other clusters, and the documents nearest to its
    centre.

    PATH is a folder of text files (subfolders are classes), a text file with one document per line, a
    table with a column of texts (.csv, .tsv, .jsonl), or a matrix (CLUTO .mat with .clabel and .rclass,
    .mtx, .svm, .npz). All of these may be compressed with gzip. Documents that cannot be read are
    skipped and listed on standard error. If classes are known, entropy, purity and NMI are printed.
    """
    with command(common) as run:
        result_to = Output(output, common.force)
        labels_to = output_to(labels, force=common.force)
        check_outputs({"PATH": path}, {"--output": result_to, "--labels": labels_to})
        if common.as_json and labels == output == STDOUT:
            raise ValueError(
                "--json and --labels - both use standard output: write one of them to a file."
            )
        weighting = _weighting(term_options)
        with run.progress() as display:
            corpus = read_corpus(
                path,
                format=value_of(corpus_options.input_format),
                text_column=_parse_column(corpus_options.text_column),
                class_column=_parse_column(corpus_options.class_column),
                name_column=_parse_column(corpus_options.name_column),
                encoding=corpus_options.encoding,
                progress=display.report,
            )
            _print_skipped(corpus)
            found = cluster_documents(
                corpus,
                clusters,
                method=method.value,
                weighting=weighting,
                n_terms=terms,
                n_central=central,
                n_init=n_init,
                quality=value_of(quality),
                random_state=run_options.seed,
                n_threads=run_options.threads,
                progress=display.report,
                verbose=display.verbose,
            )
        if labels_to is not None:
            _write_labels(labels_to, found)
        if labels != STDOUT or output != STDOUT:
            as_json = common.as_json
            result_to.write(json.dumps(found.to_dict(), allow_nan=False) if as_json else found.table())


def _weighting(options: TermOptions) -> Weighting:
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


def _write_labels(output: Output, found: DocumentClusters) -> None:
    if output.ending != ".npy":
        output.write(_label_lines(found))
        return
    with row_writer(output, found.labels.shape, np.int32) as write:
        write(found.labels)


def _label_lines(found: DocumentClusters) -> str:
    return "\n".join(
        f"{escape_untrusted(name)}\t{label}"
        for name, label in zip(found.corpus.names, found.labels.tolist(), strict=True)
    )


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
    try:
        return Path(text).read_text(encoding="utf-8-sig").split()
    except UnicodeDecodeError as error:
        raise not_utf8(text, "stop words", error) from None
