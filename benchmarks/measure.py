"""Timing and repetition, shared by all benchmarks."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from data import Array
from environment import Json

# Number of repetitions; the median of three is robust against one disturbed run.
REPEATS = 3
# Rows per batch in float64 sums: about 10 MB for 128 features.
BATCH_ROWS = 10_000


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call takes, and its result."""
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def interleaved(
    contestants: dict[str, Callable[[], Json]], repeats: int = REPEATS
) -> dict[str, list[Json]]:
    """Run all contestants in turn, `repeats` times, and return the figures of each run.

    Interleaving spreads changes in the speed of the machine evenly over the contestants. Each contestant
    returns its own figures; "seconds" is added if it is missing.
    """
    results: dict[str, list[Json]] = {name: [] for name in contestants}
    for repeat in range(repeats):
        for name, call in contestants.items():
            seconds, figures = timed(call)
            results[name].append({"seconds": seconds, **figures})
            seconds = results[name][-1]["seconds"]
            print(f"  run {repeat + 1} {name}: {seconds:.3f} s {one_line(figures)}", flush=True)
    return results


def one_line(figures: Json) -> str:
    """Return figures as "name=value" on one line, without curves and seconds."""
    formatted = {
        k: f"{v:.6g}" if isinstance(v, float) else v
        for k, v in figures.items()
        if k not in ("curve", "seconds")
    }
    return " ".join(f"{k}={v}" for k, v in formatted.items())


def median(values: list[float]) -> float:
    """Return the median as a float."""
    return float(statistics.median(values))


def exact_inertia(X: Array, centres: Array, labels: Array) -> float:
    """Return the inertia in float64, computed in batches of rows."""
    total = 0.0
    for begin in range(0, len(X), BATCH_ROWS):
        batch = slice(begin, begin + BATCH_ROWS)
        total += float(((X[batch].astype(np.float64) - centres[labels[batch]]) ** 2).sum())
    return total


def seconds_to(curve: list[tuple[float, float]], target: float) -> float:
    """Return the first time at which a curve of (seconds, inertia) is at or below `target`."""
    return next((seconds for seconds, inertia in curve if inertia <= target), float("inf"))
