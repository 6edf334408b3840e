"""Sparse rows: they give the results of dense rows, and no dense copy is made."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import reference
from boostkmeans import BisectingBoostKMeans, BoostKMeans, _core
from boostkmeans._data import rows as rows_module
from boostkmeans._data.rows import Rows
from boostkmeans._steps import neighbours as neighbours_module
from boostkmeans._steps import partition as partition_module
from boostkmeans._steps import repair as repair_module
from boostkmeans._steps.nearest import distances_to_assigned, nearest
from boostkmeans._steps.neighbours import neighbour_lists, points_to_compare
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.repair import Repair
from boostkmeans._steps.split_rules import STARTS
from conftest import SHARED, same_partition
from factories import blank_partition, make_partition, make_problem

SETTINGS = [
    {}, {"init": "random-partition"}, {"init": "random"}, {"init": "k-means++"}, {"init": "bisecting"},
    {"init": "plain-k-means++"},
    {"init": "sampled-k-means++"}, {"metric": "cosine"}, {"moves": "first", "init": "random"},
    {"tol": 0.0}, {"n_clusters": 12, "n_candidates": 3}, {"quality": "best"}, {"max_size": 200},
    {"repair": True, "n_clusters": 20},
]  # fmt: skip
# Half of the settings with weights, and the defaults with and without.
WEIGHTED_SETTINGS = [({}, True), *((one, number % 2 == 1) for number, one in enumerate(SETTINGS))]
TREES = [{}, {"init": "random"}, {"init": "k-means++"}, {"split": "inertia"}, {"n_sections": 3},
         {"refine": True}, {"metric": "cosine"}]  # fmt: skip


# Values of the settings that are combined in pairs.
COMBINED: dict[str, list[Any]] = {
    "init": ["random", "k-means++", "bisecting", "random-partition"],
    "moves": ["best", "first"],
    "repair": [0, 2],
    "annealing": [0, (0.1, 4), "auto"],
    "metric": ["euclidean", "cosine"],
    "max_size": [None, 40],
    "n_candidates": [None, 4],
    "weighted": [False, True],
    "tol": [0.0, 1e-4],
}


def in_pairs(values: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return combinations that contain every pair of values of two settings."""
    pairs = {
        ((a, i), (b, j))
        for a, b in itertools.combinations(values, 2)
        for i in range(len(values[a]))
        for j in range(len(values[b]))
    }
    found = []
    while pairs:
        chosen = dict(min(pairs))  # every combination contains at least one new pair
        for name in values:
            if name not in chosen:
                chosen[name] = max(
                    range(len(values[name])),
                    key=lambda i: sum(pair <= {*chosen.items(), (name, i)} for pair in map(set, pairs)),
                )
        pairs -= {pair for pair in pairs if set(pair) <= set(chosen.items())}
        found.append({name: values[name][i] for name, i in chosen.items()})
    return found


def noise(n: int = 400, d: int = 60, density: float = 0.15, seed: int = 0) -> Any:
    return sparse.random_array(
        (n, d), density=density, format="csr", random_state=np.random.default_rng(seed)
    )


def topics(n: int, d: int, k: int, terms: int = 12, seed: int = 0) -> tuple[Any, NDArray[np.int32]]:
    """Return documents of k topics with their own and shared terms, and the topic of each."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k).astype(np.int32)
    own = d // (k + 1)
    columns = np.where(
        rng.random((n, terms)) < 0.8,
        labels[:, None] * own + rng.integers(own, size=(n, terms)),
        k * own + rng.integers(d - k * own, size=(n, terms)),
    )
    values = rng.uniform(0.5, 1.5, (n, terms))
    starts = np.arange(0, n * terms + 1, terms)
    X = sparse.csr_array((values.ravel(), columns.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    return X, labels


@pytest.fixture
def keep_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the rows of small and of dense matrices sparse, too."""
    monkeypatch.setattr(rows_module, "MAX_EXPANDED_CELLS", 0)
    monkeypatch.setattr(rows_module, "MIN_EXPANDED_DENSITY", 2)


class TestSmallMatrices:
    """Rows of small matrices are expanded while they are read. Results equal those of dense rows."""

    @pytest.mark.parametrize(("setting", "weighted"), WEIGHTED_SETTINGS)
    def test_fit_equals_that_of_dense_rows(self, setting: dict[str, Any], weighted: bool) -> None:
        X = noise()
        w = np.random.default_rng(1).uniform(0.5, 2, X.shape[0]) if weighted else None
        setting = {"n_clusters": 6, "random_state": 3, **setting}
        dense, found = (BoostKMeans(**setting).fit(data, sample_weight=w) for data in (X.toarray(), X))
        np.testing.assert_array_equal(found.labels_, dense.labels_)
        np.testing.assert_array_equal(found.cluster_centers_, dense.cluster_centers_)
        assert found.inertia_ == dense.inertia_
        np.testing.assert_array_equal(found.predict(X), dense.predict(X.toarray()))
        np.testing.assert_array_equal(found.transform(X), dense.transform(X.toarray()))

    def test_all_pairs_of_settings_equal_dense_rows(self) -> None:
        X = noise(200, 20, 0.3)
        combinations = in_pairs(COMBINED)
        assert len(combinations) < 30
        for number, setting in enumerate(combinations):
            weights = np.random.default_rng(1).uniform(0.5, 2, 200) if setting.pop("weighted") else None
            models = [
                BoostKMeans(8, random_state=number, n_threads=1, **setting).fit(data, None, weights)
                for data in (X.toarray(), X)
            ]
            np.testing.assert_array_equal(models[1].labels_, models[0].labels_, str(setting))
            temperatures = [[record.temperature for record in one.history_] for one in models]
            assert temperatures[0] == temperatures[1], setting

    @pytest.mark.parametrize("setting", TREES)
    def test_tree_equals_that_of_dense_rows(self, setting: dict[str, Any]) -> None:
        X = noise()
        dense, found = (
            BisectingBoostKMeans(9, random_state=3, **setting).fit(data) for data in (X.toarray(), X)
        )
        np.testing.assert_array_equal(found.labels_, dense.labels_)
        np.testing.assert_array_equal(found.predict(X, tree=True), dense.predict(X.toarray(), tree=True))

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("offset", [0.0, 1000.0])
    def test_matrix_without_zeros_equals_dense_rows(self, dtype: str, offset: float) -> None:
        X = (np.random.default_rng(0).normal(size=(300, 20)) + offset).astype(dtype)
        dense, found = (BoostKMeans(5, random_state=0).fit(data) for data in (X, sparse.csr_matrix(X)))
        np.testing.assert_array_equal(found.labels_, dense.labels_)

    def test_partial_fit_equals_that_of_dense_rows(self) -> None:
        X = noise(600)
        models = []
        for data in (X.toarray(), X):
            model = BoostKMeans(5, random_state=0, metric="cosine")
            for begin in (0, 200, 400):
                model.partial_fit(data[begin : begin + 200])
            models.append(model)
        np.testing.assert_allclose(models[1].cluster_centers_, models[0].cluster_centers_)
        assert models[1].n_samples_seen_ == 600


@pytest.mark.usefixtures("keep_sparse", "isa")
class TestCore:
    """Steps of the core over sparse rows, compared with NumPy for each instruction set."""

    @pytest.mark.parametrize(("n", "d", "k"), [(60, 5, 2), (150, 40, 7), (200, 300, 33), (300, 90, 140)])
    @pytest.mark.parametrize(("weighted", "exact"), [(False, False), (True, True)])
    def test_sweep_equals_the_reference(
        self, n: int, d: int, k: int, weighted: bool, exact: bool
    ) -> None:
        """Terms range from frequent to unique ones, so that long and short lines of centres occur."""
        X = noise(n, d, 0.2, seed=n)
        weights = np.random.default_rng(1).uniform(0.1, 5, n) if weighted else None
        labels = np.random.default_rng(2).permutation(np.arange(n) % k).astype(np.int32)
        rows = Rows.in_own_frame(X, "euclidean", 2)
        partition, before = Partition.from_labels(labels, k, rows, weights, 2)
        for s in range(3):
            order = np.random.default_rng(s).permutation(n)
            expected, expected_moves = reference.sweep(
                X.toarray(), partition.labels, k, order.tolist(), 16, weights
            )
            visit = _core.FullVisit(order=order, run_rows=1, block_rows=16)
            options = _core.SweepOptions(exact=exact)
            swept = _core.sweep(rows.core, weights, partition.view(), visit, options, n_threads=2)
            np.testing.assert_array_equal(partition.labels, expected)
            assert swept.moves == expected_moves
            after, drift = partition.recompute(rows, weights, 2)
            assert drift < 1e-10
            assert swept.gain == pytest.approx(before - after, rel=1e-9, abs=1e-12)
            before = after

    def test_nearest_centres_and_distances_equal_the_reference(self) -> None:
        X, _ = topics(500, 80, 5)
        rows = Rows.in_own_frame(X, "euclidean", 2)
        centres = rows.frame.enter(np.random.default_rng(0).uniform(size=(37, 80)))
        points = rows.frame.enter(X.toarray())
        gaps = ((points[:, None] - centres) ** 2).sum(axis=2)
        labels, found = nearest(rows, centres, 2)
        np.testing.assert_array_equal(labels, gaps.argmin(axis=1))
        np.testing.assert_allclose(found, gaps.min(axis=1))
        second, _ = nearest(rows, centres, 2, exclude=labels)
        np.testing.assert_array_equal(second, np.argsort(gaps, axis=1)[:, 1])
        all_found = np.empty_like(gaps)
        _core.distances(rows.core, centres, all_found, 2)
        np.testing.assert_allclose(all_found, gaps)
        own, norms = distances_to_assigned(rows, centres, second, 2)
        np.testing.assert_allclose(own, np.sort(gaps, axis=1)[:, 1])
        np.testing.assert_allclose(norms, (points**2).sum(axis=1))

    def test_recomputed_sums_equal_the_reference(self) -> None:
        X = noise(500, 40)
        labels = (np.arange(500) % 7).astype(np.int32)
        w = np.random.default_rng(0).uniform(0, 2, 500)
        rows = Rows.in_own_frame(X, "euclidean", 3)
        inertias = np.empty(7)
        partition, total = Partition.from_labels(labels, 7, rows, w, 3, inertias=inertias)
        composites, weights = reference.composites_of(rows.frame.enter(X.toarray()), labels, 7, w)
        np.testing.assert_allclose(partition.composites, composites, atol=1e-13)
        np.testing.assert_allclose(partition.weights, weights)
        expected = reference.inertia(X.toarray(), labels, w)
        assert rows.frame.inertia(total) == pytest.approx(expected)
        assert inertias.sum() == pytest.approx(total)

    @pytest.mark.parametrize("n_trials", [1, 3, 40])
    def test_plus_plus_assigns_rows_to_the_nearest_seed(self, n_trials: int) -> None:
        X, _ = topics(700, 90, 6)
        rows = Rows.in_own_frame(X, "euclidean", 2)
        chosen, labels = _core.plus_plus(rows.core, None, 9, n_trials, 4, 2)
        points = rows.frame.enter(X.toarray())
        gaps = ((points[:, None] - points[chosen]) ** 2).sum(axis=2)
        np.testing.assert_array_equal(labels, gaps.argmin(axis=1))
        assert len(set(chosen.tolist())) == 9


@pytest.mark.usefixtures("keep_sparse")
class TestFits:
    """Fits of rows that are not expanded."""

    @pytest.mark.parametrize(("setting", "weighted"), WEIGHTED_SETTINGS)
    def test_finds_the_topics_like_a_dense_fit(self, setting: dict[str, Any], weighted: bool) -> None:
        X, planted = topics(400, 180, 6)
        w = np.random.default_rng(1).uniform(0.5, 2, 400) if weighted else None
        setting = {"n_clusters": 6, "random_state": 0, **setting}
        dense, found = (BoostKMeans(**setting).fit(data, sample_weight=w) for data in (X.toarray(), X))
        inertias = [record.inertia for record in found.history_]
        assert all(b <= a for a, b in itertools.pairwise(inertias))
        scaled = X if setting.get("metric") != "cosine" else _unit(X)
        assert found.inertia_ == pytest.approx(reference.inertia(scaled.toarray(), found.labels_, w))
        np.testing.assert_array_equal(found.predict(X), found.predict(X.toarray()))
        np.testing.assert_allclose(found.transform(X), found.transform(X.toarray()), atol=1e-7)
        if setting["n_clusters"] == 6 and same_partition(dense.labels_, planted):
            assert same_partition(found.labels_, planted)
        else:
            assert found.inertia_ == pytest.approx(dense.inertia_, rel=0.03)

    @pytest.mark.parametrize("setting", TREES)
    def test_tree_is_as_good_as_that_of_dense_rows(self, setting: dict[str, Any]) -> None:
        X, _ = topics(400, 180, 8)
        found = BisectingBoostKMeans(8, random_state=1, **setting).fit(X)
        dense = BisectingBoostKMeans(8, random_state=1, **setting).fit(X.toarray())
        assert found.inertia_ == pytest.approx(dense.inertia_, rel=0.05)
        assert len(found.tree_.sizes) == len(found.tree_.centers)
        tree = found.tree_
        np.testing.assert_allclose(
            tree.centers[0], np.mean((_unit(X) if "metric" in setting else X).toarray(), axis=0)
        )
        np.testing.assert_array_equal(found.predict(X, tree=True), found.predict(X.toarray(), tree=True))
        assert found.cut(3).max() == 2

    @pytest.mark.slow
    @pytest.mark.parametrize("split", ["largest", "inertia"])
    def test_large_sets_are_split_by_samples(self, split: str) -> None:
        """A split that exceeds its memory fits a sample, and measures all rows afterwards."""
        X, planted = topics(1500, 25_000, 4, terms=7000)
        assert X.nnz * 12 > 2**26
        model = BisectingBoostKMeans(4, split=split, random_state=0).fit(X)
        leaves = model.tree_.clusters >= 0
        by_cluster = np.empty(4)
        by_cluster[model.tree_.clusters[leaves]] = model.tree_.inertia[leaves]
        assert by_cluster.sum() == pytest.approx(model.inertia_)
        assert same_partition(model.labels_, planted)

    @pytest.mark.parametrize("n_sections", [2, 3, 5])
    @pytest.mark.parametrize("init", STARTS)
    def test_split_is_a_local_optimum(self, n_sections: int, init: str) -> None:
        X, _ = topics(200, 60, n_sections)
        rows = Rows.in_own_frame(X, "euclidean", 1)
        members = np.arange(200)
        ends, weights, inertias, _ = _core.split(
            rows.core,
            None,
            members,
            np.array([0]),
            np.array([200]),
            _core.SplitOptions(
                n_sections=n_sections, init=init, max_passes=100, tol=0.0, seed=7, with_inertias=True
            ),
            2,
        )
        labels = np.empty(200, dtype=np.int32)
        labels[members] = np.searchsorted(ends, np.arange(200), side="right")
        np.testing.assert_array_equal(np.bincount(labels), weights)
        expected = reference.inertia(rows.frame.enter(X.toarray()), labels)
        assert inertias.sum() == pytest.approx(expected)
        _, moves = reference.sweep(X.toarray(), labels, n_sections, list(range(200)), 1)
        assert moves == 0

    def test_does_not_split_equal_rows(self) -> None:
        X = sparse.csr_array(np.tile([[0.0, 3.0, 0.0, 1.0]], (50, 1)))
        with pytest.warns(UserWarning, match="distinct clusters"):
            model = BisectingBoostKMeans(3, random_state=0).fit(X)
        assert model.inertia_ == pytest.approx(0, abs=1e-12)

    @given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(["f8", "f4"]))
    @settings(max_examples=60)
    def test_no_move_improves_a_certified_partition(self, seed: int, dtype: str) -> None:
        """The reference decides in exact rational arithmetic."""
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(3, 41)), int(rng.integers(2, 9)), int(rng.integers(1, 9))
        X = rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < 0.5)
        k = min(k, len(np.unique(X, axis=0)))
        moves = ("best", "first")[seed % 2]
        model = BoostKMeans(k, tol=0, max_iter=1000, moves=moves, random_state=seed % 2**31)
        model.fit(sparse.csr_array(X.astype(dtype)))
        assert model.stop_reason_ == "certified"
        assert reference.improving_move(X, model.labels_, k) is None

    def test_labels_do_not_depend_on_the_number_of_threads(self) -> None:
        X, _ = topics(5000, 600, 9, terms=30)
        assert X.nnz * 150 > 8 * 2e6  # Enough work for eight threads.
        labels = [
            BoostKMeans(150, random_state=0, n_threads=n, metric="cosine", max_iter=12).fit(X).labels_
            for n in (1, 3, 8)
        ]
        assert all((labels[0] == other).all() for other in labels[1:])

    @pytest.mark.parametrize("exponent", [-400, -3, 40, 400])
    def test_unit_of_measurement_does_not_matter(self, exponent: int) -> None:
        X, _ = topics(300, 100, 5)
        scaled = X.copy()
        scaled.data = np.ldexp(scaled.data, exponent)
        a, b = (BoostKMeans(8, random_state=0).fit(data) for data in (X, scaled))
        np.testing.assert_array_equal(a.labels_, b.labels_)

    def test_integer_weights_equal_repeated_rows(self) -> None:
        X, _ = topics(150, 60, 4)
        times = np.random.default_rng(0).integers(1, 4, 150)
        init = (np.arange(150) % 4).astype(np.int32)
        one = BoostKMeans(4, init=init, tol=0, random_state=0).fit(X, sample_weight=times)
        assert one.inertia_ == pytest.approx(
            reference.inertia(np.repeat(X.toarray(), times, axis=0), np.repeat(one.labels_, times))
        )

    def test_empty_rows_share_a_cluster(self) -> None:
        X, _ = topics(200, 60, 4)
        X = sparse.vstack([X, sparse.csr_array((20, 60))]).tocsr()
        for metric in ("euclidean", "cosine"):
            model = BoostKMeans(5, metric=metric, random_state=0).fit(X)
            assert len(set(model.labels_[200:].tolist())) == 1

    def test_partial_fit_includes_earlier_batches(self) -> None:
        X, planted = topics(900, 120, 4)
        model = BoostKMeans(4, random_state=0)
        for begin in range(0, 900, 300):
            model.partial_fit(X[begin : begin + 300])
        assert same_partition(model.predict(X), planted)
        means = np.array([X[planted == c].mean(axis=0) for c in range(4)])
        gaps = ((model.cluster_centers_[:, None] - means) ** 2).sum(axis=2)
        assert gaps.min(axis=1).max() < 0.01


def _unit(X: Any) -> Any:
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    scaled = X.copy()
    scaled.data /= np.repeat(norms, np.diff(scaled.indptr))
    return scaled


@pytest.mark.usefixtures("keep_sparse")
class TestManyClusters:
    """From 128 clusters, terms that occur in few clusters are stored as short lines of centres."""

    def problem(self) -> tuple[Any, NDArray[np.float64]]:
        """Return rows, and centres with more nonzero values than the rows."""
        rng = np.random.default_rng(0)
        X = noise(1500, 300, 0.01, seed=1)
        centres = rng.uniform(size=(200, 300)) * (rng.random((200, 300)) < 0.2)
        centres[:, 0] = np.linspace(0, 3, 200)
        return X, centres

    @pytest.mark.slow
    @pytest.mark.parametrize("n_candidates", [None, 60])
    def test_predicts_the_nearest_centres(self, n_candidates: int | None) -> None:
        X, centres = self.problem()
        model = BoostKMeans(200, init=centres, max_iter=1).fit(np.repeat(centres, 2, axis=0))
        gaps = ((X.toarray()[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
        found = model.predict(X, n_candidates=n_candidates)
        dense = model.predict(X.toarray(), n_candidates=n_candidates)
        np.testing.assert_array_equal(found, dense)
        if n_candidates is None:
            np.testing.assert_array_equal(found, gaps.argmin(axis=1))
            assert model.score(X) == pytest.approx(-gaps.min(axis=1).sum())

    def test_sweeps_match_the_reference(self) -> None:
        X, _ = self.problem()
        labels = np.random.default_rng(2).permutation(np.arange(1500) % 200).astype(np.int32)
        rows = Rows.in_own_frame(X, "euclidean", 2)
        partition = make_partition(labels, 200, rows, n_threads=2)
        for s in range(3):
            order = np.random.default_rng(s).permutation(1500)
            expected, _ = reference.sweep(X.toarray(), partition.labels, 200, order.tolist(), 100)
            visit = _core.FullVisit(order=order, run_rows=1, block_rows=100)
            _core.sweep(rows.core, None, partition.view(), visit, _core.SweepOptions(), n_threads=2)
            np.testing.assert_array_equal(partition.labels, expected)


@pytest.mark.usefixtures("keep_sparse")
class TestTightClusters:
    """Distances stay accurate if they are small compared with |x|."""

    @pytest.mark.parametrize("far", [1e4, 1e6, 1e8])
    def test_certifies_rows_with_one_large_column(self, far: float) -> None:
        X = noise(200, 40, 0.5, seed=4).toarray()
        X[:, 7] = far
        dense = BoostKMeans(10, random_state=0, tol=0).fit(X)
        found = BoostKMeans(10, random_state=0, tol=0).fit(sparse.csr_array(X))
        assert found.stop_reason_ == "certified"
        assert found.inertia_ == pytest.approx(reference.inertia(X, found.labels_), rel=1e-6)
        assert found.inertia_ == pytest.approx(dense.inertia_, rel=0.05)

    @pytest.mark.parametrize("apart", [0.0, 1e-8, 1e-4])
    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    def test_fit_of_equal_and_nearly_equal_rows_ends(self, apart: float, metric: str) -> None:
        """There are more clusters than different rows."""
        rng = np.random.default_rng(0)
        X = np.repeat(noise(50, 60, 0.2, seed=5).toarray(), 20, axis=0)
        X *= 1 + apart * rng.normal(size=X.shape)
        X = X[rng.permutation(len(X))]
        model = BoostKMeans(60, random_state=0, metric=metric)
        if apart == 0:
            with pytest.warns(UserWarning, match="distinct clusters"):
                model.fit(sparse.csr_array(X))
        else:
            model.fit(sparse.csr_array(X))
        assert model.stop_reason_ in ("certified", "tol")
        assert model.n_iter_ < 60
        limit = 1e-12 if apart < 1e-5 else 1e-6
        assert model.inertia_ <= limit * (X**2).sum()


class TestExpandedAndSparse:
    """Near the size limit, the rows of a matrix stay sparse while those of its parts are expanded."""

    def test_transforms_in_batches(self) -> None:
        rng = np.random.default_rng(0)
        model = BoostKMeans(3, random_state=0).fit(5.5 + rng.normal(size=(60, 1100)))
        X = noise(4500, 1100, 0.02)
        assert rows_module.stays_sparse(X)
        assert not rows_module.stays_sparse(X[4096:])
        rows = np.r_[0:50, 4400:4500]
        gaps = X[rows].toarray()[:, None] - model.cluster_centers_
        np.testing.assert_allclose(model.transform(X)[rows], np.linalg.norm(gaps, axis=2))

    def test_partial_fit_combines_dense_and_sparse_batches(self) -> None:
        rng = np.random.default_rng(0)
        first = 5 + rng.normal(size=(400, 2200))
        batch = noise(2000, 2200, 0.19, seed=2)
        models = []
        for data in (batch, batch.toarray()):
            model = BoostKMeans(190, random_state=0, max_iter=2).fit(first)
            models.append(model.partial_fit(data))
        assert models[0].inertia_ == pytest.approx(models[1].inertia_, rel=0.01)
        rows = batch[:50].toarray()
        gaps = ((rows[:, None] - models[0].cluster_centers_) ** 2).sum(axis=2)
        np.testing.assert_array_equal(models[0].labels_[:50], gaps.argmin(axis=1))

    def test_sample_is_expanded_if_all_rows_are(self) -> None:
        dense = 3 + np.random.default_rng(0).normal(size=(5200, 1000))
        light = noise(4300, 1000, 0.05)
        X = sparse.vstack([sparse.csr_array(dense), light]).tocsr()
        rows = Rows.in_own_frame(X, "euclidean", 2)
        assert not rows.stays_sparse
        sample = rows.sample(np.arange(5200, 9500))
        assert not sample.stays_sparse
        centres = rows.frame.enter(np.random.default_rng(1).normal(size=(5, 1000)))
        labels, _ = nearest(sample, centres, 2)
        gaps = ((light[:100].toarray()[:, None] - rows.frame.leave(centres)) ** 2).sum(axis=2)
        np.testing.assert_array_equal(labels[:100], gaps.argmin(axis=1))


@pytest.mark.usefixtures("keep_sparse")
class TestInput:
    """Matrices in all formats and types that users have."""

    def test_accepts_all_types_of_csr_matrices(self) -> None:
        X, _ = topics(200, 90, 4)
        X.data = np.round(X.data, 2).astype(np.float32).astype(np.float64)  # Equal in both types.
        expected = BoostKMeans(6, random_state=0).fit(X).labels_
        for container in (sparse.csr_matrix, sparse.csr_array):
            for values in (np.float32, np.float64):
                for index in (np.int32, np.int64):
                    given_ = container(X).astype(values)
                    given_.indices = given_.indices.astype(index)
                    given_.indptr = given_.indptr.astype(index)
                    for part in (given_.data, given_.indices, given_.indptr):
                        part.flags.writeable = False
                    model = BoostKMeans(6, random_state=0).fit(given_)
                    np.testing.assert_array_equal(model.labels_, expected)

    @pytest.mark.parametrize("form", ["csc", "coo", "lil", "bsr"])
    def test_converts_other_formats(self, form: str) -> None:
        X, _ = topics(200, 90, 4)
        expected = BoostKMeans(4, random_state=0).fit(X).labels_
        found = BoostKMeans(4, random_state=0).fit(X.asformat(form)).labels_
        np.testing.assert_array_equal(found, expected)

    def test_accepts_unsorted_and_duplicate_columns(self) -> None:
        X, _ = topics(200, 90, 4)
        rng = np.random.default_rng(0)
        rows = np.repeat(np.arange(200), np.diff(X.indptr))
        order = np.lexsort((rng.random(len(rows)), rows))  # Random order within each row.
        unsorted = sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)
        halves = sparse.csr_array(
            (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
        )
        zeros = sparse.csr_array(
            (np.r_[X.data, np.zeros(200)], np.r_[X.indices, np.full(200, 3)], X.indptr), shape=X.shape
        )
        expected = BoostKMeans(4, random_state=0).fit(X)
        for given_ in (unsorted, halves, zeros):
            before = [part.copy() for part in (given_.data, given_.indices, given_.indptr)]
            model = BoostKMeans(4, random_state=0).fit(given_)
            np.testing.assert_array_equal(model.labels_, expected.labels_)
            np.testing.assert_allclose(model.cluster_centers_, expected.cluster_centers_)
            for part, old in zip((given_.data, given_.indices, given_.indptr), before, strict=True):
                np.testing.assert_array_equal(part, old)  # The user's arrays are unchanged.

    def test_accepts_integers(self) -> None:
        counts = sparse.csr_array(np.random.default_rng(0).poisson(0.3, (200, 40)))
        assert counts.dtype == np.int64
        a, b = (BoostKMeans(4, random_state=0).fit(X) for X in (counts, counts.astype(np.float64)))
        np.testing.assert_array_equal(a.labels_, b.labels_)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    def test_reports_the_place_of_a_value_that_is_not_finite(self, value: float, metric: str) -> None:
        X = noise(50, 20)
        at = int(np.flatnonzero(X.indptr > 100)[0])  # A row in the middle.
        X.data[X.indptr[at]] = value
        column = X.indices[X.indptr[at]]
        with pytest.raises(ValueError, match=rf"row {at}, column {column}"):
            BoostKMeans(3, metric=metric).fit(X)
        model = BoostKMeans(3, metric=metric).fit(noise(50, 20))
        with pytest.raises(ValueError, match=rf"row {at}, column {column}"):
            model.transform(X)

    def test_rejects_inconsistent_matrices(self) -> None:
        X = noise(50, 20)

        def broken(part: str, i: int, value: int) -> Any:
            bad = X.copy()
            bad.has_canonical_format = True
            getattr(bad, part)[i] = value
            return bad

        for part, i, value in [("indices", 3, 20), ("indices", 3, -1), ("indices", 3, 2**30),
                               ("indptr", 5, 0), ("indptr", 5, -1), ("indptr", -1, 10**6),
                               ("indptr", 0, 1)]:  # fmt: skip
            with pytest.raises(ValueError, match=r"columns|starts|index|indptr|indices"):
                BoostKMeans(3).fit(broken(part, i, value))

    def test_makes_no_dense_copy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The dense matrix would need 80 GB. Methods that expand a matrix are not called, either."""

        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("made dense")

        rng = np.random.default_rng(0)
        n, d, terms = 50_000, 200_000, 3
        X = sparse.csr_matrix(
            (rng.random(n * terms), rng.integers(d, size=n * terms), np.arange(0, n * terms + 1, terms)),
            shape=(n, d),
        )
        for method in ("toarray", "todense"):
            monkeypatch.setattr(sparse.csr_matrix, method, refuse)
        for model in (
            BoostKMeans(4, random_state=0, max_iter=3),
            BoostKMeans(4, random_state=0, init="random", max_iter=2, metric="cosine"),
            BisectingBoostKMeans(4, random_state=0, refine=1),
        ):
            model.fit(X)
            assert model.predict(X).shape == (n,)
            assert model.transform(X[:100]).shape == (100, 4)
            assert model.cluster_sizes_.sum() == n
        BoostKMeans(4, random_state=0, max_iter=2).partial_fit(X).partial_fit(X[:1000])


class TestLargeCentres:
    """Steps that avoid copies of k x d values, because these are very many."""

    def start(self) -> tuple[Problem, Partition, float]:
        """Return a problem, a partition that a repair improves, and its inertia."""
        X, _ = topics(2000, 300, 12, seed=3)
        problem = make_problem(Rows.in_own_frame(X, "euclidean", 2), 20, n_threads=2)
        labels = BisectingBoostKMeans(20, random_state=0).fit(X).labels_
        return problem, *Partition.from_labels(labels, 20, problem.rows, None, 2)

    @pytest.mark.usefixtures("keep_sparse")
    def test_repair_without_composites_of_halves_is_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        problem, partition, before = self.start()
        whole = Repair.plan(problem, partition.copy(), 5)
        monkeypatch.setattr(repair_module, "MAX_HALVES_VALUES", 0)
        light = Repair.plan(problem, partition.copy(), 5)
        assert light.halves.composites is None
        np.testing.assert_array_equal(light.halves.labels, whole.halves.labels)
        np.testing.assert_array_equal(light.halves.weights, whole.halves.weights)
        np.testing.assert_array_equal(light.halves.counts, whole.halves.counts)
        np.testing.assert_allclose(light.gains, whole.gains, rtol=1e-9, atol=1e-12)
        swaps = whole.improving_swaps(0.0)
        assert swaps is not None
        for repair in (whole, light):
            new = repair.apply(swaps, problem)
            weights = new.weights.copy()
            after, drift = new.recompute(problem.rows, None, 2)
            assert drift < 1e-10
            np.testing.assert_array_equal(new.weights, weights)
            assert before - after == pytest.approx(swaps.gain, rel=1e-9)

    @pytest.mark.usefixtures("keep_sparse")
    @pytest.mark.parametrize("trial", [False, True])
    def test_interrupted_repair_leaves_a_consistent_model(
        self, monkeypatch: pytest.MonkeyPatch, trial: bool
    ) -> None:
        """With very large composites, the new partition takes over the memory of the old one."""
        monkeypatch.setattr(repair_module, "MAX_HALVES_VALUES", 0)
        X, _ = topics(1500, 200, 12, seed=3)
        original, calls = Repair.apply, [0]

        def interrupted(self: Repair, swaps: Any, problem: Any) -> Partition:
            calls[0] += 1
            new = original(self, swaps, problem)
            if not trial or calls[0] > 2:
                raise KeyboardInterrupt
            return new

        monkeypatch.setattr(Repair, "apply", interrupted)
        model = BoostKMeans(14, random_state=1, n_threads=1, init="random", quality="best", max_iter=300)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
        assert calls[0] > 0
        dense = X.toarray()
        assert model.inertia_ == pytest.approx(reference.inertia(dense, model.labels_))
        means = [dense[model.labels_ == c].mean(axis=0) for c in range(14)]
        np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-9)

    def test_merge_costs_are_computed_for_the_cheapest_estimates(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        problem, partition, _ = self.start()
        everything = Repair.plan(problem, partition, 5)
        monkeypatch.setattr(repair_module, "MAX_MERGE_VALUES", 1)
        few = Repair.plan(problem, partition, 5)
        assert len(few.merges[0]) == 20 < len(everything.merges[0])
        for found, expected in zip(few.merges, everything.merges, strict=True):
            np.testing.assert_allclose(found, expected[:20])

    def test_sketches_preserve_distances(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(0)
        groups = np.repeat(rng.normal(size=(10, 5000)), 4, axis=0)
        centres = groups + 0.3 * rng.normal(size=(40, 5000))
        partition = blank_partition(np.arange(40), 40, 5000)
        partition.weights[:] = rng.uniform(0.5, 5, 40)
        partition.composites[:] = centres * partition.weights[:, None]
        np.testing.assert_allclose(points_to_compare(partition), centres)
        monkeypatch.setattr(neighbours_module, "MAX_EXACT_VALUES", 0)
        sketch = points_to_compare(partition)
        assert sketch.shape == (40, 1024)
        true = ((centres[:, None] - centres) ** 2).sum(axis=2)
        found = ((sketch[:, None] - sketch) ** 2).sum(axis=2)
        np.testing.assert_allclose(found, true, rtol=0.25)
        lists = neighbour_lists(sketch, 3, 1)
        np.testing.assert_array_equal(
            np.sort(lists // 4, axis=1), np.arange(40)[:, None] // 4 * [1, 1, 1]
        )

    @pytest.mark.usefixtures("keep_sparse")
    def test_fit_with_very_large_centres_finds_the_topics(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X, planted = topics(2000, 5000, 20, terms=30)
        model = BoostKMeans(20, random_state=0).fit(X)
        monkeypatch.setattr(repair_module, "MAX_HALVES_VALUES", 0)
        monkeypatch.setattr(repair_module, "MAX_MERGE_VALUES", 0)
        monkeypatch.setattr(neighbours_module, "MAX_EXACT_VALUES", 0)
        monkeypatch.setattr(partition_module, "MAX_COPIED_VALUES", 0)
        other = BoostKMeans(20, random_state=0).fit(X)
        assert same_partition(model.labels_, planted)
        assert same_partition(other.labels_, planted)


@pytest.mark.usefixtures("keep_sparse")
@pytest.mark.parametrize(
    "setting", [{}, {"moves": "first"}, {"n_candidates": 4}, {"annealing": (0.1, 3)}]
)
def test_plain_sweeps_of_sparse_rows_equal_those_of_dense_rows(setting: dict[str, Any]) -> None:
    """Splits of sparse rows have another order of arithmetic, so that repairs and trees may differ."""
    X = noise(1500, 200, 0.05)  # too large for the rules of small fits
    setting = {"annealing": 0, "repair": 0, "init": "random", "random_state": 0, **setting}
    dense, found = (BoostKMeans(8, **setting).fit(data) for data in (X.toarray(), X))
    np.testing.assert_array_equal(found.labels_, dense.labels_)
    assert [one.temperature for one in found.history_] == pytest.approx(
        [one.temperature for one in dense.history_], rel=1e-9
    )


def test_fit_of_documents_is_as_good_as_a_dense_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The documents are one of the data sets of the paper."""
    path = SHARED / "cluto" / "tr31.npz"
    if not path.exists():
        pytest.skip("needs the document sets")
    X = sparse.csr_matrix(sparse.load_npz(path))
    inertias: dict[bool, list[float]] = {}
    for stays_sparse in (False, True):
        if stays_sparse:
            monkeypatch.setattr(rows_module, "MAX_EXPANDED_CELLS", 0)
        else:
            monkeypatch.setattr(rows_module, "MAX_EXPANDED_CELLS", 10**9)
        inertias[stays_sparse] = [
            BoostKMeans(10, metric="cosine", random_state=seed, quality="fast").fit(X).inertia_
            for seed in range(3)
        ]
    assert min(inertias[True]) == pytest.approx(min(inertias[False]), rel=0.01)
