"""A call in a process of its own, with a time limit and its peak of memory.

What one contestant leaves behind (pools of threads, memory, patched modules) is not there for the next.
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

_MEGABYTE = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss: bytes there, kilobytes elsewhere


@dataclass(frozen=True)
class Outcome:
    """What came of a call: a value, or the reason why there is none."""

    value: Any = None
    failure: str = ""
    """Empty where there is a value; "more than 60 s", or the last line of the error."""
    seconds: float = float("nan")
    """Of the call, without the start of its process."""
    peak_megabytes: float = float("nan")
    """Of the whole process."""


def isolated(function: Callable[..., Any], *arguments: Any, limit: float) -> Outcome:
    """`function(*arguments)` in a new process that is killed once it runs for longer than `limit`.

    The function is found by its name there: it must be one of a module.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(limit):
            return Outcome(failure=f"more than {limit:g} s")
        outcome = ours.recv()
        assert isinstance(outcome, Outcome)
        return outcome
    except EOFError:
        process.join()
        return Outcome(failure=f"ended with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()
        ours.close()


def _work(connection: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # some libraries write to these from C++
        os.dup2(silence, stream)
    began = time.perf_counter()
    try:
        value = function(*arguments)
    except BaseException as error:  # of whatever kind: it is the result
        line = traceback.format_exception_only(error)[-1].strip()
        connection.send(Outcome(failure=line))
        return
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE
    connection.send(Outcome(value, "", seconds, peak))
