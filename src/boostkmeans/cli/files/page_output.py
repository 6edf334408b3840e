"""The output of --page: an explorer page, and the command that it shows."""

import shlex
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from boostkmeans.cli.files.output import Output, require_file
from boostkmeans.io._access.byte_source import ByteSource


def check_page(name: str, output: Output | None) -> None:
    """Raise an error before the work begins if the page cannot be written."""
    require_file(name, output)
    if output is not None and find_spec("jinja2") is None:
        raise ImportError(f"{name} needs jinja2: pip install boostkmeans[explore]")


def command_line(name: str, arguments: Sequence[str], options: Mapping[str, object | None]) -> str:
    """Return a command as a user would type it, without passwords in URLs.

    Options that are None or False are left out.

    >>> command_line("docs", ["my texts"], {"-k": 3, "--labels": None, "--sublinear": True})
    "boostkmeans docs 'my texts' -k 3 --sublinear"
    """
    words = ["boostkmeans", name]
    words += [one if one == "-" else ByteSource(one).name for one in arguments]
    for option, value in options.items():
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, str(value)]
    return shlex.join(words)
