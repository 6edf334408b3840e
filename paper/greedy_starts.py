"""Note about stored runs of BKM(kpp) that used greedy k-means++ instead of the published one."""

from collections.abc import Sequence

from experiment import Json

METHODS = ("BKM(kpp)", "BKM(kpp)+Fast")
# Commits that measured these methods with greedy k-means++, which draws 15 candidates per centre.
COMMITS = ("3e4f09e", "516010f")


def greedy_methods(results: Sequence[Json]) -> list[str]:
    """Return the methods with runs that used greedy k-means++."""
    runs = [run for result in results for run in result["runs"]]
    found = {run["run"].get("method") for run in runs if run.get("commit") in COMMITS}
    return [method for method in METHODS if method in found]


def greedy_note(results: Sequence[Json]) -> str:
    """Return a sentence about these runs, or an empty string."""
    methods = greedy_methods(results)
    if not methods:
        return ""
    return (
        f"The stored runs of {' and '.join(methods)} still used greedy k-means++ with 15 candidates per "
        "centre, which starts lower and takes longer than the published k-means++ with one."
    )
