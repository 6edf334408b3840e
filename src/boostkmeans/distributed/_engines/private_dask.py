"""A Dask cluster of our own on this machine, for fits without a client."""

import logging
import signal
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.distributed._engines.packages import import_engine

# Level of the messages of our own cluster. Errors of tasks are raised in the driver, so the tracebacks
# that workers print are noise.
LOG_LEVEL = logging.CRITICAL
# Python handles Ctrl-C in the main thread, which must return from `result` to see it.
POLL_SECONDS = 0.1


class PrivateCluster(NamedTuple):
    """A cluster with one single-threaded worker process per available CPU, and its client."""

    cluster: Any
    client: Any

    def close(self) -> None:
        """End all processes, without messages about calls that Ctrl-C has interrupted."""
        for one in (self.client, self.cluster):
            one.loop.asyncio_loop.set_exception_handler(_ignore)
        self.client.close()
        self.cluster.close()


def _ignore(loop: Any, context: dict[str, Any]) -> None:
    """Ignore an exception that nobody waits for."""


def start_private_cluster() -> PrivateCluster:
    """Start a cluster whose worker processes do not see Ctrl-C.

    A terminal sends Ctrl-C to all processes of a group. Workers that died of it would take the results
    with them that the driver still needs, and their nannies would start new ones. The driver alone
    handles it, also while the cluster starts: it waits for the workers, and ends them.
    """
    # The first process that `multiprocessing` starts also starts this one, and Python 3.11 then unblocks
    # SIGINT in the thread that did so.
    resource_tracker.ensure_running()
    started: Future[PrivateCluster] = Future()
    threading.Thread(target=_start, args=(started,), name="boostkmeans start", daemon=True).start()
    try:
        return _wait_for(started)
    except KeyboardInterrupt:
        _wait_for(started).close()
        raise


def _start(started: "Future[PrivateCluster]") -> None:
    """Start the cluster in this thread, and set the result or the error.

    Threads and processes inherit the signals that this thread blocks: the thread of the event loop, and
    all workers that it starts, now and later. Ray does the same for its processes.
    """
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        started.set_result(_new_cluster())
    except BaseException as error:
        started.set_exception(error)


def _new_cluster() -> PrivateCluster:
    distributed = import_engine("dask")
    cluster = distributed.LocalCluster(
        n_workers=resolve_threads(None),
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=LOG_LEVEL,
    )
    try:
        return PrivateCluster(cluster, distributed.Client(cluster, set_as_default=False))
    except BaseException:
        cluster.close()
        raise


def _wait_for(started: "Future[PrivateCluster]") -> PrivateCluster:
    while True:
        try:
            return started.result(POLL_SECONDS)
        except NotYet:
            if started.done():  # the start itself has timed out
                return started.result()
