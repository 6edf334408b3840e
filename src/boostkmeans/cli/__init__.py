"""The command line `boostkmeans`.

`app.py` lists the commands; `commands/` has one module or folder per command. A command parses its
options, calls public functions of the package and prints the result. Commands share `options.py`
(options), `command.py` (errors, progress, input and result), `files/` (input and output files) and
`stdout.py` (standard output).
"""

import sys

from boostkmeans._runtime.installation import install_hint
from boostkmeans.cli.exit_codes import INTERRUPTED
from boostkmeans.cli.stdout import discard_stdout

# Packages of the extra "cli".
OPTIONAL_PACKAGES = ("typer", "rich")


def main() -> None:
    """Run the command line. If an optional package is missing, print how to install it."""
    try:
        from boostkmeans.cli.app import app  # needs the optional packages

        app(prog_name="boostkmeans")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in OPTIONAL_PACKAGES:
            raise
        sys.exit(
            f"boostkmeans: the command line needs {error.name}, which is not installed: "
            f"{install_hint('cli')}"
        )
    except KeyboardInterrupt:  # Ctrl-C before the command started
        sys.exit(INTERRUPTED)
    except OSError as error:  # e.g. a full disk while help or the version is printed
        discard_stdout()
        where = error.filename or "standard output"
        sys.exit(f"boostkmeans: {where}: {error.strerror or error}")
