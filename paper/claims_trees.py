"""Claims of the paper about bisecting methods: Table 2, the number of sections, and priorities."""

import statistics

from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
from scipy import stats

import fig3d_significance
from claim import (
    Finding,
    Judge,
    NotMeasuredError,
    claim,
    figure_of,
    percent,
    ratio_text,
    run_of,
    runs_of,
    verdict,
)

BOOSTED_TREES = ("BsBKM(non)", "BsBKM(rnd)", "BsBKM(kpp)")
OTHER_TREES = ("BsKM", "BsKM++", "RBK")
TREES = (*OTHER_TREES, *BOOSTED_TREES)
# Numbers of sections that are compared.
SECTIONS = (2, 3, 4, 8, 16)
# Significance level of the tests of deviations and of trees.
LEVEL = 0.05
# Seeds of each method that a test of trees needs: with two, the lowest possible p is 0.1.
MIN_SEEDS = 3


# Table 2


def mean_of(result: Json, method: str, figure: str = "distortion") -> float:
    """Return the mean of a figure over the seeds."""
    return statistics.fmean(values_of(result, method, figure))


def values_of(result: Json, method: str, figure: str) -> list[float]:
    """Return a figure of all seeds."""
    return [float(figure_of(run, figure)) for run in runs_of(result, method=method)]


@claim(
    "bisecting",
    "Trees end well above k-means",
    "All bisecting methods are about 13 % above k-means.",
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
    "Trees are where k-means is after one iteration",
    "The distortion of all bisecting methods is only close to that of k-means after one iteration.",
    "Agrees if each of the six trees is within 3 % of k-means after one iteration; in part within 6 %.",
)
def trees_like_one_iteration(result: Json) -> Finding:
    """Compare each tree with k-means after its first iteration."""
    kmeans = run_of(result, method="k-means")
    first = figure_of(kmeans, "after_one")
    gaps = [percent(mean_of(result, method), first) for method in TREES]
    widest = max(map(abs, gaps))
    late = percent(first, kmeans["distortion"])
    return Finding(
        f"{min(gaps):+.1f} to {max(gaps):+.1f} % relative to k-means after one iteration, which is "
        f"{late:.1f} % above its end",
        verdict(widest <= 3, widest <= 6),
    )


@claim(
    "bisecting",
    "Trees built by boost k-means are the best trees",
    "Methods that use Alg. 1 are always lower than BsKM and BsKM++ (by 0.4 %) and than RBK (by 0.1 %).",
    "Agrees if the mean of each BsBKM is below those of all three, and their values are significantly "
    "lower than those of each (one-sided Mann-Whitney test of at least three seeds, corrected by Holm, "
    "p < 0.05); in part if the mean of all BsBKM is below that of each.",
)
def boosted_trees_best(result: Json) -> Finding:
    """Compare the means over the seeds."""
    return boosted_against_others(result, "distortion")


def boosted_against_others(result: Json, figure: str, why: str = "") -> Finding:
    """Compare a figure of the trees by boost k-means with that of each of the other trees."""
    boosted = [values_of(result, one, figure) for one in BOOSTED_TREES]
    others = {one: values_of(result, one, figure) for one in OTHER_TREES}
    fewest = min(map(len, [*boosted, *others.values()]))
    if fewest < MIN_SEEDS:
        raise NotMeasuredError(f"Some trees have fewer than {MIN_SEEDS} seeds.")
    means = [statistics.fmean(some) for some in boosted]
    means_of_others = {one: statistics.fmean(some) for one, some in others.items()}
    mean, lowest = statistics.fmean(means), min(means_of_others.values())
    p_values = p_of_lower([value for some in boosted for value in some], others)
    gaps = [
        f"{percent(mean, value):+.2f} % relative to {one} (p = {p_values[one]:.1g})"
        for one, value in means_of_others.items()
    ]
    return Finding(
        f"on average {', '.join(gaps)}; {fewest} seeds of each method",
        verdict(max(means) < lowest and max(p_values.values()) < LEVEL, mean < lowest),
        why,
    )


def p_of_lower(values: list[float], others: dict[str, list[float]]) -> dict[str, float]:
    """Return p of the test that some values are lower than others, corrected for all of these."""
    tests = [
        float(stats.mannwhitneyu(values, some, alternative="less").pvalue) for some in others.values()
    ]
    return dict(zip(others, fig3d_significance.holm(tests), strict=True))


@claim(
    "bisecting",
    "Trees built by boost k-means are the best trees after refinement, too",
    "After refinement, they are below BsKM, BsKM++ and RBK by 0.1 to 0.2 %.",
    "Agrees if the refined mean of each BsBKM is below those of all three, and their values are "
    "significantly lower than those of each (one-sided Mann-Whitney test of at least three seeds, "
    "corrected by Holm, p < 0.05); in part if their mean is below that of each.",
)
def refined_boosted_trees_best(result: Json) -> Finding:
    """Compare the refined means over the seeds."""
    return boosted_against_others(
        result, "refined", "Refinement removes most of the differences between trees."
    )


@claim(
    "bisecting",
    "A whole tree takes less than a twentieth of one iteration of k-means",
    "Bisecting is more than 20 times faster than a single iteration of k-means.",
    "Agrees if an iteration of k-means takes at least 20 times as long as BsBKM(non); in part if it "
    "takes at least 5 times as long.",
)
def tree_against_iteration(result: Json) -> Finding:
    """Return the time of an iteration of k-means relative to a tree."""
    kmeans = run_of(result, method="k-means")
    ratio = figure_of(kmeans, "seconds_of_iteration") / mean_of(result, "BsBKM(non)", "seconds")
    return Finding(
        f"{ratio_text(ratio)} times as long, for {kmeans['run']['k']:,} clusters",
        verdict(ratio >= 20, ratio >= 5),
        "A tree visits each row in log2(k) splits, with several passes each. An iteration compares each "
        "row with k centres, but by a matrix product at the full speed of the processor. The ratio "
        "grows with k.",
    )


@claim(
    "bisecting",
    "Splits need few passes",
    "The average number of iterations of a split is much smaller than that of k-means.",
    "Agrees if the mean number of passes of the splits of BsBKM(non) is at most a tenth of the "
    "iterations of k-means for every seed; in part if it is at most a quarter.",
)
def splits_need_few_passes(result: Json) -> Finding:
    """Compare the passes per split with the iterations of k-means."""
    passes = [figure_of(run, "passes") for run in runs_of(result, method="BsBKM(non)")]
    highest = max(one["mean"] for one in passes)
    longest = max(one["max"] for one in passes)
    iterations = figure_of(run_of(result, method="k-means"), "iterations")
    return Finding(
        f"at most {highest:.1f} passes per split on average (at most {longest} in one split), "
        f"{iterations} iterations of k-means",
        verdict(highest <= iterations / 10, highest <= iterations / 4),
        "Most splits are those of small sets, which need few passes. "
        "[Number of sections](paper/sections.md) has the passes weighted by rows.",
    )


@claim(
    "bisecting",
    "After refinement, trees are still 7 % above k-means",
    "Refinement takes trees from 13 % above k-means to 7 % above.",
    "Agrees if each of the six refined trees is 5 to 9 % above k-means; in part if each is at least 3 % "
    "above.",
)
def refined_trees_above(result: Json) -> Finding:
    """Return the refined trees relative to k-means."""
    target = run_of(result, method="k-means")["distortion"]
    gaps = [percent(mean_of(result, one, "refined"), target) for one in TREES]
    after_first = [
        figure_of(run, "refined_after")[0] for one in TREES for run in runs_of(result, method=one)
    ]
    first = percent(statistics.fmean(after_first), target)
    return Finding(
        f"{min(gaps):+.2f} to {max(gaps):+.2f} % relative to k-means; on average {first:+.1f} % after "
        "the first sweep",
        verdict(all(5 <= gap <= 9 for gap in gaps), min(gaps) >= 3),
        "The paper does not say how it refined. Here refinement continues until hardly anything moves. "
        "[Refinement of pairs](paper/pair_refinement.md) tests a weaker refinement.",
    )


# Number of sections


def by_seed(result: Json, s: int, figure: str) -> dict[int, float]:
    """Return a figure of the trees with s sections per split, by seed."""
    return {run["run"]["seed"]: figure_of(run, figure) for run in runs_of(result, s=s)}


def lowest_for_all_seeds(result: Json, figure: str) -> bool:
    """Return True if a figure is lowest with two sections, for each seed."""
    two, *others = (by_seed(result, s, figure) for s in SECTIONS)
    if any(some.keys() != two.keys() for some in others):
        raise NotMeasuredError("Some numbers of sections have fewer seeds than others.")
    return all(two[seed] < some[seed] for some in others for seed in two)


@claim(
    "sections",
    "Splitting into two needs the fewest comparisons",
    "The number of comparisons, n (s - 1) log_s(k), increases with s, so s = 2 is the most efficient.",
    "Agrees if s = 2 needs the fewest comparisons and the least time of s = 2, 3, 4, 8 and 16, for "
    "every seed; in part if it needs the fewest comparisons for every seed.",
)
def two_sections_cheapest(result: Json) -> Finding:
    """Return comparisons and seconds relative to those of s = 2."""
    comparisons, seconds, distortions = (
        {s: statistics.fmean(by_seed(result, s, name).values()) for s in SECTIONS}
        for name in ("comparisons", "seconds", "distortion")
    )
    fewest, fastest = (lowest_for_all_seeds(result, name) for name in ("comparisons", "seconds"))
    return Finding(
        "; ".join(
            f"s = {s}: {comparisons[s] / comparisons[2]:.1f} times the comparisons, "
            f"{seconds[s] / seconds[2]:.2f} times the time, distortion "
            f"{percent(distortions[s], distortions[2]):+.1f} %"
            for s in SECTIONS
            if s != 2
        ),
        verdict(fewest and fastest, fewest),
        "The paper assumes the same number of passes for each s. The comparisons here are counted, with "
        "the passes that each split made. The figures are means; times that differ by a few percent are "
        "within the differences between seeds.",
    )


# Priorities


@claim(
    "split_priority",
    "Splitting the largest cluster is more stable",
    "It is usually more stable than splitting the cluster with the highest average distance.",
    "Agrees if the distortion of 20 seeds has a lower standard deviation than with the average distance "
    "on most data sets, a significantly lower one on at least half of them, and a significantly higher "
    "one on none (Brown-Forsythe test, corrected by Holm, p < 0.05); in part if it is lower on most "
    "sets, and significantly higher on none.",
)
def largest_more_stable(result: Json) -> Finding:
    """Compare the standard deviations of both priorities."""
    names = sorted({run["run"]["set"] for run in runs_of(result)})
    both = {
        name: [run_of(result, set=name, split=one)["distortion"] for one in ("largest", "average")]
        for name in names
    }
    shares = {
        name: [[100 * one / statistics.fmean(some) for one in some] for some in pair]
        for name, pair in both.items()
    }
    deviations = {name: [statistics.stdev(some) for some in pair] for name, pair in shares.items()}
    tests = [float(stats.levene(*shares[name], center="median").pvalue) for name in names]
    p_values = dict(zip(names, fig3d_significance.holm(tests), strict=True))
    lower = [largest < average for largest, average in deviations.values()]
    clearly_lower, clearly_higher = (
        sum(p < LEVEL and one == wanted for p, one in zip(p_values.values(), lower, strict=True))
        for wanted in (True, False)
    )
    usually = sum(lower) * 2 > len(lower) and not clearly_higher
    return Finding(
        "; ".join(
            f"{name} {deviations[name][0]:.2f} % against {deviations[name][1]:.2f} % "
            f"(p = {p_values[name]:.1g}; the mean with the average distance is "
            f"{percent(statistics.fmean(average), statistics.fmean(largest)):+.1f} %)"
            for name, (largest, average) in both.items()
        ),
        verdict(usually and 2 * clearly_lower >= len(lower), usually),
        "With the average distance, some clusters stay large: the page shows their sizes.",
    )


CLAIMS: list[Judge] = [
    trees_above_kmeans, trees_like_one_iteration, boosted_trees_best, refined_boosted_trees_best,
    tree_against_iteration, splits_need_few_passes, refined_trees_above, two_sections_cheapest,
    largest_more_stable,
]  # fmt: skip
