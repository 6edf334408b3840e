"""Miniature runs of the paper's experiments on search and on documents."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fig4_recall
import table3_entropy

Json = dict[str, Any]

# Tiny data sets cause warnings, for example about fewer clusters than requested.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for data and pictures; all runs stay in this process."""
    monkeypatch.setenv("BOOSTKMEANS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path / "shared"))
    monkeypatch.setattr(fig4_recall, "IMAGES", tmp_path)
    for one in (fig4_recall, table3_entropy):
        monkeypatch.setattr(one, "N_THREADS", 1)
    table3_entropy.weighted.cache_clear()
    fig4_recall.search_data.cache_clear()
    return tmp_path


def measured(one: Any, runs: list[Json]) -> Json:
    """Return the result of some runs, after a round trip through JSON."""
    found = [{"run": run, **one.measure(run)} for run in runs]
    return dict(json.loads(json.dumps({"size": "small", "runs": found}, default=float)))


# Search


@pytest.mark.parametrize("full", [False, True])
def test_all_methods_have_the_same_seeds(full: bool) -> None:
    seeds: dict[str, set[tuple[int, int]]] = {}
    for run in fig4_recall.plan(full):
        seeds.setdefault(run["method"], set()).add((run["m"], run["seed"]))
    assert set(seeds) == set(fig4_recall.METHODS)
    assert len({frozenset(some) for some in seeds.values()}) == 1


def small_searches(methods: list[str]) -> list[Json]:
    """Return the runs of some methods with few rows and two queries more than in the first table."""
    size = {"n_learn": 60, "n_base": 120, "n_all_queries": 7}
    return [{**run, **size} for run in fig4_recall.plan(False) if run["method"] in methods]


def test_search_recall_rises_with_the_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig4_recall, "N_CENTRES", 4)
    monkeypatch.setattr(fig4_recall, "N_QUERIES", 5)
    methods = ["BKM(non)", "RBK", "boostkmeans"]
    result = measured(fig4_recall, small_searches(methods))
    for run in result["runs"]:
        assert run["data"] == "synthetic, normal, 120 as base (stands in for SIFT1M)"
        (one,) = run["methods"]
        assert one["method"] == run["run"]["method"]
        assert one["recall"] == sorted(one["recall"])
        # Recalls of 5 and of 7 queries: only multiples of a fifth and of a seventh are possible.
        assert all(abs(5 * value - round(5 * value)) < 0.01 for value in one["recall"])
        assert all(abs(7 * value - round(7 * value)) < 0.01 for value in one["recall_of_all"])
    means = fig4_recall.means(result["runs"], 16)
    assert list(means) == methods
    assert means["boostkmeans"]["distortion"] < means["RBK"]["distortion"]


def search_run(method: str, m: int, recall: float, distortion: float) -> Json:
    """Return a stored run with the same recall at all ranks."""
    figures = {"method": method, "recall": [recall] * 100, "distortion": distortion}
    run = {"m": m, "seed": 0, "method": method, "n_learn": 9, "n_base": 9, "n_all_queries": 1000}
    return {"run": run, "data": "some", "methods": [figures]}


def test_page_compares_methods() -> None:
    values = {"k-means": (0.5, 10.0), "k-means++": (0.5, 10.0), "BKM(non)": (0.5, 10.0),
              "BsKM": (0.49, 12.0), "BsKM++": (0.49, 12.0), "BsBKM(non)": (0.49, 12.0),
              "RBK": (0.47, 13.0), "Mini-Batch": (0.46, 13.0), "boostkmeans": (0.51, 9.9)}  # fmt: skip
    runs = [search_run(one, m, *some) for one, some in values.items() for m in (8, 16)]
    page = fig4_recall.page({"size": "small", "runs": runs})
    assert "bisecting -1.0, -1.0, -1.0; Mini-Batch -4.0, -4.0, -4.0; RBK -3.0, -3.0, -3.0" in page
    assert "bisecting is 20.0 % higher" in page
    assert "boostkmeans: distortion -1.00 % relative to k-means++; recall at or above" in page


def test_page_of_some_methods_says_what_is_missing(folder: Path) -> None:
    result = {
        "size": "full",
        "runs": [search_run(one, m, 0.5, 1.0) for one in ("k-means", "RBK") for m in (8, 16)],
    }
    assert "8 subspaces: not all methods are measured yet" in fig4_recall.page(result)
    fig4_recall.draw(result)
    assert (folder / "paper_search.svg").exists()


def test_page_of_one_run() -> None:
    page = fig4_recall.page({"size": "small", "runs": [search_run("k-means", 8, 0.5, 1.0)]})
    assert "16 subspaces: not all methods are measured yet" in page


# Documents


@pytest.mark.slow
def test_documents_are_read_from_the_archive(folder: Path) -> None:
    assert table3_entropy.measure(table3_entropy.plan(True)[0]) == {"missing": True}
    sets = folder / "data" / "cluto"
    sets.mkdir(parents=True)
    rng = np.random.default_rng(0)
    counts = [rng.choice(30, 8, replace=False) + 1 for _ in range(60)]
    lines = [" ".join(f"{term} 1" for term in sorted(terms)) for terms in counts]
    (sets / "wap.mat").write_text("60 30 480\n" + "\n".join(lines) + "\n")
    (sets / "wap.mat.rclass").write_text("\n".join("abc"[i % 3] for i in range(60)) + "\n")
    runs = [
        {"set": name, "method": method, "ks": [5, 10], "seeds": [0, 1]}
        for name in ("wap", "re0")
        for method in table3_entropy.ROWS
    ]
    page = table3_entropy.page(measured(table3_entropy, runs))
    assert "averaged over 1 of the\npaper's 15 sets: wap (60 x 30, 3 classes)" in page
    assert "CLUTO's archive" in page
    assert "| sampled tree |" in page
    assert "Not yet measured" not in page


def document_run(name: str, method: str, entropy: float) -> Json:
    """Return a stored run with two seeds."""
    figures = {"entropy": [entropy, entropy + 0.1], "inertia": [2.0, 1.0], "seconds": 0.1}
    return {
        "run": {"set": name, "method": method, "ks": [5, 10], "seeds": [0, 1]},
        "data": "some", "documents": 9, "terms": 9, "classes": 2,
        "figures": {"5": figures, "10": figures},
    }  # fmt: skip


def document_runs(name: str) -> list[Json]:
    """Return the runs of the paper's methods on one set; the entropy rises from row to row."""
    return [document_run(name, one, 0.3 + 0.01 * i) for i, one in enumerate(table3_entropy.PAPER)]


def test_sets_without_all_methods_are_left_out() -> None:
    runs = [*document_runs("wap"), *document_runs("re0")[1:], document_run("wap", "sampled tree", 0.2),
            {"run": {"set": "new3", "method": "LVQ"}, "missing": True}]  # fmt: skip
    (one,) = table3_entropy.by_set(runs)
    assert one["run"]["set"] == "wap"
    assert list(one["methods"]) == [*table3_entropy.PAPER, "sampled tree"]
    both = table3_entropy.by_set([*runs, document_runs("re0")[0]])
    assert [one["run"]["set"] for one in both] == ["wap", "re0"]
    assert all("sampled tree" not in one["methods"] for one in both), (
        "it has only run on one of the sets"
    )


def test_ranks_and_bold_values_are_those_of_the_papers_methods() -> None:
    """The sampled tree has the lowest entropy, but the paper has no such method."""
    runs = [*document_runs("wap"), document_run("wap", "sampled tree", 0.2)]
    page = table3_entropy.page({"runs": runs})
    assert "BsBKM(non) has rank 9 (0.380; first: k-means 0.300)" in page
    assert "**0.300**" in page
    assert "**0.200**" not in page
    assert "Not yet measured on all sets: sampled RBK" in page
    # The run with the lowest inertia is the second one.
    assert table3_entropy.averages(table3_entropy.by_set(runs), [5], "objective")["k-means"] == [0.4]


def test_documents_page_without_data() -> None:
    assert table3_entropy.page({"runs": [{"run": {}, "missing": True}]}).startswith(
        "No set was measured"
    )
