"""The paper's claims about search, documents and scalability."""

from collections.abc import Callable

from experiment import Json

# isort: split
# What is above settles threads, before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

import fig5_scalability as scalability
from claim import AGREES, IN_PART, Finding, Judge, NotMeasuredError, claim, graded, percent, runs_of

Floats = NDArray[np.float64]

DIRECT = ("k-means", "k-means++", "BKM(non)")
TREES = ("BsKM", "BsKM++", "BsBKM(non)")
# Ranks at which recall is compared.
AT = (1, 10, 100)


# Fig. 4


def recall(result: Json, m: int, method: str) -> Floats:
    """In percent at `AT`, mean over the seeds."""
    every = [one for run in runs_of(result, m=m) for one in run["methods"] if one["method"] == method]
    if not every:
        raise NotMeasuredError(f"There is no recall of {method} with {m} subspaces.")
    mean = np.mean([one["recall"] for one in every], axis=0)
    return np.array([100 * mean[r - 1] for r in AT])


def below_direct(result: Json, methods: tuple[str, ...]) -> Floats:
    """Points by which methods are below the mean of the direct ones, by m (down) and `AT` (across)."""
    return np.array([
        np.mean([recall(result, m, one) for one in DIRECT], axis=0)
        - np.mean([recall(result, m, one) for one in methods], axis=0)
        for m in (8, 16)
    ])  # fmt: skip


@claim(
    "search",
    "Quantizers by k-means, k-means++ and BKM(non) find the same",
    "Their recall is very close under all settings.",
    "At R = 1, 10, 100 the three are within 1.5 points, 8 and 16 subspaces; within 3: in part.",
)
def quantizers_alike(result: Json) -> Finding:
    """The widest spread."""
    spread = max(
        float(np.ptp([recall(result, m, one) for one in DIRECT], axis=0).max()) for m in (8, 16)
    )
    return Finding(
        f"at most {spread:.1f} points apart",
        graded(spread <= 1.5, spread <= 3),
        "The recall of 1,000 queries has a standard deviation of about a point.",
    )


@claim(
    "search",
    "Quantizers by bisecting find a little less",
    "0.1 to 1.3 % less than the direct ones.",
    "BsKM, BsKM++ and BsBKM(non) are 0 to 2 points below on the average of R and subspaces; to "
    "4: in part.",
)
def quantizers_by_trees(result: Json) -> Finding:
    """The average, and the range."""
    gaps = below_direct(result, TREES)
    return Finding(
        f"{gaps.mean():.1f} points less ({gaps.min():.1f} to {gaps.max():.1f})",
        graded(0 <= gaps.mean() <= 2, -1 <= gaps.mean() <= 4),
        "A product quantizer is tolerant of its codebooks.",
    )


@claim(
    "search",
    "Quantizers by Mini-Batch and RBK find 2 to 6 % less",
    "Both are 2 to 6 % below the others.",
    "Each is 1.5 to 7 points below on the average of R and subspaces; one of them, or more: in part.",
)
def quantizers_of_others(result: Json) -> Finding:
    """Both."""
    gaps = {one: float(below_direct(result, (one,)).mean()) for one in ("Mini-Batch", "RBK")}
    low = [gap >= 1.5 for gap in gaps.values()]
    shown = ", ".join(f"{one} {gap:.1f} points less" for one, gap in gaps.items())
    return Finding(
        shown,
        graded(all(1.5 <= gap <= 7 for gap in gaps.values()), any(low)),
        "RBK goes by the cosine, which is not what the codes are for. Mini-Batch depends on how many "
        "batches it has, which the paper does not say.",
    )


# Table 3


def entropies(result: Json) -> dict[int, dict[str, float]]:
    """The paper's way: lowest of each method's runs, averaged over the sets, by k."""
    sets = runs_of(result)
    return {
        k: {
            method: float(np.mean([min(one["methods"][method][str(k)]["entropy"]) for one in sets]))
            for method in sets[0]["methods"]
        }
        for k in sets[0]["run"]["ks"]
    }


def places(result: Json, method: str, among: Callable[[str], bool]) -> dict[int, int]:
    """The place of a method by k, from 10 clusters on."""
    found = {}
    for k, values in entropies(result).items():
        if k >= 10:
            order = sorted((one for one in values if among(one)), key=values.__getitem__)
            found[k] = order.index(method) + 1
    if not found:
        raise NotMeasuredError("There is no k of 10 or more.")
    return found


def shown_places(found: dict[int, int]) -> str:
    """On a line."""
    return ", ".join(f"number {place} for k={k}" for k, place in found.items())


def is_tree(method: str) -> bool:
    """Whether it bisects."""
    return method.startswith("Bs") or method == "RBK"


@claim(
    "documents",
    "BsBKM(non) is the best method for documents",
    "Its entropy is the lowest of ten methods for k = 10, 15 and 20 (not for 5).",
    "First for all k >= 10, by the lowest entropy of each method's runs; first or second at all: "
    "in part.",
)
def best_for_documents(result: Json) -> Finding:
    """Its place."""
    found = places(result, "BsBKM(non)", lambda _: True)
    return Finding(
        shown_places(found),
        graded(max(found.values()) == 1, min(found.values()) <= 2),
        "The paper's figures are the best of ten runs by entropy itself, the measure of the test.",
    )


@claim(
    "documents",
    "BKM(rnd)+Fast is the best direct method for documents",
    "First of six direct k-way methods for all k.",
    "First for all k >= 10; for some: in part.",
)
def best_direct_for_documents(result: Json) -> Finding:
    """Its place."""
    found = places(result, "BKM(rnd)+Fast", lambda method: not is_tree(method))
    ends = found.values()
    return Finding(shown_places(found), graded(max(ends) == 1, min(ends) == 1), "")


@claim(
    "documents",
    "Bisecting is slightly better than direct k-way for documents",
    "Trees have lower entropies.",
    "The mean of the four trees is below that of k-means, k-means++ and both BKM for all k; for "
    "some: in part.",
)
def trees_for_documents(result: Json) -> Finding:
    """Differences of means."""
    gaps = {}
    for k, values in entropies(result).items():
        trees = [value for one, value in values.items() if is_tree(one)]
        direct = [values[one] for one in (*DIRECT, "BKM(rnd)+Fast")]
        gaps[k] = float(np.mean(trees) - np.mean(direct))
    lower = [gap < 0 for gap in gaps.values()]
    shown = ", ".join(f"{gap:+.3f} for k={k}" for k, gap in gaps.items())
    return Finding(shown, graded(all(lower), any(lower)), "Mini-Batch and LVQ would make it easier.")


# Fig. 5 and 6


def exponents(result: Json, methods: tuple[str, ...]) -> dict[str, float]:
    """Of the time against k, where there are enough runs."""
    found = {one: scalability.exponent(result["runs"], one, "k") for one in methods}
    known = {one: power for one, power in found.items() if power is not None}
    if not known:
        raise NotMeasuredError("No method came to an end for two numbers of clusters.")
    return known


def shown_powers(powers: dict[str, float]) -> str:
    """On a line."""
    return ", ".join(f"{one} k^{power:.2f}" for one, power in powers.items())


@claim(
    "scalability",
    "The time of direct k-way methods is linear in k",
    "It grows linearly from 1,024 to 8,192 clusters.",
    "Exponents of k-means, k-means++, BKM(non) and BKM(rnd)+Fast in 0.75 to 1.25; most of them: "
    "in part.",
)
def direct_linear_in_k(result: Json) -> Finding:
    """Exponents."""
    powers = exponents(result, (*DIRECT, "BKM(rnd)+Fast"))
    linear = [0.75 <= power <= 1.25 for power in powers.values()]
    return Finding(shown_powers(powers), graded(all(linear), sum(linear) * 2 > len(linear)), "")


@claim(
    "scalability",
    "The time of bisecting methods is steady in k",
    "It stays the same from 1,024 to 8,192 clusters.",
    "Exponents of all trees at most 0.3 (log k would be about 0.1); that of BsBKM(non): in part.",
)
def trees_steady_in_k(result: Json) -> Finding:
    """Exponents."""
    powers = exponents(result, (*TREES, "RBK"))
    steady = {one: power <= 0.3 for one, power in powers.items()}
    return Finding(
        shown_powers(powers),
        graded(all(steady.values()), steady.get("BsBKM(non)", False)),
        "At the small size, 8,192 clusters have six rows each, where the cost of a split by itself "
        "counts; the paper's have 122. scikit-learn's trees (BsKM, BsKM++) pay more for each split.",
    )


def ratio_at_largest(result: Json, along: str, one: str, other: str) -> tuple[float, str]:
    """Seconds of one by those of another, at the largest size that both managed."""
    size = scalability.largest_of_both(result["runs"], along, one, other)
    if size is None:
        raise NotMeasuredError(f"{one} and {other} have no size in common.")
    ratio = scalability.ratio(result["runs"], one, other, size)
    return ratio, f"{ratio:.1f} times (n={size[0]:,}, k={size[1]:,})"


@claim(
    "scalability",
    "BsKM and BsKM++ are 35 % slower than BsBKM(non)",
    "Because of their initial assignment.",
    "Both take 1.15 to 1.6 times as long at the largest k that both manage; one of them, or longer: "
    "in part.",
)
def lloyd_trees_slower(result: Json) -> Finding:
    """Ratios."""
    ratios = {one: ratio_at_largest(result, "k", one, "BsBKM(non)") for one in ("BsKM", "BsKM++")}
    slower = [ratio >= 1.15 for ratio, _ in ratios.values()]
    as_said = all(1.15 <= ratio <= 1.6 for ratio, _ in ratios.values())
    shown = ", ".join(f"{one} {text}" for one, (_, text) in ratios.items())
    return Finding(
        shown,
        graded(as_said, any(slower)),
        "Different implementations: scikit-learn's are in another language in part, which tells "
        "more than the "
        "initial assignment.",
    )


@claim(
    "scalability",
    "BsBKM(non) is two orders of magnitude faster than k-means",
    "It is the fastest of all, about 100 times faster than k-means.",
    "At least 50 times at the largest size that both manage; at least 10 times: in part.",
)
def two_orders(result: Json) -> Finding:
    """The larger of both series."""
    found = []
    for along in ("n", "k"):
        if scalability.largest_of_both(result["runs"], along, "k-means", "BsBKM(non)"):
            found.append(ratio_at_largest(result, along, "k-means", "BsBKM(non)"))
    if not found:
        raise NotMeasuredError("k-means and BsBKM(non) have no size in common.")
    ratio, text = max(found)
    return Finding(text, graded(ratio >= 50, ratio >= 10), "The ratio grows with k, as k by log(k).")


def minutes(result: Json, n: int, k: int, limit: float) -> Finding:
    """Against so many minutes. What was not measured at this size is in proportion to the rows."""
    found = scalability.scaled(result["runs"], "BsBKM(non)", n, k)
    if found is None:
        raise NotMeasuredError(f"BsBKM(non) was not run with {k:,} clusters.")
    seconds, how = found
    good = seconds / 60 <= limit
    verdict = graded(good) if how == "measured" else graded(False, good)
    return Finding(
        f"{seconds / 60:.2g} minutes, {how}", verdict, "Another processor, and two threads of it."
    )


@claim(
    "scalability",
    "10 million vectors into 1,024 clusters in 94 minutes",
    "Less than 94 minutes for BsBKM(non), 512 dimensions.",
    "Measured in at most 94 minutes; an estimate from fewer rows: in part.",
)
def ninety_four_minutes(result: Json) -> Finding:
    """At its largest n."""
    return minutes(result, 10_000_000, 1024, 94)


@claim(
    "scalability",
    "1 million vectors into 8,192 clusters in 8 minutes",
    "8 minutes for BsBKM(non), 512 dimensions.",
    "Measured in at most 8 minutes; an estimate from fewer rows: in part.",
)
def eight_minutes(result: Json) -> Finding:
    """At its largest k."""
    return minutes(result, 1_000_000, 8192, 8)


def best_of(result: Json, methods: tuple[str, ...], figure: str) -> tuple[str, dict[str, float]]:
    """The lowest, at the largest n that all of them managed."""
    runs = result["runs"]
    common = [
        size for size in scalability.sizes_of(runs, "n")
        if all(scalability.figures_of(runs, one, *size) for one in methods)
    ]  # fmt: skip
    if not common:
        raise NotMeasuredError("The methods have no size in common.")
    values = {one: scalability.mean(runs, one, *common[-1], figure) or 0.0 for one in methods}
    return min(values, key=values.__getitem__), values


def best_in_both(result: Json, method: str, methods: tuple[str, ...]) -> Finding:
    """Whether a method is the fastest, and has the lowest distortion."""
    (fastest, seconds), (lowest, values) = (
        best_of(result, methods, figure) for figure in ("seconds", "distortion")
    )
    return Finding(
        f"fastest: {fastest} ({seconds[fastest]:.2g} s, {method} {seconds[method]:.2g} s); "
        f"lowest: {lowest} "
        f"({values[lowest]:.4f}, {method} {values[method]:.4f})",
        graded(fastest == lowest == method, method in (fastest, lowest)),
    )


@claim(
    "scalability",
    "BKM(rnd)+Fast is the fastest and lowest direct method",
    "It has the highest speed and the lowest distortion of the direct k-way methods.",
    "First of k-means, k-means++, BKM(non) and itself in both, at the largest n of all; in one: "
    "in part.",
)
def fast_best_direct(result: Json) -> Finding:
    """Without Mini-Batch, which the paper has as fast as trees."""
    return best_in_both(result, "BKM(rnd)+Fast", (*DIRECT, "BKM(rnd)+Fast"))


@claim(
    "scalability",
    "BsBKM(non) is the fastest and lowest tree",
    "It is the best of the bisecting methods in both.",
    "First of the four in both, at the largest n of all; in one: in part.",
)
def boosted_best_tree(result: Json) -> Finding:
    """Among trees."""
    return best_in_both(result, "BsBKM(non)", (*TREES, "RBK"))


@claim(
    "scalability",
    "The advantage of boost k-means grows with k",
    "Methods based on it are better and better than the others as k grows.",
    "k-means is further above BKM(non) at the largest k of both than at the smallest.",
)
def advantage_grows(result: Json) -> Finding:
    """The gap at both ends."""
    runs, gaps = result["runs"], []
    for n, k in scalability.sizes_of(runs, "k"):
        values = [scalability.mean(runs, one, n, k, "distortion") for one in ("k-means", "BKM(non)")]
        if values[0] is not None and values[1] is not None:
            gaps.append((k, percent(values[0], values[1])))
    if len(gaps) < 2:
        raise NotMeasuredError("k-means and BKM(non) have not two numbers of clusters in common.")
    shown = ", ".join(f"{gap:.1f} % for k={k:,}" for k, gap in gaps)
    return Finding(shown, AGREES if gaps[-1][1] > gaps[0][1] > 0 else graded(False, gaps[-1][1] > 0))


@claim(
    "scalability",
    "Mini-Batch is as fast as trees for 1,024 clusters, but poor",
    "Its speed is close to that of BsBKM(non), its quality poor in most cases, and its speed is "
    "lost for large k.",
    "Its distortion is above that of k-means, and its time at most 3 times that of BsBKM(non); "
    "one: in part.",
)
def mini_batch_fast_but_poor(result: Json) -> Finding:
    """At the largest n."""
    _, seconds = best_of(result, ("Mini-Batch", "BsBKM(non)", "k-means"), "seconds")
    _, values = best_of(result, ("Mini-Batch", "BsBKM(non)", "k-means"), "distortion")
    gap, ratio = (
        percent(values["Mini-Batch"], values["k-means"]),
        seconds["Mini-Batch"] / seconds["BsBKM(non)"],
    )
    verdict = graded(gap > 0 and ratio <= 3)
    return Finding(
        f"{gap:+.1f} % against k-means, {ratio:.1f} times the time of BsBKM(non)",
        IN_PART if verdict != AGREES and (gap > 0 or ratio <= 3) else verdict,
        "It has 20 batches of a tenth of the rows, which is the work of two iterations of k-means.",
    )


CLAIMS: list[Judge] = [
    quantizers_alike, quantizers_by_trees, quantizers_of_others, best_for_documents,
    best_direct_for_documents, trees_for_documents, direct_linear_in_k, trees_steady_in_k,
    lloyd_trees_slower, two_orders, ninety_four_minutes, eight_minutes, fast_best_direct,
    boosted_best_tree, advantage_grows, mini_batch_fast_but_poor,
]  # fmt: skip
