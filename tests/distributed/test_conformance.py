"""Equal labels in one process, on Dask and on Ray. `make test-cluster` runs the complete suite."""

import os
import pickle
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostkmeans._sharded.tasks import Tasks
from boostkmeans.distributed import BoostKMeans
from boostkmeans.distributed._engines.dask_backend import DaskBackend
from conformance import SHORT, Configuration, blocks, outcome_of, small_samples
from conftest import blobs, same_partition

pytest_plugins = ("cluster_fixtures",)
pytestmark = pytest.mark.process
FEW_CLUSTERS, CANDIDATES = SHORT[:2]


@pytest.fixture(params=["dask", "ray"])
def engine(request: pytest.FixtureRequest) -> Any:
    """Run the test on both engines, with two workers."""
    cluster = request.getfixturevalue("dask_client" if request.param == "dask" else "local_ray")
    return cluster if request.param == "dask" else "ray"


@pytest.mark.parametrize("configuration", SHORT, ids=lambda one: one.name)
def test_labels_are_equal(configuration: Configuration, dask_client: Any, local_ray: Any) -> None:
    expected = configuration.outcome()
    assert configuration.outcome(dask_client) == expected
    assert configuration.outcome("ray") == expected


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(dask_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill a worker after half of the sweeps of a round have been submitted."""
    pids = list(dask_client.run(os.getpid).values())
    submit, n_sweeps = DaskBackend.submit, 0

    def submit_and_kill(self: DaskBackend, function: Any, *args: Any, **options: Any) -> Any:
        nonlocal n_sweeps
        references = submit(self, function, *args, **options)
        n_sweeps += function.__name__ == "sweep_shard"
        if n_sweeps == 14 and len(pids) == 2:  # four shards: in the fourth round
            os.kill(pids.pop(), signal.SIGKILL)
        return references

    expected = FEW_CLUSTERS.outcome()
    monkeypatch.setattr(DaskBackend, "submit", submit_and_kill)
    assert FEW_CLUSTERS.outcome(dask_client) == expected
    assert len(pids) == 1, "no worker was killed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "configuration"),
    [("dask", "ray", CANDIDATES), ("ray", None, FEW_CLUSTERS), (None, "dask", FEW_CLUSTERS)],
)
def test_another_engine_resumes_the_fit(
    first: str | None,
    second: str | None,
    configuration: Configuration,
    dask_client: Any,
    local_ray: Any,
    tmp_path: Path,
) -> None:
    engines = {"dask": dask_client, "ray": "ray", None: None}
    checkpoint = tmp_path / "fit.checkpoint"
    seen: list[Any] = []

    def stop(record: Any) -> bool:
        seen.append(record)
        return len(seen) > 3

    configuration.fit(engines[first], checkpoint=checkpoint, callback=stop)
    assert len(seen) == 4
    resumed = configuration.outcome(engines[second], checkpoint=checkpoint)
    assert resumed == configuration.outcome()


class TestBugsOfOthers:
    """Bugs of cuML's distributed k-means."""

    def test_many_clusters_do_not_hang(self, engine: Any) -> None:
        X = np.random.default_rng(0).normal(size=(9000, 2)).astype(np.float32)
        model = BoostKMeans(8200, engine=engine, random_state=0, max_iter=1, quality="fast")
        model.fit(blocks(X))
        assert model.cluster_centers_.shape == (8200, 2)
        assert model.cluster_sizes_.min() >= 1

    def test_inertia_is_that_of_all_rows(self, engine: Any) -> None:
        X = np.random.default_rng(1).normal(size=(2000, 4))
        model = BoostKMeans(10, engine=engine, random_state=0, max_iter=3).fit(blocks(X))
        labels = model.to_local().labels_
        inertia = ((X - model.cluster_centers_[labels]) ** 2).sum()
        assert model.inertia_ == pytest.approx(inertia)
        assert model.inertia_ > 0

    def test_all_partitions_have_labels_in_their_order(self, engine: Any) -> None:
        X, planted = blobs(2000, 2, 9, seed=4, spread=100.0)
        parts = blocks(X)
        with small_samples():
            model = BoostKMeans(9, engine=engine, random_state=0, repair=3).fit(parts)
        assert [len(one) for one in model.labels_] == [len(one) for one in parts]
        assert same_partition(model.to_local().labels_, planted)
        np.testing.assert_array_equal(np.concatenate(model.predict(parts)), model.to_local().labels_)

    def test_dask_arrays_of_labels_have_the_order_of_x(self, dask_client: Any) -> None:
        import dask.array as da

        X, planted = blobs(1200, 2, 6, seed=5, spread=100.0)
        chunks = (700, 100, 400)
        model: Any = BoostKMeans(6, engine=dask_client, random_state=0)
        model.fit(da.from_array(X, chunks=(chunks, (2,))))
        assert model.labels_.chunks == (chunks,)
        assert same_partition(dask_client.compute(model.labels_).result(), planted)

    def test_the_driver_gathers_no_models(self, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Snapshots and sums of shards stay on the workers."""
        get = Tasks.get
        sizes: list[int] = []

        def get_and_measure(self: Tasks, *references: Any) -> Sequence[Any]:
            values = get(self, *references)
            sizes.extend(len(pickle.dumps(value)) for value in values)
            return values

        def measure_rounds_only(record: Any) -> None:
            if record.kind == "start":
                sizes.clear()

        X = np.random.default_rng(2).normal(size=(2000, 64)).astype(np.float32)
        model = BoostKMeans(40, engine=engine, random_state=0, max_iter=6, callback=measure_rounds_only)
        monkeypatch.setattr(Tasks, "get", get_and_measure)
        with small_samples():
            model.fit(blocks(X))
        assert model.n_iter_ == 6
        model_bytes = model.cluster_centers_.nbytes
        assert sum(size >= model_bytes for size in sizes) == 1, "only the final centres"
        assert sum(sizes) < 2 * model_bytes


def test_outcomes_tell_fits_apart() -> None:
    """The comparisons above can fail."""
    first, second = FEW_CLUSTERS.fit(max_iter=3), FEW_CLUSTERS.fit(max_iter=4)
    assert outcome_of(first) == outcome_of(FEW_CLUSTERS.fit(max_iter=3, n_threads=1))
    assert outcome_of(first).labels != outcome_of(second).labels
