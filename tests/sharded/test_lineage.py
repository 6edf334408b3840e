"""Chains of tasks: a lost result is computed again from few tasks, however long the fit is."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from boostkmeans._runtime.instruction_set import instruction_set
from boostkmeans._sharded import checkpointing
from boostkmeans._sharded import run as run_module
from boostkmeans._sharded.backend import LocalBackend
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.run import ShardedPartition, copied, labelled
from boostkmeans._sharded.shard.sums import sum_shard
from boostkmeans._sharded.tasks import Tasks
from boostkmeans._storage.state import SavedState
from boostkmeans.distributed import BoostKMeans, _engine_choice
from conformance import small_samples

X = np.random.default_rng(0).normal(size=(2000, 8))
BLOCKS = np.array_split(X, 10)
MAX_ROWS = 500
"""Rows of two of the ten blocks, and some more."""


class LineageBackend(LocalBackend):
    """A backend of one process that measures the longest chain of tasks."""

    has_lineage = True

    def __init__(self, n_threads: int) -> None:
        super().__init__(n_threads)
        self.depths: WeakKeyDictionary[Future[Any], int] = WeakKeyDictionary()
        self.longest = 0

    def submit(
        self, function: Callable[..., Any], *args: Any, n_results: int = 1, isa: str | None = None
    ) -> Any:
        found = super().submit(function, *args, n_results=n_results, isa=isa)
        depth = 1 + max((self.depths[one] for one in args if isinstance(one, Future)), default=0)
        for one in [found] if n_results == 1 else found:
            self.depths[one] = depth
        self.longest = max(self.longest, depth)
        return found


def fit(n_rounds: int) -> tuple[BoostKMeans, LineageBackend]:
    """Fit in one process on a backend with lineage."""
    backends: list[LineageBackend] = []

    def start(n_threads: int) -> LineageBackend:
        backends.append(LineageBackend(n_threads))
        return backends[-1]

    with small_samples(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(_engine_choice, "LocalBackend", start)
        model = BoostKMeans(30, random_state=0, tol=0, max_iter=n_rounds, engine="local").fit(BLOCKS)
    return model, backends[0]


def test_chains_of_tasks_do_not_grow_with_the_number_of_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The labels are copied whatever their number, and at most `MAX_ROWS` of them at a time."""
    monkeypatch.setattr(run_module, "ROWS_COPIED_AT_ONCE", MAX_ROWS)
    get, most = Tasks.get, 0

    def get_and_count(self: Tasks, *references: Any) -> Sequence[Any]:
        nonlocal most
        values = get(self, *references)
        labels = [one for one in values if isinstance(one, np.ndarray) and one.dtype == np.int32]
        most = max(most, sum(map(len, labels)))
        return values

    monkeypatch.setattr(Tasks, "get", get_and_count)
    few, short = fit(2 * run_module.ROUNDS_PER_COPY)
    many, long = fit(5 * run_module.ROUNDS_PER_COPY)
    assert many.n_iter_ > few.n_iter_ + run_module.ROUNDS_PER_COPY
    assert 0 < most <= MAX_ROWS
    assert long.longest <= short.longest + 2 * run_module.ROUNDS_PER_COPY
    monkeypatch.setattr(LineageBackend, "has_lineage", False)
    same, longer = fit(5 * run_module.ROUNDS_PER_COPY)
    assert longer.longest > 2 * long.longest
    for found, expected in zip(many.labels_, same.labels_, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert many.inertia_ == same.inertia_


class TestEmptyClusters:
    """Labels do not tell where an empty cluster is."""

    @pytest.fixture
    def rows(self) -> Iterator[ShardedRows]:
        with closing(LocalBackend(1)) as backend:
            tasks = Tasks(backend, instruction_set(), 1)
            names = [str(i) for i in range(len(BLOCKS))]
            yield ShardedRows.describe(tasks, BLOCKS, names, None, "euclidean", "test")

    @pytest.fixture
    def partition(self, rows: ShardedRows) -> ShardedPartition:
        """Return a partition into four clusters, of which the third has lost its rows."""
        before = [(np.arange(len(one)) % 4).astype(np.int32) for one in BLOCKS]
        after = [np.where(one == 2, 1, one).astype(np.int32) for one in before]
        sums = [
            rows.tasks.submit(sum_shard, *shard, one, 4)
            for shard, one in zip(rows.shards, after, strict=True)
        ]
        snapshot = labelled(rows, before, 4).snapshot
        return ShardedPartition.from_sums(rows, list(after), sums, snapshot)

    def check_equal(self, rows: ShardedRows, found: ShardedPartition, given: ShardedPartition) -> None:
        snapshots = rows.tasks.get(found.snapshot, given.snapshot)
        for name, value in vars(snapshots[0]).items():
            np.testing.assert_array_equal(value, getattr(snapshots[1], name))
        assert found.summary == given.summary
        assert found.summary.n_empty == 1

    def test_copies_keep_their_positions(self, rows: ShardedRows, partition: ShardedPartition) -> None:
        (snapshot,) = rows.tasks.get(partition.snapshot)
        assert snapshot.composites[2].any()
        self.check_equal(rows, copied(rows, partition, 4), partition)

    def test_checkpoints_keep_their_positions(
        self, rows: ShardedRows, partition: ShardedPartition
    ) -> None:
        state = checkpointing._partition_state(rows, partition)
        saved = SavedState.of("fit.ckpt", "partition", state)
        self.check_equal(rows, checkpointing._restore_partition(saved, rows, 4), partition)
        state["positions"] = np.zeros((2, X.shape[1]))
        saved = SavedState.of("fit.ckpt", "partition", state)
        with pytest.raises(ValueError, match="those of 1 empty clusters"):
            checkpointing._restore_partition(saved, rows, 4)
