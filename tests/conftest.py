"""What several test files use."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

# Two workers share the cores: threads of OpenMP that spin while they wait take them from the other one.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

import boostkmeans

settings.register_profile("default", deadline=None, print_blob=True)
settings.load_profile("default")

with mock.patch.dict(os.environ):  # measurements settle the threads of a process; tests keep theirs
    importlib.import_module("environment")
SHARED = Path(__file__).parents[2] / "shared" / "data"
SAMPLE = Path(__file__).parents[1] / "examples" / "data" / "siftsmall.npz"


@pytest.fixture(params=boostkmeans.instruction_sets())
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each instruction set of this machine in turn."""
    name = str(request.param)
    monkeypatch.setenv("BOOSTKMEANS_ISA", name)
    return name


@pytest.fixture(scope="session")
def sift() -> NDArray[np.uint8]:
    """10,000 real SIFT descriptors, shipped with the project."""
    with np.load(SAMPLE) as data:
        return np.asarray(data["base"])


def blobs(
    n: int, d: int, k: int, seed: int = 0, spread: float = 20.0
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """k unit normal blobs whose centres are `spread` apart in each column, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k).astype(np.int32)
    return spread * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d)), labels


def same_partition(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two labellings differ by the names of the clusters alone."""
    pairs = np.unique(np.stack([a, b]), axis=1)
    return bool(len(np.unique(a)) == len(np.unique(b)) == pairs.shape[1])


def run_python(code: str, timeout: float = 120.0, **env: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter: for what must not depend on this one."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, timeout=timeout, check=False, env={**os.environ, **env},
    )  # fmt: skip
