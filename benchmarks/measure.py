"""How everything here is measured: same threads, one run, interleaved, medians, kept as JSON."""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from data import Array
from environment import Json, environment

RESULTS = Path(__file__).parent / "results"
REPEATS = 3


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


def exact_inertia(X: Array, centres: Array, labels: Array) -> float:
    """In float64, a batch of rows at a time."""
    total = 0.0
    for begin in range(0, len(X), 10_000):
        batch = slice(begin, begin + 10_000)
        total += float(((X[batch].astype(np.float64) - centres[labels[batch]]) ** 2).sum())
    return total


def seconds_to(curve: list[tuple[float, float]], target: float) -> float:
    """The first time at which a curve of (seconds, inertia) is at or below a target."""
    return next((seconds for seconds, inertia in curve if inertia <= target), float("inf"))


def keep(name: str, figures: Json) -> None:
    """Writes a result file, with what it was measured on."""
    RESULTS.mkdir(exist_ok=True)
    content = {"name": name, **figures, "environment": environment()}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1, default=float) + "\n")
