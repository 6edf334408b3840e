"""Missed pairs: an estimate from some rows that are compared with all rows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from threadpoolctl import threadpool_limits

from boostkmeans._data.frame import Floats
from boostkmeans._pairs.links import Indices
from boostkmeans._pairs.search import NearRows
from boostkmeans._pairs.sparse_blocks import sparse_squares

# Confidence of the interval.
CONFIDENCE = 0.95
# Rows of a block that are compared with all checked rows at a time.
ROWS_AT_ONCE = 4096
# Largest number of bytes of these rows as float64.
BYTES_AT_ONCE = 2**26
# Bound on the error of a squared distance in float32, relative to the squared lengths of both rows, for
# up to 10,000 features. Nearer cases are decided in float64.
FLOAT32_ERROR = 1e-3
# Pairs whose squared distance differs from the limit by less than this share of it are not counted: the
# search and the check may round them differently.
BORDER = 1e-9


@dataclass(frozen=True)
class MissedPairs:
    """How many pairs a search has missed, estimated from some rows that were compared with all rows."""

    n_checked: int
    """Number of rows that were drawn at random and compared with all rows. It may be 0 if no pair can be
    missed."""
    n_pairs_checked: int
    """Number of pairs of these rows."""
    n_missed_checked: int
    """Number of these pairs that the search has missed."""
    estimate: float
    """Estimated number of missed pairs of all rows."""
    interval: tuple[float, float]
    """Confidence interval of this number (95 %). It is (0, 0) if no pair can be missed."""
    is_guaranteed: bool
    """True if no pair can be missed, because all clusters that may contain a pair were searched."""

    @property
    def recall(self) -> float:
        """Share of the checked pairs that the search has found.

        Without such pairs, it is 1 if no pair can be missed, else NaN.
        """
        if self.n_pairs_checked == 0:
            return 1.0 if self.is_guaranteed else float("nan")
        return 1 - self.n_missed_checked / self.n_pairs_checked


# The missed pairs of a search of all clusters that can contain a pair, if no row is checked.
NONE_MISSED = MissedPairs(0, 0, 0, 0.0, (0.0, 0.0), is_guaranteed=True)


def estimate_missed(
    found: NearRows, checked: Indices, degrees: Indices, *, confidence: float = CONFIDENCE
) -> MissedPairs:
    """Return the estimate from the true numbers of partners of the checked rows.

    The interval is that of Korn and Graubard: that of Clopper and Pearson for the number of pairs that,
    drawn independently, would be as informative as the pairs of the checked rows. Rows in dense regions
    have many pairs, which are found or missed together.
    """
    lost = np.maximum(degrees - found.degrees[checked], 0)
    missed, n_pairs = int(lost.sum()), int(degrees.sum())
    share = missed / max(1, n_pairs)
    n_effective = effective_pairs(lost, degrees, len(checked) / max(1, int(found.is_compared.sum())))
    low, high = share_interval(share * n_effective, n_effective, confidence)
    exact = found.is_exhaustive and missed == 0
    return MissedPairs(
        n_checked=len(checked),
        n_pairs_checked=n_pairs,
        n_missed_checked=missed,
        estimate=_missed_of(found.n_pairs, share),
        interval=(0.0, 0.0)
        if exact
        else (_missed_of(found.n_pairs, low), _missed_of(found.n_pairs, high)),
        is_guaranteed=exact,
    )


def effective_pairs(missed: Indices, degrees: Indices, checked_share: float) -> float:
    """Return how many independent pairs are as informative as those of the checked rows.

    `missed` and `degrees` are the missed pairs and all pairs of each checked row, which are a share
    `checked_share` of all rows. The result is p (1 - p) / v for the share p of missed pairs and the
    variance v of its estimate from rows. Where no pair or every pair is missed, the pairs of a row count
    as if they were equal.

    >>> effective_pairs(np.array([0, 0]), np.array([5, 5]), 0.1)
    2.0
    """
    total, n = float(degrees.sum()), len(degrees)
    if total == 0.0:
        return 0.0
    share = float(missed.sum()) / total
    if share in (0.0, 1.0) or n < 2:
        return total**2 / float(np.square(degrees, dtype=np.float64).sum())
    rests = float(np.square(missed - share * degrees).sum())
    variance = (1.0 - checked_share) * n / (n - 1) * rests / total**2
    return total if variance <= 0.0 else min(total, share * (1.0 - share) / variance)


def share_interval(n_missed: float, n_pairs: float, confidence: float) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a share. The numbers need not be whole.

    >>> [round(end, 3) for end in share_interval(0, 100, 0.95)]
    [0.0, 0.036]
    """
    tail = (1 - confidence) / 2
    low = 0.0 if n_missed == 0 else float(beta.ppf(tail, n_missed, n_pairs - n_missed + 1))
    high = 1.0 if n_missed == n_pairs else float(beta.ppf(1 - tail, n_missed + 1, n_pairs - n_missed))
    return low, high


def _missed_of(n_found: int, share: float) -> float:
    """Return the number of missed pairs if this share of all pairs is missed."""
    return float("inf") if share >= 1 else n_found * share / (1 - share)


def draw_checked(found: NearRows, n_checked: int, seed: int) -> Indices:
    """Draw rows to check, in ascending order."""
    candidates = np.flatnonzero(found.is_compared)
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(candidates, min(n_checked, len(candidates)), replace=False))


Block = tuple[int, Callable[[slice], Floats]]
"""Number of rows of a block, and a function that returns some of them as points."""


def count_partners(
    points: Floats, blocks: Iterable[Block], is_compared: NDArray[np.bool_], square: float, threads: int
) -> Indices:
    """Return the number of rows within the limit of each point, without the point itself.

    `square` is the largest squared distance of a pair in the unit of the points.
    """
    counts, first = np.full(len(points), -1, dtype=np.int64), 0
    at_once = min(ROWS_AT_ONCE, max(1, BYTES_AT_ONCE // (8 * points.shape[1])))
    for n_rows, take in blocks:
        for begin in range(0, n_rows, at_once):
            where = slice(begin, min(begin + at_once, n_rows))
            rows = take(where)[is_compared[first + where.start : first + where.stop]]
            counts += count_near(points, rows, square, threads)
        first += n_rows
    return counts


def count_sparse_partners(
    points: Any, checked: Indices, is_compared: NDArray[np.bool_], square: float
) -> Indices:
    """Return the number of rows within the limit of each checked row of a CSR matrix."""
    counts, left = np.full(len(checked), -1, dtype=np.int64), points[checked]
    compared = np.flatnonzero(is_compared)
    for begin in range(0, len(compared), ROWS_AT_ONCE):
        right = points[compared[begin : begin + ROWS_AT_ONCE]]
        counts += (sparse_squares(left, right) <= square * (1 - BORDER)).sum(axis=1)
    return counts


def count_near(points: Floats, rows: Floats, square: float, threads: int) -> Indices:
    """Return the number of rows within a squared distance of each point."""
    limit = square * (1 - BORDER)
    with threadpool_limits(threads, "blas"):
        products = points.astype(np.float32) @ rows.astype(np.float32).T
    lengths = [np.square(one).sum(axis=1) for one in (points, rows)]
    squares: Any = lengths[0][:, None] + lengths[1] - 2.0 * products
    error = FLOAT32_ERROR * (lengths[0][:, None] + lengths[1])
    counts = (squares < limit - error).sum(axis=1)
    i, j = np.nonzero(np.abs(squares - limit) <= error)
    for begin in range(0, len(i), ROWS_AT_ONCE):
        a, b = i[begin : begin + ROWS_AT_ONCE], j[begin : begin + ROWS_AT_ONCE]
        near = np.square(points[a] - rows[b]).sum(axis=1) <= limit
        np.add.at(counts, a[near], 1)
    return np.asarray(counts, dtype=np.int64)
