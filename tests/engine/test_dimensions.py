"""The choice of the number of components, and the plans of projected fits."""

import logging
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine import dimensions
from boostkmeans._engine.dimensions import COMPONENTS_UNIT, choose_projection
from boostkmeans._engine.plan import Annealing, Plan, RequestedSettings, make_plan
from boostkmeans._steps.problem import Problem
from factories import make_problem


def requested(**changes: Any) -> RequestedSettings:
    defaults: dict[str, Any] = {
        "init": "auto", "repair": "auto", "annealing": "auto", "n_candidates": "auto",
        "quality": "balanced", "moves": "best", "max_iter": 100, "dimensions": "auto",
    }  # fmt: skip
    return RequestedSettings(**{**defaults, **changes})


def rows_with_spectrum(spectrum: NDArray[np.floating[Any]], n: int = 3000) -> NDArray[np.float32]:
    """Return normal rows whose components have these standard deviations, in random directions."""
    rng = np.random.default_rng(0)
    d = len(spectrum)
    turned, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return np.asarray((rng.normal(size=(n, d)) * spectrum) @ turned, dtype=np.float32)


def choice(
    X: NDArray[Any], k: int = 1000, n: int = 500_000, weights: Any = None, **changes: Any
) -> int | None:
    """Return the number of components for a fit of n rows that look like X."""
    problem = make_problem(Rows.in_own_frame(X, "euclidean", 1), k, weights)

    def pays_with_n_rows(n_axes: int, wishes: RequestedSettings, _: Problem) -> bool:
        return pays(n_axes, X.shape[1], k, n, wishes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dimensions, "_pays", pays_with_n_rows)
        found = choose_projection(requested(**changes), problem, np.random.RandomState(0))
    return None if found is None else found[0].n_axes


pays_for = dimensions._pays


def pays(n_axes: int, d: int, k: int, n: int, wishes: RequestedSettings | None = None) -> bool:
    """Return what the cost model says about n rows, without the rows."""
    rows = cast(RowSet, SimpleNamespace(n_rows=n, n_features=d, in_memory=True, stays_sparse=False))
    problem = Problem(rows, RowWeights.of(None, n), k, n_threads=1)
    return pays_for(n_axes, wishes or requested(), problem)


STEEP = 0.9 ** np.arange(128)
FLAT = np.ones(128)


class TestAutomaticChoice:
    def test_does_not_exceed_the_memory(self) -> None:
        X = rows_with_spectrum(STEEP)
        n_axes = choice(X)
        assert n_axes is not None
        needed = len(X) * (n_axes + 1) * 4
        assert choice(X, memory_left=needed) == n_axes
        assert choice(X, memory_left=needed - 1) is None

    def test_projects_rows_with_a_steep_spectrum(self) -> None:
        variances = STEEP**2
        needed = int(np.searchsorted(np.cumsum(variances) / variances.sum(), 0.87)) + 1
        assert choice(rows_with_spectrum(STEEP)) == -(-needed // COMPONENTS_UNIT) * COMPONENTS_UNIT

    def test_follows_the_share_of_the_variance(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X = rows_with_spectrum(0.97 ** np.arange(256.0))
        found = []
        for share in (0.5, 0.8, 0.95):
            monkeypatch.setattr(dimensions, "VARIANCE_SHARE", share)
            found.append(choice(X) or 256)
        assert found[0] < found[1] < found[2]

    def test_does_not_project_isotropic_rows(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, logger="boostkmeans"):
            assert choice(rows_with_spectrum(FLAT)) is None
        assert "no projection: 112 of 128 dimensions would be needed" in caplog.text

    def test_does_not_project_few_features(self) -> None:
        assert choice(rows_with_spectrum(STEEP[: dimensions.MIN_FEATURES - 1])) is None

    def test_does_not_project_few_rows_or_clusters(self) -> None:
        X = rows_with_spectrum(STEEP)
        assert choice(X, n=700) is None
        assert choice(X, k=2) is None
        assert choice(X, k=1) is None

    @pytest.mark.parametrize(
        "changes",
        [
            {"init": "random"}, {"init": np.zeros((1000, 128))}, {"init": lambda *_: "random"},
            {"repair": False}, {"annealing": 0}, {"annealing": (0.1, 20)}, {"moves": "first"},
            {"max_iter": 19}, {"dimensions": None},
        ],
        ids=["init", "centres", "callable", "repair", "cold", "annealing", "moves", "max_iter", "none"],
    )  # fmt: skip
    def test_respects_the_settings_of_the_user(self, changes: dict[str, Any]) -> None:
        assert choice(rows_with_spectrum(STEEP), **changes) is None

    def test_ignores_rows_without_weight(self) -> None:
        """Noise in rows of zero weight does not change the spectrum."""
        X = rows_with_spectrum(STEEP)
        weights = np.where(np.arange(len(X)) % 4, 1.0, 0.0)
        expected = choice(X[weights > 0])
        X[weights == 0] = 10 * np.random.default_rng(1).normal(size=(750, 128))
        assert expected is not None
        assert choice(X, weights=weights) == expected
        assert choice(X) != expected

    def test_draws_nothing_if_it_cannot_pay(self) -> None:
        """Fits that are not projected use the random numbers of earlier versions."""
        rng = np.random.RandomState(0)
        problem = make_problem(Rows.in_own_frame(rows_with_spectrum(STEEP), "euclidean", 1), 2)
        assert choose_projection(requested(), problem, rng) is None
        assert rng.randint(2**31) == np.random.RandomState(0).randint(2**31)


class TestCostModel:
    def test_fewer_components_pay_more(self) -> None:
        found = [pays(n_axes, 768, 1000, 100_000) for n_axes in range(16, 768, 16)]
        assert found[0]
        assert not found[-1]
        assert found == sorted(found, reverse=True)

    def test_more_clusters_pay_more(self) -> None:
        wishes = requested(n_candidates=None)
        found = [pays(64, 512, k, 50_000, wishes) for k in (2, 8, 32, 128, 512, 2048)]
        assert not found[0]
        assert found[-1]
        assert found == sorted(found)

    def test_more_rows_pay_more(self) -> None:
        """The principal components take a fixed time."""
        found = [pays(64, 1024, 200, n) for n in (500, 2000, 8000, 32_000, 128_000)]
        assert not found[0]
        assert found[-1]
        assert found == sorted(found)

    def test_candidates_pay_less_than_all_clusters(self) -> None:
        every = [pays(n_axes, 128, 5000, 10**6, requested(n_candidates=None)) for n_axes in (32, 64, 96)]
        few = [pays(n_axes, 128, 5000, 10**6, requested(n_candidates=16)) for n_axes in (32, 64, 96)]
        assert all(a >= b for a, b in zip(every, few, strict=True))
        assert every != few


class TestGivenDimensions:
    @pytest.mark.parametrize("n_axes", [1, 5, 127])
    def test_are_used(self, n_axes: int) -> None:
        X = rows_with_spectrum(FLAT, 300)
        for changes in ({}, {"init": "random"}, {"annealing": 0}, {"max_iter": 2}):
            assert choice(X, k=3, n=300, dimensions=n_axes, **changes) == n_axes
        assert choice(X, k=3, n=300, dimensions=n_axes, max_iter=1) is None

    def test_are_described(self) -> None:
        problem = make_problem(Rows.in_own_frame(rows_with_spectrum(STEEP), "euclidean", 1), 5)
        found = choose_projection(requested(dimensions=10), problem, np.random.RandomState(0))
        assert found is not None
        share = np.square(STEEP[:10]).sum() / np.square(STEEP).sum()
        assert found[1].startswith("first 10 of 128 dimensions (")
        assert float(found[1].split("(")[1].split(" ")[0]) == pytest.approx(100 * share, abs=2)


class TestPlans:
    @staticmethod
    def plan(**changes: Any) -> Plan:
        rows = cast(
            RowSet, SimpleNamespace(n_rows=10**5, n_features=99, in_memory=True, stays_sparse=False)
        )
        problem = Problem(rows, RowWeights.of(None, 10**5), 1000, n_threads=1)
        return make_plan(requested(**changes), problem)

    def test_all_dimensions_repeat_the_last_part_of_the_annealing(self) -> None:
        plan = self.plan(annealing=(0.12, 30), repair=3).for_all_dimensions(16)
        assert plan.annealing is not None
        assert plan.annealing.temperature == pytest.approx(0.048)
        assert plan.annealing.n_sweeps == 12
        assert plan.dimensions == 16
        assert plan.repair_rounds == 3
        assert plan.trial_swaps == 0
        assert str(plan).startswith("then all dimensions")

    def test_last_part_has_the_same_temperatures(self) -> None:
        whole = Annealing(0.12, 30)
        last = whole.final_part()
        assert [last.at(i) for i in range(12)] == pytest.approx([whole.at(18 + i) for i in range(12)])
        assert Annealing(0.1, 1).final_part() == Annealing(0.1, 1)
        assert Annealing(0.1, 2).final_part().n_sweeps == 1

    def test_few_dimensions_do_not_finish_with_full_sweeps(self) -> None:
        plan = self.plan()
        assert plan.n_candidates is not None
        assert plan.finish_with_full_sweeps
        few = plan.in_few_dimensions()
        assert not few.finish_with_full_sweeps
        assert not few.probes
        every = self.plan(n_candidates=None)
        assert every.in_few_dimensions() == every
