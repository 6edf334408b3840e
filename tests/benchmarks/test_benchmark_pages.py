"""The generated pages about benchmarks equal what their scripts write from the result files."""

import json
from pathlib import Path

import arena_report
import explorer_report
import large_k_report
import report
import run
from arena import RESULT
from page import DOCS
from result_files import RESULTS, read_result


def test_peers_page_is_up_to_date() -> None:
    text = arena_report.page_text(read_result(RESULT))
    assert text == (DOCS / "peers.md").read_text(), "run: python benchmarks/arena.py --report-only"


def test_benchmarks_page_is_up_to_date() -> None:
    text = report.page_text(report.read_results())
    assert text == (DOCS / "benchmarks.md").read_text(), "run: python benchmarks/run.py --report-only"


def test_every_result_file_belongs_to_a_benchmark() -> None:
    benchmarks = {benchmark.__name__ for benchmark in run.BENCHMARKS}
    assert len(benchmarks) == len(run.BENCHMARKS)
    known = {*benchmarks, *report.SHARED, *report.SEPARATE, *report.OTHER_PAGES}
    assert {path.stem for path in RESULTS.glob("*.json")} <= known


def test_every_benchmark_has_a_section() -> None:
    """A section without a result file is left out; all others have their own heading."""
    results = report.read_results()
    headings = [line for line in report.page_text(results).splitlines() if line.startswith("## ")]
    own = results.keys() - report.INCLUDED - report.OTHER_PAGES
    assert len(headings) == len(set(headings)) == len(own)
    assert report.page_text({}) == report.HEAD


def test_browser_section_says_whether_the_machine_was_idle() -> None:
    result = read_result(RESULTS / "explorer_browser.json")
    assert [one["n"] for one in result["pages"]] == [1_000, 100_000, 1_000_000]
    for load, sentence in [(0.0, "The machine was idle."), (1.5, "used up to 1.5 processors")]:
        pages = [{**one, "others": load} for one in result["pages"]]
        assert sentence in explorer_report.browser_section({**result, "pages": pages})


def test_old_labels_are_translated(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(
        json.dumps({"data": "made: normal 5 x 2", "rows": [{"ours": 1, "yours": "ours (fast)"}]})
    )
    assert read_result(path) == {
        "data": "synthetic, normal 5 x 2",
        "rows": [{"boostkmeans": 1, "yours": "boostkmeans (fast)"}],
    }


def test_scaling_plot_is_drawn(tmp_path: Path) -> None:
    result = read_result(RESULTS / "scaling.json")
    large_k_report.draw_scaling(result, tmp_path / "scaling.png")
    assert (tmp_path / "scaling.png").stat().st_size > 1000
