"""`boostkmeans compare-docs` and `documents.compare_documents`."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostkmeans import baselines, metrics
from boostkmeans.baselines import METHODS, PAPER_METHODS, summarize_scores
from boostkmeans.documents import Corpus, compare_documents, read_corpus, tfidf
from command import ROOT, fail, run, succeed

SENTENCES = ROOT / "examples" / "sentences.txt"
TOPICS = ROOT / "examples" / "sentence_topics.txt"
LABELLED = [SENTENCES, "--classes", TOPICS]
FEW = ["--methods", "k-means,BsBKM(non)", "--repeats", "3"]


def test_tables_of_the_papers_methods() -> None:
    out = succeed("compare-docs", *LABELLED, "-k", "2,3", "--repeats", "2")
    lines = out.splitlines()
    assert lines[0] == "30 documents, 3 classes, 2 runs per method"
    titles = [line for line in lines if line.startswith("entropy: ")]
    assert titles == [
        "entropy: run with the best objective",
        "entropy: run with the lowest entropy (as in the paper, which needs the classes)",
        "entropy: mean of all runs",
    ]
    for title in titles:
        table = lines[lines.index(title) + 1 :][: 1 + len(PAPER_METHODS)]
        assert table[0].split() == ["k=2", "k=3"]
        assert [line.split()[0] for line in table[1:]] == list(PAPER_METHODS)
        for column in (1, 2):
            cells = [line.split()[column] for line in table[1:]]
            best = min(float(cell.rstrip("*")) for cell in cells)
            assert all(cell.endswith("*") == (float(cell.rstrip("*")) == best) for cell in cells)


def test_json_equals_fits_of_the_estimators() -> None:
    out = succeed("compare-docs", *LABELLED, "-k", "3", "--json", "--seed", "5", *FEW)
    result = json.loads(out)
    assert (result["n_documents"], result["n_classes"], result["seeds"]) == (30, 3, [5, 6, 7])
    rows = tfidf(read_corpus(SENTENCES)).rows
    classes = TOPICS.read_text().split()
    for one in result["methods"]:
        labels = [METHODS[one["method"]](3, seed).fit(rows).labels_ for seed in (5, 6, 7)]
        entropies = [metrics.entropy(classes, found) for found in labels]
        objectives = [metrics.average_distortion(rows, found) for found in labels]
        assert [a["entropy"] for a in one["runs"]] == pytest.approx(entropies)
        assert one["mean"]["entropy"] == pytest.approx(np.mean(entropies))
        assert one["by_entropy"]["entropy"] == pytest.approx(min(entropies))
        assert one["by_objective"]["entropy"] == pytest.approx(entropies[int(np.argmin(objectives))])
        assert set(one["runs"][0]) >= {"seed", "entropy", "purity", "nmi", "ari", "distortion"}


def test_csv_of_all_runs(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    succeed("compare-docs", *LABELLED, "-k", "2,4", "--runs", file, *FEW)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert len(rows) == 2 * 2 * 3
    assert [row["seed"] for row in rows[:3]] == ["0", "1", "2"]
    assert {(row["method"], row["n_clusters"]) for row in rows} == {
        ("k-means", "2"), ("k-means", "4"), ("BsBKM(non)", "2"), ("BsBKM(non)", "4")
    }  # fmt: skip
    printed = succeed("compare-docs", *LABELLED, "-k", "2,4", "--runs", "-", *FEW).splitlines()
    assert printed[0] == file.read_text().splitlines()[0]
    assert len(printed) == len(rows) + 1
    assert "--force" in fail(2, "compare-docs", *LABELLED, "--runs", file, *FEW)


def test_other_measures_are_best_if_high() -> None:
    out = succeed("compare-docs", *LABELLED, "-k", "2", "--measure", "purity", *FEW)
    lines = out.splitlines()
    start = lines.index("purity: mean of all runs")
    cells = [line.split()[1] for line in lines[start + 2 : start + 4]]
    values = [float(cell.rstrip("*")) for cell in cells]
    assert [cell.endswith("*") for cell in cells] == [value == max(values) for value in values]


def folder_of_classes(folder: Path) -> Path:
    for i, (text, topic) in enumerate(_labelled()):
        (folder / topic).mkdir(exist_ok=True)
        (folder / topic / f"{i:02}.txt").write_text(text)
    return folder


def table_with_classes(folder: Path) -> Path:
    with (folder / "news.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "class"), *_labelled()])
    return folder / "news.csv"


def compressed_json_lines(folder: Path) -> Path:
    lines = [json.dumps({"text": text, "label": topic}) for text, topic in _labelled()]
    (folder / "news.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder / "news.jsonl.gz"


def cluto_matrix(folder: Path) -> Path:
    rows = np.random.default_rng(0).integers(0, 3, size=(30, 12))
    lines = [" ".join(f"{j + 1} {c}" for j, c in enumerate(row) if c) for row in rows]
    text = f"30 12 {np.count_nonzero(rows)}\n" + "\n".join(lines) + "\n"
    (folder / "news.mat").write_text(text)
    (folder / "news.mat.rclass").write_text(TOPICS.read_text())
    return folder / "news.mat"


def _labelled() -> list[tuple[str, str]]:
    return list(zip(SENTENCES.read_text().splitlines(), TOPICS.read_text().split(), strict=True))


@pytest.mark.parametrize(
    "write", [folder_of_classes, table_with_classes, compressed_json_lines, cluto_matrix]
)
def test_inputs_with_classes(write: Any, tmp_path: Path) -> None:
    out = succeed("compare-docs", write(tmp_path), "-k", "3", "--json", *FEW)
    result = json.loads(out)
    assert (result["n_documents"], result["n_of_known_class"], result["n_classes"]) == (30, 30, 3)


def test_documents_of_unknown_class_are_not_scored(tmp_path: Path) -> None:
    lines = TOPICS.read_text().splitlines()
    (tmp_path / "classes.txt").write_text("\n".join(["", "", *lines[2:]]) + "\n")
    options = ["--classes", tmp_path / "classes.txt", "-k", "3", *FEW]
    assert succeed("compare-docs", SENTENCES, *options).startswith(
        "30 documents, 28 of known class, 3 classes"
    )
    result = json.loads(succeed("compare-docs", SENTENCES, *options, "--json"))
    rows = tfidf(read_corpus(SENTENCES)).rows
    labels = METHODS["k-means"](3, 0).fit(rows).labels_
    expected = metrics.entropy(lines[2:], labels[2:])
    assert result["methods"][0]["runs"][0]["entropy"] == pytest.approx(expected)


def test_errors(tmp_path: Path) -> None:
    assert "Pass --classes, or documents with classes" in fail(3, "compare-docs", SENTENCES)
    (tmp_path / "few.txt").write_text("a\nb\n")
    few = fail(3, "compare-docs", SENTENCES, "--classes", tmp_path / "few.txt")
    assert "2 classes for 30 documents" in few
    assert "-k" in fail(2, "compare-docs", *LABELLED, "-k", "3,x")
    assert "-k 31 is not in the range from 1 to 30" in fail(2, "compare-docs", *LABELLED, "-k", "3,31")
    assert "no method 'magic'" in fail(2, "compare-docs", *LABELLED, "--methods", "magic")
    assert "compare-docs PATH" in fail(2, "compare-docs", "-k", "3")
    both = ["--json", "--runs", "-"]
    assert "standard output" in fail(2, "compare-docs", *LABELLED, *both)


def test_list_of_methods() -> None:
    assert succeed("compare-docs", "--methods", "list") == succeed("compare", "--methods", "list")


def test_failing_method_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError("too much")

    monkeypatch.setattr(baselines.KMeans, "fit", fails)
    out = succeed("compare-docs", *LABELLED, "-k", "3", *FEW)
    assert out.splitlines()[-1] == "k-means, k=3: failed: not enough memory. too much"
    alone = ["--methods", "k-means", "-k", "3"]
    assert "too much" in fail(1, "compare-docs", *LABELLED, *alone)
    lines = succeed("compare-docs", *LABELLED, "-k", "3", "--runs", "-", *FEW).splitlines()
    assert lines[1] == "k-means,3,0,,,,,,,not enough memory. too much"


def test_interrupt_prints_the_runs_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    fit, n_fits = baselines.KMeans.fit, 0

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        nonlocal n_fits
        n_fits += 1
        if n_fits == 3:
            raise KeyboardInterrupt
        return fit(*args, **kwargs)

    monkeypatch.setattr(baselines.KMeans, "fit", interrupted)
    result = run("compare-docs", *LABELLED, "-k", "3", "--json", *FEW)
    assert result.exit_code == 130
    assert "2 of 6 runs are complete" in result.stderr
    (one,) = json.loads(result.stdout)["methods"]
    assert [a["seed"] for a in one["runs"]] == [0, 1]


def test_progress_counts_all_runs() -> None:
    corpus = Corpus.from_texts(["red rose", "a rose", "blue sea", "deep sea"], classes=[0, 0, 1, 1])
    steps: list[Any] = []
    methods = {name: METHODS[name] for name in ("k-means", "LVQ")}
    runs = compare_documents(
        corpus, [2, 3], methods, seeds=(0, 1), progress=lambda *step: steps.append(step)
    )
    assert len(summarize_scores(runs)) == 4
    fits = [step for step in steps if step[0].startswith("k=")]
    assert [done for _, done, _ in fits] == list(range(8))
    assert fits[-1] == ("k=3: LVQ, seed 1", 7, 8)
