"""Claims of the paper, and how each is compared with a measured result.

A claim is a function that takes the result of one experiment and returns a `Finding`: the measured
figures, a verdict and an explanation. The decorator `claim` adds the statement of the paper and the rule
of the verdict, so that the page shows them even if nothing was measured.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from experiment import Json

AGREES = "agrees"
IN_PART = "agrees in part"
DIFFERS = "does not agree"
UNKNOWN = "not measured"
VERDICTS = (AGREES, IN_PART, DIFFERS, UNKNOWN)


class NotMeasuredError(Exception):
    """A figure that a claim needs is missing in the result."""


@dataclass(frozen=True)
class Finding:
    """Measured figures about a claim."""

    measured: str
    verdict: str
    explanation: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and the finding about it."""

    title: str
    paper: str
    """Statement of the paper."""
    rule: str
    """Rule of the verdict."""
    experiment: str
    finding: Finding


@dataclass(frozen=True)
class Judge:
    """Function that judges one claim by the result of an experiment."""

    name: str
    experiment: str
    title: str
    paper: str
    rule: str
    find: Callable[[Json], Finding]

    def __call__(self, result: Json | None) -> Claim:
        """Return the claim with its finding; without a result, the verdict is "not measured"."""
        try:
            finding = Finding("", UNKNOWN) if result is None else self.find(result)
        except NotMeasuredError as error:
            finding = Finding("", UNKNOWN, str(error))
        return Claim(self.title, self.paper, self.rule, self.experiment, finding)


def claim(
    experiment: str, title: str, paper: str, rule: str
) -> Callable[[Callable[[Json], Finding]], Judge]:
    """Turn a function of an experiment's result into a `Judge`."""

    def decorate(find: Callable[[Json], Finding]) -> Judge:
        return Judge(find.__name__, experiment, title, paper, rule, find)

    return decorate


def verdict(agrees: bool, in_part: bool = False) -> str:
    """Return the verdict of a rule with one or two conditions."""
    return AGREES if agrees else IN_PART if in_part else DIFFERS


def run_of(result: Json, **settings: Any) -> Json:
    """Return the first finished run with these settings."""
    return runs_of(result, **settings)[0]


def runs_of(result: Json, **settings: Any) -> list[Json]:
    """Return all finished runs with these settings; raise NotMeasuredError if there are none."""
    found = [
        run for run in result["runs"]
        if "failure" not in run and "skipped" not in run and "missing" not in run
        and all(run["run"].get(name) == value for name, value in settings.items())
    ]  # fmt: skip
    if not found:
        wanted = ", ".join(f"{name}={value}" for name, value in settings.items())
        raise NotMeasuredError(f"There is no run with {wanted}.")
    return found


def percent(value: float, other: float) -> float:
    """Return by how many percent a value is above another."""
    return 100 * (value / other - 1)
