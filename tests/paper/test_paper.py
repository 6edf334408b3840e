"""The paper's experiments: plans, miniature runs and their pages; kept results and the pages of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contenders
import experiment
import fig3_distortion
import fig3d_significance
import fig4_recall
import run_paper
import table2_bisecting
import table3_entropy
import top_k0

EXPERIMENTS = {one.NAME: one for one in run_paper.EXPERIMENTS}
DOCS = Path(__file__).parents[2] / "docs" / "paper"

# Of tiny data: fewer clusters than asked for, and the like.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No data but what a test makes, one process, and pictures that nobody keeps."""
    monkeypatch.setenv("BOOSTKMEANS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path / "shared"))
    for name in ("IMAGES", "PAGES"):
        for one in (experiment, *EXPERIMENTS.values()):
            if hasattr(one, name):
                monkeypatch.setattr(one, name, tmp_path / name)
    for one in EXPERIMENTS.values():
        if hasattr(one, "in_own_process"):
            monkeypatch.setattr(one, "in_own_process", lambda function, run, limit: function(run))
    monkeypatch.setattr(fig4_recall, "N_THREADS", 1)
    monkeypatch.setattr(table3_entropy, "N_THREADS", 1)
    table3_entropy.weighted.cache_clear()
    fig4_recall.search_data.cache_clear()
    return tmp_path


def measured(one: Any, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """As it would be kept: there and back through JSON."""
    found = [{"run": run, **one.measure(run), "commit": ""} for run in runs]
    return dict(json.loads(json.dumps({"size": "small", "runs": found}, default=float)))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_plans(name: str, full: bool) -> None:
    plan = EXPERIMENTS[name].plan(full)
    assert plan
    assert json.loads(json.dumps(plan)) == plan, "what is kept is compared with the plan"
    assert len({json.dumps(run, sort_keys=True) for run in plan}) == len(plan)
    assert all({"seed", "seeds"} & set(run) for run in plan)
    assert plan == EXPERIMENTS[name].plan(full)


def test_names_are_unique() -> None:
    assert len(EXPERIMENTS) == len(run_paper.EXPERIMENTS)
    assert all(one.TITLE for one in run_paper.EXPERIMENTS)


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if experiment.kept(name)])
def test_pages_are_those_of_the_kept_results(name: str, elsewhere: Path) -> None:
    experiment.write_page(EXPERIMENTS[name])
    page = (elsewhere / "PAGES" / f"{name}.md").read_text()
    assert page == (DOCS / f"{name}.md").read_text(), f"run: python paper/run_paper.py --report {name}"


def test_distortion(elsewhere: Path) -> None:
    runs = [{**run, "n": 120, "k": 5} for run in fig3_distortion.plan(False)]
    result = measured(fig3_distortion, runs)
    for run in result["runs"]:
        curve = run["curve"]
        assert [point[0] for point in curve] == sorted({point[0] for point in curve})
        assert curve[-1][:2] == [run["iterations"], pytest.approx(run["seconds"], abs=1e-3)]
        assert run["distortion"] <= curve[-1][2] * (1 + 1e-6), "means are the best centres"
    result["runs"].append({"run": {**runs[0], "method": "slow"}, "failure": "more than 60 s"})
    page = fig3_distortion.page(result)
    assert "made: normal 120 x 128 (stands in for SIFT1M)" in page
    assert "more than 60 s" in page
    pictures = sorted(path.name for path in (elsewhere / "IMAGES").iterdir())
    assert pictures == [f"paper_distortion_{name}.svg" for name in ("baselines", "fast", "starts")]


def test_a_limit_stops_k_means_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32)
    monkeypatch.setattr(contenders, "LEG", 3)
    whole = contenders.CONTENDERS["k-means"](contenders.Task(X, 20, 0))
    assert whole.ended == "converged"
    legs = contenders.CONTENDERS["k-means"](contenders.Task(X, 20, 0, limit=1e6))
    assert legs.ended == "converged"
    ours, theirs = ([point.distortion for point in one.points] for one in (legs, whole))
    assert ours[: len(theirs)] == pytest.approx(theirs, rel=1e-5), "legs take the same way"
    stopped = contenders.CONTENDERS["k-means"](contenders.Task(X, 20, 0, limit=0.0))
    assert (stopped.ended, len(stopped.points)) == ("time", 3)


def test_a_limit_stops_lvq_and_says_so() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    whole, legs, stopped = (
        contenders.online(contenders.Task(X, 5, 0, limit=limit)) for limit in (float("inf"), 1e6, 0.0)
    )
    assert (whole.ended, legs.ended, stopped.ended) == ("converged", "converged", "time")
    assert [len(one.points) for one in (whole, legs, stopped)] == [25, 25, 1]
    assert legs.points[0].distortion == whole.points[0].distortion, "the same first iteration"
    assert legs.points[-1].distortion == pytest.approx(whole.points[-1].distortion, rel=0.05)


def test_mini_batch_keeps_to_its_time() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    course = contenders.mini_batch(seconds=0.05)(contenders.Task(X, 5, 0, n_threads=1))
    assert course.ended == "time"
    assert course.points[-1].seconds >= 0.05
    assert len(course.points) == 1 or course.points[-2].seconds < 0.05


def test_bisecting() -> None:
    runs = [{**run, "n": 300, "k": 8} for run in table2_bisecting.plan(False)]
    result = measured(table2_bisecting, runs)
    for run in result["runs"][1:]:
        assert run["refined"] < run["distortion"]
        assert run["refined_after"] == sorted(run["refined_after"], reverse=True)
    page = table2_bisecting.page(result)
    assert "| BsKM++ |" in page
    assert "45,823.8" in page


def test_candidates() -> None:
    runs = [{**run, "n": 600, "k": 40} for run in top_k0.plan(False)[:9] if (run["k0"] or 0) < 40]
    page = top_k0.page(measured(top_k0, runs))
    assert "| all |" in page
    assert "| 32 |" in page


def test_significance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig3d_significance, "SIDE_BY_SIDE", 1)
    runs = [{**run, "n": 200, "k": 6, "seeds": [0, 4]} for run in fig3d_significance.plan(False)[:7]]
    result = measured(fig3d_significance, runs)
    assert all(len(run["distortion"]) == 4 for run in result["runs"])
    page = fig3d_significance.page(result)
    assert "| k-means++ against k-means |" in page


def test_holm() -> None:
    # By hand: 3 x 0.01, 2 x 0.03, and no less than the one before it.
    assert fig3d_significance.holm([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])
    assert fig3d_significance.holm([0.9, 0.8]) == [1.0, 1.0]


def test_differences_that_are_there_are_found() -> None:
    rng = np.random.default_rng(0)
    values = {"k-means": rng.normal(100, 1, 50), "k-means++": rng.normal(100, 1, 50),
              "ours": rng.normal(90, 1, 50)}  # fmt: skip
    found = {pair["pair"][0]: pair for pair in fig3d_significance.compared(values)}
    assert found["k-means++"]["corrected"] > 0.01
    assert found["ours"]["corrected"] < 1e-10
    assert found["ours"]["effect"] == 1
    assert found["ours"]["deviations"] == pytest.approx(-10, abs=2)


def test_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig4_recall, "N_CENTRES", 4)
    size = {"n_learn": 60, "n_base": 120, "n_all_queries": 5, "methods": ["BKM(non)", "RBK", "ours"]}
    result = measured(fig4_recall, [{**run, **size} for run in fig4_recall.plan(False)])
    for run in result["runs"]:
        assert run["data"] == "made: normal, 120 as base (stands in for SIFT1M)"
        assert [one["method"] for one in run["methods"]] == size["methods"]
        assert all(one["recall"] == sorted(one["recall"]) for one in run["methods"])
    means = fig4_recall.means(result["runs"], 16)
    assert means["ours"]["distortion"] < means["RBK"]["distortion"]


def test_documents(elsewhere: Path) -> None:
    assert table3_entropy.measure(table3_entropy.plan(True)[0]) == {"missing": True}
    folder = elsewhere / "data" / "cluto"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    counts = [rng.choice(30, 8, replace=False) + 1 for _ in range(60)]
    lines = [" ".join(f"{term} 1" for term in sorted(terms)) for terms in counts]
    (folder / "wap.mat").write_text("60 30 480\n" + "\n".join(lines) + "\n")
    (folder / "wap.mat.rclass").write_text("\n".join("abc"[i % 3] for i in range(60)) + "\n")
    run = {"set": "wap", "ks": [5, 10], "seeds": [0, 1]}
    page = table3_entropy.page(measured(table3_entropy, [run, {**run, "set": "re0"}]))
    assert "wap (60 x 30, 3 classes)" in page
    assert "CLUTO's archive" in page
