"""The number of threads that a call uses."""

import os
from functools import lru_cache

from joblib import cpu_count

# Limit on the threads of libraries, which several processes on one machine obey.
LIMIT = "OMP_NUM_THREADS"
# Upper limit, above the number of processors of any machine. It keeps a mistyped number from
# exhausting the system.
MAX_THREADS = 1024


def resolve_threads(n_threads: int | None) -> int:
    """Return the number of threads to use.

    None means every processor that this process may use, but at most OMP_NUM_THREADS: joblib and
    cluster schedulers set this variable so that several workers can share one machine.
    """
    if n_threads is not None:
        return min(n_threads, MAX_THREADS)
    limit = os.environ.get(LIMIT, "").split(",")[0]
    available = _available()
    return min(available, max(1, int(limit))) if limit.isdigit() else available


def threads_of_lone_task(n_threads: int | None) -> int:
    """Return the number of threads of a task on a cluster for which all other tasks of a fit wait.

    None means every processor that the worker process may use. Dask and Ray set OMP_NUM_THREADS to 1
    for tasks that run at the same time, so this value does not count. A larger one is that of the user.
    """
    if n_threads is None and os.environ.get(LIMIT) == "1":
        return _available()
    return resolve_threads(n_threads)


def _available() -> int:
    """Return the number of processors that this process may use."""
    return _n_processors(_affinity(), os.environ.get("LOKY_MAX_CPU_COUNT"))


def _affinity() -> frozenset[int]:
    """Return the processors on which this process may run; empty if the system cannot tell."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


@lru_cache(maxsize=16)
def _n_processors(affinity: frozenset[int], limit: str | None) -> int:
    """Return joblib's number of processors, which also depends on the limits of a container.

    Reading these limits takes longer than a fit of small data, so they are read once.
    """
    return int(cpu_count())
