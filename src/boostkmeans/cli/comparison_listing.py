"""Methods side by side, for people and for machines."""

from typing import Any

from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.baselines import MethodSummary
from boostkmeans.cli.errors import message_of
from boostkmeans.cli.listing import plain

COLUMNS = ("method", "distortion", "best", "relative", "seconds", "sweeps")


def comparison_values(summaries: list[MethodSummary]) -> list[dict[str, Any]]:
    """An object for each method, in types that JSON knows."""
    return [plain(_method(summary)) for summary in summaries]


def comparison_table(made: dict[str, Any]) -> str:
    """The same for a terminal."""
    of = "" if made["n_rows"] == made["n_rows_of_file"] else f" of {made['n_rows_of_file']:,}"
    head = (
        f"{made['n_rows']:,}{of} rows of {made['n_features']:,} features into "
        f"{made['n_clusters']:,} clusters"
    )
    rows = [COLUMNS, *(_cells(one) for one in made["methods"])]
    complete = [row for row in rows if len(row) == len(COLUMNS)]
    widths = [max(len(row[i]) for row in (complete if i else rows)) for i in range(len(COLUMNS))]
    return "\n".join([head, "", *(_line(row, widths) for row in rows)])


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    first = f"{row[0]:{widths[0]}}"
    if len(row) < len(widths):
        return f"{first}  {row[1]}"
    return "  ".join([first, *(f"{cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True))])


def _cells(one: dict[str, Any]) -> tuple[str, ...]:
    if not one["runs"]:
        return one["method"], f"failed: {escape_untrusted(one['error'])}"
    return (
        one["method"],
        _measure(one["mean_distortion"], ",.7g"),
        _measure(one["best_distortion"], ",.7g"),
        _measure(one["relative"], ".4f"),
        f"{one['seconds']:.2f}",
        f"{one['n_sweeps']:,.4g}",
    )


def _measure(value: float | None, digits: str) -> str:
    return "too large" if value is None else format(value, digits)


def _method(summary: MethodSummary) -> dict[str, Any]:
    error = None if summary.error is None else message_of(summary.error)
    is_there = bool(summary.runs)
    return {
        "method": summary.method,
        "error": error,
        "mean_distortion": summary.mean_distortion if is_there else None,
        "best_distortion": summary.best_distortion if is_there else None,
        "relative": summary.relative,
        "seconds": summary.seconds if is_there else None,
        "n_sweeps": summary.n_sweeps if is_there else None,
        "runs": [
            {
                "seed": run.seed,
                "distortion": run.distortion,
                "seconds": run.seconds,
                "n_sweeps": run.n_sweeps,
                "curve": run.curve,
            }
            for run in summary.runs
        ],
    }
