"""A Dask cluster whose scheduler and workers are processes of their own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

# Seconds in which a process starts on a busy machine, and in which it ends.
MAX_SECONDS_TO_START = 120.0
MAX_SECONDS_TO_END = 30.0


@contextmanager
def separate_cluster(folder: Path, n_workers: int, memory_limit: str) -> Iterator[tuple[Any, int]]:
    """Start a scheduler and single-threaded workers, and return a client and the scheduler's pid."""
    from distributed import Client

    where = folder / "scheduler.json"
    options = ["--no-dashboard", "--scheduler-file", str(where)]
    with ExitStack() as started:
        scheduler = started.enter_context(
            _process(folder, "scheduler", "--host", "127.0.0.1", "--port", "0", *options)
        )
        started.enter_context(
            _process(
                folder,
                "worker",
                "--nworkers",
                str(n_workers),
                "--nthreads",
                "1",
                "--memory-limit",
                memory_limit,
                "--local-directory",
                str(folder),
                *options,
            )
        )
        client = Client(scheduler_file=str(where), set_as_default=False, timeout=MAX_SECONDS_TO_START)
        with client:
            client.wait_for_workers(n_workers, timeout=MAX_SECONDS_TO_START)
            yield client, scheduler.pid


@contextmanager
def _process(folder: Path, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command of Dask in a process group of its own, which Ctrl-C in the driver does not reach."""
    # Workers import the functions of the benchmark.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with (folder / f"{arguments[0]}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True, env=environment,
        )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(MAX_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
