"""Ray on this machine: one node with several workers, or several nodes that tests can kill."""

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import psutil

from process_tags import end_group, start_process
from processes import wait_until

OBJECT_STORE_BYTES = 2**27
# Titles of processes that run no task. Ray ends a node whose agents die.
WITHOUT_TASK = ("ray::IDLE", "ray::DashboardAgent", "ray::RuntimeEnvAgent")


@contextmanager
def ray_workers(n_workers: int, **environment: str) -> Iterator[Any]:
    """Start Ray with one node on which a number of tasks run at the same time."""
    import ray

    with _environment(**environment):
        ray.init(
            address="local", num_cpus=n_workers, include_dashboard=False, log_to_driver=False,
            object_store_memory=OBJECT_STORE_BYTES, logging_level="error",
        )  # fmt: skip
        try:
            yield ray
        finally:
            ray.shutdown()


class RayNodes:
    """A head node that runs the driver but no tasks, and nodes with one CPU each."""

    def __init__(self, n_nodes: int) -> None:
        import ray
        from ray.cluster_utils import Cluster

        self._ray = ray
        self._cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        try:
            self.nodes = [self.add() for _ in range(n_nodes)]
            ray.init(address=self._cluster.address, log_to_driver=False, logging_level="error")
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        """Address for drivers in other processes."""
        return str(self._cluster.address)

    def add(self, **options: Any) -> Any:
        """Start a node, and wait until the cluster knows it."""
        return self._cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE_BYTES, **options)

    def kill(self, node: Any) -> None:
        """End all processes of a node by SIGKILL."""
        self._cluster.remove_node(node, allow_graceful=False)

    def close(self) -> None:
        """End all processes."""
        self._ray.shutdown()
        self._cluster.shutdown()

    def __enter__(self) -> "RayNodes":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@contextmanager
def ray_nodes(n_nodes: int, **environment: str) -> Iterator[RayNodes]:
    """Start Ray with several nodes on this machine."""
    with _environment(**environment), RayNodes(n_nodes) as nodes:
        yield nodes


class RayProcesses:
    """A head without CPUs and nodes at given addresses, each in a process group of its own."""

    def __init__(self, folder: Path, host: str) -> None:
        """Start the head, and connect this process to it."""
        import ray

        folder.mkdir(parents=True, exist_ok=True)
        self._ray, self._folder, self._host = ray, folder, host
        self._groups: list[Any] = []
        try:
            self.address = f"{host}:{free_port(host)}"
            port = self.address.partition(":")[2]
            self._start("head", host, "--head", "--port", port, "--include-dashboard=false", n_cpus=0)
            assert wait_until(self._connect), "the head did not start"
        except BaseException:
            self.close()
            raise

    def add(self, address: str, prefix: Sequence[str] = ()) -> None:
        """Start a node with one CPU, and wait until the cluster knows it."""
        before = self.n_alive()
        self._start(address, address, "--address", self.address, prefix=prefix)
        assert wait_until(lambda: self.n_alive() > before), "the node did not start"

    def n_alive(self) -> int:
        """Return the number of nodes that the cluster considers alive."""
        return sum(bool(one["Alive"]) for one in self._ray.nodes())

    def close(self) -> None:
        """End all processes."""
        self._ray.shutdown()
        for process in self._groups:
            end_group(process)

    def _start(
        self, name: str, address: str, *options: str, n_cpus: int = 1, prefix: Sequence[str] = ()
    ) -> None:
        self._groups.append(
            start_process(
                [*prefix, str(Path(sys.executable).with_name("ray")), "start", "--block",
                 "--node-ip-address", address, "--num-cpus", str(n_cpus), "--disable-usage-stats",
                 "--object-store-memory", str(OBJECT_STORE_BYTES), *options],
                self._folder / f"{name}.log", {},
            )
        )  # fmt: skip

    def _connect(self) -> bool:
        try:
            self._ray.init(
                address=self.address, log_to_driver=False, logging_level="error",
                _node_ip_address=self._host,
            )  # fmt: skip
        except ConnectionError:
            return False
        return True

    def __enter__(self) -> "RayProcesses":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def free_port(host: str) -> int:
    """Return a port of an address that nothing listens at."""
    with socket.create_server((host, 0)) as server:
        return int(server.getsockname()[1])


def busy_workers() -> list[int]:
    """Return the processes of Ray under this process that run a task."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            title = " ".join(process.cmdline())
        except psutil.Error:
            continue
        if title.startswith("ray::") and not title.startswith(WITHOUT_TASK):
            found.append(process.pid)
    return found


@contextmanager
def _environment(**more: str) -> Iterator[None]:
    path = os.pathsep.join(filter(None, sys.path))
    values = {"PYTHONPATH": path, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": "", **more}
    with mock.patch.dict(os.environ, values):
        yield
