"""Pairs of sparse rows: products of blocks of rows."""

from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._pairs.blocks import BlockPairs, ReportShare
from boostkmeans._pairs.links import Indices, Links

# Rows of a block. The products of two blocks are a dense array of 32 MB.
BLOCK_ROWS = 2048


def find_sparse_pairs(
    points: Any, members: Indices, counts: Indices, square: float, report: ReportShare
) -> BlockPairs:
    """Return the pairs among the members of a CSR matrix. All of them are compared.

    The squared distance of x and y is |x|^2 + |y|^2 - 2 x y. `square` is the largest one of a pair.
    """
    found, links = BlockPairs.none(points.shape[0]), Links(points.shape[0])
    parts = [members[begin : begin + BLOCK_ROWS] for begin in range(0, len(members), BLOCK_ROWS)]
    n_pairs, done = len(parts) * (len(parts) + 1) // 2, 0
    for number, a in enumerate(parts):
        left = points[a]
        for b in parts[number:]:
            right = points[b]
            squares = sparse_squares(left, right)
            near = squares <= square
            if a is b:  # each pair once, and no row with itself
                near = np.triu(near, k=1)
            i, j = np.nonzero(near)
            for rows, others in ((a[i], b[j]), (b[j], a[i])):
                np.add.at(found.degrees, rows, counts[others])
                np.minimum.at(found.nearest, rows, squares[i, j])
            links.connect(a[i], b[j])
            done += 1
            report(done / n_pairs)
    return found._replace(parents=links.components())


def sparse_squares(left: Any, right: Any) -> Floats:
    """Return the squared distances of the rows of two CSR matrices."""
    products = (left @ right.T).toarray()
    lengths = [np.asarray(one.multiply(one).sum(axis=1)).ravel() for one in (left, right)]
    found: Floats = np.maximum(lengths[0][:, None] + lengths[1] - 2 * products, 0.0)
    return found
