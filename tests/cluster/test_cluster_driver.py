"""Drivers that are killed or interrupted: the cluster stays usable, and the fit resumes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dask_processes import DaskProcesses
from expected_labels import check_equal, configuration
from process_tags import end_group
from ray_processes import RayNodes, ray_nodes
from tally import TALLY

pytest_plugins = ("cluster_suite",)
DRIVER = Path(__file__).with_name("driver.py")
MANY_ROUNDS = configuration("many rounds")
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

    def __init__(self, place: Place, checkpoint: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(DRIVER), place.name, place.address, MANY_ROUNDS.name, str(checkpoint)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        self.printed: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed.append(line)
            if sum(one.startswith("round") for one in self.printed) >= N_ROUNDS and checkpoint.exists():
                return
        pytest.fail("The driver ended early.\n" + "".join(self.printed))

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
