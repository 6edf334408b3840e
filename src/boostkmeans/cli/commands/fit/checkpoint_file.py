"""The file of --checkpoint: checks before the fit, and removal after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from boostkmeans import DataFormatError, describe_file
from boostkmeans.cli.commands.fit.options import CheckpointOptions
from boostkmeans.cli.errors import print_message
from boostkmeans.cli.files.output import STDOUT, Output


@dataclass(frozen=True)
class CheckpointFile:
    """A checkpoint file; no file is used if `path` is None."""

    path: str | None
    resume: bool
    force: bool

    @classmethod
    def from_options(cls, options: CheckpointOptions, *, force: bool) -> "CheckpointFile":
        """Return the file, and raise an error if the options are invalid."""
        checkpoint = cls(options.checkpoint, options.resume, force)
        checkpoint._check()
        return checkpoint

    def _check(self) -> None:
        """Raise an error if the options contradict each other, or if the file may not be replaced."""
        if self.path is None:
            if self.resume:
                raise ValueError("--resume needs the checkpoint file: add --checkpoint FILE.")
            return
        if self.path == STDOUT or Path(self.path).is_dir():
            raise ValueError(f"--checkpoint must be a file. Got {self.path!r}.")
        if not self.exists:
            return
        if not self._is_checkpoint():
            raise FileExistsError(
                f"{self.path} exists and is not a checkpoint. Choose another file for --checkpoint."
            )
        if not self.resume and not self.force:
            raise FileExistsError(
                f"{self.path} exists. Use --resume to continue from it, or --force to start over."
            )

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Move an old checkpoint aside if the fit starts over.

        The old checkpoint is restored if the fit fails before it writes a new one.
        """
        if self.resume and not self.exists:
            print_message(f"{self.path} does not exist: the fit starts from the beginning")
        if self.path is None or self.resume or not self.exists:
            yield
            return
        place, backup = Path(self.path), Path(f"{self.path}.old")
        place.replace(backup)
        try:
            yield
        finally:
            if place.exists():
                backup.unlink()
            else:
                backup.replace(place)

    def remove(self) -> None:
        """Remove the file after all results are written."""
        if self.path is not None:
            Path(self.path).unlink(missing_ok=True)

    def as_output(self) -> Output | None:
        """Return the file as an output, to check that all output files differ."""
        return None if self.path is None else Output(self.path, force=True)

    @property
    def exists(self) -> bool:
        """True if there is a checkpoint of an earlier fit."""
        return self.path is not None and Path(self.path).exists()

    @property
    def continues(self) -> bool:
        """True if the command continues a fit, which may have written results before."""
        return self.resume and self.exists

    @property
    def advice(self) -> str:
        """Advice for the end of a message: how to continue, if there is a checkpoint."""
        return "; run the same command with --resume to continue" if self.exists else ""

    def _is_checkpoint(self) -> bool:
        if not Path(str(self.path)).is_file():  # a device or a pipe
            return False
        try:
            found = describe_file(str(self.path))
        except DataFormatError:  # damaged: it may be any kind of file
            if self.resume:
                raise
            return False
        return found is not None and found.kind == "checkpoint"
