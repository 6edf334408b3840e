"""Claims of the paper about nearest neighbour search (Fig. 4) and documents (Table 3)."""

from collections.abc import Callable

from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

from claim import Finding, Judge, NotMeasuredError, claim, runs_of, verdict

Floats = NDArray[np.float64]

DIRECT = ("k-means", "k-means++", "BKM(non)")
TREES = ("BsKM", "BsKM++", "BsBKM(non)")
# Ranks R at which recall@R is compared.
RANKS = (1, 10, 100)
# The paper's claims about documents hold from this number of clusters on.
MIN_CLUSTERS = 10


# Fig. 4


def recall(result: Json, m: int, method: str) -> Floats:
    """Return the mean recall over the seeds at `RANKS`, in percent."""
    runs = [one for run in runs_of(result, m=m) for one in run["methods"] if one["method"] == method]
    if not runs:
        raise NotMeasuredError(f"There is no recall of {method} with {m} subspaces.")
    mean = np.mean([one["recall"] for one in runs], axis=0)
    return np.array([100 * mean[r - 1] for r in RANKS])


def below_direct(result: Json, methods: tuple[str, ...]) -> Floats:
    """Return how many points methods are below the mean of the direct ones, by m and `RANKS`."""
    return np.array([
        np.mean([recall(result, m, one) for one in DIRECT], axis=0)
        - np.mean([recall(result, m, one) for one in methods], axis=0)
        for m in (8, 16)
    ])  # fmt: skip


@claim(
    "search",
    "Quantizers trained by k-means, k-means++ and BKM(non) have the same recall",
    "Their recall is very close under all settings.",
    "Agrees if the three are within 1.5 points at R = 1, 10, 100 with 8 and 16 subspaces; in part "
    "within 3.",
)
def quantizers_alike(result: Json) -> Finding:
    """Return the largest difference."""
    spread = max(
        float(np.ptp([recall(result, m, one) for one in DIRECT], axis=0).max()) for m in (8, 16)
    )
    return Finding(
        f"at most {spread:.1f} points apart",
        verdict(spread <= 1.5, spread <= 3),
        "The recall of 1,000 queries has a standard deviation of about one point.",
    )


@claim(
    "search",
    "Quantizers trained by bisecting have a slightly lower recall",
    "0.1 to 1.3 % below the direct methods.",
    "Agrees if BsKM, BsKM++ and BsBKM(non) are 0 to 2 points below on average over R and subspaces; in "
    "part up to 4.",
)
def quantizers_by_trees(result: Json) -> Finding:
    """Return the mean difference, and its range."""
    gaps = below_direct(result, TREES)
    return Finding(
        f"{gaps.mean():.1f} points below ({gaps.min():.1f} to {gaps.max():.1f})",
        verdict(0 <= gaps.mean() <= 2, -1 <= gaps.mean() <= 4),
        "A product quantizer tolerates worse codebooks.",
    )


@claim(
    "search",
    "Quantizers trained by Mini-Batch and RBK have a recall that is 2 to 6 % lower",
    "Both are 2 to 6 % below the others.",
    "Agrees if each is 1.5 to 7 points below on average over R and subspaces; in part if one of them "
    "is at least 1.5 points below.",
)
def quantizers_of_others(result: Json) -> Finding:
    """Return the mean differences of both."""
    gaps = {one: float(below_direct(result, (one,)).mean()) for one in ("Mini-Batch", "RBK")}
    low = [gap >= 1.5 for gap in gaps.values()]
    return Finding(
        ", ".join(f"{one} {gap:.1f} points below" for one, gap in gaps.items()),
        verdict(all(1.5 <= gap <= 7 for gap in gaps.values()), any(low)),
        "RBK uses the cosine, which does not match the distances of the codes. Mini-Batch depends on "
        "the number of batches, which the paper does not give.",
    )


# Table 3


def entropies(result: Json) -> dict[int, dict[str, float]]:
    """Return the lowest entropy of each method's runs, averaged over the sets, by k and method."""
    sets = runs_of(result)
    return {
        k: {
            method: float(np.mean([min(one["methods"][method][str(k)]["entropy"]) for one in sets]))
            for method in sets[0]["methods"]
        }
        for k in sets[0]["run"]["ks"]
    }


def ranks(result: Json, method: str, among: Callable[[str], bool]) -> dict[int, int]:
    """Return the rank of a method by entropy, for each k from `MIN_CLUSTERS` on."""
    found = {}
    for k, values in entropies(result).items():
        if k >= MIN_CLUSTERS:
            order = sorted((one for one in values if among(one)), key=values.__getitem__)
            found[k] = order.index(method) + 1
    if not found:
        raise NotMeasuredError(f"There is no k of {MIN_CLUSTERS} or more.")
    return found


def format_ranks(found: dict[int, int]) -> str:
    """Return the ranks on one line."""
    return ", ".join(f"rank {rank} for k={k}" for k, rank in found.items())


def is_tree(method: str) -> bool:
    """Return True if the method bisects."""
    return method.startswith("Bs") or method == "RBK"


@claim(
    "documents",
    "BsBKM(non) is the best method for documents",
    "Its entropy is the lowest of ten methods for k = 10, 15 and 20 (not for 5).",
    "Agrees if it is first for all k >= 10, by the lowest entropy of each method's runs; in part if it "
    "is first or second for some k.",
)
def best_for_documents(result: Json) -> Finding:
    """Return its rank among all methods."""
    found = ranks(result, "BsBKM(non)", lambda _: True)
    return Finding(
        format_ranks(found),
        verdict(max(found.values()) == 1, min(found.values()) <= 2),
        "The paper shows the best of ten runs by entropy, which is also the evaluation measure.",
    )


@claim(
    "documents",
    "BKM(rnd)+Fast is the best direct method for documents",
    "It is first of six direct k-way methods for all k.",
    "Agrees if it is first for all k >= 10; in part for some.",
)
def best_direct_for_documents(result: Json) -> Finding:
    """Return its rank among the direct methods."""
    found = ranks(result, "BKM(rnd)+Fast", lambda method: not is_tree(method))
    return Finding(format_ranks(found), verdict(max(found.values()) == 1, min(found.values()) == 1))


@claim(
    "documents",
    "Bisecting is slightly better than direct k-way for documents",
    "Trees have lower entropies.",
    "Agrees if the mean of the four trees is below that of k-means, k-means++ and both BKM for all k; "
    "in part for some.",
)
def trees_for_documents(result: Json) -> Finding:
    """Return the differences of the means."""
    gaps = {}
    for k, values in entropies(result).items():
        trees = [value for one, value in values.items() if is_tree(one)]
        direct = [values[one] for one in (*DIRECT, "BKM(rnd)+Fast")]
        gaps[k] = float(np.mean(trees) - np.mean(direct))
    lower = [gap < 0 for gap in gaps.values()]
    return Finding(
        ", ".join(f"{gap:+.3f} for k={k}" for k, gap in gaps.items()),
        verdict(all(lower), any(lower)),
        "Mini-Batch and LVQ are left out, because they would favour the trees.",
    )


CLAIMS: list[Judge] = [
    quantizers_alike, quantizers_by_trees, quantizers_of_others, best_for_documents,
    best_direct_for_documents, trees_for_documents,
]  # fmt: skip
