"""The layers of the package: import contracts, cycles, and the diagram in CONTRIBUTING.md."""

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

import draw_layers
from conftest import run_python

ROOT = Path(__file__).parents[2]
# The largest folder that a reader can still survey.
MAX_FILES = 18


@pytest.mark.process  # import-linter configures the logging of its process
def test_import_contracts_are_kept() -> None:
    settings = {"config_filename": str(ROOT / "pyproject.toml"), "no_cache": True, "no_logo": True}
    result = run_python(
        f"import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(**{settings}))",
        fresh=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_modules_import_each_other_without_cycles() -> None:
    """Function-level and type-checking imports count, and so does the package itself."""
    graph = grimp.build_graph("boostkmeans", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' imported by '.join(error.args[1])}")


def test_no_folder_is_too_large() -> None:
    for folder in (ROOT / "src").rglob("*/"):
        files = [file for file in folder.iterdir() if file.suffix in (".py", ".cpp", ".hpp")]
        files = [file for file in files if file.name != "__init__.py"]
        assert len(files) <= MAX_FILES, f"{folder} has {len(files)} files"


def test_diagram_is_up_to_date() -> None:
    page = draw_layers.PAGE.read_text()
    assert draw_layers.with_diagram(page, draw_layers.diagram()) == page, "run `make layers`"


def test_diagram_leaves_out_implied_imports() -> None:
    graph = {"cli": {"steps", "core"}, "steps": {"core"}, "core": set()}
    assert draw_layers.without_implied(graph) == {"cli": {"steps"}, "steps": {"core"}, "core": set()}
