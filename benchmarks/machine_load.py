"""Processor time that other processes take during a measurement.

Fits of libraries whose threads wait actively become many times slower if other processes run. Such a
measurement favours libraries without such threads, so it has to be noticed.
"""

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from environment import Json

# Processors used by others, on average, above which a measurement is not reliable.
QUIET = 0.1


@contextmanager
def record_load(entry: Json) -> Iterator[None]:
    """Record the processors that other processes used meanwhile, as entry["others"].

    Processes that were started meanwhile must have ended. If the entry has a higher value, it stays.
    """
    began, busy, own = time.perf_counter(), busy_seconds(), own_seconds()
    try:
        yield
    finally:
        others = (busy_seconds() - busy) - (own_seconds() - own)
        used = max(0.0, others) / (time.perf_counter() - began)
        entry["others"] = max(entry.get("others", 0.0), used)


def is_busy(entry: Json) -> bool:
    """Return whether other processes are known to have disturbed a measurement."""
    return bool(entry.get("others", 0.0) > QUIET)


def is_quiet(entry: Json) -> bool:
    """Return whether the machine is known to have been quiet. Entries without a load are unknown."""
    return "others" in entry and not is_busy(entry)


def busy_seconds() -> float:
    """Return the processor time of the whole machine since its start, or 0 if it is unknown."""
    path = Path("/proc/stat")
    if not path.exists():
        return 0.0
    # user, nice, system, idle, iowait, irq, softirq, steal: another guest of the host counts, too.
    ticks = [int(one) for one in path.read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Return the processor time of this process and of all processes that it has waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usages)
