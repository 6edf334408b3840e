"""Connection of this process to a running cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boostkmeans._runtime.errors import ParameterError
from boostkmeans.distributed._engines.packages import import_engine
from boostkmeans.distributed._engines.ray_backend import check_ray_answers

# Seconds to wait for a scheduler of Dask.
TIMEOUT = 30


@contextmanager
def connect(engine: str, address: str | None = None) -> Iterator[Any]:
    """Connect this process to a cluster while a block of code runs.

    Parameters
    ----------
    engine : {"dask", "ray"}
        Engine of the cluster.
    address : str, default=None
        Address of the scheduler of Dask ("tcp://host:8786") or of the head of Ray ("host:6379", or
        "auto"). Without an address, each fit uses the cluster to which this process is connected, or
        starts one on this machine.

    Yields
    ------
    engine : object
        Value of the parameter `engine` of the estimators.

    Examples
    --------
    >>> from boostkmeans.distributed import connect
    >>> with connect("dask") as engine:
    ...     engine
    'dask'
    """
    if engine not in ("dask", "ray"):
        raise ParameterError("engine", '"dask" or "ray"', engine)
    if address is None:
        yield engine
    elif engine == "dask":
        with _dask_client(address) as client:
            yield client
    else:
        ray = import_engine("ray")
        if ray.is_initialized():
            raise ParameterError(
                "address",
                "None, because this process is already connected to Ray",
                address,
                remedy="Omit it to use this connection, or call ray.shutdown() first.",
            )
        check_ray_answers(address)
        ray.init(address=address, log_to_driver=False)
        try:
            yield engine
        finally:
            ray.shutdown()


def _dask_client(address: str) -> Any:
    distributed = import_engine("dask")
    try:
        return distributed.Client(address, timeout=TIMEOUT)
    except OSError as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address} within {TIMEOUT} seconds ({error})."
        ) from error
