"""X of every kind as blocks, on Dask, on Ray and in one process."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy import sparse

import boostkmeans
from boostkmeans import DataFormatError, ParameterError
from boostkmeans._runtime.errors import EmptyDataError, InvalidValuesError
from boostkmeans._sharded.backend import LocalBackend
from boostkmeans.distributed import BoostKMeans, _engine_choice, _inputs, open_shards
from boostkmeans.distributed._engine_choice import choose_backend
from boostkmeans.distributed._engines.dask_backend import DaskBackend
from boostkmeans.distributed._engines.ray_backend import RayBackend
from boostkmeans.distributed._input_kinds import InputKind
from boostkmeans.distributed._inputs import as_blocks, feature_names_of, weight_references
from boostkmeans.io import open_vectors

pytest_plugins = ("cluster_fixtures",)
pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    # Ray Data sets its own deprecated options.
    pytest.mark.filterwarnings("ignore:`use_.*is deprecated:DeprecationWarning"),
]

ROWS = np.arange(20, dtype=np.float32).reshape(10, 2)
PARTS = [ROWS[:3], ROWS[3:3], ROWS[3:10]]


def part(i: int) -> NDArray[np.float32]:
    return PARTS[i]


def csr_part(i: int) -> Any:
    return sparse.csr_array(PARTS[i])


def values_of(X: Any, backend: Any, column: Any = None) -> list[NDArray[Any]]:
    """Return the blocks of X as dense arrays."""
    blocks = as_blocks(X, backend, column)
    assert len(blocks.names) == len(blocks.references)
    return [one.toarray() if sparse.issparse(one) else one for one in backend.get(blocks.references)]


def check(values: list[NDArray[Any]], lengths: list[int], dtype: Any = np.float32) -> None:
    assert [len(one) for one in values] == lengths
    assert {one.dtype for one in values} == {np.dtype(dtype)}
    assert np.array_equal(np.concatenate([one for one in values if len(one)]), ROWS)


def test_dask_arrays(dask_backend: DaskBackend) -> None:
    import dask.array as da

    array = da.from_array(ROWS, chunks=((3, 0, 7), 1))
    check(values_of(array, dask_backend), [3, 0, 7])
    check(values_of(array[array[:, 0] >= 0], dask_backend), [3, 0, 7])


def test_dask_arrays_of_sparse_chunks(dask_backend: DaskBackend) -> None:
    import dask.array as da

    array = da.from_array(ROWS, chunks=(5, 2)).map_blocks(sparse.csr_matrix)
    (first, _) = dask_backend.get(as_blocks(array, dask_backend).references)
    assert sparse.issparse(first)
    check(values_of(array, dask_backend), [5, 5])


def test_dask_frames(dask_backend: DaskBackend) -> None:
    import dask
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame(ROWS, columns=["a", "b"]), npartitions=3)
    check(values_of(frame, dask_backend), [4, 3, 3])
    with dask.config.set({"dataframe.convert-string": False}):
        lists = dd.from_pandas(pd.DataFrame({"e": list(ROWS), "id": range(10)}), npartitions=2)
    check(values_of(lists, dask_backend, "e"), [5, 5])


def test_dask_frames_with_one_column_of_lists(dask_backend: DaskBackend, tmp_path: Path) -> None:
    import dask.dataframe as dd
    import pandas as pd

    table = pa.table({"id": [f"row {i}" for i in range(10)], "e": list(ROWS)})
    pq.write_table(table, tmp_path / "x.parquet")
    check(values_of(dd.read_parquet(tmp_path / "x.parquet"), dask_backend), [10])
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    check(values_of(dd.from_pandas(frame, npartitions=2), dask_backend), [5, 5])


def test_delayed_objects_and_futures(dask_backend: DaskBackend, dask_client: Any) -> None:
    import dask

    check(values_of([dask.delayed(part)(i) for i in range(3)], dask_backend), [3, 0, 7])
    check(values_of(dask_client.map(csr_part, range(3)), dask_backend), [3, 0, 7])


def test_ray_objects(ray_backend: RayBackend, local_ray: Any) -> None:
    check(values_of([local_ray.remote(part).remote(i) for i in range(3)], ray_backend), [3, 0, 7])
    check(values_of([local_ray.remote(csr_part).remote(i) for i in range(3)], ray_backend), [3, 0, 7])


def test_ray_datasets(ray_backend: RayBackend, local_ray: Any) -> None:
    import ray.data

    tensors = ray.data.from_numpy([PARTS[0], PARTS[2]])
    check(values_of(tensors, ray_backend), [3, 7])
    numbers = ray.data.from_items([{"a": a, "b": b} for a, b in ROWS.tolist()], override_num_blocks=4)
    check(values_of(numbers, ray_backend, ["a", "b"]), [3, 3, 2, 2], np.float64)
    assert not numbers.context.execution_options.preserve_order
    items = [{"id": f"row {i}", "e": row.tolist()} for i, row in enumerate(ROWS)]
    check(values_of(ray.data.from_items(items).repartition(2), ray_backend), [5, 5], np.float64)


def test_feature_names_of_tables(local_ray: Any) -> None:
    import dask.dataframe as dd
    import pandas as pd
    import ray.data

    numbers = ray.data.from_items([{"a": a, "b": b} for a, b in ROWS.tolist()])
    frame = dd.from_pandas(pd.DataFrame(ROWS, columns=["a", "b"]), npartitions=3)
    for X in (numbers, frame):
        assert feature_names_of(X, 2) == ["a", "b"]
        assert feature_names_of(X, 3) is None
    assert feature_names_of(ray.data.from_numpy(ROWS), 2) is None


def test_repartition_determines_the_blocks_of_parquet_files(
    ray_backend: RayBackend, local_ray: Any, tmp_path: Path
) -> None:
    import ray.data

    pq.write_table(pa.table({"e": list(ROWS)}), tmp_path / "x.parquet")
    for n_blocks, lengths in ((2, [5, 5]), (5, [2] * 5)):
        dataset = ray.data.read_parquet(str(tmp_path / "x.parquet")).repartition(n_blocks)
        check(values_of(dataset, ray_backend), lengths)


@pytest.mark.filterwarnings("ignore:Use 'expr' instead of 'fn'")
def test_ray_datasets_may_have_empty_blocks(ray_backend: RayBackend, local_ray: Any) -> None:
    """A filter leaves blocks without rows and columns."""
    import ray.data

    items = [{"id": f"row {i}", "e": row.tolist()} for i, row in enumerate(ROWS)]
    X = ray.data.from_items(items, override_num_blocks=5)
    some = X.filter(lambda row: row["id"] > "row 6")
    assert np.array_equal(np.concatenate(values_of(some, ray_backend)), ROWS[7:])
    for empty in (X.filter(lambda row: False), ray.data.from_items([])):
        with pytest.raises(EmptyDataError, match=r"0 sample\(s\)"):
            values_of(empty, ray_backend)


def test_ray_datasets_of_matrices_are_refused(ray_backend: RayBackend, local_ray: Any) -> None:
    import ray.data

    with pytest.raises(DataFormatError, match=r"block 0 of X: .*tensors of shape \(2, 2\)"):
        values_of(ray.data.from_numpy(np.zeros((3, 2, 2))), ray_backend)


@pytest.mark.parametrize("engine", ["local", "dask", "ray"])
def test_shards_and_arrays(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = request.getfixturevalue(f"{engine}_backend")
    for i, name in ((0, "a"), (2, "b")):
        np.save(tmp_path / f"{name}.npy", PARTS[i])
    shards = open_shards(tmp_path / "*.npy")
    assert as_blocks(shards, backend).names == [str(tmp_path / "a.npy"), str(tmp_path / "b.npy")]
    check(values_of(shards, backend), [3, 7])
    check(values_of(PARTS, backend), [3, 0, 7])
    monkeypatch.setattr(_inputs, "ARRAY_BLOCK_BYTES", 4 * ROWS[0].nbytes)
    check(values_of(ROWS, backend), [3, 3, 4])
    assert len(values_of(sparse.csr_array(ROWS), backend)) > 1


def test_a_missing_file_is_named(backend: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ROWS)
    shards = open_shards(tmp_path / "a.npy")
    (tmp_path / "a.npy").unlink()
    with pytest.raises(DataFormatError, match=r"a\.npy: The file is missing"):
        values_of(shards, backend)


def test_wrong_blocks_are_named(backend: Any) -> None:
    with pytest.raises(DataFormatError, match=r"block 1 of X: Expected an array of two dimensions"):
        values_of([ROWS, np.zeros(3)], backend)


def test_large_arrays_are_not_sent(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inputs, "MAX_SENT_BYTES", 100)
    with pytest.raises(ParameterError, match=r"if this process sends it to a cluster.*open_shards"):
        as_blocks(np.zeros((100, 100)), backend)
    with pytest.raises(ParameterError):
        as_blocks([ROWS, np.zeros((100, 100))], backend)


def test_blocks_of_more_than_ten_megabytes_are_sent(backend: Any) -> None:
    array = np.zeros((3_000_000, 4), dtype=np.uint8)
    assert values_of([array], backend)[0].shape == array.shape


@pytest.mark.parametrize("X", [{}, "a.npy", [], [ROWS, "x"], 3])
def test_other_types_are_refused(X: Any, local_backend: LocalBackend) -> None:
    with pytest.raises(ParameterError, match="X must be the result of open_shards, a dask array"):
        as_blocks(X, local_backend)


def test_refused_types_have_a_remedy(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    problem = r"Got '.*Vectors'\. Pass the result of open_shards"
    with open_vectors(tmp_path / "x.npy") as vectors, pytest.raises(ParameterError, match=problem):
        BoostKMeans(2).fit(vectors)
    series = dd.from_pandas(pd.Series(list(range(10))), npartitions=2)
    with pytest.raises(ParameterError, match=r"Got '.*Series'\. Pass X\.to_frame\(\)"):
        BoostKMeans(2).fit(series)


@pytest.mark.parametrize("method", ["fit", "predict", "partial_fit"])
def test_estimators_for_one_machine_name_those_for_shards(method: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    model = boostkmeans.BoostKMeans(2, random_state=0).fit(ROWS)
    with pytest.raises(ParameterError, match=r"Got 'Shards'\. boostkmeans\.distributed\.BoostKMeans"):
        getattr(model, method)(open_shards(tmp_path / "x.npy"))


def test_engine_and_data_must_agree(local_backend: LocalBackend) -> None:
    da = pytest.importorskip("dask.array")
    with pytest.raises(
        ParameterError, match="engine must be None or 'dask' for X, which is a dask array"
    ):
        as_blocks(da.zeros((3, 2)), local_backend)


def test_weights_are_cut_like_the_blocks(backend: Any) -> None:
    blocks, weights = as_blocks(PARTS, backend), np.arange(10.0)
    assert weight_references(None, blocks, [3, 0, 7], backend) is None
    for given in (weights, weights.astype(np.int64), [weights[:3], weights[3:3], weights[3:]]):
        found = weight_references(given, blocks, [3, 0, 7], backend)
        assert found is not None
        values = backend.get(found)
        assert [len(one) for one in values] == [3, 0, 7]
        assert np.array_equal(np.concatenate(values), weights)
    scalar = weight_references(2, blocks, [3, 0, 7], backend)
    assert scalar is not None
    assert backend.get(scalar)[0].tolist() == [2, 2, 2]


def test_weights_of_dask(dask_backend: DaskBackend) -> None:
    import dask.array as da

    blocks, weights = as_blocks(PARTS, dask_backend), np.arange(10.0)
    found = weight_references(
        da.from_array(weights, chunks=((3, 0, 7),)), blocks, [3, 0, 7], dask_backend
    )
    assert found is not None
    assert np.array_equal(np.concatenate(dask_backend.get(found)), weights)
    with pytest.raises(InvalidValuesError, match="sample_weight has 2 blocks, but X has 3"):
        weight_references(da.from_array(weights, chunks=5), blocks, [3, 0, 7], dask_backend)
    wrong = weight_references(da.ones(10, chunks=((3, 1, 6),)), blocks, [3, 0, 7], dask_backend)
    assert wrong is not None
    with pytest.raises(InvalidValuesError, match=r"shape \((1|6),\) for block (1|2) of X"):
        dask_backend.get(wrong)


def test_weights_of_another_engine_are_refused(local_backend: LocalBackend) -> None:
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    blocks = as_blocks(PARTS, local_backend)
    problem = (
        r"sample_weight must be an array or a list of arrays, because X is in one process\..*compute"
    )
    for weights in (da.ones(10), [dask.delayed(np.ones)(len(one)) for one in PARTS]):
        with pytest.raises(ParameterError, match=problem):
            weight_references(weights, blocks, [3, 0, 7], local_backend)


def test_weights_of_ray_are_refused_by_other_engines(
    local_backend: LocalBackend, local_ray: Any
) -> None:
    blocks = as_blocks([ROWS], local_backend)
    with pytest.raises(ParameterError, match=r"sample_weight must be .* Got 'Ray object references'"):
        weight_references([local_ray.put(np.ones(10))], blocks, [10], local_backend)


def test_weights_may_be_lists_of_numbers(backend: Any) -> None:
    blocks = as_blocks(PARTS, backend)
    found = weight_references([[1.0, 2, 3], [], tuple(range(7))], blocks, [3, 0, 7], backend)
    assert found is not None
    assert np.concatenate(backend.get(found)).tolist() == [1, 2, 3, *range(7)]
    with pytest.raises(InvalidValuesError, match="sample_weight has 2 blocks, but X has 3"):
        weight_references([[1.0], [2.0]], blocks, [3, 0, 7], backend)


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_a_wrong_engine_is_reported_before_a_cluster_starts(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    da, ray = pytest.importorskip("dask.array"), pytest.importorskip("ray")
    X = [ray.ObjectRef(b"0" * 28)] if engine == "dask" else da.zeros((3, 2))

    def start(*args: Any) -> None:
        raise AssertionError("a cluster starts")

    monkeypatch.setattr(_engine_choice, "DaskBackend", start)
    monkeypatch.setattr(_engine_choice, "RayBackend", start)
    with pytest.raises(ParameterError, match=r"engine must be None or '(ray|dask)' for X"):
        BoostKMeans(2, engine=engine).fit(X)


def test_too_few_weights_are_refused(local_backend: LocalBackend) -> None:
    blocks = as_blocks(PARTS, local_backend)
    with pytest.raises(InvalidValuesError, match=re.escape("expected (10,)")):
        weight_references(np.ones(9), blocks, [3, 0, 7], local_backend)


def test_choice_of_the_engine(dask_client: Any, local_ray: Any) -> None:
    import dask.array as da

    futures = dask_client.map(part, range(2))
    chosen = choose_backend(None, futures)
    assert isinstance(chosen, DaskBackend)
    assert chosen.client is dask_client
    assert isinstance(choose_backend(dask_client, ROWS), DaskBackend)
    assert isinstance(choose_backend("ray", ROWS), RayBackend)
    assert isinstance(choose_backend(None, [local_ray.put(1)]), RayBackend)
    assert isinstance(choose_backend(None, ROWS), RayBackend), "only Ray has a default connection"
    local = choose_backend("local", ROWS, n_threads=1)
    assert isinstance(local, LocalBackend)
    local.close()
    with pytest.raises(ParameterError, match="None or 'dask' for X, which is dask futures"):
        choose_backend("local", futures)
    with dask_client.as_current():
        assert choose_backend(None, da.zeros((3, 2))).name == "dask"
        assert choose_backend("dask", ROWS).name == "dask"
        with pytest.raises(ParameterError, match="connected to both"):
            choose_backend(None, ROWS)


def test_choice_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    chosen = choose_backend(None, ROWS, n_threads=1)
    assert isinstance(chosen, LocalBackend)
    chosen.close()


@pytest.mark.parametrize("engine", ["spark", 3, object()])
def test_other_engines_are_refused(engine: Any) -> None:
    with pytest.raises(
        ParameterError, match="engine must be None, 'dask', 'ray', 'local' or a distributed"
    ):
        choose_backend(engine, ROWS)


@pytest.mark.parametrize(("engine", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_missing_engines_are_explained(
    engine: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install '\.\[{engine}\]'"):
        choose_backend(engine, ROWS)


def test_kinds_know_their_engine() -> None:
    assert InputKind.DASK_FRAME.engine == "dask"
    assert InputKind.RAY_OBJECTS.engine == "ray"
    assert InputKind.SHARDS.engine is None
