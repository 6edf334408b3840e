"""Checkpoint: a file with the state of a fit, from which another process can continue."""

import hashlib
import logging
import os
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostkmeans._data.rows import RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import DataFormatError, shorten
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage.state import SavedState, State, join_arrays, plain_value, split_arrays
from boostkmeans._storage.tensors import peek, read_tensors, write_tensors

logger = logging.getLogger("boostkmeans")

FORMAT = "boostkmeans-checkpoint"
VERSION = 1
# Maximum share of the run time for writing checkpoints.
MAX_TIME_SHARE = 1 / 20
# Maximum number of seconds between two checkpoints, which takes precedence over MAX_TIME_SHARE.
MAX_PAUSE = 60.0
# Parameters that do not change the result of a completed fit.
WITHOUT_INFLUENCE = ("n_threads", "verbose", "callback", "checkpoint", "max_time")
# The stages of a run. The fit of a sample prefixes its stages with "sample/", once per level.
TREE = "tree"
SWEEPS = "sweeps"
NESTED = "sample/"
# Prefix of the stages of a fit in the leading principal components.
PROJECTED = "projection/"
# Stage names of version 0.7. They do not identify nested runs, which are identified by their number of
# rows.
OLD_TREE = "growth"
OLD_SAMPLE = "sample"
# Parameter that version 0.8 did not have. Its fits used all dimensions.
DIMENSIONS = "dimensions"
# Parameters that version 0.9 did not have, with the value of its fits.
SINCE_0_10 = {"sample": "auto", "max_passes": "auto"}
# Entry of the identity with a checksum of all values, which files of version 0.13 and earlier lack.
VALUES = "checksum of X"
# Number of rows that identify a data set, in addition to its shape, its frame and the checksum of its
# values. They alone identified it until version 0.13.
ROWS_TO_COMPARE = 256
# The generator of `RandomState`, and the length of its state.
GENERATOR = "MT19937"
KEY_LENGTH = 624
# Maximum number of characters of a value in an error message.
MAX_SHOWN = 60


class Checkpoint:
    """Checkpoint file of a fit, which stores the state after each step.

    A fit has `n_init` runs, and a run has stages, each with its own state. The file stores the state of
    the random generator at the start of the run. A resumed run repeats the stages before the stored one,
    with the same result.
    """

    def __init__(self, path: str | os.PathLike[str], identity: State) -> None:
        """Read the file if it exists. Raise ValueError if it belongs to another fit.

        `identity` describes everything on which the result depends: see `identity_of`.
        """
        self._path = Path(path)
        self._identity = identity
        self._run: State = {}
        self._saved: SavedState | None = None
        self._next_write = 0.0
        self._failed = False
        self.n_done = 0
        """Number of completed runs."""
        self.best: SavedState | None = None
        """State of the best completed run."""
        self.uses_all_dimensions = False
        """True if version 0.8 or earlier began the fit, which then continues in all dimensions."""
        if self._path.exists():
            self._read(self._path)

    @property
    def name(self) -> str:
        """The name of the file, safe to print."""
        return escape_untrusted(str(self._path))

    def begin_run(self, rng: np.random.RandomState, best: State | None) -> None:
        """Begin or resume a run. `best` is the state of the best completed run."""
        if self._saved is not None:
            set_random_state(rng, self._saved.child("rng_of_run"))
        self._run = {
            "identity": self._identity,
            "n_done": self.n_done,
            "best": best,
            "rng_of_run": random_state(rng),
        }

    def end_run(self) -> None:
        """End a run, and discard a stored state that the run did not reach."""
        self.n_done += 1
        self._saved = None

    def take(self, stage: str, n_rows: int) -> SavedState | None:
        """Return the stored state if it belongs to this stage, and remove it from memory.

        `n_rows` is the number of rows of the stage. It identifies stages of files of version 0.7.
        """
        if self._saved is None:
            return None
        stored = self._saved.string("stage")
        if stored != stage and not self._is_old_stage(stored, stage, n_rows):
            return None
        state, self._saved = self._saved.child(stored), None
        logger.info("resuming from %s", self._path)
        return state

    def _is_old_stage(self, stored: str, stage: str, n_rows: int) -> bool:
        """Return True if a file of version 0.7 stored this stage under its old name."""
        assert self._saved is not None
        if stored == OLD_TREE and stage.endswith(TREE):
            array = self._saved.child(stored).values.get("members")
        elif stored == OLD_SAMPLE and stage.startswith(NESTED) and stage.endswith(SWEEPS):
            partition = self._saved.child(stored).child("fit").child("partition")
            array = partition.values.get("labels")
        else:
            return False
        return isinstance(array, np.ndarray) and len(array) == n_rows

    def write(self, stage: str, state: Callable[[], State], *, now: bool = False) -> None:
        """Write the state of a stage, unless the last write was recent and `now` is False.

        Nothing is written while a resumed run repeats earlier stages, because the stored state is more
        advanced.
        """
        if self._saved is None and (now or time.perf_counter() >= self._next_write):
            self._write({**self._run, "stage": stage, stage: state()})

    def finish(self, best: State) -> None:
        """Write the result after the last run."""
        self._write({"identity": self._identity, "n_done": self.n_done, "best": best})

    def _write(self, state: State) -> None:
        began = time.perf_counter()
        header, arrays = split_arrays(state)
        try:
            write_tensors(self._path, FORMAT, VERSION, header, arrays)
        except OSError as error:  # The fit continues without its checkpoint.
            self._next_write = time.perf_counter() + MAX_PAUSE
            if not self._failed:
                self._failed = True
                warnings.warn(
                    f"The checkpoint could not be written. The fit continues without it: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return
        self._failed = False
        ended = time.perf_counter()
        self._next_write = ended + min((ended - began) / MAX_TIME_SHARE, MAX_PAUSE)
        logger.debug("checkpoint written in %.3f s", ended - began)

    def _read(self, path: Path) -> None:
        name = self.name
        _, header, arrays = read_tensors(path, FORMAT, VERSION)
        try:
            saved = SavedState(name, "state", join_arrays(header, arrays))
        except ValueError as error:
            raise DataFormatError(
                f"The checkpoint is damaged: {error}.",
                file=name,
                remedy="Remove the file to start over.",
            ) from None
        self._check_identity(name, saved.child("identity"))
        self.n_done = saved.integer("n_done")
        self.best = saved.optional_child("best")
        if saved.values.get("stage") is not None:
            stage = saved.string("stage")
            if stage not in (OLD_TREE, OLD_SAMPLE) and not stage.endswith((TREE, SWEEPS)):
                saved.fail("stage", f"a stage such as {SWEEPS!r}", stage)
            self._saved = saved

    def _check_identity(self, name: str, found: SavedState) -> None:
        if DIMENSIONS not in found.values and self._identity.get(DIMENSIONS) in ("auto", None):
            self.uses_all_dimensions = True
            self._identity = {what: own for what, own in self._identity.items() if what != DIMENSIONS}
        for what, own in self._identity.items():
            other = found.values.get(what, SINCE_0_10.get(what))
            if other != own and not (what == VALUES and other is None):
                raise ValueError(
                    f"{name} is the checkpoint of another fit: its {what} is {_shown(other)}, but this "
                    f"fit has {_shown(own)}. Remove the file to start over, or choose another file."
                )


def stored_identity(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Return the identity of the fit in a checkpoint without its arrays; empty without a file."""
    found = peek(path)
    identity = None if found is None else found.header.get("identity")
    return identity if isinstance(identity, dict) else {}


def identity_of(
    estimator: str,
    parameters: Mapping[str, Any],
    rows: RowSet,
    row_weights: RowWeights,
    n_threads: int,
) -> State:
    """Return everything on which the result of a fit depends, as plain values.

    A checksum represents the values of the rows. Computing it takes a pass over all rows.
    """
    identity: State = {"estimator": estimator, "shape": [rows.n_rows, rows.n_features]}
    for name, value in parameters.items():
        if name not in WITHOUT_INFLUENCE:
            identity[name] = _plain_parameter(value)
    some = np.unique(np.linspace(0, rows.n_rows - 1, ROWS_TO_COMPARE).astype(np.int64))
    frame = rows.frame
    identity["data"] = _digest(*rows.fingerprint(some), frame.shift, np.int64(frame.exponent))
    identity[VALUES] = f"{rows.checksum(n_threads):016x}"
    identity["parts"] = rows.n_blocks
    values = row_weights.values
    identity["sample_weight"] = None if values is None else _digest(values)
    identity["unit of sample_weight"] = row_weights.unit
    return identity


def random_state(rng: np.random.RandomState) -> State:
    """Return the state of a generator as plain values."""
    name, key, position, has_gauss, gauss = rng.get_state(legacy=True)
    if name != GENERATOR:
        raise ValueError(
            f"checkpoint needs a random_state with the generator {GENERATOR}, such as RandomState(seed)."
            f" Got {name}."
        )
    return {"key": key, "position": position, "has_gauss": has_gauss, "gauss": gauss}


def set_random_state(rng: np.random.RandomState, saved: SavedState) -> None:
    """Set a generator to a stored state, which NumPy itself does not check."""
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
    """Return a parameter as a plain value that identifies it."""
    if callable(value):
        return f"function {getattr(value, '__qualname__', type(value).__name__)}"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.random.RandomState):
        return "a RandomState"  # The file stores its state separately.
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


def _shown(value: Any) -> str:
    return shorten(escape_untrusted(repr(value)), MAX_SHOWN)
