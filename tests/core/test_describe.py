"""The range of each column, and the first value that is not finite."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans._data.rows import describe


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 16, 17, 64])
def test_range_of_columns_for_every_layout(dtype: type, d: int) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 1023, 1025, 3000):
        X: NDArray[Any] = rng.normal(size=(n, d)).astype(dtype)
        parts_of_columns = np.hstack([X, X])[:, d // 2 : d // 2 + d]
        for rows in (X, X[::2], X[::-1], np.asfortranarray(X), parts_of_columns):
            low, high = describe(rows, None, 2)
            np.testing.assert_array_equal(low, rows.min(axis=0))
            np.testing.assert_array_equal(high, rows.max(axis=0))


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("d", [3, 16, 64])
def test_reports_the_first_value_that_is_not_finite(value: float, d: int) -> None:
    X = np.zeros((5000, d), dtype=np.float32)
    X[3456:, d - 1] = value
    with pytest.raises(ValueError, match=f"row 3456, column {d - 1}"):
        describe(X, None, 3)
