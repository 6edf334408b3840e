"""Hours of computation of stored runs."""

import pytest

import computation
from environment import Json


def test_trace_of_two_experiments_counts_once() -> None:
    trace: Json = {"trace": "k_means", "computed_seconds": 5400.0}
    results: list[Json] = [
        {"size": "full", "runs": [trace, {"duration": 1800.0}]},
        {"size": "full", "runs": [trace, {}]},
    ]
    assert computation.hours(results) == pytest.approx(2.0)


def test_text_leaves_out_the_small_size() -> None:
    results = [{"size": size, "runs": [{"duration": 3600.0}]} for size in ("full", "small")]
    assert "took 1.0 hours" in computation.hours_text(results)
