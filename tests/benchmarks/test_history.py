"""Records of earlier versions: fits, commits, the section and the plot."""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import history
import history_fits
import history_report
import revisions

Json = dict[str, Any]


def figures(time_ratio: float) -> Json:
    return {"seconds": 1.0, "reference_seconds": 1.0, "time_ratio": time_ratio, "inertia_ratio": 0.98}


def record(version: str, commit: str, time_ratio: float = 0.5) -> Json:
    return {
        "version": version,
        "commit": commit * 40,
        "commit_date": "2026-01-01",
        "date": "2026-01-02",
        "machine": {"processor": "P", "n_threads": 2, "python": "3.11", "packages": {"numpy": "2.0"}},
        "fits": {"small": figures(time_ratio), "sparse": {"error": "TypeError: not supported"}},
    }


@pytest.mark.parametrize("name", history_fits.FITS)
def test_fits_are_measured(name: str) -> None:
    found = history_fits.measure(history_fits.FITS[name], share=0.01, n_repeats=1)
    assert found["seconds"] > 0
    assert found["time_ratio"] == pytest.approx(found["seconds"] / found["reference_seconds"])
    assert 0.5 < found["inertia_ratio"] < 1.5


@pytest.mark.slow
@pytest.mark.process
def test_installed_version_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = tmp_path / "records.json"
    options = ["--installed", "--share", "0.002", "--repeats", "1", "--records", str(records)]
    monkeypatch.setattr(sys, "argv", ["history.py", *options])
    monkeypatch.setattr(history, "git", lambda *_: "f" * 40)  # the sources may have no history
    for _ in range(2):
        history.main()
    found = history.read_records(records)
    assert len(found) == 2
    assert found[0]["version"] == found[1]["version"]
    assert set(found[0]["fits"]) == set(history_fits.FITS)
    assert not [one for one in found[0]["fits"].values() if "error" in one]


def test_other_sizes_are_not_stored_with_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["history.py", "--installed", "--share", "0.1"])
    with pytest.raises(SystemExit):
        history.main()


def test_section_and_plot(tmp_path: Path) -> None:
    result = {
        "command": "make bench-history",
        "records": [record("0.10.0", "b"), record("0.9.0", "a"), record("0.10.0", "b", 0.25)],
    }
    assert [one["version"] for one in history_report.latest_records(result)] == ["0.9.0", "0.10.0"]
    text = history_report.history_section(result)
    assert "| 0.9.0 | `aaaaaaa` | 0.50 | not possible |" in text
    assert "| 0.10.0 | `bbbbbbb` | 0.25 | not possible |" in text
    assert "| 0.10.0 | `bbbbbbb` | -2.00% | not possible |" in text
    history_report.draw_history(result, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with two commits of version 0.1.0 and one of 0.2.0, at another place."""
    monkeypatch.setattr(revisions, "CHECKOUT", tmp_path)
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "x")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    newer = tmp_path / revisions.VERSION_FILES[0]
    newer.parent.mkdir(parents=True)
    older = tmp_path / revisions.VERSION_FILES[1]
    for path, text in (
        (older, 'version = "0.1.0"\n'),
        (older, 'version = "0.1.0"\n# more\n'),
        (newer, 'VERSION = "0.2.0"\n'),
    ):
        path.write_text(text)
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
        subprocess.run(["git", "commit", "-qm", "change"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.process
@pytest.mark.usefixtures("repository")
def test_last_commit_of_each_version(tmp_path: Path) -> None:
    head, before = revisions.git("rev-parse", "HEAD"), revisions.git("rev-parse", "HEAD~1")
    assert revisions.last_commits() == [before, head]
    assert [revisions.version_at(one) for one in (before, head)] == ["0.1.0", "0.2.0"]
    records = tmp_path / "records.json"
    records.write_text(json.dumps({"records": [{"commit": before}]}))
    given = argparse.Namespace(revisions=["HEAD~2"], versions=True, records=records)
    first = revisions.git("rev-parse", "HEAD~2")
    assert history.chosen_commits(given) == [first, head]


@pytest.mark.process
@pytest.mark.usefixtures("repository")
def test_commit_that_cannot_be_installed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(history, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(history, "install", lambda *_: "no compiler")
    assert history.prepared("a" * 40) is None
    assert "no compiler" in capsys.readouterr().out
    monkeypatch.setattr(history, "install", lambda _, folder: folder.mkdir(parents=True) or "")
    assert history.prepared("a" * 40) == tmp_path / "cache" / "boostkmeans-aaaaaaa" / "venv/bin/python"
