"""The number of threads that a call uses."""

import os
from functools import lru_cache

from joblib import cpu_count

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
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    available = _n_processors(_affinity(), os.environ.get("LOKY_MAX_CPU_COUNT"))
    return min(available, max(1, int(limit))) if limit.isdigit() else available


def _affinity() -> frozenset[int]:
    """Return the processors on which this process may run; empty if the system cannot tell."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


@lru_cache(maxsize=16)
def _n_processors(affinity: frozenset[int], limit: str | None) -> int:
    """Return joblib's number of processors, which also depends on the limits of a container.

    Reading these limits takes longer than a fit of small data, so they are read once.
    """
    return int(cpu_count())
