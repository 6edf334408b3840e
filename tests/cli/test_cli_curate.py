"""`boostkmeans dedup` and `boostkmeans sample`."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.curate import coverage, deduplicate, fit_levels, sample
from boostkmeans.io import open_vectors
from command import fail, run, succeed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with vectors as .npy and .csv with ids, and a model without labels."""
    folder = tmp_path_factory.mktemp("curate")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 5))
    rows[250:] = rows[:50] * 2
    np.save(folder / "x.npy", rows)
    lines = [f"n{i},{','.join(map(repr, row))}" for i, row in enumerate(rows.tolist())]
    (folder / "x.csv").write_text("\n".join(["name,a,b,c,d,e", *lines]))
    BisectingBoostKMeans(12, random_state=0).fit(rows).save(folder / "m", labels=False)
    return folder


def test_dedup_writes_kept_rows_groups_and_vectors(folder: Path, tmp_path: Path) -> None:
    X = np.load(folder / "x.npy")
    expected = deduplicate(X, 0.99)
    out = succeed("dedup", folder / "x.npy", "--threshold", "0.99", "--keep-list", tmp_path / "k.txt",
                  "--groups", tmp_path / "g.csv", "-o", tmp_path / "kept.fvecs")  # fmt: skip
    assert "none, because all clusters that can contain a pair are compared" in out
    assert "none (" in succeed(
        "dedup", folder / "x.npy", "--check", "10", "--groups", tmp_path / "h.csv"
    )
    assert [int(line) for line in (tmp_path / "k.txt").read_text().split()] == expected.keep.tolist()
    with (tmp_path / "g.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [int(row["row"]) for row in table] == expected.groups.rows.tolist()
    assert {int(row["row"]) for row in table if row["kept"] == "True"} <= set(expected.keep.tolist())
    with open_vectors(tmp_path / "kept.fvecs") as kept:
        assert np.array_equal(kept.load(), X[expected.keep].astype(np.float32))


def test_dedup_with_ids(folder: Path, tmp_path: Path) -> None:
    args = ("dedup", folder / "x.csv", "--id", "name", "--threshold", "0.99", "--keep", "first")
    lines = succeed(*args, "--keep-list", "-").split()
    expected = [f"n{row}" for row in deduplicate(np.load(folder / "x.npy"), 0.99, keep="first").keep]
    assert lines == expected
    succeed(*args, "--keep-list", tmp_path / "k.csv", "--groups", tmp_path / "g.parquet")
    with (tmp_path / "k.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == expected
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(tmp_path / "g.parquet")
    assert table.column_names == ["group", "row", "id", "similarity", "kept"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_dedup_writes_vectors_with_ids(folder: Path, tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    kept, X = tmp_path / f"kept.{ending}", np.load(folder / "x.npy")
    args = ("--id", "name", "--threshold", "0.99", "-o", kept)
    succeed("dedup", folder / "x.csv", *args)
    rows = deduplicate(X, 0.99).keep
    with open_vectors(kept, id_column="name") as vectors:
        assert vectors.ids.tolist() == [f"n{row}" for row in rows]
        assert np.array_equal(vectors.load(), X[rows])
        assert vectors.feature_names == (None if ending == "parquet" else list("abcde"))


def test_dedup_writes_csv_without_ids(folder: Path, tmp_path: Path) -> None:
    X = np.load(folder / "x.npy")
    np.save(tmp_path / "single.npy", X.astype(np.float32))
    args = ("--threshold", "0.99", "-o", tmp_path / "kept.csv", "--force")
    succeed("dedup", tmp_path / "single.npy", *args)
    lines = (tmp_path / "kept.csv").read_text().splitlines()
    rows = deduplicate(X.astype(np.float32), 0.99).keep
    assert lines[0] == ",".join(map(str, X.astype(np.float32)[rows[0]]))
    succeed("dedup", folder / "x.csv", "--drop", "name", *args)
    assert (tmp_path / "kept.csv").read_text().splitlines()[0] == "a,b,c,d,e"


def test_dedup_says_that_ids_are_lost(folder: Path, tmp_path: Path) -> None:
    args = ("dedup", folder / "x.csv", "--id", "name", "-o", tmp_path / "kept.npy")
    assert "kept.npy will not contain the ids" in run(*args).stderr
    assert "ids" not in run(*args, "--force", "--keep-list", tmp_path / "kept.txt").stderr


def test_dedup_says_that_nothing_is_saved(folder: Path, tmp_path: Path) -> None:
    assert "nothing will be saved: use -o" in run("dedup", folder / "x.npy").stderr
    assert run("dedup", folder / "x.npy", "--groups", tmp_path / "g.csv").stderr == ""
    assert "Process the files as shards" in " ".join(run("dedup", "--help").stdout.split())


def test_dedup_result_as_json(folder: Path) -> None:
    result = json.loads(
        succeed(
            "dedup",
            folder / "x.npy",
            "--metric",
            "euclidean",
            "--threshold",
            "0.5",
            "--check",
            "30",
            "--neighbours",
            "0",
            "--json",
        )
    )
    found = deduplicate(np.load(folder / "x.npy"), 0.5, metric="euclidean")
    assert (result["n_pairs"], result["n_kept"], result["n_rows"]) == (
        found.n_pairs,
        len(found.keep),
        300,
    )
    assert result["missed"]["n_checked"] == 30


def test_dedup_errors(folder: Path, tmp_path: Path) -> None:
    assert "--threshold must be a number above 0" in fail(
        2, "dedup", folder / "x.npy", "--threshold", "2"
    )
    assert ".txt, .npy, .csv or .parquet" in fail(2, "dedup", folder / "x.npy", "--keep-list", "k.json")
    assert "both use standard output" in fail(2, "dedup", folder / "x.npy", "--keep-list", "-", "--json")
    assert "--output must be a file" in fail(2, "dedup", folder / "x.npy", "-o", tmp_path / "x.json")
    assert "--address needs --engine" in fail(2, "dedup", folder / "x.npy", "--address", "x:1")


def test_sample_rows(folder: Path, tmp_path: Path) -> None:
    args = ("sample", folder / "m", folder / "x.npy", "-n", "40", "--seed", "3")
    out = succeed(*args, "-o", tmp_path / "rows.npy")
    rows = np.load(tmp_path / "rows.npy")
    model = BisectingBoostKMeans.load(folder / "m")
    X = np.load(folder / "x.npy")
    assert rows.tolist() == sample(model, 40, X=X, random_state=3).tolist()
    assert "300 -> 40" in out
    printed = run(*args)
    assert [int(line) for line in printed.stdout.split()] == rows.tolist()
    assert "40 of 300 rows, in 12 of 12 clusters; entropy" in printed.stderr
    result = json.loads(succeed(*args, "--json", "--method", "central", "--levels", "3"))
    expected = sample(model, 40, method="central", levels=[3], X=X, random_state=3)
    assert result["rows"] == expected.tolist()
    assert result["after"]["entropy"] == coverage(model.predict(X), expected).after.entropy


def test_sample_with_ids_and_labels_of_the_model(folder: Path, tmp_path: Path) -> None:
    lines = run("sample", folder / "m", folder / "x.csv", "--id", "name", "-n", "7").stdout.split()
    assert len(set(lines)) == 7
    assert all(line.startswith("n") for line in lines)
    BisectingBoostKMeans(5, random_state=0).fit(np.load(folder / "x.npy")).save(tmp_path / "m")
    assert len(run("sample", tmp_path / "m", "-n", "9").stdout.split()) == 9


def test_sample_of_other_rows_than_those_of_the_model(folder: Path, tmp_path: Path) -> None:
    X = np.load(folder / "x.npy")
    model = BoostKMeans(10, random_state=0).fit(X)
    model.save(tmp_path / "m")
    np.save(tmp_path / "turned.npy", X[::-1])
    args = ("sample", tmp_path / "m", tmp_path / "turned.npy", "-n", "10", "--levels", "", "--json")
    result = json.loads(succeed(*args))
    assert len(np.unique(model.predict(X[::-1])[result["rows"]])) == 10
    assert result["after"]["n_clusters"] == 10


def test_sample_of_resampled_levels(folder: Path) -> None:
    X = np.load(folder / "x.npy")
    levels = fit_levels(X, [12, 4, 2], n_resample=2, random_state=5)
    expected = sample(levels, 20, random_state=5)
    args = ("sample", folder / "m", folder / "x.npy", "-n", "20", "--levels", "2,4", "--seed", "5")
    result = json.loads(succeed(*args, "--resample", "2", "--json"))
    assert result["rows"] == expected.tolist()
    assert result["after"]["entropy"] == coverage(levels, expected).after.entropy
    message = fail(2, "sample", folder / "m", folder / "x.npy", "--resample", "2")
    assert "--resample needs --levels" in message


def test_sample_errors(folder: Path) -> None:
    assert "name the file of vectors after the model" in fail(2, "sample", folder / "m", "-n", "5")
    assert "--levels must be numbers" in fail(
        2, "sample", folder / "m", folder / "x.npy", "--levels", "a"
    )
    assert "--id needs the files" in fail(2, "sample", folder / "m", "--id", "name")
    assert "the model comes first" in fail(2, "sample", folder / "x.npy", folder / "m", "-n", "5")
    message = fail(2, "sample", folder / "m", folder / "x.npy", "-n", "5000")
    assert "-n must be an int in the range [1, 300]" in message
