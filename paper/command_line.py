"""Command line of the paper's experiments: what to measure, and in which order."""

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import Any

import experiment
from estimates import estimate_text
from experiment import Experiment, Job


def parser_of(experiments: Sequence[Experiment]) -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description="Measure the paper's experiments, and write their pages. Runs that are stored are "
        "not measured again, so the same command continues after an interruption."
    )
    names = ", ".join(one.NAME for one in experiments)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"experiments (default: all): {names}")
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
                        "only these experiments or methods")  # fmt: skip
    return parser


def chosen_runs(parser: argparse.ArgumentParser, given: Any, names: list[str]) -> dict[str, Any]:
    """Return for each chosen experiment what to measure again: True, False or some methods."""
    again: dict[str, Any] = dict.fromkeys(given.names or names, given.remeasure == [])
    if given.remeasure and not given.names:
        again = {}
    for one in given.remeasure or []:
        name, _, method = one.partition("/")
        again[name] = {method, *(again.get(name) or ())} if method else True
    unknown = sorted(set(again) - set(names))
    if unknown:
        parser.error(f"unknown experiment: {', '.join(unknown)}")
    return again


def main(*experiments: Experiment) -> int:
    """Run the command line of one experiment, or of all of them. Return the exit code."""
    parser = parser_of(experiments)
    given = parser.parse_args()
    again = chosen_runs(parser, given, [one.NAME for one in experiments])
    chosen = [one for one in experiments if one.NAME in again]
    # A process that is ended by `kill` ends its own processes, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if given.seconds:
            measure_seconds(chosen, given.duration)
        elif not given.report_only:
            run_chosen(chosen, given.full, again, given.estimate)
    except KeyboardInterrupt:
        print("\nInterrupted. The same command continues here.", file=sys.stderr)
        return 130
    for one in chosen if not given.estimate else []:
        experiment.write_page(one)
    return 0


def run_chosen(
    experiments: Sequence[Experiment], full: bool, again: dict[str, Any], only_estimate: bool
) -> None:
    """Print the estimated time, and measure all runs that are not stored."""
    jobs: dict[str, list[Job]] = {}
    plans = []
    for one in experiments:
        if not only_estimate:
            experiment.prepare_file(one, full)
        jobs[one.NAME] = experiment.missing_jobs(one, full, again[one.NAME])
        missing = [job.run for job in jobs[one.NAME]]
        plans.append((one, one.plan(full), missing, experiment.stored_runs(one.NAME, full)))
    print(estimate_text(plans), flush=True)
    if not only_estimate:
        for repeated in (True, False):
            some = [one for one in experiments if bool(again[one.NAME]) == repeated]
            experiment.run_jobs([job for one in some for job in jobs[one.NAME]], again=repeated)


def measure_seconds(experiments: Sequence[Experiment], duration: float | None) -> None:
    """Measure the seconds of a few iterations of each method, where an experiment does so."""
    for one in experiments:
        own: Any = getattr(one, "measure_seconds", None)
        if own is not None:
            own(duration)
