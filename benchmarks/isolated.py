"""Function calls in a separate process, with a time limit and a record of the peak memory.

A separate process keeps runs independent: thread pools, memory and patched modules of one library do not
affect the next.
"""

import multiprocessing
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

# Units of ru_maxrss per megabyte: macOS reports bytes, Linux reports kilobytes.
_MEGABYTE = 2**20 if sys.platform == "darwin" else 2**10


@dataclass(frozen=True)
class Outcome:
    """Result of a call, or the reason why it failed."""

    value: Any = None
    failure: str = ""
    """Empty on success; otherwise e.g. "more than 60 s", or the last line of the error."""
    seconds: float = float("nan")
    """Duration of the call, without the start of the process."""
    peak_megabytes: float = float("nan")
    """Peak memory of the whole process."""

    def unwrap(self) -> Any:
        """Return the value, or raise RuntimeError if the call failed."""
        if self.failure:
            raise RuntimeError(self.failure)
        return self.value


def isolated(function: Callable[..., Any], *arguments: Any, limit: float | None) -> Outcome:
    """Call `function(*arguments)` in a new process, which is killed after `limit` seconds, if any.

    The new process imports the function by name, so it must be defined at the top level of a module.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, function, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return Outcome(failure=f"more than {limit:g} s")
        outcome = receiver.recv()
        assert isinstance(outcome, Outcome)
        return outcome
    except EOFError:
        process.join()
        return Outcome(failure=f"ended with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()
        receiver.close()


def _work(connection: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # Some libraries print from C++, which bypasses sys.stdout.
        os.dup2(silence, stream)
    began = time.perf_counter()
    try:
        value = function(*arguments)
    except BaseException as error:  # Any error of the function is a result, even SystemExit.
        line = traceback.format_exception_only(error)[-1].strip()
        connection.send(Outcome(failure=line))
        return
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE
    connection.send(Outcome(value, "", seconds, peak))
