"""Features from files and arrays: which row belongs to which image."""

from pathlib import Path

import numpy as np
import pytest
from drawings import drawing

pytest.importorskip("PIL")
from PIL import Image

from boostkmeans import DataFormatError
from boostkmeans.images import ImageClusters, cluster_images

# Vectors of the images a.png, b.png and sub/c.png, of any length.
ROWS = np.array([[3.0, 0.0], [0.0, 2.0], [0.0, -5.0]])


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    (folder / "sub").mkdir(parents=True)
    for seed, name in enumerate(("a.png", "b.png", "sub/c.png")):
        Image.fromarray(drawing(seed)).save(folder / name)
    return folder


def clustered(photos: Path, features: object, **settings: str) -> ImageClusters:
    return cluster_images(photos, 1, features=features, random_state=0, **settings)  # type: ignore[arg-type]


def test_rows_have_the_order_of_the_paths(photos: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", ROWS)
    for features in (tmp_path / "rows.npy", str(tmp_path / "rows.npy"), ROWS, ROWS.tolist()):
        found = clustered(photos, features)
        assert found.names == ["a.png", "b.png", "sub/c.png"]
        np.testing.assert_array_equal(found.vectors, [[1, 0], [0, 1], [0, -1]])
        assert (found.skipped, found.without_keypoints, found.pipeline) == ([], [], None)
        assert found.paths == [photos / name for name in found.names]


def test_files_that_are_no_images(photos: Path) -> None:
    (photos / "aa.txt").write_text("notes")
    # One row per image.
    found = clustered(photos, ROWS)
    assert found.names == ["a.png", "b.png", "sub/c.png"]
    np.testing.assert_array_equal(found.vectors, [[1, 0], [0, 1], [0, -1]])
    # One row per file.
    found = clustered(photos, np.insert(ROWS, 1, 7, axis=0))
    np.testing.assert_array_equal(found.vectors, [[1, 0], [0, 1], [0, -1]])
    [skipped] = found.skipped
    assert skipped.name == "aa.txt"
    assert skipped.reason.startswith("not an image in a known format")


def test_other_numbers_of_rows_are_refused(photos: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", ROWS[:2])
    with pytest.raises(DataFormatError, match=r"rows.npy: There are 2 rows for 3 images\. .*id_column"):
        clustered(photos, tmp_path / "rows.npy")
    (photos / "aa.txt").write_text("notes")
    with pytest.raises(DataFormatError, match=r"There are 5 rows for 3 images \(4 files\)"):
        clustered(photos, np.ones((5, 2)))


def test_rows_are_matched_by_id(photos: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("path,x,y\nsub/c.png,0,-5\nother.png,1,1\na.png,3,0\n")
    with pytest.warns(UserWarning, match=r"1 of 3 rows of .*rows.csv belong to no image"):
        found = clustered(photos, path, id_column="path")
    assert found.names == ["a.png", "sub/c.png"]
    np.testing.assert_array_equal(found.vectors, [[1, 0], [0, -1]])
    [skipped] = found.skipped
    assert (skipped.name, skipped.reason) == ("b.png", f"{path} has no row for it")


def test_rows_of_a_parquet_table(photos: Path, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"id": ["b.png", "a.png", "sub/c.png"], "v": ROWS[[1, 0, 2]].tolist()})
    pq.write_table(table, tmp_path / "rows.parquet")
    found = clustered(photos, tmp_path / "rows.parquet", id_column="id", key="v")
    np.testing.assert_array_equal(found.vectors, [[1, 0], [0, 1], [0, -1]])


def test_ids_are_checked(photos: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("path,x\na.png,1\nb.png,2\na.png,3\n")
    with pytest.raises(DataFormatError, match=r"The id 'a.png' occurs twice"):
        clustered(photos, path, id_column="path")
    path.write_text("path,x\nphotos/a.png,1\nphotos/b.png,2\n")
    with pytest.raises(
        DataFormatError, match=r"first id is 'photos/a.png', and the first image is 'a.p"
    ):
        clustered(photos, path, id_column="path")
    with pytest.raises(ValueError, match="id_column='path' is for features that are read from a table"):
        clustered(photos, ROWS, id_column="path")


def test_values_are_checked(photos: Path) -> None:
    with pytest.raises(DataFormatError, match=r"row 1 \(counted from 0\): .*NaN or infinity"):
        clustered(photos, [[1, 2], [1, np.inf], [1, 2]])
    with pytest.raises(DataFormatError, match=r"numbers in two dimensions\. Got float64 of shape"):
        clustered(photos, ROWS[0])
    found = clustered(photos, ROWS * [[1], [0], [1]])
    assert found.names == ["a.png", "sub/c.png"]
    assert [(one.name, one.reason) for one in found.skipped] == [("b.png", "its vector is 0")]
