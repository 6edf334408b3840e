"""The file of --checkpoint: when it may be there, and when it goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from boostkmeans._engine.checkpoint import FORMAT
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._storage.tensors import peek
from boostkmeans.cli.errors import say
from boostkmeans.cli.output import STDOUT


@dataclass(frozen=True)
class CheckpointFile:
    """A checkpoint as the user wants it; without a path, there is none."""

    path: str | None
    resume: bool
    force: bool

    def check(self) -> None:
        """Raises an error if the options contradict each other, or what is there."""
        if self.path is None:
            if self.resume:
                raise ValueError("--resume goes on from a checkpoint: name its file with --checkpoint.")
            return
        if self.path == STDOUT or Path(self.path).is_dir():
            raise ValueError(f"--checkpoint must be a file. Got {self.path!r}.")
        if not self.is_there:
            return
        if not self._is_one:
            raise FileExistsError(
                f"{self.path} is no checkpoint, and stays as it is. Name another file with --checkpoint."
            )
        if not self.resume and not self.force:
            raise FileExistsError(
                f"{self.path} exists. Use --resume to go on from it, or --force to begin anew."
            )

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """While it lasts, an old file is out of the way, if the fit is to begin anew.

        It comes back if the fit fails before it has one of its own: wrong options should cost nothing.
        """
        if self.resume and not self.is_there:
            say(f"there is no {self.path} to go on from: beginning from the start")
        if self.path is None or self.resume or not self.is_there:
            yield
            return
        place, aside = Path(self.path), Path(f"{self.path}.old")
        place.replace(aside)
        try:
            yield
        finally:
            if place.exists():
                aside.unlink()
            else:
                aside.replace(place)

    def remove(self) -> None:
        """Once all results are written, nobody needs it any more."""
        if self.path is not None:
            Path(self.path).unlink(missing_ok=True)

    @property
    def is_there(self) -> bool:
        """Whether a fit left one behind."""
        return self.path is not None and Path(self.path).exists()

    @property
    def goes_on(self) -> bool:
        """Whether a fit that was stopped goes on: it may have written its results so far."""
        return self.resume and self.is_there

    @property
    def _is_one(self) -> bool:
        if not Path(str(self.path)).is_file():  # a device, or a pipe
            return False
        try:
            found = peek(str(self.path))
        except DataFormatError:  # damaged, and nobody knows what it was
            if self.resume:
                raise
            return False
        return found is not None and found[0] == FORMAT
