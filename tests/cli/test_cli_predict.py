"""`boostkmeans predict` and `boostkmeans evaluate`."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array, save_npz
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from boostkmeans import BoostKMeans, metrics
from boostkmeans._data import row_source
from boostkmeans.io import write_vectors
from command import fail, run, start, succeed
from conftest import blobs
from processes import PATIENCE

K = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, and the rows and classes of its fit."""
    folder = tmp_path_factory.mktemp("predict")
    rows, classes = blobs(3_000, 5, K, spread=3.0)
    np.save(folder / "x.npy", rows.astype(np.float32))
    np.save(folder / "classes.npy", classes)
    (folder / "classes.txt").write_text("\n".join(f"class {one}" for one in classes))
    BoostKMeans(K, random_state=0).fit(rows.astype(np.float32)).save(folder / "m", labels=False)
    return folder


@pytest.fixture(scope="module", name="X")
def result_rows(folder: Path) -> NDArray[np.float32]:
    return np.asarray(np.load(folder / "x.npy"))


@pytest.fixture(scope="module")
def model(folder: Path) -> BoostKMeans:
    return BoostKMeans.load(folder / "m")


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_source, "BATCH_BYTES", 4_000)


@pytest.mark.usefixtures("small_batches")
def test_labels_and_distances(
    folder: Path, tmp_path: Path, X: NDArray[np.float32], model: BoostKMeans
) -> None:
    expected = model.predict(X)
    lines = succeed("predict", folder / "m", folder / "x.npy")
    assert [int(line) for line in lines.splitlines()] == expected.tolist()
    out = succeed("predict", folder / "m", folder / "x.npy", "--labels", tmp_path / "l.npy",
                  "--distances", tmp_path / "d.npy")  # fmt: skip
    assert str(tmp_path / "l.npy") in out
    labels, distances = np.load(tmp_path / "l.npy"), np.load(tmp_path / "d.npy")
    assert labels.dtype == np.int32
    assert np.array_equal(labels, expected)
    np.testing.assert_allclose(distances, model.transform(X.astype(np.float64)).min(axis=1), rtol=1e-6)
    succeed("predict", folder / "m", folder / "x.npy", "--labels", tmp_path / "l.csv")
    assert (tmp_path / "l.csv").read_text() == lines


@pytest.mark.usefixtures("small_batches")
def test_json_result(folder: Path, X: NDArray[np.float32], model: BoostKMeans) -> None:
    result = json.loads(succeed("predict", folder / "m", folder / "x.npy", "--json"))
    assert result["counts"] == np.bincount(model.predict(X), minlength=K).tolist()
    assert (result["n_rows"], result["n_clusters"], result["files"]) == (3_000, K, {})
    assert result["inertia"] == pytest.approx(-model.score(X))
    assert result["sizes"]["largest"] == max(result["counts"])


def test_candidates_option(folder: Path, X: NDArray[np.float32], model: BoostKMeans) -> None:
    lines = succeed("predict", folder / "m", folder / "x.npy", "--candidates", "2")
    found = [int(line) for line in lines.splitlines()]
    assert found == model.predict(X, n_candidates=2).tolist()


def test_other_formats(folder: Path, tmp_path: Path, X: NDArray[np.float32], model: BoostKMeans) -> None:
    expected = model.predict(X[:50]).tolist()
    save_npz(tmp_path / "x.npz", csr_array(X[:50]))
    write_vectors(tmp_path / "x.fvecs", X[:50])
    for name in ("x.npz", "x.fvecs"):
        lines = succeed("predict", folder / "m", tmp_path / name, "--max-memory", "1GB")
        assert [int(line) for line in lines.splitlines()] == expected
    text = "".join(",".join(map(str, row)) + "\n" for row in X[:50].tolist()).encode()
    lines = succeed("predict", folder / "m", "-", stdin=text)
    assert [int(line) for line in lines.splitlines()] == expected


def test_predict_errors(folder: Path, tmp_path: Path) -> None:
    m, x = folder / "m", folder / "x.npy"
    (tmp_path / "l.npy").write_text("precious")
    np.save(tmp_path / "wide.npy", np.zeros((3, 7)))
    for options, what in (
        ([m, x, "--labels", tmp_path / "l.npy"], "--force"),
        ([m, x, "--labels", x, "--force"], "cannot be both"),
        ([m, x, "--labels", m, "--force"], ".npy, .txt, .csv, .tsv or .parquet"),
        ([m, x, "--distances", "-"], "must be a file"),
        ([m, x, "--json", "--labels", "-"], "both use standard output"),
        ([m, tmp_path / "none"], "none"),
        ([tmp_path / "none", x], "none"),
        ([m, x, "--candidates", "0"], "--candidates"),
    ):
        assert what in fail(2, "predict", *options)
    assert (tmp_path / "l.npy").read_text() == "precious"
    assert "safetensors" in fail(3, "predict", x, x)
    assert f"wide.npy has 7 features, and {m} has 5" in fail(3, "predict", m, tmp_path / "wide.npy")
    assert "need at least" in fail(1, "predict", m, x, "--max-memory", "10kB")


@pytest.mark.usefixtures("small_batches")
def test_invalid_rows_leave_no_file(folder: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    bad = X.copy()
    bad[2_900, 1] = np.inf
    np.save(tmp_path / "x.npy", bad)
    message = fail(3, "predict", folder / "m", tmp_path / "x.npy", "--labels", tmp_path / "l.npy")
    assert "row 2900, column 1" in message, "the number of the row in the file"
    assert [one.name for one in tmp_path.iterdir()] == ["x.npy"]


def test_closed_pipe_does_not_affect_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boostkmeans.cli.files.row_writer.print_part", lambda _: False)
    arguments = ["predict", folder / "m", folder / "x.npy"]
    assert succeed(*arguments, "--distances", tmp_path / "d.npy") == ""
    assert len(np.load(tmp_path / "d.npy")) == 3_000
    assert succeed(*arguments) == ""


@pytest.mark.process
@pytest.mark.slow
def test_sigterm_leaves_no_file(folder: Path, tmp_path: Path) -> None:
    process = start("predict", folder / "m", "-", "--format", "csv", "--labels", tmp_path / "l.npy",
                    "-v", stdin=-1)  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"1,2,3,4,5\n" * 200_000)  # writing waits until most of it is read
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error) == (130, b"boostkmeans: interrupted\n")
    assert list(tmp_path.iterdir()) == []


# evaluate


@pytest.mark.usefixtures("small_batches")
def test_evaluate_with_classes(folder: Path, X: NDArray[np.float32], model: BoostKMeans) -> None:
    labels, classes = model.predict(X), np.load(folder / "classes.npy")
    for name in ("classes.npy", "classes.txt"):
        out = succeed("evaluate", folder / "m", folder / "x.npy", "--json", "--classes", folder / name)
        result = json.loads(out)
        assert result["scores"] == {
            "entropy": pytest.approx(metrics.entropy(classes, labels)),
            "purity": pytest.approx(metrics.purity(classes, labels)),
            "nmi": pytest.approx(normalized_mutual_info_score(classes, labels)),
            "ari": pytest.approx(adjusted_rand_score(classes, labels)),
        }
    assert result["distortion"] == pytest.approx(-model.score(X) / len(X))
    assert result["size_imbalance"] == pytest.approx(metrics.size_imbalance(labels, n_clusters=K))
    assert [one["size"] for one in result["clusters"]] == np.bincount(labels, minlength=K).tolist()
    assert sum(one["share"] for one in result["clusters"]) == pytest.approx(1)
    assert sum(one["size"] * one["distortion"] for one in result["clusters"]) == pytest.approx(
        result["inertia"]
    )


def test_evaluate_listing(folder: Path, tmp_path: Path) -> None:
    out = succeed("evaluate", folder / "m", folder / "x.npy")
    for what in ("distortion", "inertia", "sizes", "size imbalance", "largest share"):
        assert what in out
    assert "purity" not in out
    assert "ARI" in succeed(
        "evaluate", folder / "m", folder / "x.npy", "--classes", folder / "classes.npy"
    )
    (tmp_path / "few").write_text("a\nb\n")
    message = fail(3, "evaluate", folder / "m", folder / "x.npy", "--classes", tmp_path / "few")
    assert "2 classes for 3,000 rows" in message
    result = run("evaluate", folder / "m", folder / "x.npy", "--verbose")
    assert result.exit_code == 0


@pytest.mark.usefixtures("small_batches")
class TestNearest:
    def test_several_clusters(
        self, folder: Path, tmp_path: Path, X: NDArray[np.float32], model: BoostKMeans
    ) -> None:
        distances, labels = model.predict_many(X, 3)
        succeed("predict", folder / "m", folder / "x.npy", "--nearest", "3", "--labels",
                tmp_path / "l.npy", "--distances", tmp_path / "d.npy")  # fmt: skip
        np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), labels)
        np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), distances.astype(np.float64))
        printed = succeed("predict", folder / "m", folder / "x.npy", "--nearest", "3")
        assert printed.splitlines()[5] == ",".join(map(str, labels[5]))
        succeed("predict", folder / "m", folder / "x.npy", "--nearest", "3", "--labels",
                tmp_path / "l.parquet")  # fmt: skip
        table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "l.parquet")
        assert table.column_names == ["label_1", "label_2", "label_3"]
        np.testing.assert_array_equal(table["label_2"], labels[:, 1])

    def test_with_ids(self, folder: Path, tmp_path: Path) -> None:
        lines = ["id,a,b,c,d,e", *(f"r{i},{i},1,2,3,4" for i in range(4))]
        (tmp_path / "x.csv").write_text("\n".join(lines))
        out = succeed("predict", folder / "m", tmp_path / "x.csv", "--id", "id", "--nearest", "2")
        assert out.splitlines()[0] == "id,label_1,label_2"
        assert out.splitlines()[1].startswith("r0,")

    def test_outlier_scores(
        self, folder: Path, tmp_path: Path, X: NDArray[np.float32], model: BoostKMeans
    ) -> None:
        for options in ([], ["--nearest", "2"]):
            succeed("predict", folder / "m", folder / "x.npy", "--labels", tmp_path / "l.npy", "--force",
                    "--outliers", tmp_path / "o.npy", *options)  # fmt: skip
            np.testing.assert_allclose(np.load(tmp_path / "o.npy"), model.outlier_scores(X), rtol=1e-6)

    def test_rejects(self, folder: Path, tmp_path: Path) -> None:
        command = ["predict", folder / "m", folder / "x.npy"]
        assert "6 clusters" in fail(2, *command, "--nearest", "7")
        assert "--candidates 2" in fail(2, *command, "--nearest", "3", "--candidates", "2")
        assert "--outliers" in fail(2, *command, "--outliers", tmp_path / "o.fvecs")

    def test_evaluate_prints_the_simplified_silhouette(
        self, folder: Path, X: NDArray[np.float32], model: BoostKMeans
    ) -> None:
        found = json.loads(succeed("evaluate", folder / "m", folder / "x.npy", "--json"))
        expected = metrics.simplified_silhouette(X, model).mean
        assert found["simplified_silhouette"] == pytest.approx(expected)
        assert "simplified silhouette" in succeed("evaluate", folder / "m", folder / "x.npy")
