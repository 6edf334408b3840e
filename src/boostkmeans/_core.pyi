"""
The compiled core of boostkmeans. Private: it trusts what the package hands it.
"""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Rows:
    """
    Rows of an array, seen as (x * factor - shift) * 2**scale_exponent; or those of a CSR matrix, which are expanded when they are loaded if there is a shift, and else stay sparse.
    """

    @overload
    def __init__(self, array: object, shift: Sequence[float], scale_exponent: int, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, isa: str = '') -> None: ...

    @overload
    def __init__(self, values: object, columns: object, starts: object, n_features: int, shift: Sequence[float] | None, scale_exponent: int, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, isa: str = '') -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def isa(self) -> str: ...

def instruction_sets() -> list[str]:
    """
    Names of the instruction sets that this machine runs, the plainest first.
    """

def describe(rows: Rows, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], int]:
    """
    Lowest and highest value of each column; the first row that is not finite, or -1.
    """

def row_norms(rows: Rows, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Euclidean length of each row."""

def recompute(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], composites: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], inertias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, n_threads: int) -> tuple[float, float]:
    """
    Composites, weights, counts (and inertias) of the clusters from the labels, in place. Returns (inertia, drift).
    """

def members(labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_clusters: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Row numbers, cluster by cluster, and where each cluster begins and the last one ends.
    """

def sweep(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], composites: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_rows: int, block_rows: int, first: bool, seed: int, exact: bool, low: bool, seconds_left: float, n_threads: int, temperature: float = 0.0, least: float = 0.0, most: float = float('inf'), exchange: bool = False, prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[int, float, int, bool]:
    """
    One sweep, in place. Returns (moves, gain, evaluations, whether time ran out).
    """

def sweep_candidates(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], composites: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], lists: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], changed: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], visited: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], clock: int, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: int, runners_up: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None, by_runner_up: bool, first: bool, seed: int, seconds_left: float, n_threads: int, temperature: float = 0.0, least: float = 0.0, most: float = float('inf'), exchange: bool = False, prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[int, float, int, bool, int]:
    """
    One sweep, cluster by cluster, over lists of neighbours, in place. Returns (moves, gain, evaluations, whether time ran out, clock).
    """

def neighbours(centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lists: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], isa: str, n_threads: int) -> None:
    """
    Nearest other centres of each centre, nearest first, -1 where there are no more, in place. Centres come in groups and look into the groups of their group's list.
    """

def pair_gaps(composites: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], a: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], isa: str, n_threads: int) -> None:
    """Squared distances of pairs of centres, in place."""

def nearest(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, exclude: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> None:
    """
    Exact nearest centre (other than `exclude`) and squared distance of each row, in place.
    """

def distances(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Squared distances of all rows to all centres, in place."""

def own_distances(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Squared distance of each row to the centre that its label names, and its squared length, in place.
    """

def online_pass(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: float) -> int:
    """
    Row by row, the nearest centre moves towards the row, in place. Returns the number of rows.
    """

def nearest_in_groups(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lists: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Nearest of the centres in the groups that are listed for the group of each row, in place.
    """

def descend(rows: Rows, children: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """The leaf of each row, from node 0 on by the nearest child, in place."""

def plus_plus(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_clusters: int, n_trials: int, seed: int, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """Greedy k-means++. Returns (chosen rows, label of each row)."""

def split(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, members: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], begins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sections: int, start: int, max_passes: int, tol: float, seed: int, measured: bool, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Splits ranges of members, which are reordered. Returns (ends, weights, inertias), each flat: sets x sections. Ends are -1 where all rows of a set are equal.
    """

@overload
def encode(parts: Sequence[Rows], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Nearest centroid of each part of each row, exactly, in place."""

@overload
def encode(parts: Sequence[Rows], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def nearest_rows(rows: Rows, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, ids: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Nearest points of each row, exactly, among these (numbered from `first` on) and those that are in ids and distances already, in place.
    """

@overload
def search_codes(tables: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], isa: str, n_threads: int) -> None:
    """
    Codes with the smallest sums of what the tables of each query say, nearest first, in place.
    """

@overload
def search_codes(tables: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], isa: str, n_threads: int) -> None: ...
