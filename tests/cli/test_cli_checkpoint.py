"""`boostkmeans fit --checkpoint`: files that are checked, used and removed."""

import time
from pathlib import Path

import numpy as np
import pytest

from boostkmeans import BoostKMeans
from command import fail, run, start, succeed

pytest_plugins = ("fit_fixtures",)

# Number of clusters.
K = 5


def test_resume_and_force(small_file: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "fit.ckpt"
    options = ["fit", small_file, "-k", str(K), "--checkpoint", checkpoint]
    BoostKMeans(K, checkpoint=checkpoint, random_state=1).fit(np.load(small_file))
    message = fail(2, *options)
    assert "--resume" in message
    assert "--force" in message
    assert "another fit" in fail(2, *options, "--resume"), "the seed differs"
    succeed(*options, "--force", "-o", tmp_path / "model.st")
    assert not checkpoint.exists(), "removed after the fit"
    result = run(*options, "--resume")
    assert result.exit_code == 0
    assert "starts from the beginning" in result.stderr
    assert not checkpoint.exists()


def test_other_files_are_never_replaced(small_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "thesis.txt"
    other.write_text("precious")
    for more in (["--force"], [], ["--resume"]):
        message = fail(2, "fit", small_file, "-k", str(K), "--checkpoint", other, *more)
        assert "is not a checkpoint" in message
        assert "--resume" not in message
        assert other.read_text() == "precious"
    for name in ("-", tmp_path):
        assert "must be a file" in fail(2, "fit", small_file, "-k", str(K), "--checkpoint", name)


def test_checkpoint_survives_errors_before_the_fit(small_file: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "c"
    BoostKMeans(K, checkpoint=checkpoint, random_state=1).fit(np.load(small_file))
    options = ["-k", str(K), "--checkpoint", checkpoint, "--force"]
    for name in ("none.npy", checkpoint.name):
        assert fail(2, "fit", tmp_path / name, *options)
    (tmp_path / "cut.npy").write_bytes(small_file.read_bytes()[:-7])
    assert fail(3, "fit", tmp_path / "cut.npy", *options)
    assert checkpoint.exists()


def test_checkpoint_stays_until_results_are_written(
    small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BoostKMeans, "save", fails)
    options = ["-k", str(K), "--checkpoint", tmp_path / "c", "-o", tmp_path / "m"]
    result = run("fit", small_file, *options, "--labels", tmp_path / "l.npy")
    assert result.exit_code == 1
    assert f"{tmp_path}/m: No space" in result.stderr, "the message names the file"
    assert "--resume" in result.stderr
    assert "distortion" in result.stdout
    assert str(tmp_path / "m") not in result.stdout
    assert len(np.load(tmp_path / "l.npy")) == 600, "the other results are written"
    assert (tmp_path / "c").exists()
    monkeypatch.undo()
    succeed("fit", small_file, *options, "--resume")
    assert not (tmp_path / "c").exists()


@pytest.mark.slow
def test_resumes_after_a_time_limit(large_file: Path, tmp_path: Path) -> None:
    outputs = ["-o", tmp_path / "m", "--labels", tmp_path / "l.npy", "--centers", tmp_path / "c.npy"]
    command = ["fit", large_file, "-k", "100", "--tol", "0", "--checkpoint", tmp_path / "c", *outputs]
    result = run(*command, "--max-time", "0.001")  # No machine ends the fit in this time.
    assert "run the same command with --resume to continue" in result.stderr
    assert "exists" in fail(2, *command, "--max-time", "0.001")
    assert run(*command, "--max-time", "0.2", "--resume").exit_code == 0
    if (tmp_path / "c").exists():
        succeed(*command, "--resume")
    succeed("fit", large_file, "-k", "100", "--tol", "0", "--labels", tmp_path / "whole.npy")
    assert np.array_equal(np.load(tmp_path / "l.npy"), np.load(tmp_path / "whole.npy"))
    assert "Use --force" in fail(2, *command, "--resume"), "the checkpoint was removed"


@pytest.mark.process
@pytest.mark.slow
def test_resumes_after_being_killed(large_file: Path, tmp_path: Path) -> None:
    options = ["-k", "200", "--quality", "fast", "--tol", "0", "--n-init", "2", "--labels"]
    checkpoint = tmp_path / "c"
    command = ["fit", large_file, *options, tmp_path / "l.npy", "--checkpoint", checkpoint]
    kills = 0
    for pause in (0.0, 0.2):
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
    assert kills, "the process was killed at least once"
    if not (tmp_path / "l.npy").exists():
        succeed(*command, "--resume")
    succeed("fit", large_file, *options, tmp_path / "whole.npy")
    assert np.array_equal(np.load(tmp_path / "l.npy"), np.load(tmp_path / "whole.npy"))
    assert not checkpoint.exists()


def test_failing_fit_restores_the_old_checkpoint(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((50, 3)))
    state = tmp_path / "state"
    BoostKMeans(3, random_state=0, checkpoint=state).fit(np.load(tmp_path / "x.npy"))
    before = state.read_bytes()
    fail(2, "fit", tmp_path / "x.npy", "-k", "51", "--checkpoint", state, "--force")
    assert state.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "x.npy"]
    succeed("fit", tmp_path / "x.npy", "-k", "4", "--checkpoint", state, "--force", "--json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npy"]
