"""`boostkmeans predict-docs`: assign new documents to the clusters of a model."""

from typing import Annotated

import numpy as np
import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.corpus_options import CorpusOptions, read_documents
from boostkmeans.cli.errors import print_message
from boostkmeans.cli.files.document_labels import HELP, check_label_file, write_document_labels
from boostkmeans.cli.files.model_input import read_document_model
from boostkmeans.cli.files.output import (
    STDOUT,
    Output,
    check_outputs,
    check_stdout_conflict,
)
from boostkmeans.cli.listing import format_sizes, summarize_sizes, two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, Threads


@expand_option_groups
def predict_docs(
    model_path: Annotated[
        str, typer.Argument(metavar="MODEL", help="Model file, written by boostkmeans docs -o MODEL.")
    ],
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Folder or file of documents; - is standard input.")
    ],
    labels: Annotated[
        str | None, typer.Option("--labels", "--output", "-o", metavar="FILE", help=HELP)
    ] = None,
    threads: Threads = None,
    *,
    corpus_options: CorpusOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans predict-docs topics.st more.csv --text-column body -o labels.csv
      boostkmeans predict-docs topics.st more.txt --json
      cat more.txt | boostkmeans predict-docs topics.st -

    Assign each document to the nearest cluster of a model that `boostkmeans docs -o` wrote. Terms that
    the model does not know are ignored.

    PATH is read as by `boostkmeans docs`.
    """
    with command(common) as run:
        path_of_labels = STDOUT if labels is None and not common.as_json else labels
        to = None if path_of_labels is None else Output(path_of_labels, common.force)
        check_stdout_conflict("--labels", to, as_json=common.as_json)
        check_label_file("--labels", to)
        check_outputs({"MODEL": model_path, "PATH": path}, {"--labels": to})
        model = read_document_model(model_path, threads, path)
        with run.progress() as display:
            corpus = read_documents(path, corpus_options, display.report)
            rows = model.transform(corpus, progress=display.report)
            found = model.clusterer.predict(rows)
        empty = np.flatnonzero(np.diff(rows.indptr) == 0)
        if len(empty):
            print_message(
                f"warning: {len(empty):,} of {len(corpus):,} documents have no term of the model; their "
                "clusters are arbitrary"
            )
        if to is not None:
            write_document_labels(to, corpus.names, found)
        if to is None or not to.is_stdout:
            sizes = np.bincount(found, minlength=len(model.cluster_names))
            result = {
                "source": corpus.source,
                "model": model_path,
                "n_documents": len(corpus),
                "n_clusters": len(sizes),
                "skipped": [{"name": one.name, "reason": one.reason} for one in corpus.skipped],
                "empty": [corpus.names[i] for i in empty],
                "sizes": summarize_sizes(sizes),
                "clusters": [
                    {"name": name, "size": size}
                    for name, size in zip(model.cluster_names, sizes.tolist(), strict=True)
                ],
                "names": corpus.names,
                "labels": found.tolist(),
                "files": {} if to is None else {"labels": to.path},
            }
            run.print_result(result, _listing)


def _listing(result: Result) -> str:
    pairs = [
        ("documents", f"{result['n_documents']:,}"),
        ("clusters", f"{result['n_clusters']:,}"),
        ("sizes", format_sizes(result["sizes"])),
    ]
    return two_columns([*pairs, *result["files"].items()])
