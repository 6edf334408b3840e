"""The number of clusters of a fit: given by `n_clusters`, or by the average size of a cluster."""

from typing import Any

from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._runtime.parameter_checks import Allowed, check_n_clusters, int_range, integer

# Default of `n_clusters`. Together with `leaf_size`, it means that `n_clusters` was not given, because
# an estimator cannot tell a default from an argument of the same value.
DEFAULT_N_CLUSTERS = 8

# None is allowed only together with `leaf_size`, which `check_cluster_count` checks.
N_CLUSTERS = Allowed(lambda value: value is None or integer(1).accepts(value), int_range(1))
"""Allowed values of `n_clusters`."""


def check_cluster_count(n_clusters: int | None, leaf_size: float | None, owner: str) -> None:
    """Raise an error unless exactly one of the two parameters sets the number of clusters."""
    if leaf_size is None:
        if n_clusters is None:
            raise ParameterError("n_clusters", int_range(1), None, owner=owner)
    elif n_clusters not in (None, DEFAULT_N_CLUSTERS):
        raise ParameterConflictError(
            Message(
                "{n_clusters} and {leaf_size} both set the number of clusters.",
                n_clusters=Parameter("n_clusters", n_clusters),
                leaf_size=Parameter("leaf_size", leaf_size),
            ),
            remedy=Message("Use n_clusters=None.", shell="Leave out one of them."),
        )


def cluster_count(n_clusters: int | None, leaf_size: float | None, total: float) -> int:
    """Return the number of clusters for rows of this total weight."""
    if leaf_size is not None:
        return max(1, round(total / leaf_size))
    assert n_clusters is not None, "check_cluster_count comes first"
    return int(n_clusters)


def check_rows_for_clusters(
    n_clusters: int, leaf_size: float | None, n_rows: int, weights: RowWeights
) -> None:
    """Raise an error if there are fewer rows, or rows with a positive weight, than clusters."""
    if leaf_size is not None and n_clusters > weights.n_positive:
        values: dict[str, Any] = {
            "leaf_size": Parameter("leaf_size", leaf_size),
            "n_clusters": n_clusters,
            "n_rows": weights.n_positive,
        }
        raise ParameterConflictError(
            Message("{leaf_size} gives {n_clusters} clusters for {n_rows} rows.", **values),
            remedy="A cluster needs at least one row of positive weight.",
        )
    check_n_clusters(n_clusters, n_rows, weights.n_positive)
