"""Simulation of large distributed fits, from measured times of single tasks and a model of the network.

`python benchmarks/run.py cluster_simulation` measures the tasks of one shard on one thread. The machine
should do nothing else. `python benchmarks/cluster_simulation.py` simulates again with the stored times.

A round has two waves. A wave broadcasts the snapshot of all clusters, sweeps half of the shards, and
adds up their sums, up to four at a time. A link of a machine transfers one result at a time. Each fit is
simulated with favourable and with unfavourable assumptions: see `Assumptions`. Tasks are distributed
evenly: a worker runs the same number of tasks, rounded up. No worker is lost, no row travels, and copies
between processes of one machine take no time.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from environment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

from boostkmeans._data.rows import Rows
from boostkmeans._engine.plan import REPAIR_ROUNDS, RequestedSettings
from boostkmeans._sharded.backend import FAN_IN
from boostkmeans._sharded.fit import MAX_SAMPLE_BYTES, SAMPLE_PER_CLUSTER
from boostkmeans._sharded.rounds import MAX_SETTLING_ROUNDS
from boostkmeans._sharded.run import MAX_USES, ROUNDS_PER_COPY
from boostkmeans._sharded.shard.block import describe_block
from boostkmeans._sharded.shard.candidate_groups import CandidateGroups
from boostkmeans._sharded.shard.placing import place_shard
from boostkmeans._sharded.shard.repairing import HalfCentres, halve_shard
from boostkmeans._sharded.shard.sampling import Sample, SampleFit, fit_sample
from boostkmeans._sharded.shard.sums import add_sums, make_snapshot, sum_shard
from boostkmeans._sharded.shard.sweeping import SweepRequest, sweep_shard
from boostkmeans._sharded.shard.view import ShardView
from result_files import RESULTS, read_result, save_result, write_json

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
# Rounds of a fit with quality "balanced": early sweeps, annealing and descent.
EARLY, ANNEALED, DESCENT = 6, 10, 20
BYTES_PER_LABEL = 4


@dataclass(frozen=True)
class Assumptions:
    """What the time of a fit depends on, and the tasks do not tell."""

    repairs: int
    """Number of repairs."""
    settling: int
    """Number of rounds after a repair, around the clusters that it changed."""
    shared_memory: bool
    """True if all processes of a machine share one copy of a result, as with the object store of Ray,
    and sums of one machine are added there before they travel. Otherwise each process receives a copy,
    as with single-threaded workers of Dask, and sums travel as the numbers of the shards demand."""
    all_processors: bool
    """True if the tasks for which all shards wait use all processors of a machine; otherwise one."""
    label_copies: int
    """Number of partitions whose labels pass through the driver: the current and the best one."""


ASSUMPTIONS = {
    "low": Assumptions(2, 1, shared_memory=True, all_processors=True, label_copies=1),
    # The number of repairs is the limit of quality "balanced".
    "high": Assumptions(
        REPAIR_ROUNDS["balanced"],
        MAX_SETTLING_ROUNDS,
        shared_memory=False,
        all_processors=False,
        label_copies=2,
    ),
}


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


@dataclass(frozen=True)
class Simulation:
    """A simulated fit under some assumptions."""

    of: Scenario
    tasks: Json
    """Seconds of each task of one shard."""
    assumed: Assumptions

    @property
    def by_centres(self) -> float:
        """Number of clusters relative to the measured tasks."""
        return self.of.n_clusters / K_MEASURED

    @property
    def model_bytes(self) -> int:
        """Bytes of a snapshot, or of a sum."""
        return self.of.n_clusters * D * 8

    @property
    def wave(self) -> int:
        """Number of shards of a wave."""
        return self.of.n_shards // WAVES

    @property
    def sample_rows(self) -> int:
        """Number of sampled rows, which the size of the sample in bytes limits."""
        wanted = SAMPLE_PER_CLUSTER["balanced"] * self.of.n_clusters
        return min(wanted, MAX_SAMPLE_BYTES // self.row_bytes)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return D * self.of.bytes_per_value

    def parallel(self, task: str) -> float:
        """Return the seconds of a task on all shards; copies of the model do not scale with rows."""
        one, copies = self.of, 2 * self.tasks["snapshot copy"]
        by_rows = one.n_rows / one.n_shards / N_MEASURED
        seconds = max(0.0, self.tasks[task] - copies) * by_rows + copies * self.by_centres + PER_TASK
        return float(math.ceil(one.n_shards / one.workers) * seconds)

    def alone(self, seconds: float) -> float:
        """Return the seconds of a task for which all shards wait, from those on one thread."""
        return seconds / self.of.cores if self.assumed.all_processors else seconds

    def levels(self) -> list[int]:
        """Return the number of additions on each level of the tree of sums of a wave."""
        counts, left = [], self.wave
        while left > 1:
            left = math.ceil(left / FAN_IN)
            counts.append(left)
        return counts

    def additions(self) -> float:
        """Return the seconds in which the sums of a wave are added."""
        steps = sum(math.ceil(count / self.of.workers) for count in self.levels())
        return float(steps * (FAN_IN - 1) * self.tasks["addition"] * self.by_centres)

    def transfers(self) -> float:
        """Return the seconds in which the snapshot and the sums of a wave travel."""
        machines = self.of.n_machines
        if machines == 1:
            return 0.0
        hops = math.ceil(math.log2(machines))
        if self.assumed.shared_memory:  # One snapshot and one sum per machine, over binary trees.
            return 2 * hops * self.model_bytes / NETWORK
        arriving = sum(math.ceil(count / machines) * (FAN_IN - 1) for count in self.levels())
        copies = hops + self.of.cores - 1
        seconds = (arriving + copies) * self.model_bytes / NETWORK
        return float(seconds + self.wave * self._label_bytes_of_shard / machines / NETWORK)

    @property
    def _label_bytes_of_shard(self) -> float:
        return self.of.n_rows / self.of.n_shards * BYTES_PER_LABEL

    def driver(self) -> float:
        """Return the seconds per wave in which the driver or the scheduler is the only one to work."""
        n_tasks = self.wave + sum(self.levels())
        return PER_WAVE if self.assumed.shared_memory else PER_WAVE + n_tasks * PER_TASK

    def per_round(self) -> float:
        """Return the seconds of a round in addition to its sweeps."""
        return WAVES * (self.transfers() + self.additions() + self.driver())

    def candidates(self) -> float:
        """Return the seconds of one search for candidates, which compares groups of centres."""
        k = self.of.n_clusters
        growth = self.by_centres * math.log2(k) / math.log2(K_MEASURED)
        return self.alone(self.tasks["candidates"] * growth)

    def repair(self) -> float:
        """Return the seconds of a repair: halves of all clusters, their sums, swaps, and rounds."""
        # Sampled rows are assigned, and clusters split in two: each takes about as long as a placement.
        halve = self.alone(2 * self.tasks["place"] * self.sample_rows / N_MEASURED)
        passes = self.parallel("halves") + self.parallel("sums")
        sums = (2 + 1) * self.per_round()  # Those of both halves, and those after the swaps.
        settle = self.assumed.settling * (self.parallel("sweep") + self.per_round())
        return halve + passes + sums + self.candidates() + settle

    def parts(self) -> dict[str, float]:
        """Return the seconds of each part of the fit."""
        one, assumed, n_rounds = self.of, self.assumed, EARLY + ANNEALED + DESCENT
        fit = self.tasks["sample"] * self.sample_rows / (N_MEASURED / 2)
        travel = self.sample_rows * self.row_bytes / NETWORK if one.n_machines > 1 else 0.0
        n_copies = (n_rounds + assumed.repairs * (assumed.settling + 1)) // ROUNDS_PER_COPY
        labels = 2 * one.n_rows * BYTES_PER_LABEL / NETWORK + self.parallel("sums") + self.per_round()
        return {
            "read": one.n_rows * self.row_bytes / (STORAGE * one.n_machines),
            "describe": self.parallel("describe"),
            "sample": travel + self.alone(fit),
            "place": self.parallel("place") + self.per_round(),
            "sweeps": (EARLY + DESCENT) * self.parallel("sweep")
            + ANNEALED * self.parallel("annealed sweep"),
            "network": n_rounds * WAVES * self.transfers(),
            "additions": n_rounds * WAVES * self.additions(),
            "candidates": math.ceil(n_rounds / MAX_USES) * self.candidates(),
            "repairs": assumed.repairs * self.repair(),
            "labels through the driver": n_copies * assumed.label_copies * labels,
            "driver and scheduler": n_rounds * WAVES * self.driver(),
        }

    def bytes_per_round(self) -> float:
        """Return the bytes that machines send to each other in a round."""
        one = self.of
        if self.assumed.shared_memory or one.n_machines == 1:
            return 2 * WAVES * (one.n_machines - 1) * self.model_bytes
        other = 1 - 1 / one.n_machines  # Share of the sums whose addition runs on another machine.
        n_sums = self.wave + sum(self.levels()) - 1
        snapshots = (one.workers - one.cores) * self.model_bytes
        sums = other * (n_sums * self.model_bytes + self.wave * self._label_bytes_of_shard)
        return WAVES * (snapshots + sums)

    def memory(self) -> float:
        """Return the bytes that a machine needs for its rows, their labels, the model and the sample."""
        one = self.of
        rows = one.n_rows * (self.row_bytes + 2 * BYTES_PER_LABEL) / one.n_machines
        # A process needs a copy of the snapshot, its sums, and up to three more of them to add up.
        copies = 2 + 3 * one.cores if self.assumed.shared_memory else 6 * one.cores
        # The sample and its parts.
        return rows + copies * self.model_bytes + 2 * self.sample_rows * self.row_bytes

    def figures(self) -> Json:
        """Return all figures."""
        parts = self.parts()
        return {
            "minutes": sum(parts.values()) / 60,
            "parts": parts,
            "bottleneck": max(parts, key=lambda name: parts[name]),
            "bytes_per_round": self.bytes_per_round(),
            "memory_per_machine_gigabytes": self.memory() / 1e9,
        }


def simulate(one: Scenario, tasks: Json) -> Json:
    """Return the figures of a fit with favourable and with unfavourable assumptions."""
    found = {name: Simulation(one, tasks, assumed).figures() for name, assumed in ASSUMPTIONS.items()}
    return {"published": one.published, **found}


def simulations(tasks: Json) -> Json:
    """Return the figures of all scenarios, and what they rest on."""
    return {
        "tasks": tasks,
        "measured": {"n": N_MEASURED, "k": K_MEASURED, "d": D},
        "assumptions": {name: asdict(one) for name, one in ASSUMPTIONS.items()},
        "rounds": EARLY + ANNEALED + DESCENT,
        "scenarios": {one.name: simulate(one, tasks) for one in SCENARIOS},
    }


def cluster_simulation() -> None:
    """Simulate large distributed fits from the times of single tasks."""
    save_result("cluster_simulation", simulations(measure_tasks()))


def simulate_again() -> None:
    """Simulate with the stored times of tasks. The environment remains that of the measurement."""
    path = RESULTS / "cluster_simulation.json"
    stored = read_result(path)
    found = simulations(stored["tasks"])
    content = {"name": stored["name"], **found, "environment": stored["environment"]}
    write_json(path, content, indent=1)


BENCHMARKS = [cluster_simulation]

if __name__ == "__main__":
    simulate_again()
