"""Command line of the paper's experiments: what to measure, and in which order."""

import argparse
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import experiment
import public_data
from estimates import estimate_text, seconds_text
from experiment import Experiment, Job, Json


def parser_of(experiments: Sequence[Experiment]) -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description="Measure the paper's experiments, and write their pages. Runs that are stored are "
        "not measured again, so the same command continues after an interruption."
    )
    names = ", ".join(one.NAME for one in experiments)
    parser.add_argument("names", nargs="*", metavar="NAME[/METHOD]",
                        help=f"experiments, or methods of them (default: all): {names}")  # fmt: skip
    parser.add_argument("--full", action="store_true",
                        help="measure at the paper's size, which takes many hours")  # fmt: skip
    parser.add_argument("--estimate", action="store_true",
                        help="only print what is stored, and how long the rest takes")  # fmt: skip
    parser.add_argument("--seconds", action="store_true",
                        help="measure the seconds of a few iterations of each method at the paper's "
                        "size; the machine should do nothing else")  # fmt: skip
    parser.add_argument("--for", dest="duration", type=float, metavar="S",
                        help="with --seconds: stop after about this number of seconds")  # fmt: skip
    parser.add_argument("--report-only", action="store_true",
                        help="write the pages from existing results, without measuring")  # fmt: skip
    parser.add_argument("--remeasure", nargs="*", metavar="NAME[/METHOD]",
                        help="measure again what is stored already: all of the chosen experiments, or "
                        "these experiments or methods")  # fmt: skip
    parser.add_argument("--synthetic", action="store_true",
                        help="measure synthetic rows at the paper's size if SIFT descriptors are "
                        "missing")  # fmt: skip
    return parser


@dataclass
class Choice:
    """What to measure of an experiment."""

    methods: set[str] = field(default_factory=set)
    """Names of the methods; empty for all."""
    again: bool = False
    """Whether stored runs are measured again."""

    def has(self, run: Json) -> bool:
        """Return whether a run is chosen."""
        return not self.methods or run.get("method") in self.methods


def choices(parser: argparse.ArgumentParser, given: Any, names: list[str]) -> dict[str, Choice]:
    """Return what is chosen of each experiment, by its name."""
    chosen: dict[str, Choice] = {}
    for one in [*given.names, *(given.remeasure or [])] or names:
        name, _, method = one.partition("/")
        if name not in names:
            parser.error(f"unknown experiment: {name}")
        choice = chosen.setdefault(name, Choice(again=given.remeasure is not None))
        choice.methods |= {method} if method else set()
    return chosen


def main(*experiments: Experiment) -> int:
    """Run the command line of one experiment, or of all of them. Return the exit code."""
    parser = parser_of(experiments)
    given = parser.parse_args()
    chosen = choices(parser, given, [one.NAME for one in experiments])
    some = [one for one in experiments if one.NAME in chosen]
    measures_all = given.full and not (given.estimate or given.report_only or given.synthetic)
    if measures_all and not public_data.has_sift():
        parser.error(
            "SIFT descriptors are missing, and synthetic rows would give other figures. "
            "Run `make paper-data`, set BOOSTKMEANS_SHARED, or add --synthetic."
        )
    # A process that is ended by `kill` ends its own processes, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if given.seconds and given.estimate:
            print(estimate_of_seconds(some))
        elif given.seconds:
            measure_seconds(some, given.duration)
        elif not given.report_only:
            run_chosen(some, given.full, chosen, given.estimate)
    except KeyboardInterrupt:
        print("\nInterrupted. The same command continues here.", file=sys.stderr)
        return 130
    for one in some if not given.estimate else []:
        experiment.write_page(one)
    return 0


def run_chosen(
    experiments: Sequence[Experiment], full: bool, chosen: dict[str, Choice], only_estimate: bool
) -> None:
    """Print the estimated time, and measure all chosen runs that are not stored."""
    jobs: list[Job] = []
    plans = []
    for one in experiments:
        choice = chosen[one.NAME]
        if not only_estimate:
            experiment.prepare_file(one, full)
        found = experiment.missing_jobs(one, full, choice.again)
        some = [job for job in found if choice.has(job.run)]
        plan = [run for run in one.plan(full) if choice.has(run)]
        stored = experiment.stored_runs(one.NAME, full)
        plans.append((one, plan, [job.run for job in some], stored))
        jobs += some
    print(estimate_text(plans, experiment.trace_of), flush=True)
    if not only_estimate:
        again = any(choice.again for choice in chosen.values())
        experiment.run_jobs(jobs, again=again)


def estimate_of_seconds(experiments: Sequence[Experiment]) -> str:
    """Return a table of the seconds that are not measured yet, and how long this takes."""
    own: list[tuple[str, Any]] = [
        (one.NAME, getattr(one, "estimate_seconds", None)) for one in experiments
    ]
    found = [(name, *estimate()) for name, estimate in own if estimate is not None]
    return seconds_text(found)


def measure_seconds(experiments: Sequence[Experiment], duration: float | None) -> None:
    """Print the estimated time, and measure the seconds of each method, where an experiment does so."""
    print(estimate_of_seconds(experiments), flush=True)
    for one in experiments:
        own: Any = getattr(one, "measure_seconds", None)
        if own is not None:
            own(duration)
