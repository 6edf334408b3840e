"""`boostkmeans compare` and `boostkmeans demo`."""

import json
import os
import pty
import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostkmeans import BoostKMeans, baselines
from boostkmeans._runtime.installation import install_hint
from boostkmeans.baselines import (
    DEFAULT,
    METHOD_GROUPS,
    METHODS,
    PAPER_METHODS,
    _demo_page,
    compare,
    summarize,
)
from boostkmeans.cli.commands import demo
from boostkmeans.cli.method_names import chosen_methods
from command import fail, read_until, run, start, succeed
from conftest import SAMPLE, blobs
from processes import PATIENCE

ROWS = blobs(400, 4, 10, spread=2.0)[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", ROWS)
    return tmp_path / "x.npy"


def test_list_of_methods() -> None:
    lines = succeed("compare", "--methods", "list").splitlines()
    names = [line.strip() for line in lines if line.startswith("  ")]
    assert names == list(METHODS)
    groups = [line.split(":")[0] for line in lines if not line.startswith("  ")]
    assert groups == list(METHOD_GROUPS)


@pytest.mark.parametrize("command", ["compare", "compare-docs"])
def test_help_lists_methods_by_group(command: str) -> None:
    text = " ".join(succeed(command, "--help").split())
    for group in ("boostkmeans", "k-way", "trees", "refined-trees", "scikit-learn"):
        assert f" {group}: {'; '.join(METHOD_GROUPS[group])}" in text
    assert " paper: methods of the paper's Table 3" in text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("K-means", ["k-means"]),
        ("paper", list(PAPER_METHODS)),
        ("default", list(DEFAULT)),
        ("Trees , LVQ,trees", [*METHOD_GROUPS["trees"], "LVQ"]),
        ("BsKM, refined", ["BsKM, refined"]),
        ("BsKM,refined", ["BsKM", "refined"]),
        ("k-means, refined", ["k-means", "refined"]),
        ("Mini-batch, 10 % in total,RBK, refined", ["Mini-Batch, 10 % in total", "RBK, refined"]),
    ],
)  # fmt: skip
def test_names_and_groups(text: str, names: list[str]) -> None:
    assert list(chosen_methods(text)) == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kmeans", "no method 'kmeans', and no group of this name. Similar names: k-means"),
        ("BsKM, refine", "no method 'refine'"),
        ("paper,", "no method ''"),
        ("paper,magic", "no method 'magic', and no group of this name. See --methods list"),
    ],
)
def test_unknown_names(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        chosen_methods(text)


def test_table(path: Path) -> None:
    lines = succeed("compare", path, "-k", "8").splitlines()
    assert lines[0] == "400 rows of 4 features into 8 clusters"
    assert lines[2].split() == ["method", "distortion", "best", "relative", "seconds", "sweeps"]
    assert [line.split()[0] for line in lines[3:]] == list(DEFAULT)
    assert min(line.split()[3] for line in lines[3:]) == "1.0000"


def test_json_result(path: Path) -> None:
    out = succeed("compare", path, "-k", "8", "--json", "--repeats", "2", "--seed", "5", "--methods",
                  "boost-balanced,K-Means++,lvq", "--max-rows", "300")  # fmt: skip
    result = json.loads(out)
    assert (result["n_rows"], result["n_rows_of_file"], result["n_clusters"]) == (300, 400, 8)
    assert [one["method"] for one in result["methods"]] == ["boost-balanced", "k-means++", "LVQ"]
    for one in result["methods"]:
        found = [a["distortion"] for a in one["runs"]]
        assert [a["seed"] for a in one["runs"]] == [5, 6]
        assert one["mean_distortion"] == pytest.approx(np.mean(found))
        assert one["best_distortion"] == min(found)
        assert one["error"] is None
        assert one["runs"][0]["curve"][-1][1] == found[0]
    drawn = np.sort(np.random.default_rng(5).choice(400, 300, replace=False))
    expected = BoostKMeans(8, random_state=5).fit(ROWS[drawn]).distortion_
    assert result["methods"][0]["runs"][0]["distortion"] == pytest.approx(expected, rel=1e-12)


def test_all_methods_use_the_same_measure(path: Path) -> None:
    # Some criteria refuse the negative values of these rows.
    names = [name for name in METHODS if not name.endswith(("(e1)", "(g1)", "(h1)", "(h2)"))]
    result = json.loads(succeed("compare", path, "-k", "1", "--json", "--methods", ",".join(names)))
    expected = pytest.approx(float(ROWS.var(axis=0).sum()))
    assert [one["mean_distortion"] for one in result["methods"]] == [expected] * len(names)
    curves = {one["method"]: one["runs"][0]["curve"] for one in result["methods"]}
    without = {name for name, curve in curves.items() if not curve}
    # The refinement of RBK's tree compares rows as they are.
    refined = {name for name in names if name.endswith(", refined")}
    others = {name for name in names if "RBK" in name or name in METHOD_GROUPS["criteria"]} - refined
    assert without == others, "they optimise other measures"


def test_failing_method_does_not_stop_the_others(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError("too much")

    monkeypatch.setattr(baselines.KMeans, "fit", fails)
    out = succeed("compare", path, "-k", "8", "--methods", "k-means,boost-fast")
    assert "failed: not enough memory. too much" in out
    assert "1.0000" in out
    result = json.loads(succeed("compare", path, "-k", "8", "--methods", "k-means,boost-fast", "--json"))
    failed, other = result["methods"]
    assert list(failed) == list(other)
    assert {name for name, value in failed.items() if value} == {"method", "error"}
    assert (failed["error"], failed["relative"]) == ("not enough memory. too much", None)
    assert "too much" in fail(1, "compare", path, "-k", "8", "--methods", "k-means")


def test_errors(path: Path, tmp_path: Path) -> None:
    bad = ROWS.copy()
    bad[7, 1] = np.nan
    np.save(tmp_path / "nan.npy", bad)
    assert "row 7" in fail(3, "compare", tmp_path / "nan.npy", "-k", "8")
    assert "-k 401 is more than the 400 rows" in fail(2, "compare", path, "-k", "401")
    assert "compare PATH -k K" in fail(2, "compare", path)
    assert "compare PATH -k K" in fail(2, "compare", "-k", "3")
    assert "no method 'magic'" in fail(2, "compare", path, "-k", "8", "--methods", "magic")
    assert "--max-rows" in fail(1, "compare", path, "-k", "8", "--max-memory", "1kB")
    assert ".png" in fail(2, "compare", path, "-k", "8", "--plot", "a.txt")


def test_plot(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["compare", path, "-k", "8", "--methods", "boost-fast,k-means"]
    options += ["--plot", tmp_path / "a.png"]
    succeed(*options)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "--force" in fail(2, *options)
    monkeypatch.setattr("boostkmeans.cli.files.output.find_spec", lambda _: None)
    assert install_hint("plot") in fail(1, *options, "--force")


@pytest.mark.process
@pytest.mark.slow
def test_interrupt_prints_the_runs_so_far(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(5_000, 8)))
    ours, theirs = pty.openpty()
    process = start("compare", tmp_path / "x.npy", "-k", "100", "--methods", "boost-fast", "--repeats",
                    "100000", stderr=theirs, env={**os.environ, "TERM": "xterm"})  # fmt: skip
    os.close(theirs)
    seen = read_until(ours, b"seed 2")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    with suppress(OSError):
        while piece := os.read(ours, 1 << 16):
            seen += piece
    os.close(ours)
    assert process.returncode == 130
    assert b"of 100000 runs are complete" in seen
    assert out.splitlines()[3].startswith(b"boost-fast")


def test_summarize() -> None:
    some = {name: METHODS[name] for name in ("k-means", "boost-best")}
    steps: list[Any] = []
    runs = list(compare(ROWS, 8, some, seeds=(0, 1), progress=lambda *step: steps.append(step)))
    assert steps[1] == ("k-means, seed 1", 1, 4)
    lloyd, ours = summarize(runs)
    assert ours.relative == 1
    assert lloyd.relative == lloyd.mean_distortion / ours.mean_distortion
    assert lloyd.n_sweeps == np.mean([run.n_sweeps for run in runs[:2]])
    assert summarize([]) == []


# demo


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_demo_page, "N_ROWS", 600)
    monkeypatch.setattr(_demo_page, "N_CLUSTERS", 20)


@pytest.mark.slow
@pytest.mark.usefixtures("small_demo")
def test_demo_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "SAMPLE", tmp_path / "none.npz")
    monkeypatch.chdir(tmp_path)
    out = succeed("demo")
    assert "600 synthetic vectors of 32 values into 20 clusters" in out
    assert "k-means++" in out
    page = (tmp_path / "demo" / "index.html").read_text()
    assert "data:image/png;base64,iVBOR" in page
    assert "<td>boost-balanced</td>" in page
    assert "annealing" in page
    assert '<a href="explorer.html">' in page
    assert "Explorer: demo/explorer.html" in out
    assert "20 clusters" in (tmp_path / "demo" / "explorer.html").read_text(encoding="utf-8")
    assert "--force" in fail(2, "demo")
    assert "does not exist" in fail(2, "demo", "--output", tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
    result = json.loads(succeed("demo", "--output", tmp_path / "a", "--json"))
    assert (result["page"], result["n_rows"]) == (str(tmp_path / "a" / "index.html"), 600)
    assert len(result["methods"]) == len(_demo_page.DEMO_METHODS)
    assert (tmp_path / "a" / "index.html").exists()


def test_demo_data_of_the_repository() -> None:
    data = _demo_page.demo_data(SAMPLE)
    assert data.X.shape == (25_000, 128)
    assert "SIFT" in data.title


def test_demo_needs_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.cli.files.output.find_spec", lambda _: None)
    result = run("demo", "--output", tmp_path / "a")
    assert result.exit_code == 1
    assert install_hint("plot") in result.stderr
    assert not (tmp_path / "a").exists()
