"""Labels and predictions in the form of X."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans import ParameterError
from boostkmeans._sharded.backend import LocalBackend
from boostkmeans.distributed import open_shards
from boostkmeans.distributed._dask_outputs import computed_array
from boostkmeans.distributed._engines.dask_backend import DaskBackend
from boostkmeans.distributed._engines.ray_backend import RayBackend
from boostkmeans.distributed._inputs import as_blocks
from boostkmeans.distributed._outputs import labels_like, map_blocks

pytest_plugins = ("cluster_fixtures",)
pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    # Ray Data sets its own deprecated options.
    pytest.mark.filterwarnings("ignore:`use_.*is deprecated:DeprecationWarning"),
]

ROWS = np.arange(20, dtype=np.float32).reshape(10, 2)
PARTS = [ROWS[:3], ROWS[3:3], ROWS[3:10]]
LENGTHS = [3, 0, 7]
LABELS = (ROWS[:, 0] // 4).astype(np.int32)


def part(i: int) -> NDArray[np.float32]:
    return PARTS[i]


def slow_part(i: int) -> NDArray[np.float32]:
    time.sleep(0.3)
    return PARTS[i]


def labels_of(rows: Any, divisor: int = 4, place: Any = None) -> NDArray[np.int32]:
    return np.asarray(rows[:, 0] // divisor, dtype=np.int32)


def scaled(rows: Any, factors: Any, place: Any) -> NDArray[np.float64]:
    return np.asarray(rows[:, :1] * factors, dtype=np.float64)


FACTORS = np.array([1.0, 2.0, 3.0])
EXPECTED = ROWS[:, :1].astype(np.float64) * FACTORS


def fitted_labels(X: Any, backend: Any, lengths: list[int] = LENGTHS) -> Any:
    references = [backend.submit(labels_of, one) for one in as_blocks(X, backend).references]
    return labels_like(X, references, lengths, backend)


def is_equal(labels: Any) -> bool:
    values = np.concatenate(labels) if isinstance(labels, list) else np.asarray(labels)
    return values.dtype == np.int32 and np.array_equal(values, LABELS)


def column_of(dataset: Any, name: str, ray: Any) -> NDArray[Any]:
    """Return a column of a Ray Dataset in the order of its blocks."""
    tables = ray.get(dataset.to_arrow_refs())
    values = [table.column(name).combine_chunks() for table in tables]
    arrays = [one.to_numpy(zero_copy_only=False) for one in values]
    return np.concatenate([np.stack(list(one)) for one in arrays])


def test_labels_of_dask_input(dask_backend: DaskBackend, dask_client: Any) -> None:
    import dask
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame(ROWS, columns=["a", "b"]), npartitions=2)
    with dask_client.as_current():
        for X, lengths in (
            (da.from_array(ROWS, chunks=((3, 0, 7), 2)), LENGTHS),
            (frame, [5, 5]),
            ([dask.delayed(part)(i) for i in range(3)], LENGTHS),
            (dask_client.map(part, range(3)), LENGTHS),
        ):
            labels = fitted_labels(X, dask_backend, lengths)
            assert isinstance(labels, da.Array)
            assert labels.chunks == (tuple(lengths),)
            assert labels.dtype == np.int32
            assert is_equal(labels.compute())
            assert is_equal(computed_array(labels))
            assert is_equal((labels + np.int32(0)).persist().compute())


def test_labels_survive_close(dask_backend: DaskBackend, dask_client: Any) -> None:
    import dask.array as da

    labels = fitted_labels(da.from_array(ROWS, chunks=(5, 2)), dask_backend, [5, 5])
    dask_backend.close()
    assert is_equal(computed_array(labels)), "without a default client"


def test_labels_and_predictions_on_ray_survive_close(ray_backend: RayBackend, local_ray: Any) -> None:
    import ray.data

    X = [local_ray.remote(slow_part).remote(i) for i in range(3)]
    predictions = map_blocks(X, labels_of, 4, ray_backend, dtype=np.int32)
    ray_backend.close()
    assert is_equal(local_ray.get(predictions))
    labels = fitted_labels(ray.data.from_numpy([PARTS[0], PARTS[2]]), ray_backend, [3, 7])
    ray_backend.close()
    assert is_equal(column_of(labels, "label", local_ray))


def test_labels_of_a_private_cluster_are_in_memory(dask_client: Any) -> None:
    import dask.array as da

    backend = DaskBackend(dask_client)
    backend.is_private = True
    labels = fitted_labels(da.from_array(ROWS, chunks=(5, 2)), backend, [5, 5])
    assert is_equal(labels.compute(scheduler="sync"))
    assert is_equal(computed_array(labels))


def test_labels_of_ray_input(ray_backend: RayBackend, local_ray: Any) -> None:
    import ray.data

    labels = fitted_labels([local_ray.remote(part).remote(i) for i in range(3)], ray_backend)
    assert all(isinstance(one, local_ray.ObjectRef) for one in labels)
    assert is_equal(ray_backend.get(labels))
    labels = fitted_labels(ray.data.from_numpy([PARTS[0], PARTS[2]]), ray_backend, [3, 7])
    assert labels.columns() == ["label"]
    assert is_equal(column_of(labels, "label", local_ray))


@pytest.mark.parametrize("engine", ["local", "dask", "ray"])
def test_labels_of_shards_and_arrays(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    backend = request.getfixturevalue(f"{engine}_backend")
    np.save(tmp_path / "a.npy", PARTS[0])
    np.save(tmp_path / "b.npy", PARTS[2])
    labels = fitted_labels(open_shards(tmp_path), backend, [3, 7])
    if engine == "dask":
        assert labels.chunks == ((3, 7),)
        with backend.client.as_current():
            labels = labels.compute()
    elif engine == "ray":
        labels = backend.get(labels)
    assert is_equal(labels)
    labels = fitted_labels(PARTS, backend)
    assert [len(one) for one in labels] == LENGTHS
    assert is_equal(labels)
    labels = fitted_labels(ROWS, backend, [10])
    assert isinstance(labels, np.ndarray)
    assert is_equal(labels)


def test_dask_maps_lazily(dask_backend: DaskBackend, dask_client: Any) -> None:
    import dask
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    array = da.from_array(ROWS, chunks=((3, 0, 7), 1))
    frame = dd.from_pandas(pd.DataFrame(ROWS, columns=["a", "b"]), npartitions=2)
    delayed = [dask.delayed(part)(i) for i in range(3)]
    futures = dask_client.map(part, range(3))
    with dask_client.as_current():
        for X in (array, array[array[:, 0] >= 0], frame, delayed, futures):
            labels = map_blocks(X, labels_of, 4, dask_backend, dtype=np.int32)
            values = map_blocks(X, scaled, FACTORS, dask_backend, dtype=np.float64, n_columns=3)
            assert isinstance(labels, da.Array)
            assert labels.ndim == 1
            assert labels.dtype == np.int32
            assert values.shape[1] == 3
            assert is_equal(labels.compute())
            assert np.array_equal(values.compute(), EXPECTED)
    assert labels.chunks[0] != array.chunks[0]
    assert map_blocks(array, labels_of, 4, dask_backend, dtype=np.int32).chunks == (tuple(LENGTHS),)


def test_dask_maps_only_when_asked(dask_backend: DaskBackend) -> None:
    import dask
    import dask.array as da

    def fail() -> NDArray[np.float32]:
        raise AssertionError("computed")

    X = [dask.delayed(fail)()]
    assert isinstance(map_blocks(X, labels_of, 4, dask_backend, dtype=np.int32), da.Array)


def test_ray_maps_datasets_lazily(ray_backend: RayBackend, local_ray: Any) -> None:
    import ray.data

    X = ray.data.from_numpy([PARTS[0], PARTS[2]])
    labels = map_blocks(X, labels_of, 4, ray_backend, dtype=np.int32)
    assert set(labels.columns()) == {"data", "label"}
    values = map_blocks(X, scaled, FACTORS, ray_backend, dtype=float, n_columns=3, name="distances")
    for found, name, expected in ((labels, "label", LABELS), (values, "distances", EXPECTED)):
        found = found.materialize()
        order = np.argsort(column_of(found, "data", local_ray)[:, 0])
        assert np.array_equal(column_of(found, name, local_ray)[order], expected)


def test_ray_datasets_that_have_the_new_column_are_refused(
    ray_backend: RayBackend, local_ray: Any
) -> None:
    import ray.data

    X = ray.data.from_items([{"data": row, "label": 7} for row in ROWS])
    with pytest.raises(
        ParameterError, match=r"without the column 'label'.*X\.drop_columns\(\['label'\]\)"
    ):
        map_blocks(X, labels_of, 4, ray_backend, dtype=np.int32)
    other = map_blocks(X, scaled, FACTORS, ray_backend, dtype=float, n_columns=3, name="distances")
    assert set(other.columns()) == {"data", "label", "distances"}
    renamed = X.rename_columns({"label": "other"})
    found = map_blocks(renamed, labels_of, 4, ray_backend, dtype=np.int32)
    assert set(found.columns()) == {"data", "other", "label"}


@pytest.mark.parametrize("engine", ["local", "dask", "ray"])
def test_shards_and_arrays_are_mapped(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    backend = request.getfixturevalue(f"{engine}_backend")
    np.save(tmp_path / "a.npy", PARTS[0])
    np.save(tmp_path / "b.npy", PARTS[2])
    found = map_blocks(open_shards(tmp_path), scaled, FACTORS, backend, dtype=float, n_columns=3)
    if engine == "dask":
        with backend.client.as_current():
            found = [found.compute()]
    elif engine == "ray":
        found = backend.get(found)
    assert np.array_equal(np.concatenate(found), EXPECTED)
    assert np.array_equal(map_blocks(ROWS, labels_of, 4, backend, dtype=np.int32), LABELS)
    lists = map_blocks(PARTS, labels_of, 4, backend, dtype=np.int32)
    assert [len(one) for one in lists] == LENGTHS


def test_local_labels_are_arrays(local_backend: LocalBackend) -> None:
    assert is_equal(fitted_labels(PARTS, local_backend))
