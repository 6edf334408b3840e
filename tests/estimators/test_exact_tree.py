"""The paper's Algorithm 2: whole trees compared with the oracle, and the parameters of splits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import split_reference as oracle
from boostkmeans import BisectingBoostKMeans, load_model
from boostkmeans._data import rows as rows_module
from boostkmeans._data.rows import Rows
from boostkmeans._steps import tree_builder
from boostkmeans._steps.split_rules import SplitRules
from boostkmeans._steps.tree_builder import TreeBuilder
from boostkmeans.baselines import RBK
from conftest import blobs, same_partition

EXACT: dict[str, Any] = {"sample": None, "max_passes": None}


def cloud(n: int, d: int, seed: int = 0) -> Any:
    return np.random.RandomState(seed).randn(n, d) * np.linspace(3, 1, d)


def labels_of(X: Any, k: int, seed: int, w: Any, n_threads: int = 1, **rules: Any) -> Any:
    """Return the leaves of an exact tree, and the sizes of the split sets in order."""
    rows = Rows.in_own_frame(X, "euclidean", n_threads)
    builder = TreeBuilder.for_rows(rows, w, SplitRules(**EXACT, **rules), seed, n_threads)
    order = builder.grow(k)
    sizes = (builder.ends - builder.begins)[order]
    return builder.labels(order), sizes.tolist()


@pytest.mark.parametrize("split", ["largest", "inertia", "average"])
@pytest.mark.parametrize(
    ("n_sections", "init"), [(2, "random-partition"), (3, "random"), (2, "k-means++")]
)
def test_a_tree_is_that_of_the_oracle(split: str, n_sections: int, init: str) -> None:
    X = cloud(220, 4)
    w = np.random.RandomState(1).rand(220) + 0.2  # There are no equal priorities.
    rules: dict[str, Any] = {"split": split, "n_sections": n_sections, "init": init}
    expected, sizes = oracle.grow_tree(X, 25, 7, w=w, **rules)
    labels, found_sizes = labels_of(X, 25, 7, w, **rules)
    np.testing.assert_array_equal(labels, expected)
    assert found_sizes == sizes


def test_average_without_weights_is_that_of_the_oracle() -> None:
    X = cloud(300, 3, seed=2)
    expected, sizes = oracle.grow_tree(X, 60, 3, split="average")
    labels, found_sizes = labels_of(X, 60, 3, None, split="average")
    np.testing.assert_array_equal(labels, expected)
    assert found_sizes == sizes


def test_average_distance_by_hand() -> None:
    """Check 2 SSE / (n - 1): a pair at distance 3 precedes six rows whose average is smaller."""
    # {0, 1, 2, 3, 4, 5}: SSE 17.5, average squared distance 7. {100, 103}: SSE 4.5, average 9.
    X = np.array([[0.0], [1], [2], [3], [4], [5], [100], [103]])
    sizes = {}
    for split in ("largest", "inertia", "average"):
        model = BisectingBoostKMeans(3, split=split, random_state=0, **EXACT).fit(X)
        sizes[split] = sorted(model.cluster_sizes_.tolist())
    assert sizes == {"largest": [2, 3, 3], "inertia": [2, 3, 3], "average": [1, 1, 6]}
    tree = BisectingBoostKMeans(2, split="average", random_state=0, **EXACT).fit(X).tree_
    average = 2 * tree.inertia / np.maximum(tree.sizes - 1, 1)
    assert sorted(average[1:].tolist()) == [7.0, 9.0]


def test_a_child_may_have_a_higher_priority_than_its_parent() -> None:
    """Check that such a child is split next, although its parent was split in a batch."""
    rng = np.random.RandomState(0)
    for seed in range(2):
        X = np.concatenate([rng.randn(150, 2) * scale + 30 * scale for scale in (0.1, 1.0, 3.0)])
        X = np.concatenate([X, rng.randn(4, 2) * 200])
        expected, sizes = oracle.grow_tree(X, 40, seed, split="average")
        labels, found_sizes = labels_of(X, 40, seed, None, split="average")
        np.testing.assert_array_equal(labels, expected)
        assert found_sizes == sizes


@pytest.mark.parametrize(
    "parameters",
    [
        EXACT,
        {"sample": None, "max_passes": 3},
        {"sample": None},
        {"max_passes": None},
        {"max_passes": 2},
    ],
)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_labels_do_not_depend_on_threads(
    monkeypatch: pytest.MonkeyPatch, parameters: dict[str, Any], metric: str
) -> None:
    monkeypatch.setattr(tree_builder, "MAX_ROWS_AT_ONCE", 2_000)  # Several calls per batch.
    X = cloud(7_000, 8).astype(np.float32)
    settings: dict[str, Any] = {"random_state": 0, "metric": metric, **parameters}
    models = [BisectingBoostKMeans(20, n_threads=n, **settings).fit(X) for n in (1, 3)]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_array_equal(models[0].tree_.n_passes, models[1].tree_.n_passes)
    assert models[0].tree_.n_passes is not None
    passes = models[0].tree_.n_passes[models[0].tree_.splits]
    assert (passes > 0).all()
    if isinstance(settings.get("max_passes"), int):
        assert passes.max() == settings["max_passes"]
    if "max_passes" not in parameters:
        assert passes.max() <= 10


def test_an_exact_tree_is_better_than_a_sampled_one() -> None:
    X = cloud(20_000, 8)
    exact = [BisectingBoostKMeans(2, random_state=s, **EXACT).fit(X).inertia_ for s in range(3)]
    fast = [BisectingBoostKMeans(2, random_state=s).fit(X).inertia_ for s in range(3)]
    assert np.mean(exact) < np.mean(fast)


def test_sparse_rows_give_the_tree_of_dense_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sparse.random(400, 60, density=0.15, format="csr", random_state=0)
    dense = BisectingBoostKMeans(12, random_state=0, **EXACT).fit(X.toarray())
    monkeypatch.setattr(rows_module, "stays_sparse", sparse.issparse)
    found = BisectingBoostKMeans(12, random_state=0, **EXACT).fit(X)
    assert same_partition(found.labels_, dense.labels_)


def test_passes_are_stored(tmp_path: Path) -> None:
    model = BisectingBoostKMeans(9, random_state=0, **EXACT).fit(cloud(200, 3))
    tree = model.tree_
    assert tree.n_passes is not None
    assert (tree.n_passes[tree.clusters >= 0] == 0).all()
    assert (tree.n_passes[tree.splits] >= 2).all()  # The last pass moves nothing.
    assert f"at most {tree.n_passes.max()}" in model.history_[0].note
    model.save(tmp_path / "model.st")
    loaded = load_model(tmp_path / "model.st")
    np.testing.assert_array_equal(loaded.tree_.n_passes, tree.n_passes)
    assert loaded.get_params()["sample"] is None


def test_a_fit_resumes_from_its_checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Interrupt a tree after some splits, and resume it."""
    X, parameters = cloud(600, 4), {"split": "average", "random_state": 0, **EXACT}
    whole = BisectingBoostKMeans(40, **parameters).fit(X)
    split, calls = TreeBuilder._split, []

    def interrupted(self: TreeBuilder, sets: Any) -> None:
        calls.append(len(sets))
        if len(calls) == 5:
            raise KeyboardInterrupt
        split(self, sets)

    path = tmp_path / "fit.ckpt"
    monkeypatch.setattr(TreeBuilder, "_split", interrupted)
    with pytest.raises(KeyboardInterrupt):
        BisectingBoostKMeans(40, checkpoint=path, **parameters).fit(X)
    monkeypatch.setattr(TreeBuilder, "_split", split)
    with pytest.raises(ValueError, match="max_passes"):
        BisectingBoostKMeans(40, checkpoint=path, **{**parameters, "max_passes": 3}).fit(X)
    resumed = BisectingBoostKMeans(40, checkpoint=path, **parameters).fit(X)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)
    np.testing.assert_array_equal(resumed.tree_.n_passes, whole.tree_.n_passes)


def test_progress_within_a_long_split(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tree_builder, "LOG_INTERVAL", 0.0)
    with caplog.at_level("INFO", logger="boostkmeans"):
        BisectingBoostKMeans(3, random_state=0, **EXACT).fit(cloud(20_000, 4))
    assert "split of 20000 rows, pass 1: " in caplog.text
    assert "pass 2: " in caplog.text


def test_refinement_follows_an_exact_tree() -> None:
    X, _ = blobs(500, 3, 12)
    plain = BisectingBoostKMeans(12, random_state=0, **EXACT).fit(X)
    refined = BisectingBoostKMeans(12, refine=True, random_state=0, **EXACT).fit(X)
    np.testing.assert_array_equal(refined.tree_.n_passes, plain.tree_.n_passes)
    assert refined.inertia_ <= plain.inertia_ * (1 + 1e-9)


@pytest.mark.parametrize("split", ["largest", "inertia", "average"])
def test_rbk_is_a_tree_from_random_rows_by_cosine(split: str) -> None:
    X = np.abs(cloud(300, 6))
    settings: dict[str, Any] = {"split": split, "random_state": 0, **EXACT}
    found = RBK(8, **settings).fit(X)
    same = BisectingBoostKMeans(8, init="random", metric="cosine", **settings).fit(X)
    np.testing.assert_array_equal(found.labels_, same.labels_)
    plain = RBK(8, random_state=0, **EXACT).fit(X)
    assert (split == "largest") == np.array_equal(found.labels_, plain.labels_)


def test_rbk_checks_and_saves_the_priority(tmp_path: Path) -> None:
    X = np.abs(cloud(60, 3))
    with pytest.raises(ValueError, match="'split' parameter of RBK"):
        RBK(3, split="mean").fit(X)
    RBK(3, split="average", random_state=0).fit(X).save(tmp_path / "model.bkm")
    assert load_model(tmp_path / "model.bkm").split == "average"


@pytest.mark.parametrize(
    "bad",
    [{"sample": 100}, {"sample": "all"}, {"max_passes": 0}, {"max_passes": 2.5}, {"split": "mean"}],
)
def test_bad_parameters(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        BisectingBoostKMeans(2, **bad).fit(cloud(20, 2))
