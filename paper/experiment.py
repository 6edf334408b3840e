"""Running the paper's experiments, storing their results, and writing their pages.

An experiment is a module with

- `NAME` and `TITLE`;
- `plan(full)`: the settings of each run, as a list of dictionaries, at the small or at the paper's size;
- `measure(run)`: the figures of one run, as a dictionary;
- `page(result)`: the page as Markdown, written from the result file alone;
- optionally `draw(result)`: the pictures of the page, saved in `IMAGES`.

`results/NAME.json` stores the runs at the small size, `results/full/NAME.json` those at the paper's
size. Runs that are stored are not measured again, so an interrupted experiment continues where it
stopped.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Protocol

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "benchmarks"))  # Experiments share modules with the benchmarks.

from environment import N_THREADS, Json, commit, environment
from page import machine, table
from result_files import read_result, write_json

__all__ = ["IMAGES", "N_THREADS", "Experiment", "Json", "load_result", "main", "table"]

RESULTS = HERE / "results"
PAGES = HERE.parent / "docs" / "paper"
IMAGES = HERE.parent / "docs" / "images"


class Experiment(Protocol):
    """One table or figure of the paper."""

    NAME: str
    TITLE: str

    def plan(self, full: bool) -> list[Json]:
        """Return the settings of all runs."""

    def measure(self, run: Json) -> Json:
        """Return the figures of one run."""

    def page(self, result: Json) -> str:
        """Return the page as Markdown, without its title."""


def path_of(name: str, full: bool) -> Path:
    """Return the path of a result file."""
    return RESULTS / ("full" if full else "") / f"{name}.json"


def load_result(name: str) -> Json | None:
    """Return the result at the paper's size if it is complete, else the result at the small size.

    If neither is complete, return the first that exists, or None.
    """
    paths = [path_of(name, full) for full in (True, False)]
    found = [read_result(path) for path in paths if path.exists()]
    return next((one for one in found if one.get("complete")), found[0] if found else None)


def stored_runs(name: str, full: bool) -> list[Json]:
    """Return the runs of a result file, or an empty list without the file."""
    path = path_of(name, full)
    return list(read_result(path)["runs"]) if path.exists() else []


def run_experiment(experiment: Experiment, full: bool, remeasure: bool) -> None:
    """Measure the runs of the plan that are not stored, or all of them if `remeasure`.

    Results of other versions or processors are moved to a `.before` file.
    """
    path, plan = path_of(experiment.NAME, full), experiment.plan(full)
    now = environment()
    result: Json = {"name": experiment.NAME, "size": "full" if full else "small", "environment": now,
                    "runs": []}  # fmt: skip
    if path.exists() and not remeasure:
        before = read_result(path)
        if {**before["environment"], "commit": ""} == {**now, "commit": ""}:
            result["runs"] = [run for run in before["runs"] if run["run"] in plan]
        else:
            path.replace(path.with_suffix(".before"))
    done = [run["run"] for run in result["runs"]]
    for number, run in enumerate(plan):
        if run in done:
            continue
        print(f"{experiment.NAME} {number + 1}/{len(plan)}: {one_line(run)}", end=" ", flush=True)
        began = time.perf_counter()
        figures = experiment.measure(run)
        print(f"-> {one_line(figures)} ({time.perf_counter() - began:.1f} s)", flush=True)
        result["runs"].append({"run": run, **figures, "commit": commit()})
        result["complete"] = len(result["runs"]) == len(plan)
        write_json(path, result)


def one_line(values: Json) -> str:
    """Return the values as "name=value" on one line, without lists and dictionaries."""
    parts = [
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in values.items()
        if not isinstance(value, list | dict)
    ]
    return ", ".join(parts)


def write_page(experiment: Experiment) -> None:
    """Write `docs/paper/NAME.md` and its pictures, if there are results."""
    result = load_result(experiment.NAME)
    if result is None:
        return
    PAGES.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    draw: Any = getattr(experiment, "draw", None)
    if draw is not None:
        draw(result)
    (PAGES / f"{experiment.NAME}.md").write_text(page_text(experiment, result))


def page_text(experiment: Experiment, result: Json) -> str:
    """Return the whole page of an experiment: title, origin of the figures, and content."""
    env, full = result["environment"], result["size"] == "full"
    packages = ", ".join(
        f"{name} {number}" for name, number in env["packages"].items() if number != "not installed"
    )
    size = "the paper's size" if full else "the small size (`make paper`)"
    script = Path(str(experiment.__file__)).name  # type: ignore[attr-defined]
    return (
        f"# {experiment.TITLE}\n\nMeasured at {size} by `paper/{script}`. Results: "
        f"`{path_of(experiment.NAME, full).relative_to(HERE.parent)}`. Machine: {machine(result)}. "
        f"Versions: Python {env['python']}, {packages}; commit {env['commit'] or 'unknown'}. The names "
        "of the methods are explained in [The paper's claims](../paper.md).\n\n"
        f"{experiment.page(result).rstrip()}\n"
    )


def main(*experiments: Experiment) -> None:
    """Run the command line of one experiment, or of all of them."""
    parser = argparse.ArgumentParser(
        description="Measure the paper's experiments, and write their pages."
    )
    names = ", ".join(one.NAME for one in experiments)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"experiments (default: all): {names}")
    parser.add_argument("--full", action="store_true",
                        help="measure at the paper's size, which takes many hours")  # fmt: skip
    parser.add_argument("--report-only", action="store_true",
                        help="write the pages from existing results, without measuring")  # fmt: skip
    parser.add_argument("--remeasure", action="store_true",
                        help="measure again what is stored already")  # fmt: skip
    given = parser.parse_args()
    unknown = sorted(set(given.names) - {one.NAME for one in experiments})
    if unknown:
        parser.error(f"unknown experiment: {', '.join(unknown)}")
    for one in experiments:
        if not given.names or one.NAME in given.names:
            if not given.report_only:
                run_experiment(one, given.full, given.remeasure)
            write_page(one)
