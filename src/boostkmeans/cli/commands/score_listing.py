"""Scores of methods against classes, as JSON values, tables and CSV lines."""

import csv
import io
from typing import Any

from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.baselines import MethodRun, ScoreSummary
from boostkmeans.cli.command import Result
from boostkmeans.cli.errors import message_of

SCORES = ("entropy", "purity", "nmi", "ari")
# Ways to choose the run of a method: JSON key -> title of the table.
CHOICES = {
    "by_objective": "run with the best objective",
    "by_entropy": "run with the lowest entropy (as in the paper, which needs the classes)",
    "mean": "mean of all runs",
}
# Measures of which the lowest value is the best.
LOWER_IS_BETTER = ("entropy",)
RUN_COLUMNS = ("method", "n_clusters", "seed", *SCORES, "distortion", "seconds", "error")


def score_values(summaries: list[ScoreSummary]) -> list[Result]:
    """Return one JSON object per method and number of clusters."""
    return [_summary_values(summary) for summary in summaries]


def score_tables(result: Result) -> str:
    """Return one table per choice of the run: methods by number of clusters. * marks the best."""
    measure, methods = result["measure"], result["methods"]
    n, n_known = result["n_documents"], result["n_of_known_class"]
    of_known = "" if n == n_known else f", {n_known:,} of known class"
    title = (
        f"{n:,} documents{of_known}, {result['n_classes']:,} classes, {len(result['seeds'])} runs per "
        "method"
    )
    parts = [title]
    for choice, text in CHOICES.items():
        parts += ["", f"{measure}: {text}", *_table(methods, choice, measure)]
    failed = [one for one in methods if one["error"] is not None]
    lines = [
        f"{one['method']}, k={one['n_clusters']}: failed: {escape_untrusted(one['error'])}"
        for one in failed
    ]
    return "\n".join([*parts, *(["", *lines] if lines else [])])


def score_rows(result: Result) -> list[Result]:
    """Return one row per method, number of clusters and choice of the run."""
    return [
        {
            "method": one["method"],
            "n_clusters": one["n_clusters"],
            "chosen": choice,
            **{score: one[choice][score] for score in SCORES},
        }
        for one in result["methods"]
        for choice in CHOICES
        if one[choice] is not None
    ]


def run_lines(runs: list[MethodRun]) -> str:
    """Return one CSV line per run, after a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(RUN_COLUMNS)
    for run in runs:
        scores = [""] * len(SCORES) if run.scores is None else [run.scores[name] for name in SCORES]
        failed = run.error is not None
        measured = ["", ""] if failed else [run.distortion, run.seconds]
        error = "" if run.error is None else escape_untrusted(message_of(run.error))
        writer.writerow([run.method, run.n_clusters, run.seed, *scores, *measured, error])
    return text.getvalue().rstrip("\n")


def _table(methods: list[Result], choice: str, measure: str) -> list[str]:
    values = {
        (one["method"], one["n_clusters"]): one[choice][measure]
        for one in methods
        if one[choice] is not None
    }
    names = list(dict.fromkeys(one["method"] for one in methods))
    ks = list(dict.fromkeys(one["n_clusters"] for one in methods))
    pick = min if measure in LOWER_IS_BETTER else max
    best = {k: pick((v for (_, of), v in values.items() if of == k), default=None) for k in ks}
    rows = [["", *(f"k={k}" for k in ks)]]
    rows += [[name, *(_cell(values.get((name, k)), best[k]) for k in ks)] for name in names]
    widths = [max(len(row[i]) for row in rows) for i in range(len(ks) + 1)]
    return [_line(row, widths) for row in rows]


def _line(row: list[str], widths: list[int]) -> str:
    cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join([f"{row[0]:{widths[0]}}", *cells]).rstrip()


def _cell(value: float | None, best: float | None) -> str:
    if value is None:
        return "- "
    return f"{value:.3f}{'*' if value == best else ' '}"


def _summary_values(summary: ScoreSummary) -> dict[str, Any]:
    has_runs = bool(summary.runs)
    return {
        "method": summary.method,
        "n_clusters": summary.n_clusters,
        "error": None if summary.error is None else message_of(summary.error),
        "by_objective": dict(summary.by_objective) if has_runs else None,
        "by_entropy": dict(summary.by_entropy) if has_runs else None,
        "mean": dict(summary.mean) if has_runs else None,
        "deviation": dict(summary.deviation) if has_runs else None,
        "seconds": summary.seconds if has_runs else None,
        "runs": [
            {
                "seed": run.seed,
                **(run.scores or {}),
                "distortion": run.distortion,
                "seconds": run.seconds,
            }
            for run in summary.runs
        ],
    }
