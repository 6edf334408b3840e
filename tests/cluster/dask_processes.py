"""A Dask cluster whose scheduler and workers are processes that tests can kill, cut off and add."""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from process_tags import end_group, start_process

# A process on a busy machine needs many seconds to import everything.
MAX_SECONDS_TO_START = 300.0
# By default, Dask gives up on a task after the death of its fourth worker. Tests kill more.
MANY_FAILURES = 100
SCHEDULER_FILE = "scheduler.json"


class DaskProcesses:
    """A scheduler and named workers, each in a process group of its own."""

    def __init__(
        self,
        folder: Path,
        n_workers: int = 0,
        *,
        allowed_failures: int = MANY_FAILURES,
        host: str = "127.0.0.1",
        nanny: bool = True,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Start the scheduler and some workers. `settings` are environment variables."""
        import distributed

        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._environment = {
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures),
            **(settings or {}),
        }
        self._groups: dict[str, Any] = {}
        try:
            self._groups["scheduler"] = start_process(
                [sys.executable, "-m", "dask", "scheduler", "--host", host, "--port", "0",
                 "--no-dashboard", "--scheduler-file", str(folder / SCHEDULER_FILE)],
                folder / "scheduler.log", self._environment,
            )  # fmt: skip
            self.address = self._scheduler_address()
            self.client = distributed.Client(
                self.address, set_as_default=False, timeout=MAX_SECONDS_TO_START
            )
            for number in range(n_workers):
                self.start_worker(f"w{number}", nanny=nanny)
            if n_workers:
                self.wait_for_workers(n_workers)
        except BaseException:
            self.close()
            raise

    def start_worker(
        self,
        name: str,
        *,
        nanny: bool = True,
        options: Sequence[str] = ("--memory-limit", "0"),
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start a worker with one thread. With a nanny, a worker that dies is replaced."""
        self._groups[name] = start_process(
            [*prefix, sys.executable, "-m", "dask", "worker", self.address, "--name", name,
             "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder),
             "--nanny" if nanny else "--no-nanny", *options],
            self.folder / f"{name}.log", {**self._environment, **(environment or {})},
        )  # fmt: skip

    def workers(self) -> list[str]:
        """Return the names of the workers that the scheduler knows."""

        def names(dask_scheduler: Any) -> list[str]:
            return [str(one.name) for one in dask_scheduler.workers.values()]

        found: list[str] = self.client.run_on_scheduler(names)
        return found

    def wait_for_workers(self, n_workers: int) -> None:
        """Wait until the scheduler knows a number of workers."""
        self.client.wait_for_workers(n_workers, timeout=MAX_SECONDS_TO_START)

    def n_executed(self) -> dict[str, int]:
        """Return the number of tasks that each worker has executed."""

        def count(dask_worker: Any) -> tuple[str, int]:
            return str(dask_worker.name), int(dask_worker.state.executed_count)

        return dict(self.client.run(count).values())

    def pids(self) -> list[int]:
        """Return the processes that run tasks, of all workers that the scheduler knows."""
        found = (self.pid(name) for name in self.workers())
        return [pid for pid in found if pid is not None]

    def pid(self, name: str) -> int | None:
        """Return the process of a worker; None while there is none."""
        group = int(self._groups[name].pid)
        if not self._has_nanny(name):
            return group
        try:
            children = psutil.Process(group).children()
            return next(int(one.pid) for one in children if "spawn_main" in " ".join(one.cmdline()))
        except (psutil.Error, StopIteration):
            return None

    def kill_worker(self, name: str) -> None:
        """End a worker without a nanny by SIGKILL."""
        os.kill(self._groups[name].pid, signal.SIGKILL)

    def close(self) -> None:
        """End all processes."""
        if hasattr(self, "client"):
            self.client.close(timeout=1)
        for process in self._groups.values():
            end_group(process)

    def log(self, name: str) -> str:
        """Return what a process has printed."""
        return (self.folder / f"{name}.log").read_text()

    def _has_nanny(self, name: str) -> bool:
        return "--no-nanny" not in self._groups[name].args

    def _scheduler_address(self) -> str:
        path = self.folder / SCHEDULER_FILE
        deadline = time.monotonic() + MAX_SECONDS_TO_START
        while time.monotonic() < deadline:
            if self._groups["scheduler"].poll() is not None:
                break
            try:
                return str(json.loads(path.read_text())["address"])
            except (FileNotFoundError, json.JSONDecodeError):
                time.sleep(0.05)
        raise RuntimeError(f"The scheduler did not start.\n{self.log('scheduler')}")

    def __enter__(self) -> "DaskProcesses":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
