"""Hours of computation of the stored runs at the paper's size."""

from collections.abc import Iterable

from environment import Json


def hours(results: Iterable[Json]) -> float:
    """Return the hours that the runs of some results took.

    A trace of several experiments counts once.
    """
    runs = [run for result in results for run in result["runs"]]
    traces = {run["trace"]: run.get("computed_seconds", 0.0) for run in runs if "trace" in run}
    others = [run.get("duration", 0.0) for run in runs if "trace" not in run]
    return float(sum(traces.values()) + sum(others)) / 3600


def hours_text(results: Iterable[Json]) -> str:
    """Return a sentence about the computation at the paper's size."""
    full = [result for result in results if result["size"] == "full"]
    return (
        f"The stored runs at the paper's size took {hours(full):.1f} hours on two cores, most of them "
        "beside other work. This includes runs of experiments whose larger size is not the paper's."
    )
