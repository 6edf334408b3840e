"""The application: the root command and the list of commands."""

from typing import Annotated

import typer

import boostkmeans
from boostkmeans.cli.lazy_group import SETTINGS, Commands, lazy_group
from boostkmeans.cli.stdout import print_result

COMMANDS: Commands = {
    "fit": ("commands.fit", "fit", "Cluster vectors; write a model, labels or centres."),
    "predict": ("commands.predict", "predict", "Assign new vectors to the clusters of a model."),
    "update": ("commands.update", "update", "Add vectors to a model, and remove vectors from it."),
    "info": ("commands.info", "info", "Describe a file: model, quantizer, checkpoint or vectors."),
    "evaluate": (
        "commands.evaluate",
        "evaluate",
        "Measure a model on vectors, with or without classes.",
    ),
    "explore": (
        "commands.explore",
        "explore",
        "Write a page that shows the clusters of a model.",
    ),
    "scan": ("commands.scan", "scan_numbers", "Try several numbers of clusters, and suggest one."),
    "dedup": ("commands.dedup", "dedup", "Find near duplicates, and list the rows to keep."),
    "sample": ("commands.sample", "sample", "Choose rows that represent the clusters of a model."),
    "compare": ("commands.compare", "compare_methods", "Compare boost k-means with other methods."),
    "convert": ("commands.convert", "convert", "Write vectors in another format."),
    "pq": ("commands.pq", "app", "Encode vectors by product quantization, and search codes."),
    "docs": ("commands.docs", "docs", "Cluster documents, and describe the clusters."),
    "predict-docs": (
        "commands.predict_docs",
        "predict_docs",
        "Assign new documents to the clusters of a model.",
    ),
    "compare-docs": (
        "commands.compare_docs",
        "compare_docs",
        "Compare methods on labelled documents.",
    ),
    "images": ("commands.images", "images", "Cluster the images of a folder; find near duplicates."),
    "demo": ("commands.demo", "demo", "Compare with k-means on sample data; write a page."),
}


app = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, **SETTINGS)


def _print_version(requested: bool) -> None:
    if requested:
        print_result(f"boostkmeans {boostkmeans.__version__}")
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """\b
    Examples:
      boostkmeans fit vectors.fvecs -k 10000 -o model.st --labels labels.npy
      boostkmeans predict model.safetensors new.fvecs -o labels.npy
      boostkmeans update model.safetensors new.fvecs -o model.safetensors
      boostkmeans scan vectors.npy -k 2-20
      boostkmeans explore model.safetensors vectors.fvecs -o page.html
      boostkmeans dedup vectors.fvecs --threshold 0.95 --keep-list kept.txt
      boostkmeans sample model.safetensors vectors.fvecs -n 1000 -o rows.txt
      boostkmeans compare vectors.fvecs -k 100 --max-rows 20000
      boostkmeans pq train vectors.fvecs -o quantizer.st
      boostkmeans docs examples/sentences.txt -k 3
      boostkmeans images photos/ -k 20 --labels labels.csv
      boostkmeans demo

    Cluster vectors by boost k-means, which reaches a lower distortion than k-means in fewer passes over
    the data.

    Results are printed to standard output, and messages to standard error. Exit codes: 0 success, 1
    failure, 2 wrong usage, 3 bad data, 130 interrupted.
    """
