"""Interpreters that start fast, because they are forks of a process that has loaded scikit-learn.

A new interpreter needs seconds of processor time to import scikit-learn, and many tests need one.
`run_warm` starts this file as a script, once. For each request, the script forks a process that runs the
code of the test as `python -c` would. It imports boostkmeans itself, but finds scikit-learn in memory.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import types
import warnings
from functools import lru_cache
from pathlib import Path
from select import select
from typing import IO, Any


class WarmInterpreter:
    """The process that is forked, as seen by the tests."""

    def __init__(self) -> None:
        command = [sys.executable, "-W", "error", __file__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self._end)

    def run(self, code: str, timeout: float) -> subprocess.CompletedProcess[str]:
        """Run code in a fork, and return what it printed."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [str(Path(folder, name)) for name in ("stdout", "stderr")]
            environment = dict(os.environ)
            request = {"code": code, "env": environment, "folder": str(Path.cwd()), "paths": paths}
            self._pipe("stdin").write(json.dumps(request).encode() + b"\n")
            self._pipe("stdin").flush()
            pid = self._answer(None)
            try:
                status = self._answer(timeout)
            except TimeoutError:
                os.kill(pid, 9)
                self._answer(None)
                raise subprocess.TimeoutExpired(code, timeout) from None
            out, error = (Path(path).read_text() for path in paths)
        return subprocess.CompletedProcess(["-c", code], os.waitstatus_to_exitcode(status), out, error)

    def _end(self) -> None:
        """End the process, which stops at the end of its input."""
        self._process.communicate()

    def _answer(self, timeout: float | None) -> int:
        """Return the next number that the process prints. Raise TimeoutError if there is none."""
        pipe = self._pipe("stdout")
        if not select([pipe], [], [], timeout)[0]:
            raise TimeoutError
        return int(os.read(pipe.fileno(), ANSWER_BYTES))

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] | None = getattr(self._process, name)
        assert pipe is not None
        return pipe


# Each answer of the process has this length, so that answers are not read together.
ANSWER_BYTES = 12


@lru_cache(maxsize=1)
def warm_interpreter() -> WarmInterpreter:
    """Return the process that is forked. It ends with the tests."""
    return WarmInterpreter()


def run_warm(code: str, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run code in a fork of the warm interpreter."""
    return warm_interpreter().run(code, timeout)


def serve() -> dict[str, Any] | None:
    """Fork a process per request. Return the request in the fork, and None at the end of the input."""
    import sklearn.metrics
    import sklearn.preprocessing  # noqa: F401

    while line := sys.stdin.buffer.readline():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns about forks in a process with threads.
            pid = os.fork()
        if pid == 0:
            return dict(json.loads(line))
        answer(pid)
        answer(os.waitpid(pid, 0)[1])
    return None


def answer(number: int) -> None:
    """Print a number for `WarmInterpreter`."""
    os.write(1, f"{number:{ANSWER_BYTES}d}".encode())


def become(request: dict[str, Any]) -> types.ModuleType:
    """Give this process the environment of a request, and return its main module."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(request["paths"], start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["folder"])
    sys.argv = ["-c"]
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    return main


if __name__ == "__main__":
    received = serve()
    if received is not None:
        exec(received["code"], vars(become(received)))
