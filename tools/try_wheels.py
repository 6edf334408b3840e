"""Install the wheels in new environments, and run a part of the tests there.

Usage: python tools/try_wheels.py [--python PATH ...]

Every interpreter on this machine tries the wheel of build/dist that fits it. The folder of the tests is
copied, so that the sources of this clone cannot be imported.
"""

import argparse
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from interpreters import Interpreter, find_interpreters

ROOT = Path(__file__).parents[1]
DIST = ROOT / "build" / "dist"
WORK = ROOT / "build" / "wheels" / "trials"
# Tests of the compiled core, of fits and of stored files. Others test Python code, which is the same on
# all platforms.
TESTS = (
    "tests/core", "tests/steps", "tests/storage", "tests/models/test_saving.py",
    "tests/estimators/test_sparse.py", "tests/estimators/test_process.py",
)  # fmt: skip
# A daemon thread fits at the end of the process: an exception must unwind through the core. This depends
# on how a wheel is linked.
EXIT_TEST = "tests/estimators/test_process.py::test_interpreter_exits_while_a_daemon_thread_fits"
# Arguments of pytest for each of its runs. The test of exits is slow.
RUNS = (("-m", "not slow", *TESTS), (EXIT_TEST,))
CHECK_VERSION = """
import boostkmeans, importlib.metadata
assert boostkmeans.__version__ == importlib.metadata.version("boostkmeans")
"""
# What the configuration of pytest and the tests refer to.
COPIED = (
    "tests",
    "benchmarks",
    "paper",
    "tools",
    "examples/data",
    "pyproject.toml",
    "src/boostkmeans/_core.pyi",
)


def copy_tests(folder: Path) -> None:
    """Copy the tests and what they need, without the package."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "results"))
        else:
            shutil.copy(source, target)


def try_wheel(interpreter: Interpreter, wheel: Path) -> bool:
    """Return True if the tests pass in a new environment."""
    environment = WORK / interpreter.tag
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run([interpreter.path, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    group: list[str | Path] = [
        python,
        ROOT / "tools" / "install_group.py",
        "test-core",
        "--quiet",
        wheel,
    ]
    installed = subprocess.run(group, check=False)
    if installed.returncode != 0:
        print(f"{wheel.name}: the dependencies cannot be installed on {interpreter.tag}.")
        return False
    subprocess.run([python, "-I", "-c", CHECK_VERSION], check=True)
    pytest: list[str | Path] = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    runs = [subprocess.run([*pytest, *one], cwd=WORK / "source", check=False) for one in RUNS]
    return all(one.returncode == 0 for one in runs)


def main() -> None:
    """Try every wheel for this architecture, and fail if one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", type=Path, nargs="*", default=[], help="More interpreters.")
    options = parser.parse_args()
    copy_tests(WORK / "source")
    wheels = sorted(DIST.glob(f"*_{platform.machine()}.whl"))
    results = []
    for interpreter in find_interpreters(options.python):
        for wheel in filter(interpreter.accepts, wheels):
            results.append((wheel.name, interpreter.tag, try_wheel(interpreter, wheel)))
    for name, tag, passed in results:
        print(f"{'passed' if passed else 'FAILED'}  {tag:7} {name}")
    if not results:
        sys.exit("No wheel in build/dist fits an interpreter on this machine.")
    sys.exit(0 if all(passed for _, _, passed in results) else 1)


if __name__ == "__main__":
    main()
