"""The paper's claims: verdicts from results made by hand, and the page about them."""

import json
from pathlib import Path

import pytest
from miniature_results import Json, all_results, scalability_result, search_result

import claim
import claims
import experiment

JUDGES = {judge.name: judge for judge in claims.CLAIMS}


def test_claims_without_results_are_not_measured() -> None:
    found = claims.judge_all({})
    assert len(found) >= 16
    assert {one.finding.verdict for one in found} == {claim.UNKNOWN}
    assert "not measured" in claims.page_text({})


def test_claims_have_distinct_titles_and_cover_all_experiments() -> None:
    found = claims.judge_all({})
    assert len({one.title for one in found}) == len(found) == len(JUDGES)
    assert {one.experiment for one in found} == set(claims.EXPERIMENTS)


def test_verdicts_of_miniature_results() -> None:
    results = all_results()
    found = {name: judge(results[judge.experiment]).finding for name, judge in JUDGES.items()}
    other = {name: one.verdict for name, one in found.items() if one.verdict != claim.AGREES}
    assert other == {
        "fast_is_faster": claim.DIFFERS,
        "tree_against_iteration": claim.DIFFERS,
        "refined_trees_above": claim.DIFFERS,
        "candidates_are_faster": claim.IN_PART,
        "quantizers_of_others": claim.IN_PART,
        "best_direct_for_documents": claim.DIFFERS,
        "ninety_four_minutes": claim.IN_PART,
        "eight_minutes": claim.IN_PART,
        "advantage_grows": claim.IN_PART,
        "mini_batch_fast_but_poor": claim.IN_PART,
    }
    assert found["candidates_are_faster"].measured == "k=99, k0=64: 4.0 times, +0.50 %"
    assert "rank 2" in found["best_direct_for_documents"].measured


def test_page_shows_all_findings(tmp_path: Path) -> None:
    text = claims.page_text(all_results(), tmp_path)
    assert all(one.finding.measured in text for one in claims.judge_all(all_results()))


def test_page_links_to_existing_pages_only(tmp_path: Path) -> None:
    assert "](paper/" not in claims.page_text(all_results(), tmp_path)
    (tmp_path / "search.md").touch()
    assert "[search](paper/search.md)" in claims.page_text(all_results(), tmp_path)


@pytest.mark.parametrize("name", ["ninety_four_minutes", "eight_minutes"])
def test_times_at_the_papers_size_are_not_extrapolated(name: str) -> None:
    finding = JUDGES[name](scalability_result(full=True)).finding
    assert finding.verdict == claim.AGREES
    assert finding.measured.endswith("measured")


@pytest.mark.parametrize("name", claims.EXPERIMENTS)
def test_incomplete_results_are_judged_or_not_measured(name: str) -> None:
    whole = all_results()[name]
    assert whole is not None
    runs = whole["runs"]
    failing = [{"run": run["run"], "failure": "more than 1 s"} for run in runs]
    for some in ([], runs[:1], runs[1:], runs[-1:], failing):
        result: dict[str, Json | None] = {name: {**whole, "runs": some}}
        assert all(one.finding.verdict in claim.VERDICTS for one in claims.judge_all(result))
        assert claims.page_text(result)
    of_failing = claims.judge_all({name: {**whole, "runs": failing}})
    assert {one.finding.verdict for one in of_failing} == {claim.UNKNOWN}


def test_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    monkeypatch.setattr(claims, "PAGE", tmp_path / "paper.md")
    (tmp_path / "search.json").write_text(json.dumps(search_result()))
    claims.write_page()
    text = (tmp_path / "paper.md").read_text()
    assert "at most 0.0 points apart" in text
    assert "Errors and omissions of the paper" in text
