"""Mini-Batch in the two readings of the paper's "10 %": of the rows in each batch, or in total."""

from typing import Any

from contenders import Contender, Task, Trace, TracePoint, distortion_of

# isort: split
from boostkmeans import SweepRecord
from boostkmeans.baselines import MiniBatchKMeans

# The distortion of all rows is measured after each of the first batches, then after every tenth,
# because it takes longer than a batch.
FIRST_BATCHES = 10
BATCHES_PER_POINT = 10
# Limit of the batches of a fit that ends by time.
NO_LIMIT = 1_000_000


def mini_batch(share_of: str = "batch", seconds: float | None = None) -> Contender:
    """Return Mini-Batch with the batches of one reading, or with as many as fit into `seconds`.

    Measuring does not count as time. The first batches are repeated by a second fit with the same seed,
    which measures less often. It is not stored on the way: even at the paper's size it takes minutes.
    """

    def run(task: Task) -> Trace:
        number = task.iterations if seconds is None else NO_LIMIT
        settings: dict[str, Any] = {
            "share_of": share_of, "max_iter": number, "random_state": task.seed,
            "n_threads": task.n_threads,
        }  # fmt: skip
        early: list[SweepRecord] = []

        def enough(record: SweepRecord) -> bool:
            early.append(record)
            return len(early) == FIRST_BATCHES

        MiniBatchKMeans(task.k, callback=enough, **settings).fit(task.X)
        model = MiniBatchKMeans(
            task.k, record_every=BATCHES_PER_POINT, max_time=seconds, **settings
        ).fit(task.X)
        first = points_at(early, range(1, len(early) + 1), len(task.X))
        places = [min(BATCHES_PER_POINT * i, model.n_iter_) for i in range(1, len(model.history_) + 1)]
        later = points_at(model.history_, places, len(task.X))
        points = [*first, *[one for one in later if one.iteration > len(first)]]
        stop_reason = "iterations" if seconds is None else "time"
        return Trace(points, distortion_of(task, model.labels_), stop_reason, model.labels_)

    return run


def points_at(records: list[SweepRecord], iterations: Any, n: int) -> list[TracePoint]:
    """Return the points of records after some iterations."""
    return [
        TracePoint(number, record.seconds, record.inertia / n, record.moves)
        for number, record in zip(iterations, records, strict=True)
    ]


def mini_batch_as_long_as(other: Contender) -> Contender:
    """Return Mini-Batch that gets as much time as another method takes, which is run first."""

    def run(task: Task) -> Trace:
        seconds = other(task).points[-1].seconds
        return mini_batch(seconds=seconds)(task)

    return run
