"""The comparison of CLUTO's criteria: the experiment on a few documents, and its page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import cluto_criteria
import experiment

PAGE = Path(__file__).parents[2] / "docs" / "paper" / "criteria.md"


def few_documents(name: str) -> tuple[Any, list[str], str]:
    """Return term weights of documents of three classes."""
    rng = np.random.default_rng(len(name))
    classes = np.arange(40) % 3
    rows = rng.exponential(size=(40, 12)) * (rng.random((40, 12)) < 0.4)
    rows[np.arange(40), classes] += 2
    return sparse.csr_array(rows), [str(one) for one in classes], "some"


def test_miniature_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluto_criteria, "weighted", few_documents)
    plan = [run for run in cluto_criteria.plan(False) if run["set"] in ("hitech", "re0")]
    runs = [{"run": run, **cluto_criteria.measure(run)} for run in plan]
    result = json.loads(json.dumps({"size": "small", "runs": runs}))
    page = cluto_criteria.page(result)
    assert "hitech (40 x 12, 3 classes), re0 (40 x 12, 3 classes)" in page
    assert "| refined (rbr), one cluster per class |" in page
    assert "| re0 (3 classes) |" in page
    # A set without all runs is left out.
    shorter = cluto_criteria.page({**result, "runs": result["runs"][:-1]})
    assert "hitech (40" in shorter
    assert "re0 (40" not in shorter
    assert "No set was measured" in cluto_criteria.page({"runs": []})
    assert "No\nsource has the sets new3 and sports.\n" in page
    assert "Not yet measured on all sets: k = 5, k = 10, k = 15, k = 20." in cluto_criteria.page(
        {**result, "size": "full"}
    )


def test_relative_entropies() -> None:
    # The entropies of two sets; i2 is the best criterion on the first one, h2 on the second one.
    values = {("k-way", name): [0.4, 0.6] for name in cluto_criteria.CRITERIA}
    values["k-way", "i2"], values["k-way", "h2"] = [0.2, 0.6], [0.4, 0.3]
    found = cluto_criteria.relative(values, "k-way")
    assert found == pytest.approx({"i1": 2, "i2": 1.5, "e1": 2, "g1": 2, "h1": 2, "h2": 1.5})
    figures = {"entropy": [0.1, 0.2, 0.6], "objective": [3.0, 1.0, 2.0]}
    assert cluto_criteria.chosen(figures, "i2", "best") == 0.1
    assert cluto_criteria.chosen(figures, "e1", "best") == 0.2
    assert cluto_criteria.chosen(figures, "e1", "mean") == pytest.approx(0.3)


@pytest.mark.parametrize("full", [False, True])
def test_plan_has_distinct_runs(full: bool) -> None:
    plan = cluto_criteria.plan(full)
    assert json.loads(json.dumps(plan)) == plan
    assert len({json.dumps(run) for run in plan}) == len(plan)
    assert all(cluto_criteria.cost(run) > 0 for run in plan)
    assert not {run["set"] for run in plan} & {"new3", "sports"}, "no source has them"


def test_page_is_up_to_date() -> None:
    results = experiment.shown_results(cluto_criteria)
    text = experiment.page_text(cluto_criteria, *results)
    assert text == PAGE.read_text(), "run: python paper/run_paper.py --report-only criteria"
