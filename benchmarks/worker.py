"""Processes that fit contestants on request. They may run in another environment.

A separate process keeps runs independent: thread pools, memory and patched modules of one library do not
affect the next. A process that stays open between requests makes it cheap to interleave contestants.
"""

import subprocess
import sys
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from socket import socketpair
from typing import Any

from environment import Json

# Seconds for the start of a process and its imports.
STARTING = 60.0


class Worker:
    """A process that answers requests, one after another."""

    def __init__(self, python: Path | None = None) -> None:
        """Start the process with an interpreter (default: this one)."""
        from revisions import environment_of

        python = python or Path(sys.executable)
        own, other = socketpair()
        self._process = subprocess.Popen(
            [python, __file__, str(other.fileno())],
            pass_fds=[other.fileno()],
            env=environment_of(python),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # Some libraries print.
            stderr=subprocess.DEVNULL,
        )
        other.close()
        self._connection = Connection(own.detach())
        self.failure = self._answer(STARTING).get("failure", "")

    def ask(self, call: str, limit: float, **arguments: Any) -> Json:
        """Return the answer to a request, or {"failure": reason}; a process that fails is ended."""
        if self.failure:
            return {"failure": self.failure}
        self._connection.send((call, arguments))
        answer = self._answer(limit)
        self.failure = answer.get("failure", "")
        if self.failure:
            self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def _answer(self, limit: float) -> Json:
        try:
            if not self._connection.poll(limit):
                return {"failure": f"more than {limit:g} s"}
            answer = self._connection.recv()
        except (EOFError, ConnectionError):
            return {"failure": f"ended with exit code {self._process.wait()}"}
        assert isinstance(answer, dict)
        return answer


# --- In the process ------------------------------------------------------------------------------------


class Requests:
    """The requests that a worker answers."""

    def __init__(self) -> None:
        self._ready = ("", "")
        self._rows: Any = None

    def fit(self, contestant: str, rows: str, k: int, seed: int) -> Json:
        """Return the figures of one fit."""
        from peers import CONTESTANTS
        from problems import load_rows

        fit = CONTESTANTS[contestant].fit
        if self._ready != (contestant, rows):
            self._rows = load_rows(Path(rows))
            fit(self._rows[:1000].copy(), 4, 0)  # Imports and thread pools are not part of the time.
            self._ready = (contestant, rows)
        return measure_fit(self._rows, k, seed, fit)

    def small(self, problem: str, contestants: list[str], seeds: list[int]) -> Json:
        """Return the figures of many quick fits."""
        from small_fits import measure_fits

        return measure_fits(problem, contestants, seeds)


def measure_fit(X: Any, k: int, seed: int, fit: Any) -> Json:
    """Return the time, the peak memory above the input, and the inertia of one fit."""
    from peers import figures_of
    from process_memory import megabytes, reset_peak

    before = reset_peak()
    began = time.perf_counter()
    fitted = fit(X, k, seed)
    seconds = time.perf_counter() - began
    peak = megabytes("VmHWM") - before
    return {"seed": seed, "seconds": seconds, "megabytes": peak, **figures_of(X, fitted)}


def answer_all(connection: Connection) -> None:
    """Answer requests until there are no more."""
    import warnings

    warnings.simplefilter("ignore")
    requests = Requests()
    connection.send({})
    while True:
        try:
            call, arguments = connection.recv()
        except EOFError:
            return
        try:
            answer: Json = getattr(requests, call)(**arguments)
        except BaseException as error:  # Any error of a library is a result, even SystemExit.
            answer = {"failure": traceback.format_exception_only(error)[-1].strip()}
        connection.send(answer)


if __name__ == "__main__":
    answer_all(Connection(int(sys.argv[1])))
