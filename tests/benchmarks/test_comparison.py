"""Figures and page of the comparison with other libraries."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import arena_plots
import arena_report
import arena_tables
import comparison
import cores
import peers
from page import DOCS
from problems import PROBLEMS, Problem, normal

Json = dict[str, Any]


def make_run(seconds: float, inertia: float, curve: list[tuple[float, float]] | None = None) -> Json:
    return {"seed": 0, "seconds": seconds, "inertia": inertia, "megabytes": 1.0, "curve": curve or []}


@pytest.fixture
def problem() -> Json:
    """Return a problem on which boostkmeans falls below 100 after 2 s, and to 90 after 4 s."""
    curve = [(1.0, 120.0), (2.0, 99.0), (4.0, 90.0)]
    runs: Json = {name: [{"seed": 0, "failure": "not installed"}] for name in peers.CONTESTANTS}
    runs["boostkmeans"] = [make_run(4.0, 90.0, curve)]
    runs["scikit-learn KMeans"] = [make_run(8.0, 100.0)]
    return {"data": "by hand", "kind": "dense", "n": 10, "d": 2, "k": 3, "limit": 60.0, "runs": runs}


def test_time_to_equal_inertia(problem: Json) -> None:
    assert comparison.seconds_to_inertia(problem, "boostkmeans", 100.0) == 2.0
    assert comparison.seconds_to_inertia(problem, "boostkmeans", 90.0) == 4.0
    assert math.isinf(comparison.seconds_to_inertia(problem, "boostkmeans", 89.0))
    assert comparison.time_ratio(problem, "boostkmeans", "scikit-learn KMeans") == 4.0
    assert comparison.is_first(problem, ["boostkmeans"])


def test_faster_or_better_peer_is_first(problem: Json) -> None:
    problem["runs"]["faiss.Kmeans"] = [make_run(1.5, 100.0)]  # boostkmeans needs 2 s to 100.
    assert not comparison.is_first(problem, ["boostkmeans"])
    assert arena_tables.ratio_cell(problem, "faiss.Kmeans") == "**0.75 x**"
    assert "faiss.Kmeans (0.75 x)" in arena_report.reasons({"a problem": problem})
    problem["runs"]["faiss.Kmeans"] = [make_run(50.0, 80.0)]  # boostkmeans never reaches 80.
    assert not comparison.is_first(problem, ["boostkmeans"])
    assert arena_tables.ratio_cell(problem, "faiss.Kmeans") == "**never**"


def test_any_setting_of_boostkmeans_can_be_first(problem: Json) -> None:
    problem["runs"]["faiss.Kmeans"] = [make_run(1.5, 100.0)]
    problem["runs"]['boostkmeans, quality="fast"'] = [make_run(0.5, 98.0, [(0.5, 98.0)])]
    assert comparison.is_first(problem, comparison.OWN)
    assert not comparison.is_first(problem, ["boostkmeans"])


def test_stopped_peer_is_not_compared(problem: Json) -> None:
    problem["runs"]["fastkmeans"] = [{"seed": 0, "failure": "more than 60 s"}]
    assert math.isnan(comparison.time_ratio(problem, "boostkmeans", "fastkmeans"))
    assert arena_tables.ratio_cell(problem, "fastkmeans") == "> 60 s"
    assert comparison.is_first(problem, ["boostkmeans"])
    assert comparison.stopped_peers(problem) == ["fastkmeans"]


def test_boostkmeans_is_not_first_without_finished_runs(problem: Json) -> None:
    failed = [{"seed": 0, "failure": "more than 60 s"}]
    without_own = {**problem, "runs": {**problem["runs"], "boostkmeans": failed}}
    assert not comparison.is_first(without_own, comparison.OWN)
    problem["runs"]["scikit-learn KMeans"] = failed
    assert not comparison.is_first(problem, comparison.OWN)
    assert "no peer within the limit" in arena_report.nearest_table({"a problem": problem})


def test_plot_accepts_problem_without_finished_runs(problem: Json) -> None:
    axis = mock.MagicMock()
    problem["runs"] = {name: [{"failure": "more than 60 s"}] for name in problem["runs"]}
    arena_plots.draw_problem(axis, problem)
    axis.plot.assert_not_called()


def test_time_after_last_record_counts(problem: Json) -> None:
    problem["runs"]["boostkmeans"] = [make_run(5.0, 89.5, [(1.0, 120.0), (2.0, 99.0), (4.0, 90.0)])]
    assert comparison.seconds_to_inertia(problem, "boostkmeans", 100.0) == 3.0
    # Labels by the final centres are lower than the last record.
    assert comparison.seconds_to_inertia(problem, "boostkmeans", 89.6) == 5.0


def test_inertia_at_equal_time(problem: Json) -> None:
    assert arena_tables.equal_time_cell(problem, "scikit-learn KMeans") == "-10.00 %"
    problem["runs"]["faiss.Kmeans"] = [make_run(0.5, 100.0)]
    assert arena_tables.equal_time_cell(problem, "faiss.Kmeans") == "no result yet"
    assert arena_tables.equal_time_cell(problem, "superkmeans") == "not installed"


def test_report_is_written(problem: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = {"packages": {"boostkmeans": "1"}, "processor": "p", "instruction_set": "i", "n_threads": 2}
    (tmp_path / "peers.json").write_text(
        json.dumps({"environment": env, "problems": {"a problem": problem}})
    )
    monkeypatch.setattr(arena_report, "RESULT", tmp_path / "peers.json")
    some = Problem("a problem", 3, partial(normal, 10, 2))
    monkeypatch.setattr(arena_report, "PROBLEMS", [some])
    monkeypatch.setattr(arena_report, "DOCS", tmp_path)
    monkeypatch.setattr(arena_report, "IMAGES", tmp_path)
    arena_report.write_report()
    page = (tmp_path / "peers.md").read_text()
    row = "| a problem | scikit-learn KMeans | 8 s | 2 s (defaults) | 4 x | -10.00 % |"
    assert row in page
    assert "took 8 s on the problem *a problem*. boostkmeans (defaults)" in page
    assert "after 2 s, so the cell is 4 x." in page
    assert (tmp_path / "peers.svg").exists()


def test_failures_fit_into_cells(problem: Json) -> None:
    """Tables explain failures in a few characters. Messages of libraries are listed once."""
    for text, cell in (
        ("more than 30 s for k=256", "> 30 s (k=256)"),
        ("not measured", "not measured"),
        ("RuntimeError: in file x.cpp: d (8) must be >= 16", "error"),
    ):
        problem["runs"]["faiss.Kmeans"] = [{"failure": text}]
        assert arena_tables.short_failure(problem, "faiss.Kmeans") == cell
    assert arena_tables.error_list({"a": problem, "b": problem}) == (
        "- faiss.Kmeans: `d (8) must be >= 16`"
    )


def test_tables_fit_on_a_screen() -> None:
    lines = (DOCS / "peers.md").read_text().splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert max(line.count("|") - 1 for line in tables) <= 6
    libraries = [arena_tables.libraries(kind) for kind in ("dense", "sparse")]
    shown = {name for one in libraries for settings in one.values() for name in settings}
    assert shown == {*comparison.PEERS}, "every peer has a column"


def test_growth_uses_existing_problems() -> None:
    names = {problem.name for problem in PROBLEMS}
    assert {name for pair in arena_report.GROWTH.values() for name in pair} <= names


def page_note(*problems: Json, packages: Json) -> str:
    result = {"environment": {"packages": packages}}
    return arena_report.measured_separately(result, {str(i): one for i, one in enumerate(problems)})


def test_page_tells_separate_measurements() -> None:
    def measured_with(source: str, own: str, other: str, version: str = "1") -> Json:
        runs = {"boostkmeans": [{"commit": own}], "faiss.Kmeans": [{"commit": other}]}
        return {"source": source, "packages": {"faiss-cpu": version}, "runs": runs}

    now = {"faiss-cpu": "1"}
    together = measured_with("a", "1", "1")
    assert page_note(together, together, packages=now) == ""
    assert "2 states" in page_note(together, measured_with("b", "2", "2"), packages=now)
    assert "1 of 2 problems with other versions" in page_note(
        together, measured_with("a", "1", "1", version="0"), packages=now
    )
    continued = page_note(together, measured_with("a", "1", "2"), packages=now)
    assert continued.startswith("The measurement of 1 of 2 problems was continued")
    stopped = measured_with("a", "1", "2")
    stopped["runs"]["faiss.Kmeans"][0]["failure"] = "more than 60 s"
    assert page_note(stopped, packages=now) == ""


def test_page_tells_disturbed_measurements(problem: Json) -> None:
    result: Json = {"environment": {"packages": {}}, "small": {"iris": {"others": 0.7}}}
    note = arena_report.measured_separately(result, {"calm": {**problem, "others": 0.05}})
    assert note.rstrip().endswith("not reliable:** iris (small) (0.70).")
    del result["small"]
    assert arena_report.measured_separately(result, {"calm": {**problem, "others": 0.05}}) == ""


def test_comparisons_that_are_never_won_are_counted(problem: Json) -> None:
    problem["runs"]["faiss.Kmeans"] = [make_run(50.0, 80.0)]  # Lower than boostkmeans ever is.
    assert comparison.n_never([problem], ["boostkmeans"]) == 1
    assert comparison.n_won([problem], ["boostkmeans"]) == 1
    problem["runs"]["boostkmeans, tol=1e-6"] = [make_run(60.0, 79.0, [(60.0, 79.0)])]
    assert comparison.n_never([problem], comparison.OWN) == 0
    text = arena_report.summary_table({"a problem": problem})
    assert "| comparisons | 2 | 0 |\n| won by defaults | 1 (50 %) | 0 (0 %) |" in text
    assert "| never by the defaults | 1 | 0 |" in text


def test_earlier_release_is_neither_peer_nor_setting() -> None:
    assert comparison.BASELINE not in {*comparison.PEERS, *comparison.OWN}


def test_peak_memory_is_the_highest_of_all_runs(problem: Json) -> None:
    problem["runs"]["boostkmeans"] = [{"megabytes": 3.0}, {"megabytes": 1.0}, {"failure": "x"}]
    assert comparison.peak_megabytes(problem, "boostkmeans") == 3.0
    assert math.isnan(comparison.peak_megabytes(problem, "faiss.Kmeans"))


def test_cores_table() -> None:
    run = {"seconds": 2.0, "serial_share": 0.125, "simulated": {"8": 4.0, "32": 5.0}}
    text = cores.cores_table({"new": [run, run], "old": [{"seconds": 1.0}], "failed": []})
    assert "| new | 2 s | 0.125 | 4.27 x; 4 x | 6.56 x; 5 x | 7.59 x; - |" in text
    assert "old" not in text
    assert "failed" not in text


def test_estimator_without_serial_share_has_no_figures() -> None:
    assert cores.figures(object()) == {}
