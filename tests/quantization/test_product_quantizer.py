"""`ProductQuantizer`: codebooks, codes, search, rotation, files."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostkmeans import (
    BisectingBoostKMeans,
    BoostKMeans,
    DataFormatError,
    ProductQuantizer,
    QuantizerRecord,
    baselines,
    load_model,
)
from boostkmeans.metrics import exact_neighbors, recall_at
from boostkmeans.quantization import _rotation
from processes import PATIENCE, spawn

Rows = NDArray[Any]


@pytest.fixture(scope="module", name="X")
def rows() -> NDArray[np.float32]:
    """Return correlated columns, for which a rotation lowers the error."""
    rng = np.random.default_rng(0)
    return (rng.normal(size=(3000, 6)) @ rng.normal(size=(6, 24)) + rng.normal(size=(3000, 24))).astype(
        np.float32
    )


@pytest.fixture(scope="module")
def quantizer(X: Rows) -> ProductQuantizer:
    return ProductQuantizer(4, 32, random_state=0).fit(X)


def error_of(X: Rows, decoded: Rows) -> float:
    return float(((X.astype(np.float64) - decoded) ** 2).sum(axis=1).mean())


def test_codebooks_equal_separate_clusterings_of_the_subspaces(X: Rows) -> None:
    clusterer = BoostKMeans(random_state=3, n_init=2)
    made = ProductQuantizer(4, 32, clusterer=clusterer).fit(X)
    for j, part in enumerate(np.split(X, 4, axis=1)):
        alone = BoostKMeans(32, random_state=3, n_init=2).fit(part)
        np.testing.assert_allclose(made.codebooks_[j], alone.cluster_centers_, rtol=1e-6, atol=1e-6)
        assert made.distortions_[j] == pytest.approx(alone.distortion_)
    assert made.distortion_ == pytest.approx(made.distortions_.sum())


def test_error_of_decoded_rows_equals_distortion(X: Rows, quantizer: ProductQuantizer) -> None:
    codes = quantizer.encode(X)
    assert codes.shape == (3000, 4)
    assert codes.dtype == np.uint8
    decoded = quantizer.decode(codes)
    assert error_of(X, decoded) == pytest.approx(quantizer.distortion_, rel=1e-5)
    assert -quantizer.score(X) == pytest.approx(quantizer.distortion_, rel=1e-5)
    np.testing.assert_array_equal(quantizer.encode(decoded), codes)
    np.testing.assert_array_equal(quantizer.transform(X), codes)
    np.testing.assert_array_equal(quantizer.inverse_transform(codes), decoded)


def test_best_quality_has_lower_distortion_than_lloyd(X: Rows) -> None:
    lloyd = ProductQuantizer(4, 32, clusterer=baselines.KMeans(), random_state=0).fit(X)
    best = ProductQuantizer(4, 32, clusterer=BoostKMeans(quality="best"), random_state=0).fit(X)
    assert best.distortion_ < lloyd.distortion_


@pytest.mark.slow
@pytest.mark.parametrize(
    "clusterer",
    [
        BoostKMeans(init="random-partition", n_candidates=None, repair=False, annealing=0),
        BoostKMeans(moves="first", init="random"),
        BisectingBoostKMeans(),
        BisectingBoostKMeans(refine=True),
        baselines.KMeans(),
        pytest.param(baselines.MiniBatchKMeans(), marks=pytest.mark.slow),
        baselines.BisectingKMeans(),
        baselines.OnlineKMeans(),
        baselines.RBK(),
        KMeans(n_init=1),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_accepts_any_clusterer(X: Rows, clusterer: Any) -> None:
    made = ProductQuantizer(3, 16, clusterer=clusterer, random_state=0).fit(X)
    decoded = made.decode(made.encode(X))
    one = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert error_of(X, decoded) < 0.8 * one
    again = ProductQuantizer(3, 16, clusterer=clone(clusterer), random_state=0).fit(X)
    np.testing.assert_array_equal(made.codebooks_, again.codebooks_)
    assert clusterer.get_params()["random_state"] is None, "the given clusterer must not be modified"


def test_centroids_of_cosine_clusterer_are_cluster_means() -> None:
    X = np.random.default_rng(0).normal(size=(400, 6)) + 5
    made = ProductQuantizer(2, 8, clusterer=baselines.RBK(), random_state=0).fit(X)
    model = baselines.RBK(8, random_state=_seeds(2)[0]).fit(np.ascontiguousarray(X[:, :3]))
    for c in range(8):
        members = X[:, :3][model.labels_ == c]
        np.testing.assert_allclose(made.codebooks_[0, c], members.mean(axis=0), rtol=1e-5)
    gaps = ((X[:, :3] - made.codebooks_[0][model.labels_]) ** 2).sum(axis=1)
    assert made.distortions_[0] == pytest.approx(gaps.mean(), rel=1e-5)


def _seeds(n: int) -> list[int]:
    return [int(seed) for seed in np.random.RandomState(0).randint(2**31 - 1, size=n)]


@pytest.mark.parametrize("rotation", [False, 3])
def test_result_does_not_depend_on_threads(X: Rows, rotation: bool | int) -> None:
    one, *others = [
        ProductQuantizer(4, 64, rotation=rotation, random_state=1, n_threads=n).fit(X)
        for n in (1, 2, 3, 8)
    ]
    for other in others:
        np.testing.assert_array_equal(one.codebooks_, other.codebooks_)
        np.testing.assert_array_equal(one.encode(X), other.encode(X))


def test_parallel_subspaces_share_the_threads(X: Rows) -> None:
    """At most `n_threads` clusterings run in parallel, each with an equal share of the threads."""
    seen: list[tuple[int, int | None]] = []
    lock, running = threading.Lock(), set()

    class Recording(BoostKMeans):
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            with lock:
                running.add(threading.get_ident())
                seen.append((len(running), self.n_threads))
            made = super().fit(X)
            with lock:
                running.discard(threading.get_ident())
            return made

    for n_threads, workers, each in ((1, 1, 1), (2, 2, 1), (7, 4, 1), (8, 4, 2)):
        seen.clear()
        ProductQuantizer(4, 16, clusterer=Recording(), n_threads=n_threads).fit(X)
        assert max(count for count, _ in seen) <= workers
        assert {threads for _, threads in seen} == {each}


@pytest.mark.parametrize(("n_centroids", "dtype"), [(256, np.uint8), (257, np.uint16), (2, np.uint8)])
def test_code_type_depends_on_number_of_centroids(n_centroids: int, dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32)
    made = ProductQuantizer(2, n_centroids, random_state=0).fit(X)
    codes = made.encode(X)
    assert codes.dtype == dtype
    assert codes.max() == n_centroids - 1
    assert made.search(X[:3], codes, k=2).indices.shape == (3, 2)


@pytest.mark.parametrize("rotation", [False, 2])
@pytest.mark.parametrize("symmetric", [False, True])
def test_search_agrees_with_distances_to_decoded_rows(
    X: Rows, rotation: bool | int, symmetric: bool
) -> None:
    made = ProductQuantizer(4, 32, rotation=rotation, random_state=0).fit(X)
    codes, queries = made.encode(X[:2000]), X[2000:2050]
    distances, indices = made.search(queries, codes, k=20, symmetric=symmetric)
    stored = made.decode(codes).astype(np.float64)
    asked = made.decode(made.encode(queries)) if symmetric else queries
    gaps = ((stored[None] - asked[:, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, np.sort(gaps, axis=1)[:, :20], rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(
        np.take_along_axis(gaps, indices, axis=1), distances, rtol=1e-4, atol=1e-3
    )


def test_asymmetric_search_has_higher_recall_than_symmetric(
    X: Rows, quantizer: ProductQuantizer
) -> None:
    queries = X[:200] + np.random.default_rng(1).normal(scale=0.3, size=(200, 24)).astype(np.float32)
    truth, codes = exact_neighbors(X, queries, 1).indices, quantizer.encode(X)
    asymmetric = recall_at(10, quantizer.search(queries, codes, 10).indices, truth)
    symmetric = recall_at(10, quantizer.search(queries, codes, 10, symmetric=True).indices, truth)
    assert asymmetric > symmetric > 0.3


def test_table_entries_sum_to_distances(X: Rows, quantizer: ProductQuantizer) -> None:
    codes, tables = quantizer.encode(X[:50]), quantizer.adc_table(X[50:53])
    assert tables.shape == (3, 4, 32)
    assert tables.dtype == np.float32
    sums = sum(tables[:, j][:, codes[:, j]] for j in range(4))
    gaps = ((quantizer.decode(codes)[None] - X[50:53, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(sums, gaps, rtol=1e-4)


def test_search_in_batches_of_queries_gives_same_result(
    X: Rows, quantizer: ProductQuantizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = quantizer.encode(X)
    whole = quantizer.search(X[:33], codes, 5)
    monkeypatch.setattr("boostkmeans.quantization._codes.TABLE_BYTES", 4 * 32 * 4 * 7)
    parts = quantizer.search(X[:33], codes, 5)
    np.testing.assert_array_equal(whole.indices, parts.indices)
    np.testing.assert_array_equal(whole.distances, parts.distances)


def test_rotation_lowers_distortion(X: Rows, quantizer: ProductQuantizer) -> None:
    made = ProductQuantizer(4, 32, rotation=10, random_state=0).fit(X)
    assert made.rotation_ is not None
    assert quantizer.rotation_ is None
    np.testing.assert_allclose(made.rotation_ @ made.rotation_.T, np.eye(24), atol=1e-10)
    assert made.distortion_ < 0.95 * quantizer.distortion_
    assert error_of(X, made.decode(made.encode(X))) == pytest.approx(made.distortion_, rel=1e-4)


def test_more_rounds_of_rotation_lower_distortion() -> None:
    rng = np.random.default_rng(0)
    X = 3 * rng.normal(size=(60, 16))[rng.integers(0, 60, 3000)] + rng.normal(size=(3000, 16))
    clusterer = BoostKMeans()
    errors = [
        ProductQuantizer(4, 32, rotation=n, clusterer=clusterer, random_state=0).fit(X).distortion_
        for n in (0, 1, 5, True)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.95 * errors[1]


def test_balanced_axes_have_similar_products_of_variances() -> None:
    rng = np.random.default_rng(0)
    deviations = np.array([100.0, 10, 9, 3, 1, 0.5, 0.1, 0.01])
    mixed = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    rows = rng.normal(size=(20_000, 8)) * deviations @ mixed
    axes = _rotation.balanced_axes(rows, 4)
    np.testing.assert_allclose(axes.T @ axes, np.eye(8), atol=1e-10)
    variances = (rows @ axes).var(axis=0).reshape(4, 2)
    products = variances.prod(axis=1)
    assert products.max() / products.min() < 100, "sorted by variance, they would differ by 1e10"
    assert sorted(np.sqrt(variances.ravel()).round(1).tolist(), reverse=True)[0] == pytest.approx(
        100, rel=0.05
    )


def test_rotation_learned_from_sample_lowers_distortion(
    X: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_rotation, "ROWS_PER_CENTROID", 20)
    made = ProductQuantizer(4, 32, rotation=5, random_state=0).fit(X)
    assert made.distortion_ < ProductQuantizer(4, 32, random_state=0).fit(X).distortion_


def test_result_does_not_depend_on_dtype(X: Rows) -> None:
    whole = np.clip(np.round(X * 4), -100, 100)
    made = ProductQuantizer(4, 32, random_state=0).fit(whole.astype(np.int8))
    for dtype in (np.float64, np.float32, np.float16, np.int64):
        other = ProductQuantizer(4, 32, random_state=0).fit(whole.astype(dtype))
        np.testing.assert_allclose(made.codebooks_, other.codebooks_, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(made.encode(whole.astype(dtype)), made.encode(whole))


def test_rows_of_file_give_same_codes_as_array(
    X: Rows, quantizer: ProductQuantizer, tmp_path: Path
) -> None:
    from boostkmeans._data import row_source
    from boostkmeans.io import open_vectors, write_vectors

    write_vectors(tmp_path / "x.fvecs", X)
    with open_vectors(tmp_path / "x.fvecs") as vectors:
        made = ProductQuantizer(4, 32, random_state=0).fit(vectors)
        np.testing.assert_array_equal(made.codebooks_, quantizer.codebooks_)
        codes = quantizer.encode(X)
        np.testing.assert_array_equal(quantizer.encode(vectors), codes)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_source, "BATCH_BYTES", 0)
            patch.setattr("boostkmeans.quantization._product_quantizer.BATCH_BYTES", 24 * 4 * 700)
            batches = list(quantizer.encode_batches(vectors))
            assert [len(batch) for batch in batches] == [700, 700, 700, 700, 200]
            np.testing.assert_array_equal(np.concatenate(batches), codes)
            assert quantizer.score(vectors) == pytest.approx(quantizer.score(X))


class TestErrors:
    def test_rejects_n_subspaces_that_does_not_divide_n_features(self, X: Rows) -> None:
        with pytest.raises(ValueError, match=r"divisor of .* \(24\)\. Got 7 .*\[1, 2, 3"):
            ProductQuantizer(7, 4).fit(X)

    def test_rejects_fewer_rows_than_centroids(self, X: Rows) -> None:
        with pytest.raises(ValueError, match="n_samples=255 should be >= n_centroids=256"):
            ProductQuantizer(4).fit(X[:255])

    @pytest.mark.parametrize("rotation", [False, 2])
    @pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
    def test_rejects_non_finite_values(self, X: Rows, rotation: Any, value: float, name: str) -> None:
        made = ProductQuantizer(4, 8, rotation=rotation, random_state=0).fit(X)
        bad = X.copy()
        bad[1234, 17] = value
        for call in (
            ProductQuantizer(4, 8, rotation=rotation).fit,
            made.encode,
            made.adc_table,
            lambda rows: made.search(rows, made.encode(X), 1),
        ):
            with pytest.raises(ValueError, match=rf"{name} \(first at row 1234, column 17\)"):
                call(bad)

    def test_rejects_other_number_of_features(self, X: Rows, quantizer: ProductQuantizer) -> None:
        with pytest.raises(ValueError, match="X has 20 features, but ProductQuantizer is expecting 24"):
            quantizer.encode(X[:, :20])

    @pytest.mark.parametrize(
        ("codes", "match"),
        [
            (np.zeros((5, 3), np.uint8), r"shape \(n, 4\)"),
            (np.zeros(4, np.uint8), r"shape \(n, 4\)"),
            (np.zeros((5, 4)), "integers"),
            (np.full((5, 4), 32), r"lie in \[0, 32\). Got 32 to 32"),
            (np.full((5, 4), -1), r"lie in \[0, 32\)"),
        ],
    )
    def test_rejects_codes_that_do_not_match_codebooks(
        self, quantizer: ProductQuantizer, X: Rows, codes: Rows, match: str
    ) -> None:
        with pytest.raises(ValueError, match=match):
            quantizer.decode(codes)
        with pytest.raises(ValueError, match=match):
            quantizer.search(X[:1], codes, k=1)

    def test_rejects_invalid_k(self, quantizer: ProductQuantizer, X: Rows) -> None:
        with pytest.raises(ValueError, match=r"'k' parameter .* at most .* codes \(5\)\. Got 6"):
            quantizer.search(X[:1], quantizer.encode(X[:5]), k=6)
        with pytest.raises(ValueError, match="'k' parameter"):
            quantizer.search(X[:1], quantizer.encode(X[:5]), k=0)

    @pytest.mark.parametrize(
        ("parameters", "match"),
        [
            ({"n_subspaces": 0}, "n_subspaces"),
            ({"n_centroids": 65_537}, r"\[1, 65536\]"),
            ({"n_centroids": 2.5}, "n_centroids"),
            ({"rotation": -1}, "rotation"),
            ({"rotation": "yes"}, "rotation"),
            ({"clusterer": BoostKMeans}, "clusterer"),
            ({"clusterer": StandardScaler()}, "clusterer"),
            ({"clusterer": "fast"}, "clusterer"),
            ({"clusterer": BoostKMeans(checkpoint="x")}, "without a checkpoint"),
            ({"callback": 3}, "callback"),
            ({"n_threads": 0}, "n_threads"),
            ({"verbose": -1}, "verbose"),
        ],
    )
    def test_rejects_invalid_parameters(self, X: Rows, parameters: dict[str, Any], match: str) -> None:
        with pytest.raises(ValueError, match=match):
            ProductQuantizer(**{"n_centroids": 8, **parameters}).fit(X)

    def test_rejects_string_for_symmetric(self, quantizer: ProductQuantizer, X: Rows) -> None:
        word: Any = "no"
        with pytest.raises(ValueError, match="'symmetric' parameter"):
            quantizer.search(X[:1], quantizer.encode(X[:5]), 1, symmetric=word)

    def test_rejects_clusterer_without_centres(self, X: Rows) -> None:
        with pytest.raises(ValueError, match=r"Agglomerative.* no attribute cluster_centers_"):
            ProductQuantizer(4, 8, clusterer=AgglomerativeClustering()).fit(X[:100])

    def test_rejects_centroids_beyond_float32(self, X: Rows) -> None:
        with pytest.raises(ValueError, match="exceeds the range of float32"):
            ProductQuantizer(4, 8, random_state=0).fit(X.astype(np.float64) * 1e39)

    @pytest.mark.parametrize(
        "wrong", [np.zeros((300, 15)), np.full((300, 24), np.nan), np.zeros((5, 8))]
    )
    def test_failed_fit_keeps_fitted_state(self, X: Rows, wrong: Rows) -> None:
        made = ProductQuantizer(4, 8, random_state=0).fit(X)
        codes = made.encode(X)
        with pytest.raises(ValueError, match=r"divisor|NaN|n_samples"):
            made.fit(wrong)
        assert made.n_features_in_ == 24
        np.testing.assert_array_equal(made.encode(X), codes)

    def test_rejects_clusterer_with_fewer_centres(self, X: Rows) -> None:
        class Short(KMeans):
            def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
                made = super().fit(X)
                made.cluster_centers_ = made.cluster_centers_[:3]
                return made

        with pytest.raises(ValueError, match="Short found 3 centres in a subspace, but n_centroids=8"):
            ProductQuantizer(4, 8, clusterer=Short(n_init=1)).fit(X)

    def test_error_in_one_subspace_ends_training(self, X: Rows) -> None:
        class Failing(BoostKMeans):
            def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
                raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            ProductQuantizer(4, 8, clusterer=Failing(), n_threads=3).fit(X)


def test_warns_about_fewer_distinct_rows_than_centroids() -> None:
    """Constant columns, such as the borders of images, have fewer distinct rows than centroids."""
    X = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    X[:, :2] = 0
    with pytest.warns(Warning, match="distinct clusters"):
        made = ProductQuantizer(2, 16, random_state=0).fit(X)
    assert made.distortions_[0] == 0
    np.testing.assert_array_equal(made.decode(made.encode(X))[:, :2], 0)


def test_callback_is_called_after_every_step(X: Rows) -> None:
    records: list[QuantizerRecord] = []
    ProductQuantizer(4, 8, rotation=3, callback=records.append, random_state=0).fit(X)
    rounds = [record for record in records if record.kind == "rotation"]
    ready = [record for record in records if record.kind == "subspace"]
    assert [(r.done, r.total) for r in rounds] == [(1, 3), (2, 3), (3, 3)]
    assert [(r.done, r.total) for r in ready] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert all(record.distortion > 0 for record in ready)


def test_distortion_includes_rounding_of_centroids_far_from_zero() -> None:
    X = 1e6 + np.random.default_rng(0).normal(size=(600, 4))
    made = ProductQuantizer(2, 16, random_state=0).fit(X)
    assert made.distortion_ == pytest.approx(-made.score(X), rel=1e-3)


def test_numpy_true_means_default_number_of_rounds() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    records: list[QuantizerRecord] = []
    truth: Any = np.True_
    ProductQuantizer(2, 4, rotation=truth, callback=records.append, random_state=0).fit(X)
    assert records[0].total == 20


def test_verbose_clusterers_restore_the_logger(X: Rows) -> None:
    logger = logging.getLogger("boostkmeans")
    before = logger.level, list(logger.handlers)
    for _ in range(3):
        ProductQuantizer(8, 8, n_threads=8, clusterer=BoostKMeans(verbose=1), random_state=0).fit(
            X[:300]
        )
    assert (logger.level, list(logger.handlers)) == before


def test_verbose_logs_every_step(X: Rows, caplog: pytest.LogCaptureFixture) -> None:
    ProductQuantizer(4, 8, rotation=1, verbose=1, random_state=0).fit(X)
    assert "rotation: round 1 of 1" in caplog.text
    assert "subspace 4 of 4: distortion" in caplog.text


def test_works_in_pipeline(X: Rows) -> None:
    pipeline = make_pipeline(StandardScaler(), ProductQuantizer(4, 16, random_state=0))
    codes = pipeline.fit_transform(X)
    assert codes.shape == (3000, 4)
    assert pipeline.get_feature_names_out().tolist() == [f"productquantizer{i}" for i in range(4)]
    assert error_of(X, pipeline.inverse_transform(codes)) < 0.5 * X.var(axis=0).sum()


class TestFiles:
    @pytest.mark.parametrize("rotation", [False, 2])
    def test_loaded_quantizer_equals_saved_one(self, X: Rows, rotation: Any, tmp_path: Path) -> None:
        made = ProductQuantizer(4, 32, rotation=rotation, random_state=0, n_threads=1).fit(X)
        made.save(tmp_path / "q.safetensors")
        for loaded in (
            ProductQuantizer.load(tmp_path / "q.safetensors"),
            load_model(tmp_path / "q.safetensors"),
        ):
            assert loaded.get_params() == made.get_params()
            np.testing.assert_array_equal(loaded.codebooks_, made.codebooks_)
            np.testing.assert_array_equal(loaded.encode(X), made.encode(X))
            codes = made.encode(X)
            np.testing.assert_array_equal(loaded.decode(codes), made.decode(codes))
            assert loaded.distortion_ == made.distortion_
            assert loaded.n_features_in_ == 24

    def test_feature_names_are_stored(self, X: Rows, tmp_path: Path) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=[f"c{i}" for i in range(24)])
        ProductQuantizer(4, 8, random_state=0).fit(frame).save(tmp_path / "q")
        assert ProductQuantizer.load(tmp_path / "q").feature_names_in_[3] == "c3"

    def test_clusterer_and_callback_are_not_stored(self, X: Rows, tmp_path: Path) -> None:
        made = ProductQuantizer(4, 8, clusterer=BisectingBoostKMeans(), callback=print, random_state=0)
        made.fit(X).save(tmp_path / "q")
        loaded = ProductQuantizer.load(tmp_path / "q")
        assert loaded.clusterer is None
        assert loaded.callback is None

    def test_load_rejects_files_of_other_classes(
        self, X: Rows, quantizer: ProductQuantizer, tmp_path: Path
    ) -> None:
        BoostKMeans(4, random_state=0).fit(X).save(tmp_path / "m")
        with pytest.raises(DataFormatError, match="boostkmeans-product-quantizer"):
            ProductQuantizer.load(tmp_path / "m")
        quantizer.save(tmp_path / "q")
        with pytest.raises(ValueError, match="Expected the format 'boostkmeans-model'"):
            BoostKMeans.load(tmp_path / "q")

    def test_save_rejects_parameters_changed_after_fit(self, X: Rows, tmp_path: Path) -> None:
        made = ProductQuantizer(4, 32, random_state=0).fit(X).set_params(n_centroids=8)
        with pytest.raises(ValueError, match="codebooks have 4 subspaces of 32"):
            made.save(tmp_path / "q")
        assert not (tmp_path / "q").exists()

    def test_save_rejects_unfitted_quantizer(self, tmp_path: Path) -> None:
        with pytest.raises(Exception, match="not fitted"):
            ProductQuantizer().save(tmp_path / "q")

    def test_load_rejects_damaged_file(self, quantizer: ProductQuantizer, tmp_path: Path) -> None:
        path = tmp_path / "q"
        quantizer.save(path)
        whole = path.read_bytes()
        for at in (9, 200, len(whole) - 1):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(DataFormatError):
                ProductQuantizer.load(path)
        for length in range(0, len(whole), 997):
            path.write_bytes(whole[:length])
            with pytest.raises(DataFormatError):
                ProductQuantizer.load(path)

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (lambda t: t.pop("codebooks"), "Missing tensors"),
            (lambda t: t.update(x=np.zeros(1)), "Unexpected tensors"),
            (lambda t: t.update(codebooks=t["codebooks"][:2]), "distortions|codebooks"),
            (lambda t: t.update(codebooks=t["codebooks"][:, :5]), "codebooks"),
            (lambda t: t["codebooks"].fill(np.nan), "NaN"),
            (lambda t: t["distortions"].fill(-1), "below"),
            (lambda t: t.update(rotation=np.eye(3)), "rotation has 3 features"),
            (lambda t: t.update(rotation=2 * np.eye(24)), "not orthogonal"),
        ],
    )
    def test_load_rejects_invalid_tensors(
        self, quantizer: ProductQuantizer, tmp_path: Path, change: Any, match: str
    ) -> None:
        from boostkmeans._storage.tensors import read_tensors, write_tensors

        path = tmp_path / "q"
        quantizer.save(path)
        _, header, tensors = read_tensors(path, "boostkmeans-product-quantizer", 1)
        change(tensors)
        write_tensors(path, "boostkmeans-product-quantizer", 1, header, tensors)
        with pytest.raises(DataFormatError, match=match):
            ProductQuantizer.load(path)


STORED = Path(__file__).parents[1] / "stored" / "quantizers"


@pytest.mark.parametrize("path", sorted(STORED.glob("*.safetensors")), ids=lambda path: path.stem)
def test_reads_files_of_older_versions(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    made = ProductQuantizer.load(path)
    codes = made.encode(expected["rows"])
    assert repr(made) == expected["parameters"]
    assert codes.tolist() == expected["codes"]
    decoded = [[float.fromhex(value) for value in row] for row in expected["decoded"]]
    np.testing.assert_allclose(made.decode(codes), decoded, rtol=1e-6, atol=1e-6)
    assert made.distortion_.hex() == expected["distortion"]


def test_files_of_older_versions_exist() -> None:
    assert len(list(STORED.glob("0.6.0-*.safetensors"))) == 2


SLOW = {
    "sweeps": "ProductQuantizer(8, clusterer=BoostKMeans(quality='best', tol=0), n_threads=2)",
    "a tree": "ProductQuantizer(2, 4096, clusterer=BisectingBoostKMeans(n_init=8), n_threads=2)",
    "a rotation": "ProductQuantizer(2, 2048, rotation=1000, n_threads=2)",
    "one thread": "ProductQuantizer(8, clusterer=BoostKMeans(quality='best', tol=0), n_threads=1)",
}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("name", SLOW)
def test_ctrl_c_stops_training(name: str) -> None:
    """Training would take minutes. It stops at once, and the quantizer stays unfitted."""
    script = f"""
import numpy as np
from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer
X = np.random.default_rng(0).normal(size=(200_000, 64)).astype(np.float32)
made = {SLOW[name]}
try:
    print("ready", flush=True)
    made.fit(X)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert not hasattr(made, "codebooks_") and not hasattr(made, "n_features_in_")
"""
    process = spawn([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)  # Usually, training has begun by then. Otherwise the test is easier to pass.
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "interrupted\n")
