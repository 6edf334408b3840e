"""The app: one command a file, put together."""

from typing import Annotated

import typer

import boostkmeans
from boostkmeans.cli.lazy_group import SETTINGS, Commands, lazy_group
from boostkmeans.cli.output import print_result

COMMANDS: Commands = {
    "fit": ("commands.fit", "fit", "Cluster vectors; write model, labels, centres."),
    "predict": ("commands.predict", "predict", "Give new vectors the clusters of a model."),
    "info": ("commands.info", "info", "Say what a file is: a model, a quantizer, vectors."),
    "evaluate": ("commands.evaluate", "evaluate", "Measure a model on vectors, and against classes."),
    "compare": ("commands.compare", "compare_methods", "Run methods side by side: ours and k-means."),
    "convert": ("commands.convert", "convert", "Write vectors in another format."),
    "pq": ("commands.pq", "app", "Short codes for vectors, and search among them."),
    "docs": ("commands.docs", "docs", "Cluster documents, and say what the clusters are about."),
    "demo": ("commands.demo", "demo", "See it work: ours beside k-means, with a picture."),
}


app = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, **SETTINGS)


def _print_version(wanted: bool) -> None:
    if wanted:
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
      boostkmeans predict model.safetensors new.fvecs --labels labels.npy
      boostkmeans compare vectors.fvecs -k 100 --max-rows 20000
      boostkmeans pq train vectors.fvecs quantizer.st
      boostkmeans docs examples/sentences.txt -k 3
      boostkmeans demo

    Boost k-means: clusters of lower distortion than k-means finds, in fewer passes.

    Results go to standard output, all else to stderr. Exit codes: 0 all is well, 1 failure, 2 wrong use,
    3 bad data, 130 interrupted.
    """
