"""Signals in every phase of a command: no incomplete file, no temporary file, exit code 130."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostkmeans import BoostKMeans, load_model
from boostkmeans._engine.checkpoints.checkpoint import Checkpoint
from boostkmeans._engine.schedule import Schedule
from boostkmeans._storage import atomic_file
from boostkmeans.cli.commands.fit import command as fit_command
from command import run

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signal_at(place: Any, name: str, number: int, call: int = 1) -> Iterator[list[int]]:
    """Send a signal to this process when a function is called for the n-th time. Count the calls."""
    function, calls = getattr(place, name), [0]

    def called(*arguments: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == call:
            os.kill(os.getpid(), number)
        return function(*arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, name, called)
        yield calls


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Write some rows to a file."""
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(300, 4)))
    return path


# Functions of the phases of a fit, and the call in which the signal arrives.
PHASES: dict[str, tuple[Any, str, int]] = {
    "opening": (fit_command, "open_input", 1),
    "fitting": (Schedule, "_check_stop", 1),
    "writing the first checkpoint": (Checkpoint, "_write", 1),
    "writing the last checkpoint": (Checkpoint, "finish", 1),
    "flushing the first file": (os, "fsync", 1),
    "flushing a later file": (os, "fsync", 4),
    "naming the first file": (atomic_file, "_move_into_place", 1),
    "naming a later file": (atomic_file, "_move_into_place", 3),
    "saving the model": (BoostKMeans, "save", 1),
}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_signal_during_a_fit(phase: str, number: signal.Signals, rows: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "m").write_bytes(b"old model")
    (folder / "l.npy").write_bytes(b"old labels")
    options = ["-k", "4", "-o", folder / "m", "--labels", folder / "l.npy", "--force",
               "--centers", folder / "c.npy", "--checkpoint", folder / "state"]  # fmt: skip
    place, name, call = PHASES[phase]
    if not hasattr(place, name):
        pytest.fail(f"{place} has no {name}")
    with signal_at(place, name, number, call) as calls:
        result = run("fit", rows, *options)
    assert calls[0] >= call, "the command does not reach this phase"
    assert result.exit_code == 130, result.stderr
    assert "Traceback" not in result.stderr
    assert {one.name for one in folder.iterdir()} <= {"m", "l.npy", "c.npy", "state"}
    if (folder / "m").read_bytes() != b"old model":
        assert load_model(folder / "m").n_clusters == 4
    if (folder / "l.npy").read_bytes() != b"old labels":
        assert np.load(folder / "l.npy").shape == (300,)
    if (folder / "c.npy").exists():
        assert np.load(folder / "c.npy").shape == (4, 4)


OTHERS: dict[str, Callable[[Path, Path], list[object]]] = {
    "predict": lambda rows, folder: ["predict", folder / "model", rows, "--labels", folder / "out.npy"],
    "convert": lambda rows, folder: ["convert", rows, folder / "out.fvecs"],
    "pq train": lambda rows, folder: ["pq", "train", rows, folder / "out", "--subspaces", "2",
                                      "--centroids", "4"],
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_signal_while_another_command_writes(name: str, rows: Path, tmp_path: Path) -> None:
    BoostKMeans(3, random_state=0).fit(np.load(rows)).save(tmp_path / "model")
    before = {one.name for one in tmp_path.iterdir()}
    with signal_at(os, "fsync", signal.SIGTERM) as calls:
        result = run(*OTHERS[name](rows, tmp_path))
    assert calls[0] >= 1
    assert (result.exit_code, result.stdout) == (130, "")
    assert {one.name for one in tmp_path.iterdir()} == before


def test_signal_during_a_save_in_python(rows: Path, tmp_path: Path) -> None:
    model = BoostKMeans(3, random_state=0).fit(np.load(rows))
    path = tmp_path / "model"
    model.save(path)
    old = path.read_bytes()
    for place, name in ((os, "fsync"), (atomic_file, "_move_into_place"), (os, "open")):
        model.n_iter_ += 1
        with signal_at(place, name, signal.SIGINT), pytest.raises(KeyboardInterrupt):
            model.save(path)
        assert path.read_bytes() == old
        assert {one.name for one in tmp_path.iterdir()} == {"model", "x.npy"}
