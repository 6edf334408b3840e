"""Claims of the paper, and how each is compared with a measured result.

A claim is a function that takes the result of one experiment and returns a `Finding`: the measured
figures, a verdict and an explanation. The decorator `claim` adds the statement of the paper and the rule
of the verdict, so that the page shows them even if nothing was measured.
"""

from collections.abc import Callable, Sequence
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
    size: str = ""
    """Size of the result that the verdict rests on: "full", "small", or empty without a verdict."""


@dataclass(frozen=True)
class Judge:
    """Function that judges one claim by the result of an experiment."""

    name: str
    experiment: str
    title: str
    paper: str
    rule: str
    find: Callable[[Json], Finding]

    def __call__(self, results: Sequence[Json]) -> Claim:
        """Return the claim with its finding.

        It rests on the first result with all figures that the claim needs: results at the paper's size
        come first. If there is none, the verdict is "not measured".
        """
        reasons: list[str] = []
        for result in results:
            try:
                return self.with_finding(self.find(result), str(result["size"]))
            except NotMeasuredError as error:
                reasons.append(str(error))
        return self.with_finding(Finding("", UNKNOWN, reasons[-1] if reasons else ""), "")

    def with_finding(self, finding: Finding, size: str) -> Claim:
        """Return the claim with a finding from a result of this size."""
        return Claim(self.title, self.paper, self.rule, self.experiment, finding, size)


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


def is_finished(run: Json) -> bool:
    """Return True if a stored run has figures."""
    return not {"failure", "skipped", "missing"} & set(run)


def run_of(result: Json, **settings: Any) -> Json:
    """Return the first finished run with these settings."""
    return runs_of(result, **settings)[0]


def runs_of(result: Json, **settings: Any) -> list[Json]:
    """Return all finished runs with these settings; raise NotMeasuredError if there are none."""
    found = [
        run for run in result["runs"]
        if is_finished(run)
        and all(run["run"].get(name) == value for name, value in settings.items())
    ]  # fmt: skip
    if not found:
        wanted = ", ".join(f"{name}={value}" for name, value in settings.items())
        raise NotMeasuredError(f"There is no run with {wanted}." if wanted else "There is no run.")
    return found


def figure_of(run: Json, name: str) -> Any:
    """Return a figure of a run; raise NotMeasuredError if it is missing.

    At the paper's size, seconds are measured later than distortions.
    """
    if run.get(name) is None:
        method = run["run"].get("method", "The run")
        raise NotMeasuredError(f"{method} has no figure {name!r} yet.")
    return run[name]


def require_complete(result: Json) -> None:
    """Raise NotMeasuredError if runs of the paper's size are missing."""
    if result["size"] == "full" and result.get("complete") is False:
        raise NotMeasuredError("Some runs at the paper's size are still missing.")


def percent(value: float, other: float) -> float:
    """Return by how many percent a value is above another."""
    return 100 * (value / other - 1)


def ratio_text(ratio: float) -> str:
    """Return a ratio with two digits, or as a whole number from 100 on, without an exponent."""
    # 99.5 has two digits, but "g" would round it to 1e+02.
    return f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:,.0f}"
