"""Fixtures: one small cluster of each engine for all tests of a process."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from unittest import mock

import pytest

from boostkmeans._sharded.backend import LocalBackend
from boostkmeans.distributed._engines.dask_backend import DaskBackend
from boostkmeans.distributed._engines.ray_backend import RayBackend

N_WORKERS = 2
ENGINES = ("dask", "ray")
# Seconds after which a worker that a test has killed is given up. It usually returns after two.
RETURN_SECONDS = 60.0
# Seconds for the end of its processes. After a failed start of a worker, it would take for ever.
CLOSE_SECONDS = 30.0


class DaskClusterOfTests:
    """A Dask cluster with two worker processes. It is replaced if a killed worker does not return.

    Dask gives up a worker that dies while it starts. Without workers, a task would wait for ever.
    """

    def __init__(self) -> None:
        """Start the cluster. A task may kill one worker: the second death is an error."""
        import distributed

        self._cluster = distributed.LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
            scheduler_kwargs={"allowed_failures": 1},
        )
        self.client = distributed.Client(self._cluster, set_as_default=False)

    def repaired(self) -> "DaskClusterOfTests":
        """Return this cluster, or a new one if a worker is missing."""
        try:
            self.client.wait_for_workers(N_WORKERS, timeout=RETURN_SECONDS)
        except TimeoutError:
            self.close()
            return DaskClusterOfTests()
        return self

    def close(self) -> None:
        """End the processes. A cluster that waits for a worker that never started is left to its end."""
        for part in (self.client, self._cluster):
            with suppress(TimeoutError):
                part.close(timeout=CLOSE_SECONDS)


@pytest.fixture(scope="session")
def dask_clusters() -> Iterator[list[DaskClusterOfTests]]:
    """Return a list with the cluster of this process, which a test may replace."""
    pytest.importorskip("distributed")
    clusters = [DaskClusterOfTests()]
    yield clusters
    clusters[0].close()


@pytest.fixture
def dask_client(dask_clusters: list[DaskClusterOfTests]) -> Any:
    """Return a client that is not the default one. All workers of its cluster run."""
    dask_clusters[0] = dask_clusters[0].repaired()
    return dask_clusters[0].client


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
