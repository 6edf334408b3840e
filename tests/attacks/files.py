"""Attacks by files: flipped bits, checkpoints of other data, damaged files that are streamed."""

import os
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import h5py
import numpy as np

from boostkmeans import (
    BisectingBoostKMeans,
    BoostKMeans,
    DataFormatError,
    ProductQuantizer,
    baselines,
    load_model,
)
from boostkmeans._data import memory
from boostkmeans._engine.checkpoints import checkpoint
from boostkmeans._storage.tensors import read_tensors
from boostkmeans.io import open_vectors
from fuzz import mutated

ROWS = np.random.default_rng(0).normal(size=(40, 3))


@cache
def folder() -> Path:
    """Return a folder for the files of this process."""
    return Path(tempfile.mkdtemp(prefix="hostile-"))


@cache
def models() -> list[Path]:
    """Write models of several classes."""
    made: list[Any] = [
        BoostKMeans(4, random_state=0),
        BisectingBoostKMeans(4, refine=True, random_state=0),
        baselines.KMeans(4, init=ROWS[:4], random_state=0),
        ProductQuantizer(1, n_centroids=4, random_state=0),
    ]
    paths = [folder() / f"model-{number}" for number in range(len(made))]
    for model, path in zip(made, paths, strict=True):
        model.fit(ROWS).save(path)
    return paths


@cache
def checkpoints() -> list[Path]:
    """Write checkpoints of several stages: at the end, during sweeps, and during a tree."""
    paths = [folder() / f"checkpoint-{number}" for number in range(3)]
    BoostKMeans(4, random_state=0, checkpoint=paths[0]).fit(ROWS)
    BoostKMeans(4, random_state=0, checkpoint=paths[1], callback=lambda _: True).fit(ROWS)
    BisectingBoostKMeans(6, random_state=0, checkpoint=paths[2], max_time=1e-9).fit(ROWS)
    return [path for path in paths if path.exists()]


def n_bits(paths: list[Path]) -> int:
    """Return the number of bits of all files."""
    return sum(8 * path.stat().st_size for path in paths)


def _flip(paths: list[Path], number: int, read: Callable[[Path], object]) -> str:
    """Flip a bit of one of the files, read it, and flip it back."""
    bit = number
    for path in paths:
        size = 8 * path.stat().st_size
        if bit < size:
            break
        bit -= size
    descriptor = os.open(path, os.O_RDWR)
    try:
        byte = os.pread(descriptor, 1, bit // 8)
        os.pwrite(descriptor, bytes([byte[0] ^ 1 << bit % 8]), bit // 8)
        try:
            read(path)
        except DataFormatError:
            return ""
        finally:
            os.pwrite(descriptor, byte, bit // 8)
    finally:
        os.close(descriptor)
    return f"bit {bit} of {path.name} was not noticed"


def flip_model(number: int) -> str:
    """Flip one bit of a model."""
    return _flip(models(), number, load_model)


def flip_checkpoint(number: int) -> str:
    """Flip one bit of a checkpoint."""
    return _flip(
        checkpoints(), number, lambda path: read_tensors(path, checkpoint.FORMAT, checkpoint.VERSION)
    )


def resume_with_other_data(number: int) -> str:
    """Change one value of the rows slightly, and resume from a checkpoint."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(300, 4))
    path = folder() / "state"
    path.unlink(missing_ok=True)
    model = BoostKMeans(5, random_state=0, checkpoint=path).fit(X)
    place = tuple(rng.integers(X.shape))
    X[place] *= 1 + 10 ** rng.uniform(-14, -1)
    try:
        model.fit(X)
    except ValueError as error:
        return "" if "checkpoint of another fit" in str(error) else f"unclear message: {error}"
    return f"the checkpoint was accepted after a change of row {place[0]}"


@cache
def streamed_files() -> dict[str, bytes]:
    """Return a CSV file and an HDF5 file."""
    rows = np.random.default_rng(0).normal(size=(600, 4))
    np.savetxt(folder() / "a.csv", rows, "%.6g", ",")
    with h5py.File(folder() / "a.hdf5", "w") as file:
        file.create_dataset("train", data=rows, chunks=(100, 4), compression="gzip")
    return {name: (folder() / name).read_bytes() for name in ("a.csv", "a.hdf5")}


def fit_damaged_stream(number: int) -> str:
    """Damage a CSV or HDF5 file, and fit it in blocks."""
    rng = random.Random(number)
    name, content = list(streamed_files().items())[number % 2]
    path = folder() / f"damaged-{name}"
    path.unlink(missing_ok=True)
    path.write_bytes(mutated(content, rng))
    model = BoostKMeans(4, random_state=0, max_iter=2, dimensions=None)
    with mock.patch.object(memory, "PROCESS", 0), mock.patch.object(memory, "MIN_BLOCK_ROWS", 64):
        limit = 600 * memory.PER_STREAMED_ROW + 30_000
        try:
            with open_vectors(path, max_memory=limit) as vectors:
                if vectors.shape[0] >= 4:
                    model.fit(vectors)
        except (ValueError, MemoryError) as error:
            return "" if str(error).isprintable() else f"a message with control characters: {error!r}"
        except OSError as error:
            return f"{type(error).__name__}: {error}"
    finite = not hasattr(model, "inertia_") or np.isfinite(model.cluster_centers_).all()
    return "" if finite else "centres are not finite"
