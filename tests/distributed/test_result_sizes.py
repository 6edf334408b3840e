"""Sizes of the results of tasks: by them, Dask places tasks, writes to disk and counts traffic."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pytest
from scipy import sparse

import conformance
from boostkmeans import curate
from boostkmeans._runtime.object_size import SizedByFields, object_size
from boostkmeans._sharded import backend, fit
from boostkmeans.distributed import BisectingBoostKMeans, BoostKMeans, open_shards
from conformance import one_process, small_samples

# Bytes of the pickle of an object that are not those of its arrays, such as names of classes. Dask's own
# estimate for an object with arrays is 56 bytes.
NAMES = 3000
# Results of at least this size are compared.
LARGE = 8000


@contextmanager
def recorded_results() -> Iterator[list[tuple[str, Any]]]:
    """Return a list of the results of all tasks of this process, with the names of their functions."""
    results: list[tuple[str, Any]] = []
    run = backend.call

    def call(isa: str | None, function: Callable[..., Any], *args: Any) -> Any:
        found = run(isa, function, *args)
        results.append((function.__name__, found))
        return found

    with mock.patch.object(backend, "call", call), mock.patch.object(fit, "call", call):
        yield results


def rows(d: int, dtype: Any = np.float32) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=(800, d)).astype(dtype) for _ in range(4)]


def fit_with_candidates() -> None:
    X = rows(4)
    model = BoostKMeans(512, random_state=0, max_iter=6, repair=2, annealing=0.0).fit(X)
    model.predict(X)
    model.transform(X)
    model.medoids(X)
    model.score(X)


def fit_in_few_dimensions() -> None:
    weights = [np.linspace(0.5, 1.5, 800) for _ in range(4)]
    BoostKMeans(60, random_state=0, dimensions=24, max_iter=12).fit(rows(300), sample_weight=weights)


def fit_sparse_cosine() -> None:
    X = conformance.blocks(sparse.random(4000, 3000, density=0.005, random_state=7, format="csr"))
    BoostKMeans(20, random_state=0, metric="cosine", max_iter=3).fit(X)


def fit_tree() -> None:
    X = rows(16)
    model = BisectingBoostKMeans(200, random_state=0, refine=True, max_iter=3).fit(X)
    model.predict(X, tree=True)


def fill_empty_clusters() -> None:
    X = rows(16)
    centres = np.concatenate([X[0][:100].astype(np.float64), np.full((20, 16), 1e3)])
    BoostKMeans(120, random_state=0, init=centres, max_iter=2).fit(X)


def find_duplicates() -> None:
    block = np.random.default_rng(0).normal(size=(1500, 32)).astype(np.float32)
    with TemporaryDirectory() as folder:
        for number in range(2):
            np.save(Path(folder, f"{number}.npy"), block + np.float32(1e-4 * number))
        curate.deduplicate(open_shards(folder), 0.99, engine="local", n_neighbours=8)


RUNS = (
    fit_with_candidates,
    fit_in_few_dimensions,
    fit_sparse_cosine,
    fit_tree,
    fill_empty_clusters,
    find_duplicates,
)


@pytest.fixture(scope="module")
def results() -> list[tuple[str, Any]]:
    """Return the results of the tasks of many fits. Results of tasks with several ones are separate."""
    with recorded_results() as found, small_samples(), one_process():
        for run in RUNS:
            run()
    parts = []
    for name, result in found:
        items = result if type(result) is tuple else (result,)
        parts += [(name, item) for item in items]
    return parts


def test_sizes_that_dask_sees_are_those_of_pickles(results: list[tuple[str, Any]]) -> None:
    sizeof = pytest.importorskip("dask.sizeof").sizeof
    wrong = set()
    for name, result in results:
        seen, true = sizeof(result), len(pickle.dumps(result, 5))
        if true >= LARGE and not 0.95 * true - NAMES <= seen <= 1.05 * true + NAMES:
            wrong.add((name, type(result).__name__, seen, true))
    assert not wrong


def test_all_dataclasses_of_results_report_their_sizes(results: list[tuple[str, Any]]) -> None:
    types = {type(one) for _, one in results if is_dataclass(one)}
    assert {one.__name__ for one in types} >= {
        "BlockDescription", "CandidateGroups", "ClusterTree", "HalfCentres", "Sample", "SampleFit",
        "ShardSums", "ShardView", "Snapshot", "SnapshotSummary", "Swaps",
    }  # fmt: skip
    assert all(issubclass(one, SizedByFields) for one in types)


def test_size_of_containers_and_views() -> None:
    array = np.zeros((100, 10))
    matrix = sparse.csr_matrix(np.eye(100))
    assert object_size(array[::2]) == 4000
    assert object_size(matrix) == matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert 16000 < object_size((array, [array])) < 16500
    assert 8000 < object_size({"a": array}) < 8500
