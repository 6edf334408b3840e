"""The command line. `main` is what `boostkmeans` and `python -m boostkmeans` call.

One file a command: it parses, calls public functions and prints. They share `errors.py` (exit codes and
messages), `output.py` (results) and `bar.py` (progress). `app.py` puts them together.
"""

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Runs the command line. Without the packages that it needs, says how to get them."""
    try:
        from boostkmeans.cli.app import app

        app(prog_name="boostkmeans")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich"):
            raise
        sys.exit(
            f"boostkmeans: the command line needs {error.name}, which is not installed: "
            "pip install boostkmeans[cli]"
        )
    except KeyboardInterrupt:  # before a command began
        sys.exit(INTERRUPTED)
    except OSError as error:  # help, the version or completion, on a full disk
        drop_stdout()
        where = error.filename or "standard output"
        sys.exit(f"boostkmeans: {where}: {error.strerror or error}")


def drop_stdout() -> None:
    """Nothing more goes there: what is left in its buffer would fail again when Python ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
