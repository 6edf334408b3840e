"""X of every kind whose rows are created on the workers: workers die, and the labels stay the same.

The rows of a list of arrays are part of the tasks. Other kinds of X have a lineage of their own.
"""

from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostkmeans.distributed import open_shards
from conformance import FitOutcome, one_process, outcome_of, small_samples
from dask_processes import DaskProcesses
from expected_labels import configuration
from killing import Killer
from ray_processes import ray_nodes
from tally import TALLY

pytest_plugins = ("cluster_suite",)
# Ray Data sets its own deprecated options.
pytestmark = pytest.mark.filterwarnings("ignore:`use_.*is deprecated:DeprecationWarning")
MANY_ROUNDS = configuration("many rounds")
N_BLOCKS = 6
SEED = 7


def even_blocks() -> list[Any]:
    return np.array_split(MANY_ROUNDS.data(), N_BLOCKS)


@cache
def expected() -> FitOutcome:
    with small_samples(), one_process():
        return outcome_of(MANY_ROUNDS.model().fit(even_blocks()))


def check_equal_labels(outcome: FitOutcome, what: str) -> None:
    """Compare a fit with that of the same blocks in one process."""
    assert outcome == expected(), what
    TALLY.count_equal(MANY_ROUNDS.name, what)


def save_blocks(folder: Path) -> list[str]:
    folder.mkdir()
    paths = [str(folder / f"emb-{number}.npy") for number in range(N_BLOCKS)]
    for path, block in zip(paths, even_blocks(), strict=True):
        np.save(path, block)
    return paths


def dask_rows(kind: str, folder: Path) -> Any:
    import dask
    import dask.array as da

    paths = save_blocks(folder)
    if kind == "shards":
        return open_shards(paths)
    delayed = [dask.delayed(np.load)(path) for path in paths]
    if kind == "Delayed":
        return delayed
    parts = [
        da.from_delayed(one, block.shape, block.dtype)
        for one, block in zip(delayed, even_blocks(), strict=True)
    ]
    return da.concatenate(parts)


def ray_rows(kind: str, folder: Path, ray: Any) -> Any:
    paths = save_blocks(folder)
    if kind == "shards":
        return open_shards(paths)
    if kind == "objects":
        load = ray.remote(lambda path: np.load(path))
        return [load.remote(path) for path in paths]
    import pyarrow as pa
    import pyarrow.parquet as pq
    from ray import data as ray_data

    path = folder / "emb.parquet"
    pq.write_table(pa.table({"e": list(MANY_ROUNDS.data())}), path)
    return ray_data.read_parquet(str(path)).repartition(N_BLOCKS)


@pytest.mark.parametrize("kind", ["shards", "dask array", "Delayed"])
def test_workers_of_dask_die(kind: str, folder: Path, tmp_path: Path) -> None:
    with DaskProcesses(folder, 2) as cluster:
        X = dask_rows(kind, tmp_path / "rows")
        with small_samples(), Killer(cluster.pids, SEED) as killer:
            model = MANY_ROUNDS.model(cluster.client, callback=killer.after_round).fit(X)
        check_equal_labels(outcome_of(model), f"{kind} on Dask, workers killed")
    assert killer.n_kills > 0
    TALLY.kills["workers of 2 on Dask, other kinds of X"] += killer.n_kills


def fit_while_nodes_of_ray_die(kind: str, folder: Path) -> tuple[FitOutcome, int]:
    """Fit rows on three nodes, kill two of them, and return the result and the number of nodes left."""
    n_rounds = 0
    with ray_nodes(3) as cluster:
        import ray

        def kill_nodes(record: Any) -> None:
            nonlocal n_rounds
            n_rounds += 1
            if n_rounds in (3, 6):
                cluster.kill(cluster.nodes.pop())

        X = ray_rows(kind, folder, ray)
        with small_samples():
            model = MANY_ROUNDS.model("ray", callback=kill_nodes).fit(X)
        return outcome_of(model), len(cluster.nodes)


@pytest.mark.parametrize("kind", ["shards", "objects", "Dataset"])
def test_all_nodes_of_ray_but_one_die(kind: str, tmp_path: Path) -> None:
    # A new process: Ray Data reports "owner died" on several nodes if its process has used another Ray
    # of one node before, even without this library.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as driver:
        outcome, n_nodes = driver.submit(fit_while_nodes_of_ray_die, kind, tmp_path / "rows").result()
    check_equal_labels(outcome, f"{kind} on Ray, one of 3 nodes left")
    assert n_nodes == 1
    TALLY.kills["nodes on Ray"] += 2
