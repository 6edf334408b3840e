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

from boostkmeans import BoostKMeans, SweepRecord, metrics
from boostkmeans.baselines import METHODS as BASELINES

Array = NDArray[Any]
Make = Callable[[int, int | None], Any]

# Maximum number of iterations of direct k-way methods, as in the paper.
ITERATIONS = 20
# Seconds after which a long run of k-means stores its centres. To continue takes one more assignment.
SECONDS_PER_STEP = 300.0


@dataclass(frozen=True)
class Fitted:
    """Result of a method."""

    distortion: float
    seconds: float
    """Seconds until the labels of all rows are known."""
    times: list[float]
    """Seconds from the beginning to the end of each iteration."""


def named(name: str) -> Make:
    """Return a method of `boostkmeans.baselines`."""
    return BASELINES[name]


# The paper's nine methods, those of the package itself, and scikit-learn's.
K_WAY: dict[str, Make] = {
    "k-means": named("k-means"),
    "k-means++": named("k-means++"),
    "Mini-Batch": named("Mini-Batch"),
    "Mini-Batch, 10 % in total": named("Mini-Batch, 10 % in total"),
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
LLOYD = {"k-means", "k-means++"}
# Methods of the paper's Algorithm 1. After the last sweep, `fit` assigns all rows to their nearest
# centres, which the paper does not. Time and distortion are therefore those after the last sweep.
BOOSTED = {"BKM(non)", "BKM(rnd)+Fast"}


def estimator(method: str, k: int, seed: int, iterations: int = ITERATIONS) -> Any:
    """Return a method with its number of iterations and threads."""
    settings: Json = {"n_threads": N_THREADS}
    if method in DIRECT:
        settings |= {"max_iter": iterations, "tol": 0}
    if method.startswith("Mini-Batch"):
        settings["record_every"] = iterations  # Measuring all rows takes longer than a batch.
    return METHODS[method](k, seed).set_params(**settings)


def fit(method: str, rows: Array, k: int, seed: int, iterations: int = ITERATIONS) -> Fitted:
    """Run a method."""
    model = estimator(method, k, seed, iterations)
    began = time.perf_counter()
    model.fit(rows)
    return fitted(method, model, rows, time.perf_counter() - began)


def fitted(method: str, model: Any, rows: Array, seconds: float) -> Fitted:
    """Return the result of a fitted estimator. Direct methods end with their last iteration."""
    times = [record.seconds for record in model.history_]
    if method in DIRECT and not method.startswith("Mini-Batch"):
        seconds = times[-1]
    if method in BOOSTED:
        return Fitted(model.history_[-1].inertia / len(rows), seconds, times)
    return Fitted(float(metrics.average_distortion(rows, model.labels_)), seconds, times)


def fit_resumable(method: str, rows: Array, k: int, seed: int, folder: Path) -> float:
    """Run a method, or what is missing of it, and return the distortion. Its state is in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    if method in LLOYD:
        model = lloyd_in_steps(method, rows, k, seed, folder)
    else:
        model = estimator(method, k, seed)
        if method in WITH_CHECKPOINT:
            note = Notes(folder, len(rows))
            model.set_params(checkpoint=folder / "fit.checkpoint", callback=note)
        model.fit(rows)
    return fitted(method, model, rows, 0.0).distortion


class Notes:
    """Callback that notes the progress of a fit, and stops it after a while."""

    def __init__(self, folder: Path, n: int, done: int = 0, seconds: float = float("inf")) -> None:
        self.folder = folder
        self.n = n
        self.done = done
        self.end = time.monotonic() + seconds

    def __call__(self, record: SweepRecord) -> bool:
        """Note an iteration, and return whether the fit should stop."""
        self.done += 1
        note_progress(self.folder, f"{self.done} iterations, distortion {record.inertia / self.n:.6g}")
        return time.monotonic() > self.end


def lloyd_in_steps(method: str, rows: Array, k: int, seed: int, folder: Path) -> Any:
    """Run k-means, and store its centres from time to time: its whole state. Return the model."""
    path, part = folder / "centres.npz", folder / "part.npz"
    start: Json = {}
    done = 0
    if path.exists():
        with np.load(path) as state:
            start, done = {"init": state["centres"]}, int(state["done"])
    while True:
        note = Notes(folder, len(rows), done, SECONDS_PER_STEP)
        model = estimator(method, k, seed, ITERATIONS - done).set_params(callback=note, **start)
        model.fit(rows)
        done += model.n_iter_
        if model.history_[-1].moves == 0 or done >= ITERATIONS:
            return model
        start = {"init": model.cluster_centers_}
        np.savez(part, centres=model.cluster_centers_, done=done)
        part.replace(path)
