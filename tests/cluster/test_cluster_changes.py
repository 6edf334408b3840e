"""Workers that leave, join late, or are cut off from the network."""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dask_processes import DaskProcesses
from expected_labels import check_equal, configuration, expected
from tally import TALLY

pytest_plugins = ("cluster_suite",)
MANY_ROUNDS = configuration("many rounds")
CUT_OFF = Path(__file__).with_name("ray_cut_off.py")
# Seconds in which a fit continues without a worker that no longer answers.
MAX_SECONDS_OFF = 300.0


class AfterRounds:
    """A callback that calls a function after a number of rounds."""

    def __init__(self, n_rounds: int, function: Any) -> None:
        self.seen = 0
        self._n_rounds = n_rounds
        self._function = function

    def __call__(self, record: Any) -> None:
        self.seen += 1
        if self.seen == self._n_rounds:
            self._function()


def test_all_workers_but_one_die(folder: Path) -> None:
    with DaskProcesses(folder, 3, nanny=False) as cluster:

        def kill_two() -> None:
            cluster.kill_worker("w0")
            cluster.kill_worker("w2")

        found = MANY_ROUNDS.outcome(cluster.client, callback=AfterRounds(4, kill_two))
        assert cluster.workers() == ["w1"]
    TALLY.kills["workers on Dask that did not return"] += 2
    check_equal(MANY_ROUNDS.name, "dask, one of 3 workers left", found)


def test_a_worker_joins_late_and_takes_over(folder: Path) -> None:
    with DaskProcesses(folder, 1, nanny=False) as cluster:

        def add_worker() -> None:
            cluster.start_worker("late")
            cluster.wait_for_workers(2)

        def kill_first() -> None:
            cluster.kill_worker("w0")

        steps = (AfterRounds(3, add_worker), AfterRounds(6, kill_first))

        def after_round(record: Any) -> None:
            for step in steps:
                step(record)

        found = MANY_ROUNDS.outcome(cluster.client, callback=after_round)
        assert cluster.workers() == ["late"]
    TALLY.kills["workers on Dask that did not return"] += 1
    check_equal(MANY_ROUNDS.name, "dask, a late worker", found)


class Namespace:
    """A network namespace that is connected to this one by a pair of virtual devices."""

    name = f"bkm{os.getpid()}"
    outside, inside = "10.213.77.1", "10.213.77.2"

    def __init__(self) -> None:
        name = self.name
        _ip("netns", "add", name)
        try:
            _ip("link", "add", f"{name}o", "type", "veth", "peer", "name", f"{name}i")
            _ip("link", "set", f"{name}i", "netns", name)
            _ip("addr", "add", f"{self.outside}/24", "dev", f"{name}o")
            _ip("link", "set", f"{name}o", "up")
            self._ip_inside("addr", "add", f"{self.inside}/24", "dev", f"{name}i")
            self._ip_inside("link", "set", f"{name}i", "up")
            self._ip_inside("link", "set", "lo", "up")
        except BaseException:
            self.close()
            raise

    def cut(self) -> None:
        """Drop all packets, without an answer to either side."""
        self._ip_inside("link", "set", f"{self.name}i", "down")

    def close(self) -> None:
        """Remove the namespace and its devices."""
        subprocess.run(["ip", "link", "del", f"{self.name}o"], capture_output=True, check=False)
        _ip("netns", "del", self.name)

    def _ip_inside(self, *arguments: str) -> None:
        _ip("netns", "exec", self.name, "ip", *arguments)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    try:
        made = Namespace()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"network namespaces are not permitted here: {error}")
    yield made
    made.close()


def test_a_worker_is_cut_off_from_the_network(folder: Path, namespace: Namespace) -> None:
    with DaskProcesses(folder, host=namespace.outside) as cluster:
        cluster.start_worker("here", options=("--host", namespace.outside, "--memory-limit", "0"))
        cluster.start_worker(
            "there",
            options=("--host", namespace.inside, "--memory-limit", "0"),
            prefix=("ip", "netns", "exec", namespace.name),
        )
        cluster.wait_for_workers(2)
        began = 0.0

        def cut() -> None:
            nonlocal began
            assert cluster.n_executed()["there"] > 0
            namespace.cut()
            began = time.monotonic()

        found = MANY_ROUNDS.outcome(cluster.client, callback=AfterRounds(4, cut))
        seconds = time.monotonic() - began
        print(f"the fit ended {seconds:.0f} s after the cut")
    check_equal(MANY_ROUNDS.name, "dask, a worker cut off", found)
    TALLY.seconds["rest of a fit after a worker was cut off"] = seconds
    assert began
    assert seconds < MAX_SECONDS_OFF


def test_a_node_is_cut_off_from_the_network(folder: Path, namespace: Namespace) -> None:
    """All results are on the node that is cut off. Another one computes them again."""
    folder.mkdir()
    # Ray reads the token when it is imported, so the driver is a new process. The token is for this
    # cluster alone: `ray start` asks for one, and `ray.init` does not.
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": uuid.uuid4().hex * 2}
    result = subprocess.run(
        [sys.executable, str(CUT_OFF), str(folder), namespace.name, namespace.outside, namespace.inside],
        env={**os.environ, **token, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, timeout=2 * MAX_SECONDS_OFF, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["labels"] == expected(MANY_ROUNDS.name).labels
    assert found["n_alive"] == 2, "the fit did not need the node that was cut off"
    TALLY.count_equal(MANY_ROUNDS.name, "ray, a node cut off")
    TALLY.seconds["rest of a fit after a node of Ray was cut off"] = found["seconds"]
    assert found["seconds"] < MAX_SECONDS_OFF
