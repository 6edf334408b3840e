"""How often Lloyd's algorithm and single moves would move a row of a partition of noisy clusters.

The rows are x = m + e in d dimensions. The mean m of a row's class has independent coordinates of
variance `signal`, and the noise e has independent normal coordinates of variance `noise`. A partition
that does not depend on the rows is described by the number of rows of each class in each cluster. In
one dimension, the differences A = x - C_v and B = x - C_u of a row and the centres of another cluster
and of its own one are then normal, with variances and a covariance that follow from these numbers.
Lloyd's algorithm moves the row if the sum of A^2 - B^2 over all dimensions is negative. This sum has the
mean d (a - b) and the variance 2 d (a^2 + b^2 - 2 c^2), where a, b and c are the variances and the
covariance of A and B, and is almost normal if d is large. The rule of single moves multiplies A^2 by
n_v / (n_v + 1) and B^2 by n_u / (n_u - 1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Array = NDArray[Any]
Floats = NDArray[np.float64]
Labels = NDArray[np.integer[Any]]

# Nodes of the integral over the part that the scores of a row have in common. With 40 nodes, the result
# is exact to more digits than are shown.
N_NODES = 40
# A move must gain more than this share of the cost of staying, so that rounding causes no moves.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Planted:
    """A distribution of rows around planted means."""

    classes: Labels
    """Class of each row."""
    d: int
    noise: float
    """Variance of the noise in each dimension."""
    signal: float = 1.0
    """Variance of the means in each dimension."""

    def draw(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return rows."""
        n_classes = int(self.classes.max()) + 1
        means = rng.standard_normal((n_classes, self.d), dtype=np.float32)
        means *= np.float32(np.sqrt(self.signal))
        rows = rng.standard_normal((len(self.classes), self.d), dtype=np.float32)
        rows *= np.float32(np.sqrt(self.noise))
        for row, of_class in zip(rows, self.classes, strict=True):  # Without a copy of all rows.
            row += means[of_class]
        return rows


@dataclass(frozen=True)
class Rule:
    """Factors of the squared distances to the other centres, and to a row's own centre."""

    go: Floats
    """Factor of each cluster if a row enters it."""
    stay: Floats
    """Factor of each cluster if a row leaves it."""


# A rule for clusters of given sizes.
MakeRule = Callable[[Labels], Rule]


def lloyd(sizes: Labels) -> Rule:
    """Return Lloyd's rule: the distances themselves."""
    return Rule(np.ones(len(sizes)), np.ones(len(sizes)))


def single_moves(sizes: Labels) -> Rule:
    """Return Hartigan's rule. The only row of a cluster has the distance 0, whatever its factor."""
    return Rule(sizes / (sizes + 1), sizes / np.maximum(sizes - 1, 1))


def random_labels(n: int, k: int, rng: np.random.Generator) -> Labels:
    """Return random labels of k clusters whose sizes differ by at most one row."""
    return rng.permutation(np.arange(n) % k)


def class_shares(planted: Planted, labels: Labels) -> Floats:
    """Return the share of each class (line) in each cluster (column)."""
    counts = np.zeros((int(planted.classes.max()) + 1, int(labels.max()) + 1))
    np.add.at(counts, (planted.classes, labels), 1)
    return np.asarray(counts / counts.sum(axis=0))


def predicted_moments(planted: Planted, labels: Labels, rule: MakeRule = lloyd) -> tuple[Floats, Floats]:
    """Return the means and the variances of the scores of all rows (lines) and clusters (columns).

    A score is the cost of going minus the cost of staying. Both moments are exact for every d. The
    column of a row's own cluster has no meaning.
    """
    sizes, own = np.bincount(labels), labels
    shares = class_shares(planted, labels)
    common = shares.T @ shares  # Products of the parts of the centres that come from the means.
    p = shares[planted.classes]
    p_own, square = p[np.arange(len(own)), own], np.diag(common)
    signal, noise = planted.signal, planted.noise
    own_noise = noise * (1 - 1 / sizes[own])
    a = signal * (1 - 2 * p + square) + noise * (1 + 1 / sizes)
    b = signal * (1 - 2 * p_own + square[own]) + own_noise
    c = signal * (1 - p_own[:, None] - p + common[own]) + own_noise[:, None]
    factors = rule(sizes)
    a, b = factors.go * a, (factors.stay[own] * b)[:, None]
    c = factors.go * factors.stay[own][:, None] * c**2
    return planted.d * (a - b), 2 * planted.d * (a**2 + b**2 - 2 * c)


def predicted_scores(planted: Planted, labels: Labels, rule: MakeRule = lloyd) -> Floats:
    """Return the mean of each row's score for each cluster, divided by the score's deviation.

    A row moves if one of its scores is negative. Its own cluster has an infinite score.
    """
    mean, variance = predicted_moments(planted, labels, rule)
    scores = mean / np.sqrt(np.maximum(variance, np.finfo(float).tiny))
    scores[np.arange(len(labels)), labels] = np.inf
    return np.asarray(scores)


def probabilities_to_stay(scores: Floats) -> Floats:
    """Return the probability of each row that none of its scores is negative.

    The scores of a row have the row and its own centre in common. If noise dominates and the clusters
    have equal sizes, this makes half of their variance: the correlation is 1/2.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
    total = np.zeros(len(scores))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        total += weight * np.exp(log_ndtr(np.sqrt(2) * scores + node).sum(axis=1))
    return total


def gram(rows: Array, block: int = 4096) -> Floats:
    """Return the products of all pairs of rows, summed in float64 over blocks of dimensions."""
    products = np.zeros((len(rows), len(rows)))
    for begin in range(0, rows.shape[1], block):
        part = rows[:, begin : begin + block].astype(np.float64)
        products += part @ part.T
    return products


def distances_to_centres(products: Floats, labels: Labels) -> Floats:
    """Return the squared distances of all rows to all centres, from the products of the rows."""
    k = int(labels.max()) + 1
    member = np.zeros((len(labels), k))
    member[np.arange(len(labels)), labels] = 1 / np.bincount(labels, minlength=k)[labels]
    to_centre = products @ member
    squares = np.einsum("ir,ir->r", member, to_centre)
    return np.asarray(np.diag(products)[:, None] - 2 * to_centre + squares)


def would_move(distances: Floats, labels: Labels, rule: Rule) -> NDArray[np.bool_]:
    """Return which rows a rule would move, from their squared distances to all centres."""
    rows = np.arange(len(labels))
    stay = distances[rows, labels] * rule.stay[labels]
    costs = distances * rule.go
    costs[rows, labels] = np.inf
    return np.asarray(costs.min(axis=1) < (1 - ROUNDING) * stay)


def moving_rows(products: Floats, labels: Labels, rule: MakeRule = lloyd) -> NDArray[np.bool_]:
    """Return which rows a rule would move, from the products of all pairs of rows."""
    distances = distances_to_centres(products, labels)
    return would_move(distances, labels, rule(np.bincount(labels)))


def share_of_moves(rows: Array, labels: Labels, rule: MakeRule = lloyd, block: int = 1024) -> float:
    """Return the share of rows that a rule would move. It needs no products of pairs."""
    sizes = np.bincount(labels)
    centres = np.zeros((len(sizes), rows.shape[1]))
    np.add.at(centres, labels, rows)
    centres /= np.maximum(sizes, 1)[:, None]
    squares = np.square(centres).sum(axis=1)
    squares[sizes == 0] = np.inf
    n_moves = 0
    for begin in range(0, len(rows), block):
        part = rows[begin : begin + block].astype(np.float64)
        distances = np.square(part).sum(axis=1)[:, None] - 2 * part @ centres.T + squares
        n_moves += int(would_move(distances, labels[begin : begin + block], rule(sizes)).sum())
    return n_moves / len(rows)


def effective_dimension(rows: Array) -> float:
    """Return tr(V)^2 / tr(V^2), where V is the covariance matrix of the rows.

    It is the number of dimensions of rows with the same variance in all directions, for which the
    squared distances of pairs vary as much.
    """
    centred = rows - rows.mean(axis=0, dtype=np.float64)
    small = centred.T @ centred if len(rows) > rows.shape[1] else centred @ centred.T
    return float(np.trace(small) ** 2 / np.square(small).sum())
