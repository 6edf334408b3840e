"""Fixtures: one small cluster of each engine for all tests of a process."""

import os
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from boostkmeans._sharded.backend import LocalBackend
from boostkmeans.distributed._engines.dask_backend import DaskBackend
from boostkmeans.distributed._engines.ray_backend import RayBackend
from processes import PATIENCE

N_WORKERS = 2
ENGINES = ("dask", "ray")


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """Start two worker processes, and return a client that is not the default one.

    A task may kill one worker: the second death is an error.
    """
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
            scheduler_kwargs={"allowed_failures": 1},
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def local_ray() -> Iterator[Any]:
    """Start Ray with two CPUs, and return the module."""
    ray = pytest.importorskip("ray")
    # Workers import functions from the tests.
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), RAY_USAGE_STATS_ENABLED="0"):
        ray.init(
            address="local", num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False,
            object_store_memory=2**28, logging_level="error",
        )  # fmt: skip
    yield ray
    ray.shutdown()


@pytest.fixture
def dask_backend(dask_client: Any) -> Iterator[DaskBackend]:
    # A worker that an earlier test has killed returns. Without workers, a task would wait for ever.
    dask_client.wait_for_workers(N_WORKERS, timeout=PATIENCE)
    backend = DaskBackend(dask_client)
    yield backend
    backend.close()


@pytest.fixture
def ray_backend(local_ray: Any) -> Iterator[RayBackend]:
    backend = RayBackend()
    yield backend
    backend.close()


@pytest.fixture
def local_backend() -> Iterator[LocalBackend]:
    backend = LocalBackend(N_WORKERS)
    yield backend
    backend.close()


@pytest.fixture(params=ENGINES)
def backend(request: pytest.FixtureRequest) -> Any:
    """Run the test on Dask and on Ray."""
    return request.getfixturevalue(f"{request.param}_backend")
