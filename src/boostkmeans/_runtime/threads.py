"""The number of threads that a call uses."""

import os

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
    available = int(cpu_count())
    return min(available, max(1, int(limit))) if limit.isdigit() else available
