"""`baselines.MiniBatchKMeans`: Sculley's algorithm and both readings of the paper's 10 %."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans import SweepRecord
from boostkmeans._data.rows import Rows
from boostkmeans.baselines import MiniBatchKMeans
from conftest import blobs

Floats = NDArray[np.float64]


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that receives the row numbers of each batch."""
    seen: list[Any] = []
    sample = Rows.sample

    def observed(self: Rows, indices: Any) -> Rows:
        seen.append(indices.tolist())
        return sample(self, indices)

    monkeypatch.setattr(Rows, "sample", observed)
    return seen


def sculley(X: Floats, centres: Floats, batches: list[list[int]]) -> Floats:
    """Perform the published algorithm: one movement per row, with the rate 1 / (rows seen)."""
    centres, seen = centres.copy(), np.zeros(len(centres))
    for batch in batches:
        cached = ((X[batch][:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        for row, own in zip(batch, cached, strict=True):
            seen[own] += 1
            centres[own] += (X[row] - centres[own]) / seen[own]
    return centres


@pytest.mark.parametrize("share_of", ["batch", "total"])
def test_equals_the_published_algorithm(share_of: str, batches: list[Any]) -> None:
    X, _ = blobs(400, 3, 5, spread=3.0)
    model = MiniBatchKMeans(5, init=X[:5], share=0.3, share_of=share_of, max_iter=7, random_state=0)
    model.fit(X)
    assert len(batches) == 7
    np.testing.assert_allclose(model.cluster_centers_, sculley(X, X[:5], batches), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_tenth_of_the_rows_in_each_batch(batches: list[Any]) -> None:
    X = np.arange(500.0)[:, None]
    w = np.r_[np.zeros(200), np.ones(300)]
    MiniBatchKMeans(2, max_iter=20, random_state=0).fit(X, sample_weight=w)
    assert {len(set(batch)) for batch in batches} == {30}
    assert len({tuple(batch) for batch in batches}) == 20
    assert min(map(min, batches)) >= 200, "rows without weight must not be drawn"


@pytest.mark.parametrize(("n", "n_batches", "size"), [(5000, 100, 5), (2000, 100, 2), (400, 40, 1)])
def test_a_tenth_of_the_rows_in_total(n: int, n_batches: int, size: int, batches: list[Any]) -> None:
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = MiniBatchKMeans(4, share_of="total", random_state=0).fit(X)
    assert model.n_iter_ == len(batches) == n_batches
    assert {len(batch) for batch in batches} == {size}
    together = [row for batch in batches for row in batch]
    assert len(set(together)) == len(together) == n // 10, "each row is seen once"
    assert sum(record.evaluations for record in model.history_) == len(together) * 4


@pytest.mark.parametrize("share_of", ["batch", "total"])
def test_records_do_not_change_the_result(share_of: str) -> None:
    X, _ = blobs(3000, 3, 5, spread=3.0)
    often, rarely = (
        MiniBatchKMeans(5, share_of=share_of, max_iter=25, record_every=n, random_state=0).fit(X)
        for n in (1, 10)
    )
    assert (len(often.history_), len(rarely.history_)) == (25, 3)
    assert often.n_iter_ == rarely.n_iter_ == 25
    np.testing.assert_array_equal(often.cluster_centers_, rarely.cluster_centers_)
    inertias = [record.inertia for record in often.history_]
    assert [record.inertia for record in rarely.history_] == [inertias[i] for i in (9, 19, 24)]
    evaluations = [record.evaluations for record in often.history_]
    summed = [sum(evaluations[a:b]) for a, b in ((0, 10), (10, 20), (20, 25))]
    assert [record.evaluations for record in rarely.history_] == summed


def test_callback_and_max_time_stop_the_fit() -> None:
    X, _ = blobs(300, 3, 5)
    seen: list[Any] = []

    def fourth(record: SweepRecord) -> bool:
        seen.append(record)
        return len(seen) == 4

    model = MiniBatchKMeans(5, n_init=3, random_state=0, callback=fourth).fit(X)
    assert model.n_iter_ == 4
    assert model.history_ == seen
    assert MiniBatchKMeans(5, n_init=9, max_time=1e-9, random_state=0).fit(X).n_iter_ == 1


def test_result_does_not_depend_on_threads() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 7)).astype(np.float32)
    one, three = (
        MiniBatchKMeans(40, init="k-means++", max_iter=9, n_threads=n, random_state=0).fit(X)
        for n in (1, 3)
    )
    np.testing.assert_array_equal(one.cluster_centers_, three.cluster_centers_)
