"""Groups of commands whose modules are imported when they are called: that takes more than a second."""

import importlib
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

SETTINGS: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}

Commands = Mapping[str, tuple[str, str, str]]
"""By name: the module within `boostkmeans.cli`, what it calls the command, and a line for the help.

The command is a function, or an app with commands of its own.
"""


def lazy_group(commands: Commands) -> type[TyperGroup]:
    """A group of these, in this order."""

    class LazyGroup(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return list(commands)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in commands:
                return None
            module, name, text = commands[cmd_name]
            found = getattr(importlib.import_module(f"boostkmeans.cli.{module}"), name)
            if isinstance(found, typer.Typer):
                return typer.main.get_command(found)
            one = typer.Typer(add_completion=False, **SETTINGS)
            one.command(cmd_name, short_help=text)(found)
            return typer.main.get_command(one)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            """A line each, without importing them."""
            with formatter.section("Commands"):
                formatter.write_dl([(name, text) for name, (_, _, text) in commands.items()])

    return LazyGroup
