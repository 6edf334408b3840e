"""CLUTO's criteria of a clustering: i1, i2, e1, g1, h1 and h2.

All of them are functions of three numbers of each cluster: the squared length of its composite, the
product of its composite with the sum of all rows, and its weight. `src/core/criteria/criterion.hpp` has
the formulas.
"""

from dataclasses import dataclass

import numpy as np

from boostkmeans._data.frame import Floats

CRITERIA = ("i1", "i2", "e1", "g1", "h1", "h2")
# Criteria that are minimised. The others are maximised.
MINIMISED = ("e1", "g1")
# Criteria that compare clusters with the sum of all rows. They divide by terms that are positive only if
# no value of the rows is negative.
COMPARING = ("e1", "g1", "h1", "h2")
# Factor of a criterion if all weights are multiplied by a factor, as the exponent of that factor.
DEGREES = {"i1": 1, "i2": 1, "e1": 2, "g1": 0, "h1": -1, "h2": -1}


@dataclass(frozen=True)
class ClusterNumbers:
    """The numbers of the clusters on which all criteria depend."""

    squares: Floats
    """Squared lengths of the composites."""
    products: Floats
    """Products of the composites with the sum of all rows."""
    weights: Floats
    """Weights of the clusters."""

    @classmethod
    def of(cls, composites: Floats, weights: Floats, total: Floats | None = None) -> "ClusterNumbers":
        """Return the numbers of composites, one per row. `total` is their sum by default."""
        total = composites.sum(axis=0) if total is None else total
        # Unlike BLAS, `einsum` adds in an order that depends only on the shape and the layout.
        products = np.einsum("ij,j->i", composites, total)
        return cls(np.einsum("ij,ij->i", composites, composites), products, weights)


def terms(criterion: str, numbers: ClusterNumbers) -> tuple[Floats, Floats]:
    """Return the terms of each cluster that are maximised, and those that are minimised."""
    lengths, nothing = np.sqrt(numbers.squares), np.zeros_like(numbers.squares)
    within = between = nothing
    if criterion in ("i1", "h1"):
        within = _ratio(numbers.squares, numbers.weights)
    elif criterion in ("i2", "h2"):
        within = lengths
    if criterion in ("e1", "h1", "h2"):
        between = numbers.weights * _ratio(numbers.products, lengths)
    elif criterion == "g1":
        between = _ratio(numbers.products, numbers.squares)
    return within, between


def _ratio(above: Floats, below: Floats) -> Floats:
    """Divide, with 0 for clusters whose rows cancel out."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def value_of_sums(criterion: str, within: float, between: float, n_clusters: int) -> float:
    """Return the value of a criterion, given the sums of its terms over all clusters."""
    if criterion in ("i1", "i2"):
        return within
    if criterion == "g1":
        return between - n_clusters  # Its terms exclude the products within the clusters.
    if criterion == "e1":
        return between
    return within / between if between > 0 else 0.0


def criterion_value(criterion: str, numbers: ClusterNumbers) -> float:
    """Return the value of a criterion."""
    within, between = terms(criterion, numbers)
    return value_of_sums(
        criterion, float(within.sum()), float(between.sum()), int((numbers.weights > 0).sum())
    )


def improvement(criterion: str, before: float, after: float) -> float:
    """Return by how much a value is better than another: positive if it is."""
    return before - after if criterion in MINIMISED else after - before
