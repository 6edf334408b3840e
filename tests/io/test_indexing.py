"""Selection of rows by integers, slices, arrays and masks."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse
from vector_samples import DENSE_FILES, SPARSE, SPARSE_FILES, X

from boostkmeans import ParameterError
from boostkmeans.io import open_vectors, write_vectors

ALL_FILES = {**DENSE_FILES, **SPARSE_FILES}
INDEXED = ("a.npy", "a.fvecs", "lists.parquet", "fortran.npy", "a.npz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("vectors")
    for name in INDEXED:
        ALL_FILES[name](made / name)
    return made


@given(
    begin=st.none() | st.integers(-60, 60),
    end=st.none() | st.integers(-60, 60),
    step=st.none() | st.integers(-9, 9).filter(bool),
    index=st.lists(st.integers(-50, 49)),
    name=st.sampled_from(INDEXED),
)
def test_indices_work_as_in_numpy(
    folder: Path, begin: int | None, end: int | None, step: int | None, index: list[int], name: str
) -> None:
    with open_vectors(folder / name) as vectors:
        expected = SPARSE if vectors.is_sparse else X
        for rows in (slice(begin, end, step), np.array(index, dtype=int)):
            found = vectors[rows]
            assert np.array_equal(found.toarray() if issparse(found) else found, expected[rows])


@pytest.mark.parametrize("index", [50, -51, [50], [-51], [[1]], (1, 2), 1.5, [1.5], [True], None, "a"])
def test_rejects_invalid_indices(folder: Path, index: Any) -> None:
    with open_vectors(folder / "a.npy") as vectors, pytest.raises((IndexError, TypeError)):
        vectors[index]


def test_rejects_boolean_and_huge_indices(folder: Path) -> None:
    with open_vectors(folder / "a.npy") as vectors:
        for wrong in (True, np.False_):
            with pytest.raises(IndexError, match="A mask must have one value per row"):
                vectors[wrong]
        with pytest.raises(IndexError, match="out of range: there are 50 rows"):
            vectors[np.array([2**64 - 1], dtype=np.uint64)]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "u8"])
def test_index_types_that_cannot_hold_the_number_of_rows(tmp_path: Path, dtype: str) -> None:
    rows = np.arange(3000.0).reshape(1000, 3)
    np.save(tmp_path / "a.npy", rows)
    with open_vectors(tmp_path / "a.npy") as vectors:
        index = np.array([1, 5, 100], dtype=dtype)
        assert np.array_equal(vectors[index], rows[index])


def test_ellipsis_and_array_conversion(folder: Path) -> None:
    with open_vectors(folder / "a.npy") as vectors:
        assert np.array_equal(vectors[...], X)
        assert np.array_equal(np.array(vectors, dtype="f4", copy=False), X)
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, copy=False allowed a copy
            with pytest.raises(ValueError, match="without a copy: it must be converted"):
                np.array(vectors, dtype="f8", copy=False)


def test_rejects_invalid_ranges_and_outputs(folder: Path) -> None:
    vectors = open_vectors(folder / "a.npy")
    for begin, end in ((-1, 3), (0, 51), (4, 3)):
        with pytest.raises(IndexError, match="out of range: there are 50 rows"):
            vectors.read(begin, end)
        with pytest.raises(IndexError, match="out of range: there are 50 rows"):
            vectors.between(begin, end)
    for wrong in (np.empty((3, 6)), np.empty((2, 6), "f4"), np.empty((3, 7), "f4"), X[:6:2]):
        with pytest.raises(ValueError, match="`out` must be C-contiguous"):
            vectors.read(0, 3, out=wrong)
    out = np.empty((3, 6), dtype=np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        vectors.read(0, 3, out=out)
    with pytest.raises(ParameterError, match="n_rows must be an int of at least 1"):
        next(vectors.batches(0))
    vectors.close()
    vectors.close()
    with pytest.raises(ValueError, match="is closed"):
        vectors.read(0, 1)


@pytest.mark.parametrize("name", INDEXED)
def test_between_is_a_view(folder: Path, name: str) -> None:
    with open_vectors(folder / name) as vectors:
        expected = (SPARSE if vectors.is_sparse else X)[10:20]
        some = vectors.between(10, 20)
        assert (some.shape, some.dtype, some.is_sparse) == ((10, 6), vectors.dtype, vectors.is_sparse)
        for found, rows in ((some.load(), expected), (some.read(2, 5), expected[2:5])):
            assert np.array_equal(found.toarray() if issparse(found) else found, rows)
        assert np.array_equal(np.atleast_2d(_dense(some[[7, 1]])), expected[[7, 1]])


def _dense(rows: Any) -> Any:
    return rows.toarray() if issparse(rows) else rows


def test_close_rows_are_read_in_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).random((20_000, 25))
    write_vectors(tmp_path / "a.npy", rows)
    calls: list[int] = []
    preadv = os.preadv

    def counted(*arguments: Any) -> int:
        calls.append(1)
        return preadv(*arguments)

    monkeypatch.setattr(os, "preadv", counted)
    with open_vectors(tmp_path / "a.npy") as vectors:
        mask = rows[:, 0] > 0.5
        some = np.random.default_rng(2).integers(0, 20_000, 5000)
        for index in (slice(None, None, 2), slice(None, None, -1), mask, some, [19_999, 0, 0, 7]):
            calls.clear()
            assert np.array_equal(vectors[index], rows[index])
            assert len(calls) <= 5
        monkeypatch.setattr("boostkmeans.io._access.row_selection.WINDOW_BYTES", 700)
        monkeypatch.setattr("boostkmeans.io._access.row_selection.GAP_BYTES", 400)
        for index in (slice(5, 900, 3), some[:50], [5, 7, 6, 6]):
            assert np.array_equal(vectors[index], rows[index])
