"""A fit that starts from a sample resumes from every checkpoint, at any depth of nesting."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans import BisectingBoostKMeans, BoostKMeans, DataFormatError
from boostkmeans._data import memory
from boostkmeans._engine import dimensions
from boostkmeans._engine.checkpoints import checkpoint
from boostkmeans._steps.problem import stratified_indices
from boostkmeans._storage.tensors import read_tensors, write_tensors
from boostkmeans.io import open_vectors

Estimator = BoostKMeans | BisectingBoostKMeans


class Recorder:
    """Copies of all checkpoints that a fit writes, with their stages."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.files: list[tuple[str, Path]] = []
        self._folder = folder
        patch.setattr(checkpoint, "write_tensors", self)
        patch.setattr(checkpoint, "MAX_TIME_SHARE", np.inf)  # Write after every step.

    def __call__(self, path: Path, name: str, version: int, header: Any, arrays: Any) -> None:
        write_tensors(path, name, version, header, arrays)
        copy = self._folder / f"{len(self.files)}.checkpoint"
        shutil.copy(path, copy)
        self.files.append((header.get("stage", "finished"), copy))

    @property
    def stages(self) -> set[str]:
        return {stage for stage, _ in self.files}


def assert_resumes_everywhere(
    estimator: Estimator, X: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> set[str]:
    """Resume from every checkpoint, compare with the uninterrupted fit, and return the stages."""
    with monkeypatch.context() as patch:
        recorder = Recorder(tmp_path, patch)
        estimator.set_params(checkpoint=tmp_path / "fit").fit(X)
    expected = estimator.labels_.copy(), estimator.inertia_, len(estimator.history_)
    for stage, path in recorder.files:
        estimator.set_params(checkpoint=path).fit(X)
        np.testing.assert_array_equal(estimator.labels_, expected[0], err_msg=stage)
        assert (estimator.inertia_, len(estimator.history_)) == expected[1:], stage
    return recorder.stages


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return a memory limit into which about 1,000 of 6,000 rows with 8 features fit."""
    monkeypatch.setattr(memory, "PROCESS", 0)
    monkeypatch.setattr(memory, "MIN_BLOCK_ROWS", 64)
    return 6000 * memory.PER_STREAMED_ROW + 300_000


def blobs(n: int, d: int, k: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(0)
    return (3 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))).astype("f4")


def test_resumes_a_sample_of_a_sample(
    limited: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample of streamed rows is large enough to start from a sample of its own."""
    np.save(tmp_path / "x.npy", blobs(6000, 8, 3))
    model = BoostKMeans(3, quality="fast", random_state=0)
    with open_vectors(tmp_path / "x.npy", max_memory=limited) as X:
        stages = assert_resumes_everywhere(model, X, tmp_path, monkeypatch)
    assert {"sample/sample/sweeps", "sample/sweeps", "sweeps"} <= stages
    assert "in blocks" in model.history_[0].note


@pytest.mark.slow
def test_resumes_the_trees_of_nested_samples(
    limited: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "x.npy", blobs(6000, 2, 18))
    model = BoostKMeans(18, quality="fast", annealing=0, random_state=0, max_iter=4)
    with open_vectors(tmp_path / "x.npy", max_memory=limited) as X:
        stages = assert_resumes_everywhere(model, X, tmp_path, monkeypatch)
    assert {"sample/tree", "sample/sweeps", "sweeps"} <= stages


def test_resumes_a_bisecting_fit_of_streamed_rows(
    limited: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "x.npy", blobs(6000, 8, 6))
    model = BisectingBoostKMeans(6, refine=2, random_state=0)
    with open_vectors(tmp_path / "x.npy", max_memory=limited) as X:
        stages = assert_resumes_everywhere(model, X, tmp_path, monkeypatch)
    assert stages == {"sample/tree", "sweeps", "finished"}


@pytest.mark.slow
def test_resumes_a_projected_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = BoostKMeans(18, dimensions=3, random_state=0, n_init=2, max_iter=30)
    stages = assert_resumes_everywhere(model, blobs(1500, 8, 18), tmp_path, monkeypatch)
    assert {"projection/tree", "projection/sweeps", "sweeps", "finished"} <= stages
    assert "first 3 of 8 dimensions" in model.history_[0].note


def test_resumes_the_projected_sample_of_a_projected_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = BoostKMeans(3, dimensions=3, quality="fast", random_state=0)
    stages = assert_resumes_everywhere(model, blobs(3000, 8, 3), tmp_path, monkeypatch)
    assert {"projection/sample/sweeps", "projection/sweeps", "sweeps"} <= stages


@pytest.mark.slow
def test_resumes_the_projected_sample_of_streamed_rows(
    limited: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "x.npy", blobs(6000, 8, 3))
    model = BoostKMeans(3, dimensions=3, random_state=0)
    with open_vectors(tmp_path / "x.npy", max_memory=limited) as X:
        stages = assert_resumes_everywhere(model, X, tmp_path, monkeypatch)
    assert {"sample/projection/sweeps", "sample/sweeps", "sweeps"} <= stages


def test_rejects_a_checkpoint_with_another_number_of_components(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = blobs(1500, 8, 18)
    with monkeypatch.context() as patch:
        recorder = Recorder(tmp_path, patch)
        BoostKMeans(5, dimensions=3, random_state=0, checkpoint=tmp_path / "fit").fit(X)
    path = next(path for stage, path in recorder.files if stage == "sweeps")
    with pytest.raises(ValueError, match="its dimensions is 3, but this fit has 4"):
        BoostKMeans(5, dimensions=4, random_state=0, checkpoint=path).fit(X)
    damaged = tmp_path / "damaged"
    _, header, arrays = read_tensors(path, checkpoint.FORMAT, checkpoint.VERSION)
    header["sweeps"]["fit"]["plan"]["dimensions"] = 5
    write_tensors(damaged, checkpoint.FORMAT, checkpoint.VERSION, header, arrays)
    with pytest.raises(DataFormatError, match="dimensions"):
        BoostKMeans(5, dimensions=3, random_state=0, checkpoint=damaged).fit(X)


def test_resumes_a_fit_of_a_version_without_projections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checkpoints of version 0.8 have no `dimensions`. The fit continues in all dimensions."""
    X = blobs(1500, 80, 18)
    model = BoostKMeans(18, dimensions=None, random_state=0)
    with monkeypatch.context() as patch:
        recorder = Recorder(tmp_path, patch)
        expected = model.set_params(checkpoint=tmp_path / "fit").fit(X).labels_.copy()
    assert {"tree", "sweeps", "finished"} <= recorder.stages
    monkeypatch.setattr(dimensions, "MAX_COST_SHARE", np.inf)  # "auto" would project.
    for _, path in recorder.files[:: max(1, len(recorder.files) // 6)]:
        old = tmp_path / "old"
        _, header, arrays = read_tensors(path, checkpoint.FORMAT, checkpoint.VERSION)
        del header["identity"]["dimensions"]
        write_tensors(old, checkpoint.FORMAT, checkpoint.VERSION, header, arrays)
        model.set_params(dimensions="auto", checkpoint=old).fit(X)
        np.testing.assert_array_equal(model.labels_, expected)
        assert "dimensions (" not in model.history_[0].note
        write_tensors(old, checkpoint.FORMAT, checkpoint.VERSION, header, arrays)
        with pytest.raises(ValueError, match="another fit: its dimensions"):
            model.set_params(dimensions=5).fit(X)


@pytest.mark.slow
def test_resumes_after_a_rejected_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows far away are missing in the sample, so that the fit starts over with all rows."""
    X = blobs(5000, 4, 17)
    drawn = stratified_indices(len(X), 64 * 17, np.random.RandomState(0))
    X[np.setdiff1d(np.arange(len(X)), drawn)[:2]] += 3000.0
    model = BoostKMeans(17, quality="fast", random_state=0)
    stages = assert_resumes_everywhere(model, X, tmp_path, monkeypatch)
    assert {"sample/tree", "sample/sweeps", "tree", "sweeps"} <= stages
    assert "sample" not in model.history_[0].note
