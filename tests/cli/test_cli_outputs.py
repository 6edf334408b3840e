"""Outputs of commands: -o, formats by the ending, and ids."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from boostkmeans import BoostKMeans, load_model
from boostkmeans.io import open_vectors
from command import ROOT, fail, run, succeed

ROWS = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
ROWS[::2] += 9
IDS = [f"row {i}" for i in range(60)]
SENTENCES = str(ROOT / "examples" / "sentences.txt")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write vectors, a table with ids, and a model."""
    folder = tmp_path_factory.mktemp("outputs")
    np.save(folder / "x.npy", ROWS)
    frame = pd.DataFrame(ROWS, columns=["x0", "x1", "x2", "x3"])
    frame.insert(0, "id", IDS)
    frame.to_csv(folder / "x.csv", index=False)
    BoostKMeans(2, random_state=0).fit(ROWS).save(folder / "model.st")
    return folder


def test_main_outputs(folder: Path, tmp_path: Path) -> None:
    x, model = folder / "x.npy", folder / "model.st"
    succeed("fit", x, "-k", "2", "-o", tmp_path / "m.st")
    assert load_model(tmp_path / "m.st").n_clusters == 2
    succeed("predict", model, x, "-o", tmp_path / "l.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), load_model(model).labels_)
    succeed("convert", x, "-o", tmp_path / "x.fvecs")
    succeed("convert", x, x, "-o", tmp_path / "xx.npy")
    assert np.load(tmp_path / "xx.npy").shape == (120, 4)
    succeed("pq", "train", x, "-o", tmp_path / "q.st", "--centroids", "4", "--subspaces", "2")
    succeed("pq", "encode", tmp_path / "q.st", x, "-o", tmp_path / "c.npy")
    succeed("pq", "search", tmp_path / "q.st", tmp_path / "c.npy", x, "-o", tmp_path / "i.ivecs")
    assert open_vectors(tmp_path / "i.ivecs").shape == (60, 10)
    assert "both name the output" in fail(2, "pq", "train", x, tmp_path / "a", "-o", tmp_path / "b")
    assert "OUT is missing" in fail(2, "pq", "train", x)
    assert "CODES is missing" in fail(2, "pq", "encode", tmp_path / "q.st", x)
    assert "OUT is missing" in fail(2, "convert", x)


def test_reports(folder: Path, tmp_path: Path) -> None:
    x, model = folder / "x.npy", folder / "model.st"
    commands: dict[str, list[Any]] = {
        "evaluate": [model, x],
        "compare": [x, "-k", "2", "--methods", "boost-fast,k-means"],
        "info": [x],
        "scan": [x, "-k", "2-4", "--references", "0"],
    }
    for name, arguments in commands.items():
        assert succeed(name, *arguments, "-o", tmp_path / f"{name}.json") == ""
        result = json.loads((tmp_path / f"{name}.json").read_text())
        assert result
        assert succeed(name, *arguments, "-o", tmp_path / f"{name}.txt") == ""
        assert "rows" in (tmp_path / f"{name}.txt").read_text()
        assert "must be a file that ends in" in fail(2, name, *arguments, "-o", tmp_path / "a.npy")
        assert "contradict" in fail(2, name, *arguments, "--json", "-o", tmp_path / "b.txt")
        assert "exists" in fail(2, name, *arguments, "-o", tmp_path / f"{name}.txt")
        if name != "info":
            written = run(name, *arguments, "-o", tmp_path / f"{name}.csv")
            assert (written.exit_code, written.stdout) == (0, "")
            # The table of a scan does not contain the suggestion.
            assert ("suggested: 2 (" in written.stderr) == (name == "scan")
    clusters = pd.read_csv(tmp_path / "evaluate.csv")
    assert clusters["size"].tolist() == [30, 30]
    assert pd.read_csv(tmp_path / "compare.csv")["method"].tolist() == ["boost-fast", "k-means"]
    assert pd.read_csv(tmp_path / "scan.csv")["n_clusters"].tolist() == [2, 3, 4]


def test_ids_in_every_output_per_row(folder: Path, tmp_path: Path) -> None:
    model, x = folder / "model.st", folder / "x.csv"
    expected = load_model(model).labels_.tolist()
    succeed(
        "predict", model, x, "--id", "id", "-o", tmp_path / "p.tsv", "--distances", tmp_path / "d.csv"
    )
    succeed("evaluate", model, x, "--id", "id", "--labels", tmp_path / "e.parquet")
    succeed("fit", x, "-k", "2", "--id", "id", "--labels", tmp_path / "f.csv")
    tables = [
        pd.read_csv(tmp_path / "p.tsv", sep="\t"),
        pd.read_parquet(tmp_path / "e.parquet"),
        pd.read_csv(tmp_path / "f.csv"),
    ]
    for table in tables:
        assert table["id"].tolist() == IDS
        assert table["label"].tolist() == expected
    distances = pd.read_csv(tmp_path / "d.csv")
    assert distances["id"].tolist() == IDS
    succeed(
        "predict", model, x, "--id", "id", "-o", tmp_path / "p.csv", "--distances", tmp_path / "d.npy"
    )
    np.testing.assert_array_equal(distances["distance"], np.load(tmp_path / "d.npy"))
    succeed("predict", model, folder / "x.npy", "-o", tmp_path / "q.csv", "--distances",
            tmp_path / "d.parquet")  # fmt: skip
    np.testing.assert_allclose(
        pd.read_parquet(tmp_path / "d.parquet")["distance"], np.load(tmp_path / "d.npy"), rtol=1e-5
    )


def test_fit_says_that_nothing_will_be_saved(folder: Path, tmp_path: Path) -> None:
    result = run("fit", folder / "x.npy", "-k", "2")
    assert result.exit_code == 0
    assert "nothing will be saved: use -o for the model, or --labels" in result.stderr
    for options in (["--labels", "-"], ["-o", tmp_path / "m.st"], ["--json"]):
        assert "nothing" not in run("fit", folder / "x.npy", "-k", "2", *options).stderr
    assert "which ends in .safetensors" in fail(
        2, "fit", folder / "x.npy", "-k", "2", "-o", "labels.csv"
    )


def test_columns_by_wildcards(folder: Path, tmp_path: Path) -> None:
    for options in (["--key", "x*"], ["--key", "x0:x3"], ["--drop", "id"]):
        succeed("convert", folder / "x.csv", "-o", tmp_path / "x.npy", *options, "--force")
        np.testing.assert_array_equal(np.load(tmp_path / "x.npy").astype(np.float32), ROWS)
    assert "--drop leaves no column" in fail(3, "info", folder / "x.csv", "--drop", "*")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["fit", "x", "--k", "3"], "-k"),
        (["fit", "x", "--n-clusters", "3"], "-k"),
        (["fit", "x", "--n_clusters", "3"], "-k"),
        (["fit", "x", "--out", "m"], "--output"),
        (["fit", "x", "--random-state", "3"], "--seed"),
        (["fit", "x", "--column", "a"], "--key"),
        (["docs", "x", "--column", "a"], "--text-column"),
        (["docs", "x", "--text", "a"], "--text-column"),
        (["docs", "x", "--id", "a"], "--name-column"),
        (["pq", "train", "x", "--n-subspaces", "3"], "--subspaces"),
        (["fit", "x", "--qualty", "best"], "--quality"),
    ],
)
def test_hints_for_unknown_options(arguments: list[str], meant: str) -> None:
    assert f"(Possible options: {meant})" in fail(2, *arguments)


@pytest.mark.parametrize("option", ["--k", "-k", "--clusters", "--n-clusters"])
@pytest.mark.parametrize("command", ["update", "predict", "sample"])
def test_the_number_of_clusters_is_part_of_a_model(command: str, option: str) -> None:
    message = fail(2, command, "m", "x", option, "3")
    assert f"No such option: {option}. The number of clusters is part of the model." in message
    assert "Possible" not in message


def test_no_hint_at_options_of_another_meaning() -> None:
    assert fail(2, "convert", "x", "y", "--k", "3").strip().endswith("No such option: --k")


def test_columns_of_text_may_be_ids(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,a,b\nx1,1,2\nx2,3,4\n")
    message = fail(3, "info", tmp_path / "t.csv")
    assert "columns to read with --key, or leave columns out with --drop" in message
    assert "column of ids is named with --id" in message


def test_text_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("title,body\na b,c d\ne f,g h\n")
    message = fail(3, "docs", tmp_path / "t.csv", "-k", "2")
    assert "--text-column" in message
    assert "--text-column" in fail(3, "docs", tmp_path / "t.csv", "-k", "2", "--text-column", "text")


def test_swapped_arguments(folder: Path, tmp_path: Path) -> None:
    model, x = folder / "model.st", folder / "x.npy"
    for command in (["predict"], ["evaluate"], ["explore", "-o", tmp_path / "page.html"]):
        message = fail(2, *command, x, model)
        assert "model.st is the model" in message
        assert f"Use the order {model} {x}." in message
    assert "Use the order" not in fail(3, "predict", x, x)


def test_info_lists_all_arrays(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["train"], file["group/test"], file["labels"] = ROWS, ROWS[:3], np.arange(60)
    result = json.loads(succeed("info", tmp_path / "x.hdf5", "--json"))
    assert result["kind"] == "vectors"
    assert result["n_rows"] == 60
    shapes = {one["name"]: tuple(one["shape"]) for one in result["arrays"]}
    assert shapes == {"train": (60, 4), "group/test": (3, 4), "labels": (60,)}
    listing = succeed("info", tmp_path / "x.hdf5")
    assert "group/test" in listing
    assert "3 x 4 of type float32" in listing


def test_scan(folder: Path, tmp_path: Path) -> None:
    out = succeed("scan", folder / "x.npy", "-k", "2-4,6", "--plot", tmp_path / "s.png")
    assert "suggested: 2" in out
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    result = json.loads(succeed("scan", folder / "x.npy", "-k", "2,3", "--json", "--max-rows", "40",
                                "--references", "0", "--metric", "cosine"))  # fmt: skip
    assert (result["n_rows"], result["n_rows_of_file"]) == (40, 60)
    assert [one["n_clusters"] for one in result["entries"]] == [2, 3]
    assert result["entries"][0]["gap"] is None
    for numbers in ("3-2", "0", "x", "2,,3", "1-2000"):
        assert "-k must be numbers and ranges" in fail(2, "scan", folder / "x.npy", "-k", numbers)
    assert "-k must be ints" in fail(2, "scan", folder / "x.npy", "-k", "60")


def test_the_model_of_documents_is_no_table(tmp_path: Path) -> None:
    for ending in (".csv", ".parquet", ".npy", ".html"):
        message = fail(2, "docs", SENTENCES, "-k", "3", "-o", tmp_path / f"labels{ending}")
        assert "--output is the file for the model" in message
        assert "Use --labels for labels, --description for" in message
    assert not list(tmp_path.iterdir())


def test_documents(tmp_path: Path) -> None:
    model = tmp_path / "m.st"
    out = succeed("docs", SENTENCES, "-k", "3", "-o", model, "--labels", tmp_path / "l.csv")
    assert "cluster 0: " in out
    table = pd.read_csv(tmp_path / "l.csv")
    assert table.columns.tolist() == ["id", "label"]
    assert table["id"].tolist() == [f"line {i + 1}" for i in range(30)]
    succeed("predict-docs", model, SENTENCES, "-o", tmp_path / "p.parquet")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "p.parquet"), table.astype({"label": "int32"}), check_dtype=False
    )
    lines = succeed("predict-docs", model, SENTENCES).splitlines()
    assert [line.split("\t")[0] for line in lines] == table["id"].tolist()
    result = json.loads(succeed("predict-docs", model, SENTENCES, "--json"))
    assert result["labels"] == table["label"].tolist()
    assert "vocabulary" in succeed("info", model)
    assert "predict-docs" in fail(3, "predict", model, SENTENCES)
    assert "Use the order" in fail(2, "predict-docs", SENTENCES, model)
    unknown = run("predict-docs", model, "-", stdin=b"xyzzy plugh\n")
    assert "1 of 1 documents have no term of the model" in unknown.stderr


def test_old_output_of_docs(tmp_path: Path) -> None:
    """-o FILE for the description works with a warning until version 0.15."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = run("docs", SENTENCES, "-k", "3", "-o", tmp_path / "d.txt")
    assert "deprecated since version 0.13" in result.stderr
    assert "30 documents" in (tmp_path / "d.txt").read_text()
    assert "-o is the file for the model" in fail(
        2, "docs", SENTENCES, "-k", "3", "-o", tmp_path / "e.txt", "--description", tmp_path / "f.txt"
    )
    succeed("docs", SENTENCES, "-k", "3", "--description", tmp_path / "d.json")
    assert len(json.loads((tmp_path / "d.json").read_text())["labels"]) == 30
