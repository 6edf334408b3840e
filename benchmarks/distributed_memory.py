"""Memory and traffic of a distributed fit of 10,000,000 rows under a memory limit per worker.

The benchmark writes 40 shards of synthetic float16 rows (2.5 GB) to a temporary folder, fits them on
Dask with two single-threaded workers, and stores the peak memory of workers, scheduler and driver, and
the bytes that workers sent to each other, beside the calculation. Scheduler and driver are different
processes. Each round prints a line and stores the figures so far, which an interruption leaves.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from environment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
import psutil

from boostkmeans.distributed import BoostKMeans, open_shards
from dask_cluster import separate_cluster
from result_files import RESULTS, save_result, write_json

N_SHARDS, ROWS_PER_SHARD, D, K = 40, 250_000, 128, 1_000
N_WORKERS = 2
MEMORY_LIMIT = "2.5GB"


def write_shards(folder: str) -> None:
    """Write normal rows around random centres."""
    centres = np.random.default_rng(0).normal(size=(2 * K, D))
    for number in range(N_SHARDS):
        rng = np.random.default_rng(number + 1)
        rows = centres[rng.integers(0, 2 * K, ROWS_PER_SHARD)]
        rows += rng.normal(size=rows.shape)
        np.save(Path(folder, f"part-{number:02d}.npy"), rows.astype(np.float16))


class PeakMemory:
    """Peak of the resident memory of some processes, sampled in a thread."""

    def __init__(self, processes: dict[str, int]) -> None:
        self.peaks = dict.fromkeys(processes, 0.0)
        self._processes = {name: psutil.Process(pid) for name, pid in processes.items()}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ended.wait(0.1):
            for name, process in self._processes.items():
                if process.is_running():
                    self.peaks[name] = max(self.peaks[name], process.memory_info().rss / 1e6)


def sent_bytes(dask_worker: Any) -> int:
    """Return the bytes that a worker has sent to others: Dask adds up the sizes of results."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def measure(folder: str) -> Json:
    """Fit the shards, and return all figures."""
    with (
        tempfile.TemporaryDirectory() as logs,
        separate_cluster(Path(logs), N_WORKERS, MEMORY_LIMIT) as (client, scheduler),
    ):
        pids = client.run(os.getpid)
        processes = {f"worker {i}": pid for i, pid in enumerate(pids.values())}
        processes |= {"scheduler": scheduler, "driver": os.getpid()}
        began = time.perf_counter()
        with PeakMemory(processes) as memory:
            shards = open_shards(folder)
            traffic = Traffic(client)
            report = after_round(traffic, memory)
            model = BoostKMeans(K, random_state=0, engine=client, callback=report).fit(shards)
            traffic.add("end")
        seconds = time.perf_counter() - began
        return figures(traffic, memory, seconds, model.n_iter_, model.inertia_)


class Traffic:
    """Bytes that workers have sent to each other, by the kind of the step that sent them."""

    def __init__(self, client: Any) -> None:
        self.by_kind: dict[str, dict[str, int]] = {}
        self.total = 0
        self._client = client

    def add(self, kind: str) -> None:
        """Add the bytes that were sent since the last call to a kind of steps."""
        before, self.total = self.total, sum(self._client.run(sent_bytes).values())
        own = self.by_kind.setdefault(kind, {"steps": 0, "bytes": 0})
        own["steps"] += 1
        own["bytes"] += self.total - before


def figures(traffic: Traffic, memory: PeakMemory, seconds: float, n_rounds: int, inertia: float) -> Json:
    """Return all figures of a fit, or of its rounds so far."""
    sent, model_bytes, label_bytes = traffic.total, K * D * 8, ROWS_PER_SHARD * 4
    return {
        "seconds": seconds,
        "rounds": n_rounds,
        "inertia": inertia,
        "peak_megabytes": dict(memory.peaks),
        "bytes_sent": sent,
        # Files without this entry leave out centres and sums, whose sizes Dask did not know.
        "counts_all_results": True,
        "bytes_sent_per_round": sent / max(1, n_rounds),
        # A round has two waves. With two workers, each wave sends at least a snapshot and a sum to the
        # other worker. Sums of shards on different workers meet in up to half of the additions. The
        # labels of a shard travel with its sums.
        "calculated_bytes_per_round": [
            2 * 2 * model_bytes,
            2 * model_bytes + N_SHARDS / 2 * (model_bytes + label_bytes),
        ],
        "bytes_sent_by_kind": traffic.by_kind,
    }


def after_round(traffic: Traffic, memory: PeakMemory) -> Callable[[Any], None]:
    """Return a callback that prints a line per round, and stores the figures so far."""
    n_rounds = 0

    def report(record: Any) -> None:
        nonlocal n_rounds
        n_rounds += record.kind != "start"
        traffic.add(record.kind)
        peaks = ", ".join(f"{name} {peak:,.0f} MB" for name, peak in memory.peaks.items())
        print(
            f"  {record.kind} {n_rounds}, {record.seconds:.1f} s: inertia {record.inertia:.6g}, {peaks}",
            flush=True,
        )
        found = figures(traffic, memory, record.seconds, n_rounds, record.inertia)
        write_json(partial_file(), {**settings(), **found}, indent=1)

    return report


def partial_file() -> Path:
    """Return the file with the figures of a fit that runs or was interrupted."""
    return RESULTS / "distributed_memory_partial.json"


def settings() -> Json:
    """Return the sizes of the problem."""
    sizes = {"n": N_SHARDS * ROWS_PER_SHARD, "d": D, "k": K, "n_shards": N_SHARDS}
    return {"sizes": sizes, "memory_limit": MEMORY_LIMIT}


def distributed_memory() -> None:
    """Fit 10,000,000 rows under a memory limit: memory and traffic."""
    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder)
        found = measure(folder)
    save_result("distributed_memory", {**settings(), **found})
    partial_file().unlink(missing_ok=True)


BENCHMARKS = [distributed_memory]
