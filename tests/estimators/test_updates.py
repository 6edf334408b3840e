"""`BoostKMeans.update` adds and removes rows, and keeps the numbers of clusters."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import BisectingBoostKMeans, BoostKMeans, UpdateReport, distributed, load_model
from boostkmeans._engine.updates import update as update_steps
from conftest import blobs

ROWS, PLANTED = blobs(480, 4, 8)
# 50 rows of each blob are old, and 10 are new.
IS_OLD = np.array([np.count_nonzero(PLANTED[:i] == own) < 50 for i, own in enumerate(PLANTED)])
X, NEW = ROWS[IS_OLD], ROWS[~IS_OLD]
# New rows in a region without old ones.
FAR = blobs(60, 4, 1)[0] + 2000.0


def fitted(k: int = 8, rows: Any = X, **parameters: Any) -> BoostKMeans:
    return BoostKMeans(k, random_state=0, n_threads=2, **parameters).fit(rows)


def check_consistent(model: BoostKMeans, rows: NDArray[Any], weights: Any = None) -> None:
    """Check centres, sizes, weights and inertia against the labels of all rows."""
    k, w = model.n_clusters_, np.ones(len(rows)) if weights is None else np.asarray(weights)
    labels = model.labels_
    assert len(labels) == len(rows) == model.n_samples_seen_
    np.testing.assert_array_equal(model.cluster_sizes_, np.bincount(labels, minlength=k))
    sums = np.zeros((k, rows.shape[1]))
    np.add.at(sums, labels, rows * w[:, None])
    totals = np.bincount(labels, weights=w, minlength=k)
    np.testing.assert_allclose(model._cluster_weights, totals, rtol=1e-9)
    filled = totals > 0
    means = sums[filled] / totals[filled, None]
    np.testing.assert_allclose(model.cluster_centers_[filled], means, rtol=1e-7, atol=1e-7)
    inertia = w @ np.square(rows - model.cluster_centers_[labels]).sum(axis=1)
    np.testing.assert_allclose(model.inertia_, inertia, rtol=1e-7, atol=1e-7)


def check_report(report: UpdateReport, before: NDArray[Any], after: NDArray[Any]) -> None:
    """Check a report against the labels of the kept rows before and after the update."""
    kept = ~np.isin(np.arange(report.n_clusters_before), report.removed)
    numbers = np.where(kept, report.successors, -1)
    assert report.n_moved == np.count_nonzero(numbers[before] != after[: len(before)])
    assert report.n_kept == len(before)
    assert report.n_added == len(after) - len(before) == len(report.labels)
    np.testing.assert_array_equal(report.labels, after[len(before) :])
    survivors = numbers[numbers >= 0]
    assert len(np.unique(survivors)) == len(survivors)
    everything = np.concatenate([survivors, report.created])
    np.testing.assert_array_equal(np.sort(everything), np.arange(report.n_clusters_after))
    changed = np.flatnonzero(kept & (numbers != np.arange(len(numbers))))
    if report.n_clusters_after >= report.n_clusters_before:
        assert len(changed) == 0, "survivors keep their numbers"
    else:
        assert (changed >= report.n_clusters_after).all(), "only the highest numbers change"
    assert report.successors.max() < report.n_clusters_after


@pytest.mark.parametrize("removed", ["numbers", "rows"])
def test_result_describes_kept_and_new_rows(removed: str) -> None:
    model = fitted()
    gone = np.array([5, 399, 17, 200])
    kept = np.delete(np.arange(400), gone)
    before = model.labels_[kept]
    inertia = model.inertia_
    assert model.update(NEW, X_removed=gone if removed == "numbers" else X[gone], X=X) is model
    check_consistent(model, np.concatenate([X[kept], NEW]))
    report = model.update_report_
    check_report(report, before, model.labels_)
    assert report.removed_rows is not None
    np.testing.assert_array_equal(np.sort(report.removed_rows), np.sort(gone))
    assert (report.n_removed, report.inertia_before) == (4, inertia)
    assert report.inertia_after == model.inertia_
    # Rows of the same distribution change nothing but a few labels.
    assert report.n_moved == len(report.created) == len(report.split) == 0


def test_new_region_gets_a_cluster_and_cheap_ones_are_merged() -> None:
    model = fitted()
    before = model.labels_.copy()
    model.update(FAR, X=X)
    report = model.update_report_
    check_consistent(model, np.concatenate([X, FAR]))
    check_report(report, before, model.labels_)
    own = np.unique(report.labels)
    assert len(report.created) >= 1
    assert set(report.created) & set(own)
    assert not np.isin(model.labels_[:400], own).any()
    assert set(report.removed) == set(report.created), "the numbers of merged clusters are used again"
    assert model.inertia_ <= 1.02 * fitted(rows=np.concatenate([X, FAR])).inertia_


def test_without_the_old_rows_their_sums_suffice(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "m", labels=False)
    loaded = load_model(tmp_path / "m")
    loaded.update(np.concatenate([NEW, FAR]))
    model.update(np.concatenate([NEW, FAR]))
    assert not hasattr(loaded, "labels_")
    np.testing.assert_array_equal(loaded.update_report_.labels, model.update_report_.labels)
    check_consistent(model, np.concatenate([X, NEW, FAR]))
    assert len(model.update_report_.created) >= 1
    loaded.save(tmp_path / "m2")
    assert load_model(tmp_path / "m2").update(NEW[:3]).n_samples_seen_ == 543


def test_removed_rows_are_subtracted_from_their_clusters() -> None:
    model = fitted(repair=False)
    weights, sizes = model._cluster_weights.copy(), model.cluster_sizes_.copy()
    gone = np.arange(0, 400, 7)
    model.update(X_removed=X[gone])
    kept = np.delete(X, gone, axis=0)
    assert not hasattr(model, "labels_")
    np.testing.assert_array_equal(sizes - model.cluster_sizes_, np.bincount(fitted().labels_[gone]))
    assert model._cluster_weights.sum() == weights.sum() - len(gone)
    labels = model.predict(kept)
    for c in range(8):
        np.testing.assert_allclose(model.cluster_centers_[c], kept[labels == c].mean(axis=0), rtol=1e-9)
    assert model.inertia_ == pytest.approx(-model.score(kept), rel=1e-9)


@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize("kind", ["cosine", "weights", "float16", "uint8", "sparse", "stays sparse"])
def test_kinds_of_rows(kind: str, with_rows: bool) -> None:
    rng = np.random.default_rng(1)
    rows: Any = np.concatenate([X, NEW])
    rows = {"float16": rows.astype(np.float16), "uint8": (3 * rows + 60).astype(np.uint8)}.get(
        kind, rows
    )
    if kind == "sparse":
        rows = sparse.csr_array(np.maximum(rows, 0))
    if kind == "stays sparse":
        rows = sparse.random_array((4500, 1000), density=0.01, format="csr", random_state=0)
    n = rows.shape[0] - 80
    weights = rng.integers(1, 4, size=rows.shape[0]).astype(float) if kind == "weights" else None
    own: Any = {} if weights is None else {"sample_weight": weights[:n]}
    metric = "cosine" if kind == "cosine" else "euclidean"
    model = BoostKMeans(6, random_state=0, metric=metric, max_iter=5).fit(rows[:n], **own)
    more: Any = {} if weights is None else {"sample_weight": weights[n:]}
    if weights is not None and with_rows:
        more["X_weight"] = weights[:n]
    model.update(rows[n:], X=rows[:n] if with_rows else None, **more)
    dense = rows.toarray() if sparse.issparse(rows) else rows.astype(np.float64)
    if kind == "cosine":
        dense = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    if with_rows:
        check_consistent(model, dense, weights)
    total = n + 80 if weights is None else weights.sum()
    assert model._cluster_weights.sum() == pytest.approx(total)
    assert model.cluster_sizes_.sum() == len(model.labels_) == n + 80
    # The new rows are in the clusters that they are nearest to, except near borders.
    assert np.mean(model.predict(rows[n:]) == model.update_report_.labels) > 0.9


def test_result_does_not_depend_on_the_number_of_threads() -> None:
    rows, _ = blobs(3000, 6, 30, spread=2.0)
    found = []
    for n_threads in (1, 3):
        model = BoostKMeans(24, random_state=0, n_threads=n_threads).fit(rows[:2500])
        model.update(rows[2500:], X=rows[:2500], X_removed=np.arange(0, 2500, 9))
        again = BoostKMeans(24, random_state=0, n_threads=n_threads).fit(rows[:2500])
        again.update(rows[2500:] + 30, X_removed=rows[:2500:50])
        found.append((model.labels_, model.cluster_centers_, again.cluster_centers_))
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


def test_number_of_clusters_follows_the_leaf_size() -> None:
    model = BoostKMeans(leaf_size=50, random_state=0).fit(X)
    before = model.labels_.copy()
    model.update(FAR, X=X)
    assert model.n_clusters_ == 9
    check_report(model.update_report_, before, model.labels_)
    rows, before = np.concatenate([X, FAR]), model.labels_
    gone = np.flatnonzero(before < 4)
    kept = np.delete(np.arange(460), gone)
    model.update(X_removed=gone, X=rows)
    assert model.n_clusters_ == round(len(kept) / 50)
    check_consistent(model, rows[kept])
    check_report(model.update_report_, before[kept], model.labels_)
    assert set(model.update_report_.removed) >= {0, 1, 2, 3}


def test_untouched_clusters_are_not_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.concatenate([X + 1000.0 * i for i in range(20)])
    model = fitted(160, rows=rows, n_candidates=7)
    seen: list[int] = []
    sweep = vars(update_steps)["sweep"]

    def counted(*arguments: Any, **options: Any) -> Any:
        result = sweep(*arguments, **options)
        seen.append(result.evaluations)
        return result

    monkeypatch.setattr(update_steps, "sweep", counted)
    model.update(NEW[:3] + 1000.0, X=rows)
    # At most the rows of one group of eight clusters and of their neighbours are compared.
    assert 0 < seen[0] <= 2 * 403 * 8


@pytest.mark.parametrize("with_rows", [True, False])
def test_limits_force_splits_and_merges(with_rows: bool) -> None:
    model = fitted(max_size=60, min_size=20)
    model.update(np.concatenate([FAR, FAR + 1]), X=X if with_rows else None)
    assert model.n_clusters_ == 9  # 520 rows need 9 clusters of 60 rows.
    assert model.cluster_sizes_.max() <= 60
    assert model.cluster_sizes_.min() >= 20
    small = fitted(min_size=40)
    small.update(X_removed=np.arange(200), X=X)
    assert small.n_clusters_ == 5
    assert small.cluster_sizes_.min() >= 40


def test_limits_hold_without_the_old_rows_and_numbers_stay() -> None:
    model = fitted(max_size=60)
    model.update(FAR[:20])  # These rows need the room of several clusters.
    model.update(np.concatenate([FAR[20:50], NEW[:10]]))
    report = model.update_report_
    assert model.cluster_sizes_.max() <= 60
    assert report.n_moved == 0
    assert len(report.created) == len(report.removed) == 0


def test_without_the_old_rows_clusters_are_merged_until_they_are_large_enough() -> None:
    model = fitted(min_size=40, max_size=120)
    gone = np.flatnonzero(np.isin(model.labels_, [0, 1, 2, 3]) & (np.arange(400) % 5 > 0))
    model.update(X_removed=X[gone])  # 40 rows are left in 4 clusters, and 200 in the others.
    assert model.cluster_sizes_.min() >= 40
    assert model.cluster_sizes_.max() <= 120
    assert model.cluster_sizes_.sum() == 400 - len(gone)
    assert model.n_clusters_ < 6
    tight = fitted(min_size=50, max_size=50)
    with pytest.raises(ValueError, match=r"old rows of each cluster stay together. Pass them \(X\)"):
        tight.update(X_removed=X[::8])


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_limits_hold_and_reports_are_true_after_any_sequence(data: st.DataObject) -> None:
    limits: dict[str, Any] = data.draw(
        st.sampled_from([{}, {"min_size": 4, "max_size": 16}, {"leaf_size": 9}])
    )
    pool = np.round(blobs(300, 2, 7, spread=4.0, seed=data.draw(st.integers(0, 5)))[0], 1)
    rows, pool = pool[:60], pool[60:]
    model = BoostKMeans(None if "leaf_size" in limits else 6, random_state=0, **limits).fit(rows)
    for _ in range(data.draw(st.integers(1, 4))):
        n_new = data.draw(st.integers(0, 30))
        numbers = st.sets(st.integers(0, len(rows) - 1), max_size=len(rows) // 2)
        gone = np.array(sorted(data.draw(numbers)), dtype=int)
        if n_new + len(gone) == 0:
            continue
        new, pool = pool[:n_new], pool[n_new:]
        before = np.delete(model.labels_, gone)
        model.update(new if len(new) else None, X_removed=gone, X=rows)
        rows = np.concatenate([np.delete(rows, gone, axis=0), new])
        check_consistent(model, rows)
        check_report(model.update_report_, before, model.labels_)
        if "max_size" in limits:
            assert model.cluster_sizes_.max() <= 16
            assert model.cluster_sizes_.min() >= 4
        if "leaf_size" in limits:
            assert model.n_clusters_ == max(1, round(len(rows) / 9))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_adding_and_removing_the_same_rows_restores_the_sums(seed: int, cosine: bool) -> None:
    rng = np.random.default_rng(seed)
    model = fitted(metric="cosine" if cosine else "euclidean", repair=False, max_iter=1)
    centres, weights, inertia = model.cluster_centers_, model._cluster_weights, model.inertia_
    # Rows near a centre do not change the nearest cluster of each other.
    rows = centres[rng.integers(8, size=20)] + 1e-3 * rng.normal(size=(20, 4))
    model.update(rows).update(X_removed=rows)
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model._cluster_weights, weights, rtol=1e-12)
    assert model.inertia_ == pytest.approx(inertia, rel=1e-7)
    assert model.n_samples_seen_ == 400


def test_kept_rows_that_move_are_counted() -> None:
    rows = np.array([[0.0], [1], [2], [3.4], [5], [5], [5]])
    model = BoostKMeans(2, init=np.array([0, 0, 0, 0, 1, 1, 1]), max_iter=1, repair=False).fit(rows)
    before = model.labels_[2:]
    model.update(X_removed=[0, 1], X=rows)  # 3.4 is now nearer to the other cluster.
    check_consistent(model, rows[2:])
    check_report(model.update_report_, before, model.labels_)
    assert model.update_report_.n_moved == np.count_nonzero(before != model.labels_)


def test_failed_and_interrupted_updates_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    before = dict(model.__dict__)

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(update_steps, "sweep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.update(NEW, X=X)
    with pytest.raises(ValueError, match="NaN"):
        model.update(np.full((1, 4), np.nan))
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs X_new, X_removed, or both"),
        ({"X_new": NEW, "X": X[::-1]}, "X does not contain the rows of the model in the order"),
        ({"X_new": NEW, "X": X[:300]}, "X has 300 rows, but the model contains 400"),
        ({"X_removed": [3]}, "need X"),
        ({"X_removed": [3, 3], "X": X}, "distinct row numbers"),
        ({"X_removed": [400], "X": X}, "row numbers from 0 to 399"),
        ({"X_removed": [0.5], "X": X}, "row numbers, or a 2D array"),
        ({"X_removed": X[[1, 1]], "X": X}, "Row 1 of X_removed is not among the rows of X"),
        ({"X_removed": NEW[:1], "X": X}, "Row 0 of X_removed is not among"),
        ({"X_removed": np.repeat(X[:1], 200, axis=0)}, "has 200 rows of weight 200 near .* only 50"),
        ({"X_removed": X}, "would remove all rows"),
        ({"X_removed": np.arange(400), "X": X}, "would remove all rows"),
        ({"X_removed": X[:1], "removed_weight": 99}, "only 50 rows of weight 50"),
        ({"X_removed": X[:1], "sample_weight": 9}, "sample_weight needs X_new"),
        ({"X_new": X, "X_weight": 2}, "X_weight needs X"),
        ({"X_new": NEW, "X": X, "X_weight": 2}, "X_weight not their weights"),
        ({"X_removed": [1], "X": X, "removed_weight": 2}, "removed_weight has no effect"),
        ({"X_new": NEW[:, :3]}, "3 features"),
    ],
)
def test_invalid_arguments_are_explained(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted().update(**arguments)


@pytest.mark.parametrize("empty", [np.empty((0, 4)), sparse.csr_array((0, 4)), []])
@pytest.mark.parametrize("with_rows", [True, False])
def test_days_without_changes(empty: Any, with_rows: bool) -> None:
    rows = X if with_rows else None
    model = fitted()
    labels = model.labels_
    model.update(empty, X_removed=empty, X=rows, sample_weight=[])
    np.testing.assert_array_equal(model.labels_, labels)
    report = model.update_report_
    assert (report.n_added, report.n_removed, report.n_kept) == (0, 0, 400)
    assert model.update(NEW, X_removed=empty, X=rows).n_samples_seen_ == 480
    with pytest.raises(ValueError, match="sample_weight needs X_new"):
        model.update(empty, X_removed=NEW[:1], sample_weight=[1.0])


def test_removed_rows_may_be_a_column_of_vectors() -> None:
    pd = pytest.importorskip("pandas")
    column = pd.Series(list(X[:20]))
    with_rows = fitted().update(X_removed=column, X=pd.Series(list(X)))
    np.testing.assert_array_equal(with_rows.update_report_.removed_rows, np.arange(20))
    assert fitted().update(X_removed=column).n_samples_seen_ == 380
    with pytest.raises(ValueError, match="X_removed must have rows of equal length"):
        fitted().update(X_removed=pd.Series([[1.0, 2, 3, 4], [1.0]]))


def test_clusters_with_limits_of_their_own_need_rows() -> None:
    model = fitted(max_size=[60] * 8)
    with pytest.raises(ValueError, match=r"7 of 8 clusters would have rows.* one limit per cluster"):
        model.update(X_removed=X[model.labels_ == 3])


def test_rows_that_were_never_added_cannot_be_removed() -> None:
    model = fitted()
    centres = model.cluster_centers_.copy()
    with pytest.raises(ValueError, match=r"X_removed has an inertia of .* pass all rows"):
        model.update(X_removed=X[:3] + 1e6)
    np.testing.assert_array_equal(model.cluster_centers_, centres)


def test_removing_more_rows_than_exist_names_the_cluster() -> None:
    model = BoostKMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
    with pytest.raises(ValueError, match=r"3 rows of weight 3 .* only 2 rows of weight 2"):
        model.update(X_removed=[[0.0], [1.0], [0.0]])


def test_a_cluster_without_rows_is_filled_by_a_split() -> None:
    rows = np.array([[0.0], [1], [10], [11], [20], [21]])
    model = BoostKMeans(3, random_state=0).fit(rows)
    empty = int(model.labels_[0])
    model.update(X_removed=[0, 1], X=rows)
    report = model.update_report_
    assert (report.removed.tolist(), report.created.tolist()) == ([empty], [empty])
    assert report.successors[empty] == -1
    assert model.cluster_sizes_.min() == 1


def test_few_clusters() -> None:
    for k in (1, 2):
        model = fitted(k).update(NEW, X=X)
        check_consistent(model, np.concatenate([X, NEW]))
    model = fitted(2).set_params(n_clusters=1).update(NEW[:1])
    assert model.n_clusters_ == 1
    np.testing.assert_allclose(model.cluster_centers_[0], np.vstack([X, NEW[:1]]).mean(axis=0))
    assert model.inertia_ == pytest.approx(401 * np.vstack([X, NEW[:1]]).var(axis=0).sum())
    with pytest.raises(ValueError, match="can only be separated if they are given"):
        fitted().set_params(max_size=20).update(NEW)
    divided = fitted().set_params(max_size=20).update(NEW, X=X)
    assert divided.n_clusters_ == 24
    assert divided.cluster_sizes_.max() == 20


def test_batches_can_be_updated() -> None:
    model = fitted().partial_fit(NEW)
    model.update(NEW[:10])
    assert model.n_samples_seen_ == model.cluster_sizes_.sum() == 490
    # The inertia is that of all rows, and not of the last batch.
    rows = np.concatenate([X, NEW, NEW[:10]])
    assert model.inertia_ == pytest.approx(-model.score(rows), rel=1e-6)
    assert model.update_report_.inertia_before < model.inertia_
    assert model.update_report_.inertia_before == pytest.approx(-model.score(rows[:480]), rel=0.01)
    weighted = fitted().partial_fit(NEW, sample_weight=np.linspace(0.5, 1.5, 80))
    with pytest.raises(ValueError, match="sizes of the clusters are not known"):
        weighted.update(NEW)


@pytest.mark.parametrize(
    "model",
    [BisectingBoostKMeans(3, random_state=0), distributed.BoostKMeans(3, random_state=0)],
)
def test_other_estimators_say_what_to_use(model: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"BoostKMeans|to_local"):
        model.fit(X).update(NEW)
