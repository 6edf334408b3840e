"""Help texts, completion, and the examples of the help texts and of the documentation."""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import onnx
import pyarrow
import pyarrow.parquet
import pytest
from PIL import Image
from typer.testing import CliRunner

from boostkmeans import BoostKMeans, ProductQuantizer, SweepRecord
from boostkmeans.baselines import _demo_page
from boostkmeans.cli import app as app_module
from boostkmeans.cli.app import app
from boostkmeans.cli.commands import demo, pq
from boostkmeans.documents import cluster_documents
from boostkmeans.images import VLADPipeline
from boostkmeans.io import write_vectors
from command import ROOT, examples_of, run, run_example, start, succeed
from conftest import run_python
from processes import PATIENCE

PAGE = ROOT / "docs" / "command_line.md"
COMMANDS = [
    "fit",
    "predict",
    "update",
    "info",
    "evaluate",
    "explore",
    "scan",
    "dedup",
    "sample",
    "compare",
    "convert",
    "pq",
    "docs",
    "predict-docs",
    "compare-docs",
    "images",
    "demo",
]
EVERY = [*([name] for name in COMMANDS), *(["pq", name] for name in pq.COMMANDS)]
N_ROWS = 1_200
# Numbers in the examples that are too large for the small files here, and their replacements.
SMALLER = {"10000": "40", "1000": "30", "256": "20", "100": "10", "16": "4"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the examples read."""
    folder = tmp_path_factory.mktemp("examples")
    X = np.random.default_rng(0).integers(0, 256, size=(N_ROWS, 16)).astype(np.float32)
    for name in ("vectors.fvecs", "vectors.npy", "new.fvecs", "queries.fvecs"):
        write_vectors(folder / name, X)
    write_vectors(folder / "huge.bvecs", X.astype(np.uint8))
    table = pyarrow.table({"id": range(N_ROWS), "embedding": list(X)})
    pyarrow.parquet.write_table(table, folder / "table.parquet")
    for i in range(3):
        pyarrow.parquet.write_table(table.slice(400 * i, 400), folder / f"emb-{i:03}.parquet")
    with h5py.File(folder / "sift.hdf5", "w") as file:
        file["train"], file["test"] = np.tile(X, (100, 1)), X
    lines = "".join(",".join(map(str, row)) + "\n" for row in X.tolist())
    (folder / "points.csv").write_text(lines)
    for name in ("new.csv", "queries.csv"):
        (folder / name).write_text(lines)
    (folder / "points.csv.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "weights.csv").write_text("1\n" * N_ROWS)
    (folder / "classes.txt").write_text("tea\nrum\n" * (N_ROWS // 2))
    (folder / "texts.txt").write_text("green tea\ndark rum\n" * (N_ROWS // 2))
    np.save(folder / "centers.npy", X[:5])
    np.save(folder / "a.npy", X)
    np.save(folder / "b.npy", X)
    write_vectors(folder / "huge.fvecs", X)
    names = ",".join(["id", *(f"x{i}" for i in range(16))])
    rows = "".join(
        f"row {i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(X[:200].tolist())
    )
    (folder / "table.csv").write_text(f"{names}\n{rows}")
    _add_models(folder, X)
    _add_documents(folder)
    _add_images(folder)
    return folder


def _add_images(folder: Path) -> None:
    """Add folders of images, a table of features, a saved pipeline, and a network."""
    rng = np.random.default_rng(0)
    for name, n in (("photos", 24), ("new", 6)):
        (folder / name).mkdir()
        for number in range(n):
            squares = rng.integers(0, 256, size=(12, 12, 3), dtype=np.uint8).repeat(8, 0).repeat(8, 1)
            Image.fromarray(squares).save(folder / name / f"{number}.png")
    names = [f"{number}.png" for number in range(24)]
    table = pyarrow.table({"path": names, "embedding": list(rng.normal(size=(24, 8)))})
    pyarrow.parquet.write_table(table, folder / "clip.parquet")
    VLADPipeline(8, random_state=0).fit(folder / "photos").save(folder / "vlad.st")
    image = onnx.helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, ["n", 3, 8, 8])
    vector = onnx.helper.make_tensor_value_info("vector", onnx.TensorProto.FLOAT, ["n", 192])
    node = onnx.helper.make_node("Flatten", ["image"], ["vector"])
    graph = onnx.helper.make_graph([node], "flatten", [image], [vector])
    opset = onnx.helper.make_opsetid("", 13)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    onnx.save(model, folder / "resnet50.onnx")


def _add_models(folder: Path, X: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> None:
    model = BoostKMeans(9, random_state=0).fit(X)
    for name in ("model.safetensors", "model.st", "m.st"):
        model.save(folder / name)
    for name, rows in (("old.npy", X), ("new.npy", X[:300] + 1), ("gone.npy", X[:9])):
        np.save(folder / name, rows)
    for name, first in (("old.parquet", 0), ("new.parquet", N_ROWS)):
        table = pyarrow.table({"id": range(first, first + N_ROWS), "embedding": list(X)})
        pyarrow.parquet.write_table(table, folder / name)
    (folder / "gone.txt").write_text("0\n7\n")
    quantizer = ProductQuantizer(4, 20, random_state=0).fit(X)
    quantizer.save(folder / "quantizer.st")
    np.save(folder / "codes.npy", quantizer.encode(X))
    write_vectors(folder / "truth.ivecs", np.arange(N_ROWS)[:, None])
    seen: list[SweepRecord] = []

    def second(record: SweepRecord) -> bool:
        seen.append(record)
        return len(seen) > 1

    BoostKMeans(9, random_state=0, tol=0, checkpoint=folder / "fit.ckpt", callback=second).fit(X)


def _add_documents(folder: Path) -> None:
    (folder / "examples").symlink_to(ROOT / "examples")
    sentences = (ROOT / "examples" / "sentences.txt").read_text().splitlines()
    (folder / "articles").mkdir()
    for i, sentence in enumerate(sentences):
        (folder / "articles" / f"{i}.txt").write_text(sentence)
    topics = (ROOT / "examples" / "sentence_topics.txt").read_text().splitlines()
    table = [f'"{text}",{topic}' for text, topic in zip(sentences, topics, strict=True)]
    (folder / "topics.txt").write_text("\n".join(topics))
    (folder / "news.csv").write_text("\n".join(["text,topic", *table]))
    for topic, sentence in zip(topics, sentences, strict=True):
        (folder / "corpus" / topic).mkdir(parents=True, exist_ok=True)
        (folder / "corpus" / topic / f"{sentence[:20]}.txt").write_text(sentence)
    (folder / "tickets.csv").write_text("\n".join(["id,body", *(f'1,"{one}"' for one in sentences)]))
    for name, line in (("more.txt", "{}"), ("more.csv", '2,"{}"')):
        lines = [line.format(one) for one in sentences[:9]]
        header = ["id,body"] if name.endswith(".csv") else []
        (folder / name).write_text("\n".join([*header, *lines]))
    cluster_documents(sentences, 3, random_state=0).save(folder / "topics.st")
    (folder / "posts.txt.gz").write_bytes(gzip.compress("\n".join(sentences).encode()))
    counts = np.random.default_rng(0).integers(0, 3, size=(30, 12))
    rows = [" ".join(f"{j + 1} {c}" for j, c in enumerate(row) if c) for row in counts]
    (folder / "sports.mat.rclass").write_text("\n".join(topics))
    (folder / "sports.mat").write_text(f"30 12 {np.count_nonzero(counts)}\n" + "\n".join(rows) + "\n")


# Parts of examples that take more than two seconds.
SLOW = ("--engine", "compare-docs", "explore ", "--page", "boostkmeans demo", "boostkmeans scan")


def every_example() -> list[Any]:
    """Return the examples of the help texts and of the documentation page."""
    found = [line for words in EVERY for line in examples_of(run(*words, "--help").stdout)]
    found += examples_of(run("--help").stdout)
    blocks = PAGE.read_text().split("```")[1::2]
    found += [line for block in blocks if block.startswith("sh\n") for line in examples_of(block)]
    found = [line for line in found if "--address" not in line]  # There is no cluster.
    slow = [pytest.mark.slow]
    return [
        pytest.param(line, marks=slow if any(part in line for part in SLOW) else [])
        for line in dict.fromkeys(found)
    ]


@pytest.mark.parametrize("line", every_example())
def test_example_runs(line: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(folder, tmp_path / "here", symlinks=True, copy_function=os.link)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(demo, "SAMPLE", tmp_path / "none.npz")
    monkeypatch.setattr(_demo_page, "N_ROWS", 600)
    monkeypatch.setattr(_demo_page, "N_CLUSTERS", 20)
    if "fit.ckpt" in line and "info" not in line:
        Path("fit.ckpt").unlink()  # it belongs to another fit
    result = run_example(" ".join(SMALLER.get(word, word) for word in line.split(" ")))
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output


def test_page_has_examples_of_every_command() -> None:
    text = PAGE.read_text()
    assert list(app_module.COMMANDS) == COMMANDS
    for name in COMMANDS:
        assert f"| `{name}" in text
        if not name.endswith("docs"):  # documented on a page of their own
            assert f"\nboostkmeans {name}" in text


@pytest.mark.parametrize("command", [[], *EVERY])
def test_help_begins_with_examples(command: list[str]) -> None:
    lines = [line.strip() for line in succeed(*command, "--help").splitlines() if line.strip()]
    assert lines[0].startswith("Usage:")
    assert lines[1] == "Examples:"
    assert lines[2].startswith(" ".join(["boostkmeans", *(command or ["fit"])]))
    assert all(len(line) < 80 for line in examples_of("\n".join(lines)))
    options = [line for line in lines if line.startswith("-")]
    assert not any(noise in line for line in options for noise in ("<int>", "<float>", "<str>"))


def test_root_help_lists_commands() -> None:
    lines = succeed("--help").split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in lines] == COMMANDS
    assert all(len(line.split()) > 3 and "..." not in line for line in lines)


def test_completion_of_commands() -> None:
    environment = {
        "_BOOSTKMEANS_COMPLETE": "complete_bash",
        "COMP_WORDS": "boostkmeans pre",
        "COMP_CWORD": "1",
    }
    result = CliRunner().invoke(app, [], env=environment, prog_name="boostkmeans")
    assert result.stdout.split() == ["predict", "predict-docs"]


@pytest.mark.process
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_show_completion() -> None:
    # Without `true`, bash would replace itself by Python, which then finds no parent shell.
    line = f"{sys.executable} -m boostkmeans --show-completion; true"
    result = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert "complete" in result.stdout
    assert "boostkmeans" in result.stdout


@pytest.mark.process
@pytest.mark.slow
def test_demo_runs_without_the_cli_extra() -> None:
    code = (
        "import sys; sys.modules['typer'] = sys.modules['rich'] = None\n"
        "from boostkmeans.baselines import _demo_page\n"
        "_demo_page.N_ROWS, _demo_page.N_CLUSTERS = 600, 20\n"
        "data = _demo_page.demo_data(None)\n"
        "runs = _demo_page.run_demo(data)\n"
        "print(_demo_page.demo_table(runs)); print(len(_demo_page.demo_page(data, runs)))"
    )
    result = run_python(code, fresh=True)
    assert result.returncode == 0, result.stderr
    assert "boost-balanced" in result.stdout


@pytest.mark.process
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.slow
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_on_a_full_disk(option: str) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start(option, stdout=full)
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert error == b"boostkmeans: standard output: No space left on device\n"
