"""Small fits, which the core makes in a single call: equal to the same fit step by step."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from boostkmeans import BoostKMeans, _core
from boostkmeans._engine import small_fit
from boostkmeans._engine.history import SweepRecord

Array = NDArray[Any]


def overlapping(n: int = 400, d: int = 5, k: int = 6, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(k, d))[rng.integers(k, size=n)] * 2 + rng.normal(size=(n, d)))


def steps(model: BoostKMeans) -> list[tuple[Any, ...]]:
    """Return the history without the times."""
    return [
        (r.kind, r.moves, r.inertia, r.evaluations, r.temperature, r.swaps, r.note)
        for r in model.history_
    ]


def assert_same(one: BoostKMeans, other: BoostKMeans) -> None:
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    assert steps(one) == steps(other)
    assert one.inertia_ == other.inertia_
    assert one.stop_reason_ == other.stop_reason_


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tol": 0.0},
        {"quality": "best"},
        {"quality": "fast", "n_init": 3},
        {"moves": "first", "annealing": (0.2, 3)},
        {"metric": "cosine", "repair": 2},
        {"init": "random-partition", "repair": False, "annealing": 0.0},
        {"init": "bisecting", "max_iter": 4},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_one_call_equals_one_call_per_step(parameters: dict[str, Any], weighted: bool) -> None:
    X = overlapping()
    weights = np.random.default_rng(1).integers(0, 4, size=len(X)) if weighted else None
    whole = BoostKMeans(6, random_state=0, **parameters).fit(X, sample_weight=weights)
    seen: list[SweepRecord] = []
    stepwise = BoostKMeans(6, random_state=0, callback=seen.append, **parameters)
    stepwise.fit(X, sample_weight=weights)
    assert_same(whole, stepwise)
    if "n_init" not in parameters:
        assert seen == stepwise.history_


def test_checkpoint_verbose_and_time_limit_do_not_change_the_result(tmp_path: Path) -> None:
    X = overlapping()
    plain = BoostKMeans(6, random_state=0).fit(X)
    for setting in ({"checkpoint": tmp_path / "a"}, {"verbose": 1}, {"max_time": 1e6}, {"n_threads": 3}):
        assert_same(plain, BoostKMeans(6, random_state=0, **setting).fit(X))


def stopping_after(n: int) -> Callable[[SweepRecord], bool]:
    """Return a callback that stops a fit after n steps."""
    seen: list[SweepRecord] = []

    def callback(record: SweepRecord) -> bool:
        seen.append(record)
        assert len(seen) <= n
        return len(seen) == n

    return callback


def test_callback_stops_the_fit_and_a_checkpoint_continues_it(tmp_path: Path) -> None:
    X, path = overlapping(), tmp_path / "a"
    whole = BoostKMeans(6, random_state=0, tol=0).fit(X)
    for n in range(1, len(whole.history_)):
        stopped = BoostKMeans(6, random_state=0, tol=0, checkpoint=path, callback=stopping_after(n))
        assert stopped.fit(X).n_iter_ == n
        assert stopped.stop_reason_ in ("callback", "certified")
        resumed = BoostKMeans(6, random_state=0, tol=0, checkpoint=path).fit(X)
        np.testing.assert_array_equal(resumed.labels_, whole.labels_)
        assert steps(resumed) == steps(whole)
        path.unlink()


def test_deadline_stops_the_fit_in_a_consistent_state() -> None:
    X = overlapping()
    model = BoostKMeans(6, random_state=0, max_time=1e-9).fit(X)
    assert model.stop_reason_ == "max_time"
    gaps = X - model.cluster_centers_[model.labels_]
    assert model.inertia_ == pytest.approx((gaps**2).sum())


@pytest.mark.parametrize("seed", range(20))
def test_certified_partitions_are_optimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(5, 200)), int(rng.integers(1, 9)), int(rng.integers(1, 6))
    X = rng.integers(-3, 4, size=(n, d)).astype(float) if seed % 2 else rng.normal(size=(n, d))
    model = BoostKMeans(min(k, n), tol=0, max_iter=1000, random_state=seed).fit(X)
    assert model.converged_
    labels = model.labels_
    assert model.inertia_ == pytest.approx(reference.inertia(X, labels), rel=1e-9, abs=1e-9)
    assert reference.improving_move(X, labels, model.n_clusters_) is None


@pytest.mark.parametrize(
    ("X", "k"),
    [
        (np.zeros((7, 2)), 3),
        (np.arange(5.0)[:, None], 5),
        (np.arange(6.0)[:, None], 1),
        (np.repeat(np.eye(3), 4, axis=0), 5),
        (np.column_stack([np.ones(50), np.arange(50.0)]), 4),
        (1e-300 * np.arange(40.0)[:, None], 3),
        (1e150 * np.arange(40.0)[:, None], 3),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The inertia is too large")
def test_awkward_rows(X: Array, k: int) -> None:
    model = BoostKMeans(k, tol=0, random_state=0).fit(X)
    assert model.converged_
    found = len(np.unique(model.labels_))
    assert found == min(k, len(np.unique(X, axis=0)))
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_only_small_data_are_fitted_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    X, calls = overlapping(), []
    advance = _core.advance

    def counted(*args: Any, **options: Any) -> bool:
        calls.append(1)
        return advance(*args, **options)

    monkeypatch.setattr(_core, "advance", counted)
    for other in (BoostKMeans(6, n_candidates=3), BoostKMeans(6, max_size=100)):
        other.set_params(random_state=0).fit(X)
    assert not calls
    BoostKMeans(6, random_state=0).fit(X)
    assert len(calls) == 1
    monkeypatch.setattr(small_fit, "MAX_WORK", 1)
    BoostKMeans(6, random_state=0).fit(X)
    assert len(calls) == 1


@pytest.mark.parametrize("seed", range(3))
def test_inertia_is_about_that_of_the_ordinary_schedule(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = overlapping(300, 4, 8, seed)
    small = np.mean([BoostKMeans(8, random_state=s).fit(X).inertia_ for s in range(10)])
    monkeypatch.setattr(small_fit, "MAX_WORK", 0)
    ordinary = np.mean([BoostKMeans(8, random_state=s).fit(X).inertia_ for s in range(10)])
    assert small <= ordinary * 1.01
