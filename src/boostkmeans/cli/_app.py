"""The app: one command a file, put together."""

import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import boostkmeans
from boostkmeans.cli._output import print_result

SETTINGS: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
# Modules are imported when their command is called, or its help: that takes more than a second.
COMMANDS = {
    "fit": ("_fit", "fit", "Cluster vectors; write model, labels, centres."),
    "predict": ("_predict", "predict", "Give new vectors the clusters of a model."),
    "info": ("_info", "info", "Say what a file is: a model, a checkpoint, vectors."),
    "evaluate": ("_evaluate", "evaluate", "Measure a model on vectors, and against classes."),
    "compare": ("_compare", "compare_methods", "Run methods side by side: ours and k-means."),
    "convert": ("_convert", "convert", "Write vectors in another format."),
    "docs": ("_docs", "docs", "Cluster documents, and say what the clusters are about."),
    "demo": ("_demo", "demo", "See it work: ours beside k-means, with a picture."),
}


class LazyGroup(TyperGroup):
    """The commands, by name."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, function, text = COMMANDS[cmd_name]
        one = typer.Typer(add_completion=False, **SETTINGS)
        call = getattr(importlib.import_module(f"boostkmeans.cli.{module}"), function)
        one.command(cmd_name, short_help=text)(call)
        return typer.main.get_command(one)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A line each, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, **SETTINGS)


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
