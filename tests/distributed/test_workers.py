"""The check of the versions and instruction sets of workers."""

import pickle
from typing import Any

import cloudpickle
import pytest

import boostkmeans
from boostkmeans._runtime.progress import visible_log
from boostkmeans.distributed._engines.dask_backend import DaskBackend
from boostkmeans.distributed._engines.errors import ClusterError, WorkerVersionError, died_error
from boostkmeans.distributed._engines.ray_backend import RayBackend
from boostkmeans.distributed._engines.workers import common_instruction_sets, run_task, worker_probe
from conftest import run_python

pytest_plugins = ("cluster_fixtures",)

VERSION = boostkmeans.__version__


def report(**changes: Any) -> dict[str, Any]:
    return {"version": VERSION, "problem": "", "instruction_sets": ["a", "b"], **changes}


@pytest.mark.slow
@pytest.mark.process
def test_workers_report_their_instruction_sets(backend: Any) -> None:
    assert backend.instruction_sets() == boostkmeans.instruction_sets()


class EmptyCluster:
    """A client of Dask whose cluster has no worker until the first task."""

    asynchronous, status = False, "running"

    def __init__(self) -> None:
        self.events: list[str] = []

    def nthreads(self) -> dict[str, int]:
        return {}

    def submit(self, *args: Any, **options: Any) -> "EmptyCluster":
        self.events.append("task")
        return self

    def result(self) -> int:
        return 0

    def run(self, function: Any, on_error: str) -> dict[str, Any]:
        return {"tcp://a": function()}


def test_the_wait_for_the_first_worker_of_dask_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    client = EmptyCluster()
    with visible_log(1):
        assert DaskBackend(client).instruction_sets() == boostkmeans.instruction_sets()
    assert client.events == ["task"]
    assert "waiting for the first worker of the Dask cluster" in caplog.text


@pytest.mark.slow
@pytest.mark.process
def test_the_wait_for_the_first_node_of_ray_is_logged(
    ray_backend: RayBackend, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "nodes", list)
    with visible_log(1):
        assert ray_backend.instruction_sets() == boostkmeans.instruction_sets()
    assert "waiting for the first node of the Ray cluster" in caplog.text


def test_common_instruction_sets_keep_their_order() -> None:
    reports = {"x": report(instruction_sets=["a", "b", "c"]), "y": report(instruction_sets=["c", "a"])}
    assert common_instruction_sets(reports) == ["a", "c"]


def test_no_common_instruction_set_is_an_error() -> None:
    with pytest.raises(ClusterError, match=r"no instruction set in common. x: a, b; y: c\."):
        common_instruction_sets({"x": report(), "y": report(instruction_sets=["c"])})


def test_different_versions_are_listed() -> None:
    reports = {"tcp://a": report(), "tcp://b": report(version="0.1"), "tcp://c": report(version=None)}
    with pytest.raises(WorkerVersionError) as error:
        common_instruction_sets(reports)
    assert f"The driver has boostkmeans {VERSION}" in str(error.value)
    assert "tcp://b: boostkmeans 0.1; tcp://c: no boostkmeans" in str(error.value)
    assert "tcp://a" not in str(error.value)


def test_messages_escape_texts_of_workers() -> None:
    reports = {"tcp://a\x1b[2J": report(version=None, problem="\x1b]0;title\x07\nmore")}
    with pytest.raises(WorkerVersionError) as error:
        common_instruction_sets(reports)
    assert str(error.value).isprintable()
    assert "x1b[2J" in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    assert str(died_error("task\r", "\x9b31m", None)).isprintable()


def test_probe_runs_without_boostkmeans() -> None:
    code = f"""
import sys
sys.modules["boostkmeans"] = None
import pickle
print(pickle.loads({cloudpickle.dumps(worker_probe())!r})()["version"])
"""
    result = run_python(code)
    assert result.stdout.strip() == "None", result.stderr


def test_probe_runs_with_a_version_without_our_modules() -> None:
    code = f"""
import sys, types
sys.modules["boostkmeans"] = old = types.ModuleType("boostkmeans")
old.__version__ = "0.1"
import pickle
print(pickle.loads({cloudpickle.dumps(worker_probe())!r})())
"""
    result = run_python(code)
    assert "'version': '0.1'" in result.stdout, result.stderr
    assert "not a package" in result.stdout


def test_late_workers_with_another_version_fail() -> None:
    assert run_task(VERSION, None, len, "abc") == 3
    with pytest.raises(WorkerVersionError, match=f"joined with boostkmeans {VERSION}"):
        run_task("0.1", None, len, "abc")
