"""Claims of the paper about significance (Fig. 3 d), bisecting (Table 2) and candidates (top-k0)."""

from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import statistics

import numpy as np
from numpy.typing import NDArray

import fig3d_significance
from claim import Finding, Judge, NotMeasuredError, claim, percent, run_of, runs_of, verdict

BOOSTED_TREES = ("BsBKM(non)", "BsBKM(rnd)", "BsBKM(kpp)")
LLOYD_TREES = ("BsKM", "BsKM++")
TREES = (*LLOYD_TREES, *BOOSTED_TREES, "RBK")
# A test of fewer runs says nothing.
MIN_RUNS = 8

Floats = NDArray[np.float64]


# Fig. 3 d


def samples(result: Json, method: str) -> Floats:
    """Return the distortions of all runs of a method."""
    values = [value for run in runs_of(result, method=method) for value in run["distortion"]]
    if len(values) < MIN_RUNS:
        raise NotMeasuredError(f"There are only {len(values)} runs of {method}.")
    return np.array(values)


@claim(
    "significance",
    "k-means and k-means++ do not differ significantly",
    "128 runs of each show no significant difference.",
    "Agrees if p of the Mann-Whitney test, corrected for all pairs (Holm), is at least 0.01; in part if "
    "the means are within 0.2 %.",
)
def no_difference_of_seeding(result: Json) -> Finding:
    """Compare both seedings by a rank test."""
    plain, plus = samples(result, "k-means"), samples(result, "k-means++")
    methods = {run["run"]["method"] for run in result["runs"]}
    pairs = fig3d_significance.compared({method: samples(result, method) for method in methods})
    p = next(one["corrected"] for one in pairs if set(one["pair"]) == {"k-means", "k-means++"})
    gap = percent(plus.mean(), plain.mean())
    return Finding(
        f"{len(plus)} runs: k-means++ {gap:+.2f} % relative to k-means, p = {p:.1e}",
        verdict(p >= 0.01, abs(gap) <= 0.2),
        "With this number of runs, a test detects differences without practical meaning.",
    )


@claim(
    "significance",
    "BKM differs from k-means by much more than runs differ from each other",
    "The gap between BKM and k-means is much larger than the variations across 128 runs.",
    "Agrees if the mean of BKM(non) is lower by at least 3 pooled standard deviations; in part by 1.",
)
def boost_differs(result: Json) -> Finding:
    """Return the difference in standard deviations."""
    plain, boost = samples(result, "k-means"), samples(result, "BKM(non)")
    deviations = (plain.mean() - boost.mean()) / np.sqrt((plain.var(ddof=1) + boost.var(ddof=1)) / 2)
    return Finding(
        f"{percent(boost.mean(), plain.mean()):+.2f} %, {deviations:.1f} standard deviations",
        verdict(deviations >= 3, deviations >= 1),
    )


# Table 2


def mean_of(result: Json, method: str, figure: str = "distortion") -> float:
    """Return the mean of a figure over the seeds."""
    return statistics.fmean(run[figure] for run in runs_of(result, method=method))


@claim(
    "bisecting",
    "Trees end well above k-means",
    "All bisecting methods are about 13 % above k-means, about where k-means is after one iteration.",
    "Agrees if all trees are at least 8 % above k-means; in part from 3 %.",
)
def trees_above_kmeans(result: Json) -> Finding:
    """Return the lowest and the highest tree relative to k-means."""
    target = run_of(result, method="k-means")["distortion"]
    gaps = [percent(mean_of(result, method), target) for method in TREES]
    return Finding(
        f"{min(gaps):+.1f} to {max(gaps):+.1f} %",
        verdict(min(gaps) >= 8, min(gaps) >= 3),
        "Rows never move back to another branch (Fig. 2).",
    )


@claim(
    "bisecting",
    "Trees built by boost k-means are the best trees",
    "Methods that use Alg. 1 are always lower than BsKM and BsKM++ (by 0.4 %).",
    "Agrees if each BsBKM is below both; in part if their mean is.",
)
def boosted_trees_best(result: Json) -> Finding:
    """Compare the means over the seeds."""
    boosted = [mean_of(result, method) for method in BOOSTED_TREES]
    others = [mean_of(result, method) for method in LLOYD_TREES]
    gap = percent(statistics.fmean(boosted), statistics.fmean(others))
    return Finding(f"{gap:+.2f} % on average", verdict(max(boosted) < min(others), gap < 0))


@claim(
    "bisecting",
    "A whole tree takes less than a twentieth of one iteration of k-means",
    "Bisecting is more than 20 times faster than a single iteration of k-means.",
    "Agrees if an iteration of k-means takes at least 20 times as long as BsBKM(non); in part if it "
    "takes at least as long.",
)
def tree_against_iteration(result: Json) -> Finding:
    """Return the time of an iteration of k-means relative to a tree."""
    kmeans = run_of(result, method="k-means")
    ratio = kmeans["seconds_of_iteration"] / mean_of(result, "BsBKM(non)", "seconds")
    return Finding(
        f"{ratio:.2g} times as long, for {kmeans['run']['k']:,} clusters",
        verdict(ratio >= 20, ratio >= 1),
        "A tree visits each row in log2(k) splits. An iteration compares each row with k centres, but "
        "by a matrix product at the full speed of the processor. The ratio grows with k.",
    )


@claim(
    "bisecting",
    "After refinement, trees are still 7 % above k-means",
    "Refinement takes trees from 13 % above k-means to 7 % above.",
    "Agrees if the mean of the refined trees is at least 3 % above k-means; in part if it is above at "
    "all.",
)
def refined_trees_above(result: Json) -> Finding:
    """Return the means over methods and seeds relative to k-means."""
    target = run_of(result, method="k-means")["distortion"]
    mean = statistics.fmean(percent(mean_of(result, one, "refined"), target) for one in TREES)
    after_first = [run["refined_after"][0] for one in TREES for run in runs_of(result, method=one)]
    first = percent(statistics.fmean(after_first), target)
    return Finding(
        f"{mean:+.2f} % relative to k-means; {first:+.1f} % after the first sweep",
        verdict(mean >= 3, mean > 0),
        "The paper does not say how long it refined. Here refinement continues until hardly anything "
        "moves.",
    )


# top-k0


@claim(
    "top_k0",
    "Comparing with the k0 nearest clusters alone is 7 to 8 times faster, at no real loss",
    "Typically 7 to 8 times; the paper gives neither k0 nor k.",
    "Agrees if, for every k, some k0 ends at most 1 % above the sweeps over all clusters and has sweeps "
    "at least 7 times faster; in part if this holds for some k, with at least 3 times.",
)
def candidates_are_faster(result: Json) -> Finding:
    """Return the fastest k0 with little loss, by size."""
    found: list[tuple[float, str]] = []
    for base in runs_of(result, k0=None):
        n, k = base["run"]["n"], base["run"]["k"]
        best: tuple[float, str] = (0.0, f"k={k:,}: no k0 ends within 1 %")
        for run in runs_of(result, n=n, k=k):
            loss, k0 = percent(run["distortion"], base["distortion"]), run["run"]["k0"]
            if k0 is not None and loss <= 1:
                factor = base["sweep_seconds"] / run["sweep_seconds"]
                best = max(best, (factor, f"k={k:,}, k0={k0}: {factor:.1f} times, {loss:+.2f} %"))
        found.append(best)
    return Finding(
        "; ".join(text for _, text in found),
        verdict(all(factor >= 7 for factor, _ in found), any(factor >= 3 for factor, _ in found)),
        "Fewer distances are computed, but gathering the centres takes time. The factor grows with k.",
    )


CLAIMS: list[Judge] = [
    no_difference_of_seeding, boost_differs, trees_above_kmeans, boosted_trees_best,
    tree_against_iteration, refined_trees_above, candidates_are_faster,
]  # fmt: skip
