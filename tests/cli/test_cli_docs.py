"""`boostkmeans docs`: what goes where, exit codes, files that are not lost, pipes and terminals."""

import json
import logging
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz
from typer.testing import CliRunner

import boostkmeans
from boostkmeans._storage import atomic_file
from boostkmeans._storage.atomic_file import atomic_write_text
from boostkmeans.cli.app import app
from boostkmeans.cli.commands.docs import _stop_words
from conftest import SHARED, run_python, same_partition

ROOT = Path(__file__).parents[2]
SENTENCES = str(ROOT / "examples" / "sentences.txt")
COMMAND = [sys.executable, "-m", "boostkmeans"]
THEMES = np.array([0, 1, 2] * 10)


def run(*arguments: str | Path, stdin: bytes | None = None) -> Any:
    return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)


def succeed(*arguments: str | Path, stdin: bytes | None = None) -> str:
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return str(result.stdout)


def test_a_newcomer() -> None:
    out = succeed("docs", SENTENCES, "-k", "3")
    assert "30 documents" in out
    for line in ("cluster 0: 10 documents", "descriptive", "discriminating", "central", "oven", "orbit"):
        assert line in out


def test_json() -> None:
    made = json.loads(
        succeed("docs", SENTENCES, "-k", "3", "--json", "--stop-words", "english", "--n-init", "4")
    )
    assert same_partition(np.array(made["labels"]), THEMES)
    assert [cluster["size"] for cluster in made["clusters"]] == [10, 10, 10]
    assert made["names"][:2] == ["line 1", "line 2"]
    assert made["method"] == "bisecting"
    assert len(made["clusters"][0]["descriptive"]) == 10
    assert len(made["clusters"][0]["central"]) == 5


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "refined"],
        ["--method", "k-way", "--quality", "fast"],
        ["--ngrams", "1-2", "--min-df", "2", "--max-df", "0.5"],
        ["--max-terms", "40", "--sublinear", "--idf", "plain"],
        ["--threads", "1", "--seed", "7", "--n-init", "3"],
        ["--terms", "0", "--central", "0"],
    ],
)
def test_options(options: list[str]) -> None:
    made = json.loads(succeed("docs", SENTENCES, "-k", "3", "--json", *options))
    assert sum(cluster["size"] for cluster in made["clusters"]) == 30


def test_options_arrive(tmp_path: Path) -> None:
    def made(*options: str) -> Any:
        return json.loads(succeed("docs", SENTENCES, "-k", "3", "--json", *options))

    assert made("--max-terms", "40")["n_terms"] == 40
    assert made("--ngrams", "2")["clusters"][0]["descriptive"][0]["term"].count(" ") == 1
    assert made("--min-df", "2")["n_terms"] < made("--min-df", "1")["n_terms"]
    assert made("--min-df", "0.1")["n_terms"] == made("--min-df", "3")["n_terms"]
    assert made("--max-df", "0.5")["n_terms"] < made()["n_terms"]
    words = tmp_path / "stop"
    words.write_text("the\nand\nof\n")
    assert made("--stop-words", str(words))["n_terms"] == made()["n_terms"] - 3
    assert made("--terms", "2", "--central", "1")["clusters"][0].keys() == made()["clusters"][0].keys()
    assert len(made("--terms", "2")["clusters"][0]["descriptive"]) == 2
    assert made("--seed", "1") == made("--seed", "1")
    assert made("--idf", "none")["inertia"] != made("--sublinear", "--idf", "plain")["inertia"]


def test_tables_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    sentences = Path(SENTENCES).read_text().splitlines()
    rows = [f'"{text}",{i},{i % 3}' for i, text in enumerate(sentences)]
    path.write_text("\n".join(["body,number,theme", *rows]))
    options = ["--text-column", "body", "--class-column", "theme", "--name-column", "number"]
    made = json.loads(succeed("docs", path, "-k", "3", "--json", "--method", "k-way", *options))
    assert made["scores"] == {"entropy": 0.0, "purity": 1.0, "nmi": pytest.approx(1.0)}
    assert made["names"][-1] == "29"
    without_header = tmp_path / "b.csv"
    without_header.write_text("\n".join(rows))
    out = succeed("docs", without_header, "-k", "3", "--text-column", "1", "--class-column", "3")
    assert "entropy" in out
    assert "purity" in out
    assert "NMI" in out


def test_standard_input() -> None:
    text = Path(SENTENCES).read_bytes()
    made = json.loads(succeed("docs", "-", "-k", "3", "--json", stdin=text))
    assert made["source"] == "standard input"
    assert same_partition(np.array(made["labels"]), THEMES)
    lines = b"".join(json.dumps({"text": line}).encode() + b"\n" for line in text.decode().splitlines())
    again = json.loads(succeed("docs", "-", "-k", "3", "--json", "--format", "jsonl", stdin=lines))
    assert again["labels"] == made["labels"]


def test_labels_as_an_array(tmp_path: Path) -> None:
    succeed("docs", SENTENCES, "-k", "3", "--labels", tmp_path / "l.npy", "-o", tmp_path / "o", "--json")
    assert np.load(tmp_path / "l.npy").tolist() == json.loads((tmp_path / "o").read_text())["labels"]
    assert "both want" in run("docs", SENTENCES, "-k", "3", "--labels", "-", "--json").stderr


def test_labels_and_output(tmp_path: Path) -> None:
    labels, output = tmp_path / "labels.tsv", tmp_path / "out.json"
    out = succeed("docs", SENTENCES, "-k", "3", "--labels", labels, "--output", output, "--json")
    assert out == ""
    made = json.loads(output.read_text())
    lines = [line.split("\t") for line in labels.read_text().splitlines()]
    assert [name for name, _ in lines] == made["names"]
    assert [int(label) for _, label in lines] == made["labels"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.tsv", "out.json"]
    assert succeed("docs", SENTENCES, "-k", "3", "--labels", "-") == labels.read_text()


def test_no_overwriting_without_force(tmp_path: Path) -> None:
    target = tmp_path / "labels.tsv"
    target.write_text("precious")
    for option in ("--labels", "--output"):
        result = run("docs", SENTENCES, "-k", "3", option, target)
        assert result.exit_code == 2
        assert "labels.tsv exists" in result.stderr
        assert "--force" in result.stderr
        assert target.read_text() == "precious"
    target.chmod(0o600)
    succeed("docs", SENTENCES, "-k", "3", "--labels", target, "--force", "--output", tmp_path / "out")
    assert len(target.read_text().splitlines()) == 30
    assert target.stat().st_mode & 0o777 == 0o600


def test_outputs_that_cannot_be(tmp_path: Path) -> None:
    for arguments in (
        ["--labels", str(tmp_path)],
        ["--labels", str(tmp_path / "missing" / "labels")],
        ["--labels", str(tmp_path / "a"), "--output", str(tmp_path / "a")],
    ):
        result = run("docs", SENTENCES, "-k", "3", *arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("boostkmeans: ")
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("red rose\nblue sea\n")
    result = run("docs", path, "-k", "2", "--labels", tmp_path / "." / "a.txt", "--force")
    assert result.exit_code == 2
    assert path.read_text() == "red rose\nblue sea\n"


def test_one_bad_document_does_not_lose_the_rest(tmp_path: Path) -> None:
    for i, text in enumerate(("red rose", "a red rose", "the blue sea")):
        (tmp_path / f"{i}.txt").write_text(text)
    (tmp_path / "binary").write_bytes(b"\x00\x01")
    (tmp_path / "latin\x1b.txt").write_bytes(b"caf\xe9")
    result = run("docs", tmp_path, "-k", "2", "--json")
    assert result.exit_code == 0
    made = json.loads(result.stdout)
    assert made["names"] == ["0.txt", "1.txt", "2.txt"]
    assert [one["name"] for one in made["skipped"]] == ["binary", "latin\x1b.txt"]
    assert "2 of 5 documents are skipped" in result.stderr
    assert "latin\\x1b.txt: not utf-8: 0xe9 at byte 3" in result.stderr
    assert "\x1b" not in result.stderr


def test_bad_data_is_exit_code_3(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    cluto = tmp_path / "a.mat"
    cluto.write_text("3 5 9\n1 1\n")
    binary = tmp_path / "b.txt"
    binary.write_bytes(b"\x00")
    table = tmp_path / "c.csv"
    table.write_text("id,title,body\n1,a,b\n")
    punctuation = tmp_path / "d.txt"
    punctuation.write_text("!\n?\n...\n")
    for path, what in (
        (empty, "no files in this folder"),
        (cluto, "a.mat, line 1"),
        (binary, "b.txt: not a text, but binary"),
        (table, "'id', 'title', 'body'"),
        (punctuation, "no words of two letters"),
    ):
        result = run("docs", path, "-k", "2")
        assert (result.exit_code, result.stdout) == (3, "")
        assert what in result.stderr
        assert "Traceback" not in result.stderr
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["docs", "no-such-file", "-k", "3"], "no-such-file: No such file"),
        (["docs", SENTENCES], "-k"),
        (["docs", SENTENCES, "-k", "0"], "-k"),
        (["docs", SENTENCES, "-k", "x"], "-k"),
        (["docs", SENTENCES, "-k", "31"], "31 clusters need as many documents"),
        (["docs", SENTENCES, "-k", "3", "--method", "best"], "--method"),
        (["docs", SENTENCES, "-k", "3", "--ngrams", "one"], "--ngrams"),
        (["docs", SENTENCES, "-k", "3", "--ngrams", "2-1"], "--ngrams"),
        (["docs", SENTENCES, "-k", "3", "--min-df", "few"], "--min-df"),
        (["docs", SENTENCES, "-k", "3", "--min-df", "31"], "--min-df"),
        (["docs", SENTENCES, "-k", "3", "--stop-words", "no-such-file"], "no-such-file"),
        (["docs", SENTENCES, "-k", "3", "--encoding", "utf-9"], "utf-9"),
        (["docs", SENTENCES, "-k", "3", "--text-column", "text"], "Columns can only be named"),
        (["docs", SENTENCES, "-k", "3", "--format", "docx"], "--format"),
        (["docs", SENTENCES, "-k", "3", "--quality", "best"], "quality is for the methods 'refined'"),
        (["docs", SENTENCES, "-k", "3", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_use_is_exit_code_2(arguments: list[str], what: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert what in result.stderr
    assert "Traceback" not in result.stderr


def test_stop_words_in_another_encoding(tmp_path: Path) -> None:
    words = tmp_path / "stop.txt"
    words.write_bytes("the\ncaf\xe9\n".encode("latin-1"))
    result = run("docs", SENTENCES, "-k", "3", "--stop-words", words)
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"{words}: stop words must be in UTF-8, and byte 7 is not. Convert the file" in result.stderr
    words.write_bytes("\ufeffthe\n".encode())
    assert _stop_words(str(words)) == ["the"], "without the mark that some programs put first"


def test_failures_are_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, what in (
        (PermissionError(13, "Permission denied", "x.txt"), "x.txt: Permission denied"),
        (MemoryError("4 TB"), "not enough memory. 4 TB"),
        (ImportError("no module"), "no module"),
        (
            ZeroDivisionError("division by zero"),
            "unexpected ZeroDivisionError: division by zero",
        ),
    ):

        def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("boostkmeans.cli.commands.docs.read_corpus", fail)
        result = run("docs", SENTENCES, "-k", "3")
        assert result.exit_code == 1
        assert what in result.stderr
        assert "Traceback" not in result.stderr
        result = run("docs", SENTENCES, "-k", "3", "--debug")
        assert result.exit_code == 1
        assert "Traceback" in result.stderr


def test_verbose() -> None:
    result = run("docs", SENTENCES, "-k", "3", "--verbose")
    assert f"boostkmeans: {SENTENCES}: 30 documents" in result.stderr
    assert "cluster 0" in result.stdout
    assert logging.getLogger("boostkmeans").handlers == [], "nothing stays behind"
    assert run("docs", SENTENCES, "-k", "3").stderr == ""


def test_version() -> None:
    assert succeed("--version") == f"boostkmeans {boostkmeans.__version__}\n"


def test_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save_npz(path, csr_array(np.kron(np.eye(2), np.ones((5, 4)))))
    out = succeed("docs", path, "-k", "2")
    assert "column 1" in out
    assert "row 1" in out


def test_a_real_collection() -> None:
    path = SHARED / "cluto" / "re0.npz"
    if not path.exists():
        pytest.skip("re0.npz is not here")
    made = json.loads(succeed("docs", path, "-k", "13", "--json"))
    assert 0.2 < made["scores"]["entropy"] < 0.5
    assert made["scores"]["purity"] > 0.5


# In a process of its own


def test_results_alone_on_stdout() -> None:
    result = subprocess.run(
        [*COMMAND, "docs", SENTENCES, "-k", "3"], capture_output=True, text=True, check=True
    )
    assert "cluster 2" in result.stdout
    assert result.stderr == "", "no bar, as this is no terminal"


def test_warnings_are_a_line() -> None:
    result = subprocess.run(
        [*COMMAND, "docs", "-", "-k", "3"],
        input="red rose\nred rose\nblue sea\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stderr.startswith("boostkmeans: warning: Number of distinct clusters (2)")
    assert len(result.stderr.splitlines()) == 1


def test_a_bar_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    try:
        result = subprocess.run(
            [*COMMAND, "docs", SENTENCES, "-k", "3", "--method", "k-way"],
            stdout=subprocess.PIPE, stderr=theirs, check=True, env={**os.environ, "TERM": "xterm"},
        )  # fmt: skip
        os.close(theirs)
        seen = os.read(ours, 1 << 20).decode()
    finally:
        os.close(ours)
    assert "\x1b" in seen
    assert "0:00:0" in seen
    assert "describing clusters" in seen
    assert b"\x1b" not in result.stdout
    assert b"cluster 2" in result.stdout


def test_a_closed_pipe(tmp_path: Path) -> None:
    labels = tmp_path / "labels.tsv"
    process = subprocess.Popen(
        [*COMMAND, "docs", SENTENCES, "-k", "3", "--labels", str(labels)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    error = process.stderr.read().decode()
    process.stderr.close()
    assert (process.wait(60), error) == (0, "")
    assert len(labels.read_text().splitlines()) == 30, "files do not depend on who reads the rest"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*COMMAND, "docs", SENTENCES, "-k", "3"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert result.returncode == 1
    assert b"No space left" in result.stderr
    assert b"Traceback" not in result.stderr
    assert b"Exception ignored" not in result.stderr


def test_a_device_is_written_to_not_replaced() -> None:
    out = succeed("docs", SENTENCES, "-k", "3", "--labels", os.devnull, "--force")
    assert "cluster 0" in out
    assert Path(os.devnull).is_char_device()


def test_other_encodings_of_stdout() -> None:
    result = subprocess.run(
        [*COMMAND, "docs", "-", "-k", "1"], input="caf\xe9 \u2192\nth\xe9\n".encode(),
        capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert b"caf\\xe9 \\u2192" in result.stdout


def test_an_interrupt(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "docs", str(pipe), "-k", "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with pipe.open("wb"):  # which waits until it is read from
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert error == b"boostkmeans: interrupted\n"


def test_without_the_extra() -> None:
    for missing in ("typer", "rich"):
        result = run_python(
            f"import sys; sys.modules['{missing}'] = None; sys.argv = ['boostkmeans', 'docs', '-']\n"
            "from boostkmeans.cli import main\nmain()"
        )
        assert result.returncode == 1
        assert result.stderr.strip().endswith("pip install boostkmeans[cli]")
        assert len(result.stderr.splitlines()) == 1


# Whole files


def test_a_file_that_came_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a"
    monkeypatch.setattr(atomic_file, "check_target", lambda *_, **__: target.write_text("precious"))
    with pytest.raises(FileExistsError, match="exists"):
        atomic_write_text(target, "new")
    assert target.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a"
    target.write_text("old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        atomic_write_text(target, "new", force=True)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_links_are_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    atomic_write_text(link, "new", force=True)
    assert link.is_symlink()
    assert real.read_text() == "new"
