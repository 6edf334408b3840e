"""Awkward data sets: values, types, shapes and layouts that are easily forgotten."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans import BoostKMeans

# Relative error of an inertia that is recomputed in float64, and that of float16 and float32 rows.
ROUNDING = 1e-3
TYPES = ("float64", "float32", "float16", ">f8", ">f4", "int64", "int32", "uint8", "int8", "bool")
# Words of which a clear message about such data has at least one.
CLEAR = (
    "NaN", "nfinity", "n_clusters", "sample", "feature", "too large", "zero", "length", "short", "dtype",
    "overflow", "direction",
)  # fmt: skip


def awkward_values(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return rows with equal rows, constant columns, extreme values, or values that are not finite."""
    n, d = int(rng.choice([1, 2, 3, 9, 40])), int(rng.choice([1, 2, 5, 17]))
    X = rng.normal(size=(n, d))
    change = int(rng.integers(9))
    if change == 0:
        X = X[rng.integers(min(n, 3), size=n)]  # more clusters than distinct rows
    elif change == 1:
        X[:, rng.integers(d)] = rng.normal()
    elif change == 2:
        X *= rng.choice([1e30, 1e-30, 1e-310, 1e150, 0.0])
    elif change == 3:
        X[rng.integers(n), rng.integers(d)] = rng.choice([np.nan, np.inf, -np.inf])
    elif change == 4:
        X[rng.integers(n)] *= 1e100
    elif change == 5:
        X += 1e12
    elif change == 6:
        X = np.round(X)  # ties
    elif change == 7:
        X[rng.integers(n)] = -0.0
    return X


def laid_out(X: NDArray[Any], rng: np.random.Generator) -> Any:
    """Return rows in another memory layout or container."""
    read_only = X.copy()
    read_only.flags.writeable = False
    layouts = (
        X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1].copy()[::-1],
        X[:, ::-1].copy()[:, ::-1], read_only, X.tolist(), list(X),
    )  # fmt: skip
    return layouts[rng.integers(len(layouts))]


def fit(number: int) -> str:
    """Fit an awkward data set. Return what is wrong with the result or the error, or ""."""
    rng = np.random.default_rng(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = awkward_values(rng).astype(TYPES[number % len(TYPES)])
    given = laid_out(X, rng)
    k = int(rng.choice([1, 2, max(1, len(X) // 2), len(X), len(X) + 1]))
    metric = str(rng.choice(["euclidean", "cosine"]))
    try:
        model = BoostKMeans(k, metric=metric, tol=0, random_state=number).fit(given)
    except (ValueError, TypeError) as error:
        fine = X.astype(np.float64)
        is_wrong = len(X) < k or not np.isfinite(fine).all() or metric == "cosine"
        is_clear = len(str(error)) < 2000 and any(word in str(error) for word in CLEAR)
        return "" if is_wrong and is_clear else f"{type(error).__name__}: {error}"
    if not np.isfinite(X.astype(np.float64)).all() or len(X) < k:
        return "rows that are not finite or too few were accepted"
    return _fault(model, X.astype(np.float64), given, k)


def _fault(model: BoostKMeans, X: NDArray[np.float64], given: Any, k: int) -> str:
    """Return what is wrong with a fitted model, or ""."""
    labels = model.labels_
    if labels.shape != (len(X),) or labels.min() < 0 or labels.max() >= k:
        return "labels are out of range"
    points = X
    if model.metric == "cosine":
        scaled = X / np.maximum(np.abs(X).max(axis=1, keepdims=True), np.finfo(float).tiny)
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        points = scaled / np.where(norms > 0, norms, 1)
    elif len(np.unique(labels)) < min(k, len(np.unique(X, axis=0))) and model.converged_:
        return "clusters are empty, although there are enough distinct rows"
    if model.converged_ and not np.array_equal(model.predict(given), labels):
        return "labels differ from those of predict"
    return _wrong_inertia(model.inertia_, points, labels)


def _wrong_inertia(found: float, points: NDArray[np.float64], labels: NDArray[np.int32]) -> str:
    """Compare an inertia with that of the means of the clusters."""
    unit = float(np.abs(points).max()) or 1.0
    scaled = points / unit
    expected = sum(
        float(((scaled[labels == c] - scaled[labels == c].mean(axis=0)) ** 2).sum())
        for c in np.unique(labels)
    )
    # Sums of squares lose digits relative to the squared values.
    noise = 1e-20 * scaled.size
    if expected * unit * unit < np.finfo(float).tiny and found < np.finfo(float).tiny:
        return ""  # subnormal numbers
    if not np.isfinite(found) or abs(found / unit / unit - expected) > ROUNDING * expected + noise:
        return f"inertia is {found:g}; recomputed: {expected * unit * unit:g}"
    return ""
