"""Claims of the paper about direct k-way boost k-means: Fig. 3 a and b."""

from claim import (
    Finding,
    Judge,
    NotMeasuredError,
    claim,
    figure_of,
    percent,
    run_of,
    verdict,
)
from experiment import Json

STARTS = ("non", "rnd", "kpp")
# Maximum number of iterations of the paper's scalability experiments.
FEW_ITERATIONS = 20


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


def seconds_after(run: Json, iteration: float) -> float:
    """Return the seconds of a run until an iteration.

    They are in its curve, or follow from the seconds of its start and of an iteration.
    """
    if "start_seconds" in run:
        return float(run["start_seconds"] + iteration * figure_of(run, "seconds_of_iteration"))
    known = [seconds for number, seconds, _ in run["curve"] if number <= iteration]
    if not known or known[-1] is None:
        raise NotMeasuredError(f"There are no seconds of {run['run']['method']} yet.")
    return float(known[-1])


def first_at_or_below(run: Json, target: float) -> float | None:
    """Return the first iteration with a distortion, or None if the run does not reach it."""
    return next((number for number, _, value in run["curve"] if value <= target), None)


@claim(
    "distortion",
    "BKM(non) reaches the final distortion of k-means after a few iterations",
    "k-means reaches 40,450 after 130 iterations, BKM(non) after 7. It needs as many to outperform "
    "k-means++.",
    "Agrees if it reaches the final distortions of k-means and of k-means++ within 10 iterations; in "
    "part within 20.",
)
def reaches_kmeans(result: Json) -> Finding:
    """Return the first iterations at or below the final distortions of k-means and k-means++."""
    run = run_of(result, method="BKM(non)")
    reached = {
        one: first_at_or_below(run, ended(result, one)["distortion"]) for one in ("k-means", "k-means++")
    }
    latest = max(float("inf") if number is None else number for number in reached.values())
    return Finding(
        ", ".join(
            f"that of {one} {'never' if number is None else f'after {number:.0f} iterations'}"
            for one, number in reached.items()
        ),
        verdict(latest <= 10, latest <= 20),
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
    "Agrees if BKM(non) is above each of them after 1 iteration and at most 0.5 % above it after 15; in "
    "part up to 1.5 %.",
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
    existed = all(early > max(late, 0) for early, late in gaps.values())
    measured = "; ".join(
        f"BKM(non) relative to BKM({start}): {early:+.1f} % after 1 iteration, {late:+.2f} % after 15"
        for start, (early, late) in gaps.items()
    )
    return Finding(measured, verdict(existed and worst <= 0.5, existed and worst <= 1.5))


@claim(
    "distortion",
    "The initial assignment is costly",
    "Starting from the centres of k-means or k-means++ slows BKM down considerably.",
    "Agrees if 20 iterations of BKM(rnd) and of BKM(kpp) take at least 10 % longer than those of "
    "BKM(non), which is the share of two iterations; in part if one of them does.",
)
def assignment_is_costly(result: Json) -> Finding:
    """Compare the seconds of the starts after 20 iterations."""
    seconds = {
        start: seconds_after(run_of(result, method=f"BKM({start})"), FEW_ITERATIONS) for start in STARTS
    }
    longer = {start: percent(seconds[start], seconds["non"]) for start in ("rnd", "kpp")}
    costly = [gap >= 10 for gap in longer.values()]
    return Finding(
        ", ".join(f"BKM({start}) {gap:+.0f} %" for start, gap in longer.items()),
        verdict(all(costly), any(costly)),
        "One assignment takes about as long as one iteration, and k-means++ adds k comparisons per row. "
        "A random partition needs a slow first iteration instead, in which nearly all rows move.",
    )


def fast_pairs(result: Json) -> dict[str, tuple[Json, Json]]:
    """Return the runs of BKM with best moves and with first moves, for all starts."""
    return {
        start: (ended(result, f"BKM({start})"), ended(result, f"BKM({start})+Fast")) for start in STARTS
    }


@claim(
    "distortion",
    "+Fast needs more iterations",
    "Moving to the first better cluster usually takes a few more iterations to the same distortion.",
    "Agrees if +Fast reaches the distortion that BKM has after 10 iterations later than BKM, for all "
    "three starts; in part for two.",
)
def fast_needs_more_iterations(result: Json) -> Finding:
    """Return the iterations of +Fast to the distortion of BKM after 10 iterations."""
    found = {
        start: first_at_or_below(fast, distortion_after(best, 10))
        for start, (best, fast) in fast_pairs(result).items()
    }
    later = [number is None or number > 10 for number in found.values()]
    return Finding(
        ", ".join(
            f"{start} {'never' if number is None else f'after {number:.0f}'}"
            for start, number in found.items()
        ),
        verdict(all(later), sum(later) >= 2),
    )


@claim(
    "distortion",
    "Little changes after 20 iterations",
    "The distortion hardly changes after 20 iterations, so clustering can be stopped there.",
    "Agrees if k-means, k-means++ and BKM(non) are at most 0.5 % above their final distortion after 20 "
    "iterations; in part up to 1 %.",
)
def little_after_twenty(result: Json) -> Finding:
    """Compare the distortion after 20 iterations with the final one."""
    gaps = {}
    for method in ("k-means", "k-means++", "BKM(non)"):
        run = ended(result, method)
        gaps[method] = percent(distortion_after(run, 20), run["curve"][-1][2])
    worst = max(gaps.values())
    measured = ", ".join(f"{method} {gap:.2f} % above its end" for method, gap in gaps.items())
    return Finding(measured, verdict(worst <= 0.5, worst <= 1))


CLAIMS: list[Judge] = [
    reaches_kmeans, ends_below_kmeans, no_assignment_needed, advantage_fades, assignment_is_costly,
    fast_needs_more_iterations, little_after_twenty,
]  # fmt: skip
