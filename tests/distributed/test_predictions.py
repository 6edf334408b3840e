"""Predictions of the distributed estimators: names of features, names of blocks in errors, loading."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from boostkmeans import DataFormatError, ParameterError
from boostkmeans.distributed import BisectingBoostKMeans, BoostKMeans, _inputs, open_shards
from boostkmeans.distributed._dask_outputs import map_dask
from boostkmeans.distributed._input_kinds import InputKind
from boostkmeans.distributed._lazy_assignment import predict_block
from boostkmeans.io import open_vectors

NAMES = list("abcdefgh")
ROWS = np.random.default_rng(0).normal(size=(400, 8)) * np.arange(1, 9)


def write_table(path: Path, names: list[str], rows: Any = ROWS) -> Any:
    """Write a table with a column for each name, in this order, and open it."""
    pq.write_table(pa.table({name: rows[:, NAMES.index(name)] for name in names}), path)
    return open_shards(path)


@pytest.fixture
def named(tmp_path: Path) -> BoostKMeans:
    """Return a model of a table with named columns."""
    return BoostKMeans(5, random_state=0, engine="local").fit(write_table(tmp_path / "x.parquet", NAMES))


class TestFeatureNames:
    def check_refused(self, model: BoostKMeans, X: Any) -> None:
        calls = (model.predict, model.transform, model.score, model.medoids, model.outlier_scores)
        for call in (*calls, lambda X: model.predict_many(X, 2)):
            with pytest.raises(ValueError, match=r"feature names should match.*column 1 of .* is 'h'"):
                call(X)

    def test_shards_with_columns_in_another_order_are_refused(
        self, named: BoostKMeans, tmp_path: Path
    ) -> None:
        self.check_refused(named, write_table(tmp_path / "y.parquet", NAMES[::-1]))
        same = write_table(tmp_path / "z.parquet", NAMES)
        np.testing.assert_array_equal(np.concatenate(named.predict(same)), named.predict(ROWS))

    def test_frames_with_columns_in_another_order_are_refused(self, named: BoostKMeans) -> None:
        dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
        frame = dd.from_pandas(pd.DataFrame(ROWS, columns=NAMES), npartitions=2)
        named.set_params(engine=None)
        self.check_refused(named, frame[NAMES[::-1]])
        found = named.predict(frame).compute(scheduler="sync")
        np.testing.assert_array_equal(found, named.to_local().predict(pd.DataFrame(ROWS, columns=NAMES)))

    def test_the_tree_of_named_columns_predicts_without_warnings(self, tmp_path: Path) -> None:
        X = write_table(tmp_path / "x.parquet", NAMES)
        model = BisectingBoostKMeans(5, random_state=0, engine="local").fit(X)
        assert np.concatenate(model.predict(X, tree=True)).shape == (400,)

    def test_names_of_another_number_of_columns_are_not_compared(
        self, named: BoostKMeans, tmp_path: Path
    ) -> None:
        with pytest.raises(ValueError, match="7 features"):
            named.predict(write_table(tmp_path / "y.parquet", NAMES[:7]))


def bad_rows(row: int, value: float = np.nan) -> Any:
    rows = ROWS.copy()
    rows[row, 2] = value
    return rows


class TestBadBlocks:
    @pytest.fixture
    def model(self) -> BoostKMeans:
        return BoostKMeans(5, random_state=0, engine="local").fit(ROWS)

    def check_named(self, model: BoostKMeans, X: Any, problem: str) -> None:
        calls = (model.predict, model.transform, model.score, model.medoids, model.outlier_scores)
        for call in (*calls, lambda X: model.predict_many(X, 2)):
            with pytest.raises(DataFormatError, match=problem):
                call(X)

    def test_values_are_named_by_file_and_row(self, model: BoostKMeans, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", bad_rows(310))
        X = open_shards(tmp_path / "x.npy", max_shard_bytes=100 * 64)
        self.check_named(model, X, r"x.npy\[300:400\]: row 310: The value nan in column 2 is not finite")

    def test_values_are_named_by_block(self, model: BoostKMeans) -> None:
        X = [ROWS, bad_rows(7, np.inf)]
        self.check_named(model, X, r"block 1 of X: row 7: The value inf in column 2 is not finite")

    def test_values_of_an_array_are_named_by_its_row(
        self, model: BoostKMeans, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_inputs, "ARRAY_BLOCK_BYTES", 100 * 64)
        X = bad_rows(310)
        self.check_named(model, X, r"X\[300:400\]: row 310: ")
        with pytest.raises(DataFormatError, match=r"X\[300:400\]: row 310: "):
            clone(model).fit(X)
        weights = np.ones(400)
        weights[310] = -1
        with pytest.raises(ValueError, match=r"sample_weight contains -1 at row 310 of X\[300:400\]"):
            model.score(ROWS, sample_weight=weights)

    def test_widths_are_named(self, model: BoostKMeans) -> None:
        self.check_named(model, [ROWS, ROWS[:, :5]], r"block 1 of X: It has 5 features.* model has 8")
        with pytest.raises(ValueError, match="X has 5 features, but BoostKMeans is expecting 8"):
            model.predict(ROWS[:, :5])

    def test_lazy_predictions_name_the_block(self, model: BoostKMeans, tmp_path: Path) -> None:
        da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
        np.save(tmp_path / "x.npy", bad_rows(310))
        shards = open_shards(tmp_path / "x.npy", max_shard_bytes=100 * 64)
        lazy = (
            (da.from_array(bad_rows(310), chunks=(100, 8)), r"block 3 of X: row 10: "),
            ([dask.delayed(bad_rows)(3)], r"block 0 of X: row 3: "),
        )
        model.set_params(engine=None)
        for X, where in lazy:
            found = model.predict(X)
            with pytest.raises(DataFormatError, match=where):
                found.compute(scheduler="sync")
        found = map_dask(
            shards, InputKind.SHARDS, predict_block, (model.to_local(), None), np.dtype("i4"), None, None
        )
        with pytest.raises(DataFormatError, match=r"x.npy\[300:400\]: row 310: "):
            found.compute(scheduler="sync")

    def test_lengths_beyond_the_type_are_named_by_row(self, tmp_path: Path) -> None:
        rows = ROWS.copy()
        rows[310] = 1.5e308
        np.save(tmp_path / "x.npy", rows)
        X = open_shards(tmp_path / "x.npy", max_shard_bytes=100 * 64)
        model = BoostKMeans(5, metric="cosine", random_state=0, engine="local")
        where = r"x.npy\[300:400\]: row 310: The row has length .* unit length"
        with pytest.raises(DataFormatError, match=where):
            model.fit(X)
        self.check_named(model.fit(ROWS), X, where)

    def test_weights_are_named_by_the_row_of_the_file(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", ROWS)
        X = open_shards(tmp_path / "x.npy", max_shard_bytes=100 * 64)
        for value in (-1.0, np.nan):
            weights = np.ones(400)
            weights[310] = value
            with pytest.raises(ValueError, match=r"row 310 of .*x.npy\[300:400\]"):
                BoostKMeans(5, engine="local").fit(X, sample_weight=weights)


class TestRefusedCalls:
    @pytest.mark.parametrize("estimator", [BoostKMeans, BisectingBoostKMeans])
    def test_load_names_the_class_of_saved_models(self, estimator: Any, tmp_path: Path) -> None:
        estimator(5, random_state=0, engine="local").fit(ROWS).save(tmp_path / "model")
        with pytest.raises(NotImplementedError, match=rf"boostkmeans.{estimator.__name__}.load\(path\)"):
            estimator.load(tmp_path / "model")

    def test_batches_need_rows_in_memory_or_in_files(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", ROWS)
        model = BoostKMeans(5, random_state=0, engine="local").fit(ROWS)
        ((labels, _),) = model.predict_batches(ROWS)
        np.testing.assert_array_equal(labels, model.predict(ROWS))
        ((labels, _),) = model.predict_batches(open_vectors(tmp_path / "x.npy"))
        np.testing.assert_array_equal(labels, model.predict(ROWS))
        da = pytest.importorskip("dask.array")
        refused: list[Any] = [open_shards(tmp_path / "x.npy"), da.from_array(ROWS, chunks=(100, 8))]
        for X in refused:
            for batches in (model.predict_batches(X), model.predict_many_batches(X, 2)):
                with pytest.raises(ParameterError, match=r"rows in memory or from open_vectors.*lazily"):
                    next(batches)

    def test_frames_of_pandas_have_a_remedy(self) -> None:
        pd = pytest.importorskip("pandas")
        with pytest.raises(ParameterError, match=r"X.to_numpy\(\)"):
            BoostKMeans(2).fit(pd.DataFrame(ROWS))

    @pytest.mark.parametrize(
        ("weights", "problem"),
        [
            ([], r"sample_weight.shape == \(0,\), expected \(400,\)"),
            (np.ones(400, dtype=complex), "sample_weight holds values of type complex128"),
            (np.ma.masked_equal(np.arange(400.0), 3), "1 masked values"),
        ],
    )
    def test_wrong_weights(self, weights: Any, problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            BoostKMeans(5, engine="local").fit(ROWS, sample_weight=weights)
