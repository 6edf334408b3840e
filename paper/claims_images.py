"""Claims of the paper about distortion on image vectors (Fig. 6), alone and together with time."""

from itertools import pairwise

from claim import Finding, Judge, NotMeasuredError, claim, percent, ratio_text, verdict
from claims_scalability import (
    DIRECT,
    MIN_KS,
    MINI_BATCHES,
    TREES,
    ratio_at,
    size_text,
    sizes_with,
    value,
)
from experiment import Json

FAST = "BKM(rnd)+Fast"
# Boost k-means and k-means, directly and in trees.
PAIRS = (("BKM(non)", "k-means"), ("BsBKM(non)", "BsKM"))


def gaps_along(result: Json, along: str, one: str, other: str) -> list[tuple[int, float]]:
    """Return n or k, and by how many percent the distortion of a method is above that of another."""
    sizes = sizes_with(result, along, (one, other), "distortion")
    ends = [[value(result, method, size, "distortion") for method in (one, other)] for size in sizes]
    place = "nk".index(along)
    return [(size[place], percent(*pair)) for size, pair in zip(sizes, ends, strict=True)]


def gaps_along_k(result: Json, one: str, other: str) -> list[tuple[int, float]]:
    """Return k, and by how many percent the distortion of a method is above that of another."""
    return gaps_along(result, "k", one, other)


def format_gaps(gaps: list[tuple[int, float]]) -> str:
    """Return gaps by k on one line."""
    return ", ".join(f"{gap:+.2f} % for k={k:,}" for k, gap in gaps)


def fastest_and_lowest(result: Json, method: str, methods: tuple[str, ...], why: str = "") -> Finding:
    """Judge whether a method is the fastest and has the lowest distortion at every n."""
    timed = sizes_with(result, "n", methods)
    known = [one for one in sizes_with(result, "n", methods, "distortion") if one in timed]
    if not known:
        raise NotMeasuredError("The methods have no size in common.")
    texts, is_fastest, is_lowest = [], [], []
    for size in known:
        seconds = {one: value(result, one, size) for one in methods}
        distortions = {one: value(result, one, size, "distortion") for one in methods}
        fastest = min(seconds, key=seconds.__getitem__)
        lowest = min(distortions, key=distortions.__getitem__)
        is_fastest.append(fastest == method)
        is_lowest.append(lowest == method)
        texts.append(
            f"{size_text(size)}: fastest {fastest} ({seconds[fastest]:.3g} s; {method} "
            f"{seconds[method]:.3g} s), lowest {lowest} ({distortions[lowest]:.4f}; {method} "
            f"{distortions[method]:.4f})"
        )
    return Finding(
        "; ".join(texts),
        verdict(all(is_fastest) and all(is_lowest), all(is_fastest) or all(is_lowest)),
        why,
    )


@claim(
    "scalability",
    "BKM(rnd)+Fast is the fastest and lowest direct method",
    "It has the highest speed and the lowest distortion of the direct k-way methods.",
    "Agrees if it is first of k-means, k-means++, BKM(non) and itself in both, at every n that all "
    "finish; in part if it is first in one of the two at every n.",
)
def fast_best_direct(result: Json) -> Finding:
    """Compare the direct methods without Mini-Batch."""
    return fastest_and_lowest(
        result, FAST, (*DIRECT, FAST),
        "Mini-Batch is left out, because the paper says that it is as fast as a tree.",
    )  # fmt: skip


@claim(
    "scalability",
    "BsBKM(non) is the fastest and lowest tree",
    "It is the best of the bisecting methods in both.",
    "Agrees if it is first of BsKM, BsKM++, RBK and itself in both, at every n that all finish; in part "
    "if it is first in one of the two at every n.",
)
def boosted_best_tree(result: Json) -> Finding:
    """Compare the trees."""
    return fastest_and_lowest(result, "BsBKM(non)", TREES)


@claim(
    "scalability",
    "Boost k-means is considerably better for images",
    "Both for direct k-way and for bisecting, clustering by Alg. 1 is considerably better.",
    "Agrees if BKM(non) is at least 1 % below k-means, and BsBKM(non) at least 1 % below BsKM, for "
    "every k that both finish; in part if both are below for every k.",
)
def boost_better_for_images(result: Json) -> Finding:
    """Compare boost k-means with k-means by k."""
    found = {pair: gaps_along_k(result, *pair) for pair in PAIRS}
    highest = max(gap for gaps in found.values() for _, gap in gaps)
    return Finding(
        "; ".join(
            f"{one} relative to {other} {format_gaps(gaps)}" for (one, other), gaps in found.items()
        ),
        verdict(highest <= -1, highest < 0),
    )


@claim(
    "scalability",
    "The advantage of boost k-means grows with k",
    "The advantage of methods based on it over the others grows with k.",
    "Agrees if k-means is above BKM(non), and BsKM above BsBKM(non), and both gaps grow from each "
    "measured k to the next (three at least); in part if both gaps are positive for every k and larger "
    "at the largest k than at the smallest.",
)
def advantage_grows(result: Json) -> Finding:
    """Return the gaps by k."""
    texts, rises, higher = [], [], []
    for boost, other in PAIRS:
        found = gaps_along_k(result, other, boost)
        if len(found) < MIN_KS:
            raise NotMeasuredError(f"{other} and {boost} have fewer than {MIN_KS} k in common.")
        gaps = [gap for _, gap in found]
        rises.append(gaps[0] > 0 and all(after > before for before, after in pairwise(gaps)))
        higher.append(min(gaps) > 0 and gaps[-1] > gaps[0])
        texts.append(f"{other} relative to {boost} {format_gaps(found)}")
    return Finding("; ".join(texts), verdict(all(rises), all(higher)))


@claim(
    "scalability",
    "For images, too, trees end well above direct methods",
    "The average distortion of bisecting is much higher than that of direct k-way.",
    "Agrees if BsBKM(non) is at least 3 % above BKM(non), and BsKM at least 3 % above k-means, for "
    "every k that both finish; in part if both are above for every k.",
)
def trees_above_direct(result: Json) -> Finding:
    """Return the gaps by k."""
    pairs = (("BsBKM(non)", "BKM(non)"), ("BsKM", "k-means"))
    found = {pair: gaps_along_k(result, *pair) for pair in pairs}
    lowest = min(gap for gaps in found.values() for _, gap in gaps)
    return Finding(
        "; ".join(
            f"{one} relative to {other} {format_gaps(gaps)}" for (one, other), gaps in found.items()
        ),
        verdict(lowest >= 3, lowest > 0),
    )


@claim(
    "scalability",
    "Mini-Batch is as fast as trees for 1,024 clusters, but poor",
    "Its speed is close to that of BsBKM(non), and its quality is poor in most cases.",
    "Agrees if, in both readings of its 10 %, its distortion is at least 3 % above that of k-means for "
    "most n, and its time is half to twice that of BsBKM(non) for every n; in part if one of the two "
    "holds in one reading.",
)
def mini_batch_fast_but_poor(result: Json) -> Finding:
    """Compare time and distortion of both readings by n."""
    texts, is_poor, is_close = [], [], []
    for one in MINI_BATCHES:
        sizes = sizes_with(result, "n", (one, "BsBKM(non)"))
        ratios = [ratio_at(result, size, one, "BsBKM(non)") for size in sizes]
        gaps = gaps_along(result, "n", one, "k-means")
        is_poor.append(2 * sum(gap >= 3 for _, gap in gaps) > len(gaps))
        is_close.append(all(0.5 <= ratio <= 2 for ratio in ratios))
        times = ", ".join(
            f"{ratio_text(ratio)} times for n={size[0]:,}"
            for ratio, size in zip(ratios, sizes, strict=True)
        )
        distortions = ", ".join(f"{gap:+.1f} % for n={n:,}" for n, gap in gaps)
        texts.append(
            f"{one}: distortion relative to k-means {distortions}; time relative to BsBKM(non) {times}"
        )
    return Finding(
        ". ".join(texts),
        verdict(all(is_poor) and all(is_close), any(is_poor) or any(is_close)),
        "It has 20 batches of a tenth of the rows, which is the work of two iterations of k-means, or "
        "20 batches that have a tenth of the rows together.",
    )


CLAIMS: list[Judge] = [
    fast_best_direct, boosted_best_tree, boost_better_for_images, advantage_grows, trees_above_direct,
    mini_batch_fast_but_poor,
]  # fmt: skip
