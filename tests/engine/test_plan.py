"""The plan: the values that replace "auto", and their reasons."""

import logging
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from boostkmeans import BoostKMeans
from boostkmeans._data.rows import RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.plan import (
    EARLY_FROM_CLUSTERS,
    EARLY_FROM_FEATURES,
    EARLY_SWEEPS,
    MIN_EARLY_GAIN,
    Annealing,
    Plan,
    RequestedSettings,
    make_plan,
)
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.seeding import SAMPLED
from boostkmeans._storage.state import SavedState

X = np.random.default_rng(0).normal(size=(800, 4))


def plan(n: int = 100_000, d: int = 32, k: int = 100, **wishes: Any) -> Plan:
    defaults: dict[str, Any] = {
        "init": "auto", "repair": "auto", "annealing": "auto", "n_candidates": "auto",
        "quality": "balanced", "moves": "best", "max_iter": 100,
    }  # fmt: skip
    rows = cast(RowSet, SimpleNamespace(n_rows=n, n_features=d, in_memory=True, stays_sparse=False))
    problem = Problem(rows, RowWeights.of(None, n), k, n_threads=1)
    return make_plan(RequestedSettings(**{**defaults, **wishes}), problem)


def test_quality_sets_the_effort() -> None:
    plans = [plan(quality=quality) for quality in ("fast", "balanced", "best")]
    rounds = [p.repair_rounds for p in plans]
    assert 0 < rounds[0] < rounds[1] < rounds[2]
    sweeps = [0 if p.annealing is None else p.annealing.n_sweeps for p in plans]
    assert 0 == sweeps[0] < sweeps[1] < sweeps[2]


def test_explicit_parameters_override_the_plan() -> None:
    for quality in ("fast", "balanced", "best"):
        by_hand = plan(init="random", repair=7, annealing=(0.3, 12), n_candidates=5, quality=quality)
        assert by_hand.init == "random"
        assert by_hand.repair_rounds == 7
        assert by_hand.annealing == Annealing(0.3, 12)
        assert by_hand.n_candidates == 5
        assert by_hand.reasons == []
    nothing = plan(repair=False, annealing=0, quality="best")
    assert (nothing.repair_rounds, nothing.annealing) == (0, None)


def test_accepts_a_temperature_alone() -> None:
    for quality in ("fast", "balanced", "best"):
        found = plan(annealing=0.3, quality=quality).annealing
        assert found is not None
        assert found.temperature == 0.3
        assert found.n_sweeps >= 10


def test_automatic_start() -> None:
    assert plan(k=10).init == SAMPLED
    assert plan(k=100).init == "bisecting"
    assert plan(k=100, repair=False).init == SAMPLED
    assert plan(k=5000, repair=False).init == "bisecting"
    assert plan(init="k-means++").init == "k-means++"


def test_given_start_is_only_refined() -> None:
    given = plan(init=np.zeros((100, 32)))
    assert (given.repair_rounds, given.annealing) == (0, None)
    assert plan(init=np.zeros((100, 32)), repair=True, annealing=0.1).repair_rounds > 0


def test_plan_for_few_sweeps_and_few_clusters() -> None:
    assert plan(max_iter=10).annealing is None
    best = plan(max_iter=50, quality="best").annealing
    assert best is not None
    assert best.n_sweeps <= 45
    assert plan(k=2).repair_rounds == 0
    assert plan(k=1).annealing is None
    assert plan(moves="first").annealing is None


def test_early_sweeps_precede_annealing() -> None:
    k = EARLY_FROM_CLUSTERS
    assert plan(k=k).early_sweeps == plan(k=5000).early_sweeps == EARLY_SWEEPS > 0
    assert plan(k=k - 1).early_sweeps == plan(k=k, d=EARLY_FROM_FEATURES - 1).early_sweeps == 0
    for other in (
        {"quality": "fast"},
        {"repair": False},
        {"annealing": 0.1},
        {"init": np.zeros((k, 32))},
    ):
        assert plan(k=k, **other).early_sweeps == 0
    assert plan(k=k).sweeps_only().early_sweeps == 0


def test_stored_plans_are_restored() -> None:
    state = plan(k=5000).state()
    restored = Plan.restore(SavedState("f", "plan", state), None, "best")
    assert restored.state() == state
    del state["early_sweeps"]  # Version 0.8 did not store it.
    assert Plan.restore(SavedState("f", "plan", state), None, "best").early_sweeps == 0


def test_early_sweeps_end_before_the_first_repair() -> None:
    rows = np.random.default_rng(0).normal(size=(4000, EARLY_FROM_FEATURES))
    history = BoostKMeans(EARLY_FROM_CLUSTERS, random_state=0, n_threads=1).fit(rows).history_
    temperatures = [record.temperature for record in history]
    annealed = next(i for i, temperature in enumerate(temperatures) if temperature > 0)
    kinds = [record.kind for record in history[:annealed]]
    n_early = kinds.count("candidates")
    assert kinds[0] == "start"
    assert 1 <= n_early <= EARLY_SWEEPS
    assert set(kinds[1 + n_early :]) <= {"repair"}
    inertias = [record.inertia for record in history[: 1 + n_early]]
    gains = 1 - np.divide(inertias[1:], inertias[:-1])
    assert (gains[:-1] >= MIN_EARLY_GAIN).all(), "only the last early sweep gains little"


def test_record_of_the_start_is_not_counted() -> None:
    model = BoostKMeans(20, random_state=0).fit(X)
    start, first = model.history_[:2]
    assert (start.kind, start.moves, start.evaluations) == ("start", 0, 0)
    assert start.inertia >= first.inertia
    assert start.seconds <= first.seconds
    assert model.n_iter_ == len(model.history_) - 1
    short = BoostKMeans(20, random_state=0, max_iter=1).fit(X)
    assert (short.n_iter_, len(short.history_)) == (1, 2)
    assert BoostKMeans(5, random_state=0).fit(X).history_[0].kind != "start"  # Seeds take little time.


def test_first_record_explains_the_plan() -> None:
    model = BoostKMeans(20, quality="best", random_state=0).fit(X)
    note = model.history_[0].note
    for word in (
        "start: bisecting (",
        "repair: up to",
        "annealing: at most 0.12 over",
        "quality='best'",
    ):
        assert word in note
    assert not any(r.note for r in model.history_[1:])


def test_verbose_logs_the_plan(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="boostkmeans"):
        BoostKMeans(20, random_state=0, verbose=1).fit(X)
    assert "start: bisecting" in caplog.text
    assert "temperature" in caplog.text


@pytest.mark.parametrize("quality", ["good", None, 3])
def test_rejects_unknown_quality(quality: Any) -> None:
    with pytest.raises(ValueError, match="quality"):
        BoostKMeans(3, quality=quality).fit(X)


@pytest.mark.parametrize("k", [1, 2, 3, 799, 800])
@pytest.mark.parametrize("quality", ["fast", "balanced", "best"])
def test_fits_any_number_of_clusters(k: int, quality: str) -> None:
    model = BoostKMeans(k, quality=quality, random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == k
    if k == 800:
        assert model.inertia_ == pytest.approx(0, abs=1e-9)
