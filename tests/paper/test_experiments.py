"""Miniature runs of the paper's experiments on vectors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import batch_contenders
import contenders
import distortion_page
import experiment
import fig3_distortion
import fig3d_significance
import run_state
import table2_bisecting
import top_k0
import trace_runs
from contenders import Task
from isolated import Outcome

EXPERIMENTS: list[Any] = [
    fig3_distortion, fig3d_significance, table2_bisecting, top_k0,
]  # fmt: skip

# Tiny data sets cause warnings, for example about fewer clusters than requested.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for data and pictures; all runs stay in this process."""
    monkeypatch.setenv("BOOSTKMEANS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path / "shared"))
    for one in (experiment, distortion_page, *EXPERIMENTS):
        if hasattr(one, "IMAGES"):
            monkeypatch.setattr(one, "IMAGES", tmp_path / "images")
        if hasattr(one, "in_own_process"):
            monkeypatch.setattr(one, "in_own_process", lambda function, run, limit: function(run))
    return tmp_path


def measured(one: Any, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the result of some runs, after a round trip through JSON."""
    found = [{"run": run, **one.measure(run), "commit": ""} for run in runs]
    return dict(json.loads(json.dumps({"size": "small", "runs": found}, default=float)))


@pytest.fixture
def rows() -> contenders.Array:
    return np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)


# Distortion


@pytest.mark.slow
def test_distortion_curves_end_at_the_final_distortion(folder: Path) -> None:
    runs = [{**run, "n": 300, "k": 5} for run in fig3_distortion.plan(False)]
    result = measured(fig3_distortion, runs)
    for run in result["runs"]:
        curve = run["curve"]
        assert [point[0] for point in curve] == sorted({point[0] for point in curve})
        assert curve[-1][:2] == [run["iterations"], pytest.approx(run["seconds"], abs=1e-3)]
        assert run["distortion"] <= curve[-1][2] * (1 + 1e-6), "means are the best centres"
    result["runs"].append({"run": {**runs[0], "method": "slow"}, "failure": "more than 60 s"})
    page = fig3_distortion.page(result)
    assert "synthetic, normal 300 x 128 (stands in for SIFT1M)" in page
    assert "more than 60 s" in page
    fig3_distortion.draw(result)
    pictures = sorted(path.name for path in (folder / "images").iterdir())
    assert pictures == [f"paper_distortion_{name}_small.svg" for name in ("baselines", "fast", "starts")]


def full_result(one: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the result of an experiment whose size of the paper is tiny, and draw its page."""
    experiment.run_experiment(one, full=True)
    result = experiment.load_size(one.NAME, full=True)
    assert result is not None
    assert result["complete"]
    monkeypatch.setattr(experiment, "HERE", folder / "paper")
    monkeypatch.setattr(experiment, "PAGES", folder)
    experiment.write_page(one)
    return result


@pytest.fixture
def tiny(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the paper's size tiny, and store results in a folder of the test."""
    monkeypatch.setattr(experiment, "RESULTS", folder / "paper" / "results")
    for module in (run_state, top_k0, trace_runs):
        monkeypatch.setattr(module, "state_folder", lambda: folder / "state")
    monkeypatch.setattr(trace_runs, "isolated", lambda function, *some, limit: Outcome(function(*some)))
    monkeypatch.setattr(trace_runs, "compute_in_process", trace_runs.compute_stored)
    for module in (fig3_distortion, table2_bisecting):
        monkeypatch.setattr(module, "FULL", {"n": 300, "k": 8})
    monkeypatch.setattr(top_k0, "FULL", (300, 8))
    monkeypatch.setattr(top_k0, "K0", (2, 4))
    monkeypatch.setattr(fig3d_significance, "N_PARALLEL", 1)
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("_without_pictures")
def test_figures_at_the_papers_size_share_traces(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curves = full_result(fig3_distortion, tiny, monkeypatch)
    names = [run["run"]["method"] for run in curves["runs"]]
    assert set(names) == set(distortion_page.METHODS) - set(fig3_distortion.WITHOUT_TRACE)
    computed: list[str] = []
    original = trace_runs.compute_stored
    monkeypatch.setattr(
        trace_runs, "compute_in_process",
        lambda run, path: computed.append(run["method"]) or original(run, path),  # type: ignore[func-returns-value]
    )  # fmt: skip
    monkeypatch.setattr(table2_bisecting, "SEEDS", range(1))
    trees = full_result(table2_bisecting, tiny, monkeypatch)
    shared = {"k-means", "BsBKM(non), refined", "sampled tree, refined"}
    assert sorted(computed) == sorted(
        f"{method}, refined" for method in table2_bisecting.METHODS
        if f"{method}, refined" not in shared
    )  # fmt: skip
    ends = {run["run"]["method"]: run["distortion"] for run in curves["runs"]}
    assert trees["runs"][0]["distortion"] == ends["k-means"]
    by_method = {run["run"]["method"]: run for run in trees["runs"][1:]}
    assert by_method["BsBKM(non)"]["distortion"] == ends["BsBKM(non)"]
    assert by_method["BsBKM(non)"]["refined"] == ends["BsBKM(non), refined"]
    page = (tiny / "bisecting.md").read_text()
    assert "## Passes per split" in page
    assert "Not measured yet." in page, "without seconds"
    computed.clear()
    candidates = full_result(top_k0, tiny, monkeypatch)
    assert computed == []
    assert [run["run"]["k0"] for run in top_k0.runs_by_size(candidates)[(300, 8)]] == [None, 4, 2]
    assert "## 300 rows, 8 clusters" in (tiny / "top_k0.md").read_text()


@pytest.fixture
def _without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no pictures, which take longer than the fits of few rows."""
    monkeypatch.setattr(fig3_distortion, "draw", lambda _: None)


@pytest.mark.usefixtures("_without_pictures")
def test_page_shows_runs_so_far(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig3_distortion, "METHODS", ("k-means", "BKM(non)"))
    full_result(fig3_distortion, tiny, monkeypatch)
    path = experiment.traces_folder() / "k_means.json"
    trace = json.loads(path.read_text())
    points = trace["iterations"][:2]
    path.write_text(json.dumps({**trace, "iterations": points, "complete": False}))
    experiment.write_page(fig3_distortion)
    page = (tiny / "distortion.md").read_text()
    assert "2 (so far)" in page
    assert "Some runs are still missing." in page
    assert "K-means has not ended yet." in page
    found = experiment.load_size("distortion", full=True)
    assert found is not None
    assert [run["run"]["method"] for run in found["runs"]] == ["BKM(non)"], "claims do not see it"
    assert not found["complete"]


@pytest.mark.usefixtures("_without_pictures")
def test_both_sizes_are_shown_until_the_papers_is_complete(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fig3_distortion, "METHODS", ("k-means", "BKM(non)"))
    monkeypatch.setattr(fig3_distortion, "SMALL", {"n": 200, "k": 5})
    experiment.run_experiment(fig3_distortion, full=False)
    full_result(fig3_distortion, tiny, monkeypatch)
    assert "At the small size" not in (tiny / "distortion.md").read_text()
    (experiment.traces_folder() / "k_means.json").unlink()
    experiment.write_page(fig3_distortion)
    page = (tiny / "distortion.md").read_text()
    assert page.index("## At the paper's size") < page.index("## At the small size")
    assert "### Statements of the paper" in page
    assert "paper_distortion_fast.svg" in page
    assert "paper_distortion_fast_small.svg" in page


def test_mini_batch_ends_by_time(rows: contenders.Array) -> None:
    trace = batch_contenders.mini_batch(seconds=0.05)(Task(rows, 5, 0, n_threads=1))
    assert trace.stop_reason == "time"
    assert trace.points[-1].seconds >= 0.05
    assert all(point.seconds < 0.05 for point in trace.points[:-1])


@pytest.mark.parametrize("share_of", ["batch", "total"])
def test_mini_batch_counts_its_batches(rows: contenders.Array, share_of: str) -> None:
    trace = batch_contenders.mini_batch(share_of)(Task(rows, 5, 0, n_threads=1, iterations=25))
    assert trace.stop_reason == "iterations"
    assert [point.iteration for point in trace.points] == [*range(1, 11), 20, 25]


# Significance


def test_significance_runs_all_seeds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig3d_significance, "N_PARALLEL", 1)
    runs = [{**run, "n": 200, "k": 6, "seeds": [0, 3]} for run in fig3d_significance.plan(False)[:7]]
    result = measured(fig3d_significance, runs)
    assert all(len(run["distortion"]) == 3 for run in result["runs"])
    assert "| k-means++ and k-means |" in fig3d_significance.page(result)
    fig3d_significance.draw(result)
    assert (folder / "images" / "paper_significance_small.svg").exists()


def test_significance_at_the_papers_size_begins_balanced() -> None:
    plan = sorted(fig3d_significance.plan(True), key=fig3d_significance.priority)
    first = plan[: 2 * len(fig3d_significance.METHODS)]
    seeds = {method: [] for method in fig3d_significance.METHODS}  # type: ignore[var-annotated]
    for run in first:
        seeds[run["method"]] += range(*run["seeds"])
    assert all(some == list(range(8)) for some in seeds.values())
    assert sum(run["seeds"][1] - run["seeds"][0] for run in plan) == 7 * 128


def test_significance_in_the_background_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig3d_significance, "N_PARALLEL", 1)
    runs = [{**run, "n": 200, "k": 6, "seeds": [0, 2]} for run in fig3d_significance.plan(True)[:7]]
    result = measured(fig3d_significance, runs)
    assert not any("seconds" in run for run in result["runs"])
    assert "seconds are not shown" in fig3d_significance.page({**result, "size": "full"})


def test_holm_correction() -> None:
    # By hand: 3 x 0.01 for the lowest; 2 x 0.03; and 0.04, but no less than the one before it.
    assert fig3d_significance.holm([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])
    assert fig3d_significance.holm([0.9, 0.8]) == [1.0, 1.0]


def test_significance_finds_real_differences_only() -> None:
    rng = np.random.default_rng(0)
    values = {"k-means": rng.normal(100, 1, 50), "k-means++": rng.normal(100, 1, 50),
              "boostkmeans": rng.normal(90, 1, 50)}  # fmt: skip
    found = {pair["pair"][0]: pair for pair in fig3d_significance.compared(values)}
    assert found["k-means++"]["corrected"] > 0.01
    assert found["boostkmeans"]["corrected"] < 1e-10
    assert found["boostkmeans"]["effect"] == 1
    assert found["boostkmeans"]["deviations"] == pytest.approx(-10, abs=2)


# Bisecting and candidates


def test_refinement_improves_all_trees() -> None:
    runs = [{**run, "n": 300, "k": 8} for run in table2_bisecting.plan(False)]
    result = measured(table2_bisecting, runs)
    for run in result["runs"][1:]:
        assert run["refined"] < run["distortion"]
        assert run["refined_after"] == sorted(run["refined_after"], reverse=True)
    page = table2_bisecting.page(result)
    assert "| BsKM++ |" in page
    assert "45,823.8" in page
    assert "Failed runs" not in page
    result["runs"][-1] = {"run": runs[-1], "failure": "MemoryError"}
    failed = "Failed runs: BsKM++ (scikit-learn) (seed 2: MemoryError)."
    assert failed in table2_bisecting.page(result)


def test_every_tree_is_refined_at_full_size() -> None:
    """A test of three seeds needs them."""
    plan = table2_bisecting.plan(True)[1:]
    assert len(plan) == 3 * len(table2_bisecting.METHODS)
    references = [table2_bisecting.trace_of(run) or {} for run in plan]
    assert len({one["trace"] for one in references}) == len(plan)
    assert {one["view"] for one in references} == {"refinement"}


def test_candidates_page_has_all_k0() -> None:
    runs = [{**run, "n": 600, "k": 40} for run in top_k0.plan(False)[:9] if (run["k0"] or 0) < 40]
    page = top_k0.page(measured(top_k0, runs))
    assert "| all |" in page
    assert "| 32 |" in page


def test_candidates_summary_names_the_largest_fast_k0() -> None:
    runs = [
        {"run": {"k0": k0}, "sweep_seconds": seconds, "seconds": 1.0, "distortion": 100.0}
        for k0, seconds in ((None, 8.0), (64, 4.0), (16, 1.0), (4, 0.5))
    ]
    assert "is 16 (8.0 times;" in top_k0.summary(runs, 10, 100)
    assert "at most 2.0 times faster, with k0 = 64" in top_k0.summary(runs[:2], 10, 100)
    assert top_k0.summary(runs[1:], 10, 100) == "- 10 rows into 100 clusters: not measured."
