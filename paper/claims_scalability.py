"""Claims of the paper about time (Fig. 5)."""

from itertools import pairwise
from statistics import geometric_mean

import fig5_scalability
import scalability_figures as figures
from claim import Finding, Judge, NotMeasuredError, claim, ratio_text, verdict
from experiment import Json

DIRECT = ("k-means", "k-means++", "BKM(non)")
TREES = ("BsKM", "BsKM++", "BsBKM(non)", "RBK")
# Ratios that are this close count as equal.
NEARLY_EQUAL = 1.02
# Ratio of times up to which a method is about 5 % faster.
FASTER = 0.97
# Numbers of clusters that a statement about the growth with k needs.
MIN_KS = 3
# Both readings of the paper's "10 %".
MINI_BATCHES = ("Mini-Batch", "Mini-Batch, 10 % in total")
# Methods that compete with BsBKM(non) for being the fastest.
FAST_METHODS = ("Mini-Batch", *TREES)


def sizes_with(
    result: Json, along: str, methods: tuple[str, ...], figure: str = "seconds"
) -> list[figures.Size]:
    """Return the sizes along n or k at which all methods have a figure, the largest last.

    At the paper's size, raise NotMeasuredError unless these are all sizes that are planned for the
    methods: a verdict about some of them could change when the others are measured.
    """
    runs = result["runs"]
    full = result["size"] == "full"
    sizes = planned_sizes(along, methods) if full else figures.sizes_of(runs, along)
    found = [
        size for size in sizes
        if all(figures.mean(runs, one, *size, figure) is not None for one in methods)
    ]  # fmt: skip
    names = ", ".join(methods)
    if not found:
        raise NotMeasuredError(f"{names}: there is no common size with {figure}.")
    if full and len(found) < len(sizes):
        missing = "; ".join(size_text(size) for size in sizes if size not in found)
        raise NotMeasuredError(f"{names}: {figure} are missing at the paper's size ({missing}).")
    return found


def planned_sizes(along: str, methods: tuple[str, ...]) -> list[figures.Size]:
    """Return the sizes along n or k that are planned for all methods at the paper's size."""
    plan = [{"run": run} for run in fig5_scalability.plan(True)]
    return [
        size for size in figures.sizes_of(plan, along)
        if all(figures.runs_at(plan, one, *size) for one in methods)
    ]  # fmt: skip


def planned_at(
    result: Json, along: str, size: figures.Size, methods: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the methods that are planned at a size: all of them at the small size."""
    full = result["size"] == "full"
    return tuple(one for one in methods if not full or size in planned_sizes(along, (one,)))


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


def exponents(result: Json, methods: tuple[str, ...]) -> dict[str, float]:
    """Return the exponent of the time of each method against k.

    All methods must have times for the same `MIN_KS` numbers of clusters or more.
    """
    if len(sizes_with(result, "k", methods)) < MIN_KS:
        raise NotMeasuredError(f"Fewer than {MIN_KS} numbers of clusters are measured for all methods.")
    found = {one: figures.exponent(result["runs"], one, "k") for one in methods}
    return {one: power for one, power in found.items() if power is not None}


def format_powers(powers: dict[str, float]) -> str:
    """Return the exponents on one line."""
    return ", ".join(f"{one} k^{power:.2f}" for one, power in powers.items())


@claim(
    "scalability",
    "BKM is slightly faster than k-means for any number of rows",
    "BKM is slightly faster than k-means and its variants at all scales, both for direct k-way and for "
    "bisecting.",
    "Agrees if k-means and k-means++ take at least 2 % longer than BKM(non), and BsKM and BsKM++ than "
    "BsBKM(non), at every n; in part if this holds at the largest n.",
)
def boost_faster_at_every_n(result: Json) -> Finding:
    """Return the times of k-means relative to boost k-means by n."""
    pairs = [(one, "BKM(non)") for one in DIRECT[:2]] + [(one, "BsBKM(non)") for one in TREES[:2]]
    texts, faster, at_largest = [], [], []
    for one, boost in pairs:
        sizes = sizes_with(result, "n", (one, boost))
        ratios = [ratio_at(result, size, one, boost) for size in sizes]
        texts.append(f"{one} / {boost} {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
        faster += [ratio >= NEARLY_EQUAL for ratio in ratios]
        at_largest.append(faster[-1])
    return Finding(f"{'; '.join(texts)} (by n)", verdict(all(faster), all(at_largest)))


@claim(
    "scalability",
    "The advantage in speed over k-means grows with n",
    "The speed-up becomes more significant as the number of rows increases.",
    "Agrees if the ratios k-means / BKM(non) and BsKM / BsBKM(non) are above 1 at the largest n, larger "
    "than at the smallest, and never fall from one n to the next, where 2 % count as equal; in part if "
    "this holds for one of them.",
)
def speed_advantage_grows(result: Json) -> Finding:
    """Return the ratios of the times by n."""
    texts, grows = [], []
    for one, boost in (("k-means", "BKM(non)"), ("BsKM", "BsBKM(non)")):
        sizes = sizes_with(result, "n", (one, boost))
        if len(sizes) < 2:
            raise NotMeasuredError(f"{one} and {boost} have only one number of rows in common.")
        ratios = [ratio_at(result, size, one, boost) for size in sizes]
        steady = all(after * NEARLY_EQUAL >= before for before, after in pairwise(ratios))
        grows.append(steady and ratios[-1] >= NEARLY_EQUAL * max(1.0, ratios[0]))
        by_n = ", ".join(
            f"{ratio:.2f} for n={size[0]:,}" for ratio, size in zip(ratios, sizes, strict=True)
        )
        texts.append(f"{one} / {boost} {by_n}")
    return Finding(
        "; ".join(texts),
        verdict(all(grows), any(grows)),
        "Both methods do the same number of comparisons per row, so there is no reason for a growing "
        "ratio except fixed costs.",
    )


@claim(
    "scalability",
    "+Fast is 5 % faster",
    "BKM+Fast takes about 5 % less time than BKM. The paper refers to its scalability experiment, which "
    "compares BKM(rnd)+Fast with BKM(non).",
    "Agrees if BKM(rnd)+Fast takes at least 3 % less time than BKM(non) at every n and k; in part if it "
    "does on average (geometric mean).",
)
def fast_is_faster(result: Json) -> Finding:
    """Return the time of BKM(rnd)+Fast relative to BKM(non) by n and by k."""
    texts, ratios = [], []
    for along in ("n", "k"):
        sizes = sizes_with(result, along, ("BKM(rnd)+Fast", "BKM(non)"))
        found = [ratio_at(result, size, "BKM(rnd)+Fast", "BKM(non)") for size in sizes]
        texts.append(f"{', '.join(f'{100 * (ratio - 1):+.0f} %' for ratio in found)} (by {along})")
        ratios += found
    return Finding(
        "; ".join(texts),
        verdict(max(ratios) <= FASTER, geometric_mean(ratios) <= FASTER),
        "A matrix product scores all clusters here, so stopping early saves little.",
    )


@claim(
    "scalability",
    "The time of direct k-way methods is linear in k",
    "It grows linearly from 1,024 to 8,192 clusters, for all of them.",
    "Agrees if the exponents of k-means, k-means++, Mini-Batch, BKM(non) and BKM(rnd)+Fast are 0.8 to "
    "1.2; in part if most of them are.",
)
def direct_linear_in_k(result: Json) -> Finding:
    """Return the exponents of the direct methods."""
    powers = exponents(result, (*DIRECT, "BKM(rnd)+Fast", "Mini-Batch"))
    linear = [0.8 <= power <= 1.2 for power in powers.values()]
    return Finding(format_powers(powers), verdict(all(linear), sum(linear) * 2 > len(linear)))


@claim(
    "scalability",
    "The time of bisecting methods does not depend on k",
    "It remains steady from 1,024 to 8,192 clusters, for all of them.",
    "Agrees if the exponents of BsKM, BsKM++, BsBKM(non) and RBK are at most 0.2 (log k would be about "
    "0.13); in part if that of BsBKM(non) is.",
)
def trees_steady_in_k(result: Json) -> Finding:
    """Return the exponents of the trees."""
    powers = exponents(result, TREES)
    steady = {one: power <= 0.2 for one, power in powers.items()}
    return Finding(
        format_powers(powers),
        verdict(all(steady.values()), steady["BsBKM(non)"]),
        "At the small size, 8,192 clusters have six rows each, so the fixed cost of a split matters; in "
        "the paper they have 122.",
    )


@claim(
    "scalability",
    "Mini-Batch is no longer efficient as k grows",
    "It is as fast as a tree for 1,024 clusters, but no longer for more.",
    "Agrees if, in both readings of its 10 %, its time relative to BsBKM(non) is at least 3 times as "
    "high at the largest k as at the smallest, and it takes at least twice as long as BsBKM(non) there; "
    "in part if, in one reading, its relative time is at least 1.5 times as high, and it takes longer.",
)
def mini_batch_slows_down(result: Json) -> Finding:
    """Return the time of Mini-Batch relative to the tree at the smallest and the largest k."""
    texts, clearly, slightly = [], [], []
    for one in MINI_BATCHES:
        sizes = sizes_with(result, "k", (one, "BsBKM(non)"))
        if len(sizes) < 2:
            raise NotMeasuredError(f"{one} and BsBKM(non) have only one k in common.")
        first, last = (ratio_at(result, size, one, "BsBKM(non)") for size in (sizes[0], sizes[-1]))
        clearly.append(last >= 3 * first and last >= 2)
        slightly.append(last >= 1.5 * first and last > 1)
        texts.append(
            f"{one} takes {ratio_text(first)} times the time of BsBKM(non) for k={sizes[0][1]:,}, "
            f"{ratio_text(last)} times for k={sizes[-1][1]:,}"
        )
    return Finding(
        "; ".join(texts),
        verdict(all(clearly), any(slightly)),
        "Mini-Batch compares each row of a batch with all k centres.",
    )


@claim(
    "scalability",
    "BsKM and BsKM++ are 35 % slower than BsBKM(non)",
    "The reason is their initial assignment.",
    "Agrees if each takes 1.2 to 1.5 times as long on average over the measured k (geometric mean), and "
    "longer for every k; in part if each takes 1.05 to 2 times as long on average.",
)
def lloyd_trees_slower(result: Json) -> Finding:
    """Return the ratios of the times by k."""
    texts, means, lowest = [], [], []
    for one in ("BsKM", "BsKM++"):
        sizes = sizes_with(result, "k", (one, "BsBKM(non)"))
        ratios = [ratio_at(result, size, one, "BsBKM(non)") for size in sizes]
        means.append(geometric_mean(ratios))
        lowest.append(min(ratios))
        by_k = ", ".join(
            f"{ratio:.2f} for k={size[1]:,}" for ratio, size in zip(ratios, sizes, strict=True)
        )
        texts.append(f"{one} {means[-1]:.2f} times on average ({by_k})")
    as_stated = min(lowest) > 1 and all(1.2 <= mean <= 1.5 for mean in means)
    return Finding(
        "; ".join(texts),
        verdict(as_stated, all(1.05 <= mean <= 2 for mean in means)),
        "All three are built by the same core, so the times compare algorithms.",
    )


@claim(
    "scalability",
    "BsBKM(non) is two orders of magnitude faster than k-means",
    "It is the fastest method, two orders of magnitude faster than k-means.",
    "Agrees if k-means takes at least 100 times as long at the largest measured n and at the largest k, "
    "and none of the trees and Mini-Batch that were measured there is faster; in part if k-means takes "
    "at least 30 times as long at both, which is nearer to two orders of magnitude than to one.",
)
def two_orders(result: Json) -> Finding:
    """Return the ratios at the largest n and at the largest k, and the fastest method there."""
    texts, ratios, first = [], [], []
    for along in ("n", "k"):
        size = sizes_with(result, along, ("k-means", "BsBKM(non)"))[-1]
        some = planned_at(result, along, size, FAST_METHODS)
        # All of them must be measured at this size.
        assert size in sizes_with(result, along, some)
        seconds = {one: value(result, one, size) for one in some}
        fastest = min(seconds, key=seconds.__getitem__)
        ratios.append(ratio_at(result, size, "k-means", "BsBKM(non)"))
        first.append(fastest == "BsBKM(non)")
        texts.append(f"{ratio_text(ratios[-1])} times ({size_text(size)}; fastest: {fastest})")
    return Finding(
        "; ".join(texts),
        verdict(min(ratios) >= 100 and all(first), min(ratios) >= 30),
        "The ratio grows like k / log(k).",
    )


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
    other = "" if sampled is None else f"; the sampled tree takes {ratio_text(sampled / 60)} minutes"
    return Finding(
        f"{ratio_text(seconds / 60)} minutes, {origin}{other}",
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
    boost_faster_at_every_n, speed_advantage_grows, fast_is_faster, direct_linear_in_k,
    trees_steady_in_k, mini_batch_slows_down, lloyd_trees_slower, two_orders, ninety_four_minutes,
    eight_minutes,
]  # fmt: skip
