"""Benchmarks of updates: rows are added to a fitted model and removed from it.

The parts are separate benchmarks, so that each takes a few minutes. Fitted models are kept in a folder
for the parts that follow.
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans

import data
from boostkmeans import BoostKMeans, load_model
from data import Array
from environment import N_THREADS, Json
from measure import exact_inertia, median, one_line, timed
from result_files import RESULTS, read_result, save_result
from updates_report import N_START, RESULT

N_ROWS = 1_000_000
N_NEW = 100_000
N_CLUSTERS = 4096
# Share of the rows that an update removes.
REMOVED_SHARE = 0.05
# Share of the rows that each of several updates adds.
ADDED_SHARE = 0.1
N_UPDATES = 10
# Number of repetitions of an update.
REPEATS = 3
# Where fitted models are kept.
MODELS = Path(tempfile.gettempdir()) / "boostkmeans_updates"


def estimator() -> BoostKMeans:
    """Return the estimator of all parts."""
    return BoostKMeans(N_CLUSTERS, random_state=0, n_threads=N_THREADS)


def rows_of_update() -> tuple[Array, Array, Array]:
    """Return the rows of the model, new rows of other photographs, and the numbers of removed rows."""
    old, found = data.photosift(N_ROWS), data.photosift_training(N_NEW, 1)
    if old is None or found is None:
        raise FileNotFoundError("The benchmarks of updates need PhotoSIFT.")
    gone = np.random.default_rng(0).permutation(N_ROWS)[: int(REMOVED_SHARE * N_ROWS)]
    return old, found[0], np.sort(gone)


def _record(part: str, figures: Json) -> None:
    """Add the figures of a part to the result file."""
    path = RESULTS / f"{RESULT}.json"
    known = read_result(path).get("parts", {}) if path.exists() else {}
    name = f"PhotoSIFT {N_ROWS} x 128, and {N_NEW} rows of other photographs"
    save_result(RESULT, {"data": name, "k": N_CLUSTERS, "parts": {**known, part: figures}})
    print(f"  {part}: {one_line(figures)}", flush=True)


def _fitted(name: str, X: Array) -> tuple[BoostKMeans, float | None]:
    """Return a stored model, or fit it and store it. Return also the seconds of the fit."""
    path = MODELS / f"{name}.st"
    if path.exists():
        model = load_model(path)
        assert isinstance(model, BoostKMeans)
        return model, None
    seconds, model = timed(partial(estimator().fit, X))
    MODELS.mkdir(exist_ok=True)
    model.save(path)
    return model, seconds


def update_base() -> None:
    """Fit the model that is updated."""
    model, seconds = _fitted("base", rows_of_update()[0])
    if seconds is not None:
        _record("base", {"seconds": seconds, "distortion": model.distortion_})


def update_refit() -> None:
    """Fit all rows of the updated model again."""
    old, new, gone = rows_of_update()
    seconds, model = timed(partial(estimator().fit, np.concatenate([np.delete(old, gone, axis=0), new])))
    _record("refit", {"seconds": seconds, "inertia": model.inertia_})


def update_with_rows() -> None:
    """Update the model, with its old rows."""
    old, new, gone = rows_of_update()
    runs = []
    for _ in range(REPEATS):
        model, _ = _fitted("base", old)
        model.set_params(n_threads=N_THREADS)
        before = np.delete(model.labels_, gone)
        seconds, _ = timed(partial(model.update, new, X_removed=gone, X=old))
        runs.append({"seconds": seconds, **_figures(model, before)})
        print(f"  {one_line(runs[-1])}", flush=True)
    rows = np.concatenate([np.delete(old, gone, axis=0), new])
    nearest = _measured(model, rows, before)["inertia"]
    seconds = median([run["seconds"] for run in runs])
    _record("update", {**runs[0], "seconds": seconds, "nearest_inertia": nearest})


def _figures(model: BoostKMeans, before: Array) -> Json:
    """Return figures of an update, given the earlier clusters of the kept rows."""
    report = model.update_report_
    kept = float(np.mean(model.labels_[: len(before)] == before))
    counts = {name: len(getattr(report, name)) for name in ("split", "merged", "created", "removed")}
    return {"inertia": model.inertia_, "kept": kept, "sweeps": model.n_iter_, **counts}


def update_without_rows() -> None:
    """Update the model without its old rows, and compare with `partial_fit` and scikit-learn."""
    old, new, gone = rows_of_update()
    rows = np.concatenate([np.delete(old, gone, axis=0), new])
    model, _ = _fitted("base", old)
    model.set_params(n_threads=N_THREADS)
    start = model.cluster_centers_.copy()
    before = np.delete(model.labels_, gone)
    weights = model._cluster_weights.copy()
    seconds, _ = timed(partial(model.update, new, X_removed=old[gone]))
    _record("update without rows", {"seconds": seconds, **_measured(model, rows, before)})
    model, _ = _fitted("base", old)
    model.set_params(n_threads=N_THREADS)
    seconds, _ = timed(partial(model.partial_fit, new))
    _record("partial_fit", {"seconds": seconds, **_measured(model, rows, before)})
    peer = MiniBatchKMeans(N_CLUSTERS, init=start.astype(np.float32), n_init=1, random_state=0)
    batch = new.astype(np.float32)
    peer.partial_fit(batch[:N_CLUSTERS])
    peer.cluster_centers_, peer._counts = start.astype(np.float32), weights.astype(np.float32)
    seconds, _ = timed(partial(peer.partial_fit, batch))
    own = BoostKMeans(N_CLUSTERS, init=peer.cluster_centers_, max_iter=1, repair=False, annealing=0)
    _record("scikit-learn", {"seconds": seconds, **_measured_centres(own, peer, rows, before)})


def _measured(model: BoostKMeans, rows: Array, before: Array) -> Json:
    """Return the inertia of rows at their nearest centres, and the share that keep their cluster."""
    labels = model.predict(rows)
    inertia = exact_inertia(rows, model.cluster_centers_, labels)
    return {"inertia": inertia, "kept": float(np.mean(labels[: len(before)] == before))}


def _measured_centres(model: BoostKMeans, peer: Any, rows: Array, before: Array) -> Json:
    """Return the same for centres of another library."""
    model.fit(peer.cluster_centers_)  # It only has to know the frame.
    model.cluster_centers_ = peer.cluster_centers_.astype(np.float64)
    return _measured(model, rows, before)


def update_warm_start() -> None:
    """Fit the updated rows from the centres of the model."""
    old, new, gone = rows_of_update()
    model, _ = _fitted("base", old)
    before = np.delete(model.labels_, gone)
    rows = np.concatenate([np.delete(old, gone, axis=0), new])
    warm = estimator().set_params(init=model.cluster_centers_)
    seconds, _ = timed(partial(warm.fit, rows))
    kept = float(np.mean(warm.labels_[: len(before)] == before))
    _record("warm start", {"seconds": seconds, "inertia": warm.inertia_, "kept": kept})


def _rows_of_sequence() -> tuple[Array, Array]:
    """Return the rows at the start, and the rows that are added later, all in random order."""
    rows = rows_of_update()
    every = np.concatenate(rows[:2])
    every = every[np.random.default_rng(1).permutation(len(every))]
    return every[:N_START], every[N_START:]


def ten_updates_base() -> None:
    """Fit the model that is updated ten times."""
    _fitted("start", _rows_of_sequence()[0])


def ten_updates() -> None:
    """Update a model ten times, with its rows."""
    rows, pool = _rows_of_sequence()
    model, _ = _fitted("start", rows)
    model.set_params(n_threads=N_THREADS)
    rng = np.random.default_rng(2)
    total, kept = 0.0, []
    for _ in range(N_UPDATES):
        n_new = int(ADDED_SHARE * len(rows))
        gone = np.sort(rng.permutation(len(rows))[: int(REMOVED_SHARE * len(rows))])
        new, pool = pool[:n_new], pool[n_new:]
        before = np.delete(model.labels_, gone)
        seconds, _ = timed(partial(model.update, new, X_removed=gone, X=rows))
        rows = np.concatenate([np.delete(rows, gone, axis=0), new])
        figures = _figures(model, before)
        total += seconds
        kept.append(figures["kept"])
        print(f"  {seconds:.2f} s {one_line(figures)}", flush=True)
    MODELS.mkdir(exist_ok=True)
    np.save(MODELS / "rows.npy", rows)
    figures = {"seconds": total, "inertia": model.inertia_, "kept": min(kept), "n_rows": len(rows)}
    _record("ten updates", figures)


def ten_updates_refit() -> None:
    """Fit the rows after ten updates again."""
    seconds, model = timed(partial(estimator().fit, np.load(MODELS / "rows.npy")))
    _record("refit after ten updates", {"seconds": seconds, "inertia": model.inertia_})


BENCHMARKS = [
    update_base, update_refit, update_with_rows, update_without_rows, update_warm_start,
    ten_updates_base, ten_updates, ten_updates_refit,
]  # fmt: skip
