"""The earlier release that is one of the contestants: boostkmeans 0.7.0, in an environment of its own.

The environment is made from the git history of this checkout, once, in the cache folder.
`BOOSTKMEANS_BASELINE_PYTHON` names the interpreter of another environment to use instead.
"""

import os
import subprocess
from functools import cache
from pathlib import Path

from problems import CACHE
from revisions import CHECKOUT, environment_of, install, interpreter_in

VERSION = "0.7.0"
COMMIT = "ccbd2d74c79900afa8ce2a852370ae130cbc1d9d"
NAME = f"boostkmeans {VERSION}"
VARIABLE = "BOOSTKMEANS_BASELINE_PYTHON"


def interpreter() -> Path:
    """Return the interpreter of the environment, which may not exist yet."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else interpreter_in(folder())


def folder() -> Path:
    """Return the folder of the sources and the environment."""
    return CACHE / f"boostkmeans-{COMMIT[:7]}"


def obstacle() -> str:
    """Return why the release cannot run, or "" if it can."""
    python, given = interpreter(), os.environ.get(VARIABLE)
    if given and not python.exists():
        return f"{VARIABLE} names no file"
    found = installed_version(python) if python.exists() else "none"
    if found == VERSION:
        return ""
    if given:
        return f"{VARIABLE} has version {found}, not {VERSION}"
    return f"not installed: {reason() or 'see the output of the installation'}"


def reason() -> str:
    """Return why the release cannot be installed from this checkout, or ""."""
    try:
        command = ["git", "cat-file", "-e", f"{COMMIT}^{{commit}}"]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=False)
    except OSError:
        return "git is missing"
    return "" if done.returncode == 0 else f"no commit {COMMIT[:7]} here"


@cache
def installed_version(python: Path) -> str:
    """Return the version of boostkmeans in an environment, or "none"."""
    command = [str(python), "-P", "-c", "import boostkmeans; print(boostkmeans.__version__)"]
    done = subprocess.run(
        command, env=environment_of(python), capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "none"


def prepare() -> None:
    """Install the release, unless it is there or cannot be installed (`obstacle` tells why)."""
    if os.environ.get(VARIABLE) or not obstacle() or reason():
        return
    print(f"Installing {NAME} from commit {COMMIT[:7]} (1-2 minutes)", flush=True)
    failure = install(COMMIT, folder())
    installed_version.cache_clear()
    if failure:
        print(f"{NAME} cannot be installed:\n{failure}", flush=True)
