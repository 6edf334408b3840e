"""SIGKILL of workers and nodes at random moments: the labels stay the same."""

import random
import threading
from pathlib import Path
from typing import Any

import pytest

from conformance import Configuration
from dask_processes import DaskProcesses
from expected_labels import check_equal, configuration
from killing import Killer
from ray_processes import busy_workers, ray_nodes, ray_workers
from tally import TALLY

pytest_plugins = ("cluster_suite",)
NAMES = ("many rounds", "annealed candidates", "refined tree", "weights", "repairs", "sparse")
KILLED = [configuration(name) for name in NAMES]
MANY_ROUNDS = KILLED[0]
# SIGKILLs of each engine. Together they are more than 100.
N_DASK_KILLS = 80
N_RAY_KILLS = 60
# A fit without any kill is possible if it is short, but not this often in a row.
MAX_FITS = 60


def fit_and_kill(chosen: Configuration, engine: Any, pids: Any, seed: int, what: str) -> None:
    """Fit while one random worker per round is killed, and compare the labels."""
    with Killer(pids, seed) as killer:
        found = chosen.outcome(engine, callback=killer.after_round)
    print(f"seed {seed}: {killer.n_kills} SIGKILLs during {chosen.name!r} on {what}")
    TALLY.kills[what] += killer.n_kills
    check_equal(chosen.name, f"{what}, killed", found)


@pytest.mark.parametrize("n_workers", [2, 3])
def test_dask_workers(n_workers: int, folder: Path) -> None:
    what, done = f"workers of {n_workers} on Dask", 0
    with DaskProcesses(folder, n_workers) as cluster:
        for number in range(MAX_FITS):
            seed = 1000 * n_workers + number
            chosen = random.Random(seed).choice(KILLED)
            fit_and_kill(chosen, cluster.client, cluster.pids, seed, what)
            done = TALLY.kills[what]
            if done >= N_DASK_KILLS // 2:
                return
    pytest.fail(f"only {done} SIGKILLs")


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_ray_workers(n_workers: int) -> None:
    what, done = f"workers of {n_workers} on Ray", 0
    with ray_workers(n_workers):
        for number in range(MAX_FITS):
            seed = 2000 * n_workers + number
            chosen = random.Random(seed).choice(KILLED)
            fit_and_kill(chosen, "ray", busy_workers, seed, what)
            done = TALLY.kills[what]
            if done >= N_RAY_KILLS // 3:
                return
    pytest.fail(f"only {done} SIGKILLs")


def test_ray_nodes() -> None:
    """Two of three nodes die, one after the other, and a new node joins after the first death."""
    n_rounds = 0

    with ray_nodes(3) as cluster:
        threads: list[threading.Thread] = []

        def kill_nodes(record: Any) -> None:
            nonlocal n_rounds
            n_rounds += 1
            if n_rounds in (3, 9):
                # In a thread, so that the node dies in the middle of the next round.
                threads.append(threading.Thread(target=cluster.kill, args=[cluster.nodes.pop()]))
                threads[-1].start()
            if n_rounds == 6:
                threads[-1].join()
                cluster.add()

        found = MANY_ROUNDS.outcome("ray", callback=kill_nodes)
        for thread in threads:
            thread.join()
    assert len(threads) == 2
    TALLY.kills["nodes on Ray"] += len(threads)
    check_equal(MANY_ROUNDS.name, "nodes on Ray, killed", found)
