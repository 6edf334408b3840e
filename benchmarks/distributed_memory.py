"""Memory and traffic of a distributed fit of 10,000,000 rows under a memory limit per worker.

The benchmark writes 40 shards of synthetic float16 rows (2.5 GB) to a temporary folder, fits them on
Dask with two single-threaded workers, and stores the peak memory of workers, scheduler and driver, and
the bytes that workers sent to each other, beside the calculation.
"""

import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from environment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
import psutil

from boostkmeans.distributed import BoostKMeans, open_shards
from result_files import save_result

N_SHARDS, ROWS_PER_SHARD, D, K = 40, 250_000, 128, 1_000
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
    """Return the bytes that a worker has sent to others."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def measure(folder: str) -> Json:
    """Fit the shards, and return all figures."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=MEMORY_LIMIT, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        import os

        pids = client.run(os.getpid)
        processes = {f"worker {i}": pid for i, pid in enumerate(pids.values())}
        processes["driver and scheduler"] = os.getpid()
        began = time.perf_counter()
        with PeakMemory(processes) as memory:
            shards = open_shards(folder)
            model = BoostKMeans(K, random_state=0, engine=client).fit(shards)
        seconds = time.perf_counter() - began
        sent = sum(client.run(sent_bytes).values())
    rounds = model.n_iter_
    model_bytes = K * D * 8
    return {
        "seconds": seconds,
        "rounds": rounds,
        "inertia": model.inertia_,
        "peak_megabytes": memory.peaks,
        "bytes_sent": sent,
        "bytes_sent_per_round": sent / rounds,
        # A round has two waves. With two workers, each wave sends at least a snapshot and a sum to the
        # other worker. Sums of shards on different workers meet in up to half of the additions.
        "calculated_bytes_per_round": [2 * 2 * model_bytes, (2 + N_SHARDS / 2) * model_bytes],
    }


def distributed_memory() -> None:
    """Fit 10,000,000 rows under a memory limit: memory and traffic."""
    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder)
        found = measure(folder)
    sizes = {"n": N_SHARDS * ROWS_PER_SHARD, "d": D, "k": K, "n_shards": N_SHARDS}
    save_result("distributed_memory", {"sizes": sizes, "memory_limit": MEMORY_LIMIT, **found})


BENCHMARKS = [distributed_memory]
