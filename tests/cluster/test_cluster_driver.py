"""Drivers that are killed or interrupted: the cluster stays usable, and the fit resumes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from dask_processes import DaskProcesses
from expected_labels import check_equal, configuration
from process_tags import end_group
from processes import wait_until
from ray_processes import RayNodes, ray_nodes
from tally import TALLY

pytest_plugins = ("cluster_suite",)
DRIVER = Path(__file__).with_name("driver.py")
MANY_ROUNDS = configuration("many rounds")
# Address of a cluster that the driver starts itself.
PRIVATE = "private"
# Rounds before the driver is stopped.
N_ROUNDS = 5
# Seconds in which Ctrl-C ends a driver. It waits for the end of tasks that run, and the interpreter
# closes its connections.
MAX_SECONDS_TO_STOP = 30.0


@dataclass
class Place:
    """A running cluster, or this machine without one."""

    name: str
    address: str
    engine: Any
    cluster: Any = None


@pytest.fixture(scope="module", params=["dask", "ray", "one process"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if request.param == "dask":
        with DaskProcesses(tmp_path_factory.mktemp("dask"), 2) as dask:
            yield Place("dask", dask.address, dask.client, dask)
    elif request.param == "ray":
        with ray_nodes(2) as ray:
            yield Place("ray", ray.address, "ray", ray)
    else:
        yield Place("one process", "-", None)


class Driver:
    """A driver process that fits with a checkpoint."""

    def __init__(self, place: Place, checkpoint: Path, *, wait_for_rounds: bool = True) -> None:
        """Start the driver, and wait for its first rounds."""
        self.process = subprocess.Popen(
            [sys.executable, str(DRIVER), place.name, place.address, MANY_ROUNDS.name, str(checkpoint)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        self.printed: list[str] = []
        if wait_for_rounds:
            self._wait_for_rounds(checkpoint)

    def _wait_for_rounds(self, checkpoint: Path) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed.append(line)
            if sum(one.startswith("round") for one in self.printed) >= N_ROUNDS and checkpoint.exists():
                return
        pytest.fail("The driver ended early.\n" + "".join(self.printed))

    def started(self) -> list[psutil.Process]:
        """Return the processes of its own cluster, which share its process group."""
        found: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
        return found

    def wait(self) -> str:
        """Wait for the end, and return the rest of its output."""
        assert self.process.stdout is not None
        rest = self.process.stdout.read()
        self.process.wait()
        return rest

    def __enter__(self) -> "Driver":
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.process.stdout is not None
        end_group(self.process)
        self.process.stdout.close()


def check_resumes(place: Place, checkpoint: Path, event: str) -> None:
    """Fit again from the checkpoint, on the same cluster. Only the rest of the rounds runs."""
    records: list[Any] = []
    found = MANY_ROUNDS.outcome(place.engine, checkpoint=checkpoint, callback=records.append)
    check_equal(MANY_ROUNDS.name, f"{place.name}, driver {event}", found)
    assert 0 < len(records) < len(found.kinds), "the fit did not resume"


def test_a_killed_driver_resumes(place: Place, tmp_path: Path) -> None:
    checkpoint = tmp_path / "fit.checkpoint"
    with Driver(place, checkpoint) as driver:
        os.kill(driver.process.pid, signal.SIGKILL)
        assert "\nlabels" not in driver.wait()
    TALLY.kills["drivers"] += 1
    check_resumes(place, checkpoint, "killed")


def test_ctrl_c_ends_the_driver_and_leaves_the_cluster(place: Place, tmp_path: Path) -> None:
    checkpoint = tmp_path / "fit.checkpoint"
    with Driver(place, checkpoint) as driver:
        began = time.monotonic()
        os.kill(driver.process.pid, signal.SIGINT)
        rest = driver.wait()
        seconds = time.monotonic() - began
        assert "KeyboardInterrupt" in rest
        assert "\nlabels" not in rest
        assert driver.process.returncode != 0
    TALLY.seconds[f"end of a driver on {place.name} after Ctrl-C"] = seconds
    assert seconds < MAX_SECONDS_TO_STOP
    check_idle(place)
    check_resumes(place, checkpoint, "interrupted")


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_ctrl_c_on_a_terminal_ends_a_private_cluster(engine: str, tmp_path: Path) -> None:
    """A terminal sends SIGINT to the driver and to all processes that it has started."""
    checkpoint = tmp_path / "fit.checkpoint"
    with Driver(Place(engine, PRIVATE, engine), checkpoint) as driver:
        check_group_ends(driver, f"private {engine}")
    check_resumes(Place(f"private {engine}", "-", None), checkpoint, "interrupted by a terminal")


# Part of the command line of a process that starts last.
LAST_PROCESS = {"dask": "spawn_main", "ray": "raylet"}


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_ctrl_c_on_a_terminal_while_a_private_cluster_starts(engine: str, tmp_path: Path) -> None:
    place = Place(engine, PRIVATE, engine)
    with Driver(place, tmp_path / "fit.checkpoint", wait_for_rounds=False) as driver:
        name = LAST_PROCESS[engine]
        assert wait_until(lambda: any(name in command_line(one) for one in driver.started()))
        check_group_ends(driver, f"private {engine} at its start")


def check_group_ends(driver: Driver, where: str) -> None:
    """Send SIGINT to the process group of a driver. It ends, with its cluster and without noise."""
    started = driver.started()
    began = time.monotonic()
    os.killpg(driver.process.pid, signal.SIGINT)
    hang = threading.Timer(MAX_SECONDS_TO_STOP, end_group, [driver.process])
    hang.start()
    rest = driver.wait()
    hang.cancel()
    seconds = time.monotonic() - began
    assert rest.rstrip().endswith("KeyboardInterrupt"), rest
    assert rest.count("Traceback") == 1, rest
    assert "\nlabels" not in rest
    TALLY.seconds[f"end of a driver on {where} after Ctrl-C"] = seconds
    assert seconds < MAX_SECONDS_TO_STOP
    _, alive = psutil.wait_procs(started, timeout=MAX_SECONDS_TO_STOP)
    assert not [command_line(one) for one in alive]


def command_line(process: psutil.Process) -> str:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def check_idle(place: Place) -> None:
    """Raise unless the cluster forgets the tasks of a driver that has ended."""
    if isinstance(place.cluster, DaskProcesses):
        deadline = time.monotonic() + MAX_SECONDS_TO_STOP
        while n_tasks(place.cluster) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert n_tasks(place.cluster) == 0
    elif isinstance(place.cluster, RayNodes):
        import ray

        assert ray.get(ray.remote(n_letters).remote("abc"), timeout=MAX_SECONDS_TO_STOP) == 3


def n_letters(text: str) -> int:
    """Return the length of a text, as a task."""
    return len(text)


def n_tasks(cluster: DaskProcesses) -> int:
    """Return the number of tasks that the scheduler knows."""
    return int(cluster.client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))
