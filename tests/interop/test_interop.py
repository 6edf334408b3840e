"""Indexes of faiss, compared with exact search, `ProductQuantizer.search` and NumPy."""

import gc
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer, interop, metrics
from boostkmeans._data import row_source
from boostkmeans.baselines import KMeans
from boostkmeans.interop import _float_rows
from boostkmeans.io import open_vectors
from conftest import run_python

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing SWIG types warns in some versions of Python
    faiss = pytest.importorskip("faiss")

faiss.omp_set_num_threads(1)  # for small indexes, several threads are slower than one
N, D, K, M = 3000, 16, 20, 4
FloatRows = NDArray[np.float32]


def sample_rows(n: int = N, seed: int = 0) -> FloatRows:
    """Return clustered rows with correlated features, for which a rotation lowers the error."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(99).normal(size=(D, D))
    places = np.random.default_rng(98).normal(size=(12, D)) * 2
    rows = rng.normal(size=(n, D)) + places[rng.integers(12, size=n)]
    return np.asarray((rows * np.linspace(0.2, 2, D)) @ mixing, dtype=np.float32)


X, QUERIES = sample_rows(), sample_rows(50, seed=1)


@pytest.fixture(scope="module")
def model() -> BoostKMeans:
    return BoostKMeans(K, quality="fast", random_state=0).fit(X)


@pytest.fixture(scope="module")
def cosine_model() -> BoostKMeans:
    return BoostKMeans(K, metric="cosine", quality="fast", random_state=0).fit(X)


def trained(rows: Any, *, rotation: int = 0, n_centroids: int = 32) -> ProductQuantizer:
    clusterer = BisectingBoostKMeans()  # the fastest
    quantizer = ProductQuantizer(M, n_centroids, clusterer=clusterer, rotation=rotation, random_state=0)
    return quantizer.fit(rows)


@pytest.fixture(scope="module", params=[0, 3], ids=["plain", "rotated"])
def quantizer(request: pytest.FixtureRequest) -> ProductQuantizer:
    return trained(X, rotation=request.param)


@pytest.fixture(scope="module", params=[0, 3], ids=["plain", "rotated"])
def of_residuals(request: pytest.FixtureRequest, model: BoostKMeans) -> ProductQuantizer:
    return trained(interop.residuals(model, X), rotation=request.param)


def all_lists(index: Any) -> Any:
    ivf = faiss.extract_index_ivf(index)
    ivf.nprobe = ivf.nlist
    return index


def assert_same_search(index: Any, distances: NDArray[Any], indices: NDArray[Any]) -> None:
    """Check that the index finds these rows, except for ties within the rounding of float32."""
    found, numbers = index.search(QUERIES, distances.shape[1])
    largest = float(np.abs(distances).max())
    np.testing.assert_allclose(found, distances, rtol=1e-4, atol=1e-5 * largest)
    assert (numbers == indices).mean() > 0.97
    shared = [len(set(a) & set(b)) for a, b in zip(numbers.tolist(), indices.tolist(), strict=True)]
    assert np.mean(shared) > 0.98 * distances.shape[1]


def unit(rows: FloatRows) -> FloatRows:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def nearest_of(distances: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, axis=1), order


def squared(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    gaps = a.astype(np.float64)[:, None] - b.astype(np.float64)[None]
    return np.asarray(np.einsum("ijk,ijk->ij", gaps, gaps))


# ---- lists of whole rows


def test_ivf_flat_over_all_lists_finds_exact_neighbours(model: BoostKMeans) -> None:
    index = interop.to_faiss_ivf_flat(model, X)
    assert isinstance(index, faiss.IndexIVFFlat)
    assert index.is_trained
    assert (index.ntotal, index.nlist, index.d, index.metric_type) == (N, K, D, faiss.METRIC_L2)
    assert_same_search(all_lists(index), *metrics.exact_neighbors(X, QUERIES, k=10))


def test_lists_equal_clusters(model: BoostKMeans) -> None:
    index = interop.to_faiss_ivf_flat(model, X)
    labels = model.predict(X)
    for number in range(K):
        size = index.invlists.list_size(number)
        ids = faiss.rev_swig_ptr(index.invlists.get_ids(number), size)
        assert (labels[ids] == number).mean() > 0.99


def test_rows_can_be_added_later(model: BoostKMeans) -> None:
    index = interop.to_faiss_ivf_flat(model)
    assert index.ntotal == 0
    index.add(X)
    assert_same_search(all_lists(index), *metrics.exact_neighbors(X, QUERIES, k=5))


@pytest.mark.parametrize(
    "coarse",
    [
        BisectingBoostKMeans(7, random_state=0).fit(X),
        KMeans(7, random_state=0).fit(X),
        X[:7].astype(np.float64),
        X[:7].tolist(),
        np.asfortranarray(X[:7]),
    ],
    ids=["tree", "baseline", "array", "list", "columns"],
)
def test_accepts_any_coarse_quantizer(coarse: Any) -> None:
    index = interop.to_faiss_ivf_flat(coarse, X)
    centres = np.asarray(getattr(coarse, "cluster_centers_", coarse), dtype=np.float32)
    np.testing.assert_array_equal(interop.centres_from_faiss(index), centres)
    _, labels = index.quantizer.search(X, 1)
    assert (labels[:, 0] == squared(X, centres).argmin(axis=1)).mean() > 0.99
    assert_same_search(all_lists(index), *metrics.exact_neighbors(X, QUERIES, k=5))


def test_cosine_index_scales_rows_and_queries(cosine_model: BoostKMeans) -> None:
    lengths = np.random.default_rng(0).uniform(0.1, 10, size=(N, 1)).astype(np.float32)
    index = interop.to_faiss_ivf_flat(cosine_model, X * lengths)
    assert_same_search(all_lists(index), *metrics.exact_neighbors(unit(X), unit(QUERIES), k=10))
    distances, numbers = index.search(QUERIES, 3)
    cosines = np.einsum("ij,ikj->ik", unit(QUERIES), unit(X)[numbers])
    np.testing.assert_allclose(distances, 2 - 2 * cosines, atol=1e-5)
    # With nprobe=1, only the list of the nearest centre, as in predict, is searched.
    ivf = faiss.extract_index_ivf(index)
    ivf.nprobe = 1
    _, numbers = index.search(QUERIES, 1)
    labels = cosine_model.predict(X)
    assert (labels[numbers[:, 0]] == cosine_model.predict(QUERIES)).mean() > 0.95


def test_uses_metric_of_the_fit(model: BoostKMeans) -> None:
    changed = BoostKMeans(3, random_state=0).fit(X).set_params(metric="cosine")
    assert isinstance(interop.to_faiss_ivf_flat(changed), faiss.IndexIVFFlat)


# ---- product quantizers


def test_pq_index_agrees_with_search(quantizer: ProductQuantizer) -> None:
    index = interop.to_faiss_pq(quantizer, X)
    assert isinstance(index, faiss.IndexPQ) == (quantizer.rotation_ is None)
    assert index.is_trained
    assert index.ntotal == N
    assert_same_search(index, *quantizer.search(QUERIES, quantizer.encode(X), k=10))


def test_given_codes_are_added_unchanged(quantizer: ProductQuantizer) -> None:
    codes = np.random.default_rng(0).integers(32, size=(500, M)).astype(np.uint8)
    index = interop.to_faiss_pq(quantizer, codes=codes)
    assert index.ntotal == 500
    np.testing.assert_array_equal(interop.codes_from_faiss(index), codes)
    rows = index.reconstruct_n(0, 500)
    np.testing.assert_allclose(rows, quantizer.decode(codes), atol=1e-4)
    assert_same_search(index, *quantizer.search(QUERIES, codes, k=5))


def test_faiss_stores_the_same_bytes_as_encode() -> None:
    quantizer = trained(X, n_centroids=256)
    index = interop.to_faiss_pq(quantizer, X)
    ours, theirs = quantizer.encode(X), faiss.vector_to_array(index.codes).reshape(N, M)
    np.testing.assert_array_equal(index.sa_encode(X), theirs)
    assert theirs.dtype == ours.dtype == np.uint8
    for row, subspace in np.argwhere(ours != theirs):  # ties within the rounding of float32
        part = X[row : row + 1, 4 * subspace : 4 * subspace + 4]
        a, b = squared(
            part, quantizer.codebooks_[subspace][[ours[row, subspace], theirs[row, subspace]]]
        )[0]
        assert a == pytest.approx(b, rel=1e-4)
    assert (ours != theirs).mean() < 1e-3
    by_codes = interop.to_faiss_pq(quantizer, codes=ours)
    np.testing.assert_array_equal(faiss.vector_to_array(by_codes.codes), ours.ravel())


@pytest.mark.parametrize("n_bits", [1, 4, 6, 8, 10, 12, 16])
def test_supports_any_number_of_bits(n_bits: int) -> None:
    quantizer = untrained(n_bits)
    rows = sample_rows(200, seed=5)
    codes = quantizer.encode(rows)
    index = interop.to_faiss_pq(quantizer, rows)
    assert index.pq.nbits == n_bits
    found = interop.codes_from_faiss(index)
    assert (found.dtype, found.shape) == (codes.dtype, codes.shape)
    assert (found == codes).mean() > 0.99
    by_codes = interop.to_faiss_pq(quantizer, codes=codes)
    np.testing.assert_array_equal(interop.codes_from_faiss(by_codes), codes)
    assert_same_distances(by_codes, quantizer.search(QUERIES, codes, k=5).distances)


def assert_same_distances(index: Any, distances: NDArray[Any]) -> None:
    """Compare only distances, because rows with equal codes are interchangeable."""
    found, _ = index.search(QUERIES, distances.shape[1])
    np.testing.assert_allclose(found, distances, rtol=1e-4, atol=1e-5 * float(distances.max()))


def untrained(n_bits: int) -> ProductQuantizer:
    """Return a quantizer with random codebooks, to save the time of training."""
    quantizer = trained(X, n_centroids=2)
    rng = np.random.default_rng(n_bits)
    quantizer.n_centroids = 2**n_bits
    quantizer.codebooks_ = (4 * rng.normal(size=(M, 2**n_bits, D // M))).astype(np.float32)
    return quantizer


# ---- lists of codes


def test_residuals_are_rows_minus_nearest_centres(model: BoostKMeans, cosine_model: BoostKMeans) -> None:
    found = interop.residuals(model, X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, X - model.cluster_centers_[model.predict(X)], atol=1e-5)
    np.testing.assert_array_equal(found, interop.residuals(model.cluster_centers_, X))
    expected = unit(X) - cosine_model.cluster_centers_[cosine_model.predict(X)]
    np.testing.assert_allclose(interop.residuals(cosine_model, X), expected, atol=1e-6)


def test_residuals_equal_those_of_faiss(model: BoostKMeans) -> None:
    index = interop.to_faiss_ivf_flat(model)
    _, labels = index.quantizer.search(X, 1)
    theirs = np.empty_like(X)
    keys = np.ascontiguousarray(labels[:, 0])
    index.quantizer.compute_residual_n(N, *map(faiss.swig_ptr, (X, theirs, keys)))
    found = interop.residuals(model, X)
    assert (np.abs(theirs - found).max(axis=1) < 1e-5).mean() > 0.999


def test_ivf_pq_of_residuals_agrees_with_decoded_rows(
    model: BoostKMeans, of_residuals: ProductQuantizer
) -> None:
    index = all_lists(interop.to_faiss_ivf_pq(model, of_residuals, X))
    assert index.is_trained
    assert index.ntotal == N
    assert faiss.extract_index_ivf(index).by_residual
    decoded = of_residuals.decode(of_residuals.encode(interop.residuals(model, X)))
    kept = model.cluster_centers_[model.predict(X)] + decoded
    assert_same_search(index, *nearest_of(squared(QUERIES, kept), 10))
    # A wrong rotation or wrong centres would lower the recall.
    truth = metrics.exact_neighbors(X, QUERIES, k=1).indices
    assert metrics.recall_at(10, index.search(QUERIES, 10)[1], truth) > 0.8


def test_ivf_pq_without_residuals_agrees_with_search(
    model: BoostKMeans, quantizer: ProductQuantizer
) -> None:
    index = all_lists(interop.to_faiss_ivf_pq(model, quantizer, X, by_residual=False))
    assert not faiss.extract_index_ivf(index).by_residual
    assert_same_search(index, *quantizer.search(QUERIES, quantizer.encode(X), k=10))


@pytest.mark.parametrize("rotation", [0, 3])
def test_ivf_pq_with_cosine_agrees_with_decoded_rows(cosine_model: BoostKMeans, rotation: int) -> None:
    quantizer = trained(interop.residuals(cosine_model, X), rotation=rotation)
    index = all_lists(interop.to_faiss_ivf_pq(cosine_model, quantizer, 3 * X))
    decoded = quantizer.decode(quantizer.encode(interop.residuals(cosine_model, X)))
    kept = cosine_model.cluster_centers_[cosine_model.predict(X)] + decoded
    assert_same_search(index, *nearest_of(squared(unit(QUERIES), kept), 10))
    np.testing.assert_allclose(
        interop.centres_from_faiss(index), cosine_model.cluster_centers_, atol=1e-6
    )


def test_recall_with_few_lists_on_sift(sift: NDArray[np.uint8]) -> None:
    base, queries = sift[:6000], sift[9900:]
    model = BisectingBoostKMeans(32, random_state=0).fit(base)
    quantizer = ProductQuantizer(16, 64, clusterer=BisectingBoostKMeans(), random_state=0)
    quantizer.fit(interop.residuals(model, base))
    index = interop.to_faiss_ivf_pq(model, quantizer, base)
    index.nprobe = 8
    _, found = index.search(queries.astype(np.float32), 10)
    truth = metrics.exact_neighbors(base, queries, k=1).indices
    assert metrics.recall_at(10, found, truth) > 0.85


# ---- rows of any kind


def rows_of_all_types(folder: Path) -> dict[str, tuple[Any, NDArray[Any]]]:
    small = np.random.default_rng(0).integers(0, 100, size=(700, D)).astype(np.uint8)
    with_zeros = small * (small > 70)
    np.save(folder / "rows.npy", small)
    np.save(folder / "halves.npy", X.astype(np.float16))
    return {
        "uint8": (small, small),
        "int8": (small.astype(np.int8), small),
        "int64": (small.astype(np.int64), small),
        "bool": (small > 50, small > 50),
        "list": (small.tolist(), small),
        "float64": (X.astype(np.float64), X),
        "float16": (X.astype(np.float16), X.astype(np.float16)),
        "columns": (np.asfortranarray(X), X),
        "sparse": (sparse.csr_array(with_zeros.astype(np.float64)), with_zeros),
        "csc": (sparse.csc_matrix(with_zeros.astype(np.float32)), with_zeros),
        "source": (open_vectors(folder / "rows.npy"), small),
        "source of float16": (open_vectors(folder / "halves.npy"), X.astype(np.float16)),
    }


def test_adds_rows_of_any_type_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_float_rows, "BATCH_VALUES", 100 * D)
    monkeypatch.setattr(row_source, "BATCH_BYTES", 250 * D)
    centres = X[:3]
    for name, (given, expected) in rows_of_all_types(tmp_path).items():
        index = interop.to_faiss_ivf_flat(centres, given)
        index.make_direct_map()
        kept = index.reconstruct_n(0, index.ntotal)
        np.testing.assert_array_equal(kept, expected.astype(np.float32), err_msg=name)
        left = interop.residuals(centres, given)
        nearest = squared(expected, centres).argmin(axis=1)
        np.testing.assert_allclose(left, expected - centres[nearest], atol=1e-4, err_msg=name)


def test_open_file_is_not_loaded(
    tmp_path: Path, quantizer: ProductQuantizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "rows.npy", X)
    with open_vectors(tmp_path / "rows.npy") as source:
        monkeypatch.setattr(type(source), "load", lambda _: pytest.fail("all rows were loaded"))
        index = interop.to_faiss_pq(quantizer, source)
        np.testing.assert_array_equal(interop.residuals(X[:5], source), interop.residuals(X[:5], X))
    assert_same_search(index, *quantizer.search(QUERIES, quantizer.encode(X), k=5))


# ---- there and back


def test_centres_round_trip(model: BoostKMeans, of_residuals: ProductQuantizer) -> None:
    for index in (
        interop.to_faiss_ivf_flat(model),
        interop.to_faiss_ivf_pq(model, of_residuals),
        faiss.IndexIDMap2(interop.to_faiss_ivf_flat(model)),
    ):
        centres = interop.centres_from_faiss(index)
        assert centres.dtype == np.float64
        np.testing.assert_allclose(centres, model.cluster_centers_, rtol=1e-4, atol=1e-4)
    again = BoostKMeans(K, init=centres, random_state=0).fit(X)
    assert again.inertia_ <= model.inertia_ * (1 + 1e-6)


def test_quantizer_round_trip(model: BoostKMeans, quantizer: ProductQuantizer, tmp_path: Path) -> None:
    for index in (
        interop.to_faiss_pq(quantizer, X),
        interop.to_faiss_ivf_pq(model, quantizer, by_residual=False),
    ):
        same = interop.quantizer_from_faiss(index)
        np.testing.assert_array_equal(same.codebooks_, quantizer.codebooks_)
        assert same.get_params()["n_centroids"] == 32
        assert same.n_features_in_ == D
        assert np.isnan(same.distortion_)
        assert (same.encode(X) == quantizer.encode(X)).mean() > 0.999
        if quantizer.rotation_ is None:
            assert same.rotation_ is None
        else:
            assert same.rotation_ is not None
            np.testing.assert_allclose(same.rotation_, quantizer.rotation_, atol=1e-6)
            np.testing.assert_allclose(same.rotation_ @ same.rotation_.T, np.eye(D), atol=1e-12)
        same.save(tmp_path / "quantizer.safetensors")
        loaded = ProductQuantizer.load(tmp_path / "quantizer.safetensors")
        np.testing.assert_array_equal(loaded.encode(X), same.encode(X))
        assert np.isnan(loaded.distortions_).all()
    np.testing.assert_array_equal(
        interop.codes_from_faiss(interop.to_faiss_pq(quantizer)), np.empty((0, M), dtype=np.uint8)
    )


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["PQ4x5", "OPQ4,PQ4x5", "RR16,PQ4x5", "L2norm,OPQ4,PQ4x5np"])
def test_imports_quantizer_trained_by_faiss(recipe: str) -> None:
    index = by_faiss(recipe)
    rows = unit(X) if recipe.startswith("L2") else X
    queries = unit(QUERIES) if recipe.startswith("L2") else QUERIES
    index.add(X)
    quantizer = interop.quantizer_from_faiss(index)
    assert (quantizer.rotation_ is None) == (recipe == "PQ4x5")
    assert (quantizer.encode(rows) == interop.codes_from_faiss(index)).mean() > 0.995
    codes = interop.codes_from_faiss(index)
    assert_same_search(index, *quantizer.search(queries, codes, k=5))


@pytest.mark.parametrize(
    "recipe", ["IMI2x2,Flat", "IVF10,Flat", "OPQ4,IVF10,PQ4x4", "IVF10_HNSW8,PQ4x4fs", "IVF10,SQ8"]
)
def test_imports_centres_trained_by_faiss(recipe: str) -> None:
    index = by_faiss(recipe)
    centres = interop.centres_from_faiss(index)
    n_lists = faiss.extract_index_ivf(index).nlist
    assert centres.shape == (n_lists, D)
    if recipe.startswith("IMI"):
        np.testing.assert_allclose(centres[1, D // 2 :], centres[0, D // 2 :])
        return  # centres are combinations of the centres of two halves, not cluster means
    # Centres are close to the means of their clusters in the space of the rows: rotations are undone.
    labels = squared(X, centres).argmin(axis=1)
    means = np.stack([X[labels == number].mean(axis=0) for number in range(n_lists)])
    assert np.linalg.norm(means - centres) < 0.2 * np.linalg.norm(centres)
    if "PQ" in recipe:
        assert interop.quantizer_from_faiss(index).codebooks_.shape == (4, 16, 4)


def test_index_survives_writing_and_reading(
    model: BoostKMeans, cosine_model: BoostKMeans, of_residuals: ProductQuantizer, tmp_path: Path
) -> None:
    for coarse in (model, cosine_model):
        index = all_lists(interop.to_faiss_ivf_pq(coarse, of_residuals, X))
        faiss.write_index(index, str(tmp_path / "index"))
        same = all_lists(faiss.read_index(str(tmp_path / "index")))
        np.testing.assert_array_equal(same.search(QUERIES, 5)[1], index.search(QUERIES, 5)[1])
        np.testing.assert_array_equal(
            interop.centres_from_faiss(same), interop.centres_from_faiss(index)
        )


# ---- lifetimes


def test_index_owns_its_parts(cosine_model: BoostKMeans) -> None:
    rotated = trained(interop.residuals(cosine_model, X), rotation=1)
    index = interop.to_faiss_ivf_pq(cosine_model, rotated, X)
    expected = index.search(QUERIES, 5)[1]
    # Drop the Python references to the parts, and overwrite memory that may have been freed.
    index.__dict__.pop("referenced_objects", None)
    gc.collect()
    junk = [interop.to_faiss_ivf_pq(cosine_model, rotated, X[:100]) for _ in range(20)]
    np.testing.assert_array_equal(index.search(QUERIES, 5)[1], expected)
    del junk
    assert index.own_fields
    ivf = faiss.extract_index_ivf(index)
    assert ivf.own_fields
    assert not ivf.quantizer.this.own()
    # The temporary indexes are freed before the extracted arrays are used.
    centres = interop.centres_from_faiss(interop.to_faiss_ivf_flat(cosine_model))
    same = interop.quantizer_from_faiss(interop.to_faiss_pq(rotated))
    codes = interop.codes_from_faiss(interop.to_faiss_pq(rotated, X))
    gc.collect()
    np.testing.assert_allclose(centres, cosine_model.cluster_centers_, atol=1e-6)
    np.testing.assert_array_equal(same.codebooks_, rotated.codebooks_)
    assert (codes == rotated.encode(X)).mean() > 0.995


@pytest.mark.process
@pytest.mark.slow
def test_indexes_are_freed_once() -> None:
    result = run_python("""
import gc, sys, warnings
import numpy as np
from boostkmeans import ProductQuantizer, interop
assert "faiss" not in sys.modules, "faiss must be imported on demand"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import faiss
rows = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
quantizer = ProductQuantizer(2, 4, rotation=1, random_state=0).fit(rows)
for _ in range(10):
    index = interop.to_faiss_ivf_pq(rows[:9], quantizer, rows)
    inner = faiss.extract_index_ivf(index)
    del inner
    gc.collect()
    index.search(rows[:3], 2)
    del index
    interop.to_faiss_ivf_flat(rows[:9], rows).search(rows[:3], 2)
    gc.collect()
print("done")
""")
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


def test_extracted_codebooks_are_copies(quantizer: ProductQuantizer) -> None:
    index = interop.to_faiss_pq(quantizer)
    same = interop.quantizer_from_faiss(index)
    same.codebooks_[:] = 0
    np.testing.assert_array_equal(interop.quantizer_from_faiss(index).codebooks_, quantizer.codebooks_)


# ---- errors


X64 = X.astype(np.float64)
PLAIN = trained(X, n_centroids=4)
NARROW = ProductQuantizer(2, 4, random_state=0).fit(X[:, :8])
ODD = trained(X, n_centroids=5)
WITH_NAN = np.where(np.arange(N * D).reshape(N, D) == 2000 * D + 3, np.nan, X)


def ivf_pq_with_string() -> Any:
    word: Any = "no"
    return interop.to_faiss_ivf_pq(np.zeros((2, 8)), PLAIN, by_residual=word)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: interop.to_faiss_ivf_flat(BoostKMeans()), NotFittedError, "not fitted yet"),
        (lambda: interop.to_faiss_ivf_flat(BoostKMeans), TypeError, "fitted estimator with"),
        (lambda: interop.to_faiss_ivf_flat(PLAIN), TypeError, "coarse must .* Got ProductQ"),
        (lambda: interop.to_faiss_ivf_flat(X[0]), ValueError, "2D array"),
        (lambda: interop.to_faiss_ivf_flat(X * np.nan), ValueError, "coarse contains NaN"),
        (lambda: interop.to_faiss_ivf_flat(X64 * 1e300), ValueError, "coarse has .* float32"),
        (lambda: interop.to_faiss_ivf_flat(X[:5], X[:, :7]), ValueError, "7 features, .* index has 16"),
        (lambda: interop.to_faiss_ivf_flat(X[:5], WITH_NAN), ValueError, "NaN .*row 2000, column 3"),
        (lambda: interop.to_faiss_ivf_flat(X[:5], X64 * 1e300), ValueError, "at row 0, column 0, which"),
        (lambda: interop.residuals(X[:5], X[:, :7]), ValueError, "7 features, but coarse has 16"),
        (lambda: interop.residuals(X[:5], WITH_NAN), ValueError, "NaN .*row 2000, column 3"),
        (lambda: interop.to_faiss_pq(ProductQuantizer()), NotFittedError, "not fitted yet"),
        (lambda: interop.to_faiss_pq(X), TypeError, "fitted ProductQuantizer"),  # type: ignore[arg-type]
        (lambda: interop.to_faiss_pq(ODD), ValueError, "power of two .* Got 5 instead. Fit"),
        (lambda: interop.to_faiss_pq(trained(X, n_centroids=1)), ValueError, "power of two .* Got 1"),
        (lambda: interop.to_faiss_pq(PLAIN, X, codes=PLAIN.encode(X)), ValueError, "not both"),
        (lambda: interop.to_faiss_pq(PLAIN, codes=X), ValueError, r"integers of shape \(n, 4\)"),
        (lambda: interop.to_faiss_pq(PLAIN, codes=[[0, 1, 2, 4]]), ValueError, r"lie in \[0, 4\)"),
        (lambda: interop.to_faiss_pq(PLAIN, X[:, :8]), ValueError, "8 features, but the index has 16"),
        (lambda: interop.to_faiss_ivf_pq(X[:5], NARROW), ValueError, "16 .*, but quantizer has 8"),
        (lambda: interop.to_faiss_ivf_pq(X[:5], ODD), ValueError, "power of two"),
        (lambda: interop.centres_from_faiss(X), TypeError, "index of faiss. Got ndarray"),
        (lambda: interop.centres_from_faiss(interop.to_faiss_pq(PLAIN)), TypeError, "Got IndexPQ"),
        (lambda: interop.quantizer_from_faiss(faiss.IndexFlatL2(4)), TypeError, "Got IndexFlatL2"),
        (lambda: interop.quantizer_from_faiss(faiss.IndexPQ(16, 4, 8)), ValueError, "is not trained"),
        (lambda: interop.codes_from_faiss(interop.to_faiss_ivf_flat(X[:3])), TypeError, "Got IndexIVF"),
        (lambda: interop.quantizer_from_faiss(by_faiss("PCA8,PQ4x4")), ValueError, "PCA.* not a rot"),
        (lambda: interop.quantizer_from_faiss(by_faiss("OPQ4_8,PQ4x4")), ValueError, "16 to 8 features"),
        (lambda: interop.centres_from_faiss(by_faiss("ITQ,IVF4,Flat")), ValueError, "is not a rotation"),
        (lambda: interop.centres_from_faiss(in_shards()), TypeError, "IndexShards, does not provide"),
        (lambda: interop.centres_from_faiss(without_centres()), ValueError, "8 lists, but 0 centres"),
        (lambda: ivf_pq_with_string(), ValueError, "'by_residual' parameter .* must be a bool"),
    ],
)  # fmt: skip
def test_rejects_invalid_input(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def by_faiss(recipe: str) -> Any:
    index = faiss.index_factory(D, recipe)
    if "OPQ" in recipe:  # few iterations: the quality does not matter
        chain = [index.chain.at(number) for number in range(index.chain.size())]
        faiss.downcast_VectorTransform(chain[-1]).niter = 2
    index.train(X)
    return index


def in_shards() -> Any:
    """Return an index whose coarse quantizer cannot reconstruct its centres."""
    shards = faiss.IndexShards(D)
    shards.add_shard(faiss.IndexFlatL2(D))
    shards.add(X[:8])
    index = faiss.IndexIVFFlat(shards, D, 8)
    index.is_trained = True
    return index


def without_centres() -> Any:
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, 8)
    index.is_trained = True
    return index


def test_error_without_faiss_names_the_extra(
    model: BoostKMeans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    index = object()
    calls: list[Callable[[], Any]] = [
        lambda: interop.to_faiss_ivf_flat(model),
        lambda: interop.to_faiss_pq(PLAIN),
        lambda: interop.to_faiss_ivf_pq(model, PLAIN),
        lambda: interop.centres_from_faiss(index),
        lambda: interop.quantizer_from_faiss(index),
        lambda: interop.codes_from_faiss(index),
    ]
    for call in calls:
        with pytest.raises(ImportError, match=r"needs faiss: pip install '\.\[faiss\]'"):
            call()
    assert interop.residuals(model, X).shape == X.shape
