"""Work in background threads that Ctrl-C can interrupt."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

# Python delivers Ctrl-C to the main thread, which must return from `wait` to handle it.
POLL_SECONDS = 0.1

T = TypeVar("T")


def in_background(calls: Sequence[Callable[[], T]], n_workers: int, stopped: threading.Event) -> list[T]:
    """Run the calls in `n_workers` threads and return their results in order.

    If a call raises an exception or the user presses Ctrl-C, `stopped` is set and the exception is
    raised at once, without waiting for the other calls. Calls should check `stopped`, and a call that
    still runs afterwards must have no visible effect.
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
    """Wait until all jobs are done, or raise the exception of the first job that fails."""
    left = set(jobs)
    while left:
        done, left = wait(left, POLL_SECONDS, FIRST_EXCEPTION)
        for job in done:
            job.result()
