"""Errors of clusters: dead workers, closed connections, and different versions of the library."""

from collections.abc import Mapping
from typing import Any

from boostkmeans._runtime.untrusted_text import escape_untrusted

SMALLER_SHARDS = (
    "Use smaller shards (max_shard_bytes of open_shards, or smaller chunks of X), or workers with more "
    "memory."
)


class ClusterError(RuntimeError):
    """A cluster cannot run the tasks of a fit.

    Parameters
    ----------
    message : str
        Description of the problem. It may contain text of workers, in which control characters are
        escaped: a terminal would obey them.
    """

    def __init__(self, message: str) -> None:
        super().__init__(escape_untrusted(message))


class WorkerDiedError(ClusterError):
    """Workers died repeatedly while they ran a task, or results of tasks are lost for good.

    Parameters
    ----------
    message : str
        Description of the problem.
    """


class WorkerVersionError(ClusterError):
    """A worker has no boostkmeans, or another version than the driver.

    Parameters
    ----------
    message : str
        Description of the problem.
    """


def died_error(task: str, problem: str, memory_limit: int | None) -> WorkerDiedError:
    """Return the error for a task whose workers died.

    `memory_limit` is the limit per worker in bytes; None means unknown or unlimited.
    """
    limit = f" The memory limit is {_format_bytes(memory_limit)} per worker." if memory_limit else ""
    return WorkerDiedError(
        f"{problem} The task was {task}.{limit} A worker usually dies because it runs out of memory. "
        f"{SMALLER_SHARDS}"
    )


def version_error(expected: str, found: Mapping[str, str]) -> WorkerVersionError:
    """Return the error for workers whose version differs, from the version at each address."""
    workers = "; ".join(f"{address}: {version}" for address, version in sorted(found.items()))
    return WorkerVersionError(
        f"The driver has boostkmeans {expected}, but some workers differ. {workers}. Install "
        f"boostkmeans {expected} in the environment of all workers."
    )


def missing_package_error(error: ModuleNotFoundError, expected: str) -> WorkerVersionError | None:
    """Return a clear error if a worker could not import boostkmeans, and None for other modules."""
    if (error.name or "").split(".")[0] != "boostkmeans":
        return None
    return WorkerVersionError(
        f"A worker cannot import {error.name}: it has no boostkmeans, or another version. Install "
        f"boostkmeans {expected} in the environment of all workers."
    )


def _format_bytes(n_bytes: Any) -> str:
    return f"{n_bytes / 2**30:.2f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MiB"
