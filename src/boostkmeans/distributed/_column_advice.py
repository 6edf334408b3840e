"""Advice on columns: the readers of files mention `key`, which distributed estimators do not have."""

from copy import copy
from typing import Any, cast

from boostkmeans._runtime.errors import (
    DataFormatError,
    Message,
    Parameter,
    ParameterError,
    StructuredError,
    Text,
)
from boostkmeans._runtime.untrusted_text import escape_untrusted

# Parameter of the readers that names columns, and that of `open_shards`.
KEY, COLUMN = "key", "column"


def mentions_key(error: DataFormatError) -> bool:
    """Return True if the remedy of an error is to name columns with `key`."""
    return isinstance(error.remedy, Message) and isinstance(error.remedy.values.get(KEY), Parameter)


def with_remedy(error: DataFormatError, remedy: Text) -> DataFormatError:
    """Return the same error with another remedy."""
    found = copy(error)
    found.remedy = remedy
    found.args = (escape_untrusted(found.render()),)
    return found


def for_open_shards(error: StructuredError) -> StructuredError:
    """Return the error with the parameter of `open_shards`. On the command line, it stays `--key`."""
    found: Any = copy(error)
    if isinstance(error, ParameterError) and error.name == KEY:
        found.name, found.option_names = COLUMN, {COLUMN: f"--{KEY}"}
    for part in ("problem", "remedy"):
        text = getattr(error, part, None)
        if isinstance(text, Message) and isinstance(text.values.get(KEY), Parameter):
            setattr(found, part, _with_column(text))
    found.args = (escape_untrusted(found.render()),)
    return cast(StructuredError, found)


def _with_column(message: Message) -> Message:
    key = cast(Parameter, message.values[KEY])
    named = Parameter(COLUMN, *key.value)
    template = message.template.replace(f"{{{KEY}}}", f"{{{COLUMN}}}")
    shell = message.shell or message.template
    return Message(template, shell=shell, **{**message.values, COLUMN: named})
