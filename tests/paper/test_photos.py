"""The experiment on real photographs, with small sets."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import photo_sets
import photos
import vlad

NAMES = [f"image-{number}.jpg" for number in range(12)]


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with data in the form of the shared folder."""
    rng = np.random.default_rng(0)
    (tmp_path / "photos").mkdir()
    (tmp_path / "sift").mkdir()
    vectors = rng.normal(size=(12, 512)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.savez(tmp_path / "photos" / "pixabay_vlad512.npz", X=vectors, names=np.array(NAMES))
    for number in range(2):
        np.savez(
            tmp_path / "sift" / f"photosift_base_{number}of4.npz",
            X=rng.integers(0, 256, (200, 128), dtype=np.uint8),
            img=rng.integers(0, 10, 200).astype(np.uint16) + 2,
        )
    np.savez(tmp_path / "sift" / "photosift_learn_query.npz", image_names=np.array(NAMES))
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path))
    monkeypatch.setattr(vlad, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(photo_sets, "_LOADED", {})
    monkeypatch.setattr(photo_sets, "N_THREADS", 1)
    return tmp_path


def test_descriptors_become_vectors_of_named_photographs(shared: Path) -> None:
    found = photo_sets.load("PhotoSIFT by image number")
    assert found.names == NAMES[2:]
    assert found.vectors.shape == (10, 9)  # 10 vectors minus their mean
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-5)
    assert found.notes["photographs"] == 10
    photo_sets._LOADED.clear()
    for path in (shared / "sift").iterdir():
        path.unlink()
    again = photo_sets.load("PhotoSIFT by image number")  # from the cache
    np.testing.assert_array_equal(again.vectors, found.vectors)
    assert (again.names, again.notes) == (found.names, found.notes)


def test_thumbnails_become_vectors_of_named_photographs(shared: Path) -> None:
    pytest.importorskip("cv2")
    from PIL import Image

    rng = np.random.default_rng(1)
    with zipfile.ZipFile(shared / "photos" / "pixabay_thumbs128.zip", "w") as archive:
        for number, name in enumerate(NAMES):
            coarse = rng.integers(0, 256, (8, 8), dtype=np.uint8)
            pixels = np.kron(coarse, np.ones((12, 12), dtype=np.uint8)) if number else np.zeros((96, 96))
            content = io.BytesIO()
            Image.fromarray(pixels.astype(np.uint8)).save(content, format="JPEG")
            archive.writestr(name, content.getvalue())
    found = photo_sets.load("thumbnails")
    assert found.names == sorted(NAMES[1:])  # the first one is black
    assert found.notes["without_keypoints"] == 1
    assert found.notes["photographs"] == 12


def test_equal_sets_share_all_neighbours() -> None:
    rng = np.random.default_rng(0)
    names = [str(number) for number in range(30)]
    vectors = rng.normal(size=(30, 5)).astype(np.float32)
    one = photo_sets.PhotoSet(names, vectors, {})
    order = rng.permutation(30)[:25]
    other = photo_sets.PhotoSet([names[place] for place in order], vectors[order], {})
    found = photos.shared_neighbours(one, other)
    assert found["shared_neighbours"] == found["same_nearest"] == 1
    assert found["compared"] == 25
    assert found["chance"] == pytest.approx(10 / 24)
    unrelated = photo_sets.PhotoSet(names, rng.normal(size=(30, 5)).astype(np.float32), {})
    assert photos.shared_neighbours(one, unrelated)["shared_neighbours"] < 0.6


def test_measures_and_writes_a_page(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(photos, "KS", (2, 3))
    monkeypatch.setattr(photos, "NEIGHBOURS", 3)
    some = ("k-means", "BKM(non)", "sampled tree", "boostkmeans")
    plan = [run for run in photos.plan(False) if run["set"] != "thumbnails"]
    plan = [{**run, "seeds": 2} for run in plan if run.get("method") in (None, *some)]
    runs: list[dict[str, Any]] = [{"run": run, **photos.measure(run)} for run in plan]
    for run in runs:
        if "k" in run["run"]:
            assert len(run["distortions"]) == 2
            assert run["distortion"] == pytest.approx(np.mean(run["distortions"]))
            assert 0 < run["distortion"] <= 1.0001
    result = json.loads(json.dumps({"size": "small", "runs": runs}))
    text = photos.page(result)
    assert "## Provided VLAD vectors: 12 x 512" in text
    assert "| PhotoSIFT by image number | 10 | 0 |" in text
    assert "among the paper's) for k = 3" in text or "BKM(non) for k = 3" in text
