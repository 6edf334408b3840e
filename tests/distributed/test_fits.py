"""Distributed estimators in one process: results, parameters, checkpoints and errors."""

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans

import boostkmeans
import reference
from boostkmeans import load_model
from boostkmeans._runtime.errors import DataFormatError, EmptyDataError, ParameterError
from boostkmeans._runtime.instruction_set import instruction_sets
from boostkmeans._sharded import fit as sharded_fit
from boostkmeans._sharded.backend import LocalBackend
from boostkmeans.distributed import BisectingBoostKMeans, BoostKMeans, open_shards
from conftest import blobs, same_partition

Array = NDArray[Any]


def parts(X: Any, n_parts: int = 4) -> list[Any]:
    return [X[part] for part in np.array_split(np.arange(X.shape[0]), n_parts)]


def labels_of(model: Any) -> NDArray[np.int32]:
    labels: NDArray[np.int32] = model.to_local().labels_
    return labels


@pytest.fixture
def small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small data sets start from a sample, so that rounds of all shards follow."""
    monkeypatch.setattr(sharded_fit, "MIN_SAMPLE", 256)
    monkeypatch.setattr(sharded_fit, "SAMPLE_PER_CLUSTER", {"fast": 4, "balanced": 4, "best": 4})


@pytest.mark.usefixtures("small_sample")
class TestResults:
    @pytest.mark.parametrize("n_threads", [1, 2, 3])
    def test_labels_do_not_depend_on_threads(self, n_threads: int) -> None:
        X = np.random.default_rng(0).normal(size=(4000, 6)).astype(np.float32)
        model = BoostKMeans(60, random_state=0, n_threads=n_threads).fit(parts(X))
        first = BoostKMeans(60, random_state=0, n_threads=1).fit(parts(X))
        np.testing.assert_array_equal(labels_of(model), labels_of(first))
        assert model.inertia_ == first.inertia_

    def test_finds_planted_clusters(self) -> None:
        X, planted = blobs(3000, 2, 25, seed=1, spread=100.0)
        model = BoostKMeans(25, random_state=0).fit(parts(X, 5))
        assert same_partition(labels_of(model), planted)

    @pytest.mark.parametrize(("n", "k"), [(400, 8), (600, 40)])
    def test_certified_results_are_local_optima(self, n: int, k: int) -> None:
        X = np.random.default_rng(2).integers(0, 50, (n, 3)).astype(float)
        model = BoostKMeans(k, tol=0, random_state=0).fit(parts(X, 3))
        assert model.converged_
        assert model.stop_reason_ == "certified"
        assert reference.improving_move(X, labels_of(model), k) is None

    def test_last_members_of_shards_can_leave(self) -> None:
        """Cluster 1 has one row in each shard, and a shard that keeps its row must not certify this."""
        blocks = [np.array([[0.0], [0.2], [1.0]]), np.array([[10.0], [0.1]])]
        labels = np.array([0, 0, 1, 1, 0])
        model = BoostKMeans(2, init=labels, tol=0, random_state=0).fit(blocks)
        assert same_partition(labels_of(model), np.array([0, 0, 0, 1, 0]))

    @pytest.mark.parametrize("seed", range(3))
    def test_certificates_with_few_rows_per_shard(self, seed: int) -> None:
        X = np.random.default_rng(seed).integers(0, 100, (600, 3)).astype(float)
        model = BoostKMeans(50, tol=0, random_state=seed, max_iter=500).fit(parts(X, 40))
        assert model.converged_
        assert reference.improving_move(X, labels_of(model), 50) is None

    def test_about_as_good_as_one_machine(self) -> None:
        X = np.random.default_rng(3).normal(size=(20_000, 8)).astype(np.float32)
        one = boostkmeans.BoostKMeans(600, random_state=0).fit(X)
        many = BoostKMeans(600, random_state=0).fit(parts(X, 4))
        assert many.inertia_ < 1.01 * one.inertia_
        assert any(record.kind == "candidates" for record in many.history_)

    def test_attributes_describe_the_labels(self) -> None:
        X = np.random.default_rng(4).normal(size=(3000, 4))
        weights = np.random.default_rng(5).integers(0, 4, 3000).astype(float)
        model = BoostKMeans(20, random_state=0, tol=0).fit(parts(X), sample_weight=weights)
        labels = labels_of(model)
        np.testing.assert_array_equal(model.cluster_sizes_, np.bincount(labels, minlength=20))
        for cluster in range(20):
            members = labels == cluster
            mean = np.average(X[members], axis=0, weights=weights[members])
            np.testing.assert_allclose(model.cluster_centers_[cluster], mean, atol=1e-12)
        gaps = ((X - model.cluster_centers_[labels]) ** 2).sum(axis=1)
        assert model.inertia_ == pytest.approx(gaps @ weights)
        assert model.distortion_ == pytest.approx(gaps @ weights / weights.sum())
        np.testing.assert_array_equal(np.concatenate(model.predict(parts(X))), labels)
        assert model.score(parts(X), sample_weight=weights) == pytest.approx(-model.inertia_)
        inertias = [record.inertia for record in model.history_]
        assert inertias == sorted(inertias, reverse=True)
        assert model.n_features_in_ == 4
        assert model.n_samples_seen_ == 3000

    def test_weights_are_repeated_rows(self) -> None:
        X = np.random.default_rng(6).normal(size=(500, 3))
        weights = np.random.default_rng(7).integers(1, 4, 500)
        weighted = BoostKMeans(7, random_state=0, tol=0).fit(parts(X), sample_weight=weights * 1.0)
        repeated = np.repeat(X, weights, axis=0)
        start = weighted.cluster_centers_
        again = BoostKMeans(7, init=start, random_state=0, tol=0).fit(parts(repeated))
        assert again.inertia_ == pytest.approx(weighted.inertia_)

    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    def test_sparse_rows(self, metric: str) -> None:
        X = sparse.random(6000, 1500, density=0.01, random_state=0, format="csr")
        one = boostkmeans.BoostKMeans(20, random_state=0, metric=metric).fit(X)
        many = BoostKMeans(20, random_state=0, metric=metric).fit(parts(X))
        assert many.inertia_ < 1.02 * one.inertia_
        np.testing.assert_array_equal(np.concatenate(many.predict(parts(X))), one_array(many.labels_))

    @pytest.mark.parametrize("dtype", [np.float64, np.float16, np.uint8, np.int8, np.int32, bool])
    def test_types(self, dtype: Any) -> None:
        X = np.random.default_rng(8).integers(0, 2 if dtype is bool else 100, (1500, 9)).astype(dtype)
        own = BoostKMeans(12, random_state=0, tol=0).fit(parts(X))
        as_floats = BoostKMeans(12, random_state=0, tol=0).fit(parts(X.astype(np.float64)))
        assert own.inertia_ == pytest.approx(as_floats.inertia_, rel=0.05)

    def test_empty_blocks_change_nothing(self) -> None:
        X = np.random.default_rng(9).normal(size=(2000, 3))
        plain = BoostKMeans(15, random_state=0).fit([X[:900], X[900:]])
        with_empty = BoostKMeans(15, random_state=0).fit([X[:0], X[:900], X[900:900], X[900:]])
        assert with_empty.inertia_ == pytest.approx(plain.inertia_, rel=0.02)
        assert [len(one) for one in with_empty.labels_] == [0, 900, 0, 1100]

    def test_no_cluster_is_empty(self) -> None:
        """With 3 rows per cluster, shards often want to empty the same cluster at the same time."""
        X = np.random.default_rng(10).normal(size=(3000, 3))
        model = BoostKMeans(1000, random_state=0).fit(parts(X, 7))
        assert model.cluster_sizes_.min() >= 1

    def test_fewer_distinct_rows_than_clusters(self) -> None:
        X = np.repeat(np.arange(10.0)[:, None], 40, axis=0)
        with pytest.warns(UserWarning, match="Number of distinct clusters"):
            model = BoostKMeans(20, random_state=0).fit(parts(X))
        assert np.count_nonzero(model.cluster_sizes_) == 10
        assert model.inertia_ == pytest.approx(0, abs=1e-20)

    def test_explicit_starts(self) -> None:
        X, planted = blobs(600, 2, 5, seed=3, spread=100.0)
        means = np.array([X[planted == c].mean(axis=0) for c in range(5)])
        for init in (means, planted):
            model = BoostKMeans(5, init=init, random_state=0).fit(parts(X))
            np.testing.assert_array_equal(labels_of(model), planted)

    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_few_dimensions_first(self, n_threads: int) -> None:
        centres = np.random.default_rng(11).normal(size=(30, 5)) @ np.eye(5, 80)
        rng = np.random.default_rng(12)
        X = centres[rng.integers(0, 30, 4000)] + 0.2 * rng.normal(size=(4000, 80))
        settings: Any = {"n_clusters": 30, "random_state": 0, "tol": 0}
        model = BoostKMeans(**settings, dimensions=16, n_threads=n_threads).fit(parts(X))
        assert model.history_[0].note.startswith("first 16 of 80 dimensions")
        assert model.converged_
        whole = BoostKMeans(**settings, dimensions=None).fit(parts(X))
        assert model.inertia_ == pytest.approx(whole.inertia_, rel=0.02)
        again = BoostKMeans(**settings, dimensions=16, n_threads=3).fit(parts(X))
        np.testing.assert_array_equal(labels_of(again), labels_of(model))
        # The history has inertias in all dimensions.
        assert model.history_[0].inertia > model.inertia_ > 0.9 * model.history_[0].inertia / 10

    def test_bisecting(self) -> None:
        X, planted = blobs(2000, 2, 16, seed=4, spread=100.0)
        tree = BisectingBoostKMeans(16, random_state=0).fit(parts(X))
        assert tree.stop_reason_ == "tree"
        assert tree.tree_.sizes[0] == 2000
        np.testing.assert_array_equal(tree.cut(16), labels_of(tree))
        assert len(np.unique(tree.cut(3))) == 3
        found = np.concatenate(tree.predict(parts(X), tree=True))
        assert np.mean(found == labels_of(tree)) > 0.8  # Nodes have the means of all rows now.
        refined = BisectingBoostKMeans(16, random_state=0, refine=True).fit(parts(X))
        assert same_partition(labels_of(refined), planted)


def one_array(labels: Any) -> Array:
    return labels if isinstance(labels, np.ndarray) else np.concatenate(labels)


class TestInterface:
    @pytest.mark.parametrize(
        ("own", "local"),
        [
            (BoostKMeans, boostkmeans.BoostKMeans),
            (BisectingBoostKMeans, boostkmeans.BisectingBoostKMeans),
        ],
    )
    def test_signature_is_that_of_the_local_estimator(self, own: Any, local: Any) -> None:
        mine, theirs = inspect.signature(own).parameters, inspect.signature(local).parameters
        assert list(mine) == [*theirs, "engine"]
        for name, parameter in theirs.items():
            assert parameter.default == mine[name].default or parameter.default is mine[name].default

    def test_to_local_is_an_ordinary_estimator(self, tmp_path: Path) -> None:
        X = np.random.default_rng(0).normal(size=(500, 3))
        model = BoostKMeans(6, random_state=0).fit(parts(X))
        local = model.to_local()
        assert type(local) is boostkmeans.BoostKMeans
        np.testing.assert_array_equal(local.labels_, np.concatenate(model.labels_))
        model.save(tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(X), local.predict(X))
        assert not hasattr(model.to_local(labels=False), "labels_")

    def test_one_array_has_one_array_of_labels(self) -> None:
        X = np.random.default_rng(0).normal(size=(500, 3))
        model = BoostKMeans(6, random_state=0).fit(X)
        assert model.labels_.shape == (500,)
        assert model.predict(X).shape == (500,)
        assert model.transform(X).shape == (500, 6)
        assert model.fit_predict(X).shape == (500,)

    def test_assignment_equals_that_of_the_local_estimator(self) -> None:
        X = np.random.default_rng(0).normal(size=(500, 3))
        blocks = [X[:0], *parts(X)]
        model = BoostKMeans(6, random_state=0).fit(blocks)
        local = model.to_local()
        for found, expected in zip(model.predict_many(blocks, 3), local.predict_many(X, 3), strict=True):
            np.testing.assert_array_equal(np.concatenate(found), expected)
        scores = np.concatenate(model.outlier_scores(blocks))
        np.testing.assert_array_equal(scores, local.outlier_scores(X))
        np.testing.assert_array_equal(model.medoids(blocks), local.medoids(X))
        np.testing.assert_array_equal(model.medoids(X), local.medoids(X))
        with pytest.raises(ParameterError, match="'m'"):
            model.predict_many(blocks, 7)

    def test_pickles_without_handles(self) -> None:
        X = np.random.default_rng(0).normal(size=(500, 3))
        model = BoostKMeans(6, random_state=0).fit(parts(X))
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(labels_of(again), labels_of(model))
        del again.labels_  # as if they were on a cluster
        with pytest.raises(AttributeError, match=r"to_local\(labels=False\)"):
            again.to_local()
        assert clone(model).get_params() == model.get_params()

    @pytest.mark.parametrize(
        ("parameters", "reason"),
        [
            ({"min_size": 2}, "do not see each other"),
            ({"max_size": 20}, "do not see each other"),
            ({"init": lambda X, k, rng: X[:k]}, "no process has all rows"),
            ({"engine": "spark"}, "engine"),
            ({"n_clusters": 0}, "n_clusters"),
        ],
    )
    def test_unsupported_parameters_are_refused(self, parameters: Any, reason: str) -> None:
        model = BoostKMeans(**{"n_clusters": 3, **parameters})
        with pytest.raises(ParameterError, match=reason):
            model.fit([np.ones((10, 2))])
        with pytest.raises(ParameterError, match="one place"):
            BisectingBoostKMeans(2, sample=None).fit([np.ones((10, 2))])
        with pytest.raises(NotImplementedError, match="to_local"):
            BoostKMeans(2).partial_fit(np.ones((10, 2)))

    def test_bad_data_is_named(self) -> None:
        good, bad = np.ones((10, 2)), np.ones((10, 2))
        bad[3, 1] = np.inf
        with pytest.raises(DataFormatError, match=r"block 1 of X.*row 3.*column 1"):
            BoostKMeans(2).fit([good, bad])
        with pytest.raises(DataFormatError, match=r"block 1 of X.*3 features.*block 0 of X has 2"):
            BoostKMeans(2).fit([good, np.ones((10, 3))])
        with pytest.raises(EmptyDataError):
            BoostKMeans(2).fit([good[:0], good[:0]])
        with pytest.raises(ValueError, match="n_clusters"):
            BoostKMeans(30).fit([good, good])
        with pytest.raises(ValueError, match="weight"):
            BoostKMeans(2).fit([good, good], sample_weight=np.zeros(20))

    @pytest.mark.parametrize(
        ("init", "problem"),
        [
            (np.full(20, 7), "Labels given as init"),
            (np.zeros(19, dtype=int), "20 integer labels"),
            (np.zeros(20), "20 integer labels"),
            (np.full((3, 2), np.nan), "NaN"),
            (np.ones((2, 2)), "3, 2"),
        ],
    )
    def test_bad_starts_are_refused(self, init: Array, problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            BoostKMeans(3, init=init).fit([np.ones((10, 2)), np.zeros((10, 2))])

    def test_directions_of_given_centres_count(self) -> None:
        X = np.random.default_rng(2).normal(size=(400, 3))
        centres = np.array([[5.0, 0, 0], [0, 0.1, 0], [0, 0, 1]])
        settings: Any = {"n_clusters": 3, "metric": "cosine", "random_state": 0}
        given = BoostKMeans(init=centres, **settings).fit(parts(X))
        unit = BoostKMeans(init=np.sign(centres), **settings).fit(parts(X))
        assert given.history_[0].inertia == unit.history_[0].inertia
        np.testing.assert_array_equal(labels_of(given), labels_of(unit))

    def test_no_leaf_is_empty(self) -> None:
        X = np.random.default_rng(3).normal(size=(3000, 2))
        model = BisectingBoostKMeans(1000, random_state=0).fit(parts(X))
        assert model.cluster_sizes_.min() >= 1
        np.testing.assert_array_equal(model.tree_.sizes[0], 3000)

    def test_files_name_the_row(self, tmp_path: Path) -> None:
        X = np.ones((100, 4))
        X[70, 2] = np.nan
        np.save(tmp_path / "x.npy", X)
        shards = open_shards(tmp_path / "x.npy", max_shard_bytes=1000)
        assert len(shards) > 1
        with pytest.raises(DataFormatError, match=r"x\.npy.*row 70"):
            BoostKMeans(2).fit(shards)

    def test_feature_names_of_tables(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n3,4\n" * 20)
        model = BoostKMeans(2, random_state=0).fit(open_shards(tmp_path / "x.csv"))
        assert model.feature_names_in_.tolist() == ["a", "b"]
        model.predict(open_shards(tmp_path / "x.csv"))

    def test_better_than_one_run_of_lloyd(self) -> None:
        X = np.random.default_rng(1).normal(size=(5000, 8))
        lloyd = KMeans(50, n_init=1, random_state=0).fit(X)
        assert BoostKMeans(50, random_state=0).fit(parts(X)).inertia_ < lloyd.inertia_


@pytest.mark.usefixtures("small_sample")
class TestControl:
    X = np.random.default_rng(0).normal(size=(5000, 6))

    def model(self, **parameters: Any) -> BoostKMeans:
        return BoostKMeans(**{"n_clusters": 40, "random_state": 3, **parameters})

    def test_callback_sees_every_round_and_stops(self) -> None:
        seen: list[Any] = []
        model = self.model(callback=seen.append).fit(parts(self.X))
        assert [record.inertia for record in seen] == [r.inertia for r in model.history_]
        stopped = self.model(callback=lambda record: record.kind != "start").fit(parts(self.X))
        assert stopped.stop_reason_ == "callback"
        assert stopped.n_iter_ == 1

    def test_max_time_and_max_iter(self) -> None:
        assert self.model(max_time=1e-9).fit(parts(self.X)).stop_reason_ == "max_time"
        model = self.model(max_iter=3).fit(parts(self.X))
        assert (model.stop_reason_, model.n_iter_) == ("max_iter", 3)

    def test_ctrl_c_leaves_a_usable_model(self) -> None:
        def interrupt(record: Any) -> None:
            if record.kind != "start":
                raise KeyboardInterrupt

        model = self.model(callback=interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(parts(self.X))
        assert model.stop_reason_ == "interrupted"
        assert len(labels_of(model)) == len(self.X)
        assert model.predict(self.X).shape == (len(self.X),)

    @pytest.mark.parametrize("k", [40, 600])
    @pytest.mark.parametrize("stop_after", [1, 4, 9, 14])
    def test_resumes_to_the_same_labels(self, k: int, stop_after: int, tmp_path: Path) -> None:
        whole = self.model(n_clusters=k).fit(parts(self.X))
        checkpoint = tmp_path / "fit.checkpoint"
        seen = 0

        def stop(record: Any) -> bool:
            nonlocal seen
            seen += 1
            return seen > stop_after

        self.model(n_clusters=k, checkpoint=checkpoint, callback=stop).fit(parts(self.X))
        assert checkpoint.exists()
        resumed = self.model(n_clusters=k, checkpoint=checkpoint).fit(parts(self.X))
        np.testing.assert_array_equal(labels_of(resumed), labels_of(whole))
        assert [r.inertia for r in resumed.history_] == [r.inertia for r in whole.history_]
        again = self.model(n_clusters=k, checkpoint=checkpoint).fit(parts(self.X))
        np.testing.assert_array_equal(labels_of(again), labels_of(whole))

    @pytest.mark.parametrize("stop_after", [1, 6, 12, 18, 24])
    def test_resumes_in_few_and_in_all_dimensions(self, stop_after: int, tmp_path: Path) -> None:
        X = np.random.default_rng(1).normal(size=(4000, 40)) * np.linspace(2, 0.1, 40)
        settings: Any = {"dimensions": 16, "n_clusters": 50}
        whole = self.model(**settings).fit(parts(X))
        checkpoint, seen = tmp_path / "fit.checkpoint", 0

        def stop(record: Any) -> bool:
            nonlocal seen
            seen += 1
            return seen > stop_after

        self.model(**settings, checkpoint=checkpoint, callback=stop).fit(parts(X))
        resumed = self.model(**settings, checkpoint=checkpoint).fit(parts(X))
        np.testing.assert_array_equal(labels_of(resumed), labels_of(whole))
        assert [r.inertia for r in resumed.history_] == [r.inertia for r in whole.history_]

    def test_resumes_several_runs(self, tmp_path: Path) -> None:
        whole = self.model(n_init=3).fit(parts(self.X))
        checkpoint = tmp_path / "fit.checkpoint"
        seen = 0

        def stop(record: Any) -> bool:
            nonlocal seen
            seen += 1
            return seen > 25

        self.model(n_init=3, checkpoint=checkpoint, callback=stop).fit(parts(self.X))
        resumed = self.model(n_init=3, checkpoint=checkpoint).fit(parts(self.X))
        np.testing.assert_array_equal(labels_of(resumed), labels_of(whole))

    def test_resumes_a_refined_tree(self, tmp_path: Path) -> None:
        settings: Any = {"n_clusters": 30, "random_state": 0, "refine": True}
        whole = BisectingBoostKMeans(**settings).fit(parts(self.X))
        path = tmp_path / "fit.checkpoint"
        stopped = BisectingBoostKMeans(**settings, checkpoint=path, callback=lambda record: True)
        stopped.fit(parts(self.X))
        resumed = BisectingBoostKMeans(**settings, checkpoint=path).fit(parts(self.X))
        np.testing.assert_array_equal(labels_of(resumed), labels_of(whole))
        np.testing.assert_array_equal(resumed.cut(7), whole.cut(7))

    def test_resumes_with_the_instruction_set_of_the_checkpoint(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        slowest, *others = instruction_sets()
        checkpoint = tmp_path / "fit.checkpoint"
        monkeypatch.setenv("BOOSTKMEANS_ISA", slowest)
        whole = self.model(engine="local").fit(parts(self.X))
        settings: Any = {"engine": "local", "checkpoint": checkpoint}
        self.model(**settings, callback=lambda record: record.kind != "start").fit(parts(self.X))
        monkeypatch.delenv("BOOSTKMEANS_ISA")
        monkeypatch.setattr(LocalBackend, "instruction_sets", lambda self: others or ["another"])
        with pytest.raises(ValueError, match=f"{slowest!r}, which not all workers.*BOOSTKMEANS_ISA"):
            self.model(**settings).fit(parts(self.X))
        monkeypatch.setattr(LocalBackend, "instruction_sets", lambda self: instruction_sets())
        resumed = self.model(**settings).fit(parts(self.X))
        np.testing.assert_array_equal(labels_of(resumed), labels_of(whole))
        assert resumed.inertia_ == whole.inertia_

    def test_refuses_the_checkpoint_of_other_data(self, tmp_path: Path) -> None:
        checkpoint = tmp_path / "fit.checkpoint"
        self.model(checkpoint=checkpoint).fit(parts(self.X))
        with pytest.raises(ValueError, match="checkpoint of another fit"):
            self.model(checkpoint=checkpoint).fit(parts(self.X + 1))
        with pytest.raises(ValueError, match="checkpoint of another fit"):
            self.model(checkpoint=checkpoint).fit(parts(self.X, 5))

    def test_log(self, caplog: pytest.LogCaptureFixture) -> None:
        self.model(verbose=1, engine="local").fit(parts(self.X))
        assert "5000 rows in 4 shards, on one process" in caplog.text
        assert "sweep 1" in caplog.text


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (np.ma.masked_array(np.eye(3), mask=np.eye(3) > 0), "mask"),
        (np.eye(3) * 1j, "complex"),
        (np.zeros((3, 3), dtype="datetime64[s]"), "dates"),
    ],
)
def test_invalid_init_is_refused(init: Array, message: str) -> None:
    X, _ = blobs(120, 3, 3)
    with pytest.raises(ValueError, match=message):
        BoostKMeans(3, init=init, engine="local").fit(parts(X))
