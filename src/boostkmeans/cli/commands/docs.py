"""`boostkmeans docs`: cluster documents, and describe the clusters."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from boostkmeans._runtime.deprecation import DESCRIPTION_BY_OUTPUT
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.cli.command import command
from boostkmeans.cli.corpus_options import CorpusOptions, TermOptions, read_documents, weighting_of
from boostkmeans.cli.files.document_labels import HELP, check_label_file, write_document_labels
from boostkmeans.cli.files.output import (
    STDOUT,
    Output,
    check_model_ending,
    check_outputs,
    output_to,
    stdout_conflict,
    writing_to,
)
from boostkmeans.cli.files.page_output import check_page, typed_command
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import Clusters, CommonOptions, Quality, RunOptions, value_of
from boostkmeans.documents import DocumentClusters, cluster_documents

# Endings of model files.
MODEL_ENDINGS = (".safetensors", ".st")
# Endings of descriptions, for which -o is deprecated.
DESCRIPTION_ENDINGS = (".txt", ".json")
# Options for other results than the model.
OTHER_RESULTS = {"labels": "--labels", "the description": "--description", "a page": "--page"}
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
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            help="File for the model (.safetensors or .st), which predict-docs applies to new "
            "documents.",
        ),
    ] = None,
    labels: Annotated[str | None, typer.Option(metavar="FILE", help=HELP)] = None,
    description: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the description, which is then not printed: .json, or any other ending for "
            "text.",
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
      boostkmeans docs sports.mat -k 7 --method refined --labels labels.csv
      boostkmeans docs sports.mat -k 7 --method refined --criterion i2
      boostkmeans docs tickets.csv -k 10 --text-column body -o topics.st
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
        outputs = DocsOutputs.from_options(output, labels, description, page, common)
        check_outputs({"PATH": path}, outputs.by_option())
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
            if outputs.model is not None:
                outputs.model.check()  # again, as `save` overwrites existing files
                with writing_to(outputs.model.path):
                    found.save(outputs.model.path)
            if outputs.page is not None:
                _write_page(outputs.page, found, run_options, typed_command(context), display.report)
        if outputs.labels is not None:
            write_document_labels(outputs.labels, found.corpus.names, found.labels)
        if not (outputs.prints_labels and outputs.description.is_stdout):
            as_json = common.as_json or outputs.description.ending == ".json"
            text = json.dumps(found.to_dict(), allow_nan=False) if as_json else found.table()
            outputs.description.write(text)


@dataclass(frozen=True)
class DocsOutputs:
    """Destinations of the results."""

    model: Output | None
    labels: Output | None
    description: Output
    page: Output | None

    @classmethod
    def from_options(
        cls,
        output: str | None,
        labels: str | None,
        description: str | None,
        page: str | None,
        common: CommonOptions,
    ) -> "DocsOutputs":
        """Return the outputs. Raise an error if two of them use standard output."""
        if output is not None and Path(output).suffix.lower() not in DESCRIPTION_ENDINGS:
            check_model_ending(Output(output, common.force), OTHER_RESULTS)
        if output is not None and Path(output).suffix.lower() not in MODEL_ENDINGS:
            if description is not None:
                raise ValueError(
                    f"-o is the file for the model, which ends in .safetensors or .st. Got {output!r}."
                )
            DESCRIPTION_BY_OUTPUT.warn()
            output, description = None, output
        outputs = cls(
            output_to(output, force=common.force),
            output_to(labels, force=common.force),
            Output(description or STDOUT, common.force),
            output_to(page, force=common.force),
        )
        check_page("--page", outputs.page)
        check_label_file("--labels", outputs.labels)
        if common.as_json and outputs.prints_labels and outputs.description.is_stdout:
            raise stdout_conflict("--labels")
        return outputs

    @property
    def prints_labels(self) -> bool:
        """True if standard output is used for the labels."""
        return self.labels is not None and self.labels.is_stdout

    def by_option(self) -> dict[str, Output | None]:
        """Return the outputs by option."""
        return {
            "--output": self.model,
            "--labels": self.labels,
            "--description": self.description,
            "--page": self.page,
        }


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
