"""Miniature runs of the paper's experiments on vectors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contenders
import experiment
import fig3_distortion
import fig3d_significance
import table2_bisecting
import top_k0
from contenders import CONTENDERS, Task

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
    for one in (experiment, *EXPERIMENTS):
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
    runs = [{**run, "n": 120, "k": 5} for run in fig3_distortion.plan(False)]
    result = measured(fig3_distortion, runs)
    for run in result["runs"]:
        curve = run["curve"]
        assert [point[0] for point in curve] == sorted({point[0] for point in curve})
        assert curve[-1][:2] == [run["iterations"], pytest.approx(run["seconds"], abs=1e-3)]
        assert run["distortion"] <= curve[-1][2] * (1 + 1e-6), "means are the best centres"
    result["runs"].append({"run": {**runs[0], "method": "slow"}, "failure": "more than 60 s"})
    page = fig3_distortion.page(result)
    assert "synthetic, normal 120 x 128 (stands in for SIFT1M)" in page
    assert "more than 60 s" in page
    fig3_distortion.draw(result)
    pictures = sorted(path.name for path in (folder / "images").iterdir())
    assert pictures == [f"paper_distortion_{name}.svg" for name in ("baselines", "fast", "starts")]


def test_long_curves_are_thinned_out() -> None:
    curve = [[float(i), 0.0, 0.0] for i in range(1, 201)]
    some = fig3_distortion.thin_out(curve)
    assert some[:20] == curve[:20]
    assert some[-1] == curve[-1]
    assert len(some) < 70


def test_time_limit_stops_k_means(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32)
    monkeypatch.setattr(contenders, "ITERATIONS_PER_CHECK", 3)
    whole = CONTENDERS["k-means"](Task(X, 20, 0))
    assert whole.stop_reason == "converged"
    in_steps = CONTENDERS["k-means"](Task(X, 20, 0, limit=1e6))
    assert in_steps.stop_reason == "converged"
    steps, unlimited = ([point.distortion for point in one.points] for one in (in_steps, whole))
    assert steps[: len(unlimited)] == pytest.approx(unlimited, rel=1e-5)
    stopped = CONTENDERS["k-means"](Task(X, 20, 0, limit=0.0))
    assert (stopped.stop_reason, len(stopped.points)) == ("time", 3)


def test_time_limit_stops_lvq(rows: contenders.Array) -> None:
    whole, in_steps, stopped = (
        contenders.online(Task(rows, 5, 0, limit=limit)) for limit in (float("inf"), 1e6, 0.0)
    )
    reasons = [one.stop_reason for one in (whole, in_steps, stopped)]
    assert reasons == ["converged", "converged", "time"]
    assert [len(one.points) for one in (whole, in_steps, stopped)] == [25, 25, 1]
    assert in_steps.points[0].distortion == whole.points[0].distortion
    assert in_steps.points[-1].distortion == pytest.approx(whole.points[-1].distortion, rel=0.05)


def test_time_limit_stops_mini_batch(rows: contenders.Array) -> None:
    trace = contenders.mini_batch(seconds=0.05)(Task(rows, 5, 0, n_threads=1))
    assert trace.stop_reason == "time"
    assert trace.points[-1].seconds >= 0.05
    assert all(point.seconds < 0.05 for point in trace.points[:-2])


def test_mini_batch_counts_its_batches(rows: contenders.Array) -> None:
    trace = contenders.mini_batch(n_batches=12)(Task(rows, 5, 0, n_threads=1))
    assert trace.stop_reason == "iterations"
    assert [point.iteration for point in trace.points] == [*range(1, 11), 12]


# Significance


def test_significance_runs_all_seeds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig3d_significance, "N_PARALLEL", 1)
    runs = [{**run, "n": 200, "k": 6, "seeds": [0, 3]} for run in fig3d_significance.plan(False)[:7]]
    result = measured(fig3d_significance, runs)
    assert all(len(run["distortion"]) == 3 for run in result["runs"])
    assert "| k-means++ and k-means |" in fig3d_significance.page(result)
    fig3d_significance.draw(result)
    assert (folder / "images" / "paper_significance.svg").exists()


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
    assert "Failed runs: BsBKM(kpp) (seed 2: MemoryError)." in table2_bisecting.page(result)


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
