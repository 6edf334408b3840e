"""Methods of the scalability experiment, and how they are run.

A method is a function from k and a seed to an estimator. Direct k-way methods run for `ITERATIONS`, as
in the paper; trees and boostkmeans run until they end by themselves.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiment import N_THREADS, Json, note_progress

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray
from sklearn import cluster
from threadpoolctl import threadpool_limits

from boostkmeans import BoostKMeans
from boostkmeans.baselines import METHODS as BASELINES

Array = NDArray[Any]
Make = Callable[[int, int | None], Any]

# Maximum number of iterations of direct k-way methods, as in the paper.
ITERATIONS = 20
# Iterations of k-means after which a long run stores its centres.
ITERATIONS_PER_STEP = 5
# Share of the rows that Mini-Batch sees in each batch, or in all batches together.
MINI_BATCH_SHARE = 0.1


@dataclass(frozen=True)
class Fitted:
    """Result of a method."""

    labels: Array
    seconds: float
    """Seconds of the whole fit, including the labels of all rows."""
    times: list[float]
    """Seconds from the beginning to the end of each iteration."""


class MiniBatch:
    """scikit-learn's Mini-Batch without measurements between the batches.

    `baselines.MiniBatchKMeans` measures the inertia of all rows after each batch, which takes ten times
    as long as the batch.
    """

    def __init__(self, n_clusters: int, seed: int | None, in_total: bool) -> None:
        self.n_clusters = n_clusters
        self.seed = seed
        self.in_total = in_total
        self.max_iter = ITERATIONS
        self.n_threads = N_THREADS
        self.times: list[float] = []
        self.labels_: Array

    def set_params(self, **values: Any) -> "MiniBatch":
        """Set `max_iter`, `tol` (which has no effect) and `n_threads`."""
        self.max_iter = values["max_iter"]
        self.n_threads = values["n_threads"]
        return self

    def batches(self, n: int) -> tuple[int, int]:
        """Return the size and the number of the batches for n rows."""
        if not self.in_total:
            return max(self.n_clusters, int(MINI_BATCH_SHARE * n)), self.max_iter
        total = MINI_BATCH_SHARE * n
        size = max(self.n_clusters, int(total / ITERATIONS))  # The first batch has the initial centres.
        return size, max(1, min(self.max_iter, round(total / size)))

    def fit(self, rows: Array) -> "MiniBatch":
        """Process the batches, and assign all rows."""
        began = time.perf_counter()
        rng = np.random.RandomState(self.seed)
        size, number = self.batches(len(rows))
        model = cluster.MiniBatchKMeans(
            self.n_clusters, init="random", n_init=1, batch_size=size, compute_labels=False,
            random_state=rng,
        )  # fmt: skip
        with threadpool_limits(self.n_threads):
            for _ in range(number):
                # Sorted, because reading rows in their order is faster.
                some = rows[np.sort(rng.choice(len(rows), size, replace=False))]
                model.partial_fit(some.astype(np.float32, copy=False))
                self.times.append(time.perf_counter() - began)
            self.labels_ = in_blocks(model.predict, rows)
        return self


def in_blocks(predict: Callable[[Array], Array], rows: Array, size: int = 100_000) -> Array:
    """Return the labels of all rows. scikit-learn would convert all float16 rows at once."""
    blocks = (rows[begin : begin + size] for begin in range(0, len(rows), size))
    return np.concatenate([predict(block.astype(np.float32, copy=False)) for block in blocks])


def named(name: str) -> Make:
    """Return a method of `boostkmeans.baselines`."""
    return BASELINES[name]


# The paper's nine methods, those of the package itself, and scikit-learn's.
K_WAY: dict[str, Make] = {
    "k-means": named("k-means"),
    "k-means++": named("k-means++"),
    "Mini-Batch": lambda k, seed: MiniBatch(k, seed, in_total=False),
    "Mini-Batch, 10 % in total": lambda k, seed: MiniBatch(k, seed, in_total=True),
    "BKM(non)": named("BKM(non)"),
    "BKM(rnd)+Fast": named("BKM(rnd)+Fast"),
}
BISECTING: dict[str, Make] = {
    "BsKM": named("BsKM"),
    "BsKM++": named("BsKM++"),
    "BsBKM(non)": named("BsBKM(non)"),
    "RBK": named("RBK"),
    "sampled tree": named("sampled tree"),
    "sampled RBK": named("sampled RBK"),
}
OWN: dict[str, Make] = {
    "boostkmeans": lambda k, seed: BoostKMeans(k, random_state=seed),
    "boostkmeans, fast": lambda k, seed: BoostKMeans(k, quality="fast", random_state=seed),
}
SCIKIT_LEARN_K_WAY = {f"{name} (scikit-learn)": named(f"{name} (scikit-learn)")
                      for name in ("k-means", "k-means++")}  # fmt: skip
SCIKIT_LEARN_TREES = {f"{name} (scikit-learn)": named(f"{name} (scikit-learn)")
                      for name in ("BsKM", "BsKM++")}  # fmt: skip
SCIKIT_LEARN: dict[str, Make] = {**SCIKIT_LEARN_K_WAY, **SCIKIT_LEARN_TREES}
METHODS: dict[str, Make] = {**K_WAY, **BISECTING, **OWN, **SCIKIT_LEARN}
# Methods whose number of iterations is limited.
DIRECT = {*K_WAY, *SCIKIT_LEARN_K_WAY}
# Methods that continue from the checkpoint of an earlier process.
WITH_CHECKPOINT = {"BKM(non)", "BKM(rnd)+Fast", "BsBKM(non)", *OWN}
LLOYD = {"k-means", "k-means++", *SCIKIT_LEARN_K_WAY}


def estimator(method: str, k: int, seed: int, iterations: int = ITERATIONS) -> Any:
    """Return a method with its number of iterations and threads."""
    settings: Json = {"n_threads": N_THREADS}
    if method in DIRECT:
        settings |= {"max_iter": iterations, "tol": 0}
    return METHODS[method](k, seed).set_params(**settings)


def fit(method: str, rows: Array, k: int, seed: int, iterations: int = ITERATIONS) -> Fitted:
    """Run a method."""
    model = estimator(method, k, seed, iterations)
    began = time.perf_counter()
    model.fit(rows)
    seconds = time.perf_counter() - began
    records = getattr(model, "history_", [])
    times = model.times if isinstance(model, MiniBatch) else [one.seconds for one in records]
    return Fitted(model.labels_, seconds, times)


def resumed_labels(method: str, rows: Array, k: int, seed: int, folder: Path) -> Array:
    """Run a method, or what is missing of it, and return the labels. Its state is in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    if method in LLOYD:
        return lloyd_in_steps(method, rows, k, seed, folder)
    model = estimator(method, k, seed)
    if method in WITH_CHECKPOINT:
        done: list[float] = []

        def note(record: Any) -> None:
            done.append(record.inertia)
            note_progress(folder, f"{len(done)} sweeps, distortion {record.inertia / len(rows):.6g}")

        model.set_params(checkpoint=folder / "fit.checkpoint", callback=note)
    labels: Array = model.fit(rows).labels_
    return labels


def lloyd_in_steps(method: str, rows: Array, k: int, seed: int, folder: Path) -> Array:
    """Run k-means a few iterations at a time. Its centres are its whole state."""
    path, part = folder / "centres.npz", folder / "part.npz"
    start, done = {}, 0
    if path.exists():
        with np.load(path) as state:
            start, done = {"init": state["centres"]}, int(state["done"])
    while True:
        asked = min(ITERATIONS_PER_STEP, ITERATIONS - done)
        model = estimator(method, k, seed, asked).set_params(**start).fit(rows)
        done += asked
        note_progress(folder, f"{done} iterations, distortion {model.inertia_ / len(rows):.6g}")
        if model.n_iter_ < asked or done >= ITERATIONS:
            labels: Array = model.labels_
            return labels
        start = {"init": model.cluster_centers_}
        np.savez(part, centres=model.cluster_centers_, done=done)
        part.replace(path)
