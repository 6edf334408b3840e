"""Workflow files are valid, and agree with the tools and pages of the project."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Pages and files that name the oldest supported Clang.
NAMES_CLANG = (
    "CMakeLists.txt", "CONTRIBUTING.md", "README.md", "docs/first_contribution.md", "docs/index.md",
    "docs/installation.md",
)  # fmt: skip
OLDEST_CLANG = "16"


def jobs_of(name: str) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())["jobs"]
    return jobs


def commands(job: dict[str, Any]) -> str:
    """Return all commands of a job."""
    return "\n".join(step.get("run", "") for step in job["steps"])


@pytest.mark.skipif(not WORKFLOWS, reason="the source distribution has no workflows")
class TestWorkflows:
    def test_targets_exist(self) -> None:
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        for path in WORKFLOWS:
            for name in re.findall(r"run: make ([a-z-]+)$", path.read_text(), re.MULTILINE):
                assert name in targets, path.name

    def test_arm_runs_on_the_debian_whose_packages_it_unpacks(self) -> None:
        assert "libpython3.11-stdlib" in (ROOT / "tools" / "try_arm.sh").read_text()  # Debian 12
        users = [one for one in jobs_of("sanitizers.yml").values() if "make test-arm" in commands(one)]
        assert [one["container"] for one in users] == ["debian:12"]

    def test_free_threaded_python_is_tested_where_rust_is_available(self) -> None:
        """Pip compiles safetensors for it. The containers of Linux wheels have no Rust."""
        options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
        assert fnmatch("cp314t-manylinux_x86_64", options["test-skip"])
        assert not fnmatch("cp314-manylinux_x86_64", options["test-skip"])
        assert "rustup" in commands(jobs_of("tests.yml")["platforms"])

    def test_documentation_is_checked_and_keeps_older_versions(self) -> None:
        jobs = jobs_of("docs.yml")
        assert "make linkcheck" in commands(jobs["build"])
        assert "tools/publish_docs.py build/site" in commands(jobs["publish"])
        assert jobs["publish"]["steps"][-2]["with"]["path"] == "build/site"

    def test_release_notes_are_those_of_the_changelog(self) -> None:
        text = commands(jobs_of("release.yml")["publish"])
        assert "tools/release_notes.py" in text
        assert "--notes-file notes.md" in text


@pytest.mark.parametrize("name", NAMES_CLANG)
def test_oldest_clang(name: str) -> None:
    found = re.findall(r"(?<!Apple)Clang \(?(\d+)", (ROOT / name).read_text())
    assert set(found) == {OLDEST_CLANG}
