"""Several input files, ids, and one label file per input file."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from boostkmeans import BoostKMeans
from boostkmeans._data import row_source
from boostkmeans.io import _label_tables
from command import fail, run, succeed
from conftest import blobs

K = 4
SIZES = (300, 0, 500, 200)
ROWS = blobs(1000, 5, K, spread=3.0)[0].astype(np.float32)
IDS = [f"doc-{i}" for i in range(1000)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the rows as Parquet and NumPy files, whole and in parts, and a model."""
    folder = tmp_path_factory.mktemp("sets")
    (folder / "npy").mkdir()
    (folder / "parquet").mkdir()
    at = 0
    kind = pa.list_(pa.float32(), 5)
    for i, n in enumerate(SIZES):
        rows = ROWS[at : at + n]
        np.save(folder / "npy" / f"emb-{i}.npy", rows)
        table = pa.table(
            {"key": pa.array(IDS[at : at + n], pa.string()), "v": pa.array(list(rows), kind)}
        )
        pq.write_table(table, folder / "parquet" / f"emb-{i}.parquet", row_group_size=70)
        at += n
    np.save(folder / "whole.npy", ROWS)
    model().save(folder / "model.st", labels=False)
    return folder


def model() -> BoostKMeans:
    return BoostKMeans(K, random_state=0).fit(ROWS)


@pytest.fixture(scope="module")
def expected() -> NDArray[np.int32]:
    return np.asarray(model().labels_)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_source, "BATCH_BYTES", 1_700)  # 85 rows
    monkeypatch.setattr(_label_tables, "ROWS_PER_GROUP", 100)


def paths_of(folder: Path, given: str) -> list[object]:
    if given == "files":
        return [*sorted((folder / "npy").iterdir())]
    return [folder / "npy" if given == "folder" else f"{folder}/npy/emb-*.npy"]


@pytest.mark.parametrize("given", ["files", "folder", "pattern"])
def test_commands_read_several_files(
    folder: Path, tmp_path: Path, given: str, expected: NDArray[np.int32]
) -> None:
    paths = paths_of(folder, given)
    succeed("fit", *paths, "-k", K, "--labels", tmp_path / "l.npy", "-o", tmp_path / "m.st")
    assert np.array_equal(np.load(tmp_path / "l.npy"), expected)
    succeed("predict", tmp_path / "m.st", *paths, "--labels", tmp_path / "p.npy")
    assert np.array_equal(np.load(tmp_path / "p.npy"), expected)
    evaluated = json.loads(succeed("evaluate", tmp_path / "m.st", *paths, "--json"))
    assert evaluated["n_rows"] == 1000
    assert evaluated["distortion"] == pytest.approx(evaluated["distortion_of_fit"])
    result = json.loads(succeed("convert", *paths, tmp_path / "all.fvecs", "--json"))
    assert (result["n_rows"], result["format"]) == (1000, "npy")
    assert result["source"] == (f"{paths[0]} and 3 more" if given == "files" else str(paths[0]))
    described = json.loads(succeed("info", paths[0], "--json"))
    assert described["n_rows"] == (300 if given == "files" else 1000)


def test_fit_in_parts(folder: Path, tmp_path: Path) -> None:
    options = ("-k", K, "--max-memory", "270MB", "--quality", "fast")
    whole = succeed("fit", folder / "whole.npy", *options, "--labels", "-")
    assert succeed("fit", folder / "npy", *options, "--labels", "-") == whole


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("command", ["fit", "predict"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_labels_with_ids(
    folder: Path, tmp_path: Path, command: str, ending: str, expected: NDArray[np.int32]
) -> None:
    first = ["fit", "-k", K] if command == "fit" else ["predict", folder / "model.st"]
    path = tmp_path / f"labels.{ending}"
    succeed(*first, folder / "parquet", "--id", "key", "--labels", path)
    if ending == "parquet":
        table = pq.read_table(path)
        assert table.schema.names == ["id", "label"]
        assert table["label"].type == pa.int32()
        assert table["id"].to_pylist() == IDS
        assert table["label"].to_pylist() == expected.tolist()
    else:
        lines = [f"{one},{label}" for one, label in zip(IDS, expected, strict=True)]
        assert path.read_text().splitlines() == ["id,label", *lines]


def test_printed_labels_with_ids(folder: Path, tmp_path: Path) -> None:
    lines = succeed("predict", folder / "model.st", folder / "parquet", "--id", "key").splitlines()
    assert (lines[0], len(lines)) == ("id,label", 1001)
    assert lines[1].startswith("doc-0,")
    (tmp_path / "t.csv").write_text('id,a,b,c,d,e\n"x, ""y""",1,2,3,4,5\n7,1,2,3,4,5\n')
    printed = succeed("predict", folder / "model.st", tmp_path / "t.csv", "--id", "id").splitlines()
    assert [line.rpartition(",")[0] for line in printed[1:]] == ['"x, ""y"""', "7"]
    assert succeed("evaluate", folder / "model.st", tmp_path / "t.csv", "--id", "id")


def test_convert_keeps_ids(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "all.parquet"
    succeed("convert", folder / "parquet", "-o", target, "--id", "key", "--rows", "5:995")
    table = pq.read_table(target)
    assert table.column_names == ["key", "vector"]
    assert table["key"].to_pylist() == IDS[5:995]
    succeed("convert", target, tmp_path / "again.parquet", "--id", "key")
    assert pq.read_table(tmp_path / "again.parquet").equals(table)
    (tmp_path / "t.csv").write_text("id,a,b\nx,1,2\ny,3,4\n")
    succeed("convert", tmp_path / "t.csv", tmp_path / "t.parquet", "--id", "id")
    assert pq.read_table(tmp_path / "t.parquet").to_pylist() == [
        {"id": "x", "vector": [1.0, 2.0]},
        {"id": "y", "vector": [3.0, 4.0]},
    ]


def test_convert_refuses_ids_without_a_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,a,vector\n1,1,2\n2,3,4\n")
    message = fail(2, "convert", tmp_path / "t.csv", tmp_path / "t.npy", "--id", "id")
    assert "--id needs a file with columns, but the format 'npy' has only vectors" in message
    assert "omit --id, and name the columns of the vectors with --key" in message
    message = fail(2, "convert", tmp_path / "t.csv", tmp_path / "t.parquet", "--id", "vector")
    assert "--id must be another name than 'vector'" in message


def test_integer_ids(folder: Path, tmp_path: Path) -> None:
    table = pa.table({"id": pa.array(range(1000), pa.uint64()), "v": list(ROWS)})
    pq.write_table(table, tmp_path / "x.parquet")
    succeed("fit", tmp_path / "x.parquet", "-k", K, "--id", "id", "--labels", tmp_path / "l.parquet")
    found = pq.read_table(tmp_path / "l.parquet")
    assert found["id"].type == pa.uint64()
    assert found["id"].to_pylist() == list(range(1000))


def test_parquet_labels_without_ids(folder: Path, tmp_path: Path, expected: NDArray[np.int32]) -> None:
    succeed("fit", folder / "npy", "-k", K, "--labels", tmp_path / "l.parquet")
    table = pq.read_table(tmp_path / "l.parquet")
    assert table.schema.names == ["label"]
    assert table["label"].to_pylist() == expected.tolist()


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("command", ["fit", "predict"])
@pytest.mark.parametrize("exists", [True, False])
def test_one_label_file_per_input_file(
    folder: Path, tmp_path: Path, command: str, exists: bool, expected: NDArray[np.int32]
) -> None:
    first = ["fit", "-k", K] if command == "fit" else ["predict", folder / "model.st"]
    out = tmp_path / "out"
    if exists:
        out.mkdir()
    shown = str(out) if exists else f"{out}/"
    result = json.loads(succeed(*first, folder / "npy", "--labels", shown, "--json"))
    assert result["files"] == {"labels": shown}
    assert sorted(path.name for path in out.iterdir()) == [f"emb-{i}.labels.npy" for i in range(4)]
    parts = [np.load(out / f"emb-{i}.labels.npy") for i in range(4)]
    assert [len(part) for part in parts] == list(SIZES)
    assert np.array_equal(np.concatenate(parts), expected)
    message = fail(2, *first, folder / "npy", "--labels", shown)
    assert "emb-0.labels.npy exists. Use --force" in message
    succeed(*first, folder / "npy", "--labels", shown, "--force", "--json")
    succeed(*first, folder / "npy", "--labels", shown, "--labels-format", "txt", "--json")
    assert len((out / "emb-2.labels.txt").read_text().splitlines()) == 500
    assert (out / "emb-1.labels.txt").read_text() == ""


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_label_files_with_ids_per_input_file(
    folder: Path, tmp_path: Path, command: str, expected: NDArray[np.int32]
) -> None:
    first = ["fit", "-k", K] if command == "fit" else ["predict", folder / "model.st"]
    succeed(*first, f"{folder}/parquet/*.parquet", "--id", "key", "--labels", tmp_path, "--json")
    tables = [pq.read_table(tmp_path / f"emb-{i}.labels.parquet") for i in range(4)]
    assert [table.num_rows for table in tables] == list(SIZES)
    assert all(table.schema == tables[0].schema for table in tables)
    assert pa.concat_tables(tables)["id"].to_pylist() == IDS
    assert pa.concat_tables(tables)["label"].to_pylist() == expected.tolist()
    succeed(*first, folder / "parquet", "--id", "key", "--labels", tmp_path, "--labels-format", "csv",
            "--json")  # fmt: skip
    assert (tmp_path / "emb-1.labels.csv").read_text() == "id,label\n"
    assert (tmp_path / "emb-3.labels.csv").read_text().splitlines()[1].startswith("doc-800,")


def test_folder_of_standard_input(tmp_path: Path) -> None:
    text = "".join(f"{a},{b}\n" for a, b in ROWS[:50, :2].tolist()).encode()
    succeed("fit", "-", "-k", 2, "--labels", f"{tmp_path}/out/", stdin=text)
    assert np.load(tmp_path / "out" / "stdin.labels.npy").shape == (50,)


def test_wrong_usage(folder: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "emb-0.npy", ROWS)
    x, model_path = folder / "npy", folder / "model.st"
    np.save(tmp_path / "narrow.npy", ROWS[:, :2])
    (tmp_path / "mixed").mkdir()
    for name in ("a.npy", "b.fvecs"):
        (tmp_path / "mixed" / name).touch()
    (tmp_path / "emb-2.labels.npy").mkdir()
    fit, predict = ("fit", "-k", K), ("predict", model_path)
    for arguments, what in (
        ((*fit, f"{x}/none-*.npy"), "matches no file"),
        ((*fit, tmp_path / "mixed"), "'b.fvecs' (fvecs), 'a.npy' (npy). Choose one with --format"),
        ((*fit, x, "--id", "key"), "--id is for tables"),
        ((*fit, folder / "parquet", "--id", "uuid"), "no column 'uuid'. Available: 'key', 'v'"),
        ((*fit, folder / "parquet", "--id", "key", "--labels", "l.npy"), "must be .csv, .tsv or"),
        ((*predict, folder / "parquet", "--id", "key", "--labels", "out/", "--labels-format", "txt"),
         "--labels-format must be .csv, .tsv or .parquet. Got '.txt'"),
        ((*fit, x, "--labels", "l.npy", "--labels-format", "npy"), "is for --labels DIR/"),
        ((*fit, x, tmp_path / "emb-0.npy", "--labels", f"{tmp_path}/out/"), "would both be written to"),
        ((*fit, x, "--labels", tmp_path), "emb-2.labels.npy is a folder"),
        ((*fit, x, "--labels", f"{tmp_path}/no/where/"), "the folder"),
        ((*predict, x, tmp_path / "none.npy"), "none.npy"),
        (("convert", x, x / "emb-0.npy", "--force"), "cannot be both IN and OUT"),
        ((*fit, "-", x), "Standard input cannot be one of several files"),
    ):  # fmt: skip
        assert what in fail(2, *arguments), arguments
    message = fail(3, *fit, x, tmp_path / "narrow.npy")
    assert "narrow.npy: The rows have 2 values" in message


def test_bad_value_is_located(folder: Path, tmp_path: Path) -> None:
    rows = ROWS[:50].copy()
    rows[7, 2] = np.nan
    np.save(tmp_path / "bad.npy", rows)
    message = fail(3, "fit", "-k", K, folder / "npy", tmp_path / "bad.npy")
    assert f"{tmp_path}/bad.npy: Input X contains NaN (first at row 7, column 2)" in message


@pytest.mark.usefixtures("small_batches")
def test_interrupted_predict_leaves_only_complete_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = BoostKMeans.predict_batches

    def interrupted(*arguments: object, **options: object):  # type: ignore[no-untyped-def]
        for i, batch in enumerate(batches(*arguments, **options)):  # type: ignore[arg-type]
            if i == 6:
                raise KeyboardInterrupt
            yield batch

    monkeypatch.setattr(BoostKMeans, "predict_batches", interrupted)
    result = run("predict", folder / "model.st", folder / "npy", "--labels", tmp_path, "--json")
    assert result.exit_code == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["emb-0.labels.npy", "emb-1.labels.npy"]
