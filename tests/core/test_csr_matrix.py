"""Checks of CSR matrices, rows and options at the native boundary."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from boostkmeans import _core


def csr_matrix(matrix: Any, *, n_features: int | None = None, n_threads: int = 2) -> _core.CsrMatrix:
    """Return a native CSR matrix with the arrays of a SciPy matrix."""
    return _core.CsrMatrix(
        values=matrix.data,
        columns=matrix.indices,
        starts=matrix.indptr,
        n_features=matrix.shape[1] if n_features is None else n_features,
        n_threads=n_threads,
    )


def random_matrix(n: int = 50, d: int = 20) -> Any:
    return sparse.random_array((n, d), density=0.3, format="csr", random_state=np.random.default_rng(0))


@pytest.mark.parametrize("value_dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index_dtype", [np.int64, np.int32])
def test_sparse_and_expanded_rows_share_a_matrix(value_dtype: type, index_dtype: type) -> None:
    X = random_matrix().astype(value_dtype)
    X.indices, X.indptr = X.indices.astype(index_dtype), X.indptr.astype(index_dtype)
    matrix = csr_matrix(X)
    expected = np.linalg.norm(X.toarray().astype(np.float64), axis=1)
    for shift in (None, np.zeros(20)):
        norms = _core.row_norms(_core.Rows(matrix, shift=shift), 1)
        np.testing.assert_allclose(norms, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("part", "at", "value", "message"),
    [
        ("indices", -1, 20, "columns of a row must ascend"),
        ("indices", -1, -1, "columns of a row must ascend"),
        ("indices", 0, 19, "columns of a row must ascend"),
        ("indptr", 0, 1, "starts must begin with 0"),
        ("indptr", 5, -1, "starts must begin with 0, ascend"),
        ("indptr", -1, 10**6, "stay within the values"),
    ],
)
# The larger matrix takes several tasks, and its fault is in the first or in the last one.
@pytest.mark.parametrize("n", [50, 20_000])
def test_rejects_invalid_indices(n: int, part: str, at: int, value: int, message: str) -> None:
    X = random_matrix(n)
    getattr(X, part)[at] = value
    with pytest.raises(ValueError, match=message):
        csr_matrix(X)


@pytest.mark.parametrize(("part", "dtype"), [("data", np.float16), ("indices", np.int16)])
def test_rejects_other_dtypes(part: str, dtype: type) -> None:
    X = random_matrix()
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    arrays[part] = arrays[part].astype(dtype)
    with pytest.raises(TypeError, match="must be"):
        _core.CsrMatrix(
            values=arrays["data"], columns=arrays["indices"], starts=arrays["indptr"], n_features=20
        )


@pytest.mark.parametrize("n_features", [0, 2**31])
def test_rejects_impossible_numbers_of_features(n_features: int) -> None:
    with pytest.raises(ValueError, match="n_features must be positive"):
        csr_matrix(random_matrix(), n_features=n_features)


def test_rows_reject_shifts_and_factors_of_other_lengths() -> None:
    matrix = csr_matrix(random_matrix())
    with pytest.raises(ValueError, match="shift must have one value per feature"):
        _core.Rows(matrix, shift=np.zeros(19))
    with pytest.raises(ValueError, match="shift must have one value per feature"):
        _core.Rows(np.zeros((5, 3)), shift=None)
    with pytest.raises(ValueError, match="factors must have one value per row"):
        _core.Rows(matrix, shift=None, factors=np.ones(49))
    with pytest.raises(ValueError, match="factors must have one value per row"):
        _core.Rows(matrix, shift=np.zeros(20), factors=np.ones(51))
    with pytest.raises(ValueError, match="factors must have one value per row"):
        _core.Rows(np.zeros((5, 3)), shift=np.zeros(3), factors=np.ones(4))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"n_sections": 1}, "n_sections must be at least 2"), ({"init": "best"}, "init must be")],
)
def test_rejects_invalid_split_options(changes: dict[str, Any], message: str) -> None:
    options = {"n_sections": 2, "init": "random", "max_passes": 1, "tol": 0.0, "seed": 0}
    with pytest.raises(ValueError, match=message):
        _core.SplitOptions(**{**options, **changes}, with_inertias=False)


@pytest.mark.parametrize(("begins", "ends"), [([-1], [5]), ([0], [11]), ([3], [4])])
def test_rejects_sets_that_cannot_be_split(begins: list[int], ends: list[int]) -> None:
    rows = _core.Rows(np.zeros((10, 2)), shift=np.zeros(2))
    options = _core.SplitOptions(
        n_sections=2, init="random", max_passes=1, tol=0.0, seed=0, with_inertias=False
    )
    with pytest.raises(ValueError, match="range of at least n_sections members"):
        _core.split(rows, None, np.arange(10), np.array(begins), np.array(ends), options, 1)
