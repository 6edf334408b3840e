"""Claims of the paper about scalability (Fig. 5 and 6)."""

import scalability_figures as figures
from claim import Finding, Judge, NotMeasuredError, claim, percent, verdict
from experiment import Json

DIRECT = ("k-means", "k-means++", "BKM(non)")
TREES = ("BsKM", "BsKM++", "BsBKM(non)", "RBK")


def exponents(result: Json, methods: tuple[str, ...]) -> dict[str, float]:
    """Return the exponent of the time against k, for methods with at least two sizes."""
    found = {one: figures.exponent(result["runs"], one, "k") for one in methods}
    known = {one: power for one, power in found.items() if power is not None}
    if not known:
        raise NotMeasuredError("No method finished for two numbers of clusters.")
    return known


def format_powers(powers: dict[str, float]) -> str:
    """Return the exponents on one line."""
    return ", ".join(f"{one} k^{power:.2f}" for one, power in powers.items())


@claim(
    "scalability",
    "The time of direct k-way methods is linear in k",
    "It grows linearly from 1,024 to 8,192 clusters.",
    "Agrees if the exponents of k-means, k-means++, BKM(non) and BKM(rnd)+Fast are 0.75 to 1.25; in "
    "part if most of them are.",
)
def direct_linear_in_k(result: Json) -> Finding:
    """Return the exponents of the direct methods."""
    powers = exponents(result, (*DIRECT, "BKM(rnd)+Fast"))
    linear = [0.75 <= power <= 1.25 for power in powers.values()]
    return Finding(format_powers(powers), verdict(all(linear), sum(linear) * 2 > len(linear)))


@claim(
    "scalability",
    "The time of bisecting methods does not depend on k",
    "It stays the same from 1,024 to 8,192 clusters.",
    "Agrees if the exponents of all trees are at most 0.3 (log k would be about 0.1); in part if that "
    "of BsBKM(non) is.",
)
def trees_steady_in_k(result: Json) -> Finding:
    """Return the exponents of the trees."""
    powers = exponents(result, TREES)
    steady = {one: power <= 0.3 for one, power in powers.items()}
    return Finding(
        format_powers(powers),
        verdict(all(steady.values()), steady.get("BsBKM(non)", False)),
        "At the small size, 8,192 clusters have six rows each, so the fixed cost of a split matters; in "
        "the paper they have 122. scikit-learn's trees (BsKM, BsKM++) have a higher cost per split.",
    )


def ratio_at_largest(result: Json, along: str, one: str, other: str) -> tuple[float, str]:
    """Return the ratio of the times of two methods at the largest size that both finished."""
    size = figures.largest_common_size(result["runs"], along, one, other)
    if size is None:
        raise NotMeasuredError(f"{one} and {other} have no size in common.")
    ratio = figures.time_ratio(result["runs"], one, other, size)
    return ratio, f"{ratio:.1f} times (n={size[0]:,}, k={size[1]:,})"


@claim(
    "scalability",
    "BsKM and BsKM++ are 35 % slower than BsBKM(non)",
    "The reason is their initial assignment.",
    "Agrees if both take 1.15 to 1.6 times as long at the largest k that both finish; in part if one of "
    "them takes at least 1.15 times as long.",
)
def lloyd_trees_slower(result: Json) -> Finding:
    """Return the ratios of the times."""
    ratios = {one: ratio_at_largest(result, "k", one, "BsBKM(non)") for one in ("BsKM", "BsKM++")}
    slower = [ratio >= 1.15 for ratio, _ in ratios.values()]
    as_stated = all(1.15 <= ratio <= 1.6 for ratio, _ in ratios.values())
    return Finding(
        ", ".join(f"{one} {text}" for one, (_, text) in ratios.items()),
        verdict(as_stated, any(slower)),
        "The implementations differ: parts of scikit-learn's trees are in Python, which matters more "
        "than the initial assignment.",
    )


@claim(
    "scalability",
    "BsBKM(non) is two orders of magnitude faster than k-means",
    "It is the fastest of all, about 100 times faster than k-means.",
    "Agrees if it is at least 50 times faster at the largest size that both finish; in part from 10 "
    "times.",
)
def two_orders(result: Json) -> Finding:
    """Return the larger ratio of the series along n and along k."""
    found = []
    for along in ("n", "k"):
        if figures.largest_common_size(result["runs"], along, "k-means", "BsBKM(non)"):
            found.append(ratio_at_largest(result, along, "k-means", "BsBKM(non)"))
    if not found:
        raise NotMeasuredError("k-means and BsBKM(non) have no size in common.")
    ratio, text = max(found)
    return Finding(text, verdict(ratio >= 50, ratio >= 10), "The ratio grows like k / log(k).")


def minutes(result: Json, n: int, k: int, limit: float) -> Finding:
    """Compare the time of BsBKM(non) with a number of minutes.

    If this size was not measured, the time is extrapolated in proportion to the number of rows.
    """
    found = figures.extrapolated(result["runs"], "BsBKM(non)", n, k)
    if found is None:
        raise NotMeasuredError(f"BsBKM(non) was not run with {k:,} clusters.")
    seconds, origin = found
    fast_enough = seconds / 60 <= limit
    return Finding(
        f"{seconds / 60:.2g} minutes, {origin}",
        verdict(fast_enough) if origin == "measured" else verdict(False, fast_enough),
        "This measurement used a different processor, with two threads.",
    )


@claim(
    "scalability",
    "10 million vectors into 1,024 clusters in 94 minutes",
    "BsBKM(non) takes less than 94 minutes, with 512 dimensions.",
    "Agrees if at most 94 minutes are measured; in part if they are extrapolated from fewer rows.",
)
def ninety_four_minutes(result: Json) -> Finding:
    """Compare the time at the paper's largest n."""
    return minutes(result, 10_000_000, 1024, 94)


@claim(
    "scalability",
    "1 million vectors into 8,192 clusters in 8 minutes",
    "BsBKM(non) takes 8 minutes, with 512 dimensions.",
    "Agrees if at most 8 minutes are measured; in part if they are extrapolated from fewer rows.",
)
def eight_minutes(result: Json) -> Finding:
    """Compare the time at the paper's largest k."""
    return minutes(result, 1_000_000, 8192, 8)


def values_at_largest(result: Json, methods: tuple[str, ...], figure: str) -> dict[str, float]:
    """Return a figure of each method, at the largest n that all of them finished."""
    runs = result["runs"]
    common = [
        size for size in figures.sizes_of(runs, "n")
        if all(figures.finished_runs(runs, one, *size) for one in methods)
    ]  # fmt: skip
    if not common:
        raise NotMeasuredError("The methods have no size in common.")
    return {one: figures.mean(runs, one, *common[-1], figure) or 0.0 for one in methods}


def fastest_and_lowest(result: Json, method: str, methods: tuple[str, ...]) -> Finding:
    """Judge whether a method is the fastest and has the lowest distortion."""
    seconds = values_at_largest(result, methods, "seconds")
    distortions = values_at_largest(result, methods, "distortion")
    fastest = min(seconds, key=seconds.__getitem__)
    lowest = min(distortions, key=distortions.__getitem__)
    return Finding(
        f"fastest: {fastest} ({seconds[fastest]:.2g} s; {method} {seconds[method]:.2g} s); lowest: "
        f"{lowest} ({distortions[lowest]:.4f}; {method} {distortions[method]:.4f})",
        verdict(fastest == lowest == method, method in (fastest, lowest)),
    )


@claim(
    "scalability",
    "BKM(rnd)+Fast is the fastest and lowest direct method",
    "It has the highest speed and the lowest distortion of the direct k-way methods.",
    "Agrees if it is first of k-means, k-means++, BKM(non) and itself in both, at the largest n that "
    "all finish; in part if it is first in one.",
)
def fast_best_direct(result: Json) -> Finding:
    """Compare the direct methods without Mini-Batch, which the paper calls as fast as trees."""
    return fastest_and_lowest(result, "BKM(rnd)+Fast", (*DIRECT, "BKM(rnd)+Fast"))


@claim(
    "scalability",
    "BsBKM(non) is the fastest and lowest tree",
    "It is the best of the bisecting methods in both.",
    "Agrees if it is first of the four trees in both, at the largest n that all finish; in part if it "
    "is first in one.",
)
def boosted_best_tree(result: Json) -> Finding:
    """Compare the trees."""
    return fastest_and_lowest(result, "BsBKM(non)", TREES)


@claim(
    "scalability",
    "The advantage of boost k-means grows with k",
    "The advantage of methods based on it over the others grows with k.",
    "Agrees if k-means is further above BKM(non) at the largest k that both finish than at the "
    "smallest; in part if it is above at the largest.",
)
def advantage_grows(result: Json) -> Finding:
    """Return the gaps by k."""
    runs, gaps = result["runs"], []
    for n, k in figures.sizes_of(runs, "k"):
        values = [figures.mean(runs, one, n, k, "distortion") for one in ("k-means", "BKM(non)")]
        if values[0] is not None and values[1] is not None:
            gaps.append((k, percent(values[0], values[1])))
    if len(gaps) < 2:
        raise NotMeasuredError("k-means and BKM(non) have fewer than two values of k in common.")
    first, last = gaps[0][1], gaps[-1][1]
    measured = ", ".join(f"{gap:.1f} % for k={k:,}" for k, gap in gaps)
    return Finding(measured, verdict(last > first > 0, last > 0))


@claim(
    "scalability",
    "Mini-Batch is as fast as trees for 1,024 clusters, but poor",
    "Its speed is close to that of BsBKM(non), its quality is poor in most cases, and it loses its "
    "speed for large k.",
    "Agrees if its distortion is above that of k-means, and its time at most 3 times that of "
    "BsBKM(non); in part if one of the two holds.",
)
def mini_batch_fast_but_poor(result: Json) -> Finding:
    """Compare time and distortion at the largest n."""
    methods = ("Mini-Batch", "BsBKM(non)", "k-means")
    seconds = values_at_largest(result, methods, "seconds")
    distortions = values_at_largest(result, methods, "distortion")
    gap = percent(distortions["Mini-Batch"], distortions["k-means"])
    ratio = seconds["Mini-Batch"] / seconds["BsBKM(non)"]
    return Finding(
        f"{gap:+.1f} % relative to k-means, {ratio:.1f} times the time of BsBKM(non)",
        verdict(gap > 0 and ratio <= 3, gap > 0 or ratio <= 3),
        "It has 20 batches of a tenth of the rows, which is the work of two iterations of k-means.",
    )


CLAIMS: list[Judge] = [
    direct_linear_in_k, trees_steady_in_k, lloyd_trees_slower, two_orders, ninety_four_minutes,
    eight_minutes, fast_best_direct, boosted_best_tree, advantage_grows, mini_batch_fast_but_poor,
]  # fmt: skip
