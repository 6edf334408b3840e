"""The compiled sweep against the NumPy reference, for each instruction set."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from boostkmeans import _core, instruction_sets
from boostkmeans._data.rows import Rows
from boostkmeans._steps.partition import Partition
from factories import blank_partition, core_limits

pytestmark = pytest.mark.usefixtures("isa")

CASES = [  # Values of n, d, k below, at and above the widths of vectors, panels and tiles.
    (60, 1, 2), (60, 2, 7), (150, 3, 16), (200, 16, 17), (200, 31, 33), (300, 130, 40), (97, 257, 65),
]  # fmt: skip


def random_problem(n: int, d: int, k: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.permutation(np.arange(n) % k).astype(np.int32)


def core_sweep(
    X: NDArray[Any], labels: NDArray[np.int32], k: int, order: NDArray[np.int64], *, block: int = 16,
    run_rows: int = 1, weights: NDArray[np.float64] | None = None, first: bool = False, seed: int = 0,
    exact: bool = False, low: bool = False, n_threads: int = 1,
) -> tuple[Partition, int, float]:  # fmt: skip
    """Sweep once with the core, and check that the reported gain and counts are correct."""
    rows = Rows.in_own_frame(X, "euclidean", n_threads)
    partition = blank_partition(labels.copy(), k, X.shape[1])
    before, _ = partition.recompute(rows, weights, n_threads)
    found = _core.sweep(
        rows.core,
        weights,
        partition.view(),
        _core.FullVisit(order=order, run_rows=run_rows, block_rows=block),
        _core.SweepOptions(first=first, seed=seed, exact=exact, low_precision=low),
        n_threads=n_threads,
    )
    after, drift = partition.recompute(rows, weights, n_threads)
    assert not found.late
    assert drift < 1e-10
    assert found.gain == pytest.approx(before - after, rel=1e-9, abs=1e-12 * before)
    assert found.evaluations == k * sum(min(run_rows, len(X) - r * run_rows) for r in order.tolist())
    return partition, found.moves, found.gain


@pytest.mark.parametrize(("n", "d", "k"), CASES)
@pytest.mark.parametrize(("weighted", "exact"), [(False, False), (True, False), (True, True)])
def test_best_moves_match_the_reference(n: int, d: int, k: int, weighted: bool, exact: bool) -> None:
    X, labels = random_problem(n, d, k, seed=n + d + k)
    weights = np.random.default_rng(1).uniform(0.1, 5, n) if weighted else None
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(n)
        found, moves, _ = core_sweep(X, labels, k, order, weights=weights, exact=exact)
        expected, expected_moves = reference.sweep(X, labels, k, order.tolist(), 16, weights)
        np.testing.assert_array_equal(found.labels, expected)
        assert moves == expected_moves
        labels = expected


@pytest.mark.parametrize(("n", "d", "k"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_first_moves_match_the_reference(n: int, d: int, k: int, weighted: bool) -> None:
    X, labels = random_problem(n, d, k, seed=n * d * k)
    weights = np.random.default_rng(1).uniform(0.1, 5, n) if weighted else None
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(n)
        found, moves, _ = core_sweep(X, labels, k, order, weights=weights, first=True, seed=seed)
        rotation = np.array([splitmix(seed, i) % k for i in range(n)])
        expected, expected_moves = reference.sweep(X, labels, k, order.tolist(), 16, weights, rotation)
        np.testing.assert_array_equal(found.labels, expected)
        assert moves == expected_moves
        labels = expected


def splitmix(seed: int, n: int) -> int:
    """Return the n-th number of the core's random stream."""
    mask = 2**64 - 1
    z = (seed + (n + 1) * 0x9E3779B97F4A7C15) & mask
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    return z ^ (z >> 31)


def test_visits_runs_of_rows_in_order() -> None:
    X, labels = random_problem(103, 5, 6, seed=0)
    runs = np.random.default_rng(0).permutation(-(-103 // 8))
    order = [i for r in runs.tolist() for i in range(r * 8, min(r * 8 + 8, 103))]
    # A single block: the last run is short, so that blocks of whole runs would differ in size.
    found, _, _ = core_sweep(X, labels, 6, runs, run_rows=8, block=1000)
    expected, _ = reference.sweep(X, labels, 6, order, 1000)
    np.testing.assert_array_equal(found.labels, expected)


def test_moves_only_the_visited_rows() -> None:
    X, labels = random_problem(80, 4, 5, seed=2)
    order = np.arange(40, 80)
    found, moves, _ = core_sweep(X, labels, 5, order)
    np.testing.assert_array_equal(found.labels[:40], labels[:40])
    assert moves > 0


def test_result_does_not_depend_on_threads() -> None:
    X, labels = random_problem(20_000, 24, 70, seed=3)
    order = np.random.default_rng(3).permutation(len(X))
    one, moves, _ = core_sweep(X, labels, 70, order, block=200)
    for n_threads in (2, 3, 8):
        found, found_moves, _ = core_sweep(X, labels, 70, order, block=200, n_threads=n_threads)
        np.testing.assert_array_equal(found.labels, one.labels)
        np.testing.assert_array_equal(found.composites, one.composites)
        assert found_moves == moves


def test_every_move_lowers_the_inertia() -> None:
    X, labels = random_problem(120, 6, 9, seed=4)
    for row in np.random.default_rng(4).permutation(len(X)):
        before = reference.inertia(X, labels)
        found, moves, gain = core_sweep(X, labels, 9, np.array([row]))
        after = reference.inertia(X, found.labels)
        assert (after < before) if moves else (after == before)
        assert gain >= 0
        labels = found.labels


def test_fills_empty_clusters_and_keeps_the_last_member() -> None:
    X = np.array([[0.0], [1.0], [5.0], [100.0]])
    labels = np.array([0, 0, 0, 1], dtype=np.int32)  # Cluster 2 is empty, and cluster 1 has one member.
    found, moves, _ = core_sweep(X, labels, 3, np.arange(4), block=1)
    assert moves > 0
    assert found.labels[3] == 1
    assert (found.counts > 0).all()


def test_rows_without_weight_never_move() -> None:
    X, labels = random_problem(60, 3, 4, seed=5)
    weights = np.ones(60)
    weights[::3] = 0
    found, moves, _ = core_sweep(X, labels, 4, np.arange(60), weights=weights)
    assert moves > 0
    np.testing.assert_array_equal(found.labels[::3], labels[::3])
    assert found.counts.sum() == 40


def test_expired_deadline_moves_no_row() -> None:
    X, labels = random_problem(100, 3, 4, seed=6)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    partition = blank_partition(labels.copy(), 4, 3)
    partition.recompute(rows, None, 1)
    visit = _core.FullVisit(order=np.arange(100), run_rows=1, block_rows=16)
    found = _core.sweep(rows.core, None, partition.view(), visit, _core.SweepOptions(), seconds_left=0.0)
    assert (found.moves, found.gain, found.evaluations, found.late) == (0, 0.0, 0, True)
    np.testing.assert_array_equal(partition.labels, labels)


def valid_arguments(k: int = 4) -> dict[str, Any]:
    """Return arguments of a sweep over 30 rows of 3 features."""
    X, labels = random_problem(30, 3, k, seed=7)
    partition = blank_partition(labels, k, 3)
    return {
        "rows": Rows.in_own_frame(X, "euclidean", 1).core,
        "row_weights": None,
        "partition": partition.view(),
        "visit": _core.FullVisit(order=np.arange(30), run_rows=1, block_rows=16),
        "options": _core.SweepOptions(),
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("row_weights", np.ones(29), "row_weights must have one value per row"),
        (
            "partition",
            blank_partition(np.zeros(29, np.int32), 4, 3).view(),
            "labels must have one value",
        ),
        (
            "partition",
            blank_partition(np.zeros(30, np.int32), 4, 2).view(),
            "composites must have one column",
        ),
        ("options", _core.SweepOptions(penalties=np.zeros(5)), "penalties must have one value"),
    ],
)
def test_rejects_arrays_of_other_shapes(name: str, value: Any, message: str) -> None:
    arguments = {**valid_arguments(), name: value}
    with pytest.raises(ValueError, match=message):
        _core.sweep(**arguments)


def candidate_visit(**changes: Any) -> _core.CandidateVisit:
    """Return a visit of 30 rows in 4 clusters, with some arguments changed."""
    arguments = {
        "lists": np.zeros((4, 1), np.int32), "changed": np.full(4, -1), "visited": np.full(4, -1),
        "clock": 0, "order": np.arange(4, dtype=np.int32), "block_rows": 16,
    }  # fmt: skip
    return _core.CandidateVisit(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lists": np.zeros((4, 0), np.int32)}, "lists must have at least one column"),
        ({"changed": np.full(3, -1)}, "one entry per cluster"),
        ({"visited": np.full(5, -1)}, "one entry per cluster"),
        ({"block_rows": 0}, "block_rows must be positive"),
        ({"by_runner_up": True}, "by_runner_up requires runners_up"),
    ],
)
def test_rejects_inconsistent_candidate_visits(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        candidate_visit(**changes)


@pytest.mark.parametrize(
    ("visit", "options", "message"),
    [
        ({"runners_up": np.zeros(29, np.int32)}, {}, "runners_up must have one value per row"),
        ({}, {"exact": True}, "an exact sweep requires a FullVisit"),
    ],
)
def test_rejects_candidate_visits_that_do_not_fit(
    visit: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    arguments = valid_arguments()
    arguments |= {"visit": candidate_visit(**visit), "options": _core.SweepOptions(**options)}
    with pytest.raises(ValueError, match=message):
        _core.sweep(**arguments)


@pytest.mark.parametrize(("run_rows", "block_rows"), [(0, 16), (1, 0), (-1, 16)])
def test_rejects_empty_runs_and_blocks(run_rows: int, block_rows: int) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        _core.FullVisit(order=np.arange(30), run_rows=run_rows, block_rows=block_rows)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": -0.1}, "temperature must lie in"),
        ({"temperature": 1.0}, "temperature must lie in"),
        ({"temperature": np.nan}, "temperature must lie in"),
        ({"temperature": 0.1, "exact": True}, "requires temperature 0"),
        ({"penalties": np.zeros(4), "exact": True}, "allows no penalties"),
        ({"penalties": np.zeros(4), **core_limits(4, most=5.0)}, "either penalties or limits"),
        ({"max_weights": np.ones(4)}, "must be given together"),
        ({"penalties": np.array([0.0, -1.0])}, "penalties must not be negative"),
    ],
)
def test_rejects_options_that_exclude_each_other(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.SweepOptions(**changes)


def test_rejects_labels_that_need_a_copy() -> None:
    partition = blank_partition(np.zeros(30, np.int32), 4, 3)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.PartitionView(
            labels=partition.labels.astype(np.int64),
            composites=partition.composites,
            weights=partition.weights,
            counts=partition.counts,
        )


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("d", [1, 4, 37, 128, 300])
def test_low_precision_gains_nearly_as_much_as_float32(isa: str, d: int, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, size=(600, d)).astype(dtype)
    labels = rng.permutation(np.arange(600) % 40).astype(np.int32)
    gains = {}
    for low in (False, True):  # `core_sweep` checks the gain.
        _, moves, gains[low] = core_sweep(X, labels, 40, rng.permutation(600), low=low)
        assert moves > 300
    assert gains[True] > 0.9 * gains[False]
    # An exact sweep does not depend on the precision of proposals.
    exact = [core_sweep(X, labels, 40, np.arange(600), exact=True, low=low)[0].labels
             for low in (False, True)]  # fmt: skip
    np.testing.assert_array_equal(exact[0], exact[1])


def test_low_precision_applies_to_bytes_only() -> None:
    X, labels = random_problem(200, 9, 10, 0)
    for other in (X, X.astype(np.float32), np.round(X * 30)):
        both = [
            core_sweep(other, labels, 10, np.arange(200), low=low)[0].labels for low in (False, True)
        ]
        np.testing.assert_array_equal(both[0], both[1])


# Instruction sets that multiply bytes.
BYTE_SETS = [name for name in instruction_sets() if name in ("avx512vnni", "dotprod")]


@pytest.mark.skipif(not BYTE_SETS, reason="needs AVX512-VNNI or the dot products of arm64")
def test_low_precision_is_used_for_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOSTKMEANS_ISA", BYTE_SETS[0])
    X = np.random.default_rng(0).integers(0, 256, size=(3000, 16)).astype(np.uint8)
    labels = np.random.default_rng(1).integers(0, 300, 3000).astype(np.int32)
    both = [core_sweep(X, labels, 300, np.arange(3000), low=low)[0].labels for low in (False, True)]
    assert (both[0] != both[1]).any()
    other = core_sweep(np.asfortranarray(X), labels, 300, np.arange(3000), low=True)[0].labels
    np.testing.assert_array_equal(other, both[1])
