"""Processes that tests start, and their end: an environment variable marks all of them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

TAG = "BOOSTKMEANS_TEST_CLUSTER"
# Seconds in which processes that received SIGKILL disappear.
MAX_SECONDS_TO_END = 30.0
# The process dies with its parent, even if the parent receives SIGKILL.
LAUNCHER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent has ended")
os.execvp(sys.argv[2], sys.argv[2:])
"""


def start_process(
    command: Sequence[str], log: Path, environment: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    """Start a process in a process group of its own. It ends with this process at the latest.

    Call this from the main thread: the process ends with the thread that starts it.
    """
    launcher = [sys.executable, "-c", LAUNCHER, str(os.getpid())]
    with log.open("ab") as output:
        return subprocess.Popen(
            [*launcher, *command],
            stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env={**os.environ, **environment}, start_new_session=True,
        )  # fmt: skip


def end_group(process: "subprocess.Popen[Any]") -> None:
    """Kill a process and its group, and wait for the end of the process."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def tagged(tag: str) -> list[psutil.Process]:
    """Return all processes with a tag in their environment, and their descendants, except this one."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        try:
            if process.environ().get(TAG) == tag and process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = process
                found.update({child.pid: child for child in process.children(recursive=True)})
        except psutil.Error:  # it has ended, or belongs to another user
            continue
    found.pop(os.getpid(), None)
    return [one for one in found.values() if one.status() != psutil.STATUS_ZOMBIE]


def end_tagged(tag: str) -> list[str]:
    """Kill all processes with a tag, and return what they were."""
    left = tagged(tag)
    names = []
    for process in left:
        try:
            names.append(" ".join(process.cmdline())[:200])
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(left, timeout=MAX_SECONDS_TO_END)
    return names


def wait_until_ended(tag: str, seconds: float = MAX_SECONDS_TO_END) -> list[psutil.Process]:
    """Wait until no process has the tag, and return those that are left after some seconds."""
    deadline = time.monotonic() + seconds
    while (left := tagged(tag)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left
