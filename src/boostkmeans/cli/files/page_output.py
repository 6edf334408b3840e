"""The output of --page: an explorer page, and the command that it shows."""

import shlex
from collections.abc import Iterator
from enum import Enum
from importlib.util import find_spec
from typing import Any

import typer

from boostkmeans._runtime.installation import install_hint
from boostkmeans.cli.files.output import Output, require_file
from boostkmeans.io._access.urls import public_name

# Options that do not change the page.
UNRELATED = ("--json", "--force", "--verbose", "--debug")


def check_page(name: str, output: Output | None) -> None:
    """Raise an error before the work begins if the page cannot be written."""
    require_file(name, output)
    if output is not None and find_spec("jinja2") is None:
        raise ImportError(f"{name} needs jinja2: {install_hint('explore')}")


def typed_command(context: typer.Context) -> str:
    """Return the running command as the user typed it, without passwords in URLs."""
    typed = [
        one
        for one in context.command.params
        if getattr(context.get_parameter_source(one.name or ""), "name", "") == "COMMANDLINE"
        and not set(one.opts).intersection(UNRELATED)
    ]
    typed.sort(key=lambda one: one.param_type_name == "option")  # arguments first
    words = [word for one in typed for word in _words(one, context.params[one.name or ""])]
    return shlex.join(["boostkmeans", context.info_name or "", *words])


def _words(parameter: Any, value: Any) -> Iterator[str]:
    is_option = parameter.param_type_name == "option"
    if isinstance(value, bool):
        yield (parameter.opts if value else parameter.secondary_opts)[0]
        return
    for one in value if isinstance(value, list | tuple) else [value]:
        if is_option:
            yield min(parameter.opts, key=len)
        yield public_name(str(one.value if isinstance(one, Enum) else one))
