"""Equal labels in one process, on Dask and on Ray, with 1, 2 and 3 workers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from boostkmeans.distributed import BoostKMeans, open_shards
from conformance import ALL, Configuration, blocks, digest, one_process, outcome_of, small_samples
from dask_processes import DaskProcesses
from expected_labels import check_equal
from ray_processes import ray_workers
from tally import TALLY

pytest_plugins = ("cluster_suite",)
ENGINES = [f"{engine} {n}" for engine in ("one process", "dask", "ray") for n in (1, 2, 3)]


@pytest.fixture(scope="module", params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return the name of an engine with its number of workers, and the arguments of fits on it."""
    engine, n = request.param.rsplit(" ", 1)
    if engine == "dask":
        with DaskProcesses(tmp_path_factory.mktemp("dask"), int(n)) as cluster:
            yield request.param, {"engine": cluster.client}
    elif engine == "ray":
        with ray_workers(int(n)):
            yield request.param, {"engine": "ray"}
    else:
        yield request.param, {"engine": None, "n_threads": int(n)}


@pytest.mark.parametrize("configuration", ALL, ids=lambda one: one.name)
def test_labels_are_equal(configuration: Configuration, place: Any) -> None:
    where, arguments = place
    check_equal(configuration.name, where, configuration.outcome(**arguments))


def test_labels_of_files_are_equal(place: Any, tmp_path: Any) -> None:
    """Shards in files have the labels of the same blocks in memory."""
    where, arguments = place
    X = np.random.default_rng(3).normal(size=(2000, 5)).astype(np.float32)
    parts = [one for one in blocks(X) if len(one)]
    for number, part in enumerate(parts):
        np.save(tmp_path / f"part-{number}.npy", part)
    settings: Any = {"n_clusters": 20, "random_state": 0, "max_iter": 5}
    with small_samples(), one_process():
        in_memory = BoostKMeans(**settings).fit(parts)
        in_files = BoostKMeans(**settings, **arguments).fit(open_shards(f"{tmp_path}/part-*.npy"))
    assert outcome_of(in_files).inertia == in_memory.inertia_
    assert outcome_of(in_files).labels == digest(in_memory.to_local().labels_)
    TALLY.count_equal("files", where)
