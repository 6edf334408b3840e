"""The app: one command a file, put together."""

from typing import Annotated

import typer

import boostkmeans
from boostkmeans.cli._docs import docs
from boostkmeans.cli._output import print_result

app = typer.Typer(
    add_completion=False,
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
      boostkmeans docs examples/sentences.txt -k 3
      boostkmeans docs --help

    Boost k-means: clusters of lower distortion than k-means finds, in fewer passes.

    Results go to standard output, all else to stderr. Exit codes: 0 all is well, 1 failure, 2 wrong use,
    3 bad data, 130 interrupted.
    """


app.command("docs", short_help="Cluster documents, and say what the clusters are about.")(docs)
