"""Starts, batches, and cases that the tests of scikit-learn compute by hand."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import v_measure_score

from boostkmeans import BoostKMeans, _core, metrics
from boostkmeans._data.rows import Rows
from boostkmeans._engine.plan import _start as automatic_start
from boostkmeans._steps.seeding import N_TRIALS, SAMPLED, Seeding, fill_empty
from conftest import SHARED, blobs, same_partition
from factories import blank_partition, make_problem


def start(X: NDArray[Any], k: int, weights: NDArray[np.float64] | None = None, seed: int = 0) -> Seeding:
    problem = make_problem(Rows.in_own_frame(X, "euclidean", 2), k, weights, n_threads=2)
    return Seeding(problem, np.random.RandomState(seed))


class TestStarts:
    """The labels with which each start begins."""

    def test_random_partition_is_balanced(self) -> None:
        labels = start(np.zeros((103, 2)), 10).random_partition()
        assert sorted(np.bincount(labels)) == [10] * 7 + [11] * 3

    def test_random_assigns_rows_to_the_nearest_of_k_rows(self) -> None:
        X = np.random.default_rng(0).normal(size=(500, 3))
        labels = start(X, 7).random_centres()
        chosen = np.random.RandomState(0).choice(500, 7, replace=False)
        gaps = ((X[:, None] - X[chosen][None]) ** 2).sum(axis=2)
        np.testing.assert_array_equal(labels, gaps.argmin(axis=1))

    def test_rows_without_weight_never_become_centres(self) -> None:
        X = np.random.default_rng(0).normal(size=(100, 2))
        w = np.r_[np.ones(10), np.zeros(90)]
        for seed in range(5):
            drawn = start(X, 10, w, seed)._draw(10)
            assert sorted(drawn) == list(range(10))
            assert sorted(start(X, 10, w, seed)._draw(12)) == list(range(12))

    @pytest.mark.parametrize(("init", "n_trials"), [("k-means++", N_TRIALS), ("plain-k-means++", 1)])
    def test_plus_plus_draws_a_number_of_candidates(self, init: str, n_trials: int) -> None:
        X = np.random.default_rng(0).normal(size=(400, 3))
        weights = np.random.default_rng(1).random(400)
        seeding = start(X, 12, weights)
        seed = int(np.random.RandomState(0).randint(2**63 - 1, dtype=np.int64))
        rows = seeding.problem.rows_in_memory.core
        _, expected = _core.plus_plus(rows, seeding.problem.row_weights, 12, n_trials, seed, 2)
        np.testing.assert_array_equal(seeding.labels(init), expected)

    def test_greedy_plus_plus_starts_lower_than_the_plain_one(self) -> None:
        X = np.random.default_rng(0).normal(size=(2000, 4))
        ends = {}
        for init in ("k-means++", "plain-k-means++"):
            labels = [start(X, 50, seed=seed).labels(init) for seed in range(5)]
            ends[init] = np.mean([metrics.average_distortion(X, one) for one in labels])
        assert ends["k-means++"] < 0.97 * ends["plain-k-means++"]

    def test_sampled_plus_plus_covers_blobs(self) -> None:
        X, planted = blobs(20_000, 8, 16)
        labels = start(X, 16).sampled_plus_plus()
        assert same_partition(labels, planted)

    @pytest.mark.parametrize(
        ("n", "k", "expected"),
        [(1000, 1000, SAMPLED), (70_000, 1000, SAMPLED),
         (70_000, 2000, "bisecting"), (70_000, 1100, "bisecting"), (20_000, 1025, "bisecting")],
    )  # fmt: skip
    def test_auto_depends_on_the_number_of_clusters(self, n: int, k: int, expected: str) -> None:
        assert automatic_start(n, k, repaired=False)[0] == expected
        assert automatic_start(n, k, repaired=True)[0] == "bisecting"

    def test_bisecting_finds_blobs(self) -> None:
        X, planted = blobs(20_000, 8, 16)
        assert same_partition(start(X, 16).bisecting(), planted)

    def test_bisecting_labels_every_row(self) -> None:
        X = np.random.default_rng(0).normal(size=(300, 3))
        w = np.random.default_rng(1).integers(0, 2, 300).astype(float)
        labels = start(X, 20, w).bisecting()
        assert labels.min() == 0
        assert (np.bincount(labels, weights=w, minlength=20) > 0).all()

    def test_accepts_centres_and_labels(self) -> None:
        X, planted = blobs(300, 4, 5)
        centres = np.array([X[planted == r].mean(axis=0) for r in range(5)])
        for init in (centres, centres.tolist(), planted, planted.tolist(), lambda *_: centres):
            model = BoostKMeans(5, init=init, tol=0, random_state=0).fit(X)
            np.testing.assert_array_equal(model.labels_, planted)
            np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-9)

    def test_accepts_directions_as_centres(self) -> None:
        X = np.r_[np.tile([3.0, 0.1], (20, 1)), np.tile([0.1, 5.0], (20, 1))]
        labels = []
        for length in (1e-3, 1.0, 1e3):
            model = BoostKMeans(2, init=np.array([[length, 0], [0, 1.0]]), metric="cosine", max_iter=1)
            labels.append(model.fit(X).labels_.tolist())
        assert labels == [[0] * 20 + [1] * 20] * 3

    def test_callable_is_called_as_in_scikit_learn(self) -> None:
        X, planted = blobs(300, 4, 5)
        seen: list[Any] = []

        def init(X: NDArray[Any], n_clusters: int, random_state: np.random.RandomState) -> Any:
            seen.append((X.shape, n_clusters, type(random_state)))
            return planted

        BoostKMeans(5, init=init, n_init=2).fit(X)
        assert seen == [((300, 4), 5, np.random.RandomState)] * 2

    def test_fills_empty_clusters_of_given_labels(self) -> None:
        X = np.random.default_rng(0).normal(size=(100, 3))
        model = BoostKMeans(10, init=np.zeros(100, dtype=int), tol=0, random_state=0).fit(X)
        assert (model.cluster_sizes_ > 0).all()

    def test_farthest_rows_fill_empty_clusters(self) -> None:
        X = np.array([[0.0], [1.0], [2.0], [50.0], [-30.0]])
        rows = Rows.in_own_frame(X, "euclidean", 1)
        partition = blank_partition(np.zeros(5, dtype=np.int32), 3, 1)
        partition.recompute(rows, None, 1)
        assert fill_empty(partition, make_problem(rows, 3))
        np.testing.assert_array_equal(partition.labels, [0, 0, 0, 1, 2])
        partition.recompute(rows, None, 1)
        assert not fill_empty(partition, make_problem(rows, 3))


class TestScikitLearnCases:
    """Cases from the k-means tests of scikit-learn. Comments name the original test."""

    def test_finds_two_clusters_of_four_points(self) -> None:
        # sklearn/cluster/tests/test_k_means.py: test_kmeans_results
        X = np.array([[0, 0], [0.5, 0], [0.5, 1], [1, 1]])
        w = np.array([3, 1, 1, 3])
        start_centres = np.array([[0, 0], [1, 1]])
        for dtype in (np.float64, np.float32):
            model = BoostKMeans(2, init=start_centres).fit(X.astype(dtype), sample_weight=w)
            np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])
            assert model.inertia_ == pytest.approx(0.375, rel=1e-7)
            np.testing.assert_allclose(
                model.cluster_centers_, [[0.125, 0], [0.875, 1]], rtol=1e-7, atol=1e-12
            )

    def test_relocates_an_empty_cluster(self) -> None:
        # test_kmeans_relocated_clusters: the second cluster is empty at first.
        X = np.array([[0, 0], [0.5, 0], [0.5, 1], [1, 1]])
        model = BoostKMeans(2, init=np.array([[0.5, 0.5], [3, 3]]), tol=0, random_state=0).fit(X)
        assert model.inertia_ == pytest.approx(0.25)
        assert same_partition(model.labels_, np.array([0, 0, 1, 1]))

    def test_relocates_several_empty_clusters(self) -> None:
        # test_relocate_empty_clusters: the farthest rows are -10, then -3.
        X = np.array([-10, -9.5, -9, -8.5, -8, -1, 1, 9, 9.5, 10], dtype=float)[:, None]
        model = BoostKMeans(3, init=np.array([-10.0, -10, -10])[:, None], tol=0, random_state=0).fit(X)
        assert (model.cluster_sizes_ > 0).all()
        assert model.inertia_ == pytest.approx(5.0)  # The inertia of the three groups is 2.5 + 2 + 0.5.

    def test_finds_well_separated_classes(self) -> None:
        centers = np.array([[0.0, 5, 0, 0, 0], [1, 1, 4, 0, 0], [1, 0, 0, 5, 1]])
        X, y = make_blobs(100, centers=centers, cluster_std=1.0, random_state=42)
        for init in ("random-partition", "random", "k-means++", centers):
            model = BoostKMeans(3, init=init, random_state=42, n_init=10).fit(X)
            assert v_measure_score(y, model.labels_) == 1.0

    def test_scaling_all_weights_keeps_the_clusters(self) -> None:
        # test_scaled_weights: scaling all weights does not change the clusters.
        X, _ = blobs(200, 5, 4)
        w = np.random.default_rng(0).uniform(size=200)
        one = BoostKMeans(4, random_state=1).fit(X, sample_weight=w)
        half = BoostKMeans(4, random_state=1).fit(X, sample_weight=0.5 * w)
        np.testing.assert_array_equal(one.labels_, half.labels_)
        assert half.inertia_ == pytest.approx(0.5 * one.inertia_)

    def test_single_cluster_is_the_mean(self) -> None:
        X, _ = blobs(50, 3, 2)
        assert BoostKMeans(1).fit(X).inertia_ == pytest.approx(KMeans(1).fit(X).inertia_)


class TestPartialFit:
    """Batches: earlier batches keep their weight."""

    def test_first_batch_equals_fit(self) -> None:
        X, _ = blobs(300, 4, 5)
        one = BoostKMeans(5, random_state=0).fit(X)
        batch = BoostKMeans(5, random_state=0).partial_fit(X)
        np.testing.assert_array_equal(one.cluster_centers_, batch.cluster_centers_)
        assert batch.n_samples_seen_ == 300

    @pytest.mark.parametrize("weighted", [False, True])
    def test_batches_equal_all_rows_for_separated_blobs(self, weighted: bool) -> None:
        X, planted = blobs(3000, 6, 8)
        w = np.random.default_rng(0).uniform(0.5, 3, 3000) if weighted else np.ones(3000)
        model = BoostKMeans(8, random_state=0)
        for begin in range(0, 3000, 500):
            batch = slice(begin, begin + 500)
            model.partial_fit(X[batch], sample_weight=w[batch] if weighted else None)
            np.testing.assert_array_equal(model.predict(X[batch]), model.labels_)
            assert model.cluster_sizes_.sum() == 500
        assert model.n_samples_seen_ == 3000
        assert same_partition(model.predict(X), planted)
        expected = np.array(
            [np.average(X[planted == r], axis=0, weights=w[planted == r]) for r in range(8)]
        )
        found = model.cluster_centers_[np.lexsort(model.cluster_centers_.T)]
        np.testing.assert_allclose(found, expected[np.lexsort(expected.T)], rtol=1e-9)

    def test_later_batches_move_centres_by_their_weight(self) -> None:
        model = BoostKMeans(2, random_state=0).partial_fit(np.array([[0.0], [0], [0], [10], [10], [10]]))
        model.partial_fit(
            np.array([[2.0], [2.0], [2.0]])
        )  # They have the weight of the three rows at 0.
        assert sorted(model.cluster_centers_[:, 0]) == pytest.approx([1.0, 10.0])
        assert len(np.unique(model.labels_)) == 1

    def test_partial_fit_with_cosine(self) -> None:
        X, _ = blobs(400, 6, 4)
        model = BoostKMeans(4, metric="cosine", random_state=0)
        for batch in np.array_split(X, 4):
            model.partial_fit(batch * 7)
        norms = np.linalg.norm(model.cluster_centers_, axis=1)
        assert (norms <= 1 + 1e-9).all()
        np.testing.assert_array_equal(model.predict(X * 3), model.predict(X))

    def test_empty_clusters_keep_their_centres(self) -> None:
        X = np.repeat(np.array([[0.0, 10], [10, 0], [20, 20]]), 3, axis=0)
        with pytest.warns(ConvergenceWarning, match="distinct"):
            model = BoostKMeans(4, random_state=0).fit(X)
        before = model.predict([[9.0, 9.0]])
        model.partial_fit(X)
        np.testing.assert_array_equal(model.predict([[9.0, 9.0]]), before)
        assert all((centre == X).all(axis=1).any() for centre in model.cluster_centers_.round(9))

    def test_partial_fit_continues_after_fit(self) -> None:
        X, _ = blobs(400, 6, 4)
        model = BoostKMeans(4, random_state=0).fit(X)
        before = model.cluster_centers_.copy()
        model.partial_fit(X)  # The same rows again do not change the means.
        np.testing.assert_allclose(model.cluster_centers_, before, rtol=1e-9)
        assert model.n_samples_seen_ == 800
        assert model.fit(X).n_samples_seen_ == 400


@pytest.mark.skipif(not (SHARED / "vision").exists(), reason="needs the shared data")
def test_is_as_good_as_scikit_learn_on_images() -> None:
    with np.load(SHARED / "vision" / "mnist_70000x784_uint8.npz") as data:
        X = data["X"][:5000]
    ours = BoostKMeans(30, random_state=0, tol=0).fit(X)
    theirs = KMeans(30, n_init=1, random_state=0).fit(X.astype(np.float32))
    assert ours.inertia_ < 1.002 * theirs.inertia_


@pytest.mark.slow
def test_is_as_good_as_scikit_learn_on_sift_vectors(sift: NDArray[np.uint8]) -> None:
    best = BoostKMeans(64, random_state=0, tol=0).fit(sift)
    first = BoostKMeans(64, random_state=0, tol=0, moves="first", max_iter=300).fit(sift)
    lloyd = KMeans(64, n_init=1, random_state=0, tol=0).fit(sift.astype(np.float32))
    assert best.converged_
    assert first.converged_
    assert max(best.inertia_, first.inertia_) < 1.001 * lloyd.inertia_
