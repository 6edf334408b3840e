"""No flipped bit of a model or a checkpoint goes unnoticed."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from boostkmeans import BoostKMeans, DataFormatError, describe_file, load_model
from boostkmeans._engine.checkpoints import checkpoint
from boostkmeans._storage.tensors import read_tensors
from conftest import blobs

X = blobs(12, 2, 2, spread=1.0)[0]


def unnoticed_flips(path: Path, read: Callable[[Path], object]) -> list[str]:
    """Flip one bit of each byte. Return the flips after which the file is still read.

    `make hostile` flips all bits, in files of every kind.
    """
    found = []
    descriptor = os.open(path, os.O_RDWR)
    try:
        for at in range(path.stat().st_size):
            byte = os.pread(descriptor, 1, at)[0]
            bit = at % 8
            os.pwrite(descriptor, bytes([byte ^ 1 << bit]), at)
            try:
                read(path)
                found.append(f"byte {at}, bit {bit}")
            except DataFormatError:
                pass
            os.pwrite(descriptor, bytes([byte]), at)
    finally:
        os.close(descriptor)
    read(path)
    return found


def header_end(path: Path) -> int:
    """Return the position of the first tensor."""
    return 8 + int.from_bytes(path.read_bytes()[:8], "little")


def test_every_flip_in_a_model_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model"
    BoostKMeans(2, random_state=0).fit(X).save(path)
    assert unnoticed_flips(path, load_model) == []


def test_every_flip_in_a_checkpoint_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "state"
    BoostKMeans(2, random_state=0, checkpoint=path, max_iter=1, annealing=0).fit(X)

    def read(path: Path) -> object:
        return read_tensors(path, checkpoint.FORMAT, checkpoint.VERSION)

    assert unnoticed_flips(path, read) == []


def test_description_of_a_file_checks_its_header(tmp_path: Path) -> None:
    path = tmp_path / "model"
    BoostKMeans(2, random_state=0).fit(X).save(path)
    content = path.read_bytes()
    assert content.count(b"n_rows") == 1
    path.write_bytes(content.replace(b'n_rows\\":12', b'n_rows\\":13'))
    with pytest.raises(DataFormatError, match="header does not match its checksum"):
        describe_file(path)


def test_changed_padding_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model"
    model = BoostKMeans(2, random_state=0, init=X[:2]).fit(X)
    for tol in (0.1, 0.01, 0.001, 0.0001):  # headers of several lengths: one of them is padded
        model.set_params(tol=tol).save(path)
        content = bytearray(path.read_bytes())
        if content[header_end(path) - 1 :][:1] == b" ":
            break
    content[header_end(path) - 1] = ord("\n")  # white space, which JSON ignores
    path.write_bytes(content)
    with pytest.raises(DataFormatError, match="header does not match its checksum"):
        load_model(path)


def test_checkpoint_with_changed_plan_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    rows = np.random.default_rng(0).normal(size=(60, 2))
    BoostKMeans(3, random_state=0, checkpoint=path, max_iter=2).fit(rows)
    content = path.read_bytes()
    changed = content.replace(b'n_sweeps\\":', b'n_sweeps\\": ', 1)
    assert changed != content
    length = (int.from_bytes(content[:8], "little") + 1).to_bytes(8, "little")
    path.write_bytes(length + changed[8:])
    with pytest.raises(DataFormatError, match="header does not match its checksum"):
        BoostKMeans(3, random_state=0, checkpoint=path, max_iter=2).fit(rows)
