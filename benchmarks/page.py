"""What the sections of docs/benchmarks.md are made of."""

from pathlib import Path

from environment import Json

DOCS = Path(__file__).parents[1] / "docs"
IMAGES = DOCS / "images"


def where(result: Json) -> str:
    """A line on data and machine."""
    env = result["environment"]
    versions = ", ".join(f"{name} {number}" for name, number in env["packages"].items())
    data = f"Data: {result['data']}. " if "data" in result else ""
    return (
        f"{data}{env['processor']}, {env['instruction_set']}, {env['n_threads']} threads; {versions}.\n"
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    """In Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
