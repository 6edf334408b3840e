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
from boostkmeans.images._duplicates import links, similar_pairs
from boostkmeans.images._duplicates.identical_files import identical_contents
from boostkmeans.images._duplicates.links import Links
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
    vectors[1] = 0  # has no vector, and links no others
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


def planted(n: int, seed: int) -> NDArray[np.float32]:
    """Return random vectors; the last tenth are slightly changed copies of the first."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(20, 16))
    rows = centres[rng.integers(0, 20, n)] + 0.7 * rng.normal(size=(n, 16))
    n_copies = n // 10
    rows[-n_copies:] = rows[:n_copies] * 3 + 0.02 * rng.normal(size=(n_copies, 16))
    return rows.astype(np.float32)


def all_pairs(rows: NDArray[np.float32], threshold: float) -> set[tuple[int, int]]:
    units = rows.astype(np.float64) / np.linalg.norm(rows, axis=1, keepdims=True)
    first, second = np.nonzero(np.triu(units @ units.T >= threshold, k=1))
    return set(zip(first.tolist(), second.tolist(), strict=True))


@pytest.mark.parametrize("block", [7, 2048])
def test_few_vectors_are_all_compared(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_pairs, "BLOCK", block)
    rows = planted(300, seed=1)
    found = list(similar_pairs.similar_pairs(rows, 0.99, 1, 0, ignore_progress))
    pairs = {
        (min(a, b), max(a, b))
        for first, second, _ in found
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    }
    assert sum(len(first) for first, _, _ in found) == len(pairs), "each pair once"
    assert pairs == all_pairs(rows, 0.99)


def test_many_vectors_are_compared_in_neighbouring_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_pairs, "MAX_EXACT", 100)
    monkeypatch.setattr(similar_pairs, "VECTORS_PER_CLUSTER", 16)
    rows = planted(2000, seed=2)
    found = list(similar_pairs.similar_pairs(rows, 0.99, 1, 0, ignore_progress))
    pairs = {
        (min(a, b), max(a, b))
        for first, second, _ in found
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    }
    wanted = all_pairs(rows, 0.99)
    assert pairs <= wanted, "every cosine is exact"
    assert len(pairs) >= 0.99 * len(wanted) > 190
    assert sum(len(first) for first, _, _ in found) == len(pairs), "each pair once"


def test_equal_vectors_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.repeat(planted(20, seed=3)[:4], 500, axis=0)
    found = list(similar_pairs.similar_pairs(rows, 0.999, 1, 0, ignore_progress))
    assert sum(len(first) for first, _, _ in found) == 4 * 499


def test_links_are_merged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MAX_WAITING", 3)
    chain = Links(12)
    for place in (5, 4, 0, 1, 2, 9):
        ends = np.array([place]), np.array([place + 1])
        chain.add(*ends, np.array([1 - place / 100], dtype=np.float32))
    assert [group.tolist() for group in chain.groups()] == [[0, 1, 2, 3], [4, 5, 6], [9, 10]]
    assert chain.similarities[3] == np.float32(0.98)
    assert Links(0).groups() == []


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
