"""Claims of the paper about the algorithm itself: Fig. 1, 2 and 3 a to c."""

import statistics

from claim import Finding, Judge, NotMeasuredError, claim, percent, run_of, runs_of, verdict
from experiment import Json

STARTS = ("non", "rnd", "kpp")


def ended(result: Json, method: str) -> Json:
    """Return the run of a method; raise NotMeasuredError if a time limit stopped it."""
    run = run_of(result, method=method)
    if run.get("ended") == "time":
        raise NotMeasuredError(f"{method} was stopped by the time limit.")
    return run


def distortion_after(run: Json, iteration: int) -> float:
    """Return the distortion of a run after a number of iterations."""
    if run.get("ended") == "time" and run["curve"][-1][0] < iteration:
        raise NotMeasuredError(f"Stopped by the time limit before iteration {iteration}.")
    known = [value for number, _, value in run["curve"] if number <= iteration]
    if not known:
        raise NotMeasuredError(f"There is no figure after {iteration} iterations.")
    return float(known[-1])


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
    "Appendix B: a move is made only if it raises the objective, so the procedure converges.",
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


# Fig. 3 a to c


@claim(
    "distortion",
    "BKM(non) reaches the final distortion of k-means after a few iterations",
    "k-means reaches 40,450 after 130 iterations, BKM(non) after 7.",
    "Agrees up to 10 iterations; in part up to 20.",
)
def reaches_kmeans(result: Json) -> Finding:
    """Return the first iteration at or below the final distortion of k-means."""
    target, run = ended(result, "k-means")["distortion"], run_of(result, method="BKM(non)")
    reached = next((number for number, _, value in run["curve"] if value <= target), None)
    if reached is None:
        return Finding("never", verdict(False))
    return Finding(
        f"after {reached:.0f} iterations",
        verdict(reached <= 10, reached <= 20),
        "Moves are decided one by one as in the paper. They are proposed for blocks of rows, which "
        "changes little.",
    )


@claim(
    "distortion",
    "BKM ends considerably lower than k-means",
    "It converges to a considerably better local optimum (Fig. 3; the text gives no figure).",
    "Agrees if BKM(non) ends at least 1 % below k-means; in part if it ends below at all.",
)
def ends_below_kmeans(result: Json) -> Finding:
    """Compare the final distortions."""
    gap = percent(run_of(result, method="BKM(non)")["distortion"],
                  ended(result, "k-means")["distortion"])  # fmt: skip
    return Finding(
        f"{gap:+.2f} %",
        verdict(gap <= -1, gap < 0),
        "Every local optimum of Hartigan's single moves is one of Lloyd's, but not vice versa.",
    )


@claim(
    "distortion",
    "The initial assignment is not needed",
    "A start from the centres of k-means or k-means++ improves the final distortion of BKM slightly at "
    "best.",
    "Agrees if BKM(non) ends at most 0.5 % above the better of BKM(rnd) and BKM(kpp); in part up to "
    "1.5 %.",
)
def no_assignment_needed(result: Json) -> Finding:
    """Compare the final distortions of the starts."""
    ends = {start: run_of(result, method=f"BKM({start})")["distortion"] for start in STARTS}
    gap = percent(ends["non"], min(ends["rnd"], ends["kpp"]))
    return Finding(f"{gap:+.2f} %", verdict(gap <= 0.5, gap <= 1.5))


@claim(
    "distortion",
    "The advantage of better starts fades after 15 iterations",
    "BKM(rnd) and BKM(kpp) start lower than BKM(non), and are level with it from 15 iterations on.",
    "Agrees if BKM(non) is at most 0.5 % above each of them after 15 iterations; in part up to 1.5 %.",
)
def advantage_fades(result: Json) -> Finding:
    """Compare the starts after 1 and after 15 iterations."""
    runs = {start: run_of(result, method=f"BKM({start})") for start in STARTS}
    gaps = {
        start: [
            percent(distortion_after(runs["non"], i), distortion_after(runs[start], i)) for i in (1, 15)
        ]
        for start in ("rnd", "kpp")
    }
    worst = max(late for _, late in gaps.values())
    measured = "; ".join(
        f"BKM(non) relative to BKM({start}): {early:+.1f} % after 1 iteration, {late:+.2f} % after 15"
        for start, (early, late) in gaps.items()
    )
    return Finding(measured, verdict(worst <= 0.5, worst <= 1.5))


def fast_pairs(result: Json) -> dict[str, tuple[Json, Json]]:
    """Return the runs of BKM with best moves and with first moves, by start."""
    finished = {
        run["run"]["method"]: run
        for run in result["runs"]
        if "failure" not in run and run.get("ended") != "time"
    }
    pairs = {
        start: (finished[f"BKM({start})"], finished[f"BKM({start})+Fast"])
        for start in STARTS
        if f"BKM({start})" in finished and f"BKM({start})+Fast" in finished
    }
    if not pairs:
        raise NotMeasuredError("There is no pair of BKM and BKM+Fast.")
    return pairs


@claim(
    "distortion",
    "Moving to the first better cluster (+Fast) ends lower than moving to the best",
    "+Fast decreases more slowly, and is below from about 20 iterations on, for all starts.",
    "Agrees if +Fast ends lower for all measured starts; in part for some.",
)
def fast_ends_lower(result: Json) -> Finding:
    """Compare the final distortions of both rules."""
    gaps = {
        start: percent(fast["distortion"], best["distortion"])
        for start, (best, fast) in fast_pairs(result).items()
    }
    lower = [gap < 0 for gap in gaps.values()]
    return Finding(
        ", ".join(f"{start} {gap:+.2f} %" for start, gap in gaps.items()),
        verdict(all(lower), any(lower)),
        "The paper does not say in which order clusters are tried. Here each row starts at a random "
        "one.",
    )


@claim(
    "distortion",
    "+Fast is 5 % faster",
    "BKM+Fast takes about 5 % less time than BKM.",
    "Agrees if a whole run takes at least 3 % less time on average over the starts; in part if only its "
    "iterations do.",
)
def fast_is_faster(result: Json) -> Finding:
    """Compare the times of whole runs, and of iterations."""
    pairs = fast_pairs(result).values()
    whole = statistics.fmean(percent(fast["seconds"], best["seconds"]) for best, fast in pairs)
    each = statistics.fmean(
        percent(fast["seconds"] / fast["iterations"], best["seconds"] / best["iterations"])
        for best, fast in pairs
    )
    return Finding(
        f"{whole:+.0f} % for a run, {each:+.0f} % for an iteration",
        verdict(whole <= -3, each <= -3),
        "A matrix product scores all clusters here, so stopping early saves little.",
    )


@claim(
    "distortion",
    "Little changes after 20 iterations",
    "Most methods take more than 120 iterations to converge, but they can be stopped at 20.",
    "Agrees if k-means and BKM(non) are at most 1 % above their final distortion after 20 iterations; "
    "in part up to 2 %.",
)
def little_after_twenty(result: Json) -> Finding:
    """Compare the distortion after 20 iterations with the final one."""
    gaps = {}
    for method in ("k-means", "BKM(non)"):
        run = ended(result, method)
        gaps[method] = percent(distortion_after(run, 20), run["curve"][-1][2])
    worst = max(gaps.values())
    measured = ", ".join(f"{method} {gap:.2f} % above its end" for method, gap in gaps.items())
    return Finding(measured, verdict(worst <= 1, worst <= 2))


@claim(
    "distortion",
    "k-means and k-means++ have similar curves",
    "Their curves are alike.",
    "Agrees if they end within 1 % of each other; in part within 2 %.",
)
def similar_curves(result: Json) -> Finding:
    """Compare the final distortions of both seedings."""
    gap = percent(ended(result, "k-means++")["distortion"],
                  ended(result, "k-means")["distortion"])  # fmt: skip
    return Finding(f"k-means++ {gap:+.2f} % relative to k-means", verdict(abs(gap) <= 1, abs(gap) <= 2))


@claim(
    "distortion",
    "Mini-Batch is far above the others",
    "There is a big gap between Mini-Batch and all other variants.",
    "Agrees if it ends at least 5 % above k-means; in part from 1 %.",
)
def mini_batch_far_above(result: Json) -> Finding:
    """Compare the final distortion of Mini-Batch with that of k-means."""
    gap = percent(ended(result, "Mini-Batch")["distortion"],
                  ended(result, "k-means")["distortion"])  # fmt: skip
    return Finding(
        f"{gap:+.1f} %",
        verdict(gap >= 5, gap >= 1),
        "A batch has a tenth of the rows, which is one reading of the paper. It does not say how many "
        "batches it used.",
    )


@claim(
    "distortion",
    "LVQ is considerably worse than BKM",
    "Although it also updates centres one row at a time, it is much worse than BKM.",
    "Agrees if LVQ ends above k-means and at least 2 % above BKM(non); in part if one of the two holds.",
)
def lvq_poor(result: Json) -> Finding:
    """Compare the final distortion of LVQ with those of k-means and BKM."""
    lvq = ended(result, "LVQ")["distortion"]
    to_kmeans, to_boost = (
        percent(lvq, ended(result, method)["distortion"]) for method in ("k-means", "BKM(non)")
    )
    return Finding(
        f"{to_kmeans:+.1f} % relative to k-means, {to_boost:+.1f} % relative to BKM(non)",
        verdict(to_kmeans > 0 and to_boost >= 2, to_kmeans > 0 or to_boost >= 2),
        "Its learning rate would be negative after 25 iterations, so it ends there.",
    )


CLAIMS: list[Judge] = [
    compact_after_one, ends_at_lloyds_condition, monotone, tree_breaks_condition,
    refinement_repairs_condition, reaches_kmeans, ends_below_kmeans, no_assignment_needed,
    advantage_fades, fast_ends_lower, fast_is_faster, little_after_twenty, similar_curves,
    mini_batch_far_above, lvq_poor,
]  # fmt: skip
