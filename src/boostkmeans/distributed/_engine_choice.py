"""Choice of the backend of a fit."""

from typing import Any

from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._sharded.backend import Backend, LocalBackend
from boostkmeans.distributed._engines.dask_backend import DaskBackend
from boostkmeans.distributed._engines.packages import loaded
from boostkmeans.distributed._engines.ray_backend import RayBackend
from boostkmeans.distributed._input_kinds import InputKind, check_engine_of, kind_of

ENGINES = ("dask", "ray", "local")


def choose_backend(engine: Any, X: Any, *, n_threads: int | None = None) -> Backend:
    """Return the backend for an engine; without an engine, for X or for the cluster that runs.

    Parameters
    ----------
    engine : None, "dask", "ray", "local" or distributed.Client
        Engine, or a client of Dask. "local" is this process. By default, the type of X decides. If it
        does not, a cluster decides to which this process is connected. Otherwise, the tasks run in this
        process.
    X : object
        The data.
    n_threads : int, default=None
        Number of threads of a fit in this process.
    """
    check_engine(engine)
    is_client = not (engine is None or isinstance(engine, str))
    name = "dask" if is_client else engine or _engine_of(X) or "local"
    check_engine_of(kind_of(X), name)  # Before a cluster starts.
    if is_client:
        return DaskBackend(engine)
    if name == "dask":
        return _dask_backend(X)
    if name == "ray":
        return RayBackend()
    return LocalBackend(resolve_threads(n_threads))


def check_engine(engine: Any) -> None:
    """Raise ParameterError unless `engine` is None, the name of an engine or a client of Dask."""
    distributed = loaded("distributed")
    is_client = distributed is not None and isinstance(engine, distributed.Client)
    if not (engine is None or is_client or (isinstance(engine, str) and engine in ENGINES)):
        raise ParameterError("engine", "None, 'dask', 'ray', 'local' or a distributed.Client", engine)


def _engine_of(X: Any) -> str | None:
    """Return the engine of X, or the one that runs."""
    engine = kind_of(X).engine
    if engine is not None:
        return engine
    running = [name for name, is_running in (("dask", _dask_runs()), ("ray", _ray_runs())) if is_running]
    if len(running) > 1:
        raise ParameterError(
            "engine", "'dask' or 'ray', because this process is connected to both", None
        )
    return running[0] if running else None


def _dask_runs() -> bool:
    return loaded("distributed") is not None and DaskBackend.from_running() is not None


def _ray_runs() -> bool:
    ray = loaded("ray")
    return ray is not None and bool(ray.is_initialized())


def _dask_backend(X: Any) -> DaskBackend:
    if kind_of(X) is InputKind.DASK_FUTURES:
        return DaskBackend(X[0].client)
    return DaskBackend.from_running() or DaskBackend(None)
