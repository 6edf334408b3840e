"""Conformance: configurations whose labels must be equal in one process, on Dask and on Ray."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._sharded import fit as sharded_fit
from boostkmeans.distributed import BisectingBoostKMeans, BoostKMeans, _engine_choice

# Uneven blocks, so that a mistake in their order changes the labels.
SHARES = (0.1, 0.5, 0.0, 0.4)


@dataclass(frozen=True)
class Configuration:
    """One kind of fit."""

    name: str
    data: Callable[[], Any]
    n_clusters: int
    parameters: dict[str, Any] = field(default_factory=dict)
    weighted: bool = False
    bisecting: bool = False
    kind: str = "sweep"
    """A kind of step that the fit must have made, so that the test is about what its name says."""

    @property
    def rows(self) -> list[Any]:
        """Blocks of rows."""
        return blocks(self.data())

    @property
    def sample_weight(self) -> list[NDArray[np.float64]] | None:
        """Weights of the rows of each block, some of them 0."""
        if not self.weighted:
            return None
        rng = np.random.default_rng(9)
        return [rng.integers(0, 4, one.shape[0]) / 2 for one in self.rows]

    def model(self, engine: Any = None, **more: Any) -> Any:
        """Return the estimator."""
        estimator = BisectingBoostKMeans if self.bisecting else BoostKMeans
        parameters = {"random_state": 3, **self.parameters, **more}
        return estimator(self.n_clusters, engine=engine, **parameters)

    def fit(self, engine: Any = None, **more: Any) -> Any:
        """Return the fitted estimator. Without an engine, it is fitted in this process."""
        with small_samples(), one_process() if engine is None else nullcontext():
            return self.model(engine, **more).fit(self.rows, sample_weight=self.sample_weight)

    def outcome(self, engine: Any = None, **more: Any) -> "FitOutcome":
        """Return what must be equal on all engines."""
        found = outcome_of(self.fit(engine, **more))
        assert self.kind in found.kinds, f"{self.name}: no step {self.kind!r} in {found.kinds}"
        return found


@dataclass(frozen=True)
class FitOutcome:
    """The labels of a fit as a hash, and the bits of its other results."""

    labels: str
    centres: str
    inertia: float
    kinds: tuple[str, ...]


def outcome_of(model: Any) -> FitOutcome:
    """Return what must be equal on all engines."""
    labels = model.to_local().labels_
    return FitOutcome(
        digest(labels),
        digest(model.cluster_centers_),
        model.inertia_,
        tuple(record.kind for record in model.history_),
    )


def digest(array: Any) -> str:
    """Return the hash of an array."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def blocks(X: Any) -> list[Any]:
    """Cut rows into blocks of different lengths, one of them without rows."""
    borders = np.rint(np.cumsum((0.0, *SHARES)) * X.shape[0]).astype(int)
    return [X[begin:end] for begin, end in pairwise(borders)]


@contextmanager
def small_samples() -> Iterator[None]:
    """Let small data sets start from a sample, so that rounds of all shards follow.

    The driver decides this, so it also holds for workers in other processes.
    """
    few = {"fast": 4, "balanced": 4, "best": 4}
    with (
        mock.patch.object(sharded_fit, "MIN_SAMPLE", 256),
        mock.patch.object(sharded_fit, "SAMPLE_PER_CLUSTER", few),
    ):
        yield


@contextmanager
def one_process() -> Iterator[None]:
    """Let fits without an engine run in this process, even if it is connected to a cluster."""
    with (
        mock.patch.object(_engine_choice, "_ray_runs", return_value=False),
        mock.patch.object(_engine_choice, "_dask_runs", return_value=False),
    ):
        yield


def normal(n: int, d: int, dtype: Any = np.float32) -> Callable[[], Any]:
    """Return a function that draws rows without clusters, whose fits have many rounds."""
    return lambda: (10 * np.random.default_rng(7).normal(size=(n, d))).astype(dtype)


def text_like() -> Any:
    """Return sparse rows that stay sparse during the fit."""
    return sparse.random(2000, 3000, density=0.005, random_state=7, format="csr")


def far_blobs() -> Any:
    """Return planted clusters that a sample misses, so that repairs find them."""
    rng = np.random.default_rng(7)
    return (100 * rng.normal(size=(60, 3)))[rng.integers(0, 60, 3000)] + rng.normal(size=(3000, 3))


# The first ones are part of `make test`.
SHORT = (
    Configuration("few clusters", normal(2000, 6), 20, {"max_iter": 6}),
    Configuration(
        "candidates", normal(3000, 4), 512, {"max_iter": 6, "annealing": 0.0}, kind="candidates"
    ),
    Configuration("weights", normal(500, 2), 4, {"tol": 0}, weighted=True, kind="certify"),
    Configuration("cosine", normal(2000, 6), 15, {"metric": "cosine", "max_iter": 4}),
    Configuration("sparse", text_like, 8, {"max_iter": 3}),
    Configuration("float16", normal(2000, 6, np.float16), 15, {"max_iter": 4}),
    Configuration("refined tree", normal(2000, 4), 16, {"refine": True, "max_iter": 4}, bisecting=True),
)
LONG = (
    Configuration("many rounds", normal(3000, 6), 20),
    Configuration("annealed candidates", normal(5000, 4), 520, {"max_iter": 20}, kind="candidates"),
    Configuration("tree", normal(2000, 4), 20, bisecting=True, kind="tree"),
    Configuration("uint8", lambda: np.random.default_rng(7).integers(0, 255, (3000, 8), np.uint8), 25),
    Configuration("float64", normal(2000, 5, np.float64), 15),
    Configuration("first moves", normal(2000, 5), 15, {"moves": "first"}),
    Configuration("best quality", normal(3000, 5), 30, {"quality": "best", "max_iter": 40}),
    Configuration("repairs", far_blobs, 60, {"repair": 3, "annealing": 0.0}, kind="repair"),
    Configuration("fast quality", normal(3000, 5), 30, {"quality": "fast"}),
    Configuration("fewer dimensions", normal(3000, 24), 30, {"dimensions": 6, "max_iter": 12}),
    Configuration("two runs", normal(1500, 5), 10, {"n_init": 2}),
    Configuration("certified", normal(1500, 3, np.float64), 25, {"tol": 0}, kind="certify"),
    Configuration("few candidates", normal(3000, 4), 100, {"n_candidates": 8}, kind="candidates"),
    Configuration(
        "weighted cosine", normal(2000, 6), 15, {"metric": "cosine"}, weighted=True, kind="sweep"
    ),
    Configuration("sparse cosine", text_like, 8, {"metric": "cosine", "max_iter": 4}),
)
ALL = SHORT + LONG
