"""Checkpoints: the state of a fit in a file, from which another process goes on."""

import hashlib
import logging
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage.state import SavedState, State, join_arrays, plain_value, split_arrays
from boostkmeans._storage.tensors import read_tensors, write_tensors

logger = logging.getLogger("boostkmeans")

FORMAT, VERSION = "boostkmeans-checkpoint", 1
# A state is not written while that would take more than this share of the time; but once in a minute.
MOST_SHARE, LONGEST_PAUSE = 1 / 20, 60.0
# Parameters that do not change what a fit finds, but for how long and where it may look for it.
WITHOUT_INFLUENCE = ("n_threads", "verbose", "callback", "checkpoint", "max_time")
# The stages of a run: a tree grows; a sample has a partition, if rows are in a file; all rows have one.
STAGES = GROWTH, SAMPLE, SWEEPS = "growth", "sample", "sweeps"
# Rows that tell one set of data from another, beside its shape and how it spreads.
ROWS_TO_COMPARE = 256
# What RandomState has as a rule, and how many numbers its state has.
GENERATOR, KEY_LENGTH = "MT19937", 624


class Keeper:
    """Keeps the state of a fit, stage by stage, in a file if there is a path; gives back what is there.

    A fit has runs, of which the best is kept, and a run has stages, each with a state of its own. The
    random numbers of a run are kept as they were at its beginning: stages before the one that a state is
    of are made anew, as far as they are quick, and come out the same.
    """

    def __init__(self, path: str | os.PathLike[str] | None, identity: State) -> None:
        """`identity` is what the fit depends on: a file of another one is refused."""
        self._path = None if path is None else Path(path)
        self._identity = identity
        self._stage: State = {}
        self._saved: SavedState | None = None
        self._next = 0.0
        self._failed = False
        self.n_done = 0
        """Runs that ended."""
        self.best: SavedState | None = None
        """The state of the best of them."""
        if self._path is not None and self._path.exists():
            self._read(self._path)

    @classmethod
    def of(cls, estimator: Any, rows: Rows, row_weights: RowWeights) -> "Keeper":
        """For a fit of an estimator, if that has a checkpoint."""
        path = estimator.checkpoint
        return cls(path, {} if path is None else identity_of(estimator, rows, row_weights))

    def begin_run(self, rng: np.random.RandomState, best: State | None) -> None:
        """Another run begins, or goes on. Before it, `best` was the best one."""
        if self._saved is not None:
            set_random_state(rng, self._saved.child("rng_of_run"))
        if self._path is not None:
            self._stage = {
                "identity": self._identity,
                "n_done": self.n_done,
                "best": best,
                "rng_of_run": random_state(rng),
            }

    def saved(self, stage: str) -> SavedState | None:
        """What was kept of a stage, if it is the one at which the fit was stopped; once."""
        if self._saved is None or self._saved.values.get("stage") != stage:
            return None
        state, self._saved = self._saved.child(stage), None
        logger.info("going on from %s", self._path)
        return state

    def keep(self, stage: str, state: Callable[[], State], *, now: bool = False) -> None:
        """Writes the state, unless the last one was written a moment ago and it need not be now."""
        if self._path is None or (time.perf_counter() < self._next and not now):
            return
        self._write({**self._stage, "stage": stage, stage: state()})

    def finish(self, best: State) -> None:
        """All runs are made."""
        if self._path is not None:
            self._write({"identity": self._identity, "n_done": self.n_done, "best": best})

    def _write(self, state: State) -> None:
        assert self._path is not None
        began = time.perf_counter()
        header, arrays = split_arrays(state)
        try:
            write_tensors(self._path, FORMAT, VERSION, header, arrays)
        except OSError as error:  # which is no reason to lose the fit
            self._next = time.perf_counter() + LONGEST_PAUSE
            if not self._failed:
                self._failed = True
                warnings.warn(
                    f"The checkpoint could not be written, and the fit goes on without it: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return
        self._failed = False
        ended = time.perf_counter()
        self._next = ended + min((ended - began) / MOST_SHARE, LONGEST_PAUSE)
        logger.debug("checkpoint: %.3f s", ended - began)

    def _read(self, path: Path) -> None:
        name = escape_untrusted(str(path))
        _, header, arrays = read_tensors(path, FORMAT, VERSION)
        try:
            saved = SavedState(name, "state", join_arrays(header, arrays))
        except ValueError as error:
            raise DataFormatError(f"{name}: the checkpoint is damaged: {error}. Remove it.") from None
        self._check_identity(name, saved.child("identity"))
        self.n_done = saved.integer("n_done")
        self.best = saved.optional_child("best")
        if saved.values.get("stage") is not None:
            saved.string("stage", STAGES)
            self._saved = saved

    def _check_identity(self, name: str, found: SavedState) -> None:
        for what, own in self._identity.items():
            other = found.values.get(what)
            if other != own:
                raise ValueError(
                    f"{name} is the checkpoint of another fit: its {what} is {_short(other)}, that of "
                    f"this one {_short(own)}. Remove it to begin anew, or choose another file."
                )


NOT_KEPT = Keeper(None, {})
"""Of a fit without checkpoints."""


def identity_of(estimator: Any, rows: Rows, row_weights: RowWeights) -> State:
    """What the result of a fit depends on, as plain values."""
    own: State = {"estimator": type(estimator).__name__, "shape": [rows.n_rows, rows.n_features]}
    for name, value in estimator.get_params(deep=False).items():
        if name not in WITHOUT_INFLUENCE:
            own[name] = _plain_parameter(value)
    some = np.unique(np.linspace(0, rows.n_rows - 1, ROWS_TO_COMPARE).astype(np.int64))
    own["data"] = _digest(*rows.fingerprint(some), rows.frame.shift, np.int64(rows.frame.exponent))
    own["parts"] = rows.n_parts
    values = row_weights.values
    own["sample_weight"] = None if values is None else _digest(values)
    own["unit of sample_weight"] = row_weights.unit
    return own


def random_state(rng: np.random.RandomState) -> State:
    """Where it is in its sequence."""
    name, key, position, has_gauss, gauss = rng.get_state(legacy=True)
    if name != GENERATOR:
        raise ValueError(
            f"checkpoint needs a random_state of {GENERATOR}, as RandomState(seed) makes it. Got {name}."
        )
    return {"key": key, "position": position, "has_gauss": has_gauss, "gauss": gauss}


def set_random_state(rng: np.random.RandomState, saved: SavedState) -> None:
    """Goes on from what `random_state` gave. NumPy itself does not check it."""
    rng.set_state(
        (
            GENERATOR,
            saved.array("key", np.uint32, (KEY_LENGTH,)),
            saved.integer("position", 0, KEY_LENGTH),
            saved.integer("has_gauss", 0, 1),
            saved.number("gauss"),
        )
    )


def _plain_parameter(value: Any) -> Any:
    if callable(value):
        return f"function {getattr(value, '__qualname__', type(value).__name__)}"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.random.RandomState):
        return "a RandomState"  # its numbers are those of the file
    if value is None or isinstance(value, bool | int | float | str):
        return plain_value(value)
    if isinstance(value, tuple):
        return [_plain_parameter(one) for one in value]
    return _digest(np.asarray(value))


def _digest(*arrays: Any) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        array = np.ascontiguousarray(array)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _short(value: Any) -> str:
    text = escape_untrusted(repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."
