"""
Compiled core of boostkmeans. Private. Functions check dtypes and shapes of their arguments but trust the values: labels, row numbers, orders, lists and codes must lie in their ranges. CsrMatrix checks the indices of a sparse matrix once.
"""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class CsrMatrix:
    """
    CSR matrix that keeps its arrays. The constructor checks all indices, in parallel, so that several Rows can be built from it without further checks.
    """

    def __init__(self, *, values: object, columns: object, starts: object, n_features: int, n_threads: int = 1) -> None: ...

class Rows:
    """
    Rows of an array or a CSR matrix, read as (x * factor - shift) * 2**exponent. Rows of a CSR matrix stay sparse if shift is None; otherwise they are expanded when they are read.
    """

    def __init__(self, array: object, *, shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, exponent: int = 0, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, isa: str = '') -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def isa(self) -> str: ...

class PartitionView:
    """
    Labels, composites, weights and counts of a partition, which native functions change in place. Labels must lie in [0, n_clusters); this is not checked.
    """

    def __init__(self, *, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], composites: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    @property
    def n_clusters(self) -> int: ...

def simulated_cores() -> list[int]:
    """
    Return the numbers of processors for which section_times reports upper bounds.
    """

def section_times() -> tuple[float, float, list[float]]:
    """
    Return the seconds that calls from the current thread have spent in parallel sections so far: the elapsed time, the sum over all threads, and upper bounds of the time on simulated_cores().
    """

def instruction_sets() -> list[str]:
    """
    Return the names of the instruction sets that this machine supports, the baseline first.
    """

def describe(rows: Rows, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], int]:
    """
    Return the minimum and the maximum of each column, and the first row with a value that is not finite, or -1.
    """

def row_norms(rows: Rows, n_threads: int, by_columns: bool = False) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the Euclidean length of each row. With by_columns, squares are added in the order of the columns, so that dense rows and sparse rows of the same data have equal lengths.
    """

def row_checksum(rows: Rows, first_row: int, n_threads: int) -> int:
    """
    Return the checksum of the values of all rows, whose numbers begin with first_row. The sum of the checksums of blocks, modulo 2**64, is that of all rows.
    """

def recompute(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, partition: PartitionView, inertias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, n_threads: int) -> tuple[float, float]:
    """
    Recompute composites, weights and counts (and the inertia of each cluster) from the labels, in place. Return (inertia, drift).
    """

def project(rows: Rows, axes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Compute the products of all rows with the axes, times scale, in place. The last column of out receives the length of the rest of each row, times scale.
    """

def members(labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_clusters: int, n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Return the row numbers sorted by cluster, and the start of each cluster in them, followed by their number.
    """

class RowBounds:
    """
    Bounds that show which rows cannot gain by a move. Sweeps update the arrays: margins starts with -inf, the others with 0. If the label of a row changes between two sweeps, its margin must be set to -inf.
    """

    def __init__(self, *, margins: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], paths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class FullVisit:
    """
    Visit of rows that are compared with all clusters. Runs of run_rows neighbouring rows are visited in the given order; block_rows rows propose before the first of them is decided. With bounds, rows that cannot gain are skipped, unless the sweep is exact.
    """

    def __init__(self, *, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], run_rows: int, block_rows: int, bounds: RowBounds | None = None) -> None: ...

class CandidateVisit:
    """
    Visit of rows, cluster by cluster, that are compared with the clusters in the list of their cluster only. Clusters are skipped if nothing in their list changed since they were visited. With by_runner_up, rows are visited with their runner-up and compared with its list.
    """

    def __init__(self, *, lists: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], changed: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], visited: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], clock: int, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: int, runners_up: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, by_runner_up: bool = False) -> None: ...

    @property
    def clock(self) -> int:
        """Number of blocks decided so far. A sweep advances it."""

class SweepOptions:
    """
    Rules by which the rows of a sweep move. The constructor raises ValueError for values that exclude each other.
    """

    def __init__(self, *, first: bool = False, exact: bool = False, low_precision: bool = False, temperature: float = 0.0, min_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, max_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, exchange: bool = False, penalties: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, seed: int = 0) -> None: ...

class Projection:
    """
    Rows in the coordinates of a few axes, and the length of the rest of each row in the last column, as computed by `project`. Sweeps use it to skip clusters that are too far away.
    """

    def __init__(self, *, values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: float, isa: str = '') -> None: ...

class SweepResult:
    """Summary of a sweep."""

    @property
    def moves(self) -> int:
        """Number of rows that moved."""

    @property
    def gain(self) -> float:
        """Decrease of the inertia."""

    @property
    def evaluations(self) -> int:
        """Number of distances computed."""

    @property
    def late(self) -> bool:
        """True if the sweep ran out of time."""

def sweep(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, partition: PartitionView, visit: FullVisit | CandidateVisit, options: SweepOptions, *, projection: Projection | None = None, seconds_left: float = float('inf'), n_threads: int = 1) -> SweepResult:
    """Visit the rows once and move each to a better cluster, in place."""

class Groups:
    """
    Centres in groups of neighbours: group g is order[starts[g]:starts[g + 1]]. Row g of lists names the groups to search for members of group g, padded with -1.
    """

    def __init__(self, *, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lists: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

def neighbours(centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Groups, out: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], previous: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, isa: str, n_threads: int) -> None:
    """
    Find the nearest other centres of each centre, nearest first, in place. Rows of out are padded with -1. The centres of earlier lists are compared, too.
    """

def pair_distances(composites: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], a: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], isa: str, n_threads: int) -> None:
    """Compute the squared distances between pairs of centres, in place."""

def nearest(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, exclude: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> None:
    """
    Find the nearest centre of each row, other than exclude, and its squared distance, exactly and in place.
    """

def bounded_nearest(rows: Rows, projection: Projection, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Replace each label, which is a guess, by the nearest centre, and compute its squared distance, exactly and in place.
    """

def distances(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Compute the squared distances of all rows to all centres, in place."""

def distances_to_assigned(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Compute the squared distance of each row to the centre of its label, and its squared norm, in place.
    """

def online_pass(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: float, block_rows: int, n_threads: int) -> int:
    """
    Move the nearest centre of each row towards the row, one row after the other, in place. Threads share the work on a block of rows, on which the result does not depend. Sparse rows need blocks of one row. Return the number of rows visited.
    """

def nearest_in_groups(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], groups: Groups, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Find the nearest centre of each row among those in the groups that are listed for the group of the row, in place.
    """

def nearest_many(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Find the nearest centres of each row, one per column of labels, nearest first, and their squared distances, exactly and in place.
    """

def nearest_many_in_groups(rows: Rows, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], groups: Groups, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Find the nearest centres of each row among those in the groups that are listed for the group of the row, in place. Every list must have as many centres as labels has columns.
    """

def silhouette(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_clusters: int, cosine: bool, additions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Compute the silhouettes of rows, starting with first, from their distances to all rows, in place. additions are added to the distances of a row to other rows.
    """

def plus_plus(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_clusters: int, n_trials: int, seed: int, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """
    Choose rows by greedy k-means++. Return (chosen rows, label of each row).
    """

class Criterion(enum.Enum):
    """A criterion of CLUTO."""

    i1 = 0

    i2 = 1

    e1 = 2

    g1 = 3

    h1 = 4

    h2 = 5

class TermComposites:
    """
    A partition: labels, composites by term (one row per feature, one column per cluster), and weights and counts of the clusters.
    """

    def __init__(self, *, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], by_term: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class CriterionSweepResult:
    """Summary of a sweep."""

    @property
    def moves(self) -> int:
        """Number of rows that moved."""

    @property
    def evaluations(self) -> int:
        """Number of products of rows and composites."""

    @property
    def within(self) -> float:
        """Sum of the terms that are maximised."""

    @property
    def between(self) -> float:
        """Sum of the terms that are minimised."""

    @property
    def late(self) -> bool:
        """True if the sweep ran out of time."""

def sum_by_term(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, composites: TermComposites, n_threads: int = 1) -> None:
    """Compute composites, weights and counts from the labels, in place."""

def most_similar(rows: Rows, composites: TermComposites, n_threads: int = 1) -> None:
    """
    Set the label of each row to the composite with the largest product, in place. Ties go to the lower index.
    """

def criterion_sweep(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, composites: TermComposites, *, criterion: Criterion, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: int, seconds_left: float = float('inf'), n_threads: int = 1) -> CriterionSweepResult:
    """
    Visit rows in the given order and move each to a better cluster, in place.
    """

class SplitOptions:
    """How sets of rows are split into sections."""

    def __init__(self, *, n_sections: int, init: str, max_passes: int | None, tol: float, seed: int, with_inertias: bool, rule: str = 'fast', sample: bool = True, bounded: bool = True, max_rows_of_one_thread: int = 0) -> None: ...

def split(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, members: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], begins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: SplitOptions, n_threads: int, report: object | None = None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Split sets of rows into sections. Set i is members[begins[i]:ends[i]], which is reordered so that its sections are ranges. Return (ends, weights, inertias) of the sections, each of length sets x sections, and the number of passes of each set. The ends are -1 where all rows of a set are equal. While all threads split a large set, report(rows of the set, passes so far, moves of the last pass) is called after each pass.
    """

def descend(rows: Rows, children: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Find the leaf of each row, in place: from node 0, always to the nearest child. Children must have larger numbers than their parents; this is not checked.
    """

@overload
def encode(subspaces: Sequence[Rows], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Find the nearest centroid of each row in each subspace, exactly and in place.
    """

@overload
def encode(subspaces: Sequence[Rows], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def nearest_rows(rows: Rows, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, ids: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Find the nearest points of each row, exactly, and merge them into ids and distances, in place. The points are numbered from first.
    """

@overload
def search_codes(tables: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], isa: str, n_threads: int) -> None:
    """
    Find the codes with the smallest sums of table entries for each query, nearest first, in place. Codes must be smaller than the number of centroids; this is not checked.
    """

@overload
def search_codes(tables: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], isa: str, n_threads: int) -> None: ...

class PairSide:
    """
    Rows for a search of near pairs. Position p of values has the coordinates of row order[p], the length of their rest, and zeros; the positions of cluster c are starts[c] to starts[c + 1].
    """

    def __init__(self, *, rows: object, values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_axes: int, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def near_pairs(left: PairSide, right: PairSide | None, *, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], lists: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None, radius: float, square: float, first: int, last: int, counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], degrees: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], nearest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Find all pairs of a row of clusters first to last of the left side and a right row, or of two left rows if right is None, whose squared distance is at most square. Update the group, the number of partners and the squared distance to the nearest partner of each row, in place. Right rows follow the left rows in these arrays.
    """

class StepRecord:
    """One sweep or repair round of a fit."""

    @property
    def kind(self) -> int: ...

    @property
    def moves(self) -> int: ...

    @property
    def evaluations(self) -> int: ...

    @property
    def inertia(self) -> float: ...

    @property
    def temperature(self) -> float: ...

    @property
    def swaps(self) -> int: ...

    @property
    def seconds(self) -> float: ...

class FitState:
    """The state of a fit between two steps."""

    def __init__(self) -> None: ...

    @property
    def phase(self) -> int: ...

    @phase.setter
    def phase(self, arg: int, /) -> None: ...

    @property
    def end_reason(self) -> int: ...

    @end_reason.setter
    def end_reason(self, arg: int, /) -> None: ...

    @property
    def last_kind(self) -> int: ...

    @last_kind.setter
    def last_kind(self, arg: int, /) -> None: ...

    @property
    def annealed(self) -> int: ...

    @annealed.setter
    def annealed(self, arg: int, /) -> None: ...

    @property
    def repair_rounds(self) -> int: ...

    @repair_rounds.setter
    def repair_rounds(self, arg: int, /) -> None: ...

    @property
    def trial_swaps(self) -> int: ...

    @trial_swaps.setter
    def trial_swaps(self, arg: int, /) -> None: ...

    @property
    def changed(self) -> bool: ...

    @changed.setter
    def changed(self, arg: bool, /) -> None: ...

    @property
    def n_sweeps(self) -> int: ...

    @n_sweeps.setter
    def n_sweeps(self, arg: int, /) -> None: ...

    @property
    def last_moves(self) -> int: ...

    @last_moves.setter
    def last_moves(self, arg: int, /) -> None: ...

    @property
    def inertia(self) -> float: ...

    @inertia.setter
    def inertia(self, arg: float, /) -> None: ...

    @property
    def total_squares(self) -> float: ...

    @total_squares.setter
    def total_squares(self, arg: float, /) -> None: ...

    @property
    def moves_since_recompute(self) -> float: ...

    @moves_since_recompute.setter
    def moves_since_recompute(self, arg: float, /) -> None: ...

    @property
    def drift(self) -> float: ...

    @drift.setter
    def drift(self, arg: float, /) -> None: ...

    @property
    def has_best(self) -> bool: ...

    @has_best.setter
    def has_best(self, arg: bool, /) -> None: ...

    @property
    def best_inertia(self) -> float: ...

    @best_inertia.setter
    def best_inertia(self, arg: float, /) -> None: ...

    @property
    def n_draws(self) -> int: ...

    @n_draws.setter
    def n_draws(self, arg: int, /) -> None: ...

    @property
    def coincident(self) -> bool: ...

    @property
    def records(self) -> list[StepRecord]:
        """Records of the steps since the state was created."""

class FitOptions:
    """The plan of a fit."""

    def __init__(self, *, first: bool, tol: float, max_iter: int, n_beginning: int, temperature: float, per_explained_square: float, run_rows: int, block_rows: int, seed: int) -> None: ...

def advance(rows: Rows, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, partition: PartitionView, best: PartitionView, options: FitOptions, state: FitState, *, max_records: int, seconds_left: float = float('inf')) -> bool:
    """
    Perform steps of a fit, in place, until it ends or max_records steps were recorded. Return True if the deadline stopped it.
    """

def has_coincident(composites: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, isa: str) -> bool:
    """Return True if two clusters have the same centre up to rounding."""
