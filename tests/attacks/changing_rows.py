"""Fits of rows that change during the fit. A crash would end the process, so tests start one.

    python tests/attacks/changing_rows.py SEED NUMBER

prints two lines per seed, for a fit and a tree: what changed, and how it ended.
"""

import logging
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.select import scan

WRONG_INDICES = (-1, -(2**31), 2**31 - 1, 10**6, 0)
WRONG_VALUES = (np.nan, np.inf, 1e300, -np.inf)
# Settings that use different parts of the core.
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"init": "k-means++", "annealing": 0},
    {"moves": "first"},
    {"n_candidates": 4},
    {"repair": 3, "annealing": (0.2, 4)},
    {"min_size": 2},
    {"metric": "cosine"},
)
# Trees choose the next set by its weight, its inertia, or its average squared distance.
SPLITS = ("largest", "inertia", "average")
LOGGER = logging.getLogger("boostkmeans")


def rows_of(kind: str, rng: np.random.Generator) -> Any:
    """Return dense rows, sparse rows that are expanded, or rows that stay sparse."""
    if kind == "dense":
        return rng.normal(size=(400, 8))
    shape = (400, 30) if kind == "expanded" else (3000, 1500)
    return sparse.random_array(
        shape, density=0.1 if kind == "expanded" else 0.01, format="csr", random_state=rng
    )


def array_of(X: Any, what: str) -> NDArray[Any]:
    """Return the array of X that changes."""
    return X if isinstance(X, np.ndarray) else getattr(X, what)


def spoil(X: Any, what: str, rng: np.random.Generator) -> None:
    """Write wrong values into the arrays of X, in place."""
    array = array_of(X, what)
    places = rng.integers(array.size, size=max(1, array.size // 10))
    wrong = WRONG_VALUES if array.dtype.kind == "f" else WRONG_INDICES
    array.reshape(-1)[places] = rng.choice(wrong, size=len(places)).astype(array.dtype)


def spoiling_callback(X: Any, what: str, rng: np.random.Generator, at: int) -> Callable[[Any], None]:
    """Return a callback that spoils X after some steps."""
    steps = iter(range(10**9))

    def callback(_: Any) -> None:
        if next(steps) == at:
            spoil(X, what, rng)

    return callback


class SpoilingHandler(logging.Handler):
    """Spoils X after some messages. A tree calls no callback while it grows, but it logs."""

    def __init__(self, X: Any, what: str, rng: np.random.Generator) -> None:
        super().__init__(logging.DEBUG)
        self._spoil = spoiling_callback(X, what, rng, int(rng.integers(0, 6)))

    def emit(self, record: logging.LogRecord) -> None:
        """Spoil X if its time has come."""
        self._spoil(record)


def grow(seed: int) -> str:
    """Grow a tree, alone or in a scan, while its rows change. Return how it ended."""
    rng = np.random.default_rng(seed)
    kind = ("dense", "expanded", "sparse")[seed % 3]
    what = "" if kind == "dense" else ("data", "indices", "indptr")[seed // 3 % 3]
    X = rows_of(kind, rng)
    split = (*SPLITS, "scan")[seed // 9 % (4 if kind == "dense" else 3)]
    handler, level = SpoilingHandler(X, what, rng), LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    try:
        if split == "scan":
            scan(X, range(2, 9), random_state=seed, n_threads=2, n_references=1)
            ended = "not certified"
        else:
            model = BisectingBoostKMeans(20, split=split, random_state=seed, n_threads=2).fit(X)
            ended = "not certified" if np.isfinite(model.inertia_) else "FAULT: inertia NaN"
    except ValueError as error:
        ended = f"ValueError: {error}"
    except IndexError as error:  # of SciPy or NumPy, for a row that is copied
        ended = f"IndexError: {error}"
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
    return f"{kind} {what} by a log handler, tree {split}: {ended}"


def fit(seed: int) -> str:
    """Fit rows that change, by a callback or by another thread. Return how the fit ended."""
    rng = np.random.default_rng(seed)
    kind = ("dense", "expanded", "sparse")[seed % 3]
    what = "" if kind == "dense" else ("data", "indices", "indptr")[seed // 3 % 3]
    settings = SETTINGS[seed // 9 % len(SETTINGS)]
    X = rows_of(kind, rng)
    original = array_of(X, what).copy()
    k = int(rng.choice([3, 20, 40]))
    threads = int(rng.integers(1, 4))
    common: dict[str, Any] = {"random_state": seed, "tol": 0, "max_iter": 30, "n_threads": threads}
    model: Any = BoostKMeans(k, **common, **settings)
    if seed % 11 == 5:
        model = BisectingBoostKMeans(k, refine=True, **common)
    stop, ended = threading.Event(), ""
    by_thread = seed % 2 == 1

    def disturb() -> None:
        while not stop.wait(0.001):
            spoil(X, what, np.random.default_rng(seed))

    thread = threading.Thread(target=disturb)
    if by_thread:
        thread.start()
    else:
        model.set_params(callback=spoiling_callback(X, what, rng, int(rng.integers(0, 6))))
    try:
        model.fit(X)
        ended = "certified" if model.converged_ else "not certified"
        if not np.isfinite(model.inertia_) and model.converged_:
            ended = "FAULT: certified with inertia NaN"
        changed = not np.array_equal(array_of(X, what), original)
        # A fit has row starts of its own: later changes of them have no effect.
        if model.converged_ and changed and not by_thread and what != "indptr":
            ended = "FAULT: certified rows that a callback has changed"
    except ValueError as error:
        ended = f"ValueError: {error}"
    except IndexError as error:  # of SciPy or NumPy, for a row that is copied
        ended = f"IndexError: {error}"
    finally:
        stop.set()
        if by_thread:
            thread.join()
    return f"{kind} {what} {'thread' if by_thread else 'callback'} {settings}: {ended}"


def main() -> None:
    """Print the outcome of some fits, each before the next one begins."""
    first, count = map(int, sys.argv[1:])
    warnings.simplefilter("ignore")
    for seed in range(first, first + count):
        print(seed, fit(seed), flush=True)
        print(seed, grow(seed), flush=True)


if __name__ == "__main__":
    main()
