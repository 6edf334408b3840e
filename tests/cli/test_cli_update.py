"""`boostkmeans update`."""

import json
from pathlib import Path

import numpy as np
import pytest

from boostkmeans import BisectingBoostKMeans, BoostKMeans, load_model
from boostkmeans.cli.commands.update import _numbered
from command import fail, run, succeed
from conftest import blobs

K = 6
ROWS = blobs(330, 3, K)[0].astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a model of 300 rows, and with new rows, also as tables with ids."""
    np.save(tmp_path / "old.npy", ROWS[:300])
    np.save(tmp_path / "new.npy", ROWS[300:])
    for name, rows, first in (("old", ROWS[:300], 0), ("new", ROWS[300:], 300)):
        lines = [f"r{first + i},{','.join(map(repr, row))}" for i, row in enumerate(rows.tolist())]
        (tmp_path / f"{name}.csv").write_text("\n".join(["key,a,b,c", *lines]))
    BoostKMeans(K, random_state=0).fit(ROWS[:300]).save(tmp_path / "m", labels=False)
    return tmp_path


def test_replaces_the_model_and_reports(folder: Path) -> None:
    out = succeed("update", folder / "m", folder / "new.npy", "-o", folder / "m", "--report",
                  folder / "r.json", "--labels", folder / "l.npy")  # fmt: skip
    assert "330" in out
    model = load_model(folder / "m")
    assert model.n_samples_seen_ == 330
    expected = BoostKMeans(K, random_state=0).fit(ROWS[:300]).update(ROWS[300:])
    np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(np.load(folder / "l.npy"), expected.update_report_.labels)
    report = json.loads((folder / "r.json").read_text())
    assert report == expected.update_report_.to_dict()
    assert model.callback is None


def test_names_the_clusters_that_changed(folder: Path) -> None:
    far = np.random.default_rng(1).normal(size=(80, 3)) + 50
    np.save(folder / "far.npy", far)
    out = succeed("update", folder / "m", folder / "far.npy", "--rows", folder / "old.npy", "-o",
                  folder / "b", "--report", folder / "r.json")  # fmt: skip
    report = json.loads((folder / "r.json").read_text())
    assert len(report["created"]) >= 1
    lines = dict(line.split("  ", 1) for line in out.splitlines())
    for name in ("split", "merged", "created", "removed"):
        numbers = report[name]
        expected = f"{len(numbers)} {numbers}" if numbers else "0"
        assert lines[f"clusters {name}"].strip() == expected
    assert _numbered(list(range(20))) == "20 [0, 1, 2, 3, 4, 5, 6, 7, ...]"


def test_removes_rows_by_value_and_by_id(folder: Path) -> None:
    np.save(folder / "gone.npy", ROWS[[4, 7]])
    (folder / "gone.txt").write_text("r7\nr4\n")
    by_value = json.loads(succeed("update", folder / "m", folder / "new.npy", "--removed",
                                  folder / "gone.npy", "--rows", folder / "old.npy", "-o", folder / "a",
                                  "--json"))  # fmt: skip
    table = folder / "labels.csv"
    ids = ["--removed-ids", folder / "gone.txt", "--rows", folder / "old.csv", "--id", "key"]
    succeed("update", folder / "m", folder / "new.csv", *ids, "-o", folder / "b", "--labels", table)
    assert by_value["report"]["n_removed"] == 2
    assert by_value["n_rows"] == 328
    a, b = load_model(folder / "a"), load_model(folder / "b")
    np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, rtol=1e-6)
    lines = table.read_text().splitlines()
    assert lines[0] == "id,label"
    ids = [line.split(",")[0] for line in lines[1:]]
    assert ids == [f"r{i}" for i in range(330) if i not in (4, 7)]
    labels = np.array([int(line.split(",")[1]) for line in lines[1:]])
    np.testing.assert_array_equal(np.bincount(labels), b.cluster_sizes_)
    only = succeed("update", folder / "m", "--removed", folder / "gone.npy", "-o", folder / "c")
    assert "298" in only


def test_weights_are_passed_on(folder: Path) -> None:
    for name, n in (("w", 30), ("ow", 300)):
        np.save(folder / f"{name}.npy", np.full(n, 2.0))
    out = succeed("update", folder / "m", folder / "new.npy", "-o", folder / "a", "--weights",
                  folder / "w.npy", "--rows", folder / "old.npy", "--row-weights", folder / "ow.npy",
                  "--json")  # fmt: skip
    assert load_model(folder / "a")._cluster_weights.sum() == 660
    assert json.loads(out)["distortion"] == pytest.approx(json.loads(out)["inertia"] / 660)


def test_errors_name_the_options(folder: Path) -> None:
    model, new = folder / "m", folder / "new.npy"
    (folder / "gone.txt").write_text("nobody\n")
    (folder / "other").write_text("")
    BisectingBoostKMeans(2).fit(ROWS).save(folder / "tree")
    rows = ["--rows", folder / "old.csv", "--id", "key"]
    ids = ["--removed-ids", folder / "gone.txt"]
    assert "--removed-ids needs" in fail(2, "update", model, new, *ids, "-o", folder / "out")
    unknown = fail(2, "update", model, folder / "new.csv", *ids, *rows, "-o", folder / "out")
    assert "no vector with the id 'nobody'" in unknown
    assert "--rows has 30 rows" in fail(2, "update", model, new, "--rows", new, "-o", folder / "out")
    np.save(folder / "many.npy", np.repeat(ROWS[:1], 90, axis=0))
    many = fail(3, "update", model, "--removed", folder / "many.npy", "-o", folder / "out")
    assert "--removed has 90 rows" in many
    assert "NEW" in fail(2, "update", model, "-o", folder / "out")
    (folder / "vectors").write_bytes(new.read_bytes())
    both = [folder / "vectors", "-o", folder / "vectors", "--force"]
    assert "cannot be both" in fail(2, "update", model, *both)
    assert "k-way" in fail(2, "update", folder / "tree", new, "-o", folder / "out")
    assert "exists" in fail(2, "update", model, new, "-o", folder / "other")
    assert run("update", model, new).exit_code == 2  # -o is missing.
    assert "the model comes first" in fail(2, "update", new, model, "-o", folder / "out")
    assert "Use --labels for labels, --report" in fail(2, "update", model, new, "-o", folder / "o.json")
    large = fail(2, "update", model, folder / "new.csv", *rows, "-o", folder / "out",
                 "--max-memory", "1KB")  # fmt: skip
    assert "update needs --rows in memory" in large


def test_errors_about_rows_name_their_file(folder: Path) -> None:
    model, new = folder / "m", folder / "new.npy"
    np.save(folder / "narrow.npy", ROWS[:5, :2])
    np.save(folder / "nan.npy", np.where(np.arange(300)[:, None] == 3, np.nan, ROWS[:300]))
    for options in (["--removed", folder / "narrow.npy"], ["--rows", folder / "nan.npy"],
                    ["--removed", folder / "nan.npy"]):  # fmt: skip
        message = fail(3, "update", model, new, *options, "-o", folder / "out")
        assert str(options[1]) in message
        assert "new.npy" not in message


def test_empty_files_change_nothing(folder: Path) -> None:
    np.save(folder / "none.npy", ROWS[:0])
    nothing = folder / "none.npy"
    result = succeed("update", folder / "m", nothing, "--removed", nothing, "-o", folder / "a", "--json")
    assert json.loads(result)["n_rows"] == 300


def test_ids_of_removed_vectors_are_unique(folder: Path) -> None:
    rows = ["--rows", folder / "old.csv", "--id", "key", "--removed-ids", folder / "gone.txt"]
    (folder / "gone.txt").write_text("r3\nr4\nr3\n")
    assert "lists the id 'r3' 2 times" in fail(2, "update", folder / "m", *rows, "-o", folder / "out")
    text = (folder / "old.csv").read_text().replace("\nr9,", "\nr4,")
    (folder / "old.csv").write_text(text)
    (folder / "gone.txt").write_text("r4\n")
    message = fail(2, "update", folder / "m", *rows, "-o", folder / "out")
    assert "old.csv has 2 vectors with the id 'r4'" in message
