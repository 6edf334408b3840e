"""How the package is described and installed: version, extras, groups, and messages about both."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import boostkmeans
from install_group import requirements
from try_oldest import oldest_requirements
from try_wheels import EXIT_TEST, RUNS

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_versions_are_equal_everywhere() -> None:
    """The version is that of the newest section of the changelog."""
    source = PYPROJECT["tool"]["scikit-build"]["metadata"]["version"]
    found = re.search(source["regex"], (ROOT / source["input"]).read_text())
    assert found is not None
    assert found["value"] == boostkmeans.__version__
    newest = re.search(r"^## (\S+) - ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert newest is not None
    assert newest[1] == boostkmeans.__version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == boostkmeans.__version__
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == boostkmeans.__version__


def test_recipe_has_the_dependencies_of_the_package() -> None:
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    run = {one.replace(" ", "") for one in recipe["requirements"]["run"]} - {"python"}
    assert run == set(PYPROJECT["project"]["dependencies"])
    assert set(PYPROJECT["build-system"]["requires"]) <= {
        one.replace(" ", "") for one in recipe["requirements"]["host"]
    }


def test_wheels_are_tried_with_the_exit_of_a_daemon_thread() -> None:
    """The test is slow, so that a selection of fast tests would leave it out."""
    file, name = EXIT_TEST.split("::")
    assert f"def {name}(" in (ROOT / file).read_text()
    assert (EXIT_TEST,) in RUNS
    options = PYPROJECT["tool"]["cibuildwheel"]
    for command in (options["test-command"], options["windows"]["test-command"]):
        assert command.endswith(f"&& python -m pytest -q {EXIT_TEST}")


def test_recipe_compiles_with_clang_cl_on_windows() -> None:
    """CMake's default generator on Windows ignores CXX and takes Microsoft's compiler."""
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    assert {"if": "win", "then": "clang-cl_win-64", "else": '${{ compiler("cxx") }}'} in (
        recipe["requirements"]["build"]
    )
    assert recipe["build"]["script"]["env"] == {"CMAKE_GENERATOR": "Ninja"}
    assert "ninja" in recipe["requirements"]["build"]


def test_recipe_skips_the_pythons_that_the_package_refuses() -> None:
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    oldest = PYPROJECT["project"]["requires-python"].removeprefix(">=")
    assert recipe["build"]["skip"] == [f'match(python, "<{oldest}")']


def test_extra_all_has_every_extra() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = re.fullmatch(r"boostkmeans\[(.*)\]", everything)
    assert named is not None
    assert named[1].split(",") == [name for name in extras if name != "all"]


def test_extra_onnx_runs_models() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    assert "onnxruntime" in {re.split(r"[\[>=]", one)[0] for one in extras["onnx"]}
    assert set(extras["images-onnx"]) <= set(extras["onnx"]), "its earlier name"


def test_every_lower_bound_is_tested() -> None:
    """`make test-oldest` installs the lower bound of each dependency, and of each extra."""
    project = PYPROJECT["project"]
    extras = [
        one for name, of in project["optional-dependencies"].items() if name != "all" for one in of
    ]
    assert set(oldest_requirements()) == {
        one.replace(">=", "==") + ".*" for one in [*project["dependencies"], *extras]
    }


def test_groups_include_each_other() -> None:
    groups = PYPROJECT["dependency-groups"]
    assert set(requirements(groups, "test")) >= {*groups["lint"], *groups["test-core"]}
    assert all(isinstance(one, str) for one in requirements(groups, "dev"))
    with pytest.raises(SystemExit, match="no dependency group 'missing'"):
        list(requirements(groups, "missing"))


def test_lower_bounds_of_groups_are_those_of_extras() -> None:
    """The tests must not need a later version of a package than its users."""
    bounds = [
        PYPROJECT["project"]["dependencies"],
        *PYPROJECT["project"]["optional-dependencies"].values(),
    ]
    stated = {one for extra in bounds for one in extra if not one.startswith("boostkmeans[")}
    names = {re.split(r"[\[>=]", one)[0] for one in stated}
    used = requirements(PYPROJECT["dependency-groups"], "test")
    assert {one for one in used if re.split(r"[\[>=]", one)[0] in names} <= stated


def test_nothing_is_installed_from_an_index() -> None:
    """There are no published wheels yet. One constant states how to install an extra."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("This is not a clone: there is no list of the files of the project.")
    wrong = re.compile(r"""pip install (-\S+ )*['"]?boostkmeans""")
    allowed = {"src/boostkmeans/_runtime/installation.py", "CONTRIBUTING.md"}
    found = [
        name
        for name in listed.stdout.decode().split("\0")
        if Path(name).suffix in {".py", ".md", ".html", ".js", ".toml", ".yaml", ".yml", ".cpp", ".sh"}
        and name not in allowed
        and wrong.search((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert found == []
