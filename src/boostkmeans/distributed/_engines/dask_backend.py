"""Tasks on a Dask cluster."""

import logging
import operator
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.version import VERSION
from boostkmeans.distributed._engines.errors import ClusterError, died_error, missing_package_error
from boostkmeans.distributed._engines.packages import import_engine
from boostkmeans.distributed._engines.private_dask import PrivateCluster, start_private_cluster
from boostkmeans.distributed._engines.workers import (
    Report,
    common_instruction_sets,
    run_task,
    worker_probe,
)

logger = logging.getLogger("boostkmeans")

# Priority of tasks without rows, such as sums. They free the results of tasks with rows, whose priority
# is 0, so a worker with several shards needs less memory if they run first.
PRIORITY_OF_SUMS = 1
# Part of a key between the name of the function and the block. Dashboards group tasks by the part of the
# key before a hyphen and a space.
SEPARATOR = "- "


@dataclass(frozen=True)
class Part:
    """One of several results of a task.

    A task that needs it gets the whole tuple. To separate it first would be a task of its own, which
    takes longer to schedule than to transfer the other results.
    """

    whole: Any
    """Future of the tuple."""
    place: int
    block: str
    """Name of the block of rows that the task concerns, or an empty string."""


def run_with_parts(places: tuple[int | None, ...], *call: Any) -> Any:
    """Run a task on a worker. Arguments with a place are tuples of which it needs one item."""
    expected, isa, function, *args = call
    chosen = (arg if place is None else arg[place] for arg, place in zip(args, places, strict=True))
    return run_task(expected, isa, function, *chosen)


class DaskBackend:
    """Tasks on the cluster of a Dask client.

    Results stay on the workers until the last reference to them is garbage. No task is pinned to a
    worker and nothing is scattered, so the scheduler can compute every lost result again, on any worker.
    """

    name = "dask"
    has_lineage = True

    def __init__(self, client: Any, *, is_private: bool = False) -> None:
        """Use a client.

        Parameters
        ----------
        client : distributed.Client or None
            A synchronous client. None stands for a cluster on this machine, with one single-threaded
            worker process per available CPU. It starts with the first task.
        is_private : bool, default=False
            True if `close` closes the client. All results on the workers end with it.
        """
        if client is not None and client.asynchronous:
            raise ParameterError("engine", "a synchronous client (asynchronous=False)", client)
        self._client = client
        self._cluster: PrivateCluster | None = None
        self.is_private = is_private or client is None
        self._futures: WeakSet[Any] = WeakSet()
        self._block_names: dict[Any, str] = {}
        self._instruction_sets: list[str] | None = None

    @classmethod
    def from_running(cls) -> "DaskBackend | None":
        """Use the client of this thread or process; return None if there is none."""
        distributed = import_engine("dask")
        try:
            return cls(distributed.get_client())
        except ValueError:  # no client and no worker
            return None

    @property
    def client(self) -> Any:
        """Return the client, or raise ClusterError if it is closed."""
        if self._client is None:
            self._start()
        if self._client.status != "running":
            raise ClusterError(
                f"The Dask client is {self._client.status}. Connect a new client, and fit again."
            )
        return self._client

    def submit(
        self, function: Callable[..., Any], *args: Any, n_results: int = 1, isa: str | None = None
    ) -> Any:
        """See `Backend`."""
        places = tuple(arg.place if isinstance(arg, Part) else None for arg in args)
        args = tuple(arg.whole if isinstance(arg, Part) else arg for arg in args)
        block = self._block_of(args)
        future = self._submit(
            run_with_parts,
            places,
            VERSION,
            isa,
            function,
            *args,
            key=_key(function.__name__, block),
            priority=0 if block else PRIORITY_OF_SUMS,
        )
        if n_results == 1:
            return future
        return [Part(future, i, block) for i in range(n_results)]

    def spread(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """See `Backend`. All tasks are sent at once, so each goes to a worker that has the fewest.

        One by one, each would go where it can start first, depending on the time. The shards of a wave
        could then all be on one worker, while the others wait. To name workers is no alternative: the
        tasks wait for ever if all workers die and others start.
        """
        n = len(arguments)
        futures = self.client.map(
            run_with_parts,
            [(None,) * len(one) for one in arguments],
            [VERSION] * n,
            [None] * n,
            [function] * n,
            *map(list, zip(*arguments, strict=True)),
            # Each key is a group of its own: Dask queues the tasks of large groups.
            key=[(_key(function.__name__, ""), 0) for _ in range(n)],
            priority=PRIORITY_OF_SUMS,
            pure=False,
        )
        self._futures.update(futures)
        return list(futures)

    def keep(self, reference: Any) -> Any:
        """See `Backend`."""
        if not isinstance(reference, Part):
            return reference
        return self._submit(
            operator.getitem,
            reference.whole,
            reference.place,
            key=_key("getitem", reference.block),
            priority=PRIORITY_OF_SUMS,
        )

    def compute(self, collections: list[Any]) -> list[Any]:
        """Compute Dask collections, and return one future for each.

        `close` does not cancel them: the user may have persisted the same keys.
        """
        return list(self.client.compute(collections))

    def name_blocks(self, references: Sequence[Any], names: Sequence[str]) -> None:
        """Set the names of blocks of rows, which errors of tasks mention."""
        keys = (future.key for future in references)
        self._block_names.update(zip(keys, names, strict=True))

    def get(self, references: Sequence[Any]) -> list[Any]:
        """See `Backend`. The first error of any task is raised at once."""
        from distributed.scheduler import KilledWorker

        try:
            return list(self.client.gather([self.keep(one) for one in references]))
        except KilledWorker as error:
            raise died_error(
                self._describe(error.task),
                f"{error.allowed_failures + 1} Dask workers died while they ran the same task, the last "
                f"one at {error.last_worker.address}.",
                error.last_worker.memory_limit,
            ) from error
        except CancelledError as error:
            raise ClusterError(
                f"Results on the Dask cluster are lost ({error}). Either the connection was closed or "
                "the cluster restarted, or X contains scattered data, which Dask cannot compute again."
            ) from error
        except ModuleNotFoundError as error:
            raise missing_package_error(error, VERSION) or error from None

    def instruction_sets(self) -> list[str]:
        """Check the versions on all workers, and return the instruction sets that all support."""
        if self._instruction_sets is None:
            self._instruction_sets = common_instruction_sets(self._reports())
        return self._instruction_sets

    def close(self) -> None:
        """See `Backend`."""
        if self._client is None:
            return
        # The tasks of a private cluster end with it.
        if self._client.status == "running" and not self.is_private:
            pending = [future for future in self._futures if future.status == "pending"]
            if pending:
                self._client.cancel(pending)
        self._futures.clear()
        if self._cluster is not None:
            self._cluster.close()
        elif self.is_private:
            self._client.close()

    def _start(self) -> None:
        """Start a cluster of our own."""
        self._cluster = start_private_cluster()
        self._client = self._cluster.client

    def _submit(self, function: Callable[..., Any], *args: Any, key: str, priority: int) -> Any:
        future = self.client.submit(function, *args, key=key, priority=priority, pure=False)
        self._futures.add(future)
        return future

    def _reports(self) -> dict[str, Report]:
        """Return the reports of all workers. Wait for the first worker, if there is none."""
        if not self.client.nthreads():
            logger.info("waiting for the first worker of the Dask cluster")
            self.client.submit(int, pure=False).result()  # makes adaptive clusters start workers
        answers = self.client.run(worker_probe(), on_error="return")
        # A worker that has just died answers with an OSError.
        reports = {one: answer for one, answer in answers.items() if not isinstance(answer, OSError)}
        for answer in reports.values():
            if isinstance(answer, Exception):
                raise answer
        return reports or self._reports()

    def _block_of(self, args: tuple[Any, ...]) -> str:
        """Return the name of the block among the arguments of a task, or an empty string."""
        future = import_engine("dask").Future
        keys = (arg.key for arg in args if isinstance(arg, future))
        return next((self._block_names[key] for key in keys if key in self._block_names), "")

    def _describe(self, key: Any) -> str:
        if key in self._block_names:
            return f"the reading of {self._block_names[key]}"
        name, *block = str(key).rpartition("-")[0].split(SEPARATOR, 1)
        return f"{name} of {block[0]}" if block else name or str(key)


def _key(function: str, block: str) -> str:
    """Return a unique key that shows which block of rows the task concerns."""
    return f"{function}{SEPARATOR if block else ''}{block}-{uuid.uuid4().hex}"
