"""Oracle of CLUTO's criteria: values by their definitions, and gains by recomputation after a move."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# Margin by which a move must improve the criterion: rounding errors of recomputed values.
MARGIN = 1e-9


def unit(X: Floats) -> Floats:
    """Scale rows to unit length. Rows of zeros stay zero."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1.0)


def value(X: Floats, labels: NDArray[Any], criterion: str, w: Floats | None = None) -> float:
    """Return the value of a criterion for unit rows, as Zhao and Karypis (2004) define it."""
    w = np.ones(len(X)) if w is None else w
    total = w @ X
    within = {"i1": 0.0, "i2": 0.0}
    between = {"e1": 0.0, "g1": 0.0}
    for cluster in np.unique(labels[w > 0]):
        members = labels == cluster
        composite, n = w[members] @ X[members], w[members].sum()
        length = float(np.linalg.norm(composite))
        within["i1"] += composite @ composite / n
        within["i2"] += length
        between["e1"] += n * (composite @ total) / length
        between["g1"] += composite @ (total - composite) / length**2
    ratios = {"h1": within["i1"] / between["e1"], "h2": within["i2"] / between["e1"]}
    return float({**within, **between, **ratios}[criterion])


def gain(X: Floats, labels: Labels, row: int, to: int, criterion: str, w: Floats | None = None) -> float:
    """Return by how much a move improves the criterion."""
    moved = labels.copy()
    moved[row] = to
    change = value(X, moved, criterion, w) - value(X, labels, criterion, w)
    return -change if criterion in ("e1", "g1") else change


def best_move(
    X: Floats, labels: Labels, row: int, k: int, criterion: str, w: Floats | None = None
) -> tuple[float, int]:
    """Return the largest gain of a row and its cluster, or 0 and its own cluster."""
    own = int(labels[row])
    alone = (labels[np.ones(len(X), dtype=bool) if w is None else w > 0] == own).sum() < 2
    if alone or (w is not None and w[row] <= 0):
        return 0.0, own
    others = [c for c in range(k) if c != own]
    gains = [gain(X, labels, row, c, criterion, w) for c in others]
    best = int(np.argmax(gains)) if gains else -1
    margin = MARGIN * abs(value(X, labels, criterion, w))
    return (gains[best], others[best]) if gains and gains[best] > margin else (0.0, own)


def sweep(
    X: Floats,
    labels: Labels,
    k: int,
    criterion: str,
    order: NDArray[np.int64],
    block: int,
    w: Floats | None = None,
) -> Labels:
    """Return the labels after a sweep in which the rows of a block propose before the first moves."""
    labels = labels.copy()
    for begin in range(0, len(order), block):
        rows = order[begin : begin + block]
        targets = [best_move(X, labels, row, k, criterion, w)[1] for row in rows]
        for row, to in zip(rows, targets, strict=True):
            counted = labels if w is None else labels[w > 0]
            alone = (counted == labels[row]).sum() < 2
            if to == labels[row] or alone:
                continue
            margin = MARGIN * abs(value(X, labels, criterion, w))
            if gain(X, labels, row, to, criterion, w) > margin:
                labels[row] = to
    return labels


def improving_moves(
    X: Floats, labels: Labels, k: int, criterion: str, w: Floats | None = None
) -> list[int]:
    """Return the rows with a move that improves the criterion."""
    return [row for row in range(len(X)) if best_move(X, labels, row, k, criterion, w)[0] > 0]
