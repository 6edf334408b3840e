"""CPython interpreters on this machine, for building and testing wheels."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Prints what `Interpreter` stores. Runs on every version of Python that may be found.
DESCRIBE = """
import sys, sysconfig
print(sys.implementation.name, sys.version_info[0], sys.version_info[1],
      int(bool(sysconfig.get_config_var("Py_GIL_DISABLED"))), sysconfig.get_path("include"))
"""


@dataclass(frozen=True, order=True)
class Interpreter:
    """An installed CPython."""

    version: tuple[int, int]
    free_threaded: bool
    path: Path
    include: Path

    @property
    def tag(self) -> str:
        """The tag of wheels for this interpreter alone, such as cp311 or cp314t."""
        return f"cp{self.version[0]}{self.version[1]}{'t' * self.free_threaded}"

    @property
    def has_headers(self) -> bool:
        """True if extension modules can be compiled."""
        return (self.include / "Python.h").is_file()

    def accepts(self, wheel: Path) -> bool:
        """Return True if the Python and ABI tags of a wheel fit this interpreter."""
        python, abi = wheel.stem.split("-")[2:4]
        if abi == "abi3":
            return not self.free_threaded and int(python.removeprefix("cp3")) <= self.version[1]
        return abi == self.tag


def _folders() -> list[Path]:
    """Return the folders that may hold interpreters: those of the PATH and the versions of pyenv."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    return [*folders, *sorted(pyenv.glob("versions/*/bin"))]


def _describe(path: Path) -> Interpreter | None:
    """Return the interpreter at a path, or None if it does not run or is not CPython 3.11 or later."""
    result = subprocess.run([path, "-c", DESCRIBE], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return None
    name, major, minor, free_threaded, include = result.stdout.split(maxsplit=4)
    version = int(major), int(minor)
    if name != "cpython" or version < (3, 11):
        return None
    return Interpreter(version, free_threaded == "1", path, Path(include.strip()))


def find_interpreters(extra: list[Path]) -> list[Interpreter]:
    """Return one interpreter per version, oldest first. Those of `extra` come before those found."""
    named = [
        path
        for folder in _folders()
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if re.fullmatch(r"python3\.\d+t?", path.name) and os.access(path, os.X_OK)
    ]
    found: dict[str, Interpreter] = {}
    for path in [*extra, *named]:
        interpreter = _describe(path)
        if interpreter is None:
            continue
        before = found.get(interpreter.tag)
        if before is None or (interpreter.has_headers and not before.has_headers):
            found[interpreter.tag] = interpreter
    return sorted(found.values())
