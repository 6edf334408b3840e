"""Run the tests of the core parts with the oldest versions of all packages that pyproject.toml allows.

Usage: python tools/try_oldest.py

Every lower bound of the dependencies and of the extras becomes an exact version. A bound without a wheel
for this version of Python fails here, so that the bounds in pyproject.toml are those that work.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / "build" / "oldest"
# The extra that contains all others. Its requirements are those of the others.
ALL = "all"
# scikit-learn 1.6 does not support later versions of pytest. Some tests pass data frames.
TEST_PACKAGES = (
    "pytest==8.*",
    "hypothesis",
    "pyyaml",
    "pandas==2.0.*",
    "polars==1.*",
    "psutil",
    "nanobind",
)
TESTS = (
    "tests/core", "tests/data", "tests/steps", "tests/storage", "tests/models", "tests/estimators",
    "tests/metrics", "tests/quantization", "tests/io", "tests/interop", "tests/runtime", "tests/select",
    "tests/images", "tests/cli/test_cli_fit.py", "tests/explore",
)  # fmt: skip
# Inputs and outputs of both engines, on small clusters. `make test-cluster` tests the newest versions.
CLUSTER_TESTS = ("tests/distributed/test_inputs.py", "tests/distributed/test_outputs.py")
# Old packages warn about each other, and Ray 2.44 leaves files open.
IGNORED = (
    "DeprecationWarning", "FutureWarning", "ResourceWarning", "pytest.PytestUnraisableExceptionWarning",
)  # fmt: skip


def lower_bound(requirement: str) -> str:
    """Return the requirement for its lower bound: 'numpy==1.25.*' for 'numpy>=1.25'."""
    return re.sub(r">=([0-9.]+)", r"==\1.*", requirement)


def oldest_requirements() -> list[str]:
    """Return the oldest version of every dependency, and of those of the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    by_extra = project["optional-dependencies"]
    extras = [one for extra in by_extra if extra != ALL for one in by_extra[extra]]
    return sorted({lower_bound(one) for one in [*project["dependencies"], *extras]})


def main() -> None:
    """Create the environment, compile the package, and run the tests."""
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    python = ENVIRONMENT / "bin" / "python"
    requirements = oldest_requirements()
    print("Packages:", *requirements, flush=True)
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *requirements, *TEST_PACKAGES, ROOT], check=True)
    pytest: list[str | Path] = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    pytest += [option for one in IGNORED for option in ("-W", f"ignore::{one}")]
    codes = [
        subprocess.run([*pytest, *chosen], cwd=ROOT, check=False).returncode
        for chosen in (["-m", "not slow and not process", *TESTS], CLUSTER_TESTS)
    ]
    sys.exit(any(codes))


if __name__ == "__main__":
    main()
