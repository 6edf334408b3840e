"""`boostkmeans images`: results, files, options, errors and interrupts."""

import csv
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawings import drawing

pytest.importorskip("PIL")
pytest.importorskip("cv2")
from PIL import Image

from boostkmeans import explore, load_model
from boostkmeans.cli.commands.images import outputs as outputs_module
from boostkmeans.cli.progress_display import log_steps
from boostkmeans.images import VLADPipeline
from command import fail, run, run_on_terminal, start, succeed
from processes import PATIENCE, wait_until


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a folder with nine images, one of one colour, and a broken file."""
    monkeypatch.chdir(tmp_path)
    folder = Path("photos")
    (folder / "sub").mkdir(parents=True)
    for seed in range(8):
        pixels = np.kron(drawing(seed), np.ones((2, 2), dtype=np.uint8))
        Image.fromarray(pixels).save(folder / f"{seed}.png")
    Image.fromarray(np.kron(drawing(2), np.ones((2, 2), dtype=np.uint8))).save(
        folder / "sub" / "copy.jpg", quality=60
    )
    Image.new("L", (60, 40), 128).save(folder / "flat.png")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no image")
    return str(folder)


@pytest.fixture
def rows(photos: str) -> str:
    """Return a file of features: one row per image."""
    np.save("rows.npy", np.random.default_rng(0).normal(size=(10, 6)))
    return "rows.npy"


def test_listing(photos: str) -> None:
    out = succeed("images", photos, "-k", "3", "--words", "8")
    assert out.startswith("photos: 9 images, 8 features (VLAD, sift)\n3 clusters (k-way), inertia ")
    assert "1 skipped: broken.jpg (" in out
    assert "1 without keypoints: flat.png" in out
    assert "cluster 0: " in out
    assert "  central  " in out
    assert "near duplicates: 1 group, 2 images" in out
    assert "2.png, sub/copy.jpg" in out


def test_json_and_files(photos: str) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    files = {"model": "m.st", "pipeline": "p.st", "vectors": "v.npy", "labels": "l.csv"}
    result = json.loads(
        succeed("images", photos, "-k", "3", "--words", "8", "--json", "--central", "2", "-o", "m.st",
                "--save-pipeline", "p.st", "--vectors", "v.npy", "--labels", "l.csv")
    )  # fmt: skip
    assert result["files"] == files
    assert result["n_images"] == len(result["names"]) == 9
    assert [one["name"] for one in result["skipped"]] == ["broken.jpg"]
    assert result["without_keypoints"] == ["flat.png"]
    assert [group["names"] for group in result["duplicates"]] == [["2.png", "sub/copy.jpg"]]
    assert all(len(cluster["central"]) <= 2 for cluster in result["clusters"])
    with open("l.csv", newline="") as file:  # noqa: PTH123
        table = list(csv.reader(file))
    assert table[0] == ["id", "cluster"]
    assert table[1:] == [[n, str(c)] for n, c in zip(result["names"], result["labels"], strict=True)]
    vectors = np.load("v.npy")
    model = load_model("m.st")
    np.testing.assert_array_equal(model.predict(vectors), result["labels"])
    assert "image pipeline" in succeed("info", "p.st")

    again = json.loads(
        succeed("images", photos, "-k", "3", "--pipeline", "p.st", "--json", "--labels", "l.parquet",
                "--vectors", "again.npy", "--duplicates", "none", "--threads", "1")
    )  # fmt: skip
    np.testing.assert_allclose(np.load("again.npy"), vectors, atol=1e-6)
    assert again["labels"] == result["labels"]
    assert again["duplicates"] is None
    labels = pq.read_table("l.parquet")
    assert labels.to_pydict() == {"id": result["names"], "cluster": result["labels"]}


def test_features_from_a_file(photos: str, rows: str) -> None:
    result = json.loads(succeed("images", photos, "-k", "2", "--features", rows, "--json"))
    assert (result["features"], result["n_features"], result["n_images"]) == ("rows.npy", 6, 10)
    names = result["names"]
    lines = [f"{name},{seed},1" for seed, name in enumerate(names)]
    Path("rows.csv").write_text("\n".join(["path,x,y", *lines]))
    result = json.loads(
        succeed("images", photos, "-k", "2", "--features", "rows.csv", "--id", "path", "--json")
    )
    assert (result["n_features"], result["names"]) == (2, names)
    result = json.loads(
        succeed("images", photos, "-k", "2", "--features", "rows.csv", "--id", "path", "--key", "x",
                "--key", "y", "--duplicates", "1", "--method", "bisecting", "--json")
    )  # fmt: skip
    assert result["method"] == "bisecting"


def test_features_from_a_model(photos: str) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from test_onnx_features import write_model

    write_model(Path("tiny.onnx"), ["n", 3, "h", "w"])
    result = json.loads(
        succeed("images", photos, "-k", "2", "--features", "tiny.onnx", "--size", "16", "--mean",
                "0.5,0.5,0.5", "--std", "0.5,0.5,0.5", "--model-output", "all", "--json")
    )  # fmt: skip
    assert (result["n_features"], result["features"]) == (3 * 16 * 16, "tiny.onnx")
    options = ["images", photos, "-k", "2", "--features", "tiny.onnx"]
    assert "no output 'x'. Its outputs are: means, all" in fail(3, *options, "--model-output", "x")
    assert "--mean must be three numbers with commas" in fail(2, *options, "--mean", "a,b")
    assert "--std must be three finite numbers above 0" in fail(2, *options, "--std", "1,1")


def test_printed_labels_are_escaped(photos: str, rows: str) -> None:
    (Path(photos) / "0.png").rename(Path(photos) / "0\x1b[31m\n.png")
    out = succeed("images", photos, "-k", "2", "--features", rows, "--labels", "-")
    lines = out.splitlines()
    assert lines[0] == "id,cluster"
    assert lines[1].startswith("0\\x1b[31m\\n.png,")
    assert len(lines) == 11
    succeed("images", photos, "-k", "2", "--features", rows, "--labels", "l.csv")
    with open("l.csv", newline="") as file:  # noqa: PTH123
        assert list(csv.reader(file))[1][0] == "0\x1b[31m\n.png", "a file keeps the name"


def test_names_that_are_not_utf8(photos: str, rows: str) -> None:
    (Path(photos) / "0.png").rename(Path(photos) / "0\udcff.png")
    for labels in ("l.csv", "l.parquet"):
        succeed("images", photos, "-k", "2", "--features", rows, "--labels", labels)
    assert "0\\udcff.png," in Path("l.csv").read_text()
    assert "0\\udcff.png" in succeed("images", photos, "-k", "1", "--features", rows, "--central", "99")
    succeed("images", photos, "-k", "2", "--features", rows, "--json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels", "l.txt"], "--labels must be a file that ends in .csv, .tsv or .parquet, or -"),
        (["--vectors", "v.csv"], "--vectors must be a file that ends in .npy"),
        (["--labels", "-", "--json"], "--json and --labels - both use standard output"),
        (["-o", "-"], "--output must be a file"),
        (["--duplicates", "many"], "--duplicates must be a number above 0 and at most 1, auto or none"),
        (["--duplicates", "1.5"], "--duplicates must be a number above 0 and at most 1"),
        (["--features", "rows.npy", "--words", "8"], "--words is for a new VLAD pipeline only"),
        (["--features", "rows.npy", "--save-pipeline", "p"], "--save-pipeline is for --features vlad"),
        (["--features", "rows.npy", "--pipeline", "p"], "--pipeline computes VLAD vectors"),
        (["--features", "rows.npy", "--size", "9"], "--size is for an ONNX model only"),
        (["--id", "path"], "--id is for a file of features only"),
        (["--features", "missing.npy"], "missing.npy"),
        (
            ["--features", "rows.npy", "--vectors", "rows.npy", "--force"],
            "cannot be both --features and",
        ),
        (["--features", "rows.npy", "-k", "11"], "-k 11 is more than the 10 images with vectors"),
        (["--method", "bisecting", "--quality", "fast"], "--quality has no effect with the method"),
    ],
)
def test_wrong_usage(options: list[str], message: str, photos: str, rows: str) -> None:
    assert message in fail(2, "images", photos, "-k", "2", *options)


def test_bad_data(photos: str) -> None:
    assert "No such file" in fail(2, "images", "missing", "-k", "2")
    assert "is not a folder" in fail(2, "images", f"{photos}/0.png", "-k", "2")
    np.save("rows.npy", np.ones((3, 2)))
    message = fail(3, "images", photos, "-k", "2", "--features", "rows.npy")
    assert "rows.npy: There are 3 rows for 10 images (11 files)" in message
    assert "set --id" in message
    Path("bad.st").write_bytes(b"nothing")
    assert "bad.st" in fail(3, "images", photos, "-k", "2", "--pipeline", "bad.st")


def test_existing_files_are_kept(photos: str, rows: str) -> None:
    Path("l.csv").write_text("old")
    options = ["images", photos, "-k", "2", "--features", rows, "--labels", "l.csv"]
    assert "l.csv exists. Use --force" in fail(2, *options)
    assert Path("l.csv").read_text() == "old"
    succeed(*options, "--force")
    assert Path("l.csv").read_text().startswith("id,cluster\n")


def test_other_results_are_written_after_an_error(
    photos: str, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs_module, "write_vectors", full)
    result = run("images", photos, "-k", "2", "--features", rows, "--vectors", "v.npy", "--labels",
                 "l.csv", "--json")  # fmt: skip
    assert result.exit_code == 1
    assert result.stderr == "boostkmeans: v.npy: No space left on device\n"
    assert json.loads(result.stdout)["files"] == {"labels": "l.csv"}
    assert Path("l.csv").exists()


def test_progress(photos: str) -> None:
    code, out, seen = run_on_terminal("images", photos, "-k", "2", "--words", "8")
    assert code == 0
    assert "\x1b" not in out
    assert "starting" in seen
    result = run("images", photos, "-k", "2", "--words", "8", "-v")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert "boostkmeans: describing images: 1 of 11" in lines
    assert "boostkmeans: comparing images: 1 of 11" in lines


def test_steps_are_logged_when_they_begin(caplog: pytest.LogCaptureFixture) -> None:
    report = log_steps()
    with caplog.at_level("INFO", "boostkmeans"):
        for what, done in (("reading", 1), ("reading", 2), ("clustering", 0), ("comparing", 1)):
            report(what, done, 9)
    assert caplog.messages == ["reading: 1 of 9", "comparing: 1 of 9"]


def test_interrupt(photos: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(VLADPipeline, "fit_describe", interrupted)
    result = run("images", photos, "-k", "2", "--labels", "l.csv")
    assert (result.exit_code, result.stdout) == (130, "")
    assert "interrupted" in result.stderr
    assert not Path("l.csv").exists()


@pytest.mark.process
@pytest.mark.slow
def test_interrupt_stops_the_processes(tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil")
    folder = tmp_path / "photos"
    folder.mkdir()
    noise = np.random.default_rng(0).integers(0, 256, (700, 700), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "0.bmp")
    for number in range(1, 300):
        os.link(folder / "0.bmp", folder / f"{number}.bmp")
    process = start("images", folder, "-k", "2", "-v", "--threads", "2", start_new_session=True)
    assert process.stderr is not None
    assert b"describing images: 1 of 300" in process.stderr.readline()
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, b"")
    assert error == b"boostkmeans: interrupted\n"

    def is_running(one: Any) -> bool:
        try:
            return bool(one.is_running() and one.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False

    assert wait_until(lambda: not any(map(is_running, children))), children


def test_page(photos: str) -> None:
    pytest.importorskip("jinja2")
    result = json.loads(
        succeed("images", photos, "-k", "2", "--words", "8", "--page", "page.html", "--json")
    )
    assert result["files"] == {"page": "page.html"}
    text = Path("page.html").read_text(encoding="utf-8")
    assert "<title>Images of photos</title>" in text
    assert "Content-Security-Policy" in text


def test_page_receives_paths_and_names(photos: str, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    class Page:
        def save(self, path: str) -> None:
            Path(path).write_text("page")

    def page(model: Any, X: Any, **settings: Any) -> Page:
        given.update(settings, n_rows=len(X), labels=model.labels_)
        return Page()

    monkeypatch.setattr(explore, "page", page)
    succeed("images", photos, "-k", "2", "--features", rows, "--page", "page.html")
    assert Path("page.html").read_text() == "page"
    assert given["n_rows"] == len(given["labels"]) == len(given["images"]) == 10
    assert given["ids"][-1] == "sub/copy.jpg"
    assert given["images"][-1] == Path(photos, "sub/copy.jpg")
    assert given["title"] == "Images of photos"
    assert given["command"] == "boostkmeans images photos -k 2 --page page.html --features rows.npy"
