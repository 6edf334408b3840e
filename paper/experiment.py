"""What the paper's experiments share: each is a list of runs, kept as JSON, and a page drawn from it.

An experiment is a module with

- `NAME` and `TITLE`;
- `plan(full)`: what is to be run, one dictionary for each run, at the small or at the paper's size;
- `measure(run)`: one of them, as a dictionary of figures;
- `page(result)`: Markdown from what was measured; it may draw pictures into `IMAGES`.

`results/NAME.json` holds the runs at the small size, `results/full/NAME.json` those at the paper's size.
A run that is there already is not measured again, so that what was interrupted goes on.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "benchmarks"))  # for what measurements have in common

from environment import N_THREADS, Json, commit, environment

__all__ = ["IMAGES", "N_THREADS", "Experiment", "Json", "kept", "main", "table"]

RESULTS = HERE / "results"
PAGES = HERE.parent / "docs" / "paper"
IMAGES = HERE.parent / "docs" / "images"


class Experiment(Protocol):
    """One table or figure of the paper."""

    NAME: str
    TITLE: str

    def plan(self, full: bool) -> list[Json]:
        """What is to be run."""

    def measure(self, run: Json) -> Json:
        """The figures of one run."""

    def page(self, result: Json) -> str:
        """Markdown, without the title."""


def path_of(name: str, full: bool) -> Path:
    """Where results are kept."""
    return RESULTS / ("full" if full else "") / f"{name}.json"


def kept(name: str) -> Json | None:
    """What was measured: at the paper's size where all of that is there, else at the small one."""
    found: list[Json] = [
        json.loads(path_of(name, full).read_text())
        for full in (True, False)
        if path_of(name, full).exists()
    ]
    return next((one for one in found if one.get("complete")), found[0] if found else None)


def runs_so_far(name: str, full: bool) -> list[Json]:
    """What is in a result file already."""
    path = path_of(name, full)
    return list(json.loads(path.read_text())["runs"]) if path.exists() else []


def work(experiment: Experiment, full: bool, anew: bool) -> None:
    """Measures what is not there yet. Results of other versions or processors are not mixed in."""
    path, plan = path_of(experiment.NAME, full), experiment.plan(full)
    now = environment()
    result: Json = {"name": experiment.NAME, "size": "full" if full else "small", "environment": now,
                    "runs": []}  # fmt: skip
    if path.exists() and not anew:
        before = json.loads(path.read_text())
        if {**before["environment"], "commit": ""} == {**now, "commit": ""}:
            result["runs"] = [run for run in before["runs"] if settings(run) in plan]
        else:
            path.replace(path.with_suffix(".before"))  # until the new one is complete
    done = [settings(run) for run in result["runs"]]
    for number, run in enumerate(plan):
        if run in done:
            continue
        print(f"{experiment.NAME} {number + 1}/{len(plan)}: {shown(run)}", end=" ", flush=True)
        began = time.perf_counter()
        figures = experiment.measure(run)
        print(f"-> {shown(figures)} ({time.perf_counter() - began:.1f} s)", flush=True)
        result["runs"].append({"run": run, **figures, "commit": commit()})
        result["complete"] = len(result["runs"]) == len(plan)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(result, default=float) + "\n")
        part.replace(path)


def settings(run: Json) -> Json:
    """What was to be run, of one that was."""
    return dict(run["run"])


def shown(values: Json) -> str:
    """On a line; lists are left out."""
    parts = [
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in values.items()
        if not isinstance(value, list | dict)
    ]
    return ", ".join(parts)


def write_page(experiment: Experiment) -> None:
    """`docs/paper/NAME.md`, from what was measured last."""
    result = kept(experiment.NAME)
    if result is None:
        return
    env = result["environment"]
    packages = ", ".join(
        f"{name} {number}" for name, number in env["packages"].items() if number != "not installed"
    )
    size = "the paper's size" if result["size"] == "full" else "the small size (`make paper`)"
    head = (
        f"# {experiment.TITLE}\n\nMeasured at {size} by `paper/{Path(str(experiment.__file__)).name}`, "  # type: ignore[attr-defined]
        f"drawn from `{path_of(experiment.NAME, result['size'] == 'full').relative_to(HERE.parent)}`: "
        f"{env['processor']}, {env['instruction_set']}, {env['n_threads']} threads; Python "
        f"{env['python']}, {packages}; commit {env['commit'] or 'unknown'}.\n\n"
    )
    PAGES.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    (PAGES / f"{experiment.NAME}.md").write_text(head + experiment.page(result).rstrip() + "\n")


def table(header: list[str], rows: Iterable[Iterable[Any]]) -> str:
    """In Markdown."""
    lines = [header, ["---"] * len(header), *[[str(cell) for cell in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main(*experiments: Experiment) -> None:
    """The command line of an experiment, or of all of them."""
    parser = argparse.ArgumentParser(description="Experiments of the paper, measured and drawn.")
    parser.add_argument("names", nargs="*", help=", ".join(one.NAME for one in experiments))
    parser.add_argument("--full", action="store_true", help="at the paper's size: this takes many hours")
    parser.add_argument("--report", action="store_true", help="write the pages only")
    parser.add_argument("--anew", action="store_true", help="measure again what is there already")
    given = parser.parse_args()
    unknown = set(given.names) - {one.NAME for one in experiments}
    if unknown:
        parser.error(f"no such experiment: {', '.join(sorted(unknown))}")
    for one in experiments:
        if not given.names or one.NAME in given.names:
            if not given.report:
                work(one, given.full, given.anew)
            write_page(one)
