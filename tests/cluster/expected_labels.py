"""Comparison of a fit on a cluster with the same fit in one process."""

from functools import cache

from conformance import ALL, Configuration, FitOutcome
from tally import TALLY


def configuration(name: str) -> Configuration:
    """Return the configuration with a name."""
    return next(one for one in ALL if one.name == name)


@cache
def expected(name: str) -> FitOutcome:
    """Return the outcome of a configuration in one process."""
    return configuration(name).outcome()


def check_equal(name: str, where: str, found: FitOutcome) -> None:
    """Compare an outcome with that in one process, and count it."""
    assert found == expected(name), f"{name} on {where}"
    TALLY.count_equal(name, where)
