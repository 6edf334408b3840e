"""Contestants, problems and measurements of the comparison with other libraries."""

import json
import math
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arena
import peers
from isolated import isolated
from problems import PROBLEMS, Problem, normal

Json = dict[str, Any]


@pytest.mark.process
def test_isolated_call_returns_value_and_peak_memory() -> None:
    outcome = isolated(math.factorial, 5, limit=60)
    assert (outcome.value, outcome.failure) == (120, "")
    assert outcome.unwrap() == 120
    assert outcome.peak_megabytes > 1


@pytest.mark.process
def test_isolated_call_is_killed_at_its_limit() -> None:
    began = time.perf_counter()
    assert isolated(time.sleep, 100, limit=0.5).failure == "more than 0.5 s"
    assert time.perf_counter() - began < 30


@pytest.mark.process
def test_isolated_call_reports_errors() -> None:
    outcome = isolated(math.factorial, -1, limit=60)
    assert outcome.failure.startswith("ValueError")
    with pytest.raises(RuntimeError, match="ValueError"):
        outcome.unwrap()


def test_problem_names_are_unique() -> None:
    names = [problem.name for problem in PROBLEMS]
    assert len(set(names)) == len(names)


def test_dense_problems_cover_small_and_large_k() -> None:
    ks = [problem.k for problem in PROBLEMS if problem.kind == "dense"]
    assert (min(ks), max(ks)) == (8, 100_000)


def test_contestants_state_their_obstacles() -> None:
    assert peers.CONTESTANTS["faiss.Kmeans"].obstacle("sparse") == "takes no sparse rows"
    missing = peers.Contestant("x", peers.boost_default, "no_such_module", peers.DENSE)
    assert missing.obstacle("dense") == "not installed"


@pytest.mark.parametrize("name", ["boostkmeans", "scikit-learn KMeans", "faiss.Kmeans"])
def test_contestants_label_all_rows(name: str) -> None:
    if name == "faiss.Kmeans":
        pytest.importorskip("faiss")
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    fitted = peers.CONTESTANTS[name].fit(X, 5, 0)
    assert fitted.labels.shape == (300,)
    assert peers.figures_of(X, fitted)["inertia"] > 0


def test_only_short_successful_runs_are_repeated() -> None:
    assert arena.worth_repeating({"seconds": 1.0})
    assert not arena.worth_repeating({"seconds": 100.0})
    assert not arena.worth_repeating({"failure": "not installed"})


def small_problem(limit: float = 60.0) -> Problem:
    return Problem("normal 2,000 x 2, k=4", 4, partial(normal, 2000, 2), limit)


@pytest.fixture
def attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[int]]]:
    """Return the contestants and seeds that are measured; boostkmeans pretends to take 30 s."""
    calls: list[tuple[str, list[int]]] = []

    def attempt(problem: Problem, contestant: peers.Contestant, seeds: list[int]) -> list[Json]:
        calls.append((contestant.name, seeds))
        seconds = 30.0 if contestant.own else 1.0
        return [{"seed": seed, "seconds": seconds, "inertia": 1.0} for seed in seeds]

    monkeypatch.setattr("problems.CACHE", tmp_path / "cache")
    monkeypatch.setattr(arena, "RESULT", tmp_path / "peers.json")
    monkeypatch.setattr(arena, "PROBLEMS", [small_problem()])
    monkeypatch.setattr(arena, "attempt", attempt)
    some = {name: peers.CONTESTANTS[name] for name in ("boostkmeans", "scikit-learn KMeans")}
    monkeypatch.setattr(arena, "CONTESTANTS", some)
    return calls


# The long run has one round, the short run has two.
BOTH_CONTESTANTS = [
    ("boostkmeans", [0]),
    ("scikit-learn KMeans", [0]),
    ("scikit-learn KMeans", [1, 2]),
]


def test_existing_runs_are_reused(attempts: list[tuple[str, list[int]]]) -> None:
    arena.measure([])
    assert attempts == BOTH_CONTESTANTS
    arena.measure([])
    assert attempts == BOTH_CONTESTANTS


def test_runs_of_another_version_are_repeated(attempts: list[tuple[str, list[int]]]) -> None:
    arena.measure([])
    content = json.loads(arena.RESULT.read_text())
    content["environment"]["packages"]["scikit-learn"] = "0.1"
    arena.RESULT.write_text(json.dumps(content))
    arena.measure([])
    assert attempts == [*BOTH_CONTESTANTS, *BOTH_CONTESTANTS[1:]]


def test_runs_of_a_changed_problem_are_repeated(
    attempts: list[tuple[str, list[int]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.measure([])
    monkeypatch.setattr(arena, "PROBLEMS", [small_problem(limit=90.0)])
    arena.measure([])
    assert attempts == 2 * BOTH_CONTESTANTS


def test_only_named_problems_are_measured(attempts: list[tuple[str, list[int]]]) -> None:
    arena.measure(["no such name"])
    assert attempts == []


def test_fit_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("problems.CACHE", tmp_path)
    monkeypatch.setattr(arena, "PROBLEMS", [small_problem()])
    first, second = arena.run_contestant("normal 2,000 x 2, k=4", "boostkmeans", [0, 1])
    assert (first["seed"], second["seed"]) == (0, 1)
    assert 0 < first["curve"][-1][0] <= first["seconds"]
    assert first["curve"][-1][1] >= first["inertia"] * (1 - 1e-9)
    assert [path.suffix for path in sorted(tmp_path.glob("*/*"))] == [".npy", ".txt"]
