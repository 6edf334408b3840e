"""`boostkmeans fit`: results, options and errors."""

import gzip
import io
import json
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array, random_array, save_npz

from boostkmeans import BisectingBoostKMeans, BoostKMeans, load_model
from boostkmeans._data import memory
from boostkmeans.cli.commands.fit.options import FitSettings, Method
from boostkmeans.cli.commands.fit.request import FitRequest
from boostkmeans.cli.options import Quality, RunOptions
from boostkmeans.io import open_vectors, write_vectors
from command import fail, run, start, succeed
from conftest import blobs
from processes import PATIENCE

pytest_plugins = ("fit_fixtures",)

# Number of clusters.
K = 5


def test_fit_writes_model_and_labels(
    small_file: Path, tmp_path: Path, small_rows: NDArray[np.float32]
) -> None:
    model, labels = tmp_path / "model.safetensors", tmp_path / "labels.npy"
    out = succeed("fit", small_file, "-k", str(K), "-o", model, "--labels", labels)
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert (lines["rows"], lines["features"], lines["clusters"]) == ("600", "4", "5")
    assert (lines["model"], lines["labels"]) == (str(model), str(labels))
    assert {"distortion", "inertia", "sizes", "sweeps", "stopped", "seconds"} <= set(lines)
    assert "smallest" in lines["sizes"]
    expected = BoostKMeans(K, random_state=0).fit(small_rows)
    found = np.load(labels)
    assert found.dtype == np.int32
    assert np.array_equal(found, expected.labels_)
    loaded = load_model(model)
    assert np.array_equal(loaded.predict(small_rows), expected.predict(small_rows))
    assert (loaded.callback, loaded.checkpoint, loaded.verbose) == (None, None, 0)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["labels.npy", "model.safetensors", "x.npy"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--method", "bisecting", "--seed", "3"], BisectingBoostKMeans(K, random_state=3)),
        (
            ["--method", "bisecting", "--sample", "all", "--max-passes", "unlimited"],
            BisectingBoostKMeans(K, sample=None, max_passes=None, random_state=0),
        ),
        (
            ["--method", "refined", "--split", "average", "--max-passes", "3", "--sample", "auto"],
            BisectingBoostKMeans(K, split="average", max_passes=3, refine=True, random_state=0),
        ),
        (["--method", "refined"], BisectingBoostKMeans(K, refine=True, random_state=0)),
        (["--quality", "best"], BoostKMeans(K, quality="best", random_state=0)),
        (["--init", "random", "--tol", "0"], BoostKMeans(K, init="random", tol=0, random_state=0)),
        (["--metric", "cosine"], BoostKMeans(K, metric="cosine", random_state=0)),
        (["--candidates", "3"], BoostKMeans(K, n_candidates=3, random_state=0)),
        (["--candidates", "all"], BoostKMeans(K, n_candidates=None, random_state=0)),
        (["--dimensions", "2"], BoostKMeans(K, dimensions=2, random_state=0)),
        (["--dimensions", "all"], BoostKMeans(K, dimensions=None, random_state=0)),
        (["--n-init", "3", "--max-iter", "2"], BoostKMeans(K, n_init=3, max_iter=2, random_state=0)),
        (["--min-size", "100", "--max-size", "140", "--threads", "1"],
         BoostKMeans(K, min_size=100, max_size=140, random_state=0)),
    ],
)  # fmt: skip
def test_options_are_parameters(
    small_file: Path, small_rows: NDArray[np.float32], options: list[str], expected: Any
) -> None:
    labels = succeed("fit", small_file, "-k", str(K), "--labels", "-", *options)
    assert [int(line) for line in labels.splitlines()] == expected.fit(small_rows).labels_.tolist()


def test_json_result(small_file: Path, tmp_path: Path, small_rows: NDArray[np.float32]) -> None:
    out = succeed("fit", small_file, "-k", str(K), "--json", "--labels", tmp_path / "l.txt")
    result = json.loads(out)
    expected = BoostKMeans(K, random_state=0).fit(small_rows)
    assert result["inertia"] == expected.inertia_
    assert result["distortion"] == expected.distortion_
    assert result["cluster_sizes"] == expected.cluster_sizes_.tolist()
    assert result["sizes"]["largest"] == expected.cluster_sizes_.max()
    assert result["n_sweeps"] == len(result["history"]) == expected.n_iter_
    assert result["history"][-1]["inertia"] == expected.history_[-1].inertia
    assert result["files"] == {"labels": str(tmp_path / "l.txt")}
    assert result["parameters"]["n_clusters"] == K
    assert (result["method"], result["stop_reason"], result["interrupted"]) == ("k-way", "tol", False)
    assert {"boostkmeans", "source", "format", "n_rows", "n_features", "n_clusters", "converged",
            "seconds"} <= set(result)  # fmt: skip


@pytest.mark.parametrize("ending", ["npy", "fvecs", "fbin", "parquet"])
def test_centers_in_each_format(
    small_file: Path, tmp_path: Path, small_rows: NDArray[np.float32], ending: str
) -> None:
    target = tmp_path / f"c.{ending}"
    succeed("fit", small_file, "-k", str(K), "--centers", target)
    expected = BoostKMeans(K, random_state=0).fit(small_rows).cluster_centers_
    np.testing.assert_allclose(np.asarray(open_vectors(target)), expected, rtol=1e-6)


@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_labels_as_text(small_file: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"l.{ending}"
    succeed("fit", small_file, "-k", str(K), "--labels", target)
    assert target.read_text() == succeed("fit", small_file, "-k", str(K), "--labels", "-")
    by_size = succeed("fit", small_file, "--leaf-size", str(600 / K), "--labels", "-")
    assert target.read_text() == by_size


@pytest.mark.process
@pytest.mark.slow
def test_reads_standard_input(small_file: Path, small_rows: NDArray[np.float32]) -> None:
    expected = succeed("fit", small_file, "-k", str(K), "--labels", "-")
    with small_file.open("rb") as stdin:
        colour = {**os.environ, "FORCE_COLOR": "1"}
        process = start("fit", "-", "-k", str(K), "--labels", "-", stdin=stdin, env=colour)
        out, error = process.communicate(timeout=PATIENCE)
    assert (out.decode(), error) == (expected, b""), "no bar without a terminal"
    compressed = gzip.compress(small_file.read_bytes())
    assert succeed("fit", "-", "-k", str(K), "--labels", "-", stdin=compressed) == expected
    text = io.BytesIO()
    np.savetxt(text, small_rows, delimiter=",", fmt="%.9g")
    result = json.loads(succeed("fit", "-", "-k", str(K), "--json", stdin=text.getvalue()))
    assert (result["source"], result["format"], result["n_rows"]) == ("standard input", "csv", 600)


def test_sparse_vectors(tmp_path: Path) -> None:
    matrix = csr_array(random_array((300, 50), density=0.1, random_state=np.random.default_rng(0)))
    save_npz(tmp_path / "x.npz", matrix)
    labels = succeed("fit", tmp_path / "x.npz", "-k", "4", "--labels", "-")
    expected = BoostKMeans(4, random_state=0).fit(matrix).labels_
    assert [int(line) for line in labels.splitlines()] == expected.tolist()


def test_weights_and_initial_centres(
    small_file: Path, tmp_path: Path, small_rows: NDArray[np.float32]
) -> None:
    weights = np.random.default_rng(0).integers(1, 5, 600)
    np.save(tmp_path / "w.npy", weights)
    (tmp_path / "w.csv").write_text("\n".join(map(str, weights)) + "\n")
    np.save(tmp_path / "c.npy", small_rows[:K])
    expected = (
        BoostKMeans(K, init=small_rows[:K], random_state=0)
        .fit(small_rows, sample_weight=weights)
        .inertia_
    )
    for name in ("w.npy", "w.csv"):
        out = succeed("fit", small_file, "-k", str(K), "--json", "--weights", tmp_path / name,
                      "--init", tmp_path / "c.npy")  # fmt: skip
        assert json.loads(out)["inertia"] == expected


def test_streams_rows_beyond_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    X = blobs(20_000, 32, 6, spread=2.0)[0].astype(np.float32)
    write_vectors(tmp_path / "x.fvecs", X)
    monkeypatch.setattr(memory, "PROCESS", 0)
    result = run("fit", tmp_path / "x.fvecs", "-k", "6", "--max-memory", "2MB", "-v", "--labels",
                 tmp_path / "l.npy")  # fmt: skip
    assert result.exit_code == 0
    assert "are read in" in result.stderr + capfd.readouterr().err
    source = open_vectors(tmp_path / "x.fvecs", max_memory="2MB")
    expected = BoostKMeans(6, random_state=0).fit(source).labels_
    assert np.array_equal(np.load(tmp_path / "l.npy"), expected)
    assert "memory" in fail(1, "fit", tmp_path / "x.fvecs", "-k", "6", "--max-memory", "10kB")


# Errors before the fit starts


def test_existing_files_are_not_overwritten(
    small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoostKMeans, "fit", lambda *_, **__: pytest.fail("the fit started"))
    for option, name in (("-o", "m"), ("--labels", "l.npy"), ("--centers", "c.npy")):
        target = tmp_path / name
        target.write_text("precious")
        message = fail(2, "fit", small_file, "-k", str(K), option, target)
        assert f"{name} exists" in message
        assert "--force" in message
        assert target.read_text() == "precious"


def test_force_overwrites_files(small_file: Path, tmp_path: Path) -> None:
    names = {"-o": "m", "--labels": "l.npy", "--centers": "c.npy"}
    options = [word for option, name in names.items() for word in (option, str(tmp_path / name))]
    for name in names.values():
        (tmp_path / name).write_text("old")
    succeed("fit", small_file, "-k", str(K), *options, "--force")
    load_model(tmp_path / "m")
    assert len(np.load(tmp_path / "l.npy")) == 600
    assert np.load(tmp_path / "c.npy").shape == (K, 4)


def test_rejects_the_same_file_twice(small_file: Path, tmp_path: Path) -> None:
    before = small_file.read_bytes()
    link = tmp_path / "link.npy"
    link.hardlink_to(small_file)
    for options in (
        ["--labels", tmp_path / "a.npy", "--centers", tmp_path / "." / "a.npy"],
        ["--labels", small_file, "--force"],
        ["--labels", link, "--force"],
        ["--checkpoint", tmp_path / "a.npy", "--centers", tmp_path / "a.npy"],
        ["--weights", tmp_path / "w.npy", "--labels", tmp_path / "w.npy", "--force"],
    ):
        assert "cannot be both" in fail(2, "fit", small_file, "-k", str(K), *options)
    assert small_file.read_bytes() == before
    succeed("fit", small_file, "-k", str(K), "-o", os.devnull, "--force")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["-k", "0"], "-k"),
        ([], "Use -k K, or --leaf-size ROWS"),
        (["-k", "5", "--leaf-size", "9"], "-k and --leaf-size both set the number of clusters"),
        (["--leaf-size", "0.1"], "--leaf-size 0.1 gives 6000 clusters for 600 rows"),
        (["-k", "601"], "-k 601 is more than the 600 rows of"),
        (["-k", "5", "--labels", "l.fvecs"], ".npy, .txt, .csv, .tsv or .parquet"),
        (["-k", "5", "--centers", "c.bvecs"], ".npy, .fvecs"),
        (["-k", "5", "--centers", "-"], "cannot be printed on standard output"),
        (["-k", "5", "-o", "missing/m"], "does not exist"),
        (["-k", "5", "-o", "."], "is a folder"),
        (["-k", "5", "--json", "--labels", "-"], "both use standard output"),
        (["-k", "5", "--candidates", "few"], "--candidates must be"),
        (["-k", "5", "--dimensions", "0"], "--dimensions must be"),
        (["-k", "5", "--dimensions", "2", "--method", "bisecting"], "--dimensions has no effect"),
        (["-k", "5", "--init", "nowhere"], "does not exist"),
        (["-k", "5", "--method", "bisecting", "--init", "bisecting"], "--init must be one of"),
        (["-k", "5", "--method", "bisecting", "--quality", "best"], "--quality has no effect on"),
        (["-k", "5", "--sample", "all"], "or use --method bisecting"),
        (["-k", "5", "--method", "bisecting", "--max-passes", "all"], "auto or unlimited"),
        (["-k", "5", "--method", "bisecting", "--split", "mean"], "average"),
        (["-k", "5", "--method", "refined", "--dimensions", "3"], "--dimensions has no effect on"),
        (["-k", "5", "--max-memory", "much"], "'2GB'"),
        (["-k", "5", "--max-time", "-1"], "--max-time must be a number above 0"),
        (["-k", "5", "--resume"], "--checkpoint"),
        (["-k", "5", "--key", "a"], "--key"),
        (["-k", "5", "--weights", "nowhere"], "nowhere"),
        (["-k", "5", "--weights", "-"], "--weights must be a file"),
        (["-k", "5", "--init", "-"], "--init must be a file"),
        (["-k", "5", "--format", "docx"], "--format"),
        (["-k", "5", "--min-size", "200"], "--min-size"),
    ],
)
def test_wrong_usage_exits_with_code_2(small_file: Path, options: list[str], what: str) -> None:
    assert what in fail(2, "fit", small_file, *options)


def test_quality_sets_the_sample_of_a_tree_on_a_cluster() -> None:
    pytest.importorskip("distributed")
    settings = FitSettings(method=Method.BISECTING, quality=Quality("best"))
    request = FitRequest(K, settings, RunOptions(), None, "dask")
    model = request.prepare()(verbose=0, callback=None)
    assert (model.quality, model.engine, model.refine) == ("best", "dask", False)
    with pytest.raises(ValueError, match="--quality has no effect on the method 'bisecting'"):
        replace(request, engine=None).prepare()


def test_bad_data_exits_with_code_3(
    small_file: Path, tmp_path: Path, small_rows: NDArray[np.float32]
) -> None:
    bad = small_rows.copy()
    bad[17, 2] = np.nan
    np.save(tmp_path / "nan.npy", bad)
    message = fail(3, "fit", tmp_path / "nan.npy", "-k", "5")
    assert f"{tmp_path}/nan.npy: " in message
    assert "row 17, column 2" in message
    assert "fit" not in fail(2, "fit", tmp_path / "none.npy", "-k", "5")
    (tmp_path / "cut.npy").write_bytes(small_file.read_bytes()[:-7])
    assert "cut.npy" in fail(3, "fit", tmp_path / "cut.npy", "-k", "5")
    (tmp_path / "w.txt").write_text("1\ntwo\n")
    assert "Value 2 is" in fail(3, "fit", small_file, "-k", "5", "--weights", tmp_path / "w.txt")
    (tmp_path / "w.txt").write_text("1\n2\n")
    assert "--weights has 2 values for 600 rows" in fail(
        2, "fit", small_file, "-k", "5", "--weights", tmp_path / "w.txt"
    )


def test_invalid_weights_and_centres_exit_with_code_3(small_file: Path, tmp_path: Path) -> None:
    for value, what in ((-1.0, "Negative"), (np.nan, "NaN"), (0.0, "are 0")):
        np.save(tmp_path / "w.npy", np.full(600, value))
        message = fail(3, "fit", small_file, "-k", "5", "--weights", tmp_path / "w.npy")
        assert what in message
        assert "--weights" in message
    np.save(tmp_path / "c.npy", np.full((5, 4), np.nan))
    assert "--init" in fail(3, "fit", small_file, "-k", "5", "--init", tmp_path / "c.npy")
    np.save(tmp_path / "empty.npy", np.zeros((0, 4)))
    assert "no rows" in fail(3, "fit", tmp_path / "empty.npy", "-k", "5")


def test_missing_choice_exits_with_code_2(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.eye(4), b=np.eye(3))
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "x.odd").write_bytes(b"\0\1" * 99)
    assert "Name one of them: --key a." in fail(2, "fit", tmp_path / "x.npz", "-k", "2")
    assert "no array 'q'" in fail(2, "fit", tmp_path / "x.npz", "-k", "2", "--key", "q")
    assert "no column 'q'" in fail(2, "fit", tmp_path / "x.csv", "-k", "2", "--key", "q")
    assert "--format" in fail(2, "fit", tmp_path / "x.odd", "-k", "2")


def test_reads_a_named_pipe(small_file: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "63"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(small_file.read_bytes()))
    writer.start()
    labels = succeed("fit", pipe, "-k", str(K), "--labels", "-")
    writer.join()
    succeed("fit", small_file, "-k", str(K), "--labels", tmp_path / "L.NPY")
    assert [int(one) for one in labels.split()] == np.load(tmp_path / "L.NPY").tolist()


def test_folder_without_permission(
    small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoostKMeans, "fit", lambda *_, **__: pytest.fail("the fit started"))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert "No permission to write" in fail(1, "fit", small_file, "-k", "5", "-o", tmp_path / "m")


def test_missing_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_vectors(tmp_path / "x.parquet", np.eye(9))
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    message = fail(1, "fit", tmp_path / "x.parquet", "-k", "2", "-o", tmp_path / "m.st")
    assert "pip install" in message
    assert len(message.splitlines()) == 1


def test_header_options(tmp_path: Path) -> None:
    lines = "\n".join(f"{a:.3f},{b:.3f}" for a, b in np.random.default_rng(0).random((40, 2)))
    (tmp_path / "x.csv").write_text(f"0,1\n{lines}\n")
    for option, n_rows in (("--header", 40), ("--no-header", 41)):
        found = succeed("fit", tmp_path / "x.csv", "-k", "3", option, "--json")
        assert json.loads(found)["n_rows"] == n_rows
