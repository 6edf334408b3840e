"""Define the settings whose results must stay the same in every version: data, parameters, results.

Each setting is a function that uses only the public interface of the package and returns an `Outcome`.
`record.py` writes the outcomes of a release to a file, and `test_labels.py` compares with them.
"""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import synthetic
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from synthetic import blobs, cloud, far_rows, pixels, repeated, topics

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer, SweepRecord, metrics
from boostkmeans.baselines import (
    METHODS,
    RBK,
    OnlineKMeans,
    ScikitLearnBisectingKMeans,
    ScikitLearnKMeans,
    ScikitLearnMiniBatchKMeans,
    compare,
)
from boostkmeans.documents import Corpus, Weighting, cluster_documents
from boostkmeans.io import open_vectors, write_vectors
from boostkmeans.select import scan

Array = NDArray[Any]

# A fit needs at least 256 MiB, by its own account. What is above that decides how many rows are read at
# a time.
SMALLEST_LIMIT = 2**28


@dataclass(frozen=True)
class Place:
    """Say where and how a setting runs."""

    folder: Path
    n_threads: int = 1


@dataclass(frozen=True)
class Outcome:
    """Hold what a setting found."""

    arrays: list[Array]
    """Labels or codes: compared bit by bit."""
    inertia: float
    """Compared to ten digits."""
    moves: list[int] = field(default_factory=list)
    """Moves of each sweep: two fits that take different ways seldom agree in all of them."""
    stop_reason: str = ""
    note: str = ""
    """What the fit says that it chose. Stored for the reader, not compared."""

    def summary(self) -> dict[str, str]:
        """Return the outcome as it is stored."""
        return {
            "labels": digest(*self.arrays),
            "inertia": f"{self.inertia:.10g}",
            "moves": digest(np.array(self.moves, dtype=np.int64)),
            "stop_reason": self.stop_reason,
        }


Run = Callable[[Place], Outcome]


@dataclass(frozen=True)
class Setting:
    """Name a setting."""

    name: str
    run: Run
    machine_dependent: bool = False
    """Whether the result depends on BLAS or scikit-learn, and so may differ on another machine."""


SETTINGS: dict[str, Setting] = {}


def digest(*arrays: Array) -> str:
    """Return a hash of the values, types and shapes of some arrays."""
    found = hashlib.blake2b(digest_size=12)
    for array in arrays:
        array = np.ascontiguousarray(array)
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def outcome_of(model: Any, *more: Array) -> Outcome:
    """Return what a fitted estimator found, and some arrays beside its labels."""
    history = model.history_
    return Outcome(
        [model.labels_, *more],
        float(model.inertia_),
        [record.moves for record in history if record.kind != "start"],  # New in version 0.9.
        getattr(model, "stop_reason_", ""),
        history[0].note if history else "",
    )


def add(name: str, run: Run, *, machine_dependent: bool = False) -> None:
    """Add a setting."""
    if name in SETTINGS:
        raise ValueError(f"there are two settings {name!r}")
    SETTINGS[name] = Setting(name, run, machine_dependent)


def setting(name: str, *, machine_dependent: bool = False) -> Callable[[Run], Run]:
    """Decorate a function that is a setting."""

    def decorate(run: Run) -> Run:
        add(name, run, machine_dependent=machine_dependent)
        return run

    return decorate


def add_fit(
    name: str,
    estimator: Callable[..., Any],
    n_clusters: int,
    rows: Callable[[], Any],
    sample_weight: Array | None = None,
    *,
    machine_dependent: bool = False,
    **parameters: Any,
) -> None:
    """Add a setting that fits an estimator to rows in memory and returns its labels."""

    def run(place: Place) -> Outcome:
        model = estimator(n_clusters, n_threads=place.n_threads, **{"random_state": 0, **parameters})
        if sample_weight is None:
            return outcome_of(model.fit(rows()))
        return outcome_of(model.fit(rows(), sample_weight=sample_weight))

    add(name, run, machine_dependent=machine_dependent)


def plain() -> Array:
    """Return the rows that most settings use."""
    return blobs(600, 6, 20)


# --- Types and layouts of dense rows -------------------------------------------------------------------


def _read_only_slice() -> Array:
    return blobs(1200, 12, 20)[::2, ::2]


LAYOUTS: dict[str, Callable[[], Any]] = {
    "float64": plain,
    "float32": lambda: plain().astype(np.float32),
    "float16": lambda: plain().astype(np.float16),
    "uint8": lambda: pixels(600, 16, 20),
    "int8": lambda: (pixels(600, 16, 20) // 2).astype(np.int8) - np.int8(32),
    "int32": lambda: pixels(600, 16, 20).astype(np.int32) * 1000,
    "uint16": lambda: pixels(600, 16, 20).astype(np.uint16) * 3,
    "bool": lambda: pixels(600, 48, 20) > 40,
    "big-endian": lambda: plain().astype(">f8"),
    "fortran": lambda: np.asfortranarray(plain()),
    "fortran-float32": lambda: np.asfortranarray(plain().astype(np.float32)),
    "strided": _read_only_slice,
    "lists": lambda: plain()[:120].tolist(),
    "far-from-origin": lambda: plain() + 2.0**20,
    "tiny-unit": lambda: plain() * 2.0**-300,
    "one-feature": lambda: blobs(500, 1, 9),
    "wide": lambda: blobs(150, 300, 12),
}
for _name, _rows in LAYOUTS.items():
    add_fit(f"dense/{_name}", BoostKMeans, 12, _rows)
add_fit("dense/uint8-many-clusters", BoostKMeans, 256, lambda: pixels(5000, 16, 300), annealing=0)
add_fit("dense/int8-many-clusters", BoostKMeans, 260,
        lambda: (pixels(4000, 16, 300) // 2).astype(np.int8), quality="fast")  # fmt: skip
add_fit("dense/bisecting-uint8", BisectingBoostKMeans, 40, lambda: pixels(1200, 16, 50))
add_fit("dense/bisecting-float16", BisectingBoostKMeans, 40, lambda: plain().astype(np.float16))

# --- Sparse rows ---------------------------------------------------------------------------------------


def large_sparse() -> Any:
    """Return a matrix with more than 2**22 cells, which is never expanded."""
    return topics(3000, 1500, 12)


def small_sparse() -> Any:
    """Return a matrix that is small enough to be expanded."""
    return topics(400, 300, 12)


def _wide_indices() -> Any:
    matrix = large_sparse().copy()
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


def _unsorted() -> Any:
    matrix = large_sparse()
    flipped = sparse.csr_array(
        (matrix.data[::-1].copy(), matrix.indices[::-1].copy(), matrix.nnz - matrix.indptr[::-1]),
        shape=matrix.shape,
    )
    flipped.has_sorted_indices = False
    return flipped


add_fit("sparse/kept", BoostKMeans, 8, large_sparse)
add_fit("sparse/kept-cosine", BoostKMeans, 12, large_sparse, metric="cosine")
add_fit("sparse/kept-float32", BoostKMeans, 8, lambda: large_sparse().astype(np.float32))
add_fit("sparse/kept-wide-indices", BoostKMeans, 8, _wide_indices, quality="fast")
add_fit("sparse/kept-unsorted", BoostKMeans, 8, _unsorted, quality="fast")
add_fit("sparse/kept-columns", BoostKMeans, 8, lambda: large_sparse().tocsc(), quality="fast")
add_fit("sparse/kept-weights", BoostKMeans, 8, large_sparse, synthetic.weights(3000))
add_fit("sparse/kept-candidates", BoostKMeans, 60, large_sparse, metric="cosine", n_candidates=10)
add_fit("sparse/kept-limits", BoostKMeans, 8, large_sparse, max_size=450, quality="fast")
add_fit("sparse/kept-certified", BoostKMeans, 5, large_sparse, tol=0, quality="fast")
add_fit("sparse/kept-bisecting", BisectingBoostKMeans, 30, large_sparse, metric="cosine")
add_fit("sparse/kept-bisecting-weights", BisectingBoostKMeans, 12, large_sparse,
        synthetic.weights(3000), split="inertia")  # fmt: skip
add_fit("sparse/expanded", BoostKMeans, 12, small_sparse)
add_fit("sparse/expanded-cosine", BoostKMeans, 12, small_sparse, metric="cosine")
add_fit("sparse/expanded-bisecting", BisectingBoostKMeans, 20, small_sparse, metric="cosine",
        refine=True)  # fmt: skip

# --- Metrics and weights -------------------------------------------------------------------------------

WEIGHTS = synthetic.weights(600)
add_fit("metric/cosine", BoostKMeans, 12, plain, metric="cosine")
add_fit("metric/cosine-uint8", BoostKMeans, 12, lambda: pixels(600, 16, 20) | np.uint8(1),
        metric="cosine")  # fmt: skip
add_fit("metric/cosine-centres", BoostKMeans, 6, plain, metric="cosine", init=8.0 * plain()[:6])
add_fit("weights/some-zero", BoostKMeans, 12, plain, WEIGHTS)
add_fit("weights/all-equal", BoostKMeans, 12, plain, np.full(600, 2.5))
add_fit("weights/cosine", BoostKMeans, 12, plain, WEIGHTS, metric="cosine")
add_fit("weights/tree-start", BoostKMeans, 24, plain, WEIGHTS)
add_fit("weights/certified", BoostKMeans, 12, plain, WEIGHTS, tol=0)
add_fit("weights/candidates", BoostKMeans, 60, plain, WEIGHTS, n_candidates=8)
add_fit("weights/random", BoostKMeans, 12, plain, WEIGHTS, init="random")

# --- Limits on sizes -----------------------------------------------------------------------------------

add_fit("limits/min", BoostKMeans, 12, plain, min_size=40)
add_fit("limits/max", BoostKMeans, 12, plain, max_size=60)
add_fit("limits/both", BoostKMeans, 12, plain, min_size=45, max_size=55)
add_fit("limits/equal-sizes", BoostKMeans, 12, plain, min_size=50, max_size=50)
add_fit("limits/candidates", BoostKMeans, 30, plain, max_size=24, n_candidates=6)
add_fit("limits/weights", BoostKMeans, 12, plain, WEIGHTS, min_size=25.0, max_size=50.0)
add_fit("limits/certified", BoostKMeans, 10, plain, min_size=30, max_size=80, tol=0)
add_fit("limits/tree-start", BoostKMeans, 30, plain, min_size=10, max_size=30)
add_fit("limits/centres", BoostKMeans, 12, plain, init=plain()[:12], max_size=60)

# --- Starts --------------------------------------------------------------------------------------------


def every_fiftieth(X: Array, n_clusters: int, random_state: np.random.RandomState) -> Array:
    """Return rows as centres, for `init`."""
    first = int(random_state.randint(50))
    return np.asarray(X)[first : first + 50 * n_clusters : 50]


def name_of_start(X: Array, n_clusters: int, random_state: np.random.RandomState) -> Any:
    """Return the name of a start, for `init`."""
    return "k-means++"


for _start in ("auto", "random-partition", "random", "k-means++", "sampled-k-means++", "bisecting"):
    add_fit(f"init/{_start}", BoostKMeans, 18, plain, init=_start)
add_fit("init/auto-without-repair", BoostKMeans, 18, plain, repair=False, annealing=0)
add_fit("init/centres", BoostKMeans, 12, plain, init=plain()[:12])
add_fit("init/labels", BoostKMeans, 12, plain, init=np.arange(600) % 12)
add_fit("init/labels-repaired", BoostKMeans, 12, plain, init=np.arange(600) % 5, repair=True)
add_fit("init/callable-centres", BoostKMeans, 12, plain, init=every_fiftieth)
add_fit("init/callable-name", BoostKMeans, 12, plain, init=name_of_start)
add_fit("init/sampled-k-means++-of-many", BoostKMeans, 6, lambda: blobs(20_000, 4, 9),
        init="sampled-k-means++", quality="fast", tol=1e-3)  # fmt: skip

# --- Moves, candidates, repair, annealing, quality -----------------------------------------------------

add_fit("moves/first", BoostKMeans, 12, plain, moves="first")
add_fit("moves/first-random", BoostKMeans, 12, plain, moves="first", init="random", tol=0)
add_fit("moves/first-candidates", BoostKMeans, 60, plain, moves="first", n_candidates=8)
add_fit("moves/plain-paper", BoostKMeans, 12, plain, init="random-partition", n_candidates=None,
        repair=False, annealing=0)  # fmt: skip
add_fit("candidates/few", BoostKMeans, 60, plain, n_candidates=8)
add_fit("candidates/one", BoostKMeans, 40, plain, n_candidates=1)
add_fit("candidates/more-than-clusters", BoostKMeans, 12, plain, n_candidates=50)
add_fit("candidates/certified", BoostKMeans, 40, plain, n_candidates=8, tol=0)
add_fit("candidates/not-repaired", BoostKMeans, 60, plain, n_candidates=8, repair=False, annealing=0)
add_fit("candidates/cosine", BoostKMeans, 60, plain, n_candidates=8, metric="cosine")
add_fit("candidates/auto-few-rows", BoostKMeans, 520, lambda: blobs(3000, 8, 600))
add_fit("candidates/auto-many-rows", BoostKMeans, 512,
        lambda: blobs(16_500, 6, 700).astype(np.float32), quality="fast", max_iter=12)  # fmt: skip
add_fit("candidates/auto-certified", BoostKMeans, 512, lambda: blobs(2500, 6, 600), tol=0,
        quality="fast")  # fmt: skip
add_fit("candidates/auto-never-all", BoostKMeans, 2100,
        lambda: blobs(6500, 8, 2500).astype(np.float32), quality="fast", max_iter=15)  # fmt: skip
add_fit("candidates/auto-looks-around", BoostKMeans, 2100,
        lambda: blobs(7000, 48, 1200, 0.5).astype(np.float32), quality="fast",
        max_iter=12)  # fmt: skip
add_fit("candidates/auto-uint8", BoostKMeans, 600, lambda: pixels(5000, 16, 700), quality="fast")
add_fit("repair/always", BoostKMeans, 20, plain, repair=True)
add_fit("repair/never", BoostKMeans, 20, plain, repair=False)
add_fit("repair/two-rounds", BoostKMeans, 20, plain, repair=2, init="random")
add_fit("repair/cosine", BoostKMeans, 20, plain, repair=True, init="random", metric="cosine")
add_fit("repair/limits", BoostKMeans, 20, plain, repair=True, init="random", max_size=45)
add_fit("annealing/none", BoostKMeans, 20, plain, annealing=0)
add_fit("annealing/temperature", BoostKMeans, 20, plain, annealing=0.3)
add_fit("annealing/long", BoostKMeans, 12, plain, annealing=(0.1, 40))
add_fit("annealing/long-hot", BoostKMeans, 30, plain, annealing=(0.9, 40), init="random")
add_fit("annealing/not-repaired", BoostKMeans, 12, plain, annealing=(0.5, 5), repair=False)
add_fit("annealing/twice-as-long", BoostKMeans, 70, lambda: blobs(900, 64, 80))
add_fit("annealing/first", BoostKMeans, 12, plain, annealing=0.2, moves="first")
for _quality in ("fast", "balanced", "best"):
    add_fit(f"quality/{_quality}", BoostKMeans, 16, plain, quality=_quality)
add_fit("quality/best-cloud", BoostKMeans, 8, lambda: cloud(500, 4), quality="best")
add_fit("quality/one-cluster", BoostKMeans, 1, plain)
add_fit("quality/two-clusters", BoostKMeans, 2, plain)

# --- Larger data: several blocks of rows, runs of neighbouring rows, several pieces for threads --------

add_fit("large/float32", BoostKMeans, 64, lambda: blobs(12_000, 32, 90).astype(np.float32))
add_fit("large/float64", BoostKMeans, 20, lambda: blobs(15_000, 12, 40, 1.0))
add_fit("large/uint8", BoostKMeans, 260, lambda: pixels(15_000, 32, 400), quality="fast")
add_fit("large/uint8-annealed", BoostKMeans, 256, lambda: pixels(8000, 24, 300), max_iter=30)
add_fit("large/float16-cosine", BoostKMeans, 40, lambda: blobs(10_000, 20, 60).astype(np.float16),
        metric="cosine")  # fmt: skip
add_fit("large/weights", BoostKMeans, 40, lambda: blobs(10_000, 12, 60), synthetic.weights(10_000))
add_fit("large/limits", BoostKMeans, 30, lambda: blobs(8000, 8, 40), min_size=200, max_size=320)
add_fit("large/certified", BoostKMeans, 30, lambda: blobs(10_000, 8, 60), tol=0)
add_fit("large/candidates", BoostKMeans, 300, lambda: blobs(10_000, 16, 400).astype(np.float32),
        n_candidates=24)  # fmt: skip
add_fit("large/candidates-auto", BoostKMeans, 600, lambda: blobs(12_000, 12, 900).astype(np.float32))
add_fit("large/first", BoostKMeans, 60, lambda: blobs(10_000, 12, 90).astype(np.float32),
        moves="first")  # fmt: skip
add_fit("large/sparse", BoostKMeans, 30, lambda: topics(9000, 3000, 50, 16), metric="cosine")
add_fit("large/sparse-candidates", BoostKMeans, 520, lambda: topics(6000, 1200, 60, 12),
        metric="cosine", quality="fast")  # fmt: skip
add_fit("large/bisecting", BisectingBoostKMeans, 900, lambda: blobs(20_000, 16, 900).astype(np.float32))
add_fit("large/bisecting-refined", BisectingBoostKMeans, 200,
        lambda: blobs(10_000, 12, 300).astype(np.float32), refine=True)  # fmt: skip
add_fit("large/uint8-low-precision", BoostKMeans, 256, lambda: pixels(8000, 32, 8000),
        init="random-partition", repair=False, annealing=0)  # fmt: skip
add_fit("large/int8-low-precision", BoostKMeans, 300,
        lambda: (pixels(6000, 40, 6000) // 2).astype(np.int8), quality="balanced")  # fmt: skip
add_fit("large/wide-rows", BoostKMeans, 5, lambda: blobs(6500, 256, 9, 0.25), init="random",
        max_iter=4)  # fmt: skip
add_fit("large/best", BoostKMeans, 12, lambda: cloud(6000, 6).astype(np.float32), quality="best")

# --- Stop rules and several runs -----------------------------------------------------------------------

add_fit("stop/certified", BoostKMeans, 12, plain, tol=0)
add_fit("stop/certified-cosine", BoostKMeans, 12, plain, tol=0, metric="cosine")
add_fit("stop/early", BoostKMeans, 12, plain, tol=0.05)
add_fit("stop/max-iter", BoostKMeans, 12, plain, max_iter=3)
add_fit("stop/max-iter-one", BoostKMeans, 30, plain, max_iter=1)
add_fit("stop/max-iter-annealing", BoostKMeans, 12, plain, max_iter=6, annealing=0.2)
add_fit("stop/three-runs", BoostKMeans, 12, plain, n_init=3)
add_fit("stop/three-runs-weights", BoostKMeans, 9, plain, WEIGHTS, n_init=3, init="random")
add_fit("stop/another-seed", BoostKMeans, 12, plain, random_state=12345)


@setting("stop/callback")
def _callback(place: Place) -> Outcome:
    seen: list[SweepRecord] = []

    def stop(record: SweepRecord) -> bool:
        seen.append(record)
        return len(seen) == 4

    model = BoostKMeans(12, random_state=0, n_threads=place.n_threads, callback=stop).fit(plain())
    return outcome_of(model)


@setting("stop/generator")
def _generator(place: Place) -> Outcome:
    model = BoostKMeans(12, random_state=np.random.RandomState(7), n_threads=place.n_threads)
    first = model.fit(plain()).labels_.copy()
    return outcome_of(model.fit(plain()), first)


@setting("duplicates/fewer-than-clusters")
def _duplicates(place: Place) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BoostKMeans(20, random_state=0, n_threads=place.n_threads).fit(repeated(14, 6, 4))
    return outcome_of(model)


@setting("duplicates/bisecting-fewer")
def _bisecting_duplicates(place: Place) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BisectingBoostKMeans(20, random_state=0, n_threads=place.n_threads)
        model.fit(repeated(14, 6, 4))
    return outcome_of(model)


add_fit("duplicates/as-many-as-clusters", BoostKMeans, 28, lambda: repeated(28, 5, 4))
add_fit("duplicates/more", BoostKMeans, 28, lambda: repeated(60, 4, 4), init="random-partition")
add_fit("duplicates/all-rows-are-clusters", BoostKMeans, 40, lambda: plain()[:40])

# --- A sample first ------------------------------------------------------------------------------------

add_fit("sample/accepted", BoostKMeans, 3, lambda: blobs(25_000, 4, 7).astype(np.float32))
add_fit("sample/rejected", BoostKMeans, 3, lambda: far_rows(25_000, 4, 6).astype(np.float32))
add_fit("sample/fast", BoostKMeans, 6, lambda: blobs(1600, 4, 9), quality="fast")
add_fit("sample/fast-tree", BoostKMeans, 24, lambda: blobs(6200, 4, 30), quality="fast")
add_fit("sample/fast-rejected", BoostKMeans, 6, lambda: far_rows(1600, 4, 5), quality="fast")
add_fit("sample/fast-rejected-tree", BoostKMeans, 20, lambda: far_rows(5200, 4, 30), quality="fast")
add_fit("sample/fast-hardly-rejected", BoostKMeans, 6, lambda: far_rows(1600, 4, 6, 6.0), quality="fast")
add_fit(
    "sample/fast-hardly-accepted", BoostKMeans, 6, lambda: far_rows(1600, 4, 16, 6.0), quality="fast"
)
add_fit("sample/fast-weights", BoostKMeans, 6, lambda: blobs(2400, 4, 9), synthetic.weights(2400),
        quality="fast")  # fmt: skip
add_fit("sample/fast-cosine-runs", BoostKMeans, 6, lambda: blobs(1600, 4, 9), quality="fast",
        metric="cosine", n_init=2)  # fmt: skip
add_fit("sample/fast-sparse", BoostKMeans, 6, large_sparse, quality="fast", tol=1e-3)

# --- Rows that are read in parts -----------------------------------------------------------------------


def streamed(place: Place, rows: Array, room: int, name: str = "rows.npy") -> Any:
    """Return rows in a file, with so many bytes of memory above the smallest limit."""
    path = place.folder / name
    write_vectors(path, rows)
    return open_vectors(path, max_memory=SMALLEST_LIMIT + room)


def add_streamed(
    name: str,
    model: Any,
    rows: Callable[[], Array],
    room: int,
    sample_weight: Array | None = None,
    file_name: str = "rows.npy",
) -> None:
    """Add a setting that fits an estimator to rows in a file."""

    def run(place: Place) -> Outcome:
        source = streamed(place, rows(), room, file_name)
        estimator = type(model)(**model.get_params()).set_params(n_threads=place.n_threads)
        return outcome_of(estimator.fit(source, sample_weight=sample_weight))

    add(name, run)


def in_file() -> Array:
    """Return the rows that are read in parts."""
    return blobs(9000, 4, 14).astype(np.float32)


IN_FILE_WEIGHTS = synthetic.weights(9000)
ROOM = 500_000
WEIGHTED_ROOM = ROOM + 24 * 9000
add_streamed("streamed/default", BoostKMeans(10, random_state=0), in_file, ROOM)
add_streamed("streamed/fvecs", BoostKMeans(10, random_state=1), in_file, ROOM, file_name="rows.fvecs")
add_streamed("streamed/two-samples", BoostKMeans(4, quality="fast", random_state=0), in_file, ROOM)
add_streamed("streamed/weights", BoostKMeans(10, random_state=0), in_file, WEIGHTED_ROOM,
             IN_FILE_WEIGHTS)  # fmt: skip
add_streamed("streamed/cosine", BoostKMeans(10, metric="cosine", random_state=0), in_file, ROOM)
add_streamed("streamed/candidates", BoostKMeans(40, n_candidates=8, random_state=0), in_file,
             ROOM + 120_000)  # fmt: skip
add_streamed("streamed/certified", BoostKMeans(6, tol=0, random_state=0), in_file, ROOM)
add_streamed("streamed/runs", BoostKMeans(8, n_init=2, init="k-means++", random_state=0), in_file,
             ROOM)  # fmt: skip
add_streamed("streamed/centres", BoostKMeans(10, init=in_file()[:10], random_state=0), in_file, ROOM)
add_streamed("streamed/labels", BoostKMeans(10, init=np.arange(9000) % 10, random_state=0), in_file,
             ROOM)  # fmt: skip
add_streamed("streamed/uint8", BoostKMeans(8, random_state=0), lambda: pixels(9000, 8, 14), ROOM)
add_streamed("streamed/first", BoostKMeans(10, moves="first", random_state=0), in_file, ROOM)
add_streamed("streamed/bisecting", BisectingBoostKMeans(16, random_state=0), in_file, ROOM)
add_streamed("streamed/bisecting-weights", BisectingBoostKMeans(12, split="inertia", random_state=0),
             in_file, WEIGHTED_ROOM, IN_FILE_WEIGHTS)  # fmt: skip
add_streamed("streamed/bisecting-refined",
             BisectingBoostKMeans(16, n_sections=3, refine=True, random_state=0), in_file,
             ROOM)  # fmt: skip
add_streamed("streamed/many-parts", BoostKMeans(30, random_state=0),
             lambda: blobs(60_000, 8, 50).astype(np.float32), 1_400_000)  # fmt: skip
add_streamed("streamed/candidates-auto", BoostKMeans(520, quality="fast", random_state=0),
             lambda: blobs(20_000, 4, 700).astype(np.float32), 2_050_000)  # fmt: skip
add_streamed("streamed/enough-memory", BoostKMeans(10, random_state=0), in_file, 2**28)


@setting("streamed/memory-map")
def _memory_map(place: Place) -> Outcome:
    path = place.folder / "mapped.npy"
    np.save(path, plain())
    model = BoostKMeans(12, random_state=0, n_threads=place.n_threads)
    return outcome_of(model.fit(np.load(path, mmap_mode="r")))


@setting("streamed/predict")
def _streamed_predict(place: Place) -> Outcome:
    source = streamed(place, in_file(), ROOM)
    model = BoostKMeans(10, random_state=0, n_threads=place.n_threads).fit(in_file()[:1000])
    batches = [labels for labels, _ in model.predict_batches(source)]
    return Outcome([model.predict(source), *batches], -model.score(source))


# --- Batches -------------------------------------------------------------------------------------------


def _batches(
    place: Place, rows: Any, n_batches: int, sample_weight: Array | None = None, **parameters: Any
) -> Outcome:
    model = BoostKMeans(9, random_state=0, n_threads=place.n_threads, **parameters)
    size = rows.shape[0] // n_batches
    found, moves = [], []
    for i in range(n_batches):
        batch = slice(i * size, (i + 1) * size)
        own = None if sample_weight is None else sample_weight[batch]
        model.partial_fit(rows[batch], sample_weight=own)
        found.append(model.labels_.copy())
        moves += [record.moves for record in model.history_]
    found.append(model.predict(rows))
    return Outcome(found, float(model.inertia_), moves, model.stop_reason_)


add("batches/dense", lambda place: _batches(place, blobs(800, 5, 12), 4))
add("batches/uint8", lambda place: _batches(place, pixels(800, 8, 12), 4))
add("batches/cosine", lambda place: _batches(place, blobs(800, 5, 12), 4, metric="cosine"))
add("batches/weights", lambda place: _batches(place, blobs(800, 5, 12), 4, synthetic.weights(800)))
add("batches/certified", lambda place: _batches(place, blobs(800, 5, 12), 4, tol=0))
add("batches/sparse-expanded", lambda place: _batches(place, topics(800, 200, 10), 4))
add("batches/sparse-kept", lambda place: _batches(place, topics(6000, 2400, 10), 3, quality="fast"))

# --- Bisecting -----------------------------------------------------------------------------------------

for _start in ("random-partition", "random", "k-means++"):
    add_fit(f"bisecting/{_start}", BisectingBoostKMeans, 24, plain, init=_start)
add_fit("bisecting/inertia", BisectingBoostKMeans, 24, plain, split="inertia")
add_fit("bisecting/three-sections", BisectingBoostKMeans, 24, plain, n_sections=3)
add_fit("bisecting/four-sections-inertia", BisectingBoostKMeans, 25, plain, n_sections=4,
        split="inertia", init="k-means++")  # fmt: skip
add_fit("bisecting/refined", BisectingBoostKMeans, 24, plain, refine=True)
add_fit("bisecting/refined-little", BisectingBoostKMeans, 24, plain, refine=3)
add_fit("bisecting/refined-candidates", BisectingBoostKMeans, 60, plain, refine=True, n_candidates=8)
add_fit("bisecting/refined-certified", BisectingBoostKMeans, 24, plain, refine=True, tol=0)
add_fit("bisecting/weights", BisectingBoostKMeans, 24, plain, WEIGHTS)
add_fit("bisecting/weights-refined", BisectingBoostKMeans, 24, plain, WEIGHTS, refine=True)
add_fit("bisecting/cosine", BisectingBoostKMeans, 24, plain, metric="cosine")
add_fit("bisecting/runs", BisectingBoostKMeans, 24, plain, n_init=3)
add_fit("bisecting/many", BisectingBoostKMeans, 700, lambda: blobs(5000, 8, 900).astype(np.float32))


@setting("bisecting/tree")
def _tree(place: Place) -> Outcome:
    model = BisectingBoostKMeans(24, random_state=0, n_threads=place.n_threads).fit(plain())
    tree = model.tree_
    down = model.predict(cloud(300, 6), tree=True)
    merges = tree.to_linkage()[:, :2].astype(np.int64)
    return outcome_of(model, model.cut(5), model.cut(11), down, tree.children, merges)


@setting("bisecting/tree-refined")
def _refined_tree(place: Place) -> Outcome:
    model = BisectingBoostKMeans(24, refine=2, random_state=0, n_threads=place.n_threads).fit(plain())
    return outcome_of(model, model.cut(7), model.predict(cloud(300, 6), tree=True))


# --- What a fitted model does with other rows ----------------------------------------------------------


@setting("model/predict")
def _predict(place: Place) -> Outcome:
    model = BoostKMeans(12, random_state=0, n_threads=place.n_threads).fit(plain())
    new = cloud(400, 6)
    kinds = [new, new.astype(np.float32), np.asfortranarray(new), sparse.csr_array(new)]
    return Outcome([model.predict(rows) for rows in kinds], -model.score(new))


@setting("model/predict-candidates")
def _predict_candidates(place: Place) -> Outcome:
    model = BisectingBoostKMeans(600, random_state=0, n_threads=place.n_threads)
    model.fit(blobs(4000, 8, 700).astype(np.float32))
    new = blobs(3000, 8, 700, 2.0, 50).astype(np.float32)
    return outcome_of(model, *(model.predict(new, n_candidates=c) for c in (16, 64, 256)))


@setting("model/transform")
def _transform(place: Place) -> Outcome:
    model = BoostKMeans(12, random_state=0, n_threads=place.n_threads).fit(plain())
    distances = model.transform(cloud(400, 6))
    nearest, order = distances.argmin(axis=1), distances.argsort(axis=1, kind="stable")
    return Outcome([nearest, order], float(distances.sum()))


@setting("model/cosine-sparse")
def _model_of_sparse(place: Place) -> Outcome:
    model = BoostKMeans(8, metric="cosine", quality="fast", random_state=0, n_threads=place.n_threads)
    model.fit(large_sparse())
    new = topics(500, 1500, 12, 8, 30)
    return Outcome([model.predict(new), model.transform(new).argmin(axis=1)], -model.score(new))


@setting("model/scores")
def _scores(place: Place) -> Outcome:
    labels = np.arange(600) % 7
    i1, i2 = metrics.i1(plain(), labels), metrics.i2(plain(), labels)
    own = metrics.average_distortion(plain(), labels)
    numbers = [f"{value:.10g}" for value in (i1, i2, metrics.size_imbalance(labels))]
    return Outcome([np.array(numbers)], own)


# --- Product quantizers --------------------------------------------------------------------------------


def _quantizer(place: Place, rows: Array, *given: int, **parameters: Any) -> Outcome:
    model = ProductQuantizer(*given, random_state=0, n_threads=place.n_threads, **parameters).fit(rows)
    codes = model.encode(rows)
    _, found = model.search(rows[:20], codes, k=5)
    return Outcome([codes, model.encode(rows[::3]), found], float(model.distortion_))


def vectors() -> Array:
    """Return the rows that quantizers encode."""
    return blobs(700, 16, 40).astype(np.float32)


add("quantizer/plain", lambda place: _quantizer(place, vectors(), 4, 32))
add("quantizer/many-subspaces", lambda place: _quantizer(place, vectors(), 16, 16))
add("quantizer/one-subspace", lambda place: _quantizer(place, vectors(), 1, 64))
add("quantizer/float64", lambda place: _quantizer(place, vectors().astype(np.float64), 4, 16))
add("quantizer/uint8", lambda place: _quantizer(place, pixels(700, 16, 40), 4, 32))
add("quantizer/wide-codes", lambda place: _quantizer(place, vectors(), 2, 300))
add("quantizer/256", lambda place: _quantizer(place, blobs(1200, 8, 40).astype(np.float32), 4, 256))
add("quantizer/bisecting",
    lambda place: _quantizer(place, vectors(), 4, 32, clusterer=BisectingBoostKMeans()))  # fmt: skip
add("quantizer/balanced",
    lambda place: _quantizer(place, vectors(), 2, 16, clusterer=BoostKMeans(n_init=2)))  # fmt: skip
add("quantizer/rotated", lambda place: _quantizer(place, vectors(), 4, 16, rotation=3),
    machine_dependent=True)  # fmt: skip
add("quantizer/rotated-uint8", lambda place: _quantizer(place, pixels(700, 16, 40), 2, 16, rotation=2),
    machine_dependent=True)  # fmt: skip


@setting("quantizer/streamed")
def _streamed_quantizer(place: Place) -> Outcome:
    source = streamed(place, in_file(), ROOM)
    model = ProductQuantizer(2, 16, random_state=0, n_threads=place.n_threads).fit(in_file()[:1500])
    return Outcome([model.encode(source)], float(model.distortion_))


# --- Baselines -----------------------------------------------------------------------------------------

add_fit("baselines/rbk", RBK, 24, plain)
add_fit("baselines/rbk-runs", RBK, 12, plain, n_init=2)
add_fit("baselines/rbk-sparse", RBK, 24, large_sparse)
add_fit("baselines/online", OnlineKMeans, 12, plain)
add_fit("baselines/online-k-means++", OnlineKMeans, 12, plain, init="k-means++", max_iter=10)
add_fit("baselines/online-centres", OnlineKMeans, 12, plain, init=plain()[:12], tol=1e-3)
add_fit("baselines/k-means", ScikitLearnKMeans, 12, plain, machine_dependent=True)
add_fit("baselines/k-means++", ScikitLearnKMeans, 12, plain, WEIGHTS, init="k-means++", n_init=2,
        machine_dependent=True)  # fmt: skip
add_fit("baselines/mini-batch", ScikitLearnMiniBatchKMeans, 12, plain, machine_dependent=True)
add_fit("baselines/bisecting", ScikitLearnBisectingKMeans, 12, plain, machine_dependent=True)


@setting("baselines/compare")
def _compare(place: Place) -> Outcome:
    names = ("boost-fast", "bisecting", "refined", "LVQ", "BKM(non)", "BKM(rnd)+Fast")
    methods = {name: METHODS[name] for name in names} | {"RBK": METHODS["sampled RBK"]}
    runs = list(compare(plain(), 9, methods, n_threads=place.n_threads))
    reached = np.array([f"{run.method} {run.distortion:.10g} {run.n_sweeps}" for run in runs])
    return Outcome([reached], sum(run.distortion for run in runs))


# --- The number of clusters ----------------------------------------------------------------------------


def _scan(place: Place, rows: Array, n_references: int, **parameters: Any) -> Outcome:
    found = scan(rows, range(2, 9), n_references=n_references, random_state=0,
                 n_threads=place.n_threads, **parameters)  # fmt: skip
    numbers = [f"{e.n_clusters} {e.inertia:.10g} {e.gap:.6f}" for e in found.entries]
    numbers += [f"{e.silhouette:.6f} {e.calinski_harabasz:.8g}" for e in found.entries]
    inertia = sum(entry.inertia for entry in found.entries)
    return Outcome([np.array([*numbers, str(found.suggestion)])], inertia)


add("select/scan", lambda place: _scan(place, blobs(300, 3, 5, 8.0), 0))
add("select/scan-cosine", lambda place: _scan(place, blobs(300, 3, 5, 8.0), 0, metric="cosine"))
add("select/scan-gap", lambda place: _scan(place, blobs(200, 3, 5, 8.0), 2), machine_dependent=True)

# --- Documents -----------------------------------------------------------------------------------------


def _documents(place: Place, corpus: Any, n_clusters: int, **parameters: Any) -> Outcome:
    found = cluster_documents(
        corpus, n_clusters, random_state=0, n_threads=place.n_threads, **parameters
    )
    terms = [term.term for cluster in found.clusters for term in cluster.descriptive[:3]]
    outcome = outcome_of(found.model, np.array(terms))
    return Outcome([found.labels, *outcome.arrays], outcome.inertia, outcome.moves, outcome.stop_reason)


def texts() -> list[str]:
    """Return the documents that are clustered."""
    return synthetic.texts(200, 8)


add("documents/bisecting", lambda place: _documents(place, texts(), 8))
add("documents/refined", lambda place: _documents(place, texts(), 8, method="refined"))
add("documents/k-way", lambda place: _documents(place, texts(), 8, method="k-way", quality="fast"))
add("documents/weighting",
    lambda place: _documents(place, texts(), 8, weighting=Weighting(ngram_range=(1, 2), min_df=2,
                                                                    sublinear_tf=True)))  # fmt: skip


@setting("documents/matrix")
def _matrix(place: Place) -> Outcome:
    corpus = Corpus(names=[str(i) for i in range(400)], matrix=small_sparse())
    return _documents(place, corpus, 12, n_init=2)
