"""Claims of the paper that need many runs (Fig. 3 b and d), and about candidates (top-k0)."""

from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray
from scipy import stats

import fast_moves
import fig3d_significance
from claim import (
    Finding,
    Judge,
    NotMeasuredError,
    claim,
    figure_of,
    percent,
    require_complete,
    runs_of,
    verdict,
)

STARTS = ("non", "rnd", "kpp")
# A test of fewer runs says little.
MIN_RUNS = 10
# Significance level.
LEVEL = 0.01
# Loss by candidates that counts as none, in percent: half of the gap between BKM and k-means.
MAX_LOSS = 0.5

Floats = NDArray[np.float64]


# Fig. 3 d


def samples(result: Json, method: str) -> Floats:
    """Return the distortions of all runs of a method. At the paper's size, all must be measured."""
    require_complete(result)
    values = [value for run in runs_of(result, method=method) for value in run["distortion"]]
    if len(values) < MIN_RUNS:
        raise NotMeasuredError(f"There are only {len(values)} runs of {method}.")
    return np.array(values)


@claim(
    "significance",
    "k-means and k-means++ do not differ significantly",
    "128 runs of each show no significant difference.",
    "Agrees if p of the Mann-Whitney test, corrected for all pairs (Holm), is at least 0.01, and the "
    "95 % confidence interval of the difference of the means is within 0.2 %; in part if the means are "
    "within 0.2 %.",
)
def no_difference_of_seeding(result: Json) -> Finding:
    """Compare both seedings by a rank test."""
    plain, plus = samples(result, "k-means"), samples(result, "k-means++")
    values = {run["run"]["method"]: np.empty(0) for run in runs_of(result)}
    for method in values:
        values[method] = samples(result, method)
    pairs = fig3d_significance.compared(values)
    p = next(one["corrected"] for one in pairs if set(one["pair"]) == {"k-means", "k-means++"})
    gap = percent(plus.mean(), plain.mean())
    interval = stats.ttest_ind(plus, plain, equal_var=False).confidence_interval(0.95)
    ends = [100 * float(end) / plain.mean() for end in (interval.low, interval.high)]
    equal = max(map(abs, ends)) <= 0.2
    return Finding(
        f"{len(plus)} runs: k-means++ {gap:+.2f} % relative to k-means ({ends[0]:+.2f} to "
        f"{ends[1]:+.2f} %), p = {p:.1e}",
        verdict(p >= LEVEL and equal, abs(gap) <= 0.2),
        "With many runs, a test detects differences without practical meaning. With few runs, it "
        "detects none; therefore the interval must be narrow, too.",
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
        f"{percent(boost.mean(), plain.mean()):+.2f} %, {deviations:.1f} standard deviations; "
        f"{len(boost)} runs",
        verdict(deviations >= 3, deviations >= 1),
    )


@claim(
    "significance",
    "The distortion of all methods varies little from run to run",
    "Although the performance of all methods fluctuates, the variations are minor.",
    "Agrees if the standard deviation of each of the paper's methods is below 0.5 % of its mean; in "
    "part below 1 %.",
)
def variations_minor(result: Json) -> Finding:
    """Return the standard deviation of each method."""
    shares = {}
    for method in ("k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)"):
        values = samples(result, method)
        shares[method] = 100 * float(values.std(ddof=1) / values.mean())
    highest = max(shares.values())
    return Finding(
        ", ".join(f"{method} {share:.2f} %" for method, share in shares.items())
        + f"; {len(values)} runs of each",
        verdict(highest < 0.5, highest < 1),
    )


# Many runs of Fig. 3 b


@claim(
    "fast_moves",
    "Moving to the first better cluster (+Fast) ends lower than moving to the best",
    "+Fast decreases more slowly, and is below from about 20 iterations on, for all starts.",
    "Agrees if +Fast ends significantly lower for all starts (Wilcoxon signed-rank test of at least ten "
    "seeds, corrected by Holm, p < 0.01); in part if it does for some, and is significantly higher for "
    "none.",
)
def fast_ends_lower(result: Json) -> Finding:
    """Compare the final distortions of both rules from the same starts."""
    found = fast_moves.compared(result)
    for start in STARTS:
        if start not in found or found[start]["seeds"] < MIN_RUNS:
            raise NotMeasuredError(f"There are fewer than {MIN_RUNS} pairs of runs of BKM({start}).")
    significant = [one for one in found.values() if one["p"] < LEVEL]
    lower, higher = (sum(sign * one["gap"] > 0 for one in significant) for sign in (-1, 1))
    return Finding(
        ", ".join(f"{start} {one['gap']:+.3f} % (p = {one['p']:.1g})" for start, one in found.items())
        + f"; {found['non']['seeds']} seeds",
        verdict(lower == len(STARTS), lower > 0 and higher == 0),
        "The paper does not say in which order clusters are tried. Here each row starts at a random "
        "one. Both rules have the same starts, so runs are compared in pairs.",
    )


# top-k0


@claim(
    "top_k0",
    "Comparing with the k0 nearest clusters alone is 7 to 8 times faster, at no real loss",
    "Typically 7 to 8 times; the paper gives neither k0 nor k.",
    "Agrees if, for every k, some k0 ends at most 0.5 % above the sweeps over all clusters and has "
    "sweeps at least 7 times faster; in part if this holds for some k, with at least 3 times.",
)
def candidates_are_faster(result: Json) -> Finding:
    """Return the fastest k0 with little loss, by size."""
    require_complete(result)
    found: list[tuple[float, str]] = []
    for base in runs_of(result, k0=None):
        n, k = base["run"]["n"], base["run"]["k"]
        best: tuple[float, str] = (0.0, f"k={k:,}: no k0 ends within {MAX_LOSS} %")
        for run in runs_of(result, n=n, k=k):
            loss, k0 = percent(run["distortion"], base["distortion"]), run["run"]["k0"]
            if k0 is not None and loss <= MAX_LOSS:
                factor = figure_of(base, "sweep_seconds") / figure_of(run, "sweep_seconds")
                best = max(best, (factor, f"k={k:,}, k0={k0}: {factor:.1f} times, {loss:+.2f} %"))
        found.append(best)
    return Finding(
        "; ".join(text for _, text in found),
        verdict(all(factor >= 7 for factor, _ in found), any(factor >= 3 for factor, _ in found)),
        "Fewer distances are computed, but gathering the centres takes time. The factor grows with k.",
    )


CLAIMS: list[Judge] = [
    fast_ends_lower, no_difference_of_seeding, boost_differs, variations_minor, candidates_are_faster,
]  # fmt: skip
