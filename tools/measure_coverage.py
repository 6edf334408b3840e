"""Measure the line coverage of the Python code and of the C++ core, with one run of the tests.

The core is compiled by GCC with counters (gcov) into build/coverage. Arguments are passed on to pytest.
The result is an error if either language is covered by less than `MINIMUM` percent.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "coverage"
PACKAGE = BUILD / "package"
# Required share of lines that the tests execute, in percent, for each language.
MINIMUM = 92


def main(pytest_arguments: list[str]) -> int:
    """Build, run the tests, print both reports, and return 1 if tests fail or coverage is too low."""
    build()
    for old in [*BUILD.rglob("*.gcda"), *BUILD.glob("python*")]:
        old.unlink()
    failed = run_tests(pytest_arguments or ["-n", "2", "--dist", "worksteal", "-q"])
    return int(any([failed, report_python(), report_cpp()]))


def build() -> None:
    """Compile the core with counters, and put it next to a copy of the Python code."""
    nanobind = run("nanobind", "--cmake_dir", capture_output=True).stdout.strip()
    tools = Path(sysconfig.get_path("scripts"))
    settings = {
        "CMAKE_BUILD_TYPE": "Debug",  # no optimization that merges lines
        "CMAKE_MAKE_PROGRAM": tools / "ninja",
        "Python_EXECUTABLE": sys.executable,
        "BOOSTKMEANS_COVERAGE": "ON",
        "nanobind_DIR": nanobind,
    }
    definitions = [f"-D{name}={value}" for name, value in settings.items()]
    cmake = str(tools / "cmake")
    subprocess.run([cmake, "-G", "Ninja", "-S", ROOT, "-B", BUILD, *definitions], check=True)
    subprocess.run([cmake, "--build", BUILD], check=True)
    shutil.rmtree(PACKAGE, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "boostkmeans", PACKAGE / "boostkmeans", ignore=ignored)
    subprocess.run([cmake, "--install", BUILD, "--prefix", PACKAGE], check=True)


def run_tests(arguments: list[str]) -> bool:
    """Run pytest with this build of the package; return True if tests failed."""
    path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path}
    done = run("coverage", "run", "-m", "pytest", *arguments, env=environment, check=False)
    return done.returncode != 0


def report_python() -> bool:
    """Print the lines of the package that were not executed; return True if there are too many."""
    run("coverage", "combine", "-q")
    print("\nLine coverage of the Python code:", flush=True)
    return run("coverage", "report", f"--fail-under={MINIMUM}", check=False).returncode != 0


def report_cpp() -> bool:
    """Print the lines of the core that were not executed; return True if there are too many."""
    print("\nLine coverage of the C++ core:", flush=True)
    arguments = ["--root", ROOT, "--object-directory", BUILD, "--filter", "src/core/"]
    # A line of a template counts once, and is covered if any of its instances is.
    arguments += ["--merge-lines", "--exclude-noncode-lines", "--sort", "uncovered-number"]
    # Inner loops run billions of times, which gcovr would report as an error of gcov.
    arguments += ["--gcov-ignore-parse-errors=suspicious_hits.warn_once_per_file"]
    done = run("gcovr", *arguments, "--fail-under-line", str(MINIMUM), check=False)
    return done.returncode != 0


def run(module: str, *arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a module of this Python environment as a program, in the root of the project."""
    options: dict[str, object] = {"cwd": ROOT, "text": True, "check": True, **settings}
    return subprocess.run([sys.executable, "-m", module, *map(str, arguments)], **options)  # type: ignore[call-overload, no-any-return]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
