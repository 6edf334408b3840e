"""The estimate of missed pairs: its interval covers the truth, also where rows have many pairs."""

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans._pairs.search import NearRows
from boostkmeans.curate._duplicates.missed_pairs import (
    MissedPairs,
    draw_checked,
    effective_pairs,
    estimate_missed,
)

N_DRAWS = 200


def search_of_groups(seed: int) -> tuple[NearRows, NearRows]:
    """Return all pairs of groups of very different sizes, and those that a search has found.

    The search finds most pairs of small groups, and few pairs of large ones.
    """
    rng = np.random.default_rng(seed)
    sizes = np.minimum(1 + rng.pareto(1.2, size=4000), 200).astype(np.int64)
    degrees = np.repeat(sizes - 1, sizes)
    found = np.minimum(degrees, 3 + degrees // 4)
    return near_rows(degrees), near_rows(found)


def near_rows(degrees: NDArray[np.int64]) -> NearRows:
    n = len(degrees)
    return NearRows(
        components=np.arange(n),
        degrees=degrees,
        nearest=np.zeros(n),
        is_compared=np.ones(n, dtype=bool),
        is_exhaustive=False,
    )


def estimates(n_checked: int) -> tuple[int, list[MissedPairs]]:
    """Return the number of missed pairs, and estimates of it from different checked rows."""
    everything, found = search_of_groups(0)
    draws = [draw_checked(found, n_checked, seed) for seed in range(N_DRAWS)]
    truth = everything.n_pairs - found.n_pairs
    return truth, [estimate_missed(found, rows, everything.degrees[rows]) for rows in draws]


@pytest.mark.parametrize("n_checked", [300, 3000])
def test_interval_covers_the_truth(n_checked: int) -> None:
    truth, found = estimates(n_checked)
    covered = sum(one.interval[0] <= truth <= one.interval[1] for one in found)
    assert covered >= 0.9 * N_DRAWS
    assert np.median([one.estimate for one in found]) == pytest.approx(truth, rel=0.1)
    # The interval is not so wide that it says nothing.
    assert np.median([one.interval[1] for one in found]) < 3 * truth


def test_more_checked_rows_narrow_the_interval() -> None:
    widths = [
        np.median([one.interval[1] - one.interval[0] for one in estimates(n_checked)[1]])
        for n_checked in (300, 3000)
    ]
    assert widths[1] < 0.5 * widths[0]


def test_no_row_misses_a_pair() -> None:
    everything, _ = search_of_groups(0)
    rows = draw_checked(everything, 500, 0)
    low, high = estimate_missed(everything, rows, everything.degrees[rows]).interval
    assert low == 0
    assert 0 < high < 0.1 * everything.n_pairs


def test_all_rows_are_checked() -> None:
    """If all rows are checked, the number is known; only the pairs themselves count as drawn."""
    everything, found = search_of_groups(0)
    rows = np.arange(len(found.degrees))
    result = estimate_missed(found, rows, everything.degrees)
    assert result.estimate == pytest.approx(everything.n_pairs - found.n_pairs, rel=1e-4)
    assert result.interval[0] <= result.estimate <= result.interval[1]


def test_effective_number_of_pairs() -> None:
    """Rows whose pairs are all found or all missed count as one pair each, up to n / (n - 1)."""
    degrees = np.full(100, 7)
    missed = np.where(np.arange(100) < 30, 7, 0)
    assert effective_pairs(missed, degrees, 0.0) == pytest.approx(99)
    # Rows with the same share of missed pairs tell more than independent pairs: these are the bound.
    assert effective_pairs(np.full(100, 2), degrees, 0.0) == 700
    assert effective_pairs(np.arange(0), np.arange(0), 0.0) == 0
