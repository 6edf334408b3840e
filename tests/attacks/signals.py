"""Attacks by signals at random moments: on the command line, on saves and on fits with a checkpoint."""

import os
import random
import signal
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import crash
from attacks.files import folder
from boostkmeans import load_model
from boostkmeans.cli.app import app

SENT = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Exit code of an interrupted command.
INTERRUPTED = 130
# Longest time after which a signal is sent. The command takes about half as long.
MAX_SECONDS = 0.4


@cache
def rows() -> Path:
    """Write some rows."""
    path = folder() / "rows.npy"
    np.save(path, np.random.default_rng(0).normal(size=(3000, 8)))
    return path


def _run(function: Callable[[], Any], number: int, seconds: float) -> int:
    """Run a function in a fork, send a signal after some time, and return the exit code."""
    # A signal that arrives before its handler is set would end the process by the rules of the system.
    signal.pthread_sigmask(signal.SIG_BLOCK, SENT)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            for one in SENT:
                signal.signal(one, signal.default_int_handler)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SENT)
            function()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        except KeyboardInterrupt:
            code = INTERRUPTED
        finally:
            os._exit(code)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SENT)
    time.sleep(seconds)
    os.kill(child, number)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def interrupt_command(number: int) -> str:
    """Send a signal to `boostkmeans fit` while it reads, fits or writes four files."""
    rng = random.Random(number)
    out = folder() / "out"
    out.mkdir(exist_ok=True)
    for path in out.iterdir():
        path.unlink()
    (out / "m").write_bytes(b"old")
    command = ["fit", rows(), "-k", 30, "-o", out / "m", "--labels", out / "l.npy", "--centers",
               out / "c.npy", "--checkpoint", out / "state", "--force", "--threads", 1]  # fmt: skip
    code = _run(lambda: app(list(map(str, command))), SENT[number % 3], rng.uniform(0, MAX_SECONDS))
    left = {path.name for path in out.iterdir()}
    if code not in (0, INTERRUPTED):
        return f"exit code {code}"
    if not left <= {"m", "l.npy", "c.npy", "state"}:
        return f"files are left: {left}"
    if (out / "m").read_bytes() != b"old" and load_model(out / "m").n_clusters != 30:
        return "the model is not complete"
    if "l.npy" in left and np.load(out / "l.npy").shape != (3000,):
        return "the labels are not complete"
    return ""


def kill_save(number: int) -> str:
    """Kill a process that saves models."""
    try:
        place = folder() / "saves"
        place.mkdir(exist_ok=True)
        crash.kill_saves(1, place, seed=number)
        for path in place.iterdir():
            path.unlink()
    except AssertionError as error:
        return str(error) or "the file is not complete"
    return ""


def kill_fit(number: int) -> str:
    """Kill a fit with a checkpoint twice, and resume it."""
    try:
        place = folder() / f"fit-{number}"
        place.mkdir()
        crash.kill_fits(2, place, seed=number)
    except AssertionError as error:
        return str(error) or "the labels differ"
    return ""
