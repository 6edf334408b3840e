"""How everything here is measured: same threads, one run, interleaved, medians, kept as JSON."""

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

N_THREADS = 2
# Before NumPy, scikit-learn or faiss are imported: their pools read this once.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = str(N_THREADS)

RESULTS = Path(__file__).parent / "results"
REPEATS = 3

Json = dict[str, Any]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call takes, and what it returns."""
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def interleaved(
    contestants: dict[str, Callable[[], Json]], repeats: int = REPEATS
) -> dict[str, list[Json]]:
    """Runs all in turn, several times. Each returns its own figures; "seconds" is added."""
    results: dict[str, list[Json]] = {name: [] for name in contestants}
    for repeat in range(repeats):
        for name, call in contestants.items():
            seconds, figures = timed(call)
            results[name].append({"seconds": seconds, **figures})
            print(f"  run {repeat + 1} {name}: {seconds:.3f} s {compact(figures)}", flush=True)
    return results


def compact(figures: Json) -> str:
    """A line of figures; curves are left out."""
    shown = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in figures.items() if k != "curve"}
    return " ".join(f"{k}={v}" for k, v in shown.items())


def median(values: list[float]) -> float:
    """Of three runs, the middle one."""
    return float(statistics.median(values))


def seconds_to(curve: list[tuple[float, float]], target: float) -> float:
    """The first time at which a curve of (seconds, inertia) is at or below a target."""
    return next((seconds for seconds, inertia in curve if inertia <= target), float("inf"))


def keep(name: str, figures: Json) -> None:
    """Writes a result file, with what it was measured on."""
    RESULTS.mkdir(exist_ok=True)
    content = {"name": name, **figures, "environment": environment()}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1, default=float) + "\n")


def environment() -> Json:
    """Versions, processor, threads, commit."""
    packages = {}
    for package in ("boostkmeans", "numpy", "scikit-learn", "faiss-cpu", "superkmeans", "sparsekmeans"):
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            packages[package] = "not installed"
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    import boostkmeans

    return {
        "packages": packages,
        "python": platform.python_version(),
        "processor": processor(),
        "instruction_set": boostkmeans.instruction_set(),
        "n_threads": N_THREADS,
        "commit": commit.stdout.strip(),
    }


def processor() -> str:
    """Its name and the number of cores that this process has."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"
