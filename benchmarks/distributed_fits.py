"""Benchmark of distributed fits: one process, Dask and Ray, against the ordinary estimator.

The machine should do nothing else.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from environment import N_THREADS, Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

import data
import problems
from boostkmeans import BoostKMeans
from boostkmeans.distributed import BoostKMeans as DistributedBoostKMeans
from boostkmeans.distributed import open_shards
from measure import interleaved, median, timed
from result_files import save_result

# Shards per worker. Each cluster should have many rows in a shard, or gathering its candidates takes
# longer than comparing them.
N_SHARDS = 4
# Number of runs, of which the median counts. The large set takes minutes per run.
REPEATS_SMALL, REPEATS_LARGE = 3, 1
ORDINARY = "ordinary fit, 2 threads"


def distributed_fits() -> None:
    """Compare distributed fits with the ordinary estimator: time, inertia and labels."""
    sift, wordnet = data.photosift(1_000_000), data.wordnet()
    sets = {
        "PhotoSIFT 1,000,000 x 128, k = 10,000": (
            data.synthetic_descriptors(1_000_000) if sift is None else sift, 10_000, REPEATS_LARGE
        ),
        "WordNet embeddings 81,000 x 512, k = 1,000": (
            problems.embeddings(81_000, 512)[1] if wordnet is None else wordnet[1], 1_000,
            REPEATS_SMALL,
        ),
    }  # fmt: skip
    found = {name: compare_engines(X, k, repeats) for name, (X, k, repeats) in sets.items()}
    counts = {name: repeats for name, (_, _, repeats) in sets.items()}
    save_result("distributed_fits", {"sets": found, "n_shards": N_SHARDS, "repeats": counts})


def compare_engines(X: data.Array, k: int, repeats: int) -> Json:
    """Return time, inertia and label hash of each engine, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        for number, part in enumerate(np.array_split(X, N_SHARDS)):
            np.save(Path(folder, f"part-{number}.npy"), part)
        shards = open_shards(folder, max_shard_bytes="4GB")
        contestants: dict[str, Callable[[], Json]] = {
            ORDINARY: lambda: ordinary(Path(folder), k),
            "one process, 2 threads": lambda: distributed(shards, k, nullcontext("local")),
            "Dask, 2 workers": lambda: distributed(shards, k, dask_client()),
            "Ray, 2 workers": lambda: distributed(shards, k, local_ray()),
        }
        runs = interleaved(contestants, repeats)
    base = runs[ORDINARY]
    return {
        name: {
            "seconds": median([run["seconds"] for run in some]),
            "time_ratio": median(
                [run["seconds"] / other["seconds"] for run, other in zip(some, base, strict=True)]
            ),
            "inertia_ratio": some[0]["inertia"] / base[0]["inertia"],
            "labels": some[0]["labels"],
            "rounds": some[0]["rounds"],
        }
        for name, some in runs.items()
    }


def ordinary(folder: Path, k: int) -> Json:
    """Return the figures of the ordinary estimator, and its seconds, including those to read the files.

    A small fit comes first.
    """
    BoostKMeans(2, max_iter=1, random_state=0, n_threads=N_THREADS).fit(np.eye(2))
    model = BoostKMeans(k, random_state=0, n_threads=N_THREADS)
    seconds, _ = timed(lambda: model.fit(np.concatenate([*map(np.load, sorted(folder.glob("*.npy")))])))
    return {"seconds": seconds, **figures(model, None)}


def distributed(shards: Any, k: int, opened: AbstractContextManager[Any]) -> Json:
    """Return the figures of a distributed fit, and its seconds, including those to read the files.

    The cluster runs only meanwhile: even idle, its processes would disturb the other fits. A small fit
    comes first, for which the workers import the library.
    """
    with opened as engine:
        DistributedBoostKMeans(2, max_iter=1, random_state=0, engine=engine).fit(shards)
        model = DistributedBoostKMeans(k, random_state=0, n_threads=N_THREADS, engine=engine)
        seconds, _ = timed(lambda: model.fit(shards))
        return {"seconds": seconds, **figures(model, model)}


def figures(model: Any, on_workers: Any) -> Json:
    """Return the inertia and a hash of the labels. Distributed labels are copied for it."""
    labels = model.labels_ if on_workers is None else model.to_local().labels_
    digest = hashlib.sha256(np.asarray(labels, dtype=np.int32).tobytes()).hexdigest()[:16]
    return {"inertia": model.inertia_, "labels": digest, "rounds": model.n_iter_}


@contextmanager
def dask_client() -> Iterator[Any]:
    """Start two single-threaded workers of Dask."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def local_ray() -> Iterator[str]:
    """Start Ray with two processors."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        yield "ray"
    finally:
        ray.shutdown()


BENCHMARKS = [distributed_fits]
