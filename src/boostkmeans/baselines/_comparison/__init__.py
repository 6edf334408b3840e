"""Comparison of methods on the same rows."""

from boostkmeans.baselines._comparison.runs import (
    MethodRun,
    MethodSummary,
    class_scores,
    compare,
    summarize,
)
from boostkmeans.baselines._comparison.scores import SCORES, ScoreSummary, summarize_scores

__all__ = [
    "SCORES",
    "MethodRun",
    "MethodSummary",
    "ScoreSummary",
    "class_scores",
    "compare",
    "summarize",
    "summarize_scores",
]
