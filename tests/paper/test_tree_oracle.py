"""The comparison of exact trees with the oracle of the tests."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from miniature_results import bisecting_result

import bisecting_page
import experiment
import tree_oracle

Json = dict[str, Any]


def few_rows(n: int) -> tuple[Any, str]:
    """Return normal rows."""
    return np.random.default_rng(5).normal(size=(n, 6)).astype(np.float32), f"some {n} x 6"


@pytest.mark.parametrize("seed", [0, 3])
def test_core_and_oracle_get_the_same_random_numbers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_oracle, "sift", few_rows)
    found = tree_oracle.measure({"n": 300, "k": 12, "seed": seed})
    assert found["same_rows"] == 300
    assert found["distortion"] == pytest.approx(found["oracle"])
    # The same seed of the oracle gives another tree for another `random_state`.
    assert tree_oracle.seed_of_tree(seed) != tree_oracle.seed_of_tree(seed + 1)


def stored(distortion: float, same_rows: int) -> Json:
    """Return a result with one run."""
    run = {"run": {"n": 100, "k": 8, "seed": 0}, "data": "some", "distortion": distortion,
           "oracle": 50.0, "same_rows": same_rows}  # fmt: skip
    return {"size": "small", "runs": [run]}


def test_page_has_both_distortions() -> None:
    page = tree_oracle.page(stored(50.1, 90))
    assert "| 0 | 50.10 | 50.00 | +0.2000 % | 90.00 % |" in page
    assert "differs by 0.2000 %. The target is 0.3 %." in page


def test_page_about_trees_shows_the_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    trees = bisecting_result()
    for run in trees["runs"]:
        run |= {"ended": "tol", "refinement_sweeps": 3, "run": {**run["run"], "seed": 0}}
        run.get("passes", {})["median"] = 5
    assert "plain NumPy" not in bisecting_page.page(trees)
    (tmp_path / "tree_oracle.json").write_text(json.dumps(stored(50.1, 90)))
    page = bisecting_page.page(trees)
    assert (
        "differs by at most 0.2000 %, and at least 90.00 % of the rows are in the same cluster" in page
    )
    assert "plain NumPy" not in bisecting_page.page({**trees, "size": "full", "complete": False})


def test_stored_result_is_within_the_target() -> None:
    result = experiment.load_size("tree_oracle", full=False)
    assert result is not None
    assert [run["run"] for run in result["runs"]] == tree_oracle.plan(False)
    assert all(abs(tree_oracle.difference(run)) < 0.3 for run in result["runs"])
