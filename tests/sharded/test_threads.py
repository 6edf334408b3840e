"""Threads of tasks for which all shards wait."""

from contextlib import closing
from typing import Any

import numpy as np
import pytest

from boostkmeans._data.rows import Rows
from boostkmeans._engine.plan import RequestedSettings
from boostkmeans._sharded.backend import LocalBackend
from boostkmeans._sharded.shard import candidate_groups, repairing
from boostkmeans._sharded.shard.sampling import Sample, fit_sample
from boostkmeans._sharded.shard.sums import make_snapshot, sum_shard
from boostkmeans._sharded.shard.trees import grow_tree
from boostkmeans._sharded.shard.view import ShardView
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.split_rules import SplitRules
from boostkmeans.distributed._fitting import threads_of_lone_tasks

K = 5


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of threads of all problems, on a worker of Dask or Ray with 3 processors."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("boostkmeans._runtime.threads._n_processors", lambda *_: 3)
    numbers: list[int] = []
    problem, build = Sample.problem, candidate_groups.CandidateGroups.build

    def recorded(self: Sample, n_clusters: int, n_threads: int) -> Problem:
        numbers.append(n_threads)
        return problem(self, n_clusters, n_threads)

    def recorded_build(*args: Any) -> Any:
        numbers.append(args[-1])
        return build(*args)

    monkeypatch.setattr(Sample, "problem", recorded)
    monkeypatch.setattr(candidate_groups.CandidateGroups, "build", recorded_build)
    return numbers


def test_tasks_that_all_shards_wait_for_use_all_processors(used: list[int]) -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    frame = Rows.in_own_frame(X, "euclidean", 1).frame
    sample = Sample(X, None, frame, False)
    labels = (np.arange(len(X)) % K).astype(np.int32)
    sums = sum_shard(X, ShardView(0, "shard", frame, False, None, None), labels, K)
    snapshot, _ = make_snapshot(sums, None)
    requested = RequestedSettings("auto", False, 0.0, None, "fast", "best", 4)
    first, second = (fit_sample(sample, requested, K, 0, n, np.inf).labels for n in (None, 1))
    grow_tree(sample, SplitRules(), K, 0, None)
    repairing.halve_sample(sample, snapshot, None, 0, None)
    candidate_groups.build_groups(snapshot, 3, 20.0, 0, None)
    assert used == [3, 1, 3, 3, 3]
    np.testing.assert_array_equal(first, second)


def test_limit_on_this_process_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with closing(LocalBackend(1)) as backend:
        assert threads_of_lone_tasks(backend, None) == 1
        assert threads_of_lone_tasks(backend, 2) == 2
