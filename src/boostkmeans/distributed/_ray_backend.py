"""Tasks on a Ray cluster."""

import os
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import boostkmeans
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.distributed._errors import (
    SMALLER_SHARDS,
    ClusterError,
    WorkerDiedError,
    died_error,
    missing_package_error,
)
from boostkmeans.distributed._packages import import_engine
from boostkmeans.distributed._workers import Report, common_instruction_sets, run_task, worker_probe

# Number of times that Ray runs a task again after the death of its worker, or because its result is lost.
# Without a limit, a task that kills its worker would run for ever.
MAX_RETRIES = 16
# Seconds between two checks for failed tasks, while others run.
CHECK_SECONDS = 0.5


class RayBackend:
    """Tasks on the Ray cluster to which this process is connected.

    Results stay in the object stores of the nodes until the last reference to them is garbage. All of
    them are created by tasks, so Ray can compute lost results again.
    """

    name = "ray"
    has_lineage = True

    def __init__(self, address: str | None = None) -> None:
        """Use the running Ray, connect to a cluster, or start Ray on this machine.

        Parameters
        ----------
        address : str, default=None
            Address of a cluster, or "auto" for the one that runs on this machine. By default, it is the
            value of RAY_ADDRESS; without that, Ray starts on this machine. It is ignored if this process
            is connected already.
        """
        self._ray = import_engine("ray")
        self.is_private = not self._ray.is_initialized()
        """True if `close` ends the connection, and with it all results on the workers."""
        if self.is_private:
            _initialize(self._ray, address or os.environ.get("RAY_ADDRESS"))
        self._functions: dict[Callable[..., Any], Any] = {}
        self._unfinished: list[Any] = []
        self._blocks: dict[Any, str] = {}
        self._instruction_sets: list[str] | None = None

    def submit(
        self, function: Callable[..., Any], *args: Any, n_results: int = 1, n_threads: int = 1
    ) -> Any:
        """See `Backend`. A task with several threads takes one CPU of its node."""
        self._check_connection()
        reads = not any(isinstance(arg, self._ray.ObjectRef) for arg in args)
        block = next((self._blocks[arg] for arg in args if self._is_block(arg)), "")
        task = self._remote(function).options(
            name=f"{function.__name__} of {block}" if block else function.__name__,
            num_cpus=1,
            num_returns=n_results,
            max_retries=MAX_RETRIES,
            retry_exceptions=False,
            # Tasks run where their arguments are, so tasks without any decide where the rows are.
            scheduling_strategy="SPREAD" if reads else "DEFAULT",
        )
        references = task.remote(boostkmeans.__version__, function, *args)
        self._unfinished += [references] if n_results == 1 else references
        return references

    def name_blocks(self, references: Sequence[Any], names: Sequence[str]) -> None:
        """Set the names of blocks of rows, which errors of tasks mention."""
        self._blocks.update(zip(references, names, strict=True))

    def get(self, references: Sequence[Any]) -> list[Any]:
        """See `Backend`. The first error of any task is raised within CHECK_SECONDS."""
        self._check_connection()
        pending = list(dict.fromkeys(references))
        while pending:
            ready, pending = self._ray.wait(pending, num_returns=len(pending), timeout=CHECK_SECONDS)
            self._forget_finished()
            for one in ready:
                self._value(one)
        return [self._value(one) for one in references]

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
        self._unfinished = []
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
            _, self._unfinished = self._ray.wait(
                self._unfinished, num_returns=len(self._unfinished), timeout=0, fetch_local=False
            )

    def _value(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._raise_cause(reference, error)

    def _raise_cause(self, reference: Any, error: Exception) -> NoReturn:
        """Raise the exception of a task itself, or the error for its death."""
        errors, cause = self._ray.exceptions, error
        while isinstance(cause, errors.RayTaskError) and isinstance(cause.cause, Exception):
            cause = cause.cause
        if isinstance(cause, errors.OutOfMemoryError | errors.WorkerCrashedError | errors.NodeDiedError):
            problem = f"Ray workers died while they ran the same task. {cause}"
            raise died_error(self._describe(reference), problem, None) from error
        if isinstance(cause, errors.ObjectLostError):
            raise WorkerDiedError(
                f"An object in Ray's memory is lost, and could not be computed again: {cause} Create the "
                f"blocks of X by tasks, not by ray.put. {SMALLER_SHARDS}"
            ) from error
        if isinstance(cause, ModuleNotFoundError):
            raise missing_package_error(cause, boostkmeans.__version__) or cause from None
        if isinstance(cause, errors.RayError):
            raise ClusterError(f"Ray could not run a task: {cause}") from error
        raise cause from None

    def _describe(self, reference: Any) -> str:
        """Describe the task that died: the reading of a block, or one that a result depends on."""
        for block, name in self._blocks.items():
            ready, _ = self._ray.wait([block], timeout=0, fetch_local=False)
            if ready and self._failed(block):
                return f"the reading of {name}"
        name = self._blocks.get(reference)
        return f"the reading of {name}" if name else "named in the log of Ray above"

    def _failed(self, reference: Any) -> bool:
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayError:
            return True
        return False

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
        # A cluster that starts nodes on demand may have none yet: the first task decides.
        answers = answers or {"first node": probe.options(num_cpus=1).remote()}
        reports = {address: self._report(answer) for address, answer in answers.items()}
        return {address: report for address, report in reports.items() if report} or self._reports()

    def _report(self, answer: Any) -> Report | None:
        """Return the report of a node; None if it died."""
        errors = self._ray.exceptions
        try:
            report: Report = self._ray.get(answer)
        except (errors.NodeDiedError, errors.TaskUnschedulableError, errors.WorkerCrashedError):
            return None
        return report


def _initialize(ray: Any, address: str | None) -> None:
    if address is not None and address != "local":
        ray.init(address=address, log_to_driver=False)
        return
    ray.init(
        address="local", num_cpus=resolve_threads(None), include_dashboard=False, log_to_driver=False
    )
