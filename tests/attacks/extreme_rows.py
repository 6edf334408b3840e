"""Rows whose distances are tied, or lost in float64, with a number of clusters for each."""

from typing import Any

import numpy as np


def directions(rng: np.random.Generator) -> tuple[Any, int]:
    """Return rows with a few directions and many lengths, and more clusters than directions."""
    n, d, distinct = int(rng.integers(20, 60)), int(rng.integers(2, 5)), int(rng.integers(2, 6))
    rows = rng.normal(size=(distinct, d))[rng.integers(distinct, size=n)]
    return rows * rng.uniform(0.1, 10, size=(n, 1)), distinct + int(rng.integers(1, 6))


def with_outlier(rng: np.random.Generator) -> tuple[Any, int]:
    """Return rows whose distances are lost in the frame, because of one outlier."""
    rows = rng.normal(size=(50, 3))
    rows[rng.integers(50), 0] = 1e165
    return rows, int(rng.integers(3, 8))


def in_many_units(rng: np.random.Generator) -> tuple[Any, int]:
    """Return columns from 1e-200 to 1e200, with few different values in the largest one."""
    d = int(rng.integers(3, 8))
    rows = rng.normal(size=(60, d)) * np.logspace(-200, 200, d)
    rows[:, -1] = rng.choice([0, 1e200, 3e200], size=60)
    return rows, int(rng.integers(2, 10))


def near_limits(rng: np.random.Generator) -> tuple[Any, int]:
    """Return rows so small that centres are rounded to subnormal numbers."""
    return rng.normal(size=(60, 2)) * 1e-312, 4


def far_away(rng: np.random.Generator) -> tuple[Any, int]:
    """Return rows so far from 0 that centres are rounded."""
    return 1e14 + rng.integers(10, size=(60, 2)).astype(float), 7
