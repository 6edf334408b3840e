"""What figures were measured on: versions, processor, threads, commit."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

N_THREADS = 2
# Before NumPy, scikit-learn or faiss are imported: their pools read this once.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = str(N_THREADS)

Json = dict[str, Any]

PACKAGES = (
    "boostkmeans", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "faiss-cpu", "superkmeans",
    "fastkmeans", "sparsekmeans",
)  # fmt: skip


def environment() -> Json:
    """As it stands in every file of results."""
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
    """Of what is installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """Of the project's checkout; empty outside of one."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        result = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return result.stdout.strip()


def processor() -> str:
    """Its name and the number of cores of the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"
