"""Describe the fits whose files version 0.7.0 wrote: the same data and parameters read them back.

`record_files.py` writes the files with 0.7.0, and `test_files.py` reads them with the installed version.
Only the public interface of the package is used here.
"""

import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import synthetic
from numpy.typing import NDArray
from settings import SMALLEST_LIMIT, digest
from synthetic import blobs, far_rows, pixels, repeated, topics

from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord
from boostkmeans.io import open_vectors, write_vectors

Callback = Callable[[SweepRecord], None]
FILES = Path(__file__).parent / "files"
VERSION = "0.7.0"


@dataclass(frozen=True)
class StoredFit:
    """Hold all that a fit with a checkpoint depends on."""

    estimator: Callable[..., Any]
    n_clusters: int
    rows: Callable[[], Any]
    sample_weight: NDArray[np.float64] | None = None
    room: int | None = None
    """Bytes of memory above the smallest limit, if rows are in a file and read in parts."""
    parameters: dict[str, Any] = field(default_factory=dict)

    def run(
        self,
        folder: Path,
        checkpoint: Path | None,
        callback: Callback | None = None,
    ) -> Any:
        """Return the estimator, fitted, from the checkpoint if there is one."""
        model = self.estimator(
            self.n_clusters,
            checkpoint=checkpoint,
            callback=callback,
            n_threads=1,
            **{"random_state": 0, **self.parameters},
        )
        rows = self.rows()
        if self.room is not None:
            if not (folder / "rows.npy").exists():
                write_vectors(folder / "rows.npy", rows)
            rows = open_vectors(folder / "rows.npy", max_memory=SMALLEST_LIMIT + self.room)
        return model.fit(rows, sample_weight=self.sample_weight)


def is_sweep(record: SweepRecord) -> bool:
    """Return False for the record of a start, which is new in version 0.9."""
    return record.kind != "start"


def result_of(model: Any) -> dict[str, Any]:
    """Return what must come out of a fit, whether or not it was interrupted."""
    tree = getattr(model, "tree_", None)
    return {
        "labels": digest(model.labels_),
        "inertia": f"{model.inertia_:.10g}",
        "moves": digest(np.array([r.moves for r in model.history_ if is_sweep(r)], dtype=np.int64)),
        "stop_reason": model.stop_reason_,
        "tree": "" if tree is None else digest(tree.children, tree.sizes),
    }


def resumed(fit: StoredFit, file: Path, folder: Path) -> tuple[Any, dict[str, Any]]:
    """Go on from a checkpoint, which is compressed with gzip.

    Return the estimator, and its result with the number of callbacks.
    """
    (folder / "state").write_bytes(gzip.decompress(file.read_bytes()))
    records: list[SweepRecord] = []
    model = fit.run(folder, folder / "state", records.append)
    return model, {**result_of(model), "callbacks": sum(map(is_sweep, records))}


def some() -> NDArray[np.float64]:
    """Return the rows of most fits."""
    return blobs(280, 3, 15)


def many() -> NDArray[np.float32]:
    """Return rows of a fit that reads them in parts."""
    return blobs(5000, 4, 12).astype(np.float32)


def first_rows(X: Any, n_clusters: int, random_state: np.random.RandomState) -> Any:
    """Return rows as centres, for `init`."""
    begin = int(random_state.randint(20))
    return np.asarray(X)[begin : begin + n_clusters]


WEIGHTS = synthetic.weights(280)
MANY_WEIGHTS = synthetic.weights(5000)
ROOM = 395_000
WEIGHTED_ROOM = ROOM + 24 * 5000


def _boost(
    n_clusters: int, rows: Any = some, weights: Any = None, room: Any = None, **p: Any
) -> StoredFit:
    return StoredFit(BoostKMeans, n_clusters, rows, weights, room, p)


def _tree(
    n_clusters: int, rows: Any = some, weights: Any = None, room: Any = None, **p: Any
) -> StoredFit:
    return StoredFit(BisectingBoostKMeans, n_clusters, rows, weights, room, p)


def _sparse() -> Any:
    return topics(8600, 500, 4, 5)


FITS: dict[str, StoredFit] = {
    # Rows in memory, from every start.
    "default": _boost(12),
    "weights": _boost(10, weights=WEIGHTS),
    "long-annealing": _boost(12, annealing=(0.1, 40)),
    "best-quality": _boost(8, quality="best", annealing=(0.2, 6)),
    "not-annealed": _boost(12, annealing=0, init="random-partition"),
    "three-runs": _boost(9, weights=WEIGHTS, n_init=3, init="random"),
    "tree-start": _boost(24),
    "tree-start-weights": _boost(24, weights=WEIGHTS, quality="fast"),
    "certified": _boost(12, tol=0, init="k-means++"),
    "first": _boost(12, init="random", moves="first"),
    "centres": _boost(12, init=blobs(280, 3, 15)[:12]),
    "labels": _boost(12, init=np.arange(280) % 12),
    "callable": _boost(12, init=first_rows),
    "cosine": _boost(12, metric="cosine"),
    "uint8": _boost(12, lambda: pixels(280, 5, 15)),
    "max-iter": _boost(12, max_iter=5, annealing=0),
    "two-clusters": _boost(2),
    "duplicates": _boost(28, lambda: repeated(28, 5, 4), init="random"),
    # Candidates and limits.
    "candidates": _boost(60, n_candidates=8),
    "candidates-certified": _boost(40, n_candidates=8, tol=0),
    "candidates-first": _boost(60, n_candidates=8, moves="first"),
    "candidates-weights": _boost(50, weights=WEIGHTS, n_candidates=6, quality="fast"),
    "candidates-auto": _boost(512, lambda: blobs(1500, 8, 400, 0.5), quality="fast"),
    "limits": _boost(12, min_size=18, max_size=28),
    "limits-weights": _boost(12, weights=WEIGHTS, max_size=24.0),
    "limits-candidates": _boost(20, max_size=18, n_candidates=5),
    # Sparse rows.
    "sparse-kept": _boost(4, _sparse, max_iter=25),
    "sparse-kept-weights": _boost(4, _sparse, synthetic.weights(8600), quality="fast", init="random"),
    "sparse-expanded": _boost(10, lambda: topics(280, 40, 10), metric="cosine"),
    # A sample first. Both the run of a sample and the run of a sample of that sample are kept as the
    # stage "sample" by 0.7.0, and both the tree of a sample and the tree of all rows (after a sample
    # that was rejected) as the stage "growth". 0.7.0 cannot go on from the second of each pair, so no
    # such file is here: a fit that samples twice, or one of more than 16 clusters that rejects a sample.
    "sample": _boost(5, lambda: blobs(1400, 4, 9), quality="fast", annealing="auto"),
    "sample-tree": _boost(18, lambda: blobs(4800, 3, 24), quality="fast"),
    "sample-rejected": _boost(5, lambda: far_rows(1400, 4, 6), quality="fast"),
    "sample-runs": _boost(5, lambda: blobs(1400, 4, 9), synthetic.weights(1400) + 1, quality="fast",
                          n_init=2),
    # Rows that are read in parts.
    "streamed": _boost(10, many, room=ROOM),
    "streamed-tree": _boost(20, many, room=ROOM + 24_320, quality="best", annealing=0.1),
    "streamed-weights": _boost(10, many, MANY_WEIGHTS, WEIGHTED_ROOM),
    "streamed-candidates": _boost(40, many, room=ROOM + 73_000, n_candidates=8, max_iter=25),
    "streamed-centres": _boost(8, many, room=ROOM, init=blobs(5000, 4, 12)[:8]),
    "streamed-runs": _boost(8, many, room=ROOM, n_init=2, max_iter=12),
    # Trees.
    "tree": _tree(40),
    "tree-runs": _tree(24, n_init=3),
    "tree-sections": _tree(25, n_sections=4, split="inertia", init="k-means++", weights=WEIGHTS),
    "tree-refined": _tree(20, n_sections=3, split="inertia", refine=True),
    "tree-refined-weights": _tree(20, weights=WEIGHTS, refine=4),
    "tree-refined-candidates": _tree(50, refine=True, n_candidates=6, tol=0),
    "tree-sparse": _tree(3, _sparse, metric="cosine", refine=True, annealing=0),
    "tree-streamed": _tree(16, many, room=ROOM + 14_592),
    "tree-streamed-refined": _tree(12, many, MANY_WEIGHTS, WEIGHTED_ROOM + 5000, refine=3),
}  # fmt: skip
