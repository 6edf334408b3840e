"""The package as such: names, types, stubs, documents."""

import re
import subprocess
import sys
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import boostkmeans
from conftest import run_python

ROOT = Path(__file__).parents[2]


def test_public_names() -> None:
    assert sorted(boostkmeans.__all__) == [
        "BisectingBoostKMeans", "BoostKMeans", "ClusterTree", "DataFormatError", "FileDescription",
        "ParameterError", "ProductQuantizer", "QuantizerRecord", "SweepRecord", "baselines",
        "describe_file", "documents", "instruction_set", "instruction_sets", "interop", "io",
        "load_model", "metrics", "quantization", "select",
    ]  # fmt: skip
    assert set(dir(boostkmeans)) == {*boostkmeans.__all__, "__version__"}
    assert all(getattr(boostkmeans, name) is not None for name in boostkmeans.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = boostkmeans.nothing


def test_nothing_slow_is_imported_before_it_is_wanted() -> None:
    result = run_python("""
import sys
import boostkmeans
from boostkmeans.cli import main
sys.argv = ["boostkmeans", "--help"]
try:
    main()
except SystemExit as end:
    assert end.code == 0
slow = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "faiss"} & set(sys.modules)
assert not slow, slow
""")
    assert result.returncode == 0, result.stderr
    assert "fit" in result.stdout


def test_the_package_is_typed() -> None:
    assert (Path(boostkmeans.__file__).parent / "py.typed").exists()


def test_the_stub_is_what_the_core_says(tmp_path: Path) -> None:
    made = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "boostkmeans._core", "-o", str(made)],
        check=True,
    )
    checked_in = ROOT / "src" / "boostkmeans" / "_core.pyi"
    assert made.read_text() == checked_in.read_text(), "run `make stub`"


@pytest.mark.parametrize(
    "check", [["ruff", "check", "-q"], ["ruff", "format", "--check", "-q"], ["mypy"]]
)
def test_style_and_types(check: list[str]) -> None:
    command = [sys.executable, "-m", *check, *([] if check == ["mypy"] else [str(ROOT)])]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_versions_agree() -> None:
    assert boostkmeans.__version__ == version("boostkmeans")
    assert f"## {boostkmeans.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == boostkmeans.__version__


PAGES = (
    "large_k", "better_optima", "documents", "files", "long_fits", "models", "product_quantization",
    "faiss", "index", "tutorial", "embeddings", "choosing_k", "larger_than_memory", "mathematics",
    "when_it_wins",
)  # fmt: skip


@pytest.mark.parametrize(
    "page",
    ["README.md", *(f"docs/{name}.md" for name in PAGES)],
)
def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a reader would: one after the other."""
    if page == "docs/faiss.md" and find_spec("faiss") is None:
        pytest.skip("faiss is not there for every platform")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks)
    if "max_memory" in code:  # which counts all of a process
        result = run_python(code)
        assert result.returncode == 0, result.stderr
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of files that a reader would not close
            exec(compile(code, page, "exec"), {"__name__": "__main__"})


def test_docstring_examples_run() -> None:
    import doctest

    from boostkmeans import (
        _bisecting,
        _boost_kmeans,
        _model_file,
        _product_quantizer,
        _tree,
        baselines,
        documents,
        io,
        metrics,
    )
    from boostkmeans.baselines import _bisecting as _lloyd_tree
    from boostkmeans.baselines import _kmeans, _mini_batch, _online, _rbk
    from boostkmeans.documents import _clusters, _corpus, _reading, _weighting
    from boostkmeans.io import _opening, _sizes

    ours = (
        boostkmeans, _boost_kmeans, _bisecting, _tree, _model_file, _product_quantizer, metrics,
    )  # fmt: skip
    of_baselines = (baselines, _kmeans, _mini_batch, _lloyd_tree, _online, _rbk)
    of_documents = (documents, _clusters, _corpus, _reading, _weighting)
    of_io = (io, _opening, _sizes)
    for module in (*ours, *of_baselines, *of_documents, *of_io):
        failed, tried = doctest.testmod(module)
        assert (failed, tried > 0) == (0, True)
