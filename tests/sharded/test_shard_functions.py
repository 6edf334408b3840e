"""Functions of one shard: sums, snapshots, sweeps against a snapshot, samples and repairs."""

from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.rows import Rows
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._sharded.backend import FAN_IN, LocalBackend, reduce_in_order
from boostkmeans._sharded.rows import waves_of
from boostkmeans._sharded.shard.block import core_array, describe_block
from boostkmeans._sharded.shard.candidate_groups import CandidateGroups, joint_lists
from boostkmeans._sharded.shard.repairing import (
    HalfCentres,
    choose_swaps,
    halve_labels,
    halve_shard,
    swap_shard,
)
from boostkmeans._sharded.shard.sampling import SampleDraw
from boostkmeans._sharded.shard.sums import (
    NO_SHARD,
    Snapshot,
    add_sums,
    close_wave,
    make_snapshot,
    sum_shard,
)
from boostkmeans._sharded.shard.sweeping import SweepRequest, shard_seed, sweep_shard
from boostkmeans._sharded.shard.view import ShardView
from boostkmeans._steps.neighbours import Groups
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.problem import stratified_indices
from boostkmeans._steps.repair import Swaps
from boostkmeans._steps.sweep import FullPolicy, SweepOptions, sweep
from factories import make_problem

Floats = NDArray[np.float64]


def view_of(rows: Rows, number: int = 0, weights: Floats | None = None) -> ShardView:
    return ShardView(number, f"shard {number}", rows.frame, False, None, weights)


def shards_of(X: Floats, n_shards: int, weights: Floats | None = None) -> list[tuple[Floats, ShardView]]:
    rows = Rows.in_own_frame(X, "euclidean", 1)
    parts = np.array_split(np.arange(len(X)), n_shards)
    return [
        (X[part], view_of(rows, number, None if weights is None else weights[part]))
        for number, part in enumerate(parts)
    ]


def snapshot_of(X: Floats, labels: NDArray[np.int32], k: int, n_shards: int = 1) -> Snapshot:
    parts = np.array_split(labels, n_shards)
    sums = [
        sum_shard(block, view, part, k)
        for (block, view), part in zip(shards_of(X, n_shards), parts, strict=True)
    ]
    total = sums[0]
    for one in sums[1:]:
        total = add_sums(total, one)
    return make_snapshot(total, None)[0]


class TestSums:
    @given(st.integers(0, 2**20), st.integers(1, 21))
    def test_groups_give_the_same_bits_as_all_shards_at_once(self, seed: int, n_shards: int) -> None:
        """Tasks add up groups of shards, and the last one also makes the snapshot."""
        rng = np.random.default_rng(seed)
        n, k = 90, 4
        X, labels = rng.normal(size=(n, 3)), rng.integers(0, k, n).astype(np.int32)
        parts = np.array_split(labels, n_shards)
        sums = [
            sum_shard(*shard, part, k) for shard, part in zip(shards_of(X, n_shards), parts, strict=True)
        ]
        whole = add_sums(*sums)
        with closing(LocalBackend(1)) as backend:
            groups = backend.get(reduce_in_order(backend, add_sums, sums, at_most=FAN_IN))
            last = backend.get(reduce_in_order(backend, add_sums, sums))
        assert len(groups) <= FAN_IN
        assert len(last) == 1
        other = make_snapshot(whole, None)[0]
        own, snapshot, _ = close_wave(1, 1, None, None, whole, *groups)
        for found in (own, last[0]):
            for name, expected in vars(whole.sums).items():
                np.testing.assert_array_equal(getattr(found.sums, name), expected)
            np.testing.assert_array_equal(found.holders, whole.holders)
        np.testing.assert_array_equal(snapshot.composites, 2 * other.composites)

    @given(st.integers(0, 2**20), st.integers(1, 6), st.booleans())
    def test_sums_of_shards_add_up(self, seed: int, n_shards: int, weighted: bool) -> None:
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(6, 80)), int(rng.integers(1, 6))
        X = rng.normal(size=(n, 3)) + rng.choice([0.0, 1e6])
        labels = rng.integers(0, k, n).astype(np.int32)
        weights = rng.integers(0, 4, n) / 4 if weighted else None
        shards = shards_of(X, n_shards, weights)
        parts = np.array_split(labels, n_shards)
        sums = [sum_shard(*shard, part, k) for shard, part in zip(shards, parts, strict=True)]
        total = sums[0]
        for one in sums[1:]:
            total = add_sums(total, one)
        inertias = np.zeros(k)
        rows = Rows.in_own_frame(X, "euclidean", 1)
        whole, _ = Partition.from_labels(labels, k, rows, weights, 1, inertias=inertias)
        np.testing.assert_array_equal(total.sums.counts, whole.counts)
        np.testing.assert_allclose(total.sums.weights, whole.weights, rtol=1e-14)
        np.testing.assert_allclose(total.sums.inertias, inertias, rtol=1e-9, atol=1e-12)
        filled = whole.weights > 0
        scale = np.abs(whole.composites).max(initial=1e-300)
        gap = np.abs(total.sums.composites - whole.composites)[filled].max(initial=0.0)
        assert gap <= 1e-12 * scale
        for cluster in range(k):
            holders = [i for i, one in enumerate(sums) if one.sums.weights[cluster] > 0]
            assert total.holders[0, cluster] == min(holders, default=NO_SHARD)
            assert total.holders[1, cluster] == max(holders, default=-1)

    def test_snapshot_reports_what_changed(self) -> None:
        X = np.arange(12.0).reshape(6, 2)
        labels = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
        (shard,) = shards_of(X, 1)
        before, _ = make_snapshot(sum_shard(*shard, labels, 4), None)
        assert before.unchanged_for.tolist() == [0, 0, 0, 0]
        labels[1] = 1
        after, summary = make_snapshot(sum_shard(*shard, labels, 4), before)
        assert after.unchanged_for.tolist() == [0, 0, 1, 1]
        assert summary.n_empty == 1
        labels[3] = 2
        last, _ = make_snapshot(sum_shard(*shard, labels, 4), after)
        assert last.unchanged_for.tolist() == [1, 0, 0, 2]

    def test_count_of_quiet_snapshots_has_a_limit(self) -> None:
        X, labels = np.arange(4.0).reshape(4, 1), np.array([0, 0, 1, 1], dtype=np.int32)
        (shard,) = shards_of(X, 1)
        sums = sum_shard(*shard, labels, 2)
        snapshot, _ = make_snapshot(sums, None)
        for _ in range(300):
            snapshot, _ = make_snapshot(sums, snapshot)
        assert snapshot.unchanged_for.tolist() == [255, 255]


class TestWaves:
    def test_every_shard_belongs_to_one_wave(self) -> None:
        for n in range(1, 40):
            waves = waves_of(n)
            assert sorted(i for wave in waves for i in wave) == list(range(n))
            assert len(waves) == (1 if n < 4 else 2)

    @pytest.mark.parametrize("n_workers", [2, 4, 8, 16])
    def test_waves_keep_all_workers_busy(self, n_workers: int) -> None:
        """Workers hold every p-th shard, or neighbouring shards: two of them in each wave."""
        numbers = np.arange(4 * n_workers)
        for holders in (numbers % n_workers, numbers // 4):
            for wave in waves_of(4 * n_workers):
                loads = np.bincount(holders[list(wave)], minlength=n_workers)
                assert loads.tolist() == [2] * n_workers


class TestSweep:
    def test_one_shard_is_an_ordinary_sweep(self) -> None:
        rng = np.random.default_rng(0)
        X, k = rng.normal(size=(300, 4)), 7
        labels = rng.integers(0, k, 300).astype(np.int32)
        (shard,) = shards_of(X, 1)
        rows = Rows.in_own_frame(X, "euclidean", 1)
        partition, _ = Partition.from_labels(labels, k, rows, None, 1)
        found, sums, summary = sweep_shard(
            *shard, labels, snapshot_of(X, labels, k), None, SweepRequest(seed=5)
        )
        result = sweep(
            make_problem(rows, k),
            partition,
            policy=FullPolicy(),
            options=SweepOptions(),
            rng=np.random.RandomState(shard_seed(5, 0)),
            block_rows=16,
        )
        np.testing.assert_array_equal(found, partition.labels)
        assert summary.moves > 50
        assert result.moves >= summary.moves
        np.testing.assert_array_equal(sums.sums.counts, partition.counts)

    def test_arguments_are_not_changed(self) -> None:
        rng = np.random.default_rng(1)
        X = rng.normal(size=(200, 3))
        labels = rng.integers(0, 5, 200).astype(np.int32)
        snapshot, (shard,) = snapshot_of(X, labels, 5), shards_of(X, 1)
        for array in (X, labels, snapshot.composites, snapshot.weights, snapshot.counts):
            array.setflags(write=False)
        found, _, _ = sweep_shard(*shard, labels, snapshot, None, SweepRequest(seed=0))
        assert (found != labels).any()

    def test_keeper_keeps_the_last_member(self) -> None:
        """Each shard has one row of cluster 0. Both would leave, if the first did not keep its own."""
        X = np.array([[0.0], [10], [10.1], [0.1], [10.2], [10.3]])
        labels = np.array([1, 0, 0, 1, 0, 0], dtype=np.int32)
        far = np.array([2, 0, 0, 2, 1, 1], dtype=np.int32)
        snapshot = snapshot_of(X, far, 3, 2)
        shards = shards_of(X, 2)
        after = np.concatenate(
            [
                sweep_shard(*shard, part, snapshot, None, SweepRequest(seed=0))[0]
                for shard, part in zip(shards, np.array_split(far, 2), strict=True)
            ]
        )
        assert set(after.tolist()) == {0, 1, 2}
        assert len(labels) == len(after)

    @pytest.mark.parametrize("rows_per_cluster", [1000.0, 12.0, 1.0])
    def test_groups_cover_all_clusters(self, rows_per_cluster: float) -> None:
        rng = np.random.default_rng(2)
        X, k = rng.normal(size=(4000, 6)), 200
        snapshot = snapshot_of(X, (np.arange(4000) % k).astype(np.int32), k)
        groups = CandidateGroups.build(snapshot, 16, rows_per_cluster, 0, 1)
        assert groups.group_of.shape == (k,)
        for cluster in range(k):
            assert cluster in groups.lists[groups.group_of[cluster]]
        for one in groups.lists:
            used = one[one >= 0]
            assert len(np.unique(used)) == len(used) >= 17
        assert (groups.group_of[groups.heads] == np.arange(len(groups.heads))).all()

    def test_joint_lists_computed_by_hand(self) -> None:
        """The members come first, then the neighbours by their best rank, each of them once."""
        order, starts = np.array([2, 0, 1, 3], dtype=np.int32), np.array([0, 2, 4])
        groups = Groups(order, starts, np.zeros((2, 1)))
        neighbours = np.array([[1, 3], [0, 3], [3, -1], [1, 2]], dtype=np.int32)
        lists = joint_lists(groups, neighbours, 4)
        np.testing.assert_array_equal(lists, [[2, 0, 3, 1], [1, 3, 0, 2]])
        np.testing.assert_array_equal(joint_lists(groups, neighbours, 3), lists[:, :3])
        np.testing.assert_array_equal(joint_lists(groups, neighbours, 5)[:, 4], [-1, -1])

    def test_groups_with_all_clusters_find_the_moves_of_a_full_sweep(self) -> None:
        """Candidates only limit the choice: with all clusters as candidates, nothing can be missed."""
        rng = np.random.default_rng(3)
        X, k = rng.normal(size=(600, 4)), 12
        labels = rng.integers(0, k, 600).astype(np.int32)
        snapshot, (shard,) = snapshot_of(X, labels, k), shards_of(X, 1)
        groups = CandidateGroups.build(snapshot, k - 1, 4.0, 0, 1)
        exact = SweepRequest(seed=0, exact=True)
        while True:
            labels, sums, summary = sweep_shard(*shard, labels, snapshot, groups, SweepRequest(seed=0))
            snapshot, _ = make_snapshot(sums, snapshot)
            if summary.moves == 0:
                break
        assert sweep_shard(*shard, labels, snapshot, None, exact)[2].moves == 0

    def test_quiet_clusters_are_skipped(self) -> None:
        rng = np.random.default_rng(4)
        X, k = rng.normal(size=(3000, 2)), 100
        labels = rng.integers(0, k, 3000).astype(np.int32)
        snapshot, (shard,) = snapshot_of(X, labels, k), shards_of(X, 1)
        groups = CandidateGroups.build(snapshot, 4, 1000.0, 0, 1)
        quiet = Snapshot(**{**vars(snapshot), "unchanged_for": np.full(k, 2, dtype=np.uint8)})
        request = SweepRequest(seed=0, changed_within=2)
        assert sweep_shard(*shard, labels, quiet, groups, request)[2].evaluations == 0
        longer = SweepRequest(seed=0, changed_within=3)
        assert sweep_shard(*shard, labels, quiet, groups, longer)[2].evaluations > 0
        assert sweep_shard(*shard, labels, snapshot, groups, request)[2].evaluations > 0


class TestRepair:
    def test_swap_computed_by_hand(self) -> None:
        """Two clusters share {0, 1}, and one has {100, 110}: merge the two and split the third."""
        X = np.array([[0.0], [100], [1], [110]])
        labels = np.array([0, 2, 1, 2], dtype=np.int32)
        shards, parts = shards_of(X, 2), np.array_split(labels, 2)
        snapshot = snapshot_of(X, labels, 3, 2)
        centres = shards[0][1].frame.enter(np.array([[0.0], [1], [100], [0], [1], [110]]))
        halves = HalfCentres(centres)
        halved = [halve_shard(*one, part, halves) for one, part in zip(shards, parts, strict=True)]
        swaps = choose_swaps(snapshot, add_sums(*halved), 0.0, 1)
        assert swaps is not None
        unit = 4.0 ** shards[0][1].frame.exponent
        assert swaps.gain == pytest.approx((50 - 0.5) * unit)
        after = [
            swap_shard(*one, part, halves, swaps)[0] for one, part in zip(shards, parts, strict=True)
        ]
        found = np.concatenate(after)
        assert found[0] == found[2]
        assert len(set(found.tolist())) == 3

    def test_swaps_rename_the_halves_of_all_rows(self) -> None:
        """Only rows of split clusters are compared, which gives the same as comparing all rows."""
        rng = np.random.default_rng(5)
        X, k = rng.normal(size=(300, 4)), 10
        labels = rng.integers(0, k, 300).astype(np.int32)
        ((block, view),) = shards_of(X, 1)
        halves = HalfCentres(view.frame.enter(0.1 * rng.normal(size=(2 * k, 4))))
        swaps = Swaps.from_triples([(0, 1, 2), (7, 5, 3)], 1.0)
        all_halves = halve_labels(view.rows(block), labels, halves)
        found, sums = swap_shard(block, view, labels, halves, swaps)
        np.testing.assert_array_equal(found, swaps.renamed(k)[all_halves])
        assert {1, 5} <= set(found.tolist()), "freed clusters have the second halves"
        np.testing.assert_array_equal(sums.sums.counts, np.bincount(found, minlength=k))


class TestSample:
    @given(st.integers(1, 500), st.integers(1, 500), st.integers(1, 7), st.integers(0, 2**31 - 1))
    def test_parts_of_the_draw_are_the_draw(self, n: int, n_drawn: int, n_parts: int, seed: int) -> None:
        draw = SampleDraw(n, min(n, n_drawn), seed)
        borders = np.linspace(0, n, n_parts + 1).astype(int)
        parts = [begin + draw.indices(begin, end - begin) for begin, end in pairwise(borders)]
        whole = stratified_indices(n, n_drawn, np.random.RandomState(seed))
        np.testing.assert_array_equal(np.concatenate(parts), whole)


class TestBlocks:
    def test_bad_values_name_block_and_row(self) -> None:
        X = np.ones((5, 3))
        X[3, 1] = np.nan
        with pytest.raises(DataFormatError, match=r"emb-1.npy.*row 3.*column 1"):
            describe_block(X, None, "euclidean", "emb-1.npy")
        with pytest.raises(DataFormatError, match=r"emb-1.npy.*row 3"):
            describe_block(sparse.csr_matrix(X), None, "cosine", "emb-1.npy")
        with pytest.raises(DataFormatError, match=r"emb-1.npy\[50:55\].*row 53.*column 1"):
            describe_block(X, None, "euclidean", "emb-1.npy[50:55]", 50)

    @pytest.mark.parametrize("weights", [[1.0, -1], [1.0, np.inf], [1.0], [[1.0, 1.0]]])
    def test_bad_weights_name_the_block(self, weights: list[float]) -> None:
        with pytest.raises(DataFormatError, match="emb-1"):
            describe_block(np.ones((2, 3)), np.array(weights), "euclidean", "emb-1")

    def test_wrong_shapes_name_the_block(self) -> None:
        for wrong in (np.ones(3), np.ones((2, 2), dtype=complex), np.array([["a"]])):
            with pytest.raises(DataFormatError, match="emb-1"):
                core_array(wrong, "emb-1")

    def test_types_are_kept(self) -> None:
        for dtype in (np.float64, np.float32, np.float16, np.uint8, np.int8):
            array = np.ones((2, 2), dtype=dtype)
            assert core_array(array, "") is array
        assert core_array(np.ones((2, 2), dtype=np.int32), "").dtype == np.float64
        assert core_array(np.ones((2, 2), dtype=bool), "").dtype == np.uint8
        assert core_array(np.ones((2, 2), dtype=">f4"), "").dtype == np.dtype("=f4")
