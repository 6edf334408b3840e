"""Claims of the paper about other variants of k-means: Fig. 3 c."""

from itertools import pairwise

from claim import (
    Finding,
    Judge,
    claim,
    percent,
    ratio_text,
    run_of,
    verdict,
)
from claims_direct import STARTS, distortion_after, ended, first_at_or_below, seconds_after
from experiment import Json

MINI_BATCHES = ("Mini-Batch", "Mini-Batch, 10 % in total")
# Methods of Fig. 3 c that run until nothing moves.
NAMED = ("k-means", "k-means++", "BKM(non)")
# All methods that run until nothing moves.
CONVERGING = (
    "k-means", "k-means++", *[f"BKM({start})" for start in STARTS],
    *[f"BKM({start})+Fast" for start in STARTS],
)  # fmt: skip
# Relative rise of the distortion that counts as none.
NO_RISE = 1e-6


@claim(
    "distortion",
    "Most methods take more than 120 iterations",
    "Most of the methods, including k-means and k-means++, take more than 120 iterations to converge.",
    "Agrees if k-means, k-means++ and more than half of all methods that run until nothing moves take "
    "more than 120 iterations; in part if k-means, k-means++ or BKM(non) does.",
)
def more_than_120(result: Json) -> Finding:
    """Return the number of iterations of each method."""
    counts = {one: ended(result, one)["iterations"] for one in CONVERGING}
    long = [one for one, count in counts.items() if count > 120]
    most = len(long) * 2 > len(counts) and {"k-means", "k-means++"} <= set(long)
    return Finding(
        ", ".join(f"{one} {count:.0f}" for one, count in counts.items()),
        verdict(most, bool(set(NAMED) & set(long))),
        "130 is the limit. The number grows with n and k.",
    )


@claim(
    "distortion",
    "The distortion of all methods decreases steadily",
    "The distortion of each method decreases steadily as the iterations continue.",
    "Agrees if the distortion of k-means, k-means++, Mini-Batch, LVQ and BKM(non) never rises; in part "
    "if only that of Mini-Batch or LVQ does.",
)
def decreases_steadily(result: Json) -> Finding:
    """Return how often the distortion of each method rises."""
    methods = ("k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)")
    rises = {}
    for one in methods:
        values = [value for _, _, value in ended(result, one)["curve"]]
        rises[one] = sum(after > before * (1 + NO_RISE) for before, after in pairwise(values))
    rising = {one for one, count in rises.items() if count}
    return Finding(
        ", ".join(f"{one} rises {count} times" for one, count in rises.items()),
        verdict(not rising, rising <= {"Mini-Batch", "LVQ"}),
        "Mini-Batch is measured after each of its first 10 batches, and then after every tenth.",
    )


@claim(
    "distortion",
    "k-means and k-means++ have similar curves",
    "Their curves are alike.",
    "Agrees if they are within 1 % of each other after every iteration, and end within 0.5 %; in part "
    "if they end within 0.5 %.",
)
def similar_curves(result: Json) -> Finding:
    """Compare the distortions of both seedings after each iteration. A run that ended keeps its last."""
    plain, plus = ended(result, "k-means"), ended(result, "k-means++")
    last = int(max(run["curve"][-1][0] for run in (plain, plus)))
    gaps = {
        number: percent(distortion_after(plus, number), distortion_after(plain, number))
        for number in range(1, last + 1)
    }
    widest = max(gaps, key=lambda number: abs(gaps[number]))
    alike = abs(gaps[last]) <= 0.5
    return Finding(
        f"k-means++ {gaps[last]:+.2f} % relative to k-means at the end; at most {gaps[widest]:+.2f} %, "
        f"after iteration {widest}",
        verdict(alike and abs(gaps[widest]) <= 1, alike),
    )


@claim(
    "distortion",
    "Mini-Batch is far above the others",
    "There is a big gap between Mini-Batch and all other variants.",
    "Agrees if it ends at least 5 % above each of k-means, k-means++, LVQ and BKM(non), in both "
    "readings of its 10 %; in part in one.",
)
def mini_batch_far_above(result: Json) -> Finding:
    """Compare the final distortions of both readings with the highest of the others."""
    ends = {one: ended(result, one)["distortion"] for one in (*NAMED, "LVQ")}
    highest = max(ends, key=ends.__getitem__)
    target = ends[highest]
    gaps = {one: percent(ended(result, one)["distortion"], target) for one in MINI_BATCHES}
    far = [gap >= 5 for gap in gaps.values()]
    return Finding(
        ", ".join(f"{one} {gap:+.1f} %" for one, gap in gaps.items())
        + f" relative to {highest}, the highest of the others",
        verdict(all(far), any(far)),
        "A batch has a tenth of the rows, or all batches together have a tenth: the paper allows both "
        "readings.",
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


@claim(
    "distortion",
    "LVQ is less efficient than BKM",
    "Compared with LVQ, Alg. 1 is more efficient, because it does not update centres.",
    "Agrees if BKM(non) reaches the final distortion of LVQ in fewer iterations and in less time than "
    "LVQ; in part if only one of the two holds.",
)
def lvq_inefficient(result: Json) -> Finding:
    """Compare the iterations and the seconds to the final distortion of LVQ."""
    lvq, boost = ended(result, "LVQ"), run_of(result, method="BKM(non)")
    reached = first_at_or_below(boost, lvq["distortion"])
    if reached is None:
        return Finding("BKM(non) never reaches the distortion of LVQ", verdict(False))
    ratio = seconds_after(lvq, lvq["iterations"]) / seconds_after(boost, reached)
    return Finding(
        f"BKM(non) needs {reached:.0f} iterations instead of {lvq['iterations']:.0f}, and LVQ takes "
        f"{ratio_text(ratio)} times as long",
        verdict(reached < lvq["iterations"] and ratio > 1, reached < lvq["iterations"] or ratio > 1),
        "LVQ updates a centre after each row. This implementation compares blocks of rows with all "
        "centres, and compares a row again if its nearest centre has moved.",
    )


CLAIMS: list[Judge] = [
    more_than_120, decreases_steadily, similar_curves, mini_batch_far_above, lvq_poor, lvq_inefficient,
]  # fmt: skip
