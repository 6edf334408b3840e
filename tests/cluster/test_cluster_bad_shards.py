"""Bad shards are reported at once, with file and row."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boostkmeans
from boostkmeans.distributed import BoostKMeans, open_shards
from conformance import one_process
from dask_processes import DaskProcesses
from expected_labels import configuration
from ray_processes import ray_workers

pytest_plugins = ("cluster_suite",)
# An error of a task is final: it is not raised after retries.
MAX_SECONDS = 60.0


@pytest.fixture(scope="module", params=["one process", "dask", "ray"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return the argument `engine`, and warm up its workers."""
    if request.param == "dask":
        with DaskProcesses(tmp_path_factory.mktemp("dask"), 2) as cluster:
            configuration("tree").fit(cluster.client)
            yield cluster.client
    elif request.param == "ray":
        with ray_workers(2):
            configuration("tree").fit("ray")
            yield "ray"
    else:
        with one_process():
            yield None


def good_rows() -> Any:
    return np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)


def save_npy(folder: Path, n_files: int = 4) -> list[Path]:
    paths = [folder / f"emb-{number}.npy" for number in range(n_files)]
    for path in paths:
        np.save(path, good_rows())
    return paths


def fit_error(engine: Any, folder: Path, suffix: str = "npy", **options: Any) -> Exception:
    """Return the error of a fit, which must come soon."""
    began = time.monotonic()
    with pytest.raises(Exception) as caught:  # noqa: PT011
        BoostKMeans(5, engine=engine).fit(open_shards(f"{folder}/emb-*.{suffix}", **options))
    assert time.monotonic() - began < MAX_SECONDS
    return caught.value


def test_nan_is_reported_with_file_row_and_column(engine: Any, tmp_path: Path) -> None:
    paths = save_npy(tmp_path)
    rows = good_rows()
    rows[57, 2] = np.nan
    np.save(paths[2], rows)
    error = fit_error(engine, tmp_path)
    assert isinstance(error, boostkmeans.DataFormatError)
    assert "emb-2.npy" in str(error)
    assert "row 57" in str(error)
    assert "column 2" in str(error)


def test_nan_is_reported_with_the_row_of_the_file(engine: Any, tmp_path: Path) -> None:
    """A file that is cut into shards has rows that count from its beginning."""
    paths = save_npy(tmp_path)
    rows = good_rows()
    rows[57, 2] = np.nan
    np.save(paths[1], rows)
    error = fit_error(engine, tmp_path, max_shard_bytes=25 * rows[0].nbytes)
    assert "emb-1.npy[50:75]" in str(error)
    assert "row 57" in str(error)


def test_another_width_is_reported(engine: Any, tmp_path: Path) -> None:
    paths = save_npy(tmp_path)
    np.save(paths[3], good_rows()[:, :3])
    error = str(fit_error(engine, tmp_path))
    assert "emb-3.npy" in error
    assert "3" in error
    assert "4" in error


def test_a_truncated_file_is_reported(engine: Any, tmp_path: Path) -> None:
    paths = save_npy(tmp_path)
    os.truncate(paths[1], paths[1].stat().st_size // 2)
    assert "emb-1.npy" in str(fit_error(engine, tmp_path))


def test_a_file_that_is_truncated_later_is_reported(engine: Any, tmp_path: Path) -> None:
    paths = save_npy(tmp_path)
    shards = open_shards(f"{tmp_path}/emb-*.npy")
    os.truncate(paths[1], paths[1].stat().st_size // 2)
    with pytest.raises(boostkmeans.DataFormatError, match=r"emb-1\.npy"):
        BoostKMeans(5, engine=engine).fit(shards)


def test_a_missing_column_is_reported(engine: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number in range(3):
        name = "embedding" if number != 1 else "other"
        pq.write_table(pa.table({name: good_rows().tolist()}), tmp_path / f"emb-{number}.parquet")
    error = str(fit_error(engine, tmp_path, "parquet", column="embedding"))
    assert "emb-1.parquet" in error
    assert "embedding" in error


def test_a_row_of_another_width_is_reported(engine: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number in range(3):
        rows = good_rows().tolist()
        if number == 1:
            rows[71] = rows[71][:3]
        pq.write_table(pa.table({"embedding": rows}), tmp_path / f"emb-{number}.parquet")
    error = str(fit_error(engine, tmp_path, "parquet", column="embedding"))
    assert "emb-1.parquet: row 71, column 'embedding': The list has 3 values" in error
