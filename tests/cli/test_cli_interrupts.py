"""`boostkmeans fit` in a process of its own: interrupts, closed pipes, full disks."""

import json
import os
import pty
import resource
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostkmeans import BoostKMeans, load_model
from command import read_until, run, start
from processes import PATIENCE

pytest_plugins = ("fit_fixtures",)

# Number of clusters.
K = 5
# Options of a fit that takes so long that it must be interrupted.
ENDLESS = ["-k", "50", "--quality", "best", "--tol", "0", "--n-init", "100000"]


@pytest.mark.process
@pytest.mark.slow
def test_hangup_writes_the_best_partition(large_file: Path, tmp_path: Path) -> None:
    model, labels, checkpoint = tmp_path / "m", tmp_path / "l.npy", tmp_path / "c"
    process = start("fit", large_file, *ENDLESS, "-o", model, "--labels", labels, "-v", "--json",
                    "--checkpoint", checkpoint)  # fmt: skip
    assert process.stderr is not None
    read_until(process.stderr.fileno(), b"sweep 3")
    process.send_signal(signal.SIGHUP)
    out, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    last = error.decode().splitlines()[-1]
    assert last.startswith("boostkmeans: interrupted: the best partition so far was written to")
    assert str(labels) in last
    assert "--resume" in last
    result = json.loads(out)
    assert (result["interrupted"], result["stop_reason"]) == (True, "interrupted")
    assert len(np.load(labels)) == 20_000
    assert load_model(model).inertia_ == result["inertia"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["c", "l.npy", "m"]


@pytest.mark.process
@pytest.mark.slow
def test_bar_and_interrupt_on_a_terminal(large_file: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150"}
    process = start("fit", large_file, *ENDLESS, "--labels", tmp_path / "l.txt", stdin=theirs,
                    stderr=theirs, env=environment, start_new_session=True)  # fmt: skip
    os.close(theirs)
    try:
        seen = read_until(ours, b"rows/s")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        with suppress(OSError):  # the other side is closed
            while piece := os.read(ours, 1 << 16):
                seen += piece
    finally:
        os.close(ours)
    assert process.returncode == 130
    assert b"distortion" in seen
    assert b"moves" in seen
    assert b"interrupted: the best" in seen
    assert b"\x1b[?25h" in seen, "the cursor is visible again"
    assert b"\x1b" not in out
    assert len((tmp_path / "l.txt").read_text().splitlines()) == 20_000


def test_interrupt_without_output_files(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = BoostKMeans.fit

    def interrupted(model: BoostKMeans, *arguments: Any, **more: Any) -> None:
        whole(model, *arguments, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(BoostKMeans, "fit", interrupted)
    result = run("fit", small_file, "-k", str(K))
    assert result.exit_code == 130
    first, last = result.stderr.splitlines()
    assert "nothing will be saved" in first
    assert last == "boostkmeans: interrupted: no output file was given; use -o or --labels"


@pytest.mark.process
@pytest.mark.slow
def test_second_interrupt_quits(large_file: Path, tmp_path: Path) -> None:
    process = start("fit", large_file, *ENDLESS, "--labels", tmp_path / "l.npy", "-v")
    assert process.stderr is not None
    read_until(process.stderr.fileno(), b"sweep 2")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"Traceback" not in error
    assert {one.name for one in tmp_path.iterdir()} <= {"l.npy"}


@pytest.mark.process
@pytest.mark.slow
def test_interrupt_before_the_first_partition(tmp_path: Path) -> None:
    pipe = tmp_path / "x.npy"
    os.mkfifo(pipe)
    process = start("fit", pipe, "-k", "3", "--labels", tmp_path / "l.npy")
    with pipe.open("wb"):  # opening waits until the command reads
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, b"")
    assert b"interrupted" in error
    assert b"Traceback" not in error
    assert [one.name for one in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.process
@pytest.mark.slow
def test_closed_pipe_does_not_affect_files(small_file: Path, tmp_path: Path) -> None:
    process = start("fit", small_file, "-k", str(K), "--labels", "-", "-o", tmp_path / "m")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error) == (0, b"")
    assert (tmp_path / "m").exists(), "the file is complete"


@pytest.mark.process
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.slow
def test_full_disk(small_file: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start("fit", small_file, "-k", str(K), stdout=full)
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert error.endswith(b"\nboostkmeans: standard output: No space left on device\n")
    assert b"Traceback" not in error
    assert b"Exception ignored" not in error


@pytest.mark.process
@pytest.mark.slow
def test_file_that_becomes_too_large(large_file: Path, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999))

    options = ["-k", "3", "--labels", tmp_path / "l.npy", "--max-iter", "1"]
    process = start("fit", large_file, *options, preexec_fn=limit)
    out, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert b"distortion" in out
    assert b"l.npy: File too large" in error
    assert b"Traceback" not in error
    assert list(tmp_path.iterdir()) == [], "neither an incomplete nor a temporary file"
