"""What workers have installed: the version of boostkmeans, and the instruction sets."""

from collections.abc import Callable, Mapping
from typing import Any

from boostkmeans._runtime.version import VERSION
from boostkmeans._sharded.backend import call
from boostkmeans.distributed._engines.errors import ClusterError, WorkerVersionError, version_error

Report = dict[str, Any]
"""What one worker reports: "version", "problem" and "instruction_sets"."""


def worker_probe() -> Callable[[], Report]:
    """Return a function that reports what the worker that calls it has installed.

    The function is local, so that it is pickled by value: a worker may have no boostkmeans, or a version
    without this module.
    """

    def probe() -> dict[str, Any]:
        from importlib import import_module

        try:
            package = import_module("boostkmeans")
        except ImportError as error:
            return {"version": None, "problem": str(error), "instruction_sets": []}
        found = getattr(package, "__version__", "of unknown number")
        try:
            sets = import_module("boostkmeans._runtime.instruction_set").instruction_sets()
        except ImportError as error:  # another version, or one without its compiled core
            return {"version": found, "problem": str(error), "instruction_sets": []}
        return {"version": found, "problem": "", "instruction_sets": sets}

    return probe


def common_instruction_sets(reports: Mapping[str, Report]) -> list[str]:
    """Return the instruction sets that all workers support, slowest first.

    Raise WorkerVersionError if a worker cannot run the tasks of this version. `reports` has the report
    of each worker, with its address.
    """
    wrong = {
        address: _installed(report)
        for address, report in reports.items()
        if report["version"] != VERSION or report["problem"]
    }
    if wrong:
        raise version_error(VERSION, wrong)
    available = [report["instruction_sets"] for report in reports.values()]
    common = [name for name in available[0] if all(name in one for one in available)]
    if not common:
        listed = "; ".join(
            f"{address}: {', '.join(report['instruction_sets'])}" for address, report in reports.items()
        )
        raise ClusterError(f"The workers have no instruction set in common. {listed}.")
    return common


def run_task(expected: str, isa: str | None, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on a worker, after a check of the version.

    The check of all workers before a fit misses workers that join later.
    """
    if expected != VERSION:
        raise WorkerVersionError(
            f"A worker joined with boostkmeans {VERSION}, but the driver has {expected}. Install "
            f"boostkmeans {expected} in the environment of all workers."
        )
    return call(isa, function, *args)


def _installed(report: Report) -> str:
    if report["version"] is None:
        return f"no boostkmeans ({report['problem']})"
    problem = f" ({report['problem']})" if report["problem"] else ""
    return f"boostkmeans {report['version']}{problem}"
