"""Calls of the command line in tests: inside this process, or in a process of its own."""

import contextlib
import gzip
import io
import os
import pty
import re
import shlex
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

from typer.testing import CliRunner

from boostkmeans.cli.app import app
from processes import spawn

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "boostkmeans"]
# Options that name output files.
OUTPUT_OPTIONS = (
    "-o", "--output", "--labels", "--centers", "--distances", "--indices", "--plot", "--vectors",
    "--page", "--parquet", "--save-pipeline", "--keep-list", "--groups", "--report", "--description",
)  # fmt: skip
# Commands with an argument that names an output file, and its position in a line without options.
OUTPUT_ARGUMENTS = {("convert",): 3, ("pq", "train"): 4, ("pq", "encode"): 5}


def run(*arguments: object, stdin: bytes | None = None) -> Any:
    """Run a command inside this process. The result has `exit_code`, `stdout` and `stderr`."""
    return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)


def succeed(*arguments: object, stdin: bytes | None = None) -> str:
    """Return standard output. Check that the exit code is 0 and that there are no messages."""
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, ""), result.output + repr(result.exception)
    return str(result.stdout)


def fail(code: int, *arguments: object, stdin: bytes | None = None) -> str:
    """Return the messages. Check the exit code, and that there is neither output nor a traceback."""
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert "Traceback" not in result.stderr
    return str(result.stderr)


def run_on_terminal(*arguments: object, columns: int = 80) -> tuple[int, str, str]:
    """Run a command inside this process with a terminal as standard error.

    Return the exit code, standard output, and everything that was written to the terminal.
    """
    ours, theirs = pty.openpty()
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append(_read_all(ours)))
    reader.start()
    output = io.StringIO()
    environment = {"TERM": "xterm", "COLUMNS": str(columns)}
    with (
        os.fdopen(theirs, "w", encoding="utf-8") as terminal,
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(terminal),
        mock.patch.dict(os.environ, environment),
    ):
        code = app([str(one) for one in arguments], standalone_mode=False)
    reader.join()
    os.close(ours)
    return int(code or 0), output.getvalue(), b"".join(seen).decode()


def start(*arguments: object, **settings: Any) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own, by default with pipes."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
    return spawn([*COMMAND, *map(str, arguments)], **settings)


def read_until(descriptor: int, wanted: bytes) -> bytes:
    """Read from a pipe or terminal until a text appears."""
    seen = b""
    while wanted not in seen:
        piece = os.read(descriptor, 1 << 16)
        assert piece, seen
        seen += piece
    return seen


def _read_all(descriptor: int) -> bytes:
    """Read from a terminal until the other side is closed."""
    seen = b""
    with contextlib.suppress(OSError):
        while piece := os.read(descriptor, 1 << 16):
            seen += piece
    return seen


def examples_of(text: str) -> list[str]:
    """Return the command lines in a text, without prompts and indentation."""
    joined = text.replace("\\\n", " ")
    return [
        line.strip() for line in joined.splitlines() if re.match(r"\s*(z?cat .*\| )?boostkmeans ", line)
    ]


def run_example(line: str) -> Any:
    """Run a command line in the current folder, without the other programs of a pipeline.

    Output files of earlier examples are removed first.
    """
    stdin = None
    for part in line.split(" | "):
        words = shlex.split(part.split(" > ")[0])
        if words[0] in ("cat", "zcat"):
            stdin = Path(words[1]).read_bytes()
            stdin = gzip.decompress(stdin) if words[0] == "zcat" else stdin
        elif words[0] == "boostkmeans":
            for path in _output_files(words):
                Path(path).unlink(missing_ok=True)
            return run(*words[1:], stdin=stdin)
    raise AssertionError(line)


def _output_files(words: list[str]) -> list[str]:
    found = [value for option, value in pairwise(words) if option in OUTPUT_OPTIONS]
    for command, position in OUTPUT_ARGUMENTS.items():
        if words[1 : 1 + len(command)] == list(command) and "-o" not in words:
            found.append([word for word in words if not word.startswith("-") or word == "-"][position])
    return [path for path in found if words.count(path) == 1]  # others are also input files
