"""The backends of Dask and Ray: results, order, errors, dead workers, and what `close` leaves behind."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from boostkmeans import ParameterError
from boostkmeans._runtime.threads import threads_of_lone_task
from boostkmeans._sharded.backend import reduce_in_order
from boostkmeans.distributed._engines import ray_backend as _ray_backend
from boostkmeans.distributed._engines.dask_backend import DaskBackend
from boostkmeans.distributed._engines.errors import ClusterError, WorkerDiedError
from boostkmeans.distributed._engines.ray_backend import RayBackend
from conftest import run_python
from processes import PATIENCE, wait_until

pytest_plugins = ("cluster_fixtures",)
pytestmark = [pytest.mark.process, pytest.mark.slow]


# Bytes of a result that should not stay in memory.
LARGE = 2**24


def number(i: int) -> int:
    return i


def join(*parts: str) -> str:
    return f"({''.join(parts)})"


def halves(values: Any) -> tuple[Any, Any]:
    middle = len(values) // 2
    return values[:middle], values[middle:]


def zeros(n: int) -> Any:
    return np.zeros((n, 4))


def total(values: Any) -> float:
    return float(values.sum())


def small_and_large() -> tuple[int, Any]:
    return 7, np.zeros(LARGE // 8)


def fail(value: int) -> None:
    raise ParameterError("k", "an even number", value)


def exit_worker(*args: Any) -> None:
    os._exit(1)


def exit_once(folder: str, value: int) -> int:
    """Kill the worker that is the first to call this with a folder."""
    mark = Path(folder) / "called"
    if not mark.exists():
        mark.touch()
        os._exit(1)
    return value


def import_other() -> None:
    raise ModuleNotFoundError("No module named 'boostkmeans'", name="boostkmeans._sharded.later")


def test_dask_creates_successive_blocks_on_different_workers(dask_backend: DaskBackend) -> None:
    references = dask_backend.spread(number, [(i,) for i in range(8)])
    assert dask_backend.get(references) == list(range(8))
    holders = dask_backend.client.who_has(references)
    places = [holders[one.key][0] for one in references]
    assert all(first != second for first, second in zip(places[::2], places[1::2], strict=True))


def run_until(stop: str, mark: str) -> None:
    """Report the start of a task in a file, and run until another file exists."""
    Path(mark).touch()
    deadline = time.monotonic() + PATIENCE
    while not Path(stop).exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_results_come_in_the_order_of_references(backend: Any) -> None:
    references = [backend.submit(number, i) for i in range(20)]
    assert backend.get(references[::-1] + references[:2]) == [*range(19, -1, -1), 0, 1]


def test_references_are_replaced_by_results(backend: Any) -> None:
    rows = backend.submit(zeros, 10)
    first, second = backend.submit(halves, rows, n_results=2)
    assert backend.get([backend.submit(total, second), backend.submit(len, first)]) == [0.0, 5]


def test_results_of_one_task_can_be_kept_alone(backend: Any) -> None:
    first, second = backend.submit(halves, list(range(10)), n_results=2)
    kept = backend.keep(first)
    assert backend.keep(kept) is kept
    del first
    assert backend.get([kept, backend.submit(len, second)]) == [[0, 1, 2, 3, 4], 5]


def test_dask_frees_results_that_are_not_kept(dask_backend: DaskBackend, dask_client: Any) -> None:
    small, large = dask_backend.submit(small_and_large, n_results=2)
    kept = dask_backend.keep(small)
    assert dask_backend.get([kept]) == [7]
    del small, large

    def bytes_in_memory() -> int:
        info = dask_client.scheduler_info(n_workers=-1)
        return sum(one["metrics"]["managed_bytes"] for one in info["workers"].values())

    assert wait_until(lambda: bytes_in_memory() < LARGE)
    assert dask_backend.get([kept]) == [7]


def test_tasks_that_others_wait_for_use_all_processors_of_a_worker(backend: Any) -> None:
    assert backend.get([backend.submit(os.getenv, "OMP_NUM_THREADS")]) == ["1"]
    found, expected = backend.get(
        [backend.submit(threads_of_lone_task, None), backend.submit(joblib.cpu_count)]
    )
    assert found == expected


def test_large_results_arrive(backend: Any) -> None:
    (rows,) = backend.get([backend.submit(zeros, 100_000)])
    assert rows.shape == (100_000, 4)


def test_reduction_is_a_fixed_tree(backend: Any) -> None:
    references = [backend.submit(str, i) for i in range(6)]
    assert backend.get(reduce_in_order(backend, join, references)) == ["((0123)(45))"]
    assert backend.get(reduce_in_order(backend, join, references, at_most=4)) == ["(0123)", "(45)"]


def test_errors_have_their_type_and_fields(backend: Any) -> None:
    later = backend.submit(join, backend.submit(fail, 3), "x")
    with pytest.raises(ParameterError, match=r"k must be an even number\. Got 3\.") as error:
        backend.get([later])
    assert type(error.value) is ParameterError
    assert error.value.got == 3


def test_an_error_is_raised_while_other_tasks_run(backend: Any, tmp_path: Path) -> None:
    stop, mark = tmp_path / "stop", tmp_path / "mark"
    endless = backend.submit(run_until, str(stop), str(mark))
    with pytest.raises(ParameterError):
        backend.get([endless, backend.submit(fail, 3)])
    assert not stop.exists()
    stop.touch()


def test_missing_modules_of_workers_are_explained(backend: Any) -> None:
    with pytest.raises(ClusterError, match=r"cannot import boostkmeans._sharded.later.*Install"):
        backend.get([backend.submit(import_other)])


def test_a_task_survives_the_death_of_its_worker(backend: Any, tmp_path: Path) -> None:
    assert backend.get([backend.submit(exit_once, str(tmp_path), 7)]) == [7]


def test_a_task_that_kills_workers_is_named(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ray_backend, "MAX_RETRIES", 1)
    rows = backend.submit(zeros, 3)
    backend.name_blocks([rows], ["block 3 of X"])
    with pytest.raises(WorkerDiedError, match=r"exit_worker of block 3 of X.*smaller shards"):
        backend.get([backend.submit(str, backend.submit(exit_worker, rows))])


def test_dask_computes_lost_results_again(dask_backend: DaskBackend, dask_client: Any) -> None:
    references = [dask_backend.submit(zeros, 10 + i) for i in range(6)]
    dask_backend.get([dask_backend.submit(len, one) for one in references])
    os.kill(next(iter(dask_client.run(os.getpid).values())), signal.SIGKILL)
    assert dask_backend.get([dask_backend.submit(len, one) for one in references]) == [*range(10, 16)]


def test_dask_reports_scattered_data_that_are_lost(dask_backend: DaskBackend, dask_client: Any) -> None:
    worker, pid = next(iter(dask_client.run(os.getpid).items()))
    scattered = dask_client.scatter(np.zeros(5), workers=[worker])
    os.kill(pid, signal.SIGKILL)
    while not scattered.cancelled():
        time.sleep(0.05)
    with pytest.raises(ClusterError, match="scattered"):
        dask_backend.get([dask_backend.submit(total, scattered)])


def test_ray_names_the_task_that_the_memory_monitor_killed(
    ray_backend: RayBackend, local_ray: Any
) -> None:
    text = (
        "Memory on the node was 9GB used / 10GB limit\nmore\nSelected to kill: (Task: lease ID=1, "
        "task name=sweep of a.npy, required resources={CPU: 1})"
    )
    killed = local_ray.exceptions.OutOfMemoryError(text)
    with pytest.raises(WorkerDiedError, match=r"10GB limit\. The task was sweep of a\.npy\.") as error:
        ray_backend._raise_cause(killed, "decide")
    assert "more\n" not in str(error.value)


def test_ray_reports_lost_objects(ray_backend: RayBackend, local_ray: Any) -> None:
    lost = local_ray.exceptions.ObjectLostError("ab" * 20, None, "")
    with pytest.raises(WorkerDiedError, match=r"not by ray\.put"):
        ray_backend._raise_cause(lost, "sweep")


def test_ctrl_c_interrupts_get_and_close_cancels(backend: Any, tmp_path: Path) -> None:
    stop, marks = tmp_path / "stop", [tmp_path / str(i) for i in range(8)]
    references = [backend.submit(run_until, str(stop), str(mark)) for mark in marks]

    def interrupt() -> None:
        while not any(mark.exists() for mark in marks):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        backend.get(references)
    backend.close()
    stop.touch()
    with pytest.raises(ClusterError, match=r"[Cc]ancelled"):
        backend.get(references[-1:])


def test_finished_results_survive_close(backend: Any) -> None:
    reference = backend.submit(zeros, 5)
    backend.get([reference])
    backend.close()
    assert len(backend.get([reference])[0]) == 5


def test_ray_frees_results_without_references(ray_backend: RayBackend) -> None:
    ray_backend.get([ray_backend.submit(len, ray_backend.submit(zeros, 10))])
    ray_backend.get([ray_backend.submit(number, 0)])
    assert not ray_backend._unfinished


def test_dask_futures_are_garbage_collected(dask_backend: DaskBackend, dask_client: Any) -> None:
    dask_backend.get([dask_backend.submit(len, dask_backend.submit(zeros, 10))])
    assert not dask_backend._futures


def test_a_private_cluster_starts_with_its_first_task() -> None:
    pytest.importorskip("distributed")
    backend = DaskBackend(None)
    assert backend.is_private
    backend.close()
    assert backend._client is None


def test_asynchronous_clients_are_refused() -> None:
    class Client:
        asynchronous = True

    with pytest.raises(ParameterError, match="synchronous client"):
        DaskBackend(Client())


PRIVATE = """
import sys
import psutil
from boostkmeans.distributed._engines.errors import ClusterError

def check(backend):
    assert backend.is_private
    assert backend.instruction_sets()
    assert backend.get([backend.submit(len, (1, 2))]) == [2]
    try:
        backend.get([backend.submit(int, "x")])
    except ValueError:
        print("the error of the task is raised here")
    started = psutil.Process().children(recursive=True)
    # Python's own tracker of resources ends with this process.
    own = [one for one in started if "resource_tracker" not in " ".join(one.cmdline())]
    assert own
    backend.close()
    gone, alive = psutil.wait_procs(own, timeout=600)
    assert not alive, alive
    try:
        backend.submit(len, (1, 2))
    except ClusterError:
        return
    raise AssertionError("a closed backend accepts tasks")

if __name__ == "__main__":
    import {module}
    check({start})
"""


@pytest.mark.parametrize(
    "start",
    [
        "boostkmeans.distributed._engines.dask_backend.DaskBackend(None)",
        "boostkmeans.distributed._engines.ray_backend.RayBackend()",
    ],
)
def test_private_clusters_are_silent_and_leave_no_process_behind(start: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed" if "Dask" in start else "ray")
    script = tmp_path / "script.py"  # workers of Dask import the main module
    script.write_text(PRIVATE.format(module=".".join(start.split(".")[:3]), start=start))
    code = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    result = run_python(code, RAY_USAGE_STATS_ENABLED="0", RAY_ADDRESS="")
    assert result.returncode == 0, result.stdout + result.stderr
    assert (result.stdout, result.stderr) == ("the error of the task is raised here\n", "")
