"""The paper's claims: verdicts from results made by hand, and the page about them."""

import json
from pathlib import Path

import pytest
from miniature_results import all_results, each_result, scalability_result, search_result

import claim
import claims
import deviations
import experiment
import fixed_points_text

JUDGES = {judge.name: judge for judge in claims.CLAIMS}


def test_claims_without_results_are_not_measured() -> None:
    found = claims.judge_all({})
    assert len(found) >= 50
    assert {one.finding.verdict for one in found} == {claim.UNKNOWN}
    assert {one.size for one in found} == {""}
    assert "not measured" in claims.page_text({})


def test_claims_have_distinct_titles_and_cover_all_experiments() -> None:
    found = claims.judge_all({})
    assert len({one.title for one in found}) == len(found) == len(JUDGES)
    assert {one.experiment for one in found} == set(claims.EXPERIMENTS) - set(claims.NO_CLAIM)


def test_claims_are_in_the_order_of_the_experiments() -> None:
    order = list(claims.EXPERIMENTS)
    places = [order.index(judge.experiment) for judge in claims.CLAIMS]
    assert places == sorted(places)


def test_verdicts_of_miniature_results() -> None:
    results = all_results()
    found = {name: judge(results[judge.experiment]).finding for name, judge in JUDGES.items()}
    other = {name: one.verdict for name, one in found.items() if one.verdict != claim.AGREES}
    assert other == {
        "advantage_fades": claim.DIFFERS,
        "assignment_is_costly": claim.DIFFERS,
        "fast_needs_more_iterations": claim.DIFFERS,
        "more_than_120": claim.IN_PART,
        "tree_against_iteration": claim.DIFFERS,
        "refined_trees_above": claim.DIFFERS,
        "candidates_are_faster": claim.IN_PART,
        "quantizers_of_others": claim.IN_PART,
        "best_direct_for_documents": claim.DIFFERS,
        "boost_better_for_documents": claim.IN_PART,
        "better_than_rbk": claim.IN_PART,
        "trees_for_documents": claim.IN_PART,
        "boost_faster_at_every_n": claim.DIFFERS,
        "speed_advantage_grows": claim.DIFFERS,
        "two_orders": claim.DIFFERS,
        "ninety_four_minutes": claim.IN_PART,
        "eight_minutes": claim.IN_PART,
        "advantage_grows": claim.DIFFERS,
        "mini_batch_fast_but_poor": claim.IN_PART,
    }
    assert found["candidates_are_faster"].measured == "k=99, k0=64: 4.0 times, +0.50 %"
    assert "rank 2" in found["best_direct_for_documents"].measured


def test_page_shows_all_findings(tmp_path: Path) -> None:
    results = all_results()
    text = claims.page_text(results, tmp_path)
    assert all(one.finding.measured in text for one in claims.judge_all(results))


def test_page_links_to_existing_pages_only(tmp_path: Path) -> None:
    assert "(paper/search.md)" not in claims.page_text(all_results(), tmp_path)
    (tmp_path / "search.md").touch()
    assert "(paper/search.md)" in claims.page_text(all_results(), tmp_path)


def test_verdict_rests_on_the_papers_size_if_it_has_all_figures() -> None:
    small = search_result()
    full = {**search_result(), "size": "full"}
    without_trees = [
        {**run, "methods": [one for one in run["methods"] if one["method"] != "BsKM"]}
        for run in full["runs"]
    ]
    partial = {**full, "runs": without_trees}
    assert JUDGES["quantizers_alike"]([full, small]).size == "full"
    assert JUDGES["quantizers_alike"]([partial, small]).size == "full"
    assert JUDGES["quantizers_by_trees"]([full, small]).size == "full"
    assert JUDGES["quantizers_by_trees"]([partial, small]).size == "small"
    assert JUDGES["quantizers_by_trees"]([partial]).finding.verdict == claim.UNKNOWN


def test_page_counts_claims_by_size(tmp_path: Path) -> None:
    results = {**all_results(), "search": [{**search_result(), "size": "full"}]}
    text = claims.page_text(results, tmp_path)
    found = claims.judge_all(results)
    full = [number for number, one in enumerate(found, start=1) if one.experiment == "search"]
    assert f"- 3 rest on results at the paper's own size ({full[0]}-{full[-1]})." in text
    free = sum(one.experiment in claims.NO_SIZE for one in found)
    assert f"- {free} concern illustrations or general statements" in text
    assert f"- {len(found) - 3 - free} rest on results below the paper's size" in text
    assert "not measured yet (" not in text


def test_ranges() -> None:
    assert claims.ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"
    assert claims.ranges([]) == ""


def test_page_names_data_and_number_of_document_sets(tmp_path: Path) -> None:
    text = claims.page_text(all_results(), tmp_path)
    assert "13 of the paper's 15 document sets are used for Table 3; new3 and sports" in text
    assert "At the small size, the paper's methods are measured on 1 sets, with k = 5, 10." in text
    assert "PhotoSIFT replaces SIFT1M" in text
    assert "At the small size: some, k = 5, 10." in text
    assert "None is measured yet." in claims.page_text({}, tmp_path)


def test_page_names_the_sets_and_clusters_of_both_sizes(tmp_path: Path) -> None:
    small = each_result()["documents"]
    full = {**small, "size": "full", "complete": False}
    text = claims.page_text({**all_results(), "documents": [full, small]}, tmp_path)
    assert (
        "At the paper's size, the paper's methods are measured on 1 sets, with k = 5, 10. Some runs are "
        "still missing. At the small size, the paper's methods are measured on 1 sets"
    ) in text


def test_page_shows_the_planned_sizes(tmp_path: Path) -> None:
    text = claims.page_text({}, tmp_path)
    assert "| 1,000,000 rows, k = 10,000 | 100,000 rows, k = 1,024 |" in text
    assert "| 13 sets, k = 5, 10, 15, 20 | 7 sets, k = 10, 20 |" in text
    assert "| 10,000 to 10,000,000 rows, k = 1,024, 2,048, 4,096, 8,192 | 10,000 to 100,000 rows" in text


def test_a_larger_size_below_the_papers_is_not_the_papers(tmp_path: Path) -> None:
    result = {**each_result()["fast_moves"], "size": "full"}
    found = JUDGES["fast_ends_lower"]([result])
    assert found.size == "full"
    assert claims.size_of(found) == "small"
    text = claims.page_text({"fast_moves": [result]}, tmp_path)
    assert "- Measured at the size of Fig. 3 d:" in text
    assert "At the size of Fig. 3 d: some, k = 8." in text


@pytest.mark.parametrize("name", ["ninety_four_minutes", "eight_minutes"])
def test_times_at_the_papers_size_are_not_extrapolated(name: str) -> None:
    whole = scalability_result(full=True)
    finding = JUDGES[name]([whole]).finding
    assert finding.verdict == claim.AGREES
    assert "minutes, measured; the sampled tree takes" in finding.measured
    fewer = {**whole, "runs": [run for run in whole["runs"] if run["run"]["n"] < 1_000_000]}
    assert JUDGES[name]([fewer]).finding.verdict == claim.UNKNOWN


@pytest.mark.parametrize("name", claims.EXPERIMENTS)
@pytest.mark.parametrize("size", ["small", "full"])
def test_incomplete_results_are_judged_or_not_measured(name: str, size: str) -> None:
    # Experiments without claims have no miniature: their stored results are small.
    stored = each_result().get(name) or claims.stored_results([name])[name][0]
    whole = {**stored, "size": size}
    runs = whole["runs"]
    failing = [{"run": run["run"], "failure": "more than 1 s"} for run in runs]
    # At the paper's size, seconds are measured later than distortions.
    untimed = [{key: one for key, one in run.items() if "seconds" not in key} for run in runs]
    for some in ([], runs[:1], runs[1:], runs[-1:], untimed, failing):
        result = {name: [{**whole, "runs": some, "complete": False}]}
        assert all(one.finding.verdict in claim.VERDICTS for one in claims.judge_all(result))
        assert claims.page_text(result)
    of_failing = claims.judge_all({name: [{**whole, "runs": failing}]})
    assert {one.finding.verdict for one in of_failing} == {claim.UNKNOWN}


def test_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    monkeypatch.setattr(claims, "PAGE", tmp_path / "paper.md")
    (tmp_path / "search.json").write_text(json.dumps(search_result()))
    claims.write_page()
    text = (tmp_path / "paper.md").read_text()
    assert "at most 0.0 points apart" in text
    assert "Errors and omissions of the paper" in text
    assert "2604.21798" in text


def test_pages_agree_about_a_paper_of_which_only_the_abstract_was_read() -> None:
    """Check that no page says more about arXiv 2604.21798 than its abstract does."""
    pages = (deviations.REFERENCES, fixed_points_text.INTRODUCTION)
    careful = "Only the abstract could be read here, which does not describe the variation."
    for text in (" ".join(page.split()) for page in pages):
        assert careful in text
        assert "and was found independently" in text
        assert "Its annealed acceptance" not in text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(0.123, "0.12"), (2.345, "2.3"), (99.4, "99"), (99.6, "100"), (104.2, "104"), (12_345.6, "12,346")],
)
def test_ratios_have_no_exponent(ratio: float, text: str) -> None:
    assert claim.ratio_text(ratio) == text


def test_page_has_no_ratio_with_an_exponent(tmp_path: Path) -> None:
    result = each_result()["distortion"]
    for run in result["runs"]:
        if run["run"]["method"] == "LVQ":
            run["curve"] = [[number, 1000 * seconds, end] for number, seconds, end in run["curve"]]
    assert "LVQ takes 2,500 times as long" in claims.page_text({"distortion": [result]}, tmp_path)


def test_page_names_runs_of_other_starts(tmp_path: Path) -> None:
    """Runs that used greedy k-means++ are named until they are measured again."""
    result = each_result()["distortion"]
    note = "The stored runs of BKM(kpp) and BKM(kpp)+Fast still used greedy k-means++"
    assert note not in claims.page_text({"distortion": [result]}, tmp_path)
    old = {**result, "runs": [{**run, "commit": "516010f"} for run in result["runs"]]}
    assert note in claims.page_text({"distortion": [old]}, tmp_path)
