"""Processes that tests start: they get default signal handlers, and none of them outlives its test."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

# Seconds after which a test gives up. Tests wait for events. Only a hang takes this long, even on a
# machine with ten times as many busy processes as processors.
PATIENCE = 600.0
# Signals that tests send. A shell starts background jobs with SIGINT ignored, and `nohup` ignores
# SIGHUP, which Windows does not have. Processes inherit this.
SENT = tuple(getattr(signal, name) for name in ("SIGINT", "SIGHUP", "SIGTERM") if hasattr(signal, name))

_started: list[subprocess.Popen[Any]] = []


def restore_signals() -> None:
    """Handle the signals that tests send as a program in the foreground does."""
    for number in SENT:
        if signal.getsignal(number) is signal.SIG_IGN:
            default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, default)


def spawn(command: Any, **settings: Any) -> subprocess.Popen[Any]:
    """Start a process, which `end_processes` ends at the latest."""
    process = subprocess.Popen(command, **settings)
    _started.append(process)
    return process


def end_processes() -> None:
    """Kill the processes that a test started and did not end, and the groups that they lead."""
    while _started:
        process = _started.pop()
        if process.poll() is not None:
            continue
        with suppress(ProcessLookupError):
            if os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def wait_until(condition: Callable[[], bool]) -> bool:
    """Wait until a condition is true. Return False if it is not after a long time."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
