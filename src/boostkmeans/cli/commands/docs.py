"""`boostkmeans docs`: cluster documents, and describe the clusters."""

import json
from enum import StrEnum
from typing import Annotated

import numpy as np
import typer

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.cli.command import command
from boostkmeans.cli.corpus_options import CorpusOptions, TermOptions, read_documents, weighting_of
from boostkmeans.cli.files.output import STDOUT, Output, check_outputs, output_to, writing_to
from boostkmeans.cli.files.page_output import check_page, typed_command
from boostkmeans.cli.files.row_writer import row_writer
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import Clusters, CommonOptions, Quality, RunOptions, value_of
from boostkmeans.documents import DocumentClusters, cluster_documents

# Values of parameters of `cluster_documents`.
Method = StrEnum("Method", ["bisecting", "refined", "k-way"])
Criterion = StrEnum("Criterion", ["i1", "i2", "e1", "g1", "h1", "h2"])


@expand_option_groups
def docs(
    context: typer.Context,
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Folder or file of documents; - is standard input.")
    ],
    clusters: Clusters,
    method: Annotated[Method, typer.Option(help="Clustering method.")] = Method.bisecting,
    criterion: Annotated[
        Criterion | None,
        typer.Option(
            help="CLUTO's criterion to optimise (default: none; boost k-means minimises the inertia)."
        ),
    ] = None,
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
    page: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File for a page that shows the clusters, e.g. page.html."),
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
            help="Trade-off between speed and distortion, for refined and k-way without a criterion "
            "(default: balanced)."
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
      boostkmeans docs examples/sentences.txt -k 3 --page page.html
      boostkmeans docs sports.mat -k 7 --method refined --labels labels.tsv
      boostkmeans docs sports.mat -k 7 --method refined --criterion i2
      zcat posts.txt.gz | boostkmeans docs - -k 5

    Cluster documents, and print for each cluster a name, its size, the terms with the largest weight in
    its centre, the terms that distinguish it from the other clusters, and the documents nearest to its
    centre.

    PATH is a folder of text files (subfolders are classes), a text file with one document per line, a
    table with a column of texts (.csv, .tsv, .jsonl), or a matrix (CLUTO .mat with .clabel and .rclass,
    .mtx, .svm, .npz). All of these may be compressed with gzip. Documents that cannot be read are
    skipped and listed on standard error. If classes are known, entropy, purity and NMI are printed.
    """
    with command(common) as run:
        result_to = Output(output, common.force)
        labels_to = output_to(labels, force=common.force)
        page_to = output_to(page, force=common.force)
        check_page("--page", page_to)
        check_outputs({"PATH": path}, {"--output": result_to, "--labels": labels_to, "--page": page_to})
        if common.as_json and labels == output == STDOUT:
            raise ValueError(
                "--json and --labels - both use standard output: write one of them to a file."
            )
        weighting = weighting_of(term_options)
        with run.progress() as display:
            corpus = read_documents(path, corpus_options, display.report)
            found = cluster_documents(
                corpus,
                clusters,
                method=method.value,
                criterion=value_of(criterion),
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
            if page_to is not None:
                _write_page(page_to, found, run_options, typed_command(context), display.report)
        if labels_to is not None:
            _write_labels(labels_to, found)
        if labels != STDOUT or output != STDOUT:
            as_json = common.as_json
            result_to.write(json.dumps(found.to_dict(), allow_nan=False) if as_json else found.table())


def _write_page(
    output: Output,
    found: DocumentClusters,
    options: RunOptions,
    command_text: str,
    progress: ProgressCallback,
) -> None:
    from boostkmeans.explore import page  # slow to import, and not always needed

    shown = page(
        found.model,
        found.documents.rows,
        texts=found.corpus.texts,
        ids=found.corpus.names,
        title=f"Documents of {found.corpus.source}",
        names=[cluster.name for cluster in found.clusters],
        random_state=options.seed,
        n_threads=options.threads,
        progress=progress,
        command=command_text,
    )
    with writing_to(output.path):
        shown.save(output.path, force=output.force)


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
