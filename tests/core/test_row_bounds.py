"""Row bounds: sweeps with bounds make the same moves as sweeps without them, but visit fewer rows."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.rows import Rows
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.row_bounds import RowBounds
from boostkmeans._steps.sweep import FullPolicy, SweepOptions, sweep
from factories import core_limits, make_partition, make_problem

Weights = NDArray[np.float64] | None


def rows_of(kind: str, n: int, d: int) -> NDArray[Any]:
    """Return rows of a kind: normal, with an offset and another scale, or heavy-tailed."""
    rng = np.random.default_rng(n + d)
    if kind == "normal":
        return rng.normal(size=(n, d)).astype(np.float32)
    if kind == "shifted":
        return rng.normal(size=(n, d)) * 1e-3 + 100
    return rng.standard_t(2, size=(n, d)).astype(np.float32)


class Pair:
    """Two equal partitions: one is swept without bounds, the other with them."""

    def __init__(self, X: NDArray[Any], k: int, weights: Weights, n_threads: int) -> None:
        self.problem = make_problem(
            Rows.in_own_frame(X, "euclidean", n_threads), k, weights, n_threads=n_threads
        )
        labels = np.random.default_rng(k).integers(k, size=len(X)).astype(np.int32)
        self.partitions = [self.partition(labels.copy()) for _ in range(2)]
        self.bounds = RowBounds.for_partition(self.partitions[1])
        self.rngs = [np.random.RandomState(0) for _ in range(2)]

    def partition(self, labels: NDArray[np.int32]) -> Partition:
        problem = self.problem
        return make_partition(labels, problem.n_clusters, problem.rows, problem.row_weights)

    def sweep(self, *, exact: bool = False) -> tuple[int, float]:
        """Sweep both, and compare them. Return the moves and the share of visited rows."""
        results = [
            sweep(self.problem, partition, policy=FullPolicy(bounds=bounds),
                  options=SweepOptions(exact=exact), rng=rng)
            for partition, bounds, rng in zip(
                self.partitions, (None, self.bounds), self.rngs, strict=True
            )
        ]  # fmt: skip
        np.testing.assert_array_equal(self.partitions[1].labels, self.partitions[0].labels)
        np.testing.assert_array_equal(self.partitions[1].composites, self.partitions[0].composites)
        assert results[0].moves == results[1].moves
        return results[1].moves, results[1].evaluations / results[0].evaluations


@pytest.mark.parametrize(
    ("kind", "n", "d", "k", "weighted", "n_threads"),
    [
        ("normal", 3000, 2, 5, False, 1),
        ("normal", 2000, 70, 3, True, 3),
        ("shifted", 3000, 5, 17, True, 1),
        ("heavy", 3000, 3, 4, False, 3),
        ("heavy", 500, 1, 2, True, 1),
    ],
)
def test_moves_are_the_same(kind: str, n: int, d: int, k: int, weighted: bool, n_threads: int) -> None:
    weights = np.random.default_rng(1).uniform(0.0, 3.0, n).round(1) if weighted else None
    pair = Pair(rows_of(kind, n, d), k, weights, n_threads)
    shares = [pair.sweep()[1] for _ in range(40)]
    assert shares[0] == 1.0
    # Outliers form tiny clusters, whose weights allow no useful bound.
    assert kind == "heavy" or shares[-1] < 0.7


def test_exact_sweeps_visit_all_rows_and_update_bounds() -> None:
    pair = Pair(rows_of("normal", 3000, 2), 4, None, 2)
    for exact in [False] * 30 + [True] * 2:
        moves, share = pair.sweep(exact=exact)
    assert (moves, share) == (0, 1.0)
    pair.bounds.margins[:] = -np.inf
    pair.sweep(exact=True)
    assert pair.sweep()[1] < 0.5, "the exact sweep must have stored margins"


def test_changes_between_sweeps_are_allowed() -> None:
    """Move some rows elsewhere between sweeps, as an extrapolation does."""
    pair = Pair(rows_of("normal", 4000, 3), 6, None, 1)
    rng = np.random.default_rng(3)
    for number in range(30):
        pair.sweep()
        if number % 5 == 4:
            before = pair.partitions[1].labels
            after = np.where(rng.random(len(before)) < 0.02, rng.integers(6, size=len(before)), before)
            pair.partitions = [pair.partition(after.astype(np.int32)) for _ in range(2)]
            pair.bounds.forget(before, after.astype(np.int32))


def test_clusters_that_shrink_to_single_rows() -> None:
    """A row that cannot leave its cluster has no margin: it may leave once the cluster has grown."""
    X = np.concatenate([rows_of("normal", 300, 2), [[50.0, 50.0], [52.0, 50.0], [-40.0, 3.0]]])
    pair = Pair(X, 8, None, 1)
    for _ in range(15):
        pair.sweep()


def test_bounds_are_checked() -> None:
    X = rows_of("normal", 30, 2)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    partition = make_partition(np.arange(30) % 3, 3, rows)
    order = np.arange(30)

    def run(bounds: RowBounds, **options: Any) -> None:
        visit = _core.FullVisit(order=order, run_rows=1, block_rows=16, bounds=bounds.view)
        _core.sweep(rows.core, None, partition.view(), visit, _core.SweepOptions(**options))

    good = RowBounds.for_partition(partition)
    run(good)
    limits = core_limits(3, most=20.0)
    for options in ({"first": True}, {"temperature": 0.1}, limits, {"exchange": True}):
        with pytest.raises(ValueError, match="plain sweep"):
            run(good, **options)
    with pytest.raises(ValueError, match="one value per row"):
        run(RowBounds(good.margins[:29], good.paths, good.centres, good.totals))
    with pytest.raises(ValueError, match="match the partition"):
        run(RowBounds(good.margins, good.paths, np.zeros((3, 1)), good.totals))
    with pytest.raises(ValueError, match="per cluster"):
        run(RowBounds(good.margins, good.paths[:2], good.centres, good.totals))
    with pytest.raises(ValueError, match="two values"):
        run(RowBounds(good.margins, good.paths, good.centres, np.zeros(1)))
