"""Claims of the paper about the algorithm itself: Fig. 1 and 2, its appendices and its objectives."""

import statistics
from itertools import pairwise

from claim import (
    Finding,
    Judge,
    NotMeasuredError,
    claim,
    figure_of,
    percent,
    run_of,
    runs_of,
    verdict,
)
from experiment import Json

# Relative difference of distortions that counts as none.
SAME_END = 1e-9

# Fig. 1 and 2


@claim(
    "iterations",
    "A random partition becomes compact within one sweep",
    "In Fig. 1, random labels are mixed up, and clusters are compact after one iteration.",
    "Agrees if the first sweep covers at least 80 % of the decrease from the initial to the final "
    "distortion; in part from 50 %.",
)
def compact_after_one(result: Json) -> Finding:
    """Return the share of the decrease that the first sweep covers."""
    run = run_of(result, method="boost")
    start, first, end = (run["states"][i]["distortion"] for i in (0, 1, -1))
    share = (start - first) / (start - end)
    return Finding(
        f"{100 * share:.0f} % of the decrease ({start:.3f} to {first:.3f}; the final value is "
        f"{end:.3f})",
        verdict(share >= 0.8, share >= 0.5),
        "Centres follow each move at once, so the clusters are already separated for later rows of the "
        "sweep.",
    )


@claim(
    "iterations",
    "In the plane, Lloyd's condition holds after about ten sweeps",
    "The example of Fig. 1 ends at the 10th iteration, where every row is in the cell of its own "
    "centre.",
    "Agrees if the mean over all starts is at most 12 sweeps, and no row is nearer to another centre at "
    "the end; in part up to 20 sweeps.",
)
def ends_at_lloyds_condition(result: Json) -> Finding:
    """Return the mean number of sweeps, and the rows that violate Lloyd's condition."""
    run = run_of(result, method="starts")
    sweeps, elsewhere = statistics.fmean(run["iterations_boost"]), run["elsewhere"]
    return Finding(
        f"{sweeps:.1f} sweeps on average; {elsewhere} rows nearer to another centre",
        verdict(sweeps <= 12 and not elsewhere, sweeps <= 20 and not elsewhere),
        "If no single move gains anything, no row is nearer to another centre. The converse is false.",
    )


@claim(
    "iterations",
    "The objective rises with every sweep until nothing moves",
    "Appendix B, on the convergence: a move is made only if it raises the objective, so the objective "
    "rises until nothing moves.",
    "Agrees if the distortion never rises from one sweep to the next, in the runs from all starts.",
)
def monotone(result: Json) -> Finding:
    """Return how often the distortion rose."""
    run = run_of(result, method="starts")
    n = sum(run["iterations_boost"])
    return Finding(
        f"the distortion rose {run['rises']} times in {n:,} sweeps",
        verdict(run["rises"] == 0),
        "The gain is computed exactly, with the terms that the paper's formula leaves out. The appendix "
        "itself proves the claim only for large clusters.",
    )


@claim(
    "iterations",
    "Single moves reach the optimum",
    "Appendix A: the optimal solution can be reached by the incremental updates of Alg. 1.",
    "Agrees if all starts end at the same distortion; in part if at least 90 % of them end at the "
    "lowest one.",
)
def reaches_optimum(result: Json) -> Finding:
    """Return how many starts end at the lowest distortion."""
    ends = figure_of(run_of(result, method="starts"), "distortions_boost")
    lowest = min(ends)
    best = sum(end <= lowest * (1 + SAME_END) for end in ends)
    return Finding(
        f"{best} of {len(ends)} starts end at the lowest distortion; the worst ends "
        f"{percent(max(ends), lowest):.0f} % above it",
        verdict(best == len(ends), best >= 0.9 * len(ends)),
        "The proof is circular: see the table below. Single moves end at a local optimum.",
    )


def runs_of_largest_tree(result: Json) -> list[Json]:
    """Return the runs of all seeds with the largest number of clusters."""
    trees = [run for run in runs_of(result) if not run["run"].get("plane")]
    if not trees:
        raise NotMeasuredError("There are no trees.")
    largest = max(run["run"]["k"] for run in trees)
    return [run for run in trees if run["run"]["k"] == largest]


@claim(
    "lloyd_condition",
    "A bisecting tree breaks Lloyd's condition",
    "In Fig. 2, rows of a neighbouring branch are nearer to a new centre after another split, and "
    "cannot move there.",
    "Agrees if more than 1 % of the rows are nearer to another mean at the largest k; in part if any "
    "are.",
)
def tree_breaks_condition(result: Json) -> Finding:
    """Return the share of rows that violate the condition."""
    runs = runs_of_largest_tree(result)
    share = statistics.fmean(run["share_before"] for run in runs)
    return Finding(
        f"{100 * share:.1f} % of the rows, for {runs[0]['run']['k']:,} clusters",
        verdict(share > 0.01, share > 0),
        "Each split adds a border, and rows of other branches can be on its wrong side.",
    )


@claim(
    "lloyd_condition",
    "Refinement by boost k-means alleviates this",
    "Alg. 1 after Alg. 2 helps, at the cost of time.",
    "Agrees if refinement leaves less than a tenth of such rows and lowers the distortion; in part if "
    "it leaves less than half.",
)
def refinement_repairs_condition(result: Json) -> Finding:
    """Return the shares of rows before and after refinement, and the change of the distortion."""
    runs = runs_of_largest_tree(result)
    before, left = (
        statistics.fmean(run[f"share_{when}"] for run in runs) for when in ("before", "after")
    )
    gain = statistics.fmean(percent(r["distortion_after"], r["distortion_before"]) for r in runs)
    return Finding(
        f"{100 * before:.1f} % before, {100 * left:.2f} % after; distortion {gain:+.1f} %",
        verdict(left < before / 10 and gain < 0, left < before / 2 and gain < 0),
        "Refinement runs until no move is left. Then the condition holds for all rows.",
    )


# The objectives I1 and I2


@claim(
    "objectives",
    "Both objectives decrease together",
    "Minimizing the distances to the centres (I1) also minimizes the average distances within clusters "
    "(I2), because n_r / (n_r - 1) is close to 1.",
    "Agrees if I2 falls in every iteration in which I1 falls, for all numbers of clusters; in part if "
    "it does for the smallest one.",
)
def objectives_decrease_together(result: Json) -> Finding:
    """Return the iterations in which I1 falls and I2 rises, by number of clusters."""
    texts, opposed = [], []
    for run in sorted(runs_of(result), key=lambda run: int(run["run"]["k"])):
        steps = zip(pairwise(run["i1"]), pairwise(run["i2"]), strict=True)
        falls = [i2[1] <= i2[0] for i1, i2 in steps if i1[1] < i1[0]]
        opposed.append(falls.count(False))
        size = run["run"]["n"] / run["run"]["k"]
        texts.append(
            f"{size:.3g} rows per cluster: I2 rises in {opposed[-1]} of {len(falls)} iterations, and "
            f"ends at {run['i2'][-1] / run['i1'][-1]:.2f} I1"
        )
    return Finding(
        "; ".join(texts),
        verdict(not any(opposed), not opposed[0]),
        "I2 is the sum of 2 n_r / (n_r - 1) times the inertia of each cluster. For small clusters, this "
        "factor is well above 2, and I2 favours fewer of them.",
    )


CLAIMS: list[Judge] = [
    compact_after_one, ends_at_lloyds_condition, monotone, reaches_optimum, tree_breaks_condition,
    refinement_repairs_condition, objectives_decrease_together,
]  # fmt: skip
