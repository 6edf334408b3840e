"""The paper's claims about the algorithm itself, and about distortion."""

from experiment import Json

# isort: split
# What is above settles threads, before NumPy is imported.
import statistics

import numpy as np
from numpy.typing import NDArray

import fig3d_significance
from claim import Finding, Judge, NotMeasuredError, claim, graded, percent, run_of, runs_of

STARTS = ("non", "rnd", "kpp")
BOOSTED_TREES = ("BsBKM(non)", "BsBKM(rnd)", "BsBKM(kpp)")
LLOYD_TREES = ("BsKM", "BsKM++")
TREES = (*LLOYD_TREES, *BOOSTED_TREES, "RBK")
Floats = NDArray[np.float64]


def ended(result: Json, method: str) -> Json:
    """The run of a method that was not cut off by a time limit: its end is the method's."""
    run = run_of(result, method=method)
    if run.get("ended") == "time":
        raise NotMeasuredError(f"{method} was stopped by the time limit.")
    return run


def after(run: Json, iteration: int) -> float:
    """The distortion of a course after so many iterations."""
    if run.get("ended") == "time" and run["curve"][-1][0] < iteration:
        raise NotMeasuredError(f"Stopped by the time limit before iteration {iteration}.")
    known = [value for number, _, value in run["curve"] if number <= iteration]
    if not known:
        raise NotMeasuredError(f"There is no figure after {iteration} iterations.")
    return float(known[-1])


# Fig. 1 and 2


@claim(
    "iterations",
    "A random partition gets compact within one sweep",
    "Its Fig. 1: random labels are a mess, and clusters are compact after one iteration.",
    "The first sweep goes at least 80 % of the way from the start's distortion to the end's; 50 "
    "%: in part.",
)
def compact_after_one(result: Json) -> Finding:
    """Of the example in the plane."""
    run = run_of(result, method="boost")
    start, first, end = (run["states"][i]["distortion"] for i in (0, 1, -1))
    share = (start - first) / (start - end)
    return Finding(
        f"{100 * share:.0f} % of the way ({start:.3f} to {first:.3f}, the end is {end:.3f})",
        graded(share >= 0.8, share >= 0.5),
        "Centres follow each row at once, so that later rows find clusters that are apart already.",
    )


@claim(
    "iterations",
    "In the plane, about ten sweeps lead to the end, and there Lloyd's condition holds",
    "Its example ends at the 10th iteration, where every row is in the cell of its own centre.",
    "At most 12 sweeps on the average of all starts, and no row nearer to another centre; up to "
    "20: in part.",
)
def ends_at_lloyds_condition(result: Json) -> Finding:
    """Of all starts."""
    run = run_of(result, method="starts")
    sweeps, elsewhere = statistics.fmean(run["iterations_boost"]), run["elsewhere"]
    return Finding(
        f"{sweeps:.1f} sweeps on the average; {elsewhere} rows nearer to another centre",
        graded(sweeps <= 12 and not elsewhere, sweeps <= 20 and not elsewhere),
        "If no single move gains anything, no row is nearer to another centre; the reverse is not true.",
    )


@claim(
    "iterations",
    "The objective rises with every sweep, until nothing moves",
    "Its Appendix B: a move is made only if it raises the objective, so the procedure converges.",
    "The distortion never rises from one sweep to the next, in any run of all starts.",
)
def monotone(result: Json) -> Finding:
    """Of all starts."""
    run = run_of(result, method="starts")
    n = sum(run["iterations_boost"])
    return Finding(
        f"the distortion rose {run['rises']} times in {n:,} sweeps",
        graded(run["rises"] == 0),
        "The gain is exact, with the terms that the paper's formula leaves out; the appendix "
        "itself only "
        "shows that for large clusters.",
    )


def last_k(result: Json) -> list[Json]:
    """The seeds of the largest tree."""
    trees = [run for run in runs_of(result) if not run["run"].get("plane")]
    if not trees:
        raise NotMeasuredError("There are no trees.")
    largest = max(run["run"]["k"] for run in trees)
    return [run for run in trees if run["run"]["k"] == largest]


@claim(
    "lloyd_condition",
    "A bisecting tree breaks Lloyd's condition",
    "Its Fig. 2: after another split, rows of a neighbouring part are nearer to a new centre, "
    "and cannot go.",
    "At the largest k, more than 1 % of the rows are nearer to another mean; any: in part.",
)
def tree_breaks_condition(result: Json) -> Finding:
    """On real vectors."""
    runs = last_k(result)
    share = statistics.fmean(run["share_before"] for run in runs)
    return Finding(
        f"{100 * share:.1f} % of the rows, for {runs[0]['run']['k']:,} clusters",
        graded(share > 0.01, share > 0),
        "Each split adds borders that rows of other branches are on the wrong side of.",
    )


@claim(
    "lloyd_condition",
    "Refinement by boost k-means alleviates this",
    "Alg. 1 after Alg. 2 helps, at the cost of time.",
    "Refinement leaves less than a tenth of such rows, and lowers the distortion; less than "
    "half: in part.",
)
def refinement_repairs_condition(result: Json) -> Finding:
    """On real vectors."""
    runs = last_k(result)
    before, left = (
        statistics.fmean(run[f"share_{when}"] for run in runs) for when in ("before", "after")
    )
    gain = statistics.fmean(percent(r["distortion_after"], r["distortion_before"]) for r in runs)
    return Finding(
        f"{100 * before:.1f} % before, {100 * left:.2f} % after; distortion {gain:+.1f} %",
        graded(left < before / 10 and gain < 0, left < before / 2 and gain < 0),
        "It is run until no move is left; then the condition holds for all rows.",
    )


# Fig. 3 a to c


@claim(
    "distortion",
    "BKM(non) is where k-means ends after a few iterations",
    "k-means is at 40,450 after 130 iterations, BKM(non) after 7.",
    "At most 10 iterations; at most 20: in part.",
)
def reaches_kmeans(result: Json) -> Finding:
    """The first iteration at or below the end of k-means."""
    target, run = ended(result, "k-means")["distortion"], run_of(result, method="BKM(non)")
    reached = next((number for number, _, value in run["curve"] if value <= target), None)
    if reached is None:
        return Finding("never", graded(False), "")
    return Finding(
        f"after {reached:.0f} iterations",
        graded(reached <= 10, reached <= 20),
        "Sweeps are the paper's, decided one by one; that they are made in blocks changes little.",
    )


@claim(
    "distortion",
    "BKM ends considerably lower than k-means",
    "It converges to a considerably better local optimum (its Fig. 3, without a figure in the text).",
    "BKM(non) ends at least 1 % below k-means; below at all: in part.",
)
def ends_below_kmeans(result: Json) -> Finding:
    """At the end of both."""
    gap = percent(run_of(result, method="BKM(non)")["distortion"],
                  ended(result, "k-means")["distortion"])  # fmt: skip
    return Finding(
        f"{gap:+.2f} %",
        graded(gap <= -1, gap < 0),
        "Every end of Hartigan's exchanges is one of Lloyd's, but not the other way round.",
    )


@claim(
    "distortion",
    "The initial assignment is not needed",
    "A start by k-means' or k-means++'s centres improves the end of BKM slightly at best.",
    "BKM(non) ends at most 0.5 % above the better of BKM(rnd) and BKM(kpp); at most 1.5 %: in part.",
)
def no_assignment_needed(result: Json) -> Finding:
    """At the end."""
    ends = {start: run_of(result, method=f"BKM({start})")["distortion"] for start in STARTS}
    gap = percent(ends["non"], min(ends["rnd"], ends["kpp"]))
    return Finding(f"{gap:+.2f} %", graded(gap <= 0.5, gap <= 1.5), "")


@claim(
    "distortion",
    "The advantage of better starts fades after 15 iterations",
    "BKM(rnd) and BKM(kpp) begin lower than BKM(non), and are level with it from 15 iterations on.",
    "After 15 iterations BKM(non) is at most 0.5 % above each of them; at most 1.5 %: in part.",
)
def advantage_fades(result: Json) -> Finding:
    """After 1 and 15 iterations."""
    runs = {start: run_of(result, method=f"BKM({start})") for start in STARTS}
    gaps = {
        start: [percent(after(runs["non"], i), after(runs[start], i)) for i in (1, 15)]
        for start in ("rnd", "kpp")
    }
    worst = max(late for _, late in gaps.values())
    shown = "; ".join(
        f"BKM(non) against BKM({start}) {early:+.1f} % after 1, {late:+.2f} % after 15"
        for start, (early, late) in gaps.items()
    )
    return Finding(shown, graded(worst <= 0.5, worst <= 1.5), "")


def fast_pairs(result: Json) -> dict[str, tuple[Json, Json]]:
    """BKM with best moves and with first ones, by start."""
    pairs = {}
    for start in STARTS:
        names = (f"BKM({start})", f"BKM({start})+Fast")
        there = {
            run["run"]["method"]: run
            for run in result["runs"]
            if "failure" not in run and run.get("ended") != "time"
        }
        if all(name in there for name in names):
            pairs[start] = (there[names[0]], there[names[1]])
    if not pairs:
        raise NotMeasuredError("There is no pair of BKM and BKM+Fast.")
    return pairs


@claim(
    "distortion",
    "Moving to the first better cluster (+Fast) ends lower than moving to the best",
    "+Fast falls more slowly, and is below from about 20 iterations on, for all kinds of starts.",
    "+Fast ends lower for all starts that were measured; for some: in part.",
)
def fast_ends_lower(result: Json) -> Finding:
    """At the end."""
    gaps = {
        start: percent(fast["distortion"], best["distortion"])
        for start, (best, fast) in fast_pairs(result).items()
    }
    shown = ", ".join(f"{start} {gap:+.2f} %" for start, gap in gaps.items())
    lower = [gap < 0 for gap in gaps.values()]
    return Finding(
        shown,
        graded(all(lower), any(lower)),
        "The order in which clusters are tried is not given in the paper; here each row begins "
        "at a random one.",
    )


@claim(
    "distortion",
    "+Fast is 5 % faster",
    "BKM+Fast takes about 5 % less time than BKM.",
    "A whole run takes at least 3 % less time, on the average of the starts; only its iterations "
    "do: in part.",
)
def fast_is_faster(result: Json) -> Finding:
    """Runs as a whole, and their iterations."""
    pairs = fast_pairs(result).values()
    whole = statistics.fmean(percent(fast["seconds"], best["seconds"]) for best, fast in pairs)
    each = statistics.fmean(
        percent(fast["seconds"] / fast["iterations"], best["seconds"] / best["iterations"])
        for best, fast in pairs
    )
    return Finding(
        f"a run takes {whole:+.0f} %, an iteration {each:+.0f} %",
        graded(whole <= -3, each <= -3),
        "All clusters are scored by a matrix product here, which leaves little to save by "
        "stopping early.",
    )


@claim(
    "distortion",
    "Little changes after 20 iterations",
    "Most methods take more than 120 iterations to converge, but one may as well stop at 20.",
    "After 20 iterations k-means and BKM(non) are at most 1 % above their ends; at most 2 %: in part.",
)
def little_after_twenty(result: Json) -> Finding:
    """Above the end."""
    gaps = {}
    for method in ("k-means", "BKM(non)"):
        run = ended(result, method)
        gaps[method] = percent(after(run, 20), run["curve"][-1][2])
    worst = max(gaps.values())
    shown = ", ".join(f"{method} {gap:.2f} % above its end" for method, gap in gaps.items())
    return Finding(shown, graded(worst <= 1, worst <= 2), "")


@claim(
    "distortion",
    "k-means and k-means++ have similar courses",
    "Their curves are alike.",
    "They end within 1 % of each other; within 2 %: in part.",
)
def similar_courses(result: Json) -> Finding:
    """At the end."""
    gap = percent(ended(result, "k-means++")["distortion"],
                  ended(result, "k-means")["distortion"])  # fmt: skip
    return Finding(f"k-means++ ends {gap:+.2f} %", graded(abs(gap) <= 1, abs(gap) <= 2), "")


@claim(
    "distortion",
    "Mini-Batch is far above the others",
    "There is a big gap between Mini-Batch and all other variants.",
    "It ends at least 5 % above k-means; at least 1 %: in part.",
)
def mini_batch_far_above(result: Json) -> Finding:
    """At the end."""
    gap = percent(ended(result, "Mini-Batch")["distortion"],
                  ended(result, "k-means")["distortion"])  # fmt: skip
    return Finding(
        f"{gap:+.1f} %",
        graded(gap >= 5, gap >= 1),
        "Batches of a tenth of the rows, as the paper's words can be read; how many it had is not said.",
    )


@claim(
    "distortion",
    "LVQ is considerably poor",
    "Although it moves centres one by one as well, it is much worse than BKM.",
    "LVQ ends above k-means, and at least 2 % above BKM(non); only one of both: in part.",
)
def lvq_poor(result: Json) -> Finding:
    """At the end."""
    lvq = ended(result, "LVQ")["distortion"]
    to_kmeans, to_boost = (
        percent(lvq, ended(result, method)["distortion"]) for method in ("k-means", "BKM(non)")
    )
    return Finding(
        f"{to_kmeans:+.1f} % against k-means, {to_boost:+.1f} % against BKM(non)",
        graded(to_kmeans > 0 and to_boost >= 2, to_kmeans > 0 or to_boost >= 2),
        "Its rate would be negative after 25 iterations, where it ends here.",
    )


# Fig. 3 d


def samples(result: Json, method: str) -> Floats:
    """All runs of a method."""
    values = [value for run in runs_of(result, method=method) for value in run["distortion"]]
    if len(values) < 8:
        raise NotMeasuredError(f"There are only {len(values)} runs of {method}.")
    return np.array(values)


@claim(
    "significance",
    "k-means and k-means++ do not differ significantly",
    "128 runs of each show no significant difference.",
    "p of Mann-Whitney's test is at least 0.01, corrected for all pairs (Holm); else, if the means are "
    "within 0.2 %: in part.",
)
def no_difference_of_seeding(result: Json) -> Finding:
    """By a rank test."""
    plain, plus = samples(result, "k-means"), samples(result, "k-means++")
    there = {run["run"]["method"] for run in result["runs"]}
    pairs = fig3d_significance.compared({method: samples(result, method) for method in there})
    p = next(one["corrected"] for one in pairs if set(one["pair"]) == {"k-means", "k-means++"})
    gap = percent(plus.mean(), plain.mean())
    return Finding(
        f"{len(plus)} runs: k-means++ {gap:+.2f} %, p = {p:.1e}",
        graded(p >= 0.01, abs(gap) <= 0.2),
        "With so many runs, a test sees differences that nobody else would.",
    )


@claim(
    "significance",
    "BKM differs from k-means by much more than runs differ from each other",
    "The gap between BKM and k-means is much larger than the variations across 128 runs.",
    "BKM(non) is lower by at least 3 pooled standard deviations; by 1: in part.",
)
def boost_differs(result: Json) -> Finding:
    """In standard deviations."""
    plain, boost = samples(result, "k-means"), samples(result, "BKM(non)")
    deviations = (plain.mean() - boost.mean()) / np.sqrt((plain.var(ddof=1) + boost.var(ddof=1)) / 2)
    return Finding(
        f"{percent(boost.mean(), plain.mean()):+.2f} %, {deviations:.1f} standard deviations",
        graded(deviations >= 3, deviations >= 1),
        "",
    )


# Table 2


def mean_of(result: Json, method: str, figure: str = "distortion") -> float:
    """Over the seeds."""
    return statistics.fmean(run[figure] for run in runs_of(result, method=method))


@claim(
    "bisecting",
    "Trees end well above k-means",
    "All bisecting methods are about 13 % above k-means, about where that is after one iteration.",
    "All trees are at least 8 % above k-means; at least 3 %: in part.",
)
def trees_above_kmeans(result: Json) -> Finding:
    """The lowest and the highest tree."""
    target = run_of(result, method="k-means")["distortion"]
    gaps = [percent(mean_of(result, method), target) for method in TREES]
    return Finding(
        f"{min(gaps):+.1f} to {max(gaps):+.1f} %",
        graded(min(gaps) >= 8, min(gaps) >= 3),
        "Rows never go back to another branch (Fig. 2).",
    )


@claim(
    "bisecting",
    "Trees by boost k-means are the best trees",
    "Methods built upon Alg. 1 are always lower than BsKM and BsKM++ (by 0.4 %).",
    "Each BsBKM is below both; on the average: in part.",
)
def boosted_trees_best(result: Json) -> Finding:
    """Means over the seeds."""
    boosted = [mean_of(result, method) for method in BOOSTED_TREES]
    others = [mean_of(result, method) for method in LLOYD_TREES]
    gap = percent(statistics.fmean(boosted), statistics.fmean(others))
    return Finding(f"{gap:+.2f} % on the average", graded(max(boosted) < min(others), gap < 0), "")


@claim(
    "bisecting",
    "A whole tree takes less than a twentieth of one iteration of k-means",
    "Bisecting is more than 20 times faster than a single iteration of k-means.",
    "An iteration of k-means takes at least 20 times as long as BsBKM(non); at least as long: in part.",
)
def tree_against_iteration(result: Json) -> Finding:
    """By the clock."""
    kmeans = run_of(result, method="k-means")
    ratio = kmeans["seconds_of_iteration"] / mean_of(result, "BsBKM(non)", "seconds")
    return Finding(
        f"{ratio:.2g} times as long, for {kmeans['run']['k']:,} clusters",
        graded(ratio >= 20, ratio >= 1),
        "A tree visits each row in log2(k) splits, an iteration compares it with k centres, but by a "
        "matrix product at the full speed of the processor. The ratio grows with k.",
    )


@claim(
    "bisecting",
    "After refinement, trees are still 7 % above k-means",
    "Refinement takes trees from 13 % above k-means to 7 % above.",
    "The mean of the refined trees is at least 3 % above k-means; above at all: in part.",
)
def refined_trees_above(result: Json) -> Finding:
    """Means over methods and seeds."""
    target = run_of(result, method="k-means")["distortion"]
    mean = statistics.fmean(percent(mean_of(result, one, "refined"), target) for one in TREES)
    every = [run["refined_after"][0] for one in TREES for run in runs_of(result, method=one)]
    first = percent(statistics.fmean(every), target)
    return Finding(
        f"{mean:+.2f} % against k-means; {first:+.1f} % after the first sweep",
        graded(mean >= 3, mean > 0),
        "The paper does not say how long it refined. Here it goes on until hardly anything moves.",
    )


# top-k0


@claim(
    "top_k0",
    "Looking at the k0 nearest clusters alone is 7 to 8 times faster, at no real loss",
    "Typically 7 to 8 times; neither k0 nor k is given.",
    "For every k, a k0 whose end is at most 1 % above that of all clusters has sweeps at least 7 times "
    "faster; for some k, at least 3 times: in part.",
)
def candidates_are_faster(result: Json) -> Finding:
    """The best such k0, by size."""
    found: list[tuple[float, str]] = []
    for base in runs_of(result, k0=None):
        n, k = base["run"]["n"], base["run"]["k"]
        best: tuple[float, str] = (0.0, f"k={k:,}: none ends within 1 %")
        for run in runs_of(result, n=n, k=k):
            loss, k0 = percent(run["distortion"], base["distortion"]), run["run"]["k0"]
            if k0 is not None and loss <= 1:
                factor = base["sweep_seconds"] / run["sweep_seconds"]
                best = max(best, (factor, f"k={k:,}, k0={k0}: {factor:.1f} times, {loss:+.2f} %"))
        found.append(best)
    return Finding(
        "; ".join(text for _, text in found),
        graded(all(factor >= 7 for factor, _ in found), any(factor >= 3 for factor, _ in found)),
        "What is saved in distances is paid for in part by gathering centres; the factor grows with k.",
    )


CLAIMS: list[Judge] = [
    compact_after_one, ends_at_lloyds_condition, monotone, tree_breaks_condition,
    refinement_repairs_condition, reaches_kmeans, ends_below_kmeans, no_assignment_needed,
    advantage_fades, fast_ends_lower, fast_is_faster, little_after_twenty, similar_courses,
    mini_batch_far_above, lvq_poor, no_difference_of_seeding, boost_differs, trees_above_kmeans,
    boosted_trees_best, tree_against_iteration, refined_trees_above, candidates_are_faster,
]  # fmt: skip
