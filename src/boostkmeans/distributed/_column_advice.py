"""Advice on columns: the readers of files mention `key`, which distributed estimators do not have."""

from copy import copy

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter, Text
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


def for_open_shards(error: DataFormatError) -> DataFormatError:
    """Return the error with the parameter of `open_shards`. On the command line, it stays `--key`."""
    remedy = error.remedy
    if not isinstance(remedy, Message) or not mentions_key(error):
        return error
    key = remedy.values[KEY]
    assert isinstance(key, Parameter)
    named = Parameter(COLUMN, *key.value)
    template = remedy.template.replace(f"{{{KEY}}}", f"{{{COLUMN}}}")
    shell = remedy.shell or remedy.template
    return with_remedy(error, Message(template, shell=shell, **{**remedy.values, COLUMN: named}))
