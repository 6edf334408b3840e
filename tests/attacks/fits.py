"""Attacks by data: ties, extreme values, rows that change, and many threads."""

import sys
import threading
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from attacks import changing_rows, extreme_rows
from attacks.invalid_input import PARAMETERS, REFUSED, ROWS, WEIGHTS
from boostkmeans import BoostKMeans

# Relative gain of a move that float64 may miss.
ROUNDING = 1e-9
N_THREADS = 16
# Whether Python threads exclude each other. Some modules enable the GIL of a free-threaded interpreter.
GIL = "with" if getattr(sys, "_is_gil_enabled", lambda: True)() else "without"


def labels_and_predict(number: int) -> str:
    """Fit rows with ties or extreme values, and compare the labels with those of `predict`."""
    makers = (
        extreme_rows.directions,
        extreme_rows.with_outlier,
        extreme_rows.in_many_units,
        extreme_rows.far_away,
    )
    make: Any = makers[number % len(makers)]
    X, k = make(np.random.default_rng(number))
    metric = "cosine" if make is extreme_rows.directions else "euclidean"
    model = BoostKMeans(min(k, len(X)), metric=metric, tol=0, random_state=number).fit(X)
    differ = int((model.predict(X) != model.labels_).sum())
    return f"{make.__name__}: {differ} labels differ" if differ and model.converged_ else ""


def certificate(number: int) -> str:
    """Verify a certificate in exact arithmetic."""
    rng = np.random.default_rng(number)
    n, d, k = int(rng.integers(8, 30)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, d)) if number % 2 else rng.integers(6, size=(n, d)).astype(float)
    if number % 5 == 0:
        X = X * 10 ** rng.uniform(-30, 30) + 10 ** rng.uniform(-3, 6)
    weights = rng.integers(1, 5, size=n) if number % 3 == 0 else np.ones(n, dtype=int)
    model = BoostKMeans(k, tol=0, random_state=number).fit(X, sample_weight=weights)
    return _improving_move(X, weights, model.labels_, k) if model.converged_ else ""


def _improving_move(X: Any, weights: Any, labels: Any, k: int) -> str:
    """Return a move of a single row that lowers the inertia by more than rounding, or ""."""
    rows = [[Fraction(float(value)) for value in row] for row in X]
    w = [Fraction(int(one)) for one in weights]
    totals = [sum((w[i] for i in range(len(w)) if labels[i] == c), Fraction(0)) for c in range(k)]
    centres = [
        [sum(w[i] * rows[i][j] for i in range(len(w)) if labels[i] == c) / totals[c]
         for j in range(X.shape[1])] if totals[c] else None
        for c in range(k)
    ]  # fmt: skip
    for i, row in enumerate(rows):
        own = int(labels[i])
        here = centres[own]
        if totals[own] == w[i] or here is None:
            continue
        leave = sum((a - b) ** 2 for a, b in zip(row, here, strict=True)) * totals[own]
        leave /= totals[own] - w[i]
        for c, there in enumerate(centres):
            if c == own or there is None:
                continue
            enter = sum((a - b) ** 2 for a, b in zip(row, there, strict=True)) * totals[c]
            enter /= totals[c] + w[i]
            if enter < leave * (1 - Fraction(ROUNDING)):
                return f"row {i} gains {float(1 - enter / leave):.2g} by moving from {own} to {c}"
    return ""


def changing(number: int) -> str:
    """Change rows during a fit, by a callback or another thread."""
    ended = changing_rows.fit(number)
    return ended if "FAULT" in ended else ""


def changing_tree(number: int) -> str:
    """Change rows while a tree grows."""
    ended = changing_rows.grow(number)
    return ended if "FAULT" in ended else ""


def n_invalid_inputs() -> int:
    """Return the number of attempts of `invalid_input`."""
    return len(REFUSED) + len(WEIGHTS) + len(PARAMETERS)


def invalid_input(number: int) -> str:
    """Pass input that must be refused."""
    fits = [{"X": X} for X, _ in REFUSED.values()]
    fits += [{"X": ROWS, "sample_weight": weights} for weights, _ in WEIGHTS.values()]
    models = [BoostKMeans(2, random_state=0)] * len(fits)
    models += [BoostKMeans(2, random_state=0, **given) for given, _ in PARAMETERS.values()]
    fits += [{"X": ROWS}] * len(PARAMETERS)
    try:
        models[number].fit(**fits[number])
    except ValueError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "the input was accepted"


def csr_and_dense(number: int) -> str:
    """Fit the same rows dense and as CSR."""
    rng = np.random.default_rng(number)
    X = sparse.random_array((150, 12), density=0.3, format="csr", random_state=rng)
    settings: dict[str, Any] = {
        "init": rng.choice(["random", "k-means++", "bisecting", "auto"]),
        "moves": rng.choice(["best", "first"]),
        "repair": int(rng.integers(3)),
        "annealing": (0, "auto", (0.1, 4))[rng.integers(3)],
        "metric": rng.choice(["euclidean", "cosine"]),
        "max_size": (None, 60)[rng.integers(2)],
        "quality": rng.choice(["fast", "balanced", "best"]),
    }
    settings = {name: value.item() if isinstance(value, np.generic) else value
                for name, value in settings.items()}  # fmt: skip
    a, b = (BoostKMeans(5, random_state=number, **settings).fit(data) for data in (X, X.toarray()))
    return "" if np.array_equal(a.labels_, b.labels_) else f"labels differ with {settings}"


def many_threads(number: int) -> str:
    """Call one estimator from 16 threads, and fit 16 others at the same time."""
    X = np.random.default_rng(number).normal(size=(500, 4))
    model = BoostKMeans(7, random_state=number, n_threads=2).fit(X)
    expected, failures = model.labels_ if model.converged_ else model.predict(X), []

    def use() -> None:
        other = BoostKMeans(7, random_state=number, n_threads=2).fit(X)
        if not np.array_equal(model.predict(X), expected):
            failures.append("predict differs")
        if not np.array_equal(other.labels_, model.labels_):
            failures.append("fit differs")

    threads = [threading.Thread(target=use) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "; ".join(failures)
