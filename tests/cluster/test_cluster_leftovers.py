"""A suite that fails or is killed leaves no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from process_tags import TAG, end_group, end_tagged, tagged, wait_until_ended

pytest_plugins = ("cluster_suite",)
HERE = Path(__file__).parent
FAILING = """
import os, time
import ray
from dask_processes import DaskProcesses
from ray_processes import ray_workers

pytest_plugins = ("cluster_suite",)


def test_fails_on_dask(tmp_path):
    cluster = DaskProcesses(tmp_path, 1)  # never closed
    assert cluster.client.submit(len, "abc").result() == 3
    print("dask runs", flush=True)
    WAIT
    raise AssertionError


def test_fails_on_ray():
    manager = ray_workers(1)
    manager.__enter__()  # never left
    assert ray.get(ray.remote(lambda: 3).remote()) == 3
    print("ray runs", flush=True)
    WAIT
    raise AssertionError
"""


def run_suite(folder: Path, wait: str, name: str) -> "subprocess.Popen[str]":
    """Run a failing test in a process of its own."""
    (folder / "test_failing.py").write_text(FAILING.replace("WAIT", wait))
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", "-k", name,
         "-c", str(HERE.parents[1] / "pyproject.toml"), "--rootdir", str(folder),
         "-o", f"pythonpath={HERE} {HERE.parent}", str(folder / "test_failing.py")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip


def started_by(process: "subprocess.Popen[str]") -> set[str]:
    """Return the tags of all processes below a process."""
    import psutil

    tags = set()
    for child in psutil.Process(process.pid).children(recursive=True):
        try:
            tags.add(child.environ().get(TAG, ""))
        except psutil.Error:
            continue
    return tags - {""}


@pytest.mark.parametrize("engine", ["dask", "ray"])
@pytest.mark.parametrize("end", ["failure", "SIGKILL"])
def test_nothing_is_left(engine: str, end: str, tmp_path: Path, tag: str) -> None:
    # The test waits for a file, so that its processes can be counted.
    mark = tmp_path / "continue"
    wait = f"while not os.path.exists({str(mark)!r}): time.sleep(0.05)"
    process = run_suite(tmp_path, wait, f"fails_on_{engine}")
    own: set[str] = set()
    try:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if f"{engine} runs" in line:
                break
        else:
            pytest.fail(printed)
        own = started_by(process) - {tag}
        assert len(own) == 1
        assert tagged(next(iter(own)))
        if end == "SIGKILL":
            os.kill(process.pid, signal.SIGKILL)
        else:
            mark.touch()
            assert "1 failed" in process.stdout.read()
        process.wait()
        left = wait_until_ended(next(iter(own)))
        assert not left, [" ".join(one.cmdline()) for one in left]
    finally:
        end_group(process)
        if process.stdout is not None:
            process.stdout.close()
        for one in own:
            end_tagged(one)


def test_the_search_finds_processes(tag: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    try:
        deadline = time.monotonic() + 30
        while process.pid not in [one.pid for one in tagged(tag)] and time.monotonic() < deadline:
            time.sleep(0.05)
        assert process.pid in [one.pid for one in tagged(tag)]
    finally:
        process.kill()
        process.wait()
