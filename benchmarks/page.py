"""Parts of generated pages: tables, and a line about data and machine."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from environment import Json

DOCS = Path(__file__).parents[1] / "docs"
IMAGES = DOCS / "images"


def context(result: Json) -> str:
    """Return a line about data, machine and versions."""
    data = f"Data: {result['data']}. " if "data" in result else ""
    return f"{data}{machine(result)}; {versions(result)}.\n"


def machine(result: Json) -> str:
    """Return processor, instruction set and number of threads."""
    env = result["environment"]
    return f"{env['processor']}, {env['instruction_set']}, {env['n_threads']} threads"


def versions(result: Json) -> str:
    """Return the versions of all packages."""
    return ", ".join(f"{name} {number}" for name, number in result["environment"]["packages"].items())


def table(header: list[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *[[str(cell) for cell in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
