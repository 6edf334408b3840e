"""Kill processes while they write files, and check the files that are left.

    python tests/crash.py --saves 200 --fits 50

If a process is killed while it overwrites a model file, the old or the new model must load. A fit that
is killed and resumed several times must end with the labels of an uninterrupted fit.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from boostkmeans import BoostKMeans

# A process is killed up to this many seconds after its first save, which is the time of several saves.
MAX_SECONDS = 0.03


def two_models() -> list[BoostKMeans]:
    """Return two models of different sizes: a mixture of their files could not be loaded."""
    X = np.random.default_rng(0).normal(size=(20_000, 16))
    return [BoostKMeans(k, random_state=0, max_iter=2, quality="fast").fit(X[:n])
            for k, n in ((40, 20_000), (60, 15_000))]  # fmt: skip


def kill_saves(n_kills: int, folder: Path, seed: int = 0) -> Counter[str]:
    """Kill processes that save models. Return how often each model was found afterwards.

    "interrupted" counts the kills that left a temporary file.
    """
    models = two_models()
    path = folder / "model.safetensors"
    models[0].save(path)
    moments = random.Random(seed)
    found: Counter[str] = Counter()
    for number in range(n_kills):
        _save_until_killed(models, path, moments.uniform(0, MAX_SECONDS), first=number)
        found[_which(models, path)] += 1
        for part in folder.glob(".*.part"):
            found["interrupted"] += 1
            part.unlink()
        assert sorted(folder.iterdir()) == [path]
    return found


def _save_until_killed(models: list[BoostKMeans], path: Path, seconds: float, first: int) -> None:
    """Start a process that saves both models in turn to the same file, and kill it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            number = first
            while True:
                models[number % 2].save(path)
                number += 1
                os.write(writing, b".")
        finally:  # after an error, the process ends before it is killed, and its exit code tells
            os._exit(1)
    os.close(writing)
    assert os.read(reading, 1), "the process could not save a model"
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.close(reading)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def _which(models: list[BoostKMeans], path: Path) -> str:
    """Return the name of the model in the file, and check that it is complete."""
    loaded = BoostKMeans.load(path)
    for name, model in zip(("first", "second"), models, strict=True):
        if model.n_clusters == loaded.n_clusters:
            assert np.array_equal(model.cluster_centers_, loaded.cluster_centers_)
            assert np.array_equal(model.labels_, loaded.labels_)
            assert model.history_ == loaded.history_
            return name
    raise AssertionError("the file holds a model that was not saved")


def fit(state: Path | None, labels: Path) -> None:
    """Fit with a checkpoint, if any, and write the labels."""
    X = np.random.default_rng(0).normal(size=(20_000, 16)).astype(np.float32)
    model = BoostKMeans(200, random_state=0, quality="best", checkpoint=state).fit(X)
    np.save(labels, model.labels_)


def start_fit(state: Path, labels: Path) -> int:
    """Start a fit in a process of its own, and return its number."""
    child = os.fork()
    if child == 0:
        try:
            fit(state, labels)
            os._exit(0)
        finally:
            os._exit(1)
    return child


def ends_within(child: int, seconds: float) -> bool:
    """Wait for a process. Return False, and kill it, if it takes longer."""
    deadline = time.perf_counter() + seconds
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return True
        if time.perf_counter() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.001)


def kill_fits(n_kills: int, folder: Path, seed: int = 0) -> int:
    """Kill `n_kills` fits at random moments and resume them. Return the number of completed fits."""
    expected, found, state = folder / "expected.npy", folder / "found.npy", folder / "state"
    began = time.perf_counter()
    fit(None, expected)
    longest = time.perf_counter() - began
    moments, kills, ends, states = random.Random(seed), 0, 0, set()
    while True:
        # After the last kill, the fit runs to its end.
        limit = moments.uniform(0, longest) if kills < n_kills else float("inf")
        if not ends_within(start_fit(state, found), limit):
            kills += 1
            if state.exists():
                states.add(state.read_bytes()[-1000:])
            continue
        assert np.array_equal(np.load(expected), np.load(found))
        ends += 1
        state.unlink()
        if kills == n_kills:
            break
    assert n_kills < 20 or len(states) > 1, "no fit wrote a second checkpoint"
    for left in folder.glob(".*.part"):
        left.unlink()
    assert {path.name for path in folder.iterdir()} <= {"expected.npy", "found.npy"}
    return ends


def main(arguments: list[str]) -> None:
    """Print the results. An assertion fails if a file is not complete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--saves", type=int, default=200, help="number of kills during saves")
    parser.add_argument("--fits", type=int, default=50, help="number of kills of fits with checkpoints")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        print(f"{options.saves} kills during saves:", dict(kill_saves(options.saves, Path(folder))))
    if options.fits == 0:
        return
    with tempfile.TemporaryDirectory() as folder:
        ends = kill_fits(options.fits, Path(folder))
        print(f"{options.fits} kills during fits: {ends} completed, with the expected labels")


if __name__ == "__main__":
    main(sys.argv[1:])
