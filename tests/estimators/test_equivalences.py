"""Equivalent data, in other types, units, layouts or orders, gives the same result."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

import reference
from boostkmeans import BoostKMeans
from boostkmeans._data.rows import DTYPES, Rows
from boostkmeans._engine.plan import Plan
from boostkmeans._engine.run import Run
from boostkmeans._engine.schedule import Schedule
from boostkmeans._engine.scheduled_run import LastSweep
from boostkmeans._engine.stopping import StoppingCriteria
from conftest import blobs, same_partition
from factories import make_problem


def fitted(X: Any, weights: Any = None, **parameters: Any) -> BoostKMeans:
    settings = {"n_clusters": 20, "random_state": 0, "tol": 0, "max_iter": 60, **parameters}
    return BoostKMeans(**settings).fit(X, sample_weight=weights)


@pytest.fixture(scope="module")
def rough() -> NDArray[np.float64]:
    """Return overlapping blobs, for which thousands of decisions are close."""
    return blobs(4000, 12, 20, spread=1.0)[0]


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize(
    ("moves", "init", "n_threads"),
    [
        ("best", "auto", 2),
        ("first", "random-partition", 3),
        ("best", "random", 8),
        ("first", "k-means++", 2),
    ],
)
def test_result_does_not_depend_on_the_number_of_threads(
    rough: NDArray[np.float64], moves: str, init: str, n_threads: int
) -> None:
    one, other = (fitted(rough, moves=moves, init=init, n_threads=n) for n in (1, n_threads))
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_array_equal(other.cluster_centers_, one.cluster_centers_)
    assert other.inertia_ == one.inertia_


def test_labels_of_weighted_runs_of_rows_do_not_depend_on_the_number_of_threads() -> None:
    X = np.random.default_rng(0).normal(size=(70_000, 20)).astype(np.float32)  # Visited in runs.
    w = np.random.default_rng(1).uniform(0.5, 2, len(X))
    one = fitted(X, w, n_threads=1, max_iter=3)
    two = fitted(X, w, n_threads=2, max_iter=3)
    np.testing.assert_array_equal(one.labels_, two.labels_)


@pytest.mark.parametrize("exponent", [-1000, -100, -7, 1, 60, 400])
def test_unit_of_measurement_does_not_matter_in_float64(
    rough: NDArray[np.float64], exponent: int
) -> None:
    one = fitted(rough)
    other = fitted(np.ldexp(rough, exponent))
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_array_equal(other.cluster_centers_, np.ldexp(one.cluster_centers_, exponent))
    assert other.inertia_ == np.ldexp(one.inertia_, 2 * exponent)


@pytest.mark.parametrize("exponent", [-100, -20, 3, 100])
def test_unit_of_measurement_does_not_matter_in_float32(
    rough: NDArray[np.float64], exponent: int
) -> None:
    X = rough.astype(np.float32)
    np.testing.assert_array_equal(fitted(np.ldexp(X, exponent)).labels_, fitted(X).labels_)


def test_offset_does_not_matter() -> None:
    X, _ = blobs(4000, 12, 20, spread=1.0)
    here = fitted(X, init="random-partition")
    far = fitted(X + 1e6 * X.std(), init="random-partition")
    assert same_partition(here.labels_, far.labels_)
    assert far.inertia_ == pytest.approx(here.inertia_, rel=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_labels_of_integers_do_not_depend_on_the_type(sift: NDArray[np.uint8], dtype: Any) -> None:
    X = (sift[:3000] // 2).astype(dtype)  # Values that every type can represent.
    np.testing.assert_array_equal(fitted(X).labels_, fitted(X.astype(np.float64)).labels_)


def test_float32_gives_the_inertia_of_float64(rough: NDArray[np.float64]) -> None:
    narrow, wide = fitted(rough.astype(np.float32)), fitted(rough)
    assert narrow.inertia_ == pytest.approx(wide.inertia_, rel=1e-6)


def test_memory_layout_does_not_matter(rough: NDArray[np.float64], tmp_path: Path) -> None:
    expected = fitted(rough).labels_
    np.save(tmp_path / "rough.npy", rough)
    wide = np.zeros((len(rough), 30))
    wide[:, 3:27:2] = rough
    unaligned = np.frombuffer(b"x" + rough.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    read_only = rough.copy()
    read_only.flags.writeable = False
    layouts = {
        "memory-mapped": np.load(tmp_path / "rough.npy", mmap_mode="r"),
        "Fortran": np.asfortranarray(rough),
        "every other column": wide[:, 3:27:2],
        "every other row": np.repeat(rough, 2, axis=0)[::2],
        "negative strides": np.ascontiguousarray(rough[::-1, ::-1])[::-1, ::-1],
        "unaligned": unaligned.reshape(rough.shape),
        "read-only": read_only,
        "big-endian": rough.astype(">f8"),
        "list": rough.tolist(),
    }
    for name, X in layouts.items():
        np.testing.assert_array_equal(fitted(X).labels_, expected, err_msg=name)


@pytest.mark.usefixtures("isa")
def test_memory_layout_of_bytes_does_not_matter() -> None:
    X = np.random.default_rng(0).integers(120, size=(3000, 64), dtype=np.uint8)
    expected = fitted(X, n_clusters=300, tol=1e-4, max_iter=5)  # Sweeps multiply bytes.
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        found = fitted(other, n_clusters=300, tol=1e-4, max_iter=5)
        np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_neither_writes_nor_copies_x(rough: NDArray[np.float64]) -> None:
    X = rough.astype(np.float32)
    before = X.copy()
    fitted(X, metric="cosine")
    np.testing.assert_array_equal(X, before)
    assert Rows.in_own_frame(X, "euclidean", 1)._array is X


@pytest.mark.parametrize("value", [1.0, 3.0, 1e-200])
def test_equal_weights_equal_no_weights(rough: NDArray[np.float64], value: float) -> None:
    none, equal = fitted(rough), fitted(rough, np.full(len(rough), value))
    np.testing.assert_array_equal(none.labels_, equal.labels_)
    assert equal.inertia_ == pytest.approx(none.inertia_ * value, rel=1e-12)
    assert equal.distortion_ == pytest.approx(none.distortion_, rel=1e-12)


def test_nearly_equal_weights_take_the_same_moves(rough: NDArray[np.float64]) -> None:
    weights = np.ones(len(rough))
    weights[0] = 1 + 1e-9
    weighted, none = (fitted(rough, w, init="random-partition") for w in (weights, None))
    np.testing.assert_array_equal(weighted.labels_, none.labels_)


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**-3, 2.0**500])
def test_unit_of_the_weights_does_not_matter(rough: NDArray[np.float64], scale: float) -> None:
    w = np.random.default_rng(0).uniform(0.1, 3, len(rough))
    one, other = fitted(rough, w), fitted(rough, w * scale)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_integer_weights_equal_repeated_rows() -> None:
    X, planted = blobs(600, 5, 6)
    w = np.random.default_rng(0).integers(0, 4, len(X))
    w[: 6 * 3] = 1
    repeated = np.repeat(X, w, axis=0)
    weighted = fitted(X, w, n_clusters=6)
    plain = fitted(repeated, n_clusters=6)
    assert same_partition(np.repeat(weighted.labels_, w), plain.labels_)
    assert same_partition(weighted.labels_, planted)  # Rows without weight belong to the nearest centre.
    assert weighted.inertia_ == pytest.approx(plain.inertia_, rel=1e-10)
    order = np.lexsort(weighted.cluster_centers_.T), np.lexsort(plain.cluster_centers_.T)
    np.testing.assert_allclose(
        weighted.cluster_centers_[order[0]], plain.cluster_centers_[order[1]], rtol=1e-10
    )
    assert weighted.inertia_ == pytest.approx(reference.inertia(X, weighted.labels_, w * 1.0))


def test_order_of_the_rows_does_not_matter() -> None:
    X, planted = blobs(3000, 8, 10)
    shuffled = np.random.default_rng(0).permutation(len(X))
    assert same_partition(fitted(X[shuffled], n_clusters=10).labels_, planted[shuffled])
    by_cluster = np.argsort(planted, kind="stable")
    assert same_partition(fitted(X[by_cluster], n_clusters=10).labels_, planted[by_cluster])


def test_cosine_equals_euclidean_on_unit_rows(rough: NDArray[np.float64]) -> None:
    X = rough * np.random.default_rng(0).uniform(1e-3, 1e3, (len(rough), 1))
    cosine, euclidean = fitted(X, metric="cosine"), fitted(normalize(rough))
    assert same_partition(cosine.labels_, euclidean.labels_)
    assert cosine.inertia_ == pytest.approx(euclidean.inertia_, rel=1e-9)
    np.testing.assert_array_equal(cosine.predict(3 * X), cosine.labels_)
    np.testing.assert_allclose(cosine.transform(X), euclidean.transform(normalize(rough)), atol=1e-7)


def start_run() -> Run:
    """Return a run that starts from a poor partition."""
    X = np.random.default_rng(0).normal(size=(20_000, 16))
    problem = make_problem(Rows.in_own_frame(X, "euclidean", 2), 50, n_threads=2)
    labels = (np.arange(len(X)) % 50).astype(np.int32)
    return Run.start(problem, Plan(), labels, np.random.RandomState(0), began=0.0)


def test_composites_hardly_drift() -> None:
    run = start_run()
    Schedule.for_run(run, StoppingCriteria(tol=0, max_iter=100)).execute()
    assert 0 < run.drift < 1e-10


def test_a_certificate_requires_recomputed_composites() -> None:
    run = start_run()
    expected = run.partition.composites.copy()
    run.last = LastSweep("certify", moves=0)
    run.partition.composites += 1e-3
    run.moves_since_recompute = 1
    assert not run.confirms_certificate()
    np.testing.assert_array_equal(run.partition.composites, expected)
    assert run.confirms_certificate()
