"""Versions of boostkmeans from the git history, each installed in an environment of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
# Packages that every version gets in the version of this environment, so that only boostkmeans differs.
SAME_PACKAGES = ("numpy", "scipy", "scikit-learn")
# Files that state the version, the newest place first, and the line.
VERSION_FILES = ("src/boostkmeans/_runtime/version.py", "pyproject.toml")
VERSION_LINE = re.compile(r'^version = "([^"]+)"$', re.IGNORECASE | re.MULTILINE)


def git(*arguments: str) -> str:
    """Return what a git command prints. Raise CalledProcessError if it fails."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def version_at(revision: str) -> str:
    """Return the version that the sources of a revision state."""
    for file in VERSION_FILES:
        done = subprocess.run(
            ["git", "show", f"{revision}:{file}"],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        found = VERSION_LINE.search(done.stdout)
        if found:
            return found[1]
    raise ValueError(f"Revision {revision} states no version.")


def last_commits() -> list[str]:
    """Return the last commit of each version, the oldest version first. There are no tags to rely on."""
    log = git("log", "--first-parent", "--format=%H", "-G^(VERSION|version) = ", "--", *VERSION_FILES)
    found: dict[str, str] = {}
    for commit in ["HEAD", *(f"{one}^" for one in log.splitlines())]:
        exists = _succeeds("git", "cat-file", "-e", f"{commit}^{{commit}}")
        if exists and _states_version(commit):
            found.setdefault(version_at(commit), git("rev-parse", commit))
    return list(found.values())[::-1]


def _states_version(revision: str) -> bool:
    try:
        return bool(version_at(revision))
    except ValueError:
        return False


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=False).returncode == 0


def interpreter_in(folder: Path) -> Path:
    """Return the interpreter of the environment that `install` creates in a folder."""
    return folder / "venv" / "bin" / "python"


def install(commit: str, folder: Path) -> str:
    """Install a commit into an environment in the folder. Return why this failed, or ""."""
    sources = folder / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", commit], cwd=CHECKOUT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", sources], input=archive.stdout, check=True)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = interpreter_in(folder)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(sources)]
    done = subprocess.run(
        [*pip, *same_versions()], env=environment_of(python), capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""


def environment_of(python: Path) -> dict[str, str]:
    """Return the variables for an interpreter; another one must not see the modules of this one."""
    variables = dict(os.environ)
    if python != Path(sys.executable):
        for name in ("PYTHONPATH", "PYTHONHOME"):
            variables.pop(name, None)
    return variables


def same_versions() -> list[str]:
    """Return the requirements that give another environment the packages of this one."""
    from environment import version_of

    return [f"{package}=={version_of(package)}" for package in SAME_PACKAGES]
