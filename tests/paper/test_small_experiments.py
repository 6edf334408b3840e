"""Experiments about objectives, first moves, sections, priorities and pairs, on few rows."""

from typing import Any

import numpy as np
import pytest
from miniature_results import each_result

import fast_moves
import fig3d_significance
import objectives
import pair_refinement
import sections
import split_priority
from boostkmeans import metrics
from contenders import Task

SMALL_EXPERIMENTS = [fast_moves, objectives, pair_refinement, sections, split_priority]


def few_rows(n: int) -> tuple[Any, str]:
    """Return rows in some groups."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(n, 6)) + 4 * rng.integers(0, 3, size=(n, 6))
    return rows.astype(np.float32), f"some {n} x 6"


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (objectives, pair_refinement, sections, split_priority, fig3d_significance):
        monkeypatch.setattr(module, "sift", few_rows)
    monkeypatch.setattr(split_priority, "N_THREADS", 1)  # Starting processes takes long.


@pytest.mark.parametrize("module", SMALL_EXPERIMENTS, ids=lambda module: module.NAME)
def test_pages_of_miniature_results(module: Any) -> None:
    text = module.page(each_result()[module.NAME])
    assert "Data: some" in text
    assert "| --- |" in text


@pytest.mark.parametrize("module", SMALL_EXPERIMENTS, ids=lambda module: module.NAME)
@pytest.mark.parametrize("full", [False, True])
def test_costs_are_positive(module: Any, full: bool) -> None:
    assert all(module.cost(run) > 0 for run in module.plan(full))


def test_objectives_are_those_of_the_states() -> None:
    run = {"method": "BKM(non)", "n": 300, "k": 30, "seed": 0, "iterations": 4}
    found = objectives.measure(run)
    assert len(found["i1"]) == len(found["i2"]) <= 5
    assert found["i1"] == sorted(found["i1"], reverse=True)
    assert all(2 * i1 < i2 for i1, i2 in zip(found["i1"], found["i2"], strict=True))
    # The start has clusters of ten rows, so its factor is 2 * 10 / 9.
    assert found["i2"][0] == pytest.approx(found["i1"][0] * 20 / 9)


def test_opposed_iterations() -> None:
    run = {"i1": [5.0, 4.0, 3.0, 3.0], "i2": [9.0, 9.5, 8.0, 8.5]}
    assert objectives.opposed_iterations(run) == [1]


def test_first_moves_are_compared_by_seed() -> None:
    runs = [
        {"run": {"method": f"BKM(non){end}", "seeds": seeds}, "distortion": values}
        for end, seeds, values in (("", [0, 2], [100.0, 200.0]), ("", [2, 4], [100.0, 100.0]),
                                   ("+Fast", [1, 3], [202.0, 101.0]))
    ]  # fmt: skip
    found = fast_moves.compared({"runs": runs})
    assert list(found) == ["non"]
    assert found["non"]["seeds"] == 2
    assert found["non"]["gap"] == pytest.approx(1.0)
    assert found["non"]["lower"] == 0


def test_equal_runs_do_not_differ() -> None:
    runs = [{"run": {"method": f"BKM(rnd){end}", "seeds": [0, 3]}, "distortion": [1.0, 2.0, 3.0]}
            for end in ("", "+Fast")]  # fmt: skip
    assert fast_moves.compared({"runs": runs})["rnd"]["p"] == 1.0


@pytest.mark.parametrize("s", [2, 3, 16])
def test_comparisons_are_counted(s: int) -> None:
    found = sections.measure({"s": s, "n": 200, "k": 16, "seed": 0})
    # The first split visits all rows at least twice: one pass with moves, and one without.
    assert found["visits"] >= 2 * 200
    assert found["splits"] == {2: 15, 3: 8, 16: 1}[s]
    if s != 3:  # The last split into three makes two clusters only.
        assert found["comparisons"] == found["visits"] * (s - 1)


def test_untimed_sections_have_no_seconds() -> None:
    run = {"s": 4, "n": 200, "k": 16, "seed": 0, "timed": False}
    figures = sections.measure(run)
    assert "seconds" not in figures
    assert "| - | - |" in sections.page({"runs": [{"run": run, **figures}]})


@pytest.mark.parametrize("split", split_priority.SPLITS)
def test_priorities_are_measured_for_all_seeds(split: str) -> None:
    found = split_priority.measure({"set": "SIFT", "n": 200, "k": 8, "split": split, "seeds": [0, 2]})
    assert len(found["distortion"]) == len(found["largest"]) == 2
    assert min(found["largest"]) >= 1


@pytest.mark.parametrize("k", [2, 7, 8])
def test_pairs_are_a_matching(k: int) -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(k, 3))
    for pairs in (pair_refinement.random_pairs(k, rng), pair_refinement.nearest_pairs(centres, rng)):
        assert pairs.shape == (k // 2, 2)
        assert len(set(pairs.ravel().tolist())) == 2 * (k // 2)


def test_conclusion_about_pairs() -> None:
    run = {"run": {"pairs": "random"}, "tree": 100.0, "after": [[1, 99.0], [2, 94.8]]}
    assert "5.2 % in 2 rounds: they do not explain" in pair_refinement.conclusion({"runs": [run]})
    run["after"] = [[1, 99.0], [2, 94.7]]
    assert "they can explain" in pair_refinement.conclusion({"runs": [run]})
    assert "not measured" in pair_refinement.conclusion({"runs": []})


def test_nearest_pairs() -> None:
    centres = np.array([[0.0], [10], [1], [11]])
    pairs = pair_refinement.nearest_pairs(centres, np.random.default_rng(0))
    assert {frozenset(pair) for pair in pairs.tolist()} == {frozenset({0, 2}), frozenset({1, 3})}


def test_refinement_of_a_pair_keeps_other_clusters() -> None:
    X, _ = few_rows(300)
    labels = np.random.default_rng(0).integers(0, 4, size=300).astype(np.int32)
    task, before = Task(X, 4, 0), labels.copy()
    pair_refinement.refine_pair(task, labels, np.array([3, 1]), 0)
    assert np.isin(labels[np.isin(before, [1, 3])], [1, 3]).all()
    np.testing.assert_array_equal(labels[np.isin(before, [0, 2])], before[np.isin(before, [0, 2])])
    assert metrics.average_distortion(X, labels) < metrics.average_distortion(X, before)


def test_centres_of_pairs_are_means() -> None:
    X, _ = few_rows(60)
    labels = np.resize(np.arange(5, dtype=np.int32), 60)
    means = [X[labels == cluster].mean(axis=0) for cluster in range(5)]
    np.testing.assert_allclose(pair_refinement.centres_of(Task(X, 5, 0), labels), means, rtol=1e-5)


@pytest.mark.parametrize("pairs", pair_refinement.PAIRS)
def test_refinement_lowers_the_distortion(pairs: str) -> None:
    found = pair_refinement.measure({"pairs": pairs, "n": 400, "k": 20, "rounds": 4, "seed": 0})
    ends = [found["tree"], *[value for _, value in found["after"]]]
    assert [number for number, _ in found["after"]] == [1, 2, 4]
    assert ends == sorted(ends, reverse=True)
