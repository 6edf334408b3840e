"""Install a dependency group of pyproject.toml with the pip of this interpreter.

Usage: python tools/install_group.py GROUP [ARGUMENT OF PIP ...]

pip knows dependency groups since version 25.1. This script also works with older versions, such as that
of Debian 12.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def requirements(groups: dict[str, list[Any]], name: str) -> Iterator[str]:
    """Yield the requirements of a group and of the groups that it includes."""
    if name not in groups:
        sys.exit(f"pyproject.toml has no dependency group {name!r}. There are: {', '.join(groups)}.")
    for item in groups[name]:
        if isinstance(item, str):
            yield item
        else:
            yield from requirements(groups, item["include-group"])


def main(arguments: list[str]) -> int:
    """Run pip, and return its exit code."""
    if not arguments:
        sys.exit(__doc__)
    group, *options = arguments
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *options]
    return subprocess.run([*command, *requirements(groups, group)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
