"""Output files, which are not overwritten by accident."""

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from boostkmeans._runtime.installation import install_hint
from boostkmeans.cli.stdout import print_result
from boostkmeans.io import atomic_write, check_target

STDOUT = "-"
# Endings of pictures.
PLOT_ENDINGS = (".png", ".svg", ".pdf")
# Endings of formats that a model does not have.
FOREIGN_ENDINGS = (
    ".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".json", ".html", ".fvecs", ".fbin"
)  # fmt: skip
# Options for other results of commands that write a model.
OTHER_RESULTS = {"labels": "--labels", "a page": "--page"}


@dataclass(frozen=True)
class Output:
    """Destination of a result: a file, or standard output for "-"."""

    path: str
    force: bool

    @property
    def ending(self) -> str:
        """File name extension in lower case, with its dot."""
        return Path(self.path).suffix.lower()

    @property
    def is_stdout(self) -> bool:
        """True if the result is printed."""
        return self.path == STDOUT

    def check(self) -> None:
        """Raise an error if it is known in advance that the file cannot be written."""
        if self.is_stdout:
            return
        with writing_to(self.path):
            check_target(self.path, force=self.force)
        target = Path(self.path).resolve()
        place = target if target.exists() and not target.is_file() else target.parent
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, "No permission to write there", self.path)

    def write(self, text: str) -> None:
        """Write a text and a line break."""
        if self.is_stdout:
            print_result(text)
        else:
            with self.open() as file, writing_to(self.path):
                file.write(f"{text}\n".encode("utf-8", errors="backslashreplace"))

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open a binary file that appears only if the block ends without an error."""
        with ExitStack() as stack:
            with writing_to(self.path):
                file = stack.enter_context(atomic_write(self.path, force=self.force))
            yield file  # errors inside the block may be about another file
            with writing_to(self.path):
                stack.close()


def output_to(path: str | None, *, force: bool) -> Output | None:
    """Return the output for an option, or None if the option is not given."""
    return None if path is None else Output(path, force)


def main_output(argument: str | None, option: str | None, name: str, *, force: bool) -> Output:
    """Return the main output, which is either an argument called `name` or the option -o."""
    if argument is not None and option is not None:
        raise ValueError(f"{name} and -o both name the output: leave one of them out.")
    path = argument if option is None else option
    if path is None:
        raise ValueError(f"{name} is missing: name the output with -o FILE.")
    return Output(path, force)


def require_file(name: str, output: Output | None) -> None:
    """Raise an error if binary results would be printed on standard output."""
    if output is not None and output.is_stdout:
        raise ValueError(f"{name} must be a file: binary data cannot be printed on standard output.")


def check_stdout_conflict(name: str, output: Output | None, *, as_json: bool) -> None:
    """Raise an error if both the JSON result and another output are printed."""
    if as_json and output is not None and output.is_stdout:
        raise stdout_conflict(name)


def stdout_conflict(name: str) -> ValueError:
    """Return the error for two results on standard output."""
    return ValueError(f"--json and {name} - both use standard output: write one of them to a file.")


def check_ending(name: str, output: Output | None, endings: tuple[str, ...], *, stdout: bool) -> None:
    """Raise an error unless the file name ends in one of `endings`, or `stdout` allows "-"."""
    if output is None or output.ending in endings or (stdout and output.is_stdout):
        return
    *others, last = endings
    or_stdout = ", or - for standard output" if stdout else ""
    raise ValueError(
        f"{name} must be a file that ends in {', '.join(others)} or {last}{or_stdout}. "
        f"Got {output.path!r}."
    )


def check_model_ending(output: Output | None, others: Mapping[str, str] = OTHER_RESULTS) -> None:
    """Raise an error if the ending of a model file means another format.

    `others` are the options of the command for other results.
    """
    if output is not None and output.ending in FOREIGN_ENDINGS:
        other = ", ".join(f"{option} for {what}" for what, option in others.items())
        raise ValueError(
            "--output is the file for the model, which ends in .safetensors or .st. Got "
            f"{output.path!r}. Use {other}."
        )


def check_outputs(
    inputs: Mapping[str, str | Sequence[str] | None],
    outputs: Mapping[str, Output | Sequence[Output] | None],
) -> None:
    """Check all output files before the work begins.

    Raise an error if a file cannot be written, or if two of the inputs and outputs are the same file.
    Both mappings are keyed by option. An option may have several files.
    """
    used = {
        _file_identity(path): name
        for name, given in inputs.items()
        for path in ([given] if isinstance(given, str) else given or [])
        if path != STDOUT
    }
    every = [
        (name, output)
        for name, given in outputs.items()
        for output in ([given] if isinstance(given, Output) else given or [])
    ]
    for name, output in every:
        if output.is_stdout:
            continue
        output.check()
        identity = _file_identity(output.path)
        if identity in used and not _is_device(output.path):
            raise ValueError(
                f"{output.path} cannot be both {used[identity]} and {name}: use different file names."
            )
        used[identity] = name


def check_matplotlib(name: str) -> None:
    """Raise an error before the work begins if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ImportError(f"{name} needs matplotlib: {install_hint('plot')}")


def check_plot(picture: Output | None) -> Output | None:
    """Return the output of --plot. Raise an error before the work begins if it cannot be drawn."""
    check_ending("--plot", picture, PLOT_ENDINGS, stdout=False)
    if picture is not None:
        check_matplotlib("--plot")
    return picture


@contextmanager
def writing_to(path: str) -> Iterator[None]:
    """Add the file name to errors of the operating system, and --force to those about existing files."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise OSError(error.errno, error.strerror, path) from None
        if isinstance(error, FileExistsError):
            raise FileExistsError(f"{path} exists. Use --force to overwrite it.") from None
        raise


def _file_identity(path: str) -> object:
    """Return a value that is equal for all names of the same file."""
    try:
        status = Path(path).stat()
    except OSError:
        return Path(path).resolve()
    return status.st_dev, status.st_ino


def _is_device(path: str) -> bool:
    return Path(path).exists() and not Path(path).is_file()
