"""The peers' table: what decides who is first, processes of their own, the page."""

import json
import math
import time
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import arena
import arena_report as report
import peers
from isolated import isolated
from problems import PROBLEMS, Problem, normal

Json = dict[str, Any]


def run(seconds: float, inertia: float, curve: list[tuple[float, float]] | None = None) -> Json:
    return {"seed": 0, "seconds": seconds, "inertia": inertia, "megabytes": 1.0, "curve": curve or []}


@pytest.fixture
def problem() -> Json:
    """Ours passes 100 after 2 seconds, and 90 after 4."""
    curve = [(1.0, 120.0), (2.0, 99.0), (4.0, 90.0)]
    runs: Json = {name: [{"seed": 0, "failure": "not installed"}] for name in peers.CONTESTANTS}
    runs["ours"] = [run(4.0, 90.0, curve)]
    runs["scikit-learn KMeans"] = [run(8.0, 100.0)]
    return {"data": "by hand", "kind": "dense", "n": 10, "d": 2, "k": 3, "limit": 60.0, "runs": runs}


def test_time_to_equal_inertia(problem: Json) -> None:
    assert report.seconds_of(problem, "ours", 100.0) == 2.0
    assert report.seconds_of(problem, "ours", 90.0) == 4.0
    assert math.isinf(report.seconds_of(problem, "ours", 89.0))
    assert report.ratio(problem, "ours", "scikit-learn KMeans") == 4.0
    assert report.is_first(problem, ["ours"])


def test_a_peer_that_is_sooner_or_lower_is_first(problem: Json) -> None:
    problem["runs"]["faiss.Kmeans"] = [run(1.5, 100.0)]  # sooner than ours at 100
    assert not report.is_first(problem, ["ours"])
    assert report.entry_of_ratio(problem, "faiss.Kmeans") == "**0.75 x**"
    assert "faiss.Kmeans (0.75 x)" in report.reasons({"a problem": problem})
    problem["runs"]["faiss.Kmeans"] = [run(50.0, 80.0)]  # where ours never gets
    assert not report.is_first(problem, ["ours"])
    assert report.entry_of_ratio(problem, "faiss.Kmeans") == "**never**"


def test_another_setting_of_ours_may_be_first(problem: Json) -> None:
    problem["runs"]["faiss.Kmeans"] = [run(1.5, 100.0)]
    problem["runs"]['ours, quality="fast"'] = [run(0.5, 98.0, [(0.5, 98.0)])]
    assert report.is_first(problem, report.OURS)
    assert not report.is_first(problem, ["ours"])


def test_a_peer_that_was_stopped_is_not_compared(problem: Json) -> None:
    problem["runs"]["fastkmeans"] = [{"seed": 0, "failure": "more than 60 s"}]
    assert math.isnan(report.ratio(problem, "ours", "fastkmeans"))
    assert report.entry_of_ratio(problem, "fastkmeans") == "more than 60 s"
    assert report.is_first(problem, ["ours"])
    assert report.stopped(problem) == ["fastkmeans"]


def test_without_results_nobody_is_first(problem: Json) -> None:
    own_failed = {
        **problem,
        "runs": {**problem["runs"], "ours": [{"seed": 0, "failure": "more than 60 s"}]},
    }
    assert not report.is_first(own_failed, report.OURS)
    problem["runs"]["scikit-learn KMeans"] = [{"seed": 0, "failure": "more than 60 s"}]
    assert not report.is_first(problem, report.OURS)
    assert "no peer within the limit" in report.nearest_table({"a problem": problem})
    report.draw_problem(mock.MagicMock(), problem, dict.fromkeys(report.PEERS, "o"))


def test_what_comes_after_the_last_record_counts(problem: Json) -> None:
    problem["runs"]["ours"] = [run(5.0, 89.5, [(1.0, 120.0), (2.0, 99.0), (4.0, 90.0)])]
    assert report.seconds_of(problem, "ours", 100.0) == 3.0
    assert report.seconds_of(problem, "ours", 89.6) == 5.0  # labels by the final centres


def test_inertia_at_equal_time(problem: Json) -> None:
    assert report.equal_time(problem, "scikit-learn KMeans") == "-10.00 %"
    problem["runs"]["faiss.Kmeans"] = [run(0.5, 100.0)]
    assert report.equal_time(problem, "faiss.Kmeans") == "no result yet"
    assert report.equal_time(problem, "superkmeans") == "not installed"


def test_the_page(problem: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = {"packages": {"boostkmeans": "1"}, "processor": "p", "instruction_set": "i", "n_threads": 2}
    (tmp_path / "peers.json").write_text(
        json.dumps({"environment": env, "problems": {"a problem": problem}})
    )
    monkeypatch.setattr(report, "RESULT", tmp_path / "peers.json")
    some = Problem("a problem", 3, partial(normal, 10, 2))
    monkeypatch.setattr(report, "PROBLEMS", [some])
    monkeypatch.setattr(report, "DOCS", tmp_path)
    monkeypatch.setattr(report, "IMAGES", tmp_path)
    report.write_report()
    page = (tmp_path / "peers.md").read_text()
    assert "| a problem | by hand | scikit-learn KMeans | 8 s | 2 s (ours) | 4 x | -10.00 % |" in page
    assert (tmp_path / "peers.svg").exists()


def test_a_call_in_a_process_of_its_own() -> None:
    outcome = isolated(math.factorial, 5, limit=60)
    assert (outcome.value, outcome.failure) == (120, "")
    assert outcome.peak_megabytes > 1
    began = time.perf_counter()
    assert isolated(time.sleep, 100, limit=0.5).failure == "more than 0.5 s"
    assert time.perf_counter() - began < 30
    assert isolated(math.factorial, -1, limit=60).failure.startswith("ValueError")


def test_contestants_and_problems() -> None:
    names = [problem.name for problem in PROBLEMS]
    assert len(set(names)) == len(names)
    assert {pair for ends in report.GROWTH.values() for pair in ends} <= set(names)
    dense = [problem for problem in PROBLEMS if problem.kind == "dense"]
    assert (min(problem.k for problem in dense), max(problem.k for problem in dense)) == (8, 100_000)
    assert peers.CONTESTANTS["faiss.Kmeans"].cannot("sparse") == "takes no sparse rows"
    assert peers.Contestant("x", peers.ours, "no_such_module", peers.DENSE).cannot("dense")


@pytest.mark.parametrize("name", ["ours", "scikit-learn KMeans", "faiss.Kmeans"])
def test_contestants_return_labels_of_all_rows(name: str) -> None:
    if name == "faiss.Kmeans":
        pytest.importorskip("faiss")
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    found = peers.CONTESTANTS[name].fit(X, 5, 0)
    assert found.labels.shape == (300,)
    assert peers.figures_of(X, found)["inertia"] > 0
    assert arena.worth_repeating({"seconds": 1.0})
    assert not arena.worth_repeating({"seconds": 100.0})


def small_problem(limit: float = 60.0) -> Problem:
    return Problem("normal 2,000 x 2, k=4", 4, partial(normal, 2000, 2), limit)


def test_what_is_there_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, list[int]]] = []

    def attempt(problem: Problem, contestant: peers.Contestant, seeds: list[int]) -> list[Json]:
        calls.append((contestant.name, seeds))
        return [{"seed": seed, **run(30.0 if contestant.own else 1.0, 1.0)} for seed in seeds]

    monkeypatch.setattr("problems.CACHE", tmp_path / "cache")
    monkeypatch.setattr(arena, "RESULT", tmp_path / "peers.json")
    monkeypatch.setattr(arena, "PROBLEMS", [small_problem()])
    monkeypatch.setattr(arena, "attempt", attempt)
    some = {name: peers.CONTESTANTS[name] for name in ("ours", "scikit-learn KMeans")}
    monkeypatch.setattr(arena, "CONTESTANTS", some)
    arena.measure([])
    # What takes long has one round.
    assert calls == [("ours", [0]), ("scikit-learn KMeans", [0]), ("scikit-learn KMeans", [1, 2])]
    arena.measure([])
    assert len(calls) == 3
    content = json.loads((tmp_path / "peers.json").read_text())
    content["environment"]["packages"]["scikit-learn"] = "0.1"  # of another version: again
    (tmp_path / "peers.json").write_text(json.dumps(content))
    arena.measure([])
    assert calls[3:] == [("scikit-learn KMeans", [0]), ("scikit-learn KMeans", [1, 2])]
    monkeypatch.setattr(
        arena, "PROBLEMS", [small_problem(limit=90.0)]
    )  # another problem by the same name
    arena.measure([])
    assert len(calls) == 8
    arena.measure(["no such name"])
    assert len(calls) == 8


def test_one_fit_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("problems.CACHE", tmp_path)
    monkeypatch.setattr(arena, "PROBLEMS", [small_problem()])
    first, second = arena.compete("normal 2,000 x 2, k=4", "ours", [0, 1])
    assert (first["seed"], second["seed"]) == (0, 1)
    assert 0 < first["curve"][-1][0] <= first["seconds"]
    assert first["curve"][-1][1] >= first["inertia"] * (1 - 1e-9)
    assert [path.suffix for path in sorted(tmp_path.glob("*/*"))] == [".npy", ".txt"]


def test_what_was_measured_apart_is_said() -> None:
    def problem(own: str, other: str) -> Any:
        return {"runs": {"ours": [{"commit": own}], "faiss.Kmeans": [{"commit": other}]}}

    assert report.measured_apart({"a": problem("1" * 40, "1" * 40)}) == ""
    said = report.measured_apart({"a": problem("1" * 40, "1" * 40), "b": problem("2" * 40, "1" * 40)})
    assert said.startswith("On 1 of 2 problems")
    assert "1111111, 2222222" in said
