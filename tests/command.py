"""The command line, as tests call it: within this process, or in one of its own."""

import gzip
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from boostkmeans.cli.app import app

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "boostkmeans"]
# What names results: options, and places in a line without its options.
RESULTS = ("-o", "--output", "--labels", "--centers", "--distances", "--indices", "--plot")
TARGETS = {("convert",): 3, ("pq", "train"): 4, ("pq", "encode"): 5}


def run(*arguments: object, stdin: bytes | None = None) -> Any:
    """Within this process: its `exit_code`, `stdout` and `stderr`."""
    return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)


def succeed(*arguments: object, stdin: bytes | None = None) -> str:
    """What it prints, if nothing is wrong and nothing is on stderr."""
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, ""), result.output + repr(result.exception)
    return str(result.stdout)


def fail(code: int, *arguments: object, stdin: bytes | None = None) -> str:
    """What it says on stderr, if it ends with that code, in one piece and without results."""
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert "Traceback" not in result.stderr
    return str(result.stderr)


def start(*arguments: object, **settings: Any) -> subprocess.Popen[bytes]:
    """In a process of its own, with pipes unless told otherwise."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **settings)


def read_until(descriptor: int, wanted: bytes) -> bytes:
    """What comes from a pipe or terminal, up to that text."""
    seen = b""
    while wanted not in seen:
        piece = os.read(descriptor, 1 << 16)
        assert piece, seen
        seen += piece
    return seen


def examples_of(text: str) -> list[str]:
    """Lines that a reader would type, without prompts and indentation."""
    joined = text.replace("\\\n", " ")
    return [
        line.strip() for line in joined.splitlines() if re.match(r"\s*(z?cat .*\| )?boostkmeans ", line)
    ]


def run_example(line: str) -> Any:
    """Runs a line in this folder: the part of a pipeline that is ours. Its old results are removed."""
    stdin = None
    for part in line.split(" | "):
        words = shlex.split(part.split(" > ")[0])
        if words[0] in ("cat", "zcat"):
            stdin = Path(words[1]).read_bytes()
            stdin = gzip.decompress(stdin) if words[0] == "zcat" else stdin
        elif words[0] == "boostkmeans":
            for option, value in pairwise(words):
                if option in RESULTS:
                    Path(value).unlink(missing_ok=True)
            for command, place in TARGETS.items():
                if words[1 : 1 + len(command)] == list(command):
                    arguments = [word for word in words if not word.startswith("-") or word == "-"]
                    Path(arguments[place]).unlink(missing_ok=True)
            return run(*words[1:], stdin=stdin)
    raise AssertionError(line)
