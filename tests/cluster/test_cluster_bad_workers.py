"""Workers with another version of the library, or without enough memory: clear messages."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boostkmeans
from boostkmeans.distributed import BoostKMeans, open_shards
from boostkmeans.distributed._engines.errors import WorkerDiedError, WorkerVersionError
from dask_processes import DaskProcesses
from expected_labels import configuration
from ray_processes import ray_nodes, ray_workers

pytest_plugins = ("cluster_suite",)
OTHER_VERSION = "0.3.14"


def other_version(folder: Path) -> str:
    """Return a PYTHONPATH on which the library has another version."""
    package = folder / "other" / "boostkmeans"
    shutil.copytree(
        Path(boostkmeans.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    version = package / "_runtime" / "version.py"
    version.write_text(version.read_text().replace(boostkmeans.__version__, OTHER_VERSION))
    return os.pathsep.join([str(package.parent), *filter(None, sys.path)])


def check_versions(error: Exception) -> None:
    assert OTHER_VERSION in str(error)
    assert boostkmeans.__version__ in str(error)
    assert "Install" in str(error)


def test_dask_workers_with_another_version(folder: Path, tmp_path: Path) -> None:
    path = other_version(tmp_path)
    with DaskProcesses(folder, 1) as cluster:
        cluster.start_worker("other", environment={"PYTHONPATH": path})
        cluster.wait_for_workers(2)
        with pytest.raises(WorkerVersionError) as caught:
            configuration("few clusters").fit(cluster.client)
    check_versions(caught.value)
    assert "tcp://" in str(caught.value)


def test_a_late_dask_worker_with_another_version(folder: Path, tmp_path: Path) -> None:
    path = other_version(tmp_path)
    with DaskProcesses(folder, 1, nanny=False) as cluster:

        def replace_worker(record: Any) -> None:
            if record.kind == "start":
                cluster.start_worker("other", environment={"PYTHONPATH": path})
                cluster.wait_for_workers(2)
                cluster.kill_worker("w0")

        with pytest.raises(WorkerVersionError) as caught:
            configuration("few clusters").fit(cluster.client, callback=replace_worker)
    check_versions(caught.value)


def test_ray_nodes_with_another_version(tmp_path: Path) -> None:
    path = other_version(tmp_path)
    with ray_nodes(1) as cluster:
        cluster.add(env_vars={"PYTHONPATH": path})
        with pytest.raises(WorkerVersionError) as caught:
            configuration("few clusters").fit("ray")
    check_versions(caught.value)


def test_a_dask_worker_that_runs_out_of_memory(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.npy"
    np.lib.format.open_memmap(path, "w+", np.uint8, (2_500_000, 256))  # 610 MiB without content
    shards = open_shards(path, max_shard_bytes="1GB")
    with DaskProcesses(folder, allowed_failures=1) as cluster:
        cluster.start_worker("small", options=("--memory-limit", "450MiB"))
        cluster.wait_for_workers(1)
        with pytest.raises(WorkerDiedError) as caught:
            BoostKMeans(2, engine=cluster.client).fit(shards)
    assert "large.npy" in str(caught.value)
    assert "450 MiB" in str(caught.value)
    assert "smaller shards" in str(caught.value)


def test_a_ray_node_that_runs_out_of_memory() -> None:
    """The memory monitor kills tasks above a share of the machine's memory that is always used."""
    limits = {
        "RAY_memory_usage_threshold": "0.001",
        "RAY_memory_monitor_refresh_ms": "100",
        "RAY_task_oom_retries": "1",
    }
    with ray_workers(1, **limits), pytest.raises(WorkerDiedError) as caught:
        configuration("few clusters").fit("ray")
    assert "memory" in str(caught.value)
    assert "smaller shards" in str(caught.value)
