"""Groups of commands whose modules are imported only when the command is called.

Importing scikit-learn takes more than a second, which would delay `--help`.
"""

import importlib
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from boostkmeans.cli.option_hints import HintingCommand

SETTINGS: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}

Commands = Mapping[str, tuple[str, str, str]]
"""Commands by name: module below `boostkmeans.cli`, name in the module, and short help.

The name in the module is that of a function or of a `typer.Typer` with commands of its own.
"""


def lazy_group(commands: Commands) -> type[TyperGroup]:
    """Return a group class that lists the commands in the given order."""

    class LazyGroup(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return list(commands)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in commands:
                return None
            module, name, short_help = commands[cmd_name]
            found = getattr(importlib.import_module(f"boostkmeans.cli.{module}"), name)
            if isinstance(found, typer.Typer):
                return typer.main.get_command(found)
            app = typer.Typer(add_completion=False, **SETTINGS)
            app.command(cmd_name, cls=HintingCommand, short_help=short_help)(found)
            return typer.main.get_command(app)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            """Write one line per command without importing the commands."""
            with formatter.section("Commands"):
                formatter.write_dl([(name, text) for name, (_, _, text) in commands.items()])

    return LazyGroup
