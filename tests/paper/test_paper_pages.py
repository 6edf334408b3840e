"""Plans of the paper's experiments, and their pages, which must equal what the scripts write."""

import json
from pathlib import Path
from typing import Any

import pytest

import claims
import costs
import experiment
import run_paper

EXPERIMENTS = {one.NAME: one for one in run_paper.EXPERIMENTS}
# Experiments about other papers have pages, but no claims.
RELATED = {one.NAME: one for one in run_paper.RELATED}
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_plan_has_distinct_runs_with_seeds(name: str, full: bool) -> None:
    plan = EXPERIMENTS[name].plan(full)
    assert plan
    assert json.loads(json.dumps(plan)) == plan, "stored runs are compared with the plan"
    assert len({json.dumps(run, sort_keys=True) for run in plan}) == len(plan)
    assert all({"seed", "seeds"} & set(run) for run in plan)
    assert plan == EXPERIMENTS[name].plan(full)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_time_of_every_run_is_estimated(
    name: str, full: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The estimate needs no stored runs."""
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    monkeypatch.setattr(costs, "sweep_rate", lambda: 5e10)
    module: Any = EXPERIMENTS[name]
    assert all(module.cost(run) > 0 for run in module.plan(full))


def test_experiments_have_distinct_names_and_titles() -> None:
    assert len(EXPERIMENTS) == len(run_paper.EXPERIMENTS)
    assert len({one.TITLE for one in run_paper.EXPERIMENTS}) == len(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiment_page_is_up_to_date(name: str) -> None:
    results = experiment.shown_results(EXPERIMENTS[name])
    assert results, f"run: python paper/run_paper.py {name}"
    text = experiment.page_text(EXPERIMENTS[name], *results)
    remedy = f"run: python paper/run_paper.py --report-only {name}"
    assert text == (DOCS / "paper" / f"{name}.md").read_text(), remedy


def test_claims_page_is_up_to_date() -> None:
    text = claims.page_text(claims.stored_results())
    assert text == (DOCS / "paper.md").read_text(), "run: python paper/claims.py"


def test_every_page_belongs_to_an_experiment() -> None:
    assert {path.stem for path in (DOCS / "paper").glob("*.md")} <= {*EXPERIMENTS, *RELATED}


def test_every_result_file_belongs_to_an_experiment() -> None:
    paths = [*experiment.RESULTS.glob("*.json"), *(experiment.RESULTS / "full").glob("*.json")]
    names = {path.stem.removesuffix("_seconds") for path in paths}
    assert names <= {*EXPERIMENTS, *RELATED, "seconds"}


@pytest.mark.parametrize("name", ["photos", "fast_moves", "iterations", "tree_oracle"])
def test_larger_sizes_are_not_called_the_papers(name: str) -> None:
    one = {**EXPERIMENTS, **RELATED}[name]
    assert "the paper's size" not in experiment.size_name(one, {"size": "full"})
    result = experiment.load_size(name, full=True) or experiment.load_size(name, full=False)
    assert result is not None
    assert "at the paper's size" not in experiment.origin(one, {**result, "size": "full"})


def test_only_claims_of_the_papers_size_rest_on_it() -> None:
    names = {one.experiment for one in claims.judge_all(claims.stored_results())
             if claims.size_of(one) == "paper"}  # fmt: skip
    assert names.isdisjoint({"fast_moves", *claims.NO_SIZE})


def test_claims_refer_to_experiments() -> None:
    assert set(claims.EXPERIMENTS) <= {*EXPERIMENTS, *RELATED}
    assert set(claims.NO_CLAIM) | claims.NO_SIZE <= set(claims.EXPERIMENTS)


def test_claims_page_compares_runs_with_the_current_plan() -> None:
    """Check that the page does not call runs missing that an earlier plan had."""
    for name, results in claims.stored_results().items():
        for result in results:
            stored = [one["run"] for one in result["runs"]]
            plan = {**EXPERIMENTS, **RELATED}[name].plan(result["size"] == "full")
            if all(run in stored for run in plan):
                assert result.get("complete") is not False


def test_claims_page_depends_on_the_results() -> None:
    results = claims.stored_results()
    page = claims.page_text(results)
    for name in ("iterations", "sections", "fast_moves"):
        assert claims.page_text({**results, name: []}) != page


class CountingExperiment:
    """An experiment that counts its measurements."""

    NAME = "counting"
    TITLE = "Counting"
    __file__ = "counting.py"

    def __init__(self) -> None:
        self.measured: list[int] = []

    def plan(self, full: bool) -> list[experiment.Json]:
        return [{"seed": seed} for seed in range(3)]

    def measure(self, run: experiment.Json) -> experiment.Json:
        if run["seed"] == 2 and len(self.measured) == 2:
            self.measured.append(-1)
            raise KeyboardInterrupt
        self.measured.append(run["seed"])
        return {"value": 2 * run["seed"]}

    def page(self, result: experiment.Json) -> str:
        return f"{len(result['runs'])} runs"


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CountingExperiment:
    for name in ("RESULTS", "PAGES", "IMAGES"):
        monkeypatch.setattr(experiment, name, tmp_path / name)
    monkeypatch.setattr(experiment, "HERE", tmp_path / "paper")
    return CountingExperiment()


def test_interrupted_experiment_continues(counting: CountingExperiment, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        experiment.run_experiment(counting, full=False, remeasure=False)
    result = experiment.load_result("counting")
    assert result is not None
    assert not result["complete"]
    experiment.run_experiment(counting, full=False, remeasure=False)
    assert counting.measured == [0, 1, -1, 2]
    experiment.write_page(counting)
    page = (tmp_path / "PAGES" / "counting.md").read_text()
    assert page.startswith("# Counting\n")
    assert page.endswith("3 runs\n")


def test_remeasure_repeats_all_runs(counting: CountingExperiment) -> None:
    counting.measured = [7, 7, 7]
    for _ in range(2):
        experiment.run_experiment(counting, full=False, remeasure=True)
    assert counting.measured[3:] == [0, 1, 2, 0, 1, 2]


def test_complete_full_result_is_preferred(counting: CountingExperiment) -> None:
    assert experiment.load_result("counting") is None
    for full, complete in ((False, True), (True, False)):
        path = experiment.path_of("counting", full)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"size": "full" if full else "small", "complete": complete}))
    found = experiment.load_result("counting")
    assert found is not None
    assert found["size"] == "small"
    experiment.path_of("counting", full=True).write_text('{"size": "full", "complete": true}')
    found = experiment.load_result("counting")
    assert found is not None
    assert found["size"] == "full"
