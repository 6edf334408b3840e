"""Near duplicates: identical files, miniatures, similar vectors, and their groups."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawings import drawing
from numpy.typing import NDArray

pytest.importorskip("PIL")
from PIL import Image

from boostkmeans import ParameterError
from boostkmeans._runtime.progress import ignore_progress
from boostkmeans.images import near_duplicates
from boostkmeans.images._duplicates.identical_files import identical_contents
from boostkmeans.images._duplicates.miniatures import miniature


def save(folder: Path, name: str, pixels: NDArray[np.uint8], **settings: Any) -> None:
    Image.fromarray(pixels).save(folder / name, **settings)


def names_of(found: list[Any]) -> list[list[str]]:
    return [group.names for group in found]


def test_groups_of_a_folder(tmp_path: Path) -> None:
    for seed in range(6):
        save(tmp_path, f"{seed}.png", drawing(seed))
    half = np.asarray(Image.fromarray(drawing(1)).resize((48, 36), Image.Resampling.LANCZOS))
    save(tmp_path, "1 half.png", half)
    save(tmp_path, "2 compressed.jpg", drawing(2), quality=40)
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "3.png").write_bytes((tmp_path / "3.png").read_bytes())
    found = near_duplicates(None, tmp_path)
    assert names_of(found) == [
        ["1 half.png", "1.png"],
        ["2 compressed.jpg", "2.png"],
        ["3.png", "copies/3.png"],
    ]
    assert [group.identical for group in found] == [False, False, True]
    assert found[2].similarity == 1
    assert all(0.98 <= group.similarity <= 1 for group in found)
    assert found[2].rows == [5, 8]
    assert len(list(tmp_path.rglob("*.*"))) == 9, "nothing is deleted"
    assert names_of(near_duplicates(None, tmp_path, miniatures=None)) == [["3.png", "copies/3.png"]]


def test_similar_vectors_are_linked_into_groups() -> None:
    angles = np.deg2rad([0, 10, 20, 90, 180])
    vectors = 7 * np.column_stack([np.cos(angles), np.sin(angles)])
    images = [drawing(seed) for seed in range(5)]
    threshold = float(np.cos(np.deg2rad(15)))
    [group] = near_duplicates(vectors, images, threshold=threshold)
    assert group.rows == [0, 1, 2]
    assert group.similarity == pytest.approx(np.cos(np.deg2rad(10)), abs=1e-6)
    assert not group.identical
    vectors[:2] = 0  # have no vectors, and link no others
    assert near_duplicates(vectors, images, threshold=threshold) == []


def test_equal_vectors_of_different_files_are_not_identical() -> None:
    [group] = near_duplicates(np.ones((2, 3)), [drawing(0), drawing(1)], threshold=1.0)
    assert (group.similarity, group.identical) == (1, False)


def test_images_without_files_are_compared_by_vectors() -> None:
    names = ["no such.jpg", "nor\0this.jpg", "other.jpg"]
    found = near_duplicates(np.array([[1, 0], [1, 0.01], [0, 1]]), names)
    assert names_of(found) == [names[:2]]


def test_uniform_images_are_not_similar() -> None:
    uniform = [np.full((40, 40), level, dtype=np.uint8) for level in (10, 200)]
    assert near_duplicates(None, uniform) == []
    assert len(near_duplicates(None, [uniform[0], uniform[0].copy()])) == 1, "equal bytes"
    assert not np.any(miniature(uniform[0]))


def test_miniatures_ignore_brightness_and_contrast() -> None:
    grey = drawing(3)
    bright, plain = miniature((grey // 2 + 90).astype(np.uint8)), miniature(grey)
    assert np.dot(bright, plain) > 0.99
    assert np.dot(miniature(drawing(4)), plain) < 0.8


def test_files_that_cannot_be_read_are_not_identical(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    os.mkfifo(tmp_path / "b")
    contents = [tmp_path / "a", tmp_path / "b", tmp_path / "missing", tmp_path]
    assert identical_contents(contents, ignore_progress) == []


def test_only_files_of_equal_length_are_read(tmp_path: Path) -> None:
    for name, content in {"a": b"12", "b": b"123", "c": b"123", "d": b"124"}.items():
        (tmp_path / name).write_bytes(content)
    steps: list[int | None] = []
    found = identical_contents(
        [tmp_path / name for name in "abcd"], lambda what, done, total: steps.append(total)
    )
    assert found == [[1, 2]]
    assert steps == [3, 3, 3]


@pytest.mark.parametrize("value", [0, 1.5, -1, "0.9", True, float("nan")])
def test_thresholds_are_checked(value: Any) -> None:
    with pytest.raises(ParameterError, match="'threshold' parameter of near_duplicates must be a float"):
        near_duplicates(None, [drawing(0)], threshold=value)


def test_vectors_are_checked() -> None:
    images = [drawing(0), drawing(1)]
    with pytest.raises(ValueError, match=r"one row per image. Got shape \(3, 2\) and 2 images"):
        near_duplicates(np.ones((3, 2)), images)
    with pytest.raises(ValueError, match="NaN or infinity"):
        near_duplicates(np.array([[1, np.nan], [1, 1]]), images)
