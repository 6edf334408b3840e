"""Tasks on a Ray cluster."""

import logging
import os
import re
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._runtime.version import VERSION
from boostkmeans.distributed._engines.errors import (
    SMALLER_SHARDS,
    ClusterError,
    WorkerDiedError,
    died_error,
    missing_package_error,
)
from boostkmeans.distributed._engines.packages import import_engine
from boostkmeans.distributed._engines.workers import (
    Report,
    common_instruction_sets,
    run_task,
    worker_probe,
)

logger = logging.getLogger("boostkmeans")

# Number of times that Ray runs a task again after the death of its worker, or because its result is
# lost. Without a limit, a task that kills its worker would run for ever.
MAX_RETRIES = 16
# Seconds between two checks for failed tasks, while others run.
CHECK_SECONDS = 0.5
# Part of the name of a task between the names of its function and of its block of rows.
BLOCK = " of "
# Number of tasks that an error names.
MAX_NAMED = 5
# Number of times that a private Ray runs a task again that its memory monitor killed. By default, Ray
# never gives up.
MAX_OUT_OF_MEMORY = 3
# Seconds to wait for the head of a cluster.
TIMEOUT = 30
# Level of the messages of a private Ray. Users who did not start it need no lines about its start.
LOG_LEVEL = logging.ERROR


class RayBackend:
    """Tasks on the Ray cluster to which this process is connected.

    Results stay in the object stores of the nodes until the last reference to them is garbage. All of
    them are created by tasks, so Ray can compute lost results again.
    """

    name = "ray"
    has_lineage = True

    def __init__(self) -> None:
        """Use the Ray that this process is connected to, or that at RAY_ADDRESS, or start one here."""
        self._ray = import_engine("ray")
        self.is_private = not self._ray.is_initialized()
        """True if `close` ends the connection, and with it all results on the workers."""
        if self.is_private:
            _initialize(self._ray, os.environ.get("RAY_ADDRESS"))
        self._functions: dict[Callable[..., Any], Any] = {}
        self._unfinished: dict[Any, str] = {}
        """Names of tasks that had not finished at the last check, by the references to their results."""
        self._last_finished: deque[str] = deque(maxlen=MAX_NAMED)
        """Names of tasks with blocks of rows that finished last."""
        self._blocks: dict[Any, str] = {}
        self._instruction_sets: list[str] | None = None

    def submit(
        self, function: Callable[..., Any], *args: Any, n_results: int = 1, isa: str | None = None
    ) -> Any:
        """See `Backend`."""
        self._check_connection()
        block = next((self._blocks[arg] for arg in args if self._is_block(arg)), "")
        name = f"{function.__name__}{BLOCK}{block}" if block else function.__name__
        has_arguments = any(isinstance(arg, self._ray.ObjectRef) for arg in args)
        task = self._remote(function).options(
            name=name,
            num_cpus=1,
            num_returns=n_results,
            max_retries=MAX_RETRIES,
            retry_exceptions=False,
            # Tasks run where their arguments are, so tasks without any decide where the rows are.
            scheduling_strategy="DEFAULT" if has_arguments else "SPREAD",
        )
        references = task.remote(VERSION, isa, function, *args)
        self._unfinished.update(dict.fromkeys([references] if n_results == 1 else references, name))
        return references

    def spread(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """See `Backend`. Ray spreads tasks without references by itself."""
        return [self.submit(function, *one) for one in arguments]

    def name_blocks(self, references: Sequence[Any], names: Sequence[str]) -> None:
        """Set the names of blocks of rows, which errors of tasks mention."""
        self._blocks.update(zip(references, names, strict=True))

    def keep(self, reference: Any) -> Any:
        """See `Backend`. Each result is an object of its own."""
        return reference

    def get(self, references: Sequence[Any]) -> list[Any]:
        """See `Backend`. The first error of any task is raised within CHECK_SECONDS."""
        self._check_connection()
        names = {one: self._unfinished[one] for one in references if one in self._unfinished}
        values: dict[Any, Any] = {}
        pending = list(dict.fromkeys(references))
        while pending:
            ready, pending = self._ray.wait(pending, num_returns=len(pending), timeout=CHECK_SECONDS)
            self._forget_finished()
            for one in ready:
                values[one] = self._value(one, names.get(one, ""))
        return [values[one] for one in references]

    def detach(self) -> None:
        """Let all tasks run to their end, even after `close`."""
        self._unfinished = {}

    def instruction_sets(self) -> list[str]:
        """Check the versions on all nodes, and return the instruction sets that all support."""
        if self._instruction_sets is None:
            self._instruction_sets = common_instruction_sets(self._reports())
        return self._instruction_sets

    def close(self) -> None:
        """See `Backend`. Running tasks are interrupted."""
        if self._ray.is_initialized():
            self._forget_finished()
            for reference in self._unfinished:
                self._ray.cancel(reference)
        self._unfinished = {}
        self._blocks = {}
        if self.is_private:
            self._ray.shutdown()

    def _remote(self, function: Callable[..., Any]) -> Any:
        """Return the remote function for a function.

        Each function has its own, although all run `run_task`: Ray has one queue per remote function,
        so sums do not wait for all sweeps to end.
        """
        if function not in self._functions:
            self._functions[function] = self._ray.remote(run_task)
        return self._functions[function]

    def _check_connection(self) -> None:
        if not self._ray.is_initialized():
            raise ClusterError(
                "This process is no longer connected to Ray. Call ray.init, and fit again."
            )

    def _is_block(self, arg: Any) -> bool:
        return isinstance(arg, self._ray.ObjectRef) and arg in self._blocks

    def _forget_finished(self) -> None:
        """Drop the references to results of finished tasks, so that Ray can free them."""
        if self._unfinished:
            unfinished = list(self._unfinished)
            finished, _ = self._ray.wait(
                unfinished, num_returns=len(unfinished), timeout=0, fetch_local=False
            )
            names = (self._unfinished.pop(one) for one in finished)
            self._last_finished.extend(name for name in names if BLOCK in name)

    def _value(self, reference: Any, name: str) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._raise_cause(error, name)

    def _raise_cause(self, error: Exception, name: str) -> NoReturn:
        """Raise the exception of a task itself, or the error for its death.

        `name` is the name of the task that `get` waited for. The error may be that of another task on
        which it depends.
        """
        errors, cause = self._ray.exceptions, error
        while isinstance(cause, errors.RayTaskError) and isinstance(cause.cause, Exception):
            cause = cause.cause
        if isinstance(cause, errors.OutOfMemoryError | errors.WorkerCrashedError | errors.NodeDiedError):
            task = name if cause is error else self._describe_dependency(str(error))
            # The memory monitor names the task. Its message has 60 lines: the first one has the limit.
            killed = re.findall(r"Selected to kill: .*?task name=(.*?), required", str(cause))
            reason = str(cause).splitlines()[0].rstrip(".")
            problem = f"Ray workers died while they ran the same task. {reason}."
            raise died_error(killed[0] if killed else task, problem, None) from error
        if isinstance(cause, errors.ObjectLostError):
            problem = str(cause).splitlines()[0]
            raise WorkerDiedError(
                f"An object in Ray's memory is lost, and could not be computed again. {problem} Create "
                f"the blocks of X by tasks, not by ray.put. {SMALLER_SHARDS}"
            ) from error
        if isinstance(cause, ModuleNotFoundError):
            raise missing_package_error(cause, VERSION) or cause from None
        if isinstance(cause, errors.RayError):
            raise ClusterError(f"Ray could not run a task: {type(cause).__name__} {cause}") from error
        raise cause from None

    def _describe_dependency(self, trace: str) -> str:
        """Describe a task that died, from the trace of a task that depends on it.

        Ray does not report which task died. If the trace names no block, then the task is one of those
        that ended last, because tasks that depend on a dead task end soon after it.
        """
        dependent = "".join(re.findall(r"ray::(.+?)\(\)", trace)[-1:]) or "another task"
        if BLOCK in dependent or not self._last_finished:
            return f"one that {dependent!r} depends on"
        return f"one of these: {', '.join(dict.fromkeys(self._last_finished))}"

    def _reports(self) -> dict[str, Report]:
        """Return the reports of all nodes on which tasks can run."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        probe = self._ray.remote(worker_probe())
        nodes = [one for one in self._ray.nodes() if one["Alive"] and one["Resources"].get("CPU")]
        answers = {
            f"{node['NodeManagerAddress']} ({node['NodeID'][:8]})": probe.options(
                num_cpus=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
            ).remote()
            for node in nodes
        }
        if (
            not answers
        ):  # A cluster that starts nodes on demand may have none yet: the first task decides.
            logger.info("waiting for the first node of the Ray cluster that has a CPU")
            answers = {"first node": probe.options(num_cpus=1).remote()}
        reports = {address: self._report(answer) for address, answer in answers.items()}
        return {address: report for address, report in reports.items() if report} or self._reports()

    def _report(self, answer: Any) -> Report | None:
        """Return the report of a node; None if it died."""
        errors = self._ray.exceptions
        try:
            report: Report = self._ray.get(answer)
        except (errors.NodeDiedError, errors.TaskUnschedulableError, errors.WorkerCrashedError):
            return None
        except errors.RayError as error:
            self._raise_cause(error, "the check of the version")
        return report


def check_ray_answers(address: str) -> None:
    """Raise ConnectionError unless something listens at an address. `ray.init` would try for minutes.

    Addresses without a port, such as "auto", are not checked.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), TIMEOUT).close()
    except OSError as error:
        raise ConnectionError(
            f"No Ray cluster answers at {address} within {TIMEOUT} seconds ({error})."
        ) from error


def _initialize(ray: Any, address: str | None) -> None:
    """Connect to a cluster, or start Ray on this machine."""
    local = {
        "num_cpus": resolve_threads(None),
        "include_dashboard": False,
        "logging_level": LOG_LEVEL,
    }
    options = local if address in (None, "", "local") else {}
    check_ray_answers(address or "local")
    with _out_of_memory_limit():
        ray.init(address=address or "local", log_to_driver=False, **options)


@contextmanager
def _out_of_memory_limit() -> Iterator[None]:
    """Limit the retries of tasks that the memory monitor kills. The driver reads this as it connects."""
    variable = "RAY_task_oom_retries"
    if variable in os.environ:
        yield
        return
    os.environ[variable] = str(MAX_OUT_OF_MEMORY)
    try:
        yield
    finally:
        del os.environ[variable]
