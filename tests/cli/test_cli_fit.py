"""`boostkmeans fit`: what it writes and prints, what it refuses, and how it is stopped."""

import gzip
import io
import json
import os
import pty
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array, random_array, save_npz

from boostkmeans import BisectingBoostKMeans, BoostKMeans, load_model
from boostkmeans._data import memory
from boostkmeans.cli import errors
from boostkmeans.io import open_vectors, write_vectors
from command import fail, read_until, run, start, succeed
from conftest import blobs

K = 5
# So long that it has to be stopped.
ENDLESS = ["-k", "50", "--quality", "best", "--tol", "0", "--n-init", "100000"]


@pytest.fixture(scope="module", name="X")
def made_rows() -> NDArray[np.float32]:
    return blobs(600, 4, 12, spread=2.0)[0].astype(np.float32)


@pytest.fixture
def path(tmp_path: Path, X: NDArray[np.float32]) -> Path:
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many rows that a sweep takes a moment."""
    path = tmp_path_factory.mktemp("large") / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(20_000, 16)).astype(np.float32))
    return path


def test_a_newcomer(path: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    model, labels = tmp_path / "model.safetensors", tmp_path / "labels.npy"
    out = succeed("fit", path, "-k", str(K), "-o", model, "--labels", labels)
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert (lines["rows"], lines["features"], lines["clusters"]) == ("600", "4", "5")
    assert (lines["model"], lines["labels"]) == (str(model), str(labels))
    assert {"distortion", "inertia", "sizes", "sweeps", "stopped", "seconds"} <= set(lines)
    assert "smallest" in lines["sizes"]
    expected = BoostKMeans(K, random_state=0).fit(X)
    found = np.load(labels)
    assert found.dtype == np.int32
    assert np.array_equal(found, expected.labels_)
    loaded = load_model(model)
    assert np.array_equal(loaded.predict(X), expected.predict(X))
    assert (loaded.callback, loaded.checkpoint, loaded.verbose) == (None, None, 0)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["labels.npy", "model.safetensors", "x.npy"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--method", "bisecting", "--seed", "3"], BisectingBoostKMeans(K, random_state=3)),
        (["--method", "refined"], BisectingBoostKMeans(K, refine=True, random_state=0)),
        (["--quality", "best"], BoostKMeans(K, quality="best", random_state=0)),
        (["--init", "random", "--tol", "0"], BoostKMeans(K, init="random", tol=0, random_state=0)),
        (["--metric", "cosine"], BoostKMeans(K, metric="cosine", random_state=0)),
        (["--candidates", "3"], BoostKMeans(K, n_candidates=3, random_state=0)),
        (["--candidates", "all"], BoostKMeans(K, n_candidates=None, random_state=0)),
        (["--n-init", "3", "--max-iter", "2"], BoostKMeans(K, n_init=3, max_iter=2, random_state=0)),
        (["--min-size", "100", "--max-size", "140", "--threads", "1"],
         BoostKMeans(K, min_size=100, max_size=140, random_state=0)),
    ],
)  # fmt: skip
def test_options_are_parameters(
    path: Path, X: NDArray[np.float32], options: list[str], expected: Any
) -> None:
    labels = succeed("fit", path, "-k", str(K), "--labels", "-", *options)
    assert [int(line) for line in labels.splitlines()] == expected.fit(X).labels_.tolist()


def test_json(path: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    out = succeed("fit", path, "-k", str(K), "--json", "--labels", tmp_path / "l.txt")
    made = json.loads(out)
    expected = BoostKMeans(K, random_state=0).fit(X)
    assert made["inertia"] == expected.inertia_
    assert made["distortion"] == expected.distortion_
    assert made["cluster_sizes"] == expected.cluster_sizes_.tolist()
    assert made["sizes"]["largest"] == expected.cluster_sizes_.max()
    assert made["n_sweeps"] == len(made["history"]) == expected.n_iter_
    assert made["history"][-1]["inertia"] == expected.history_[-1].inertia
    assert made["files"] == {"labels": str(tmp_path / "l.txt")}
    assert made["parameters"]["n_clusters"] == K
    assert (made["method"], made["stop_reason"], made["interrupted"]) == ("k-way", "tol", False)
    assert {"boostkmeans", "source", "format", "n_rows", "n_features", "n_clusters", "converged",
            "seconds"} <= set(made)  # fmt: skip


@pytest.mark.parametrize("ending", ["npy", "fvecs", "fbin", "parquet"])
def test_centers(path: Path, tmp_path: Path, X: NDArray[np.float32], ending: str) -> None:
    target = tmp_path / f"c.{ending}"
    succeed("fit", path, "-k", str(K), "--centers", target)
    expected = BoostKMeans(K, random_state=0).fit(X).cluster_centers_
    np.testing.assert_allclose(np.asarray(open_vectors(target)), expected, rtol=1e-6)


@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_labels_as_lines(path: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"l.{ending}"
    succeed("fit", path, "-k", str(K), "--labels", target)
    assert target.read_text() == succeed("fit", path, "-k", str(K), "--labels", "-")


def test_standard_input(path: Path, X: NDArray[np.float32]) -> None:
    expected = succeed("fit", path, "-k", str(K), "--labels", "-")
    with path.open("rb") as stdin:  # as in a shell: what it is, is told by its first bytes
        colour = {**os.environ, "FORCE_COLOR": "1"}
        process = start("fit", "-", "-k", str(K), "--labels", "-", stdin=stdin, env=colour)
        out, error = process.communicate(timeout=60)
    assert (out.decode(), error) == (expected, b""), "and no bar, as this is no terminal"
    compressed = gzip.compress(path.read_bytes())
    assert succeed("fit", "-", "-k", str(K), "--labels", "-", stdin=compressed) == expected
    text = io.BytesIO()
    np.savetxt(text, X, delimiter=",", fmt="%.9g")
    made = json.loads(succeed("fit", "-", "-k", str(K), "--json", stdin=text.getvalue()))
    assert (made["source"], made["format"], made["n_rows"]) == ("standard input", "csv", 600)


def test_sparse(tmp_path: Path) -> None:
    matrix = csr_array(random_array((300, 50), density=0.1, rng=np.random.default_rng(0)))
    save_npz(tmp_path / "x.npz", matrix)
    labels = succeed("fit", tmp_path / "x.npz", "-k", "4", "--labels", "-")
    expected = BoostKMeans(4, random_state=0).fit(matrix).labels_
    assert [int(line) for line in labels.splitlines()] == expected.tolist()


def test_weights_and_given_centres(path: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    weights = np.random.default_rng(0).integers(1, 5, 600)
    np.save(tmp_path / "w.npy", weights)
    (tmp_path / "w.csv").write_text("\n".join(map(str, weights)) + "\n")
    np.save(tmp_path / "c.npy", X[:K])
    expected = BoostKMeans(K, init=X[:K], random_state=0).fit(X, sample_weight=weights).inertia_
    for name in ("w.npy", "w.csv"):
        out = succeed("fit", path, "-k", str(K), "--json", "--weights", tmp_path / name,
                      "--init", tmp_path / "c.npy")  # fmt: skip
        assert json.loads(out)["inertia"] == expected


def test_rows_beyond_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    X = blobs(20_000, 32, 6, spread=2.0)[0].astype(np.float32)
    write_vectors(tmp_path / "x.fvecs", X)
    monkeypatch.setattr(memory, "PROCESS", 0)
    result = run("fit", tmp_path / "x.fvecs", "-k", "6", "--max-memory", "2MB", "-v", "--labels",
                 tmp_path / "l.npy")  # fmt: skip
    assert result.exit_code == 0
    assert "rows are read in" in result.stderr + capfd.readouterr().err
    source = open_vectors(tmp_path / "x.fvecs", max_memory="2MB")
    expected = BoostKMeans(6, random_state=0).fit(source).labels_
    assert np.array_equal(np.load(tmp_path / "l.npy"), expected)
    assert "memory" in fail(1, "fit", tmp_path / "x.fvecs", "-k", "6", "--max-memory", "10kB")


# What is refused, before the work


def test_nothing_is_overwritten(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoostKMeans, "fit", lambda *_, **__: pytest.fail("the work began"))
    for option, name in (("-o", "m"), ("--labels", "l.npy"), ("--centers", "c.npy")):
        target = tmp_path / name
        target.write_text("precious")
        message = fail(2, "fit", path, "-k", str(K), option, target)
        assert f"{name} exists" in message
        assert "--force" in message
        assert target.read_text() == "precious"


def test_force(path: Path, tmp_path: Path) -> None:
    names = {"-o": "m", "--labels": "l.npy", "--centers": "c.npy"}
    options = [word for option, name in names.items() for word in (option, str(tmp_path / name))]
    for name in names.values():
        (tmp_path / name).write_text("old")
    succeed("fit", path, "-k", str(K), *options, "--force")
    load_model(tmp_path / "m")
    assert len(np.load(tmp_path / "l.npy")) == 600
    assert np.load(tmp_path / "c.npy").shape == (K, 4)


def test_outputs_differ_from_each_other_and_from_inputs(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    link = tmp_path / "link.npy"
    link.hardlink_to(path)
    for options in (
        ["--labels", tmp_path / "a.npy", "--centers", tmp_path / "." / "a.npy"],
        ["--labels", path, "--force"],
        ["--labels", link, "--force"],
        ["--checkpoint", tmp_path / "a.npy", "--centers", tmp_path / "a.npy"],
        ["--weights", tmp_path / "w.npy", "-o", tmp_path / "w.npy", "--force"],
    ):
        assert "cannot be both" in fail(2, "fit", path, "-k", str(K), *options)
    assert path.read_bytes() == before
    succeed("fit", path, "-k", str(K), "-o", os.devnull, "--force")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["-k", "0"], "-k"),
        (["-k", "601"], "-k 601 is more than the 600 rows of"),
        (["-k", "5", "--labels", "l.parquet"], ".npy, .txt or .csv"),
        (["-k", "5", "--centers", "c.bvecs"], ".npy, .fvecs"),
        (["-k", "5", "--centers", "-"], "not for standard output"),
        (["-k", "5", "-o", "missing/m"], "no folder"),
        (["-k", "5", "-o", "."], "is a folder"),
        (["-k", "5", "--json", "--labels", "-"], "both want standard output"),
        (["-k", "5", "--candidates", "few"], "--candidates must be"),
        (["-k", "5", "--init", "nowhere"], "no such file"),
        (["-k", "5", "--method", "bisecting", "--init", "bisecting"], "--init must be one of"),
        (["-k", "5", "--method", "bisecting", "--quality", "best"], "--quality is not for"),
        (["-k", "5", "--method", "refined", "--min-size", "3"], "--min-size is not for"),
        (["-k", "5", "--max-memory", "much"], "'2GB'"),
        (["-k", "5", "--max-time", "-1"], "--max-time must be a number above 0"),
        (["-k", "5", "--resume"], "--checkpoint"),
        (["-k", "5", "--key", "a"], "nothing to name"),
        (["-k", "5", "--weights", "nowhere"], "nowhere"),
        (["-k", "5", "--weights", "-"], "--weights must be a file"),
        (["-k", "5", "--init", "-"], "--init must be a file"),
        (["-k", "5", "--format", "docx"], "--format"),
        (["-k", "5", "--min-size", "200"], "--min-size"),
    ],
)
def test_wrong_use_is_exit_code_2(path: Path, options: list[str], what: str) -> None:
    assert what in fail(2, "fit", path, *options)


def test_bad_data_is_exit_code_3(path: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    bad = X.copy()
    bad[17, 2] = np.nan
    np.save(tmp_path / "nan.npy", bad)
    message = fail(3, "fit", tmp_path / "nan.npy", "-k", "5")
    assert f"{tmp_path}/nan.npy: " in message
    assert "row 17, column 2" in message
    assert "fit" not in fail(2, "fit", tmp_path / "none.npy", "-k", "5")
    (tmp_path / "cut.npy").write_bytes(path.read_bytes()[:-7])
    assert "cut.npy" in fail(3, "fit", tmp_path / "cut.npy", "-k", "5")
    (tmp_path / "w.txt").write_text("1\ntwo\n")
    assert "value 2 is" in fail(3, "fit", path, "-k", "5", "--weights", tmp_path / "w.txt")
    (tmp_path / "w.txt").write_text("1\n2\n")
    assert "--weights has 2 values for 600 rows" in fail(
        2, "fit", path, "-k", "5", "--weights", tmp_path / "w.txt"
    )


def test_bad_weights_and_centres_are_bad_data(path: Path, tmp_path: Path) -> None:
    for value, what in ((-1.0, "Negative"), (np.nan, "NaN"), (0.0, "are 0")):
        np.save(tmp_path / "w.npy", np.full(600, value))
        message = fail(3, "fit", path, "-k", "5", "--weights", tmp_path / "w.npy")
        assert what in message
        assert "--weights" in message
    np.save(tmp_path / "c.npy", np.full((5, 4), np.nan))
    assert "--init" in fail(3, "fit", path, "-k", "5", "--init", tmp_path / "c.npy")
    np.save(tmp_path / "empty.npy", np.zeros((0, 4)))
    assert "no rows" in fail(3, "fit", tmp_path / "empty.npy", "-k", "5")


def test_what_is_to_be_chosen_is_wrong_use(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.eye(4), b=np.eye(3))
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "x.odd").write_bytes(b"\0\1" * 99)
    assert "Name one: --key a." in fail(2, "fit", tmp_path / "x.npz", "-k", "2")
    assert "no array 'q'" in fail(2, "fit", tmp_path / "x.npz", "-k", "2", "--key", "q")
    assert "no column 'q'" in fail(2, "fit", tmp_path / "x.csv", "-k", "2", "--key", "q")
    assert "--format with one of" in fail(2, "fit", tmp_path / "x.odd", "-k", "2")


def test_messages_leave_names_of_files_alone() -> None:
    for text in ("/data/min_size/x.npy: no", "max_size.npy: no", "there is no column 'n_init'"):
        assert errors.in_options(text) == text


def test_a_pipe_of_the_shell(path: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "63"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    labels = succeed("fit", pipe, "-k", str(K), "--labels", "-")
    writer.join()
    succeed("fit", path, "-k", str(K), "--labels", tmp_path / "L.NPY")
    assert [int(one) for one in labels.split()] == np.load(tmp_path / "L.NPY").tolist()


def test_debug(tmp_path: Path) -> None:
    result = run("fit", tmp_path / "none.npy", "-k", "5", "--debug")
    assert result.exit_code == 2
    assert "Traceback" in result.stderr


def test_a_folder_without_permission(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoostKMeans, "fit", lambda *_, **__: pytest.fail("the work began"))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert "may not be written to" in fail(1, "fit", path, "-k", "5", "-o", tmp_path / "m")


# Checkpoints


def test_checkpoint_options(path: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "fit.ckpt"
    options = ["fit", path, "-k", str(K), "--checkpoint", checkpoint]
    BoostKMeans(K, checkpoint=checkpoint, random_state=1).fit(np.load(path))
    message = fail(2, *options)
    assert "--resume" in message
    assert "--force" in message
    assert "another fit" in fail(2, *options, "--resume"), "it has another seed"
    succeed(*options, "--force")
    assert not checkpoint.exists(), "all is done"
    result = run(*options, "--resume")
    assert result.exit_code == 0
    assert "beginning from the start" in result.stderr
    assert not checkpoint.exists()


def test_only_a_checkpoint_is_removed(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "thesis.txt"
    other.write_text("precious")
    for more in (["--force"], [], ["--resume"]):
        message = fail(2, "fit", path, "-k", str(K), "--checkpoint", other, *more)
        assert "is no checkpoint" in message
        assert "--resume" not in message
        assert other.read_text() == "precious"
    for name in ("-", tmp_path):
        assert "must be a file" in fail(2, "fit", path, "-k", str(K), "--checkpoint", name)


def test_force_removes_a_checkpoint_only_for_a_fit(path: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "c"
    BoostKMeans(K, checkpoint=checkpoint, random_state=1).fit(np.load(path))
    options = ["-k", str(K), "--checkpoint", checkpoint, "--force"]
    for name in ("none.npy", checkpoint.name):
        assert fail(2, "fit", tmp_path / name, *options)
    (tmp_path / "cut.npy").write_bytes(path.read_bytes()[:-7])
    assert fail(3, "fit", tmp_path / "cut.npy", *options)
    assert checkpoint.exists()


def test_a_checkpoint_stays_until_results_are_written(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BoostKMeans, "save", fails)
    options = ["-k", str(K), "--checkpoint", tmp_path / "c", "-o", tmp_path / "m"]
    result = run("fit", path, *options, "--labels", tmp_path / "l.npy")
    assert result.exit_code == 1
    assert f"{tmp_path}/m: No space" in result.stderr, "it names the file"
    assert "--resume" in result.stderr
    assert "distortion" in result.stdout
    assert str(tmp_path / "m") not in result.stdout
    assert len(np.load(tmp_path / "l.npy")) == 600, "the others are written"
    assert (tmp_path / "c").exists()
    monkeypatch.undo()
    succeed("fit", path, *options, "--resume")
    assert not (tmp_path / "c").exists()


def test_the_advice_holds(large: Path, tmp_path: Path) -> None:
    outputs = ["-o", tmp_path / "m", "--labels", tmp_path / "l.npy", "--centers", tmp_path / "c.npy"]
    command = ["fit", large, "-k", "100", "--tol", "0", "--checkpoint", tmp_path / "c", *outputs]
    result = run(*command, "--max-time", "0.2")
    assert "the same command with --resume goes on" in result.stderr
    assert "exists" in fail(2, *command, "--max-time", "0.2")
    assert run(*command, "--max-time", "0.2", "--resume").exit_code == 0
    if (tmp_path / "c").exists():
        succeed(*command, "--resume")
    succeed("fit", large, "-k", "100", "--tol", "0", "--labels", tmp_path / "whole.npy")
    assert np.array_equal(np.load(tmp_path / "l.npy"), np.load(tmp_path / "whole.npy"))
    assert "exists: --force" in fail(2, *command, "--resume"), "the checkpoint is gone: all is done"


def test_killed_and_resumed(large: Path, tmp_path: Path) -> None:
    options = ["-k", "200", "--quality", "fast", "--tol", "0", "--n-init", "2", "--labels"]
    checkpoint = tmp_path / "c"
    command = ["fit", large, *options, tmp_path / "l.npy", "--checkpoint", checkpoint]
    kills = 0
    for pause in (0.0, 0.1, 0.3):
        process = start(*command, *(["--resume"] if kills else []))
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        while process.poll() is None and not (
            checkpoint.exists() and checkpoint.stat().st_mtime_ns > before
        ):
            time.sleep(0.005)
        time.sleep(pause)
        process.kill()
        process.communicate()
        if (tmp_path / "l.npy").exists():
            break
        kills += 1
    assert kills, "it was killed in time at least once"
    if not (tmp_path / "l.npy").exists():
        succeed(*command, "--resume")
    succeed("fit", large, *options, tmp_path / "whole.npy")
    assert np.array_equal(np.load(tmp_path / "l.npy"), np.load(tmp_path / "whole.npy"))
    assert not checkpoint.exists()


# In a process of its own


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_keeps_the_best(large: Path, tmp_path: Path, number: signal.Signals) -> None:
    model, labels, checkpoint = tmp_path / "m", tmp_path / "l.npy", tmp_path / "c"
    process = start("fit", large, *ENDLESS, "-o", model, "--labels", labels, "-v", "--json",
                    "--checkpoint", checkpoint)  # fmt: skip
    assert process.stderr is not None
    read_until(process.stderr.fileno(), b"sweep 3")
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130
    last = error.decode().splitlines()[-1]
    assert last.startswith("boostkmeans: interrupted: the best partition so far is written to")
    assert str(labels) in last
    assert "--resume" in last
    made = json.loads(out)
    assert (made["interrupted"], made["stop_reason"]) == (True, "interrupted")
    assert len(np.load(labels)) == 20_000
    assert load_model(model).inertia_ == made["inertia"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["c", "l.npy", "m"]


def test_a_bar_and_an_interrupt_on_a_terminal(large: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150"}
    process = start("fit", large, *ENDLESS, "--labels", tmp_path / "l.txt", stdin=theirs, stderr=theirs,
                    env=environment, start_new_session=True)  # fmt: skip
    os.close(theirs)
    try:
        seen = read_until(ours, b"rows/s")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        with suppress(OSError):  # there is nobody on the other side any more
            while piece := os.read(ours, 1 << 16):
                seen += piece
    finally:
        os.close(ours)
    assert process.returncode == 130
    assert b"distortion" in seen
    assert b"moves" in seen
    assert b"interrupted: the best" in seen
    assert b"\x1b[?25h" in seen, "the cursor is back"
    assert b"\x1b" not in out
    assert len((tmp_path / "l.txt").read_text().splitlines()) == 20_000


def test_an_interrupt_without_outputs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = BoostKMeans.fit

    def interrupted(model: BoostKMeans, *arguments: Any, **more: Any) -> None:
        whole(model, *arguments, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(BoostKMeans, "fit", interrupted)
    result = run("fit", path, "-k", str(K))
    assert result.exit_code == 130
    assert result.stderr == (
        "boostkmeans: interrupted: nothing was to be written: give -o or --labels\n"
    )


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with errors.exit_codes(debug=False):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_interrupted_twice(large: Path, tmp_path: Path) -> None:
    process = start("fit", large, *ENDLESS, "--labels", tmp_path / "l.npy", "-v")
    assert process.stderr is not None
    read_until(process.stderr.fileno(), b"sweep 2")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in error
    assert {one.name for one in tmp_path.iterdir()} <= {"l.npy"}


def test_interrupted_before_there_is_anything(tmp_path: Path) -> None:
    pipe = tmp_path / "x.npy"
    os.mkfifo(pipe)
    process = start("fit", pipe, "-k", "3", "--labels", tmp_path / "l.npy")
    with pipe.open("wb"):  # which waits until it is read from
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert b"interrupted" in error
    assert b"Traceback" not in error
    assert [one.name for one in tmp_path.iterdir()] == ["x.npy"]


def test_a_closed_pipe(path: Path, tmp_path: Path) -> None:
    process = start("fit", path, "-k", str(K), "--labels", "-", "-o", tmp_path / "m")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, b"")
    assert (tmp_path / "m").exists(), "files do not depend on who reads the rest"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start("fit", path, "-k", str(K), stdout=full)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert error == b"boostkmeans: standard output: No space left on device\n"
    assert b"Traceback" not in error
    assert b"Exception ignored" not in error


def test_a_file_that_gets_too_large(large: Path, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999))

    options = ["-k", "3", "--labels", tmp_path / "l.npy", "--max-iter", "1"]
    process = start("fit", large, *options, preexec_fn=limit)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"distortion" in out
    assert b"l.npy: File too large" in error
    assert b"Traceback" not in error
    assert list(tmp_path.iterdir()) == [], "neither half a file nor a temporary one"


def test_missing_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_vectors(tmp_path / "x.parquet", np.eye(9))
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    message = fail(1, "fit", tmp_path / "x.parquet", "-k", "2")
    assert "pip install" in message
    assert len(message.splitlines()) == 1


def test_the_first_line_of_a_table_may_be_named(tmp_path: Path) -> None:
    lines = "\n".join(f"{a:.3f},{b:.3f}" for a, b in np.random.default_rng(0).random((40, 2)))
    (tmp_path / "x.csv").write_text(f"0,1\n{lines}\n")
    for option, n_rows in (("--header", 40), ("--no-header", 41)):
        found = succeed("fit", tmp_path / "x.csv", "-k", "3", option, "--json")
        assert json.loads(found)["n_rows"] == n_rows


def test_wrong_options_do_not_cost_the_old_checkpoint(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((50, 3)))
    state = tmp_path / "state"
    BoostKMeans(3, random_state=0, checkpoint=state).fit(np.load(tmp_path / "x.npy"))
    before = state.read_bytes()
    fail(2, "fit", tmp_path / "x.npy", "-k", "51", "--checkpoint", state, "--force")
    assert state.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "x.npy"]
    succeed("fit", tmp_path / "x.npy", "-k", "4", "--checkpoint", state, "--force")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npy"]
