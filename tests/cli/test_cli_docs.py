"""`boostkmeans docs`: results, options, errors, pipes and terminals."""

import json
import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

import boostkmeans
from boostkmeans._runtime.installation import install_hint
from boostkmeans.cli import corpus_options
from boostkmeans.cli.corpus_options import _read_stop_words
from command import ROOT, fail, run, run_on_terminal, succeed
from conftest import SHARED, run_python, same_partition

SENTENCES = str(ROOT / "examples" / "sentences.txt")
THEMES = np.array([0, 1, 2] * 10)


def test_listing() -> None:
    out = succeed("docs", SENTENCES, "-k", "3")
    assert "30 documents" in out
    for line in (
        "cluster 0: ",
        "(10 documents, similarity ",
        "descriptive",
        "discriminating",
        "central",
        "oven",
        "orbit",
    ):
        assert line in out


def test_json_result() -> None:
    result = json.loads(
        succeed("docs", SENTENCES, "-k", "3", "--json", "--stop-words", "english", "--n-init", "4")
    )
    assert same_partition(np.array(result["labels"]), THEMES)
    assert [cluster["size"] for cluster in result["clusters"]] == [10, 10, 10]
    assert result["names"][:2] == ["line 1", "line 2"]
    assert result["method"] == "bisecting"
    assert len(result["clusters"][0]["descriptive"]) == 10
    assert len(result["clusters"][0]["central"]) == 5


def test_criterion() -> None:
    options = ("-k", "3", "--stop-words", "english", "--method", "refined", "--criterion", "h2")
    result = json.loads(succeed("docs", SENTENCES, *options, "--json"))
    assert same_partition(np.array(result["labels"]), THEMES)
    assert result["criterion"] == "h2"
    assert f"(refined), criterion h2 {result['objective']:.6g}" in succeed("docs", SENTENCES, *options)
    message = fail(2, "docs", SENTENCES, *options, "--quality", "best")
    assert "--quality has no effect with --criterion" in message


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "refined"],
        ["--method", "k-way", "--quality", "fast"],
        ["--method", "k-way", "--criterion", "e1"],
        ["--ngrams", "1-2", "--min-df", "2", "--max-df", "0.5"],
        ["--max-terms", "40", "--sublinear", "--idf", "plain"],
        ["--threads", "1", "--seed", "7", "--n-init", "3"],
        ["--terms", "0", "--central", "0"],
    ],
)
def test_options_are_accepted(options: list[str]) -> None:
    result = json.loads(succeed("docs", SENTENCES, "-k", "3", "--json", *options))
    assert sum(cluster["size"] for cluster in result["clusters"]) == 30


def test_options_take_effect(tmp_path: Path) -> None:
    def result_of(*options: str) -> Any:
        return json.loads(succeed("docs", SENTENCES, "-k", "3", "--json", *options))

    assert result_of("--max-terms", "40")["n_terms"] == 40
    assert result_of("--ngrams", "2")["clusters"][0]["descriptive"][0]["term"].count(" ") == 1
    assert result_of("--min-df", "2")["n_terms"] < result_of("--min-df", "1")["n_terms"]
    assert result_of("--min-df", "0.1")["n_terms"] == result_of("--min-df", "3")["n_terms"]
    assert result_of("--max-df", "0.5")["n_terms"] < result_of()["n_terms"]
    words = tmp_path / "stop"
    words.write_text("the\nand\nof\n")
    assert result_of("--stop-words", str(words))["n_terms"] == result_of()["n_terms"] - 3
    assert (
        result_of("--terms", "2", "--central", "1")["clusters"][0].keys()
        == result_of()["clusters"][0].keys()
    )
    assert len(result_of("--terms", "2")["clusters"][0]["descriptive"]) == 2
    assert result_of("--seed", "1") == result_of("--seed", "1")
    assert result_of("--idf", "none")["inertia"] != result_of("--sublinear", "--idf", "plain")["inertia"]


def test_tables_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    sentences = Path(SENTENCES).read_text().splitlines()
    rows = [f'"{text}",{i},{i % 3}' for i, text in enumerate(sentences)]
    path.write_text("\n".join(["body,number,theme", *rows]))
    options = ["--text-column", "body", "--class-column", "theme", "--name-column", "number"]
    result = json.loads(succeed("docs", path, "-k", "3", "--json", "--method", "k-way", *options))
    assert result["scores"] == {"entropy": 0.0, "purity": 1.0, "nmi": pytest.approx(1.0)}
    assert result["names"][-1] == "29"
    without_header = tmp_path / "b.csv"
    without_header.write_text("\n".join(rows))
    out = succeed("docs", without_header, "-k", "3", "--text-column", "1", "--class-column", "3")
    assert "entropy" in out
    assert "purity" in out
    assert "NMI" in out


def test_reads_standard_input() -> None:
    text = Path(SENTENCES).read_bytes()
    result = json.loads(succeed("docs", "-", "-k", "3", "--json", stdin=text))
    assert result["source"] == "standard input"
    assert same_partition(np.array(result["labels"]), THEMES)
    lines = b"".join(json.dumps({"text": line}).encode() + b"\n" for line in text.decode().splitlines())
    again = json.loads(succeed("docs", "-", "-k", "3", "--json", "--format", "jsonl", stdin=lines))
    assert again["labels"] == result["labels"]


def test_labels_as_array(tmp_path: Path) -> None:
    succeed(
        "docs",
        SENTENCES,
        "-k",
        "3",
        "--labels",
        tmp_path / "l.npy",
        "--description",
        tmp_path / "o",
        "--json",
    )
    assert np.load(tmp_path / "l.npy").tolist() == json.loads((tmp_path / "o").read_text())["labels"]
    assert "both use" in run("docs", SENTENCES, "-k", "3", "--labels", "-", "--json").stderr


def test_labels_and_output(tmp_path: Path) -> None:
    labels, output = tmp_path / "labels.tsv", tmp_path / "out.json"
    out = succeed("docs", SENTENCES, "-k", "3", "--labels", labels, "--description", output, "--json")
    assert out == ""
    result = json.loads(output.read_text())
    lines = [line.split("\t") for line in labels.read_text().splitlines()]
    assert [name for name, _ in lines] == result["names"]
    assert [int(label) for _, label in lines] == result["labels"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.tsv", "out.json"]
    assert succeed("docs", SENTENCES, "-k", "3", "--labels", "-") == labels.read_text()


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "labels.tsv"
    target.write_text("precious")
    for option in ("--labels", "--description"):
        result = run("docs", SENTENCES, "-k", "3", option, target)
        assert result.exit_code == 2
        assert "labels.tsv exists" in result.stderr
        assert "--force" in result.stderr
        assert target.read_text() == "precious"
    target.chmod(0o600)
    succeed(
        "docs", SENTENCES, "-k", "3", "--labels", target, "--force", "--description", tmp_path / "out"
    )
    assert len(target.read_text().splitlines()) == 30
    assert target.stat().st_mode & 0o777 == 0o600


def test_invalid_output_files(tmp_path: Path) -> None:
    for arguments in (
        ["--labels", str(tmp_path)],
        ["--labels", str(tmp_path / "missing" / "labels")],
        ["--labels", str(tmp_path / "a"), "--description", str(tmp_path / "a")],
    ):
        result = run("docs", SENTENCES, "-k", "3", *arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("boostkmeans: ")
    assert list(tmp_path.iterdir()) == []


def test_input_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("red rose\nblue sea\n")
    result = run("docs", path, "-k", "2", "--labels", tmp_path / "." / "a.txt", "--force")
    assert result.exit_code == 2
    assert path.read_text() == "red rose\nblue sea\n"


def test_unreadable_documents_are_skipped(tmp_path: Path) -> None:
    for i, text in enumerate(("red rose", "a red rose", "the blue sea")):
        (tmp_path / f"{i}.txt").write_text(text)
    (tmp_path / "binary").write_bytes(b"\x00\x01")
    (tmp_path / "latin\x1b.txt").write_bytes(b"caf\xe9")
    result = run("docs", tmp_path, "-k", "2", "--json")
    assert result.exit_code == 0
    values = json.loads(result.stdout)
    assert values["names"] == ["0.txt", "1.txt", "2.txt"]
    assert [one["name"] for one in values["skipped"]] == ["binary", "latin\x1b.txt"]
    assert "2 of 5 documents are skipped" in result.stderr
    assert "latin\\x1b.txt: not utf-8: 0xe9 at byte 3" in result.stderr
    assert "\x1b" not in result.stderr


def test_bad_data_exits_with_code_3(tmp_path: Path) -> None:
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
        (empty, "The folder has no files"),
        (cluto, "a.mat: line 1"),
        (binary, "b.txt: The file is binary, not text"),
        (table, "'id', 'title', 'body'"),
        (punctuation, "no words of two or more letters"),
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
        (["docs", SENTENCES, "-k", "31"], "-k 31 is more than the 30 documents"),
        (["docs", SENTENCES, "-k", "3", "--method", "best"], "--method"),
        (["docs", SENTENCES, "-k", "3", "--ngrams", "one"], "--ngrams"),
        (["docs", SENTENCES, "-k", "3", "--ngrams", "2-1"], "--ngrams"),
        (["docs", SENTENCES, "-k", "3", "--min-df", "few"], "--min-df"),
        (["docs", SENTENCES, "-k", "3", "--min-df", "31"], "--min-df"),
        (["docs", SENTENCES, "-k", "3", "--stop-words", "no-such-file"], "no-such-file"),
        (["docs", SENTENCES, "-k", "3", "--encoding", "utf-9"], "utf-9"),
        (["docs", SENTENCES, "-k", "3", "--text-column", "text"], "Columns can only be named"),
        (["docs", SENTENCES, "-k", "3", "--format", "docx"], "--format"),
        (
            ["docs", SENTENCES, "-k", "3", "--quality", "best"],
            "--quality has no effect with the method 'bisecting'",
        ),
        (["docs", SENTENCES, "-k", "3", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_usage_exits_with_code_2(arguments: list[str], what: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert what in result.stderr
    assert "Traceback" not in result.stderr


def test_stop_words_in_another_encoding(tmp_path: Path) -> None:
    words = tmp_path / "stop.txt"
    words.write_bytes("the\ncaf\xe9\n".encode("latin-1"))
    result = run("docs", SENTENCES, "-k", "3", "--stop-words", words)
    assert (result.exit_code, result.stdout) == (3, "")
    assert (
        f"{words}: Expected stop words in UTF-8, but byte 7 is not valid. Convert the file"
        in result.stderr
    )
    words.write_bytes("\ufeffthe\n".encode())
    assert _read_stop_words(str(words)) == ["the"], "the byte order mark is ignored"


def test_stop_words_from_a_pipe_are_refused(tmp_path: Path) -> None:
    """A pipe without a writer would block for ever."""
    os.mkfifo(tmp_path / "pipe")
    for command in ("docs", "compare-docs"):
        message = fail(2, command, SENTENCES, "-k", "3", "--stop-words", tmp_path / "pipe")
        assert (
            "--stop-words must be a file: only vectors and documents can be read from a pipe" in message
        )


def test_long_files_of_stop_words_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_options, "MAX_STOP_WORD_BYTES", 10)
    words = tmp_path / "stop.txt"
    words.write_text("one two 10")
    assert _read_stop_words(str(words)) == ["one", "two", "10"]
    words.write_text("one two ten")
    message = fail(3, "docs", SENTENCES, "-k", "3", "--stop-words", words)
    assert f"{words}: The file of stop words has more than 10 bytes" in message


def test_failures_exit_with_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, what in (
        (PermissionError(13, "Permission denied", "x.txt"), "x.txt: Permission denied"),
        (MemoryError("4 TB"), "not enough memory. 4 TB"),
        (ImportError("no module"), "no module"),
        (
            ZeroDivisionError("division by zero"),
            "unexpected ZeroDivisionError: division by zero",
        ),
    ):

        def failing(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("boostkmeans.cli.corpus_options.read_corpus", failing)
        result = run("docs", SENTENCES, "-k", "3")
        assert result.exit_code == 1
        assert what in result.stderr
        assert "Traceback" not in result.stderr
        result = run("docs", SENTENCES, "-k", "3", "--debug")
        assert result.exit_code == 1
        assert "Traceback" in result.stderr


def test_verbose_prints_progress() -> None:
    result = run("docs", SENTENCES, "-k", "3", "--verbose")
    assert f"boostkmeans: {SENTENCES}: 30 documents" in result.stderr
    assert "cluster 0" in result.stdout
    assert logging.getLogger("boostkmeans").handlers == [], "no handler is left"
    assert run("docs", SENTENCES, "-k", "3").stderr == ""


def test_version() -> None:
    assert succeed("--version") == f"boostkmeans {boostkmeans.__version__}\n"


def test_matrix(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save_npz(path, csr_array(np.kron(np.eye(2), np.ones((5, 4)))))
    out = succeed("docs", path, "-k", "2")
    assert "column 1" in out
    assert "row 1" in out


def test_real_collection() -> None:
    path = SHARED / "cluto" / "re0.npz"
    if not path.exists():
        pytest.skip("re0.npz is not here")
    result = json.loads(succeed("docs", path, "-k", "13", "--json"))
    assert 0.2 < result["scores"]["entropy"] < 0.5
    assert result["scores"]["purity"] > 0.5


def test_device_is_written_to_and_not_replaced() -> None:
    out = succeed("docs", SENTENCES, "-k", "3", "--labels", os.devnull, "--force")
    assert "cluster 0" in out
    assert Path(os.devnull).is_char_device()


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line() -> None:
    result = run("docs", "-", "-k", "3", stdin=b"red rose\nred rose\nblue sea\n")
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "boostkmeans: warning: Number of distinct clusters (2) found smaller than -k (3)"
    )
    assert len(result.stderr.splitlines()) == 1


def test_bar_on_a_terminal() -> None:
    code, out, terminal = run_on_terminal("docs", SENTENCES, "-k", "3", "--method", "k-way")
    assert code == 0
    assert "\x1b" in terminal
    assert "0:00:0" in terminal
    assert "describing clusters" in terminal
    assert "\x1b" not in out
    assert "cluster 2" in out


def test_closed_pipe_does_not_affect_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.cli.stdout.print_part", lambda _: False)
    labels = tmp_path / "labels.tsv"
    assert succeed("docs", SENTENCES, "-k", "3", "--labels", labels) == ""
    assert len(labels.read_text().splitlines()) == 30


def test_interrupt_while_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("boostkmeans.cli.corpus_options.read_corpus", interrupted)
    assert fail(130, "docs", SENTENCES, "-k", "3") == "boostkmeans: interrupted\n"


@pytest.mark.process
@pytest.mark.slow
def test_message_without_the_cli_extra() -> None:
    for missing in ("typer", "rich"):
        result = run_python(
            f"import sys; sys.modules['{missing}'] = None; sys.argv = ['boostkmeans', 'docs', '-']\n"
            "from boostkmeans.cli import main\nmain()",
            fresh=True,
        )
        assert result.returncode == 1
        assert result.stderr.strip().endswith(install_hint("cli"))
        assert len(result.stderr.splitlines()) == 1
