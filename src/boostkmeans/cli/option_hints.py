"""Hints for unknown options: the option that the user probably means."""

from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand

from boostkmeans.cli.errors import OPTIONS, option_name

# Other words for options, without dashes. The first option that the command has is suggested.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "out": ("--output",),
    "outfile": ("--output",),
    "model": ("--output",),
    "column": ("--key", "--text-column"),
    "columns": ("--key", "--text-column"),
    "text": ("--text-column",),
    "texts": ("--text-column",),
    "class": ("--class-column", "--classes"),
    "label": ("--labels",),
    "name": ("--name-column", "--key"),
    "exclude": ("--drop",),
    "ignore": ("--drop",),
    "id": ("--name-column",),
    "ids": ("--id", "--name-column"),
    "index": ("--id", "--name-column"),
    "jobs": ("--threads",),
    "memory": ("--max-memory",),
    "overwrite": ("--force",),
    "centres": ("--centers",),
    "random-seed": ("--seed",),
    "ks": ("--clusters",),
}

# Words for the number of clusters, without dashes.
CLUSTER_WORDS = ("k", "clusters", "n-clusters")
# Parameter of commands that read a model.
MODEL = "model_path"


class HintingCommand(TyperCommand):
    """A command whose error for an unknown option suggests the right one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. An error for an unknown option gets better suggestions."""
        try:
            return list(super().parse_args(ctx, args))
        except Exception as error:
            # The class is that of click, or of the copy of click in newer versions of typer.
            if hasattr(error, "option_name") and hasattr(error, "possibilities"):
                self._add_hint(error)
            raise

    def _add_hint(self, error: Any) -> None:
        options = [name for one in self.params for name in one.opts]
        meant = suggestions(error.option_name, options)
        if meant or not is_cluster_number(error.option_name):
            error.possibilities = meant or error.possibilities
            return
        # Options with similar names have another meaning.
        error.possibilities = []
        if any(one.name == MODEL for one in self.params):
            error.message += ". The number of clusters is part of the model."


def is_cluster_number(unknown: str) -> bool:
    """Return True if an unknown option is a name for the number of clusters."""
    return _word(unknown) in CLUSTER_WORDS


def suggestions(unknown: str, options: Sequence[str]) -> list[str]:
    """Return the options that an unknown option probably means, or none.

    >>> suggestions("--k", ["--clusters", "-k", "--key"]), suggestions("--out", ["--output", "-o"])
    (['-k'], ['--output'])
    """
    word = _word(unknown)
    if len(word) == 1 and f"-{word}" in options:
        return [f"-{word}"]
    meant = _of_parameter(word) or SYNONYMS.get(word, ())
    return [one for one in meant if one in options][:1]


def _word(option: str) -> str:
    return option.lstrip("-").replace("_", "-").lower()


def _of_parameter(word: str) -> Iterable[str]:
    """Return the option for the name of a Python parameter whose option has another name."""
    name = word.replace("-", "_")
    return (option_name(name),) if name in OPTIONS else ()
