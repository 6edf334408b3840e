"""Number of threads and description of the machine that the benchmarks run on."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# All libraries get two threads: the reference machine has two cores.
N_THREADS = 2
# NumPy, scikit-learn and faiss read these variables when they are imported, so they are set here first.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = str(N_THREADS)

Json = dict[str, Any]

PACKAGES = (
    "boostkmeans", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "faiss-cpu", "superkmeans",
    "fastkmeans", "sparsekmeans",
)  # fmt: skip


def environment() -> Json:
    """Return the versions, processor, threads and commit that every result file records."""
    import boostkmeans

    return {
        "packages": {package: version_of(package) for package in PACKAGES},
        "python": platform.python_version(),
        "processor": processor(),
        "instruction_set": boostkmeans.instruction_set(),
        "n_threads": N_THREADS,
        "commit": commit(),
    }


def version_of(package: str) -> str:
    """Return the installed version of a package, or "not installed"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """Return the short hash of the checked-out commit, or "" outside a git checkout."""
    return _git_hash("HEAD")


def source() -> str:
    """Return the short hash of the sources of the package, which changes only if they do.

    Return the version of the package outside a git checkout.
    """
    return _git_hash("HEAD:src") or version_of("boostkmeans")


def _git_hash(name: str) -> str:
    command = ["git", "rev-parse", "--short", name]
    try:
        result = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return result.stdout.strip()


def processor() -> str:
    """Return the name of the processor and the number of cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"
