"""Comparisons of methods, as JSON values and as a table."""

from typing import Any

from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.baselines import MethodSummary
from boostkmeans.cli.command import Result
from boostkmeans.cli.errors import message_of

COLUMNS = ("method", "distortion", "best", "relative", "seconds", "sweeps")


def comparison_values(summaries: list[MethodSummary]) -> list[Result]:
    """Return one JSON object per method."""
    return [_method_values(summary) for summary in summaries]


def comparison_table(result: Result) -> str:
    """Return the comparison as a table."""
    n_rows, n_all = result["n_rows"], result["n_rows_of_file"]
    of_all = "" if n_rows == n_all else f" of {n_all:,}"
    title = (
        f"{n_rows:,}{of_all} rows of {result['n_features']:,} features into "
        f"{result['n_clusters']:,} clusters"
    )
    rows = [COLUMNS, *(_cells(method) for method in result["methods"])]
    complete = [row for row in rows if len(row) == len(COLUMNS)]
    widths = [max(len(row[i]) for row in (complete if i else rows)) for i in range(len(COLUMNS))]
    return "\n".join([title, "", *(_line(row, widths) for row in rows)])


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    first = f"{row[0]:{widths[0]}}"
    if len(row) < len(widths):
        return f"{first}  {row[1]}"
    return "  ".join([first, *(f"{cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True))])


def _cells(method: Result) -> tuple[str, ...]:
    if not method["runs"]:
        return method["method"], f"failed: {escape_untrusted(method['error'])}"
    return (
        method["method"],
        _format_measure(method["mean_distortion"], ",.7g"),
        _format_measure(method["best_distortion"], ",.7g"),
        _format_measure(method["relative"], ".4f"),
        f"{method['seconds']:.2f}",
        f"{method['n_sweeps']:,.4g}",
    )


def _format_measure(value: float | None, digits: str) -> str:
    return "too large" if value is None else format(value, digits)


def _method_values(summary: MethodSummary) -> dict[str, Any]:
    has_runs = bool(summary.runs)
    return {
        "method": summary.method,
        "error": None if summary.error is None else message_of(summary.error),
        "mean_distortion": summary.mean_distortion if has_runs else None,
        "best_distortion": summary.best_distortion if has_runs else None,
        "relative": summary.relative,
        "seconds": summary.seconds if has_runs else None,
        "n_sweeps": summary.n_sweeps if has_runs else None,
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
