"""`cluster_images`: vectors, clusters, central images, near duplicates and skipped files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawings import drawing, drawings, patches

pytest.importorskip("PIL")
from PIL import Image

from boostkmeans import DataFormatError, ParameterError
from boostkmeans.images import VLADPipeline, cluster_images


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Return a folder with six drawings, a copy, an image of one colour, and a text."""
    folder = tmp_path / "photos"
    (folder / "sub").mkdir(parents=True)
    for seed in range(6):
        Image.fromarray(drawing(seed)).save(folder / f"{seed}.png")
    Image.fromarray(drawing(2)).save(folder / "sub" / "copy.bmp")
    Image.new("L", (60, 40), 128).save(folder / "flat.png")
    (folder / "notes.txt").write_text("no image")
    return folder


def pipeline() -> VLADPipeline:
    return VLADPipeline(4, 5, keypoints=patches, random_state=0)


def test_result(photos: Path) -> None:
    found = cluster_images(photos, 3, features=pipeline(), random_state=0)
    assert found.names == [*(f"{seed}.png" for seed in range(6)), "sub/copy.bmp"]
    assert found.paths == [photos / name for name in found.names]
    assert found.without_keypoints == ["flat.png"]
    assert [one.name for one in found.skipped] == ["notes.txt"]
    assert found.labels[2] == found.labels[6], "a copy is in the cluster of its original"
    assert sum(cluster.size for cluster in found.clusters) == 7
    assert found.duplicates is not None
    assert ["2.png", "sub/copy.bmp"] in [group.names for group in found.duplicates]
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    for cluster in found.clusters:
        members = [name for name, label in zip(found.names, found.labels, strict=True)
                   if label == cluster.number]  # fmt: skip
        assert cluster.size == len(members)
        assert {one.name for one in cluster.central} <= set(members)
        similarities = [one.similarity for one in cluster.central]
        assert similarities == sorted(similarities, reverse=True)
    assert found.model.callback is None


def test_a_fitted_pipeline_is_used_as_it_is(photos: Path) -> None:
    first = cluster_images(photos, 2, features=pipeline(), random_state=0)
    assert first.pipeline is not None
    words = first.pipeline.words_
    again = cluster_images(photos, 2, features=first.pipeline, random_state=0)
    assert again.pipeline is not None
    assert again.pipeline.words_ is words
    # The images are projected one by one or all at once, which rounds differently.
    np.testing.assert_allclose(again.vectors, first.vectors, atol=1e-6)
    np.testing.assert_array_equal(again.model.labels_, first.model.labels_)
    assert again.model.inertia_ == pytest.approx(first.model.inertia_, rel=1e-6)


@pytest.mark.filterwarnings("ignore:1 images cannot be read")
def test_fit_describe_equals_fit_and_describe(photos: Path) -> None:
    one, two = pipeline().fit_describe(photos), pipeline().fit(photos).describe(photos)
    np.testing.assert_allclose(one.vectors, two.vectors, atol=1e-6)
    assert (one.names, one.skipped, one.without_keypoints) == (
        two.names,
        two.skipped,
        two.without_keypoints,
    )


def test_vlad_by_default() -> None:
    pytest.importorskip("cv2")
    images = [np.kron(drawing(seed), np.ones((2, 2), dtype=np.uint8)) for seed in range(8)]
    images.append(images[3].copy())
    found = cluster_images(images, 2, random_state=0)
    assert found.pipeline is not None
    assert len(found.pipeline.words_) == 64
    assert found.features == "VLAD, sift"
    assert found.paths is None
    assert found.duplicates is not None
    assert [group.rows for group in found.duplicates] == [[3, 8]]
    assert found.duplicates[0].identical


def test_thresholds_of_duplicates() -> None:
    images = drawings(4)
    angles = np.deg2rad([0, 30, 90, 180])
    features = np.column_stack([np.cos(angles), np.sin(angles)])

    def rows(duplicates: Any) -> Any:
        found = cluster_images(images, 1, features=features, duplicates=duplicates, random_state=0)
        groups = found.duplicates
        return None if groups is None else [group.rows for group in groups]

    assert rows("auto") == []
    assert rows(0.85) == [[0, 1]]
    assert rows(None) is None


def test_images_without_vectors_may_be_duplicates(photos: Path) -> None:
    (photos / "flat too.png").write_bytes((photos / "flat.png").read_bytes())
    found = cluster_images(photos, 2, features=pipeline(), random_state=0)
    assert found.duplicates is not None
    assert ["flat too.png", "flat.png"] in [group.names for group in found.duplicates]


@pytest.mark.parametrize("method", ["k-way", "bisecting", "refined"])
def test_methods(method: str) -> None:
    features = np.repeat(np.eye(4), 3, axis=0) + np.arange(12)[:, None] / 1000
    found = cluster_images(drawings(12), 4, features=features, method=method, random_state=0)
    assert sorted(found.labels.tolist()) == sorted([0, 1, 2, 3] * 3)
    assert found.method == method


def test_the_listing_escapes_names(tmp_path: Path) -> None:
    for seed in range(3):
        Image.fromarray(drawing(seed)).save(tmp_path / f"a\x1b[31m\n{seed}.png")
    (tmp_path / "b\r.jpg").write_bytes(b"")
    (tmp_path / "c\x1b.png").write_bytes((tmp_path / "a\x1b[31m\n0.png").read_bytes())
    found = cluster_images(tmp_path, 2, features=np.eye(5), random_state=0)
    text = str(found)
    assert "\x1b" not in text
    assert "\r" not in text
    assert "a\\x1b[31m\\n0.png" in text
    assert "1 skipped: b\\r.jpg (not an image in a known format" in text
    assert "near duplicates: 1 group, 2 images" in text


def test_links_are_read_only_if_they_form_no_loop(tmp_path: Path) -> None:
    for seed in range(3):
        Image.fromarray(drawing(seed)).save(tmp_path / f"{seed}.png")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "itself.png").symlink_to(tmp_path / "itself.png")
    (tmp_path / "link.png").symlink_to(tmp_path / "0.png")
    found = cluster_images(tmp_path, 1, features=np.eye(5), random_state=0)
    assert found.names == ["0.png", "1.png", "2.png", "link.png"]
    assert [one.name for one in found.skipped] == ["itself.png"]
    assert found.duplicates is not None
    assert found.duplicates[0].names == ["0.png", "link.png"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of cluster_images must be an int"),
        ({"method": "best"}, "'method' parameter of cluster_images must be a str among"),
        ({"duplicates": 2}, "'duplicates' parameter of cluster_images must be a float in the range"),
        ({"duplicates": "some"}, "'duplicates' parameter"),
        ({"n_central": -1}, "'n_central' parameter"),
    ],
)
def test_parameters_are_checked(settings: dict[str, Any], message: str) -> None:
    given = {"n_clusters": 2, "features": np.eye(3), **settings}
    with pytest.raises(ParameterError, match=message):
        cluster_images(drawings(3), **given)


def test_conflicts(tmp_path: Path, photos: Path) -> None:
    with pytest.raises(ValueError, match="quality has no effect with the method 'bisecting'"):
        cluster_images(drawings(3), 2, features=np.eye(3), method="bisecting", quality="best")
    message = (
        r"n_clusters=20 is more than the 7 images with vectors \(1 cannot be used, 1 have no keypoints\)"
        r"\. notes.txt: not an image"
    )
    with pytest.raises(ValueError, match=message):
        cluster_images(photos, 20, features=pipeline())
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataFormatError, match="empty: There are no images"):
        cluster_images(empty, 2)
    with pytest.raises(FileNotFoundError):
        cluster_images(tmp_path / "missing", 2)
