"""Columns of vectors and tensors of other libraries are used like the arrays that they contain."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer, baselines, metrics, select
from boostkmeans._estimators.vector_columns import plain_rows
from boostkmeans.quantization import exact_neighbors
from optional_packages import OptionalPackage

pd, pl, pa = map(OptionalPackage, ("pandas", "polars", "pyarrow"))

ROWS = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)


def fixed_size_lists(rows: NDArray[Any]) -> Any:
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


def list_views(rows: NDArray[Any]) -> Any:
    if not hasattr(pytest.importorskip("pyarrow"), "list_view"):
        pytest.skip("pyarrow before version 16 has no list views")
    return pa.array(list(rows), pa.list_view(pa.float32()))


COLUMNS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "pandas, arrays": lambda rows: pd.Series(list(rows), index=[f"id {i}" for i in range(len(rows))]),
    "pandas, lists": lambda rows: pd.DataFrame({"x": rows.tolist()})["x"],
    "pandas, Arrow": lambda rows: pd.Series(rows.tolist(), dtype=pd.ArrowDtype(pa.list_(pa.float32()))),
    "pandas, frame": lambda rows: pd.DataFrame({"x": list(rows)}),
    "polars, List": lambda rows: pl.Series("x", list(rows), dtype=pl.List(pl.Float32)),
    "polars, Array": lambda rows: pl.Series("x", rows),
    "polars, frame": lambda rows: pl.DataFrame({"x": rows}),
    "Arrow, fixed": fixed_size_lists,
    "Arrow, slice": lambda rows: fixed_size_lists(np.vstack([rows[:3], rows])).slice(3),
    "Arrow, chunks": lambda rows: pa.chunked_array(
        [pa.array(list(rows[:7])), pa.array([], pa.list_(pa.float32())), pa.array(list(rows[7:]))]
    ),
    "Arrow, views": list_views,
    "Arrow, tensors": lambda rows: pa.FixedShapeTensorArray.from_numpy_ndarray(rows),
    "Arrow, table": lambda rows: pa.table({"x": fixed_size_lists(rows)}),
    "NumPy, objects": lambda rows: pd.Series(list(rows)).to_numpy(),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_give_the_results_of_their_array(kind: str) -> None:
    X = COLUMNS[kind](ROWS)
    expected = BoostKMeans(3, random_state=0).fit(ROWS)
    found = BoostKMeans(3, random_state=0).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.predict(X), expected.labels_)
    np.testing.assert_allclose(found.transform(X), expected.transform(ROWS), rtol=1e-6)
    assert found.score(X) == pytest.approx(expected.score(ROWS))
    assert not hasattr(found, "feature_names_in_")


def test_every_estimator_and_measure_takes_columns() -> None:
    X = COLUMNS["pandas, arrays"](ROWS)
    for model in (
        BisectingBoostKMeans(3, random_state=0),
        baselines.KMeans(3, random_state=0),
        baselines.MiniBatchKMeans(3, random_state=0),
    ):
        labels = model.fit_predict(X)
        np.testing.assert_array_equal(labels, model.fit_predict(ROWS))
    np.testing.assert_array_equal(
        BoostKMeans(3, random_state=0).partial_fit(X).partial_fit(X).cluster_centers_,
        BoostKMeans(3, random_state=0).partial_fit(ROWS).partial_fit(ROWS).cluster_centers_,
    )
    quantizer = ProductQuantizer(2, 4, random_state=0).fit(X)
    codes = quantizer.encode(X)
    np.testing.assert_array_equal(codes, quantizer.encode(ROWS))
    np.testing.assert_array_equal(quantizer.errors(X, codes), quantizer.errors(ROWS, codes))
    assert metrics.average_distortion(X, labels) == metrics.average_distortion(ROWS, labels)
    np.testing.assert_array_equal(exact_neighbors(X, X, 1).indices[:, 0], np.arange(len(ROWS)))
    scan = select.scan(X, [2, 3], n_references=0, random_state=0)
    assert scan.suggestion == select.scan(ROWS, [2, 3], n_references=0, random_state=0).suggestion


def test_columns_of_numbers_stay_as_they_are() -> None:
    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    assert plain_rows(frame) is frame
    assert plain_rows(pl.from_pandas(frame)).columns == list("abcd")
    assert BoostKMeans(2).fit(frame).feature_names_in_.tolist() == list("abcd")
    for column in (frame["a"], pl.Series(ROWS[:, 0]), pa.array(ROWS[:, 0])):
        with pytest.raises(ValueError, match=r"2D array|2-dimensional"):
            BoostKMeans(2).fit(column)


RAGGED = [[1.0, 2.0], [3.0, 4.0], [5.0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: RAGGED,
        lambda: pd.Series(RAGGED),
        lambda: pl.Series(RAGGED),
        lambda: pa.array(RAGGED),
        lambda: [np.array(one) for one in RAGGED],
    ],
    ids=["list", "pandas", "polars", "Arrow", "arrays"],
)
def test_ragged_rows_are_named(make: Callable[[], Any]) -> None:
    ragged = make()
    with pytest.raises(ValueError, match=r"(?i)row 2\b.* 1 value.* 2"):
        BoostKMeans(2).fit(ragged)


@pytest.mark.parametrize(
    ("make", "row"),
    [
        (lambda: pd.Series([None, [1.0, 2.0], [2.0, 1.0]]), 0),
        (lambda: pd.Series([[1.0, 2.0], [2.0, 1.0], np.nan]), 2),
        (lambda: pl.Series([[1.0, 2.0], None, [2.0, 1.0]]), 1),
        (lambda: pa.array([[1.0, 2.0], [None, 1.0], [2.0, 1.0]]), 1),
    ],
)
def test_missing_vectors_are_named(make: Callable[[], Any], row: int) -> None:
    missing = make()
    with pytest.raises(ValueError, match=rf"(?i)row {row}\b"):
        BoostKMeans(2).fit(missing)


def test_frames_with_vectors_and_other_columns_name_the_column() -> None:
    frame = pd.DataFrame({"id": range(40), "embedding": list(ROWS)})
    for X in (frame, pl.DataFrame({"id": range(40), "embedding": ROWS}), pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"X\['embedding'\]"):
            BoostKMeans(2).fit(X)


def test_paths_name_open_vectors(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, ROWS)
    model = BoostKMeans(2).fit(ROWS)
    paths: list[Any] = [path, str(path), [str(path)], bytes(path)]
    for given in paths:
        for call in (BoostKMeans(2).fit, model.predict, ProductQuantizer(2, 4).fit):
            with pytest.raises(ValueError, match=r"open_vectors\('.*x\.npy'\)"):
                call(given)


def test_bfloat16_of_ml_dtypes() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    X = ROWS.astype(bfloat16)
    expected = BoostKMeans(3, random_state=0).fit(X.astype(np.float32))
    np.testing.assert_array_equal(BoostKMeans(3, random_state=0).fit(X).labels_, expected.labels_)


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    plain = torch.tensor(ROWS)
    expected = BoostKMeans(3, random_state=0).fit(ROWS)
    kinds = [
        plain,
        plain.clone().requires_grad_(),
        plain.T.contiguous().T,
        list(plain),
        pd.Series(list(plain)),
    ]
    for X in kinds:
        found = BoostKMeans(3, random_state=0).fit(X)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        np.testing.assert_array_equal(found.predict(X), expected.labels_)
    assert np.shares_memory(plain_rows(plain), plain.numpy())
    half = plain.to(torch.bfloat16).requires_grad_()
    rounded = half.detach().to(torch.float32).numpy()
    assert plain_rows(half).dtype == np.float32
    np.testing.assert_array_equal(
        BoostKMeans(3, random_state=0).fit(half).cluster_centers_,
        BoostKMeans(3, random_state=0).fit(rounded).cluster_centers_,
    )
    assert plain_rows(plain.to(torch.int32)).dtype == np.int32
    with pytest.raises(ValueError, match=r"to_dense"):
        BoostKMeans(3).fit(plain.to_sparse())
    with pytest.raises(ValueError, match=r"X\.cpu\(\)"):
        BoostKMeans(3).fit(plain.to("meta"))
