"""Claims of the paper about nearest neighbour search (Fig. 4)."""

from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

from claim import Finding, Judge, NotMeasuredError, claim, require_complete, runs_of, verdict

Floats = NDArray[np.float64]

DIRECT = ("k-means", "k-means++", "BKM(non)")
TREES = ("BsKM", "BsKM++", "BsBKM(non)")
# Ranks R at which recall@R is compared.
RANKS = (1, 10, 100)
MINI_BATCHES = ("Mini-Batch", "Mini-Batch, 10 % in total")


def recall(result: Json, m: int, method: str) -> Floats:
    """Return the mean recall over the seeds at `RANKS`, in percent."""
    require_complete(result)
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
    "Agrees if the mean of BsKM, BsKM++ and BsBKM(non) over R is 0.1 to 1.5 points below, with 8 and "
    "with 16 subspaces; in part if it is 0 to 3 points below on average over both.",
)
def quantizers_by_trees(result: Json) -> Finding:
    """Return the mean difference for each number of subspaces, and its range."""
    gaps = below_direct(result, TREES)
    means = gaps.mean(axis=1)
    return Finding(
        f"{means[0]:.1f} points below with 8 subspaces, {means[1]:.1f} with 16 ({gaps.min():.1f} to "
        f"{gaps.max():.1f} by R)",
        verdict(bool((means >= 0.1).all() and (means <= 1.5).all()), 0 < gaps.mean() <= 3),
        "A product quantizer tolerates worse codebooks.",
    )


@claim(
    "search",
    "Quantizers trained by Mini-Batch and RBK have a recall that is 2 to 6 % lower",
    "Both are 2 to 6 % below the others.",
    "Agrees if RBK and both readings of Mini-Batch's 10 % are each 1.5 to 6.5 points below on average "
    "over R and subspaces; in part if one of them is.",
)
def quantizers_of_others(result: Json) -> Finding:
    """Return the mean differences of all three."""
    gaps = {one: float(below_direct(result, (one,)).mean()) for one in (*MINI_BATCHES, "RBK")}
    low = [1.5 <= gap <= 6.5 for gap in gaps.values()]
    return Finding(
        ", ".join(f"{one} {gap:.1f} points below" for one, gap in gaps.items()),
        verdict(all(low), any(low)),
        "RBK uses the cosine, which does not match the distances of the codes. Mini-Batch depends on "
        "the number of batches, which the paper does not give.",
    )


CLAIMS: list[Judge] = [quantizers_alike, quantizers_by_trees, quantizers_of_others]
