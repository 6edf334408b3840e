"""Synthetic and real VLAD vectors of the scalability experiment."""

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import vlad
import vlad_file
from boostkmeans.io import write_vectors
from processes import PATIENCE, spawn


@pytest.fixture(autouse=True)
def _no_real_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(vlad.VARIABLE, raising=False)


# Synthetic vectors


def test_rows_do_not_depend_on_their_number() -> None:
    rows = vlad.synthetic(vlad_file.BLOCK + 10)
    np.testing.assert_array_equal(vlad.synthetic(100), rows[:100])
    np.testing.assert_array_equal(vlad.synthetic(vlad_file.BLOCK + 1), rows[: vlad_file.BLOCK + 1])
    assert not np.array_equal(rows[:10], rows[vlad_file.BLOCK :])
    assert not np.array_equal(vlad.synthetic(10, seed=1), rows[:10])


def test_rows_have_unit_length_and_the_spectrum() -> None:
    rows = vlad.synthetic(3 * vlad_file.BLOCK)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    ratios = rows.astype(np.float64).var(axis=0) / vlad.spectrum()
    # Few topics have most of the rows, so variances differ from the spectrum by chance.
    assert ratios.min() > 0.5
    assert ratios.max() < 1.6
    assert np.log(ratios).std() < 0.1
    assert vlad.spectrum().sum() == pytest.approx(1)
    assert (np.diff(vlad.spectrum()) < 0).all()


def test_rows_are_clustered() -> None:
    """Nearest neighbours are nearer than among normal rows with the same spectrum."""
    rows = vlad.synthetic(1000)
    gaps = 2 - 2 * rows @ rows.T + 9 * np.eye(1000)
    scale = np.sqrt(vlad.spectrum())
    normal = np.random.default_rng(0).normal(size=(1000, vlad.N_FEATURES)) * scale
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    without = 2 - 2 * normal @ normal.T + 9 * np.eye(1000)
    assert np.quantile(gaps.min(axis=1), 0.1) < 0.9 * np.quantile(without.min(axis=1), 0.1)


def test_float16_rows_are_rounded_float32_rows() -> None:
    half = vlad.synthetic(50, dtype="float16")
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, vlad.synthetic(50), atol=1e-3)


def test_rejects_other_dtypes() -> None:
    with pytest.raises(ValueError, match=r"dtype must be .*Got 'float64'"):
        vlad.synthetic(5, dtype="float64")


def test_many_rows_are_mapped_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vlad, "MIN_ROWS_IN_FILE", 300)
    rows = vlad.synthetic(500, folder=tmp_path)
    assert isinstance(rows, np.memmap)
    monkeypatch.setattr(vlad.Mixture, "block", None)  # The existing file must be used.
    np.testing.assert_array_equal(vlad.synthetic(300, folder=tmp_path), rows[:300])
    assert [path.name for path in tmp_path.iterdir()] == ["vlad_float32_seed0_500.npy"]


def test_interrupted_file_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vlad, "MIN_ROWS_IN_FILE", 300)
    monkeypatch.setattr(vlad_file, "GROUP", 1)
    block, n = vlad.Mixture.block, 2 * vlad_file.BLOCK + 5

    def interrupted(self: vlad.Mixture, number: int) -> vlad.Floats:
        if number == 2:
            raise KeyboardInterrupt
        return block(self, number)

    def second_part(self: vlad.Mixture, number: int) -> vlad.Floats:
        assert number == 2
        return block(self, number)

    monkeypatch.setattr(vlad.Mixture, "block", interrupted)
    with pytest.raises(KeyboardInterrupt):
        vlad.synthetic(n, dtype="float16", folder=tmp_path)
    name = f"vlad_float16_seed0_{n}.npy"
    assert not (tmp_path / name).exists()
    monkeypatch.setattr(vlad.Mixture, "block", second_part)
    rows = vlad.synthetic(n, dtype="float16", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    monkeypatch.setattr(vlad.Mixture, "block", block)
    monkeypatch.setattr(vlad, "MIN_ROWS_IN_FILE", n + 1)
    np.testing.assert_array_equal(rows, vlad.synthetic(n, dtype="float16"))


@pytest.mark.slow
@pytest.mark.process
def test_processes_write_a_file_once(tmp_path: Path) -> None:
    """The second process waits for the first, and then uses its file."""
    script = (
        "import sys, vlad; vlad.MIN_ROWS_IN_FILE = 10; "
        f"vlad.synthetic(5_000, folder=vlad.Path({str(tmp_path)!r})); print(vlad.Mixture.calls)"
    )
    counted = (
        "import vlad; block = vlad.Mixture.block; vlad.Mixture.calls = 0\n"
        "def count(self, number):\n    vlad.Mixture.calls += 1\n    return block(self, number)\n"
        f"vlad.Mixture.block = count\n{script}"
    )
    folders = os.pathsep.join(sys.path)
    some = [
        spawn([sys.executable, "-c", counted], stdout=subprocess.PIPE,
                         env={**os.environ, "PYTHONPATH": folders})
        for _ in range(2)
    ]  # fmt: skip
    outputs = sorted(int(one.communicate(timeout=PATIENCE)[0]) for one in some)
    assert outputs == [0, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["vlad_float32_seed0_5000.npy"]


def test_full_disk_is_reported_before_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(9, 9, 20_000_000_000))
    monkeypatch.setattr(vlad.Mixture, "block", None)
    with pytest.raises(OSError, match=r"20\.0 GB free, but the rows need 20\.5 GB"):
        vlad.synthetic(10_000_000, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


# Real vectors


@pytest.mark.parametrize("ending", ["npy", "fvecs", "fbin"])
def test_real_vectors_are_preferred(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 512)).astype(np.float32)
    write_vectors(tmp_path / f"Flickr10M_vlad.{ending}", rows)
    write_vectors(tmp_path / "another.npy", rows[:, :3])
    monkeypatch.setenv(vlad.VARIABLE, str(tmp_path))
    found, name = vlad.rows(12)
    np.testing.assert_array_equal(found, rows[:12])
    assert name == f"Flickr10M_vlad.{ending}, the first 12 x 512"


def test_files_with_other_names_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_vectors(tmp_path / "sift.npy", np.eye(3))
    monkeypatch.setenv(vlad.VARIABLE, str(tmp_path))
    assert vlad.rows(5)[1] == "synthetic, VLAD-like 5 x 512"


def test_rejects_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="BOOSTKMEANS_DATA"):
        vlad.find(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("shape", "message"),
    [((5, 128), "have 128 dimensions, expected 512"), ((5, 512), "has 5 vectors, but 6 are needed")],
)
def test_rejects_wrong_shapes(shape: tuple[int, int], message: str, tmp_path: Path) -> None:
    write_vectors(tmp_path / "flickr.npy", np.zeros(shape, dtype=np.float32))
    with pytest.raises(ValueError, match=message):
        vlad.rows(6, folder=tmp_path)
