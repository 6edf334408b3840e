"""The app: one command a file, put together."""

from typing import Annotated

import typer

import boostkmeans
from boostkmeans.cli._compare import compare_methods
from boostkmeans.cli._convert import convert
from boostkmeans.cli._demo import demo
from boostkmeans.cli._docs import docs
from boostkmeans.cli._evaluate import evaluate
from boostkmeans.cli._fit import fit
from boostkmeans.cli._info import info
from boostkmeans.cli._output import print_result
from boostkmeans.cli._predict import predict

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
      boostkmeans docs examples/sentences.txt -k 3
      boostkmeans demo

    Boost k-means: clusters of lower distortion than k-means finds, in fewer passes.

    Results go to standard output, all else to stderr. Exit codes: 0 all is well, 1 failure, 2 wrong use,
    3 bad data, 130 interrupted.
    """


app.command("fit", short_help="Cluster vectors; write model, labels, centres.")(fit)
app.command("predict", short_help="Give new vectors the clusters of a model.")(predict)
app.command("info", short_help="Say what a file is: a model, a checkpoint, vectors.")(info)
app.command("evaluate", short_help="Measure a model on vectors, and against classes.")(evaluate)
app.command("compare", short_help="Run methods side by side: ours and k-means.")(compare_methods)
app.command("convert", short_help="Write vectors in another format.")(convert)
app.command("docs", short_help="Cluster documents, and say what the clusters are about.")(docs)
app.command("demo", short_help="See it work: ours beside k-means, with a picture.")(demo)
