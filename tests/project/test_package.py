"""The package as a whole: public names, imports, types, versions, and the examples of the pages."""

import re
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

import boostkmeans
import update_page_outputs
from conftest import run_python
from processes import PATIENCE

ROOT = Path(__file__).parents[2]


def test_exports_only_the_public_names() -> None:
    assert sorted(boostkmeans.__all__) == [
        "BisectingBoostKMeans", "BoostKMeans", "ClusterTree", "DataFormatError", "FileDescription",
        "ParameterError", "ProductQuantizer", "QuantizerRecord", "SweepRecord", "UpdateReport",
        "baselines", "curate", "describe_file", "distributed", "documents", "explore", "images",
        "instruction_set", "instruction_sets", "interop", "io", "load_model", "metrics",
        "quantization", "select",
    ]  # fmt: skip
    assert set(dir(boostkmeans)) == {*boostkmeans.__all__, "__version__"}
    assert all(getattr(boostkmeans, name) is not None for name in boostkmeans.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = boostkmeans.nothing


@pytest.mark.process
def test_help_imports_no_slow_packages() -> None:
    result = run_python(
        """
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
""",
        fresh=True,
    )
    assert result.returncode == 0, result.stderr
    assert "fit" in result.stdout


def test_package_is_typed() -> None:
    assert (Path(boostkmeans.__file__).parent / "py.typed").exists()


@pytest.mark.process
def test_stub_matches_the_compiled_core(tmp_path: Path) -> None:
    made = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "boostkmeans._core", "-o", str(made)],
        check=True,
    )
    checked_in = ROOT / "src" / "boostkmeans" / "_core.pyi"
    assert made.read_text() == checked_in.read_text(), "run `make stub`"


def pages_with_examples() -> list[str]:
    """Return the pages that have blocks of Python code."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page.relative_to(ROOT).as_posix() for page in pages if "```python" in page.read_text()]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with_examples())
def test_examples_of_pages_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the blocks of a page in order, as a reader would."""
    if page == "docs/faiss.md" and find_spec("faiss") is None:
        pytest.skip("faiss is not installed")
    if page == "docs/photographs.md" and find_spec("cv2") is None:
        pytest.skip("OpenCV is not installed")
    engine = {"docs/dask.md": "distributed", "docs/ray.md": "ray"}.get(page)
    if engine is not None and find_spec(engine) is None:
        pytest.skip(f"{engine} is not installed")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks)
    if "max_memory" in code:  # The limit counts the memory of the whole process.
        result = run_python(code)
        assert result.returncode == 0, result.stderr
    elif engine is not None:  # Tests in this process may be connected to a cluster.
        script = tmp_path / "script.py"
        script.write_text(code)
        command = [sys.executable, str(script)]
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Examples leave files open.
            printed = update_page_outputs.run_blocks(ROOT / page)
        if page in update_page_outputs.PAGES:
            check_outputs(page, printed)


def check_outputs(page: str, printed: list[str]) -> None:
    """Check that a page shows what its blocks print, except for times."""
    expected = update_page_outputs.expected_outputs(ROOT / page)
    assert sum(one is not None for one in expected) >= 5, "the page shows its outputs"
    for stored, new in zip(expected, printed, strict=True):
        if stored is not None:
            assert update_page_outputs.masked(new) == update_page_outputs.masked(stored), (
                "run `make page-outputs`"
            )


def test_outputs_are_stored_after_their_blocks() -> None:
    page = "a\n\n```python\nprint(1)\n```\n\n```text\nold\n```\n\nb\n\n```python\nprint(2)\n```\n\nc\n"
    new = update_page_outputs.with_outputs(page, ["1 \n", "2\n"])
    assert new == page.replace("old", "1")
    assert update_page_outputs.masked("after 1.25 s, 3.5 % \n") == "after T s, 3.5 %"
