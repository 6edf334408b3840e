"""Claims of the paper about distortion on image vectors (Fig. 6), alone and together with time."""

from claim import Finding, Judge, NotMeasuredError, claim, percent, verdict
from claims_scalability import DIRECT, TREES, size_text, sizes_with, value
from experiment import Json

FAST = "BKM(rnd)+Fast"


def gaps_along_k(result: Json, one: str, other: str) -> list[tuple[int, float]]:
    """Return k and by how many percent the distortion of a method is above that of another."""
    sizes = sizes_with(result, "k", (one, other), "distortion")
    return [
        (size[1], percent(*(value(result, method, size, "distortion") for method in (one, other))))
        for size in sizes
    ]


def fastest_and_lowest(result: Json, method: str, methods: tuple[str, ...]) -> Finding:
    """Judge whether a method is the fastest and has the lowest distortion at the largest n."""
    timed = sizes_with(result, "n", methods)
    known = [one for one in sizes_with(result, "n", methods, "distortion") if one in timed]
    if not known:
        raise NotMeasuredError("The methods have no size in common.")
    seconds = {one: value(result, one, known[-1]) for one in methods}
    distortions = {one: value(result, one, known[-1], "distortion") for one in methods}
    fastest = min(seconds, key=seconds.__getitem__)
    lowest = min(distortions, key=distortions.__getitem__)
    return Finding(
        f"{size_text(known[-1])}: fastest {fastest} ({seconds[fastest]:.3g} s; {method} "
        f"{seconds[method]:.3g} s); lowest {lowest} ({distortions[lowest]:.4f}; {method} "
        f"{distortions[method]:.4f})",
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
    return fastest_and_lowest(result, FAST, (*DIRECT, FAST))


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
    "Boost k-means is considerably better for images",
    "Both for direct k-way and for bisecting, clustering by Alg. 1 is considerably better.",
    "Agrees if BKM(non) is at least 1 % below k-means, and BsBKM(non) at least 1 % below BsKM, at the "
    "largest k that both finish; in part if both are below.",
)
def boost_better_for_images(result: Json) -> Finding:
    """Compare boost k-means with k-means at the largest k."""
    pairs = (("BKM(non)", "k-means"), ("BsBKM(non)", "BsKM"))
    found = {pair: gaps_along_k(result, *pair)[-1] for pair in pairs}
    highest = max(gap for _, gap in found.values())
    return Finding(
        "; ".join(
            f"{one} {gap:+.2f} % relative to {other} for k={k:,}"
            for (one, other), (k, gap) in found.items()
        ),
        verdict(highest <= -1, highest < 0),
    )


@claim(
    "scalability",
    "The advantage of boost k-means grows with k",
    "The advantage of methods based on it over the others grows with k.",
    "Agrees if k-means is further above BKM(non) at the largest k that both finish than at the "
    "smallest; in part if it is above at the largest.",
)
def advantage_grows(result: Json) -> Finding:
    """Return the gaps by k."""
    gaps = gaps_along_k(result, "k-means", "BKM(non)")
    if len(gaps) < 2:
        raise NotMeasuredError("k-means and BKM(non) have fewer than two values of k in common.")
    first, last = gaps[0][1], gaps[-1][1]
    measured = ", ".join(f"{gap:.1f} % for k={k:,}" for k, gap in gaps)
    return Finding(measured, verdict(last > first > 0, last > 0))


@claim(
    "scalability",
    "For images, too, trees end well above direct methods",
    "The average distortion of bisecting is much higher than that of direct k-way.",
    "Agrees if BsBKM(non) is at least 3 % above BKM(non) for all k that both finish; in part if it is "
    "above.",
)
def trees_above_direct(result: Json) -> Finding:
    """Return the gaps by k."""
    gaps = gaps_along_k(result, "BsBKM(non)", "BKM(non)")
    lowest = min(gap for _, gap in gaps)
    measured = ", ".join(f"{gap:+.1f} % for k={k:,}" for k, gap in gaps)
    return Finding(measured, verdict(lowest >= 3, lowest > 0))


@claim(
    "scalability",
    "Mini-Batch is as fast as trees for 1,024 clusters, but poor",
    "Its speed is close to that of BsBKM(non), and its quality is poor in most cases.",
    "Agrees if its distortion is at least 1 % above that of k-means, and its time at most 3 times that "
    "of BsBKM(non), at the largest n that all finish; in part if one of the two holds.",
)
def mini_batch_fast_but_poor(result: Json) -> Finding:
    """Compare time and distortion at the largest n, in both readings of its 10 %."""
    size = sizes_with(result, "n", ("Mini-Batch", "BsBKM(non)"))[-1]
    at = sizes_with(result, "n", ("Mini-Batch", "k-means"), "distortion")[-1]
    ratio = value(result, "Mini-Batch", size) / value(result, "BsBKM(non)", size)
    gap = percent(*(value(result, one, at, "distortion") for one in ("Mini-Batch", "k-means")))
    return Finding(
        f"{gap:+.1f} % relative to k-means ({size_text(at)}), {ratio:.2g} times the time of BsBKM(non) "
        f"({size_text(size)})",
        verdict(gap >= 1 and ratio <= 3, gap >= 1 or ratio <= 3),
        "It has 20 batches of a tenth of the rows, which is the work of two iterations of k-means.",
    )


CLAIMS: list[Judge] = [
    fast_best_direct, boosted_best_tree, boost_better_for_images, advantage_grows, trees_above_direct,
    mini_batch_fast_but_poor,
]  # fmt: skip
