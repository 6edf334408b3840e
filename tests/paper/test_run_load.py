"""Load of the machine during runs: disturbed times reach neither pages nor claims."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from miniature_results import distortion_result, each_result, sections_result

import claim
import claims
import experiment
import fig2_lloyd_condition
import fig5_scalability
import machine_load
import photo_sets
import photos
import public_data
import run_files
import run_load
import scalability_seconds
import sections
import top_k0
import trace_runs
import traces

Json = dict[str, Any]

JUDGES = {judge.name: judge for judge in claims.CLAIMS}
# Claims that depend on times, and a result of their experiment.
TIMED_CLAIMS = {
    "assignment_is_costly": "distortion",
    "fast_is_faster": "scalability",
    "lvq_inefficient": "distortion",
    "tree_against_iteration": "bisecting",
    "two_sections_cheapest": "sections",
    "candidates_are_faster": "top_k0",
    "boost_faster_at_every_n": "scalability",
    "eight_minutes": "scalability",
}
BUSY, QUIET = 3 * machine_load.QUIET, machine_load.QUIET / 2
TREE: Json = {"n": 300, "k": 8, "seed": 0}


def few_rows(n: int) -> tuple[Any, str]:
    """Return normal rows."""
    return np.random.default_rng(5).normal(size=(n, 6)).astype(np.float32), f"some {n} x 6"


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sections, top_k0, trace_runs, public_data):
        monkeypatch.setattr(module, "sift", few_rows)
    monkeypatch.setattr(scalability_seconds, "load_rows", few_rows)
    vectors = photo_sets.PhotoSet(["a"], few_rows(60)[0], {})
    monkeypatch.setattr(photo_sets, "load", lambda name: vectors)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("measure", "run"),
    [
        (sections.measure, {**TREE, "s": 2}),
        (trace_runs.compute_timed, {**TREE, "method": "k-means"}),
        (fig5_scalability.fit_timed, {**TREE, "method": "sampled tree"}),
        (top_k0.fit_candidates, {**TREE, "k0": 4}),
        (fig2_lloyd_condition.measure, TREE),
        (photos.measure, {"set": "some", "k": 4, "method": "BsBKM(non)", "seeds": 2}),
    ],
    ids=lambda one: getattr(one, "__module__", ""),
)
def test_timed_runs_store_the_load(measure: Any, run: Json) -> None:
    assert measure(run)["others"] >= 0


def test_figures_of_a_trace_include_the_load() -> None:
    trace = trace_runs.compute_timed({**TREE, "method": "BKM(non)"})
    found = traces.seen(trace, "curve")
    assert found is not None
    assert found["others"] == trace["others"]


def read(tmp_path: Path, runs: list[Json]) -> list[Json]:
    """Return runs after they were stored and read."""
    path = tmp_path / "some.json"
    path.write_text(json.dumps({"name": "some", "size": "small", "runs": runs}))
    return list(run_files.read_runs(path)["runs"])


def test_disturbed_times_are_left_out(tmp_path: Path) -> None:
    run = {
        "run": {"seed": 0},
        "distortion": 2.0,
        "seconds": 9.0,
        "curve": [[1, 9.0, 2.0]],
        "others": BUSY,
    }
    (found,) = read(tmp_path, [run])
    assert "seconds" not in found
    assert (found["distortion"], found["curve"]) == (2.0, [[1, None, 2.0]])
    for kept in ({**run, "others": QUIET}, {key: one for key, one in run.items() if key != "others"}):
        assert read(tmp_path, [kept]) == [kept]


@pytest.mark.parametrize("name", TIMED_CLAIMS)
@pytest.mark.parametrize("others", [BUSY, QUIET])
def test_no_claim_uses_times_of_a_busy_machine(name: str, others: float, tmp_path: Path) -> None:
    result = each_result()[TIMED_CLAIMS[name]]
    loaded = read(tmp_path, [{**run, "others": others} for run in result["runs"]])
    finding = JUDGES[name]([{**result, "runs": loaded}]).finding
    assert (finding.verdict == claim.UNKNOWN) == (others == BUSY)


def test_page_says_what_is_known_about_the_load() -> None:
    runs: list[Json] = [
        {"seconds": 1.0},
        {"seconds": 1.0, "others": QUIET},
        {"others": BUSY},
        {"distortion": 1.0},
        {"seconds": 1.0, "trace": "k_means"},
        {"sweep_seconds": 1.0, "timing": "k0"},
    ]
    text = run_load.load_text(runs)
    assert "disturbed 1 of 3 timed runs, so their seconds are left out." in text
    assert "The load of the machine was not recorded for 1 of 3 timed runs" in text
    assert run_load.load_text(runs[1:2]) == ""
    assert "left out for 2 of 3 timed runs" in run_load.load_text(runs, needs_quiet=True)
    assert run_load.load_text(runs[1:2], needs_quiet=True) == ""


@pytest.mark.parametrize("others", [None, BUSY, QUIET])
def test_pages_with_and_without_a_load(others: float | None, tmp_path: Path) -> None:
    load = {} if others is None else {"others": others}
    result = sections_result([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    result["runs"] = [
        {**run, "version": "0.14.0", "commit": "", "date": "", "packages": {}, "processor": "",
         "instruction_set": "", "n_threads": 2}
        for run in read(tmp_path, [{**run, **load} for run in result["runs"]])
    ]  # fmt: skip
    page = experiment.page_text(sections, result)
    assert ("was not recorded for 5 of 5" in page) == (others is None)
    assert ("disturbed 5 of 5" in page) == (others == BUSY)
    assert ("| 2.00 | 2.00 |" in page) == (others != BUSY)


def test_claims_page_names_times_of_unknown_load(tmp_path: Path) -> None:
    unknown, known = distortion_result(), distortion_result()
    known["runs"] = [{**run, "others": QUIET} for run in known["runs"]]
    note = "The load of the machine was not recorded for 11 of 11 timed runs"
    assert note in claims.page_text({"distortion": [unknown]}, tmp_path)
    assert note not in claims.page_text({"distortion": [known]}, tmp_path)


def test_photos_show_seconds_of_a_quiet_machine_only() -> None:
    def page(load: Json) -> str:
        run = {"set": photos.PROVIDED, "k": 2, "method": "k-means", "seeds": 3}
        fit = {"run": run, "n": 60, "distortion": 0.5, "distortions": [0.5], "seconds": 0.123, **load}
        return photos.page({"size": "small", "runs": [fit]})

    assert "| k-means | 0.123 |" in page({"others": QUIET})
    for load in ({}, {"others": BUSY}):
        assert "0.123" not in page(load)
        assert "Seconds, median" not in page(load)
    assert photos.NEEDS_QUIET


def test_scalability_seconds_of_the_papers_size_keep_their_load(tmp_path: Path) -> None:
    run = {"n": 9, "k": 2, "method": "RBK", "seed": 0}
    path = tmp_path / "scalability_seconds.json"
    path.write_text(json.dumps({"runs": [{"run": run, "seconds": 1.0, "others": QUIET}]}))
    (found,) = run_files.with_seconds([{"run": run, "distortion": 1.0}], path)
    assert found["others"] == QUIET
    assert run_load.load_text([found]) == ""


def test_tables_of_trees_without_times() -> None:
    run: Json = {"run": {"k": 8}, "share_before": 0.2, "share_after": 0.0, "distortion_before": 2.0,
                 "distortion_reassigned": 1.8, "distortion_after": 1.5}  # fmt: skip
    found = fig2_lloyd_condition.by_k([run, {**run, "seconds_tree": 1.5, "seconds_refinement": 2.5}])
    assert "| 1.50 | 2.50 |" in fig2_lloyd_condition.trees_text("some", found)
    found = fig2_lloyd_condition.by_k([run])
    assert "| - | - |" in fig2_lloyd_condition.trees_text("some", found)
