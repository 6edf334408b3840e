"""The oracle of the tests: boost k-means in plain NumPy and float64, row by row."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


def composites_of(X: Floats, labels: Labels, k: int, w: Floats) -> tuple[Floats, Floats]:
    """Return the sums and the weights of the clusters."""
    D, W = np.zeros((k, X.shape[1])), np.zeros(k)
    np.add.at(D, labels, w[:, None] * X)
    np.add.at(W, labels, w)
    return D, W


def costs(x: Floats, w: float, D: Floats, W: Floats) -> Floats:
    """Return the cost W / (W + w) |x - C|^2 of entering each cluster, which is 0 for an empty one."""
    C = D / np.where(W > 0, W, 1)[:, None]
    return np.asarray(W / (W + w) * ((x - C) ** 2).sum(axis=1))


def sweep(
    X: Floats, labels: Labels, k: int, order: list[int], block: int, w: Floats | None = None,
    rotation: NDArray[np.int64] | None = None, temperature: float = 0.0,
) -> tuple[Labels, int]:  # fmt: skip
    """Visit rows block by block: all rows of a block propose, then their moves are decided in order.

    Rows propose their best cluster or, with `rotation`, the first better one from that cluster on.
    """
    ease = (1 - temperature) / (1 + temperature)
    w = np.ones(len(X)) if w is None else w
    labels = labels.copy()
    D, W = composites_of(X, labels, k, w)
    counts = np.bincount(labels, minlength=k)
    moves = 0
    for begin in range(0, len(order), block):
        rows = order[begin : begin + block]
        targets = [propose(X[i], w[i], labels[i], D, W, None if rotation is None else rotation[i], ease)
                   for i in rows]  # fmt: skip
        for i, v in zip(rows, targets, strict=True):
            u = labels[i]
            if v == u or counts[u] == 1 or w[i] <= 0:
                continue
            stay = W[u] / (W[u] - w[i]) * ((X[i] - D[u] / W[u]) ** 2).sum()
            go = ease * costs(X[i], w[i], D, W)[v]
            if stay - go > 1e-12 * (stay + go):
                D[u] -= w[i] * X[i]
                D[v] += w[i] * X[i]
                W[u] -= w[i]
                W[v] += w[i]
                counts[u] -= 1
                counts[v] += 1
                labels[i] = v
                moves += 1
    return labels, moves


def propose(
    x: Floats, w: float, u: int, D: Floats, W: Floats, start: int | None, ease: float = 1.0
) -> int:
    """Return the best cluster of a row, or the first better one from `start` on, or its own."""
    if W[u] <= w or w <= 0:
        return u
    stay = W[u] / (W[u] - w) * ((x - D[u] / W[u]) ** 2).sum()
    cost = ease * costs(x, w, D, W)
    cost[u] = np.inf
    if start is None:
        best = int(cost.argmin())
        return best if cost[best] < stay else u
    turned = np.roll(np.arange(len(W)), -start)
    better = turned[cost[turned] < stay]
    return int(better[0]) if len(better) else u


def improving_move(
    X: NDArray[Any], labels: Labels, k: int, w: NDArray[Any] | None = None
) -> tuple[int, int] | None:
    """Return a move (row, cluster) that lowers the inertia, or None, in exact arithmetic.

    D is the sum of a cluster and W its weight. Leaving it saves W / (W - w) |x - D / W|^2, which is
    |W x - D|^2 / (W (W - w)), and entering it costs |W x - D|^2 / (W (W + w)). Rows and weights are
    scaled to integers, so that both fractions are exact.
    """
    points = _scaled_to_integers(X)
    weights = _scaled_to_integers(np.ones((len(X), 1)) if w is None else w[:, None])[:, 0]
    D, W = np.zeros((k, X.shape[1]), dtype=object), np.zeros(k, dtype=object)
    np.add.at(D, labels, weights[:, None] * points)
    np.add.at(W, labels, weights)
    for i, u in enumerate(labels.tolist()):
        weight = weights[i]
        if W[u] == weight or weight == 0:
            continue
        gaps = ((W[:, None] * points[i] - D) ** 2).sum(axis=1)
        saved, divisor = gaps[u], W[u] * (W[u] - weight)
        costs_less = gaps * divisor < saved * W * (W + weight)
        costs_less |= W == 0  # an empty cluster costs nothing
        costs_less[u] = False
        if saved > 0 and costs_less.any():
            return i, int(costs_less.argmax())
    return None


def _scaled_to_integers(X: NDArray[Any]) -> NDArray[np.object_]:
    """Multiply by the least common denominator; the result has Python's integers."""
    exact = [[Fraction(value) for value in row] for row in X.tolist()]
    scale = math.lcm(*(value.denominator for row in exact for value in row))
    return np.array([[int(value * scale) for value in row] for row in exact], dtype=object)


def inertia(X: NDArray[Any], labels: Labels, w: NDArray[Any] | None = None) -> float:
    """Return the sum of weighted squared distances of the rows to the means of their clusters."""
    w = np.ones(len(X)) if w is None else w
    total = 0.0
    for r in np.unique(labels):
        members, weights = X[labels == r], w[labels == r]
        if weights.sum() > 0:
            centre = (weights[:, None] * members).sum(axis=0) / weights.sum()
            total += float((weights[:, None] * (members - centre) ** 2).sum())
    return total
