"""What a claim of the paper is, and how it is held against what was measured.

A claim is a function of one experiment's result that gives a `Finding`: our figure, a verdict by
the rule that stands beside it, and why. The decorator `claim` has what the paper says, so that the
page has it also where nothing was measured.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from experiment import Json

AGREES, IN_PART, DIFFERS, UNKNOWN = "agrees", "agrees in part", "does not agree", "not measured"
VERDICTS = (AGREES, IN_PART, DIFFERS, UNKNOWN)


class NotMeasuredError(Exception):
    """A figure that a claim needs is not in the result."""


@dataclass(frozen=True)
class Finding:
    """What was found."""

    ours: str
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """What the paper says, and what was found."""

    what: str
    paper: str
    rule: str
    """By which the verdict is made."""
    experiment: str
    ours: str
    verdict: str
    why: str


Judge = Callable[[Json | None], Claim]


def claim(
    experiment: str, what: str, paper: str, rule: str
) -> Callable[[Callable[[Json], Finding]], Judge]:
    """Makes a claim of a function that finds something in the result of `experiment`."""

    def decorate(find: Callable[[Json], Finding]) -> Judge:
        def judge(result: Json | None) -> Claim:
            try:
                found = find(result) if result is not None else Finding("", UNKNOWN)
            except NotMeasuredError as error:
                found = Finding("", UNKNOWN, f"{error}")
            return Claim(what, paper, rule, experiment, found.ours, found.verdict, found.why)

        judge.__doc__, judge.__name__ = find.__doc__, find.__name__
        judge.experiment = experiment  # type: ignore[attr-defined]
        return judge

    return decorate


def graded(agrees: bool, in_part: bool = False) -> str:
    """A verdict."""
    return AGREES if agrees else IN_PART if in_part else DIFFERS


def run_of(result: Json, **settings: Any) -> Json:
    """The first run with these settings that came to an end."""
    return runs_of(result, **settings)[0]


def runs_of(result: Json, **settings: Any) -> list[Json]:
    """All runs with these settings that came to an end; at least one."""
    found = [
        run for run in result["runs"]
        if "failure" not in run and "skipped" not in run and "missing" not in run
        and all(run["run"].get(name) == value for name, value in settings.items())
    ]  # fmt: skip
    if not found:
        what = ", ".join(f"{name}={value}" for name, value in settings.items())
        raise NotMeasuredError(f"There is no run with {what}.")
    return found


def percent(value: float, other: float) -> float:
    """How much more than another."""
    return 100 * (value / other - 1)
