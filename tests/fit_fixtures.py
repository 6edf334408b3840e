"""Fixtures of the tests of `boostkmeans fit`. A test module uses them by `pytest_plugins`."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import blobs


@pytest.fixture(scope="session")
def small_rows() -> NDArray[np.float32]:
    """Return 600 rows of 4 features in 12 clusters."""
    return blobs(600, 4, 12, spread=2.0)[0].astype(np.float32)


@pytest.fixture
def small_file(tmp_path: Path, small_rows: NDArray[np.float32]) -> Path:
    """Return a file with the rows of `small_rows`."""
    np.save(tmp_path / "x.npy", small_rows)
    return tmp_path / "x.npy"


@pytest.fixture(scope="session")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of 20,000 rows, for which a sweep takes a moment."""
    path = tmp_path_factory.mktemp("large") / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(20_000, 16)).astype(np.float32))
    return path
