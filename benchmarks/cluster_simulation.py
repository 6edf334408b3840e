"""Simulation of large distributed fits, from measured times of single tasks and a model of the network.

The benchmark measures the tasks of one shard on one thread. The machine should do nothing else.

A round has two waves. A wave broadcasts the snapshot of all clusters, sweeps half of the shards, and
adds up their sums. Both use a binary tree of workers, so each takes log2(workers) transfers of
k x d x 8 bytes. Workers that share a machine share one copy of the snapshot. Tasks are distributed
evenly: a worker runs the same number of tasks, rounded up.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from environment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

from boostkmeans._data.rows import Rows
from boostkmeans._engine.plan import RequestedSettings
from boostkmeans._sharded.shard.block import describe_block
from boostkmeans._sharded.shard.candidate_groups import CandidateGroups
from boostkmeans._sharded.shard.placing import place_shard
from boostkmeans._sharded.shard.repairing import HalfCentres, halve_shard
from boostkmeans._sharded.shard.sampling import Sample, SampleFit, fit_sample
from boostkmeans._sharded.shard.sums import add_sums, make_snapshot, sum_shard
from boostkmeans._sharded.shard.sweeping import SweepRequest, sweep_shard
from boostkmeans._sharded.shard.view import ShardView
from result_files import save_result

# Sizes at which tasks are measured. The number of rows per cluster and shard is that of the scenarios.
D = 768
N_MEASURED, K_MEASURED = 60_000, 4_096
CANDIDATES = 128
# Bytes per second between two machines (10 Gbit/s), and from storage to one machine.
NETWORK = 1.25e9
STORAGE = 1e9
# Number of waves in a round.
WAVES = 2
# Seconds per task and per wave for the scheduler and the driver.
PER_TASK, PER_WAVE = 0.001, 0.05
# Rounds of a fit with quality "balanced": early sweeps, annealing, descent, and rounds after repairs.
EARLY, ANNEALED, DESCENT, REPAIRS = 6, 10, 20, 2
SAMPLE_PER_CLUSTER = 32


@dataclass(frozen=True)
class Scenario:
    """Data and cluster of a simulated fit."""

    name: str
    n_rows: int
    n_clusters: int
    n_machines: int
    cores: int
    n_shards: int
    published: str
    bytes_per_value: int = 2

    @property
    def workers(self) -> int:
        """Number of single-threaded workers."""
        return self.n_machines * self.cores


SCENARIOS = (
    Scenario("100M x 768, k = 16,384, one machine with 16 cores", 100_000_000, 16_384, 1, 16, 160,
             "VectorChord: 8 minutes, 12 GB"),
    Scenario("1B x 768, k = 100,000, 100 machines with 16 cores", 1_000_000_000, 100_000, 100, 16,
             3_200, "estimate in the design: 8 to 10 minutes"),
)  # fmt: skip


def median_of(call: Callable[[], Any], repeats: int = 3) -> float:
    """Return the median seconds of a call."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return sorted(seconds)[len(seconds) // 2]


def measure_tasks() -> Json:
    """Return the seconds of each task of one shard, on one thread."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(K_MEASURED, D))
    labels = (np.arange(N_MEASURED) % K_MEASURED).astype(np.int32)
    X = (centres[labels] + 2.0 * rng.normal(size=(N_MEASURED, D))).astype(np.float16)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    view = ShardView(0, "shard", rows.frame, False, None, None)
    sums = sum_shard(X, view, labels, K_MEASURED)
    snapshot, _ = make_snapshot(sums, None)
    per_cluster = N_MEASURED / K_MEASURED
    groups = CandidateGroups.build(snapshot, CANDIDATES, per_cluster, 0, 1)
    start = SampleFit(snapshot.view().centres, labels[:0], 0, 0, "")
    halves = HalfCentres(np.vstack([start.centres, start.centres * (1 + 1e-9)]))
    sample = Sample(X[: N_MEASURED // 2], None, rows.frame, False)
    requested = RequestedSettings("bisecting", False, 0.0, CANDIDATES, "fast", "best", 4)
    moved = rng.permutation(labels)
    annealed = SweepRequest(seed=0, temperature=0.06)
    return {
        "describe": median_of(lambda: describe_block(X, None, "euclidean", "")),
        "place": median_of(lambda: place_shard(X, view, start, CANDIDATES)),
        "sweep": median_of(lambda: sweep_shard(X, view, labels, snapshot, groups, SweepRequest(0))),
        "annealed sweep": median_of(lambda: sweep_shard(X, view, labels, snapshot, groups, annealed)),
        "sums": median_of(lambda: sum_shard(X, view, moved, K_MEASURED)),
        "halves": median_of(lambda: halve_shard(X, view, labels, halves)),
        "addition": median_of(lambda: add_sums(sums, sums)),
        "candidates": median_of(
            lambda: CandidateGroups.build(snapshot, CANDIDATES, per_cluster, 0, 1), 1
        ),
        "sample": median_of(lambda: fit_sample(sample, requested, K_MEASURED, 0, 1, math.inf), 1),
        "snapshot copy": median_of(lambda: snapshot.partition(labels)),
    }


def simulate(one: Scenario, tasks: Json) -> Json:
    """Return minutes, bytes and the largest parts of a simulated fit."""
    rows = one.n_rows / one.n_shards
    by_rows, by_centres = rows / N_MEASURED, one.n_clusters / K_MEASURED
    per_worker = math.ceil(one.n_shards / one.workers)
    model_bytes = one.n_clusters * D * 8
    hops = math.ceil(math.log2(max(one.n_machines, 1))) if one.n_machines > 1 else 0
    transfer = hops * model_bytes / NETWORK
    # Adding sums of the workers of one machine takes log2(cores) steps in its memory.
    additions = math.ceil(math.log2(one.workers)) + per_worker - 1
    addition = additions * tasks["addition"] * by_centres

    def parallel(task: str) -> float:
        """Return the seconds of a task on all shards; copies of the model do not scale with rows."""
        copies = 2 * tasks["snapshot copy"]
        one_task = max(0.0, tasks[task] - copies) * by_rows + copies * by_centres + PER_TASK
        return float(per_worker * one_task)

    per_round = WAVES * (2 * transfer + addition + PER_WAVE)
    # The search for candidates compares groups of centres: k log k. The worker uses all cores.
    search = tasks["candidates"] * by_centres * math.log2(one.n_clusters) / 12 / one.cores
    sample = tasks["sample"] * (SAMPLE_PER_CLUSTER * one.n_clusters / (N_MEASURED / 2)) / one.cores
    n_rounds = EARLY + ANNEALED + DESCENT
    parts = {
        "read": one.n_rows * D * one.bytes_per_value / (STORAGE * one.n_machines),
        "describe": parallel("describe"),
        "sample": sample,
        "place": parallel("place") + per_round,
        "sweeps": (EARLY + DESCENT) * parallel("sweep") + ANNEALED * parallel("annealed sweep"),
        "network": n_rounds * WAVES * 2 * transfer,
        "additions": n_rounds * WAVES * addition,
        "candidates": math.ceil(n_rounds / 4) * search,
        "repairs": REPAIRS * (2 * parallel("halves") + 2 * parallel("sweep") + 4 * per_round),
        "driver": n_rounds * WAVES * PER_WAVE,
    }
    return {
        "minutes": sum(parts.values()) / 60,
        "parts": parts,
        "bottleneck": max(parts, key=lambda name: parts[name]),
        "model_megabytes": model_bytes / 1e6,
        "bytes_per_round": 2 * WAVES * (one.n_machines - 1) * model_bytes,
        "published": one.published,
        "memory_per_machine_gigabytes": (
            one.n_rows * (D * one.bytes_per_value + 8) / one.n_machines
            + (2 + 3 * one.cores) * model_bytes
        ) / 1e9,
    }  # fmt: skip


def cluster_simulation() -> None:
    """Simulate large distributed fits from the times of single tasks."""
    tasks = measure_tasks()
    found = {one.name: simulate(one, tasks) for one in SCENARIOS}
    sizes = {"n": N_MEASURED, "k": K_MEASURED, "d": D}
    save_result("cluster_simulation", {"tasks": tasks, "measured": sizes, "scenarios": found})


BENCHMARKS = [cluster_simulation]
