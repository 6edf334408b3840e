"""Work in other threads, which Ctrl-C does not have to wait for."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

# How often the main thread, to which Python sends Ctrl-C, looks whether the user wants to stop.
SECONDS_BETWEEN_LOOKS = 0.1

T = TypeVar("T")


def in_background(calls: Sequence[Callable[[], T]], n_workers: int, stopped: threading.Event) -> list[T]:
    """What the calls return; so many of them go on at a time.

    If one raises, or the user interrupts, `stopped` is set, and whoever is still at work is left alone
    with it: what they do must be of no consequence.
    """
    pool = ThreadPoolExecutor(n_workers, thread_name_prefix="boostkmeans")
    try:
        jobs = [pool.submit(call) for call in calls]
        _wait_for(jobs)
        return [job.result() for job in jobs]
    except BaseException:
        stopped.set()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _wait_for(jobs: list["Future[Any]"]) -> None:
    left = set(jobs)
    while left:
        done, left = wait(left, SECONDS_BETWEEN_LOOKS, FIRST_EXCEPTION)
        for job in done:
            job.result()
