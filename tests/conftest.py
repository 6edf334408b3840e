"""Fixtures and helper functions that several test files use."""

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

# Two workers share the cores. By default, idle OpenMP threads spin and slow down the other worker.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

import boostkmeans
from processes import PATIENCE, end_processes, restore_signals
from warm_interpreter import run_warm

restore_signals()

# The time of an example depends on the load of the machine, so that it must not fail a test.
settings.register_profile("default", deadline=None, print_blob=True)
settings.load_profile("default")

# The benchmarks set the number of threads when they are imported. The tests keep their own setting.
with mock.patch.dict(os.environ):
    importlib.import_module("environment")
# Larger data sets, if the machine has them.
SHARED = Path(__file__).parents[2] / "shared" / "data"
SAMPLE = Path(__file__).parents[1] / "examples" / "data" / "siftsmall.npz"


# The Makefile names these folders. Two of them take long. Playwright switches greenlets, which Python
# 3.11 confuses with recursion in other tests of the process.
SEPARATE_FOLDERS = ("browser", "browser_large", "cluster")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect separate folders only if the command line names them."""
    name = collection_path.name
    named = any(name in Path(argument).parts for argument in config.args)
    return True if name in SEPARATE_FOLDERS and not named else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests first, so that no worker waits for one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True)
def _end_processes() -> Iterator[None]:
    """Kill processes that a failing test has left running."""
    yield
    end_processes()


@pytest.fixture(params=boostkmeans.instruction_sets())
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test once per instruction set of this machine."""
    name = str(request.param)
    monkeypatch.setenv("BOOSTKMEANS_ISA", name)
    return name


@pytest.fixture(scope="session")
def sift() -> NDArray[np.uint8]:
    """Return 10,000 SIFT descriptors, which the project contains."""
    with np.load(SAMPLE) as data:
        return np.asarray(data["base"])


def blobs(
    n: int, d: int, k: int, seed: int = 0, spread: float = 20.0
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return normal blobs around k centres, about `spread` apart in each column, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k).astype(np.int32)
    return spread * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d)), labels


def same_partition(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return True if two labellings differ only by the numbers of the clusters."""
    pairs = np.unique(np.stack([a, b]), axis=1)
    return bool(len(np.unique(a)) == len(np.unique(b)) == pairs.shape[1])


def run_python(
    code: str, timeout: float = PATIENCE, *, fresh: bool = False, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter, in which warnings are errors.

    Unless it must be `fresh` or has environment variables of its own, scikit-learn is loaded already,
    which saves seconds. Code that hides packages or looks at `sys.modules` needs a fresh one.
    """
    if not fresh and not env:
        return run_warm(code, timeout)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, timeout=timeout, check=False, env={**os.environ, **env},
    )  # fmt: skip
