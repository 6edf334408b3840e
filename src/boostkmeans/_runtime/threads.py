"""How many threads a call uses."""

import os

from joblib import cpu_count

# More than any machine has; a slip of the keyboard must not ask the system for a million.
MOST_THREADS = 1024


def resolve_threads(n_threads: int | None) -> int:
    """None: every processor that this process may use, but no more than OMP_NUM_THREADS.

    That variable is how joblib and schedulers tell the workers of one machine to share it.
    """
    if n_threads is not None:
        return min(n_threads, MOST_THREADS)
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    available = int(cpu_count())
    return min(available, max(1, int(limit))) if limit.isdigit() else available
