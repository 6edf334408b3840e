"""Claims of the paper about time (Fig. 5)."""

import scalability_figures as figures
from claim import Finding, Judge, NotMeasuredError, claim, verdict
from experiment import Json

DIRECT = ("k-means", "k-means++", "BKM(non)")
TREES = ("BsKM", "BsKM++", "BsBKM(non)", "RBK")
# At the paper's size, figures of fewer rows alone are not enough for a verdict.
MIN_ROWS = 1_000_000
# Ratios that are this close count as equal.
NEARLY_EQUAL = 1.02


def sizes_with(
    result: Json, along: str, methods: tuple[str, ...], figure: str = "seconds"
) -> list[figures.Size]:
    """Return the sizes along n or k at which all methods have a figure, the largest last.

    At the paper's size, raise NotMeasuredError if the largest has too few rows.
    """
    runs = result["runs"]
    found = [
        size for size in figures.sizes_of(runs, along)
        if all(figures.mean(runs, one, *size, figure) is not None for one in methods)
    ]  # fmt: skip
    few = result["size"] == "full" and found and found[-1][0] < MIN_ROWS
    if not found or few:
        raise NotMeasuredError(f"{' and '.join(methods)} have no {figure} at a common size.")
    return found


def value(result: Json, method: str, size: figures.Size, figure: str = "seconds") -> float:
    """Return the mean of a figure over the seeds."""
    found = figures.mean(result["runs"], method, *size, figure)
    assert found is not None, "sizes_with returns sizes with this figure"
    return found


def ratio_at(result: Json, size: figures.Size, one: str, other: str) -> float:
    """Return the time of a method divided by that of another."""
    return value(result, one, size) / value(result, other, size)


def size_text(size: figures.Size) -> str:
    """Return the size in words."""
    return f"n={size[0]:,}, k={size[1]:,}"


def ratio_at_largest(result: Json, along: str, one: str, other: str) -> tuple[float, str]:
    """Return the ratio of the times of two methods at the largest size that both finished."""
    size = sizes_with(result, along, (one, other))[-1]
    ratio = ratio_at(result, size, one, other)
    return ratio, f"{ratio:.2g} times ({size_text(size)})"


def exponents(result: Json, methods: tuple[str, ...]) -> dict[str, float]:
    """Return the exponent of the time against k, for methods with at least two sizes."""
    sizes_with(result, "k", methods[:1])
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
    "BKM is slightly faster than k-means for any number of rows",
    "BKM is slightly faster than k-means and its variants at all scales, both for direct k-way and for "
    "bisecting.",
    "Agrees if BKM(non) takes less time than k-means and k-means++, and BsBKM(non) less than BsKM and "
    "BsKM++, at every n; in part if this holds at the largest n.",
)
def boost_faster_at_every_n(result: Json) -> Finding:
    """Return the times of k-means relative to boost k-means by n."""
    pairs = [(one, "BKM(non)") for one in DIRECT[:2]] + [(one, "BsBKM(non)") for one in TREES[:2]]
    texts, faster, at_largest = [], [], []
    for one, boost in pairs:
        sizes = sizes_with(result, "n", (one, boost))
        ratios = [ratio_at(result, size, one, boost) for size in sizes]
        texts.append(f"{one} / {boost} {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
        faster += [ratio > 1 for ratio in ratios]
        at_largest.append(ratios[-1] > 1)
    return Finding(f"{'; '.join(texts)} (by n)", verdict(all(faster), all(at_largest)))


@claim(
    "scalability",
    "The advantage in speed over k-means grows with n",
    "The speed-up becomes more significant as the number of rows increases.",
    "Agrees if k-means / BKM(non) and BsKM / BsBKM(non) are larger at the largest n than at the "
    "smallest; in part if one of them is.",
)
def speed_advantage_grows(result: Json) -> Finding:
    """Return the ratios of the times at the smallest and the largest n."""
    texts, grows = [], []
    for one, boost in (("k-means", "BKM(non)"), ("BsKM", "BsBKM(non)")):
        sizes = sizes_with(result, "n", (one, boost))
        if len(sizes) < 2:
            raise NotMeasuredError(f"{one} and {boost} have only one number of rows in common.")
        first, last = (ratio_at(result, size, one, boost) for size in (sizes[0], sizes[-1]))
        grows.append(last > NEARLY_EQUAL * first)
        texts.append(
            f"{one} / {boost} {first:.2f} for n={sizes[0][0]:,}, {last:.2f} for n={sizes[-1][0]:,}"
        )
    return Finding(
        "; ".join(texts),
        verdict(all(grows), any(grows)),
        "Both methods do the same number of comparisons per row, so there is no reason for a growing "
        "ratio except fixed costs.",
    )


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
        "the paper they have 122.",
    )


@claim(
    "scalability",
    "Mini-Batch is no longer efficient as k grows",
    "It is as fast as a tree for 1,024 clusters, but no longer for more.",
    "Agrees if its time relative to BsBKM(non) is at least 3 times as high at the largest k as at the "
    "smallest; in part if it is at least 1.5 times as high.",
)
def mini_batch_slows_down(result: Json) -> Finding:
    """Return the time of Mini-Batch relative to the tree at the smallest and the largest k."""
    sizes = sizes_with(result, "k", ("Mini-Batch", "BsBKM(non)"))
    first, last = (ratio_at(result, size, "Mini-Batch", "BsBKM(non)") for size in (sizes[0], sizes[-1]))
    if len(sizes) < 2:
        raise NotMeasuredError("Mini-Batch and BsBKM(non) have only one k in common.")
    return Finding(
        f"{first:.2g} times the time of BsBKM(non) for k={sizes[0][1]:,}, {last:.2g} times for "
        f"k={sizes[-1][1]:,}",
        verdict(last >= 3 * first, last >= 1.5 * first),
        "Mini-Batch compares each row of a batch with all k centres.",
    )


@claim(
    "scalability",
    "BsKM and BsKM++ are 35 % slower than BsBKM(non)",
    "The reason is their initial assignment.",
    "Agrees if both take 1.15 to 1.6 times as long at the largest k that both finish; in part if both "
    "take 1.05 to 2.5 times as long.",
)
def lloyd_trees_slower(result: Json) -> Finding:
    """Return the ratios of the times."""
    ratios = {one: ratio_at_largest(result, "k", one, "BsBKM(non)") for one in ("BsKM", "BsKM++")}
    as_stated = all(1.15 <= ratio <= 1.6 for ratio, _ in ratios.values())
    similar = all(1.05 <= ratio <= 2.5 for ratio, _ in ratios.values())
    return Finding(
        ", ".join(f"{one} {text}" for one, (_, text) in ratios.items()),
        verdict(as_stated, similar),
        "All three are built by the same core, so the times compare algorithms.",
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
        try:
            found.append(ratio_at_largest(result, along, "k-means", "BsBKM(non)"))
        except NotMeasuredError:
            continue
    if not found:
        raise NotMeasuredError("k-means and BsBKM(non) have no size in common.")
    ratio, text = max(found)
    return Finding(text, verdict(ratio >= 50, ratio >= 10), "The ratio grows like k / log(k).")


def minutes(result: Json, n: int, k: int, limit: float) -> Finding:
    """Compare the time of BsBKM(non) with a number of minutes.

    If this size was not measured, the time is extrapolated in proportion to the number of rows.
    """
    runs = result["runs"]
    found = figures.extrapolated(runs, "BsBKM(non)", n, k)
    if found is None:
        raise NotMeasuredError(f"BsBKM(non) was not run with {k:,} clusters.")
    seconds, origin = found
    if result["size"] == "full" and origin != "measured":
        raise NotMeasuredError(f"BsBKM(non) was not run with {n:,} rows and {k:,} clusters.")
    fast_enough = seconds / 60 <= limit
    sampled = figures.mean(runs, "sampled tree", n, k, "seconds")
    other = "" if sampled is None else f"; the sampled tree takes {sampled / 60:.2g} minutes"
    return Finding(
        f"{seconds / 60:.2g} minutes, {origin}{other}",
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


CLAIMS: list[Judge] = [
    boost_faster_at_every_n, speed_advantage_grows, direct_linear_in_k, trees_steady_in_k,
    mini_batch_slows_down, lloyd_trees_slower, two_orders, ninety_four_minutes, eight_minutes,
]  # fmt: skip
