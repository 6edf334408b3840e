"""`write_labels`: labels with and without ids."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from boostkmeans import BoostKMeans
from boostkmeans.io import write_labels

LABELS = np.array([2, 0, 1], dtype=np.int32)
READERS: dict[str, Any] = {
    ".csv": pd.read_csv,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".parquet": pd.read_parquet,
}


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize(
    "ids", [["a,b", 'say "x"', "\té"], np.array([7, 8, 9], dtype=np.uint16), pl.Series(["x", "y", "z"])]
)
def test_ids(tmp_path: Path, ending: str, ids: Any) -> None:
    path = tmp_path / f"l{ending}"
    write_labels(path, LABELS, ids=ids)
    found = READERS[ending](path)
    assert found.columns.tolist() == ["id", "label"]
    assert found["id"].tolist() == list(ids)
    assert found["label"].tolist() == LABELS.tolist()
    with pytest.raises(FileExistsError):
        write_labels(path, LABELS)
    write_labels(path, LABELS / 7, name="distance", force=True)
    found = READERS[ending](path)["distance"].tolist()
    # Earlier versions of pandas round the last digit of numbers.
    assert found == pytest.approx((LABELS / 7).tolist(), rel=1e-15)


def test_the_index_of_a_data_frame(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.eye(4), index=["w", "x", "y", "z"])
    model = BoostKMeans(2, random_state=0).fit(frame)
    write_labels(tmp_path / "l.csv", model.labels_, ids=frame.index)
    found = pd.read_csv(tmp_path / "l.csv", index_col="id")["label"]
    assert found.to_dict() == dict(zip(frame.index, model.labels_, strict=True))


def test_plain_files(tmp_path: Path) -> None:
    write_labels(tmp_path / "l.npy", LABELS)
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), LABELS)
    write_labels(tmp_path / "l.TXT", LABELS)
    assert (tmp_path / "l.TXT").read_text() == "2\n0\n1\n"


@pytest.mark.parametrize(
    ("name", "labels", "ids", "message"),
    [
        ("l.npy", LABELS, LABELS, "a table, because there are ids"),
        ("l.html", LABELS, None, "a file that ends in .npy, .txt"),
        ("l.csv", LABELS, ["a", "b"], r"shape \(2,\). Expected 3 ids"),
        ("l.csv", LABELS, ["a", None, "b"], "Row 1 has None"),
        ("l.csv", LABELS, [0.5, 1.5, 2], "Row 0 has 0.5"),
        ("l.csv", [[1, 2]], None, "one per row"),
        ("l.csv", ["a"], None, "an array of numbers"),
    ],
)
def test_invalid_arguments(tmp_path: Path, name: str, labels: Any, ids: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_labels(tmp_path / name, labels, ids=ids)
    assert not list(tmp_path.iterdir())
