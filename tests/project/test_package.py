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
