"""Backend: where the tasks of a sharded fit run. This module has the backend of a single process.

A task is a pure function of its arguments. Arguments may be references to the results of earlier tasks,
which the backend replaces by these results. A result that is lost can therefore be computed again.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, Protocol

from boostkmeans._runtime.instruction_set import (
    instruction_set,
    instruction_sets,
    using_instruction_set,
)

# Number of results that a task combines: a power of two. Scheduling a task takes a few milliseconds. A
# task needs the memory of all results that it combines.
FAN_IN = 4

Reference = Any
"""Reference to the result of a task. Its type depends on the backend."""


class Backend(Protocol):
    """Executor of tasks."""

    name: str
    """Name for messages, such as "dask"."""
    is_private: bool
    """True if the cluster ends with the backend, so that results must be copied to this process."""
    has_lineage: bool
    """True if a lost result is computed again from the tasks that it depends on. The driver then keeps
    chains of tasks short."""

    def submit(
        self, function: Callable[..., Any], *args: Any, n_results: int = 1, isa: str | None = None
    ) -> Any:
        """Schedule a task, and return the reference to its result.

        References among `args` are replaced by their results; references inside containers are not. With
        `n_results` above 1, the function returns a tuple of this length, and the result of `submit` is a
        list of references to its items. The items may stay in memory until the last of these references
        is garbage: see `keep`. The task uses the instruction set `isa`.
        """

    def spread(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Reference]:
        """Schedule one task for each item of `arguments`. Successive ones run on different workers.

        No argument is a reference. Tasks that need the results later run where these are.
        """

    def keep(self, reference: Reference) -> Reference:
        """Return a reference to the same result that does not keep other results of its task."""

    def get(self, references: Sequence[Reference]) -> list[Any]:
        """Wait for results, and return them. Raise the exception of a task that failed."""

    def instruction_sets(self) -> list[str]:
        """Return the instruction sets that all workers support, slowest first.

        Raise an error if workers have another version of the library.
        """

    def close(self) -> None:
        """Cancel tasks that have not started, and release what the backend itself created."""


class LocalBackend:
    """Tasks in the threads of this process. Native code releases the GIL, so they run in parallel."""

    name = "one process"
    is_private = True
    has_lineage = False

    def __init__(self, n_threads: int) -> None:
        """Start a pool of threads. Tasks start in the order in which they are submitted."""
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="boostkmeans")

    def submit(
        self, function: Callable[..., Any], *args: Any, n_results: int = 1, isa: str | None = None
    ) -> Any:
        """See `Backend`."""
        # A task waits in its thread for its arguments. The pool starts tasks in the order of their
        # submission, so these belong to tasks that have started, and it cannot wait for ever.
        results: list[Future[Any]] = [Future() for _ in range(n_results)]
        self._pool.submit(_call, isa, function, args, results)
        return results[0] if n_results == 1 else results

    def spread(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Reference]:
        """See `Backend`."""
        return [self.submit(function, *one) for one in arguments]

    def keep(self, reference: Reference) -> Reference:
        """See `Backend`. Each result has its own memory."""
        return reference

    def get(self, references: Sequence[Reference]) -> list[Any]:
        """See `Backend`."""
        return [_resolved(one) for one in references]

    def instruction_sets(self) -> list[str]:
        """See `Backend`. The last one is that of other fits in this process."""
        available, chosen = instruction_sets(), instruction_set()
        return available[: available.index(chosen) + 1]

    def close(self) -> None:
        """See `Backend`."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def call(isa: str | None, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function with an instruction set; None for that of the process."""
    with nullcontext() if isa is None else using_instruction_set(isa):
        return function(*args)


def _call(
    isa: str | None,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    results: "list[Future[Any]]",
) -> None:
    """Call a function, and distribute its result. Each item is freed with its own reference."""
    try:
        found = call(isa, function, *map(_resolved, args))
    except BaseException as error:
        for one in results:
            one.set_exception(error)
        return
    for one, item in zip(results, (found,) if len(results) == 1 else found, strict=True):
        one.set_result(item)


def _resolved(value: Any) -> Any:
    return value.result() if isinstance(value, Future) else value


def identity(value: Any) -> Any:
    """Return a value from the driver as the result of a task, which all workers can then share."""
    return value


def reduce_in_order(
    backend: Backend,
    combine: Callable[..., Any],
    references: Sequence[Reference],
    isa: str | None = None,
    at_most: int = 1,
) -> list[Reference]:
    """Combine results over a fixed tree of their positions, until there are few. Return the rest.

    `combine(*results)` combines up to `FAN_IN` neighbours, in the order of a binary tree. The result
    depends neither on the order in which tasks end, nor on where they run. `at_most` is 1 or `FAN_IN`.
    """
    level = list(references)
    while len(level) > at_most:
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        level = [one[0] if len(one) == 1 else backend.submit(combine, *one, isa=isa) for one in groups]
    return level
