"""Splits that use all rows, compared with the oracle row by row: sections, passes and inertias."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import split_reference as oracle
from boostkmeans import BisectingBoostKMeans, _core
from boostkmeans._data import rows as rows_module
from boostkmeans._data.rows import Rows

STARTS = ("random-partition", "random", "k-means++")
ORACLES = {"boost": oracle.boost_split, "lloyd": oracle.lloyd_split}
# Whether bounds are used, the rows above which all threads split a set together, and the threads. The
# first is the plain version: every pass reads all rows.
PATHS = [(False, 0, 1), (True, 0, 1), (False, 1, 2), (True, 1, 1), (True, 1, 3)]


def split(
    X: Any, w: Any, n_sections: int, init: str, seed: int, *, rule: str = "boost", bounded: bool = True,
    max_rows: int = 0, n_threads: int = 1, max_passes: int | None = None, sample: bool = False,
) -> tuple[NDArray[np.int64], int, NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Split all rows. Return the section of each row, the passes, and the weights and inertias."""
    n = X.shape[0]
    rows = Rows.in_own_frame(X, "euclidean", n_threads)
    members = np.arange(n)
    options = _core.SplitOptions(
        n_sections=n_sections, init=init, max_passes=max_passes, tol=0.0, seed=seed, with_inertias=True,
        rule=rule, sample=sample, bounded=bounded, max_rows_of_one_thread=max_rows,
    )  # fmt: skip
    ends, weights, inertias, passes = _core.split(
        rows.core, w, members, np.array([0]), np.array([n]), options, n_threads
    )
    sections = np.empty(n, dtype=np.int64)
    sections[members] = np.searchsorted(ends, np.arange(n), side="right")
    unit = 2.0 ** (-2 * rows.frame.exponent)
    return sections, int(passes[0]), weights, inertias * unit


def weights_for(n: int, rng: np.random.RandomState, *, weighted: bool) -> Any:
    return rng.rand(n) + 0.1 if weighted else None


def check(X: Any, w: Any, n_sections: int, init: str, seed: int, rule: str, **parameters: Any) -> None:
    """Compare all paths with the oracle."""
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    own = oracle.seed_of_set(seed, 0, X.shape[0])
    expected = ORACLES[rule](dense, w, n_sections, init, own, **parameters)
    for bounded, max_rows, n_threads in PATHS:
        sections, passes, weights, inertias = split(
            X, w, n_sections, init, seed, rule=rule, bounded=bounded, max_rows=max_rows,
            n_threads=n_threads, **parameters,
        )  # fmt: skip
        np.testing.assert_array_equal(sections, expected.sections)
        assert passes == expected.n_passes
        ones = np.ones(len(dense)) if w is None else w
        np.testing.assert_allclose(weights, np.bincount(sections, ones, n_sections))
        for s in range(n_sections):
            inside = sections == s
            value = oracle.priority_of("inertia", dense[inside], ones[inside])
            assert inertias[s] == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("rule", ["boost", "lloyd"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("n_sections", "init"),
    [(2, STARTS[0]), (3, STARTS[1]), (5, STARTS[2]), (2, STARTS[1]), (2, STARTS[2])],
)
def test_every_decision_is_that_of_the_oracle(
    rule: str, weighted: bool, n_sections: int, init: str
) -> None:
    rng = np.random.RandomState(0)
    for n, d in ((7, 1), (60, 3), (300, 8)):
        X = rng.randn(n, d) * np.linspace(3, 1, d)
        seed = int(rng.randint(2**60, dtype=np.int64))
        check(X, weights_for(n, rng, weighted=weighted), n_sections, init, seed, rule)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "uint8", "int8"])
def test_rows_of_any_type(dtype: str) -> None:
    rng = np.random.RandomState(1)
    low = 0 if dtype == "uint8" else -120
    X = np.clip(rng.randn(250, 6) * 20 + 50, low, 120).astype(dtype)
    check(X, None, 2, "random-partition", 5, "boost")
    check(np.asfortranarray(X), None, 3, "k-means++", 6, "boost")


@pytest.mark.parametrize("rule", ["boost", "lloyd"])
@pytest.mark.parametrize("stays_sparse", [False, True])
def test_sparse_rows(monkeypatch: pytest.MonkeyPatch, rule: str, stays_sparse: bool) -> None:
    monkeypatch.setattr(rows_module, "stays_sparse", lambda X: stays_sparse and sparse.issparse(X))
    rng = np.random.RandomState(2)
    # Bounds are used only if the rows have more values than the centres.
    for n, d, density, n_sections in ((250, 40, 0.2, 2), (120, 400, 0.03, 3), (400, 20, 0.3, 5)):
        X = sparse.random(n, d, density=density, format="csr", random_state=rng)
        w = weights_for(n, rng, weighted=n_sections == 3)
        check(X, w, n_sections, STARTS[n_sections % 3], n, rule)


def rows_with_a_long_one(n: int, d: int, n_terms: int, longest: int) -> Any:
    """Return sparse rows with few terms each, and one row with many."""
    rng = np.random.default_rng(n)
    lengths = np.full(n, n_terms)
    lengths[n // 3] = longest
    columns = np.concatenate([np.sort(rng.choice(d, size, replace=False)) for size in lengths])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_matrix((rng.random(len(columns)) + 0.1, columns, starts), shape=(n, d))


@pytest.mark.parametrize("rule", ["boost", "lloyd"])
def test_one_long_row_among_short_ones(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    monkeypatch.setattr(rows_module, "stays_sparse", sparse.issparse)
    check(rows_with_a_long_one(150, 2000, 6, 1500), None, 2, "random-partition", 1, rule)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is reliable on Linux only")
def test_one_long_row_does_not_make_all_slots_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 50,000 terms of 12 bytes for each of 1,000 rows, the split would need 600 MB."""
    monkeypatch.setattr(rows_module, "stays_sparse", sparse.issparse)
    X = rows_with_a_long_one(1000, 60_000, 5, 50_000)
    found = {}
    for max_rows in (0, 1):  # All rows are in memory, or blocks of them.
        with address_space_limited_to(200 << 20):
            found[max_rows] = split(X, None, 2, "random-partition", 3, max_rows=max_rows)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


@contextmanager
def address_space_limited_to(n_bytes: int) -> Iterator[None]:
    """Let this process allocate only a number of bytes more than now."""
    import resource  # Windows does not have it.

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    old = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)


def test_rows_far_from_the_origin_and_tight_sets() -> None:
    rng = np.random.RandomState(3)
    X = rng.randn(200, 4) + 1e6
    X[:3] += 1e3
    check(X, None, 2, "random-partition", 1, "boost")


def test_equal_rows_and_ties() -> None:
    rng = np.random.RandomState(4)
    X = rng.randint(0, 3, (90, 2)).astype(float)
    w = np.where(np.arange(90) % 2, 1.0, 2.0)
    for seed in range(5):
        check(X, w, 2, "random-partition", seed, "boost")
        check(X, None, 3, "k-means++", seed, "lloyd")
    ends = _core.split(
        Rows.in_own_frame(np.ones((20, 2)), "euclidean", 1).core, None, np.arange(20), np.array([0]),
        np.array([20]), _core.SplitOptions(
            n_sections=2, init="random", max_passes=None, tol=0.0, seed=0, with_inertias=True,
            rule="boost", sample=False,
        ), 1,
    )[0]  # fmt: skip
    assert ends.tolist() == [-1, -1]


def test_a_section_that_becomes_empty_gets_a_row() -> None:
    rng = np.random.RandomState(5)
    X = np.round(rng.randn(40, 1) * 2)
    found = {split(X, None, 5, "random-partition", seed, rule="lloyd")[1] for seed in range(20)}
    assert len(found) > 1
    for seed in range(20):
        check(X, None, 5, "random-partition", seed, "lloyd")
        assert (np.bincount(split(X, None, 5, "random-partition", seed, rule="lloyd")[0]) > 0).all()


@pytest.mark.parametrize("rule", ["boost", "lloyd"])
def test_the_number_of_passes_is_limited(rule: str) -> None:
    X = np.random.RandomState(6).randn(300, 5)
    for max_passes in (1, 2, 3):
        check(X, None, 2, "random", 3, rule, max_passes=max_passes)


def test_large_sets_have_several_blocks_and_rounds() -> None:
    """Compare the paths on more rows than a block has; the oracle would take too long."""
    rng = np.random.RandomState(7)
    X = rng.randn(10_000, 16).astype(np.float32)
    X[:, 0] *= 4
    w = rng.rand(len(X)) + 0.5
    for rule in ("boost", "lloyd"):
        plain = split(X, w, 2, "random-partition", 8, rule=rule, bounded=False)
        for bounded, max_rows, n_threads in PATHS[1:]:
            other = split(
                X, w, 2, "random-partition", 8, rule=rule, bounded=bounded, max_rows=max_rows,
                n_threads=n_threads,
            )  # fmt: skip
            np.testing.assert_array_equal(other[0], plain[0])
            assert other[1] == plain[1] > 3


def test_the_rows_of_a_small_sample_are_those_of_the_set() -> None:
    X = np.random.RandomState(8).randn(400, 4)
    whole = split(X, None, 3, "k-means++", 2)
    sampled = split(X, None, 3, "k-means++", 2, sample=True)
    np.testing.assert_array_equal(whole[0], sampled[0])
    assert whole[1] == sampled[1]


@pytest.mark.parametrize("rule", ["boost", "lloyd"])
def test_a_sample_of_a_large_set_stays_in_its_sections(rule: str) -> None:
    X = np.random.RandomState(9).randn(9_000, 4) + 8 * (np.arange(9_000) % 2)[:, None]
    sections, passes, _, _ = split(X, None, 2, "k-means++", 2, rule=rule, sample=True, n_threads=2)
    assert (sections == sections[np.arange(9_000) % 2]).mean() == 1.0
    assert passes >= 1  # The start is already an optimum.


def test_the_order_is_new_in_every_pass_and_uniform() -> None:
    orders = np.array([oracle.visit_order(seed, number, 4) for seed in range(300) for number in (0, 1)])
    assert not np.array_equal(orders[::2], orders[1::2])
    first = np.bincount(orders[:, 0], minlength=4)
    assert (abs(first - 150) < 50).all()
    assert len({tuple(order) for order in orders.tolist()}) == 24


def test_bad_options_are_rejected() -> None:
    good: dict[str, Any] = {"init": "random", "max_passes": 1, "tol": 0.0, "seed": 0}
    good |= {"n_sections": 2, "with_inertias": False}
    for bad in ({"rule": "fast", "sample": False}, {"rule": "other"}, {"n_sections": 1}):
        with pytest.raises(ValueError, match=r"rule|n_sections"):
            _core.SplitOptions(**{**good, **bad})


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_passes_end_when_moves_gain_only_rounding_errors() -> None:
    # One row holds nearly all the weight of its section, and others differ from it by one rounding step.
    for seed in range(24):
        rng = np.random.RandomState(seed)
        rows = rng.randn(40, 3) * (rng.rand(40, 3) < 0.4)
        weights = np.exp(6 * rng.randn(40))
        model = BisectingBoostKMeans(
            20, sample=None, max_passes=5000, metric="cosine", random_state=seed
        ).fit(rows, sample_weight=weights)
        assert model.tree_.n_passes is not None
        assert model.tree_.n_passes.max() < 200
