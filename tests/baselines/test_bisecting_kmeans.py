"""`baselines.BisectingKMeans`: a tree of Lloyd splits."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from boostkmeans import load_model
from boostkmeans.baselines import BisectingKMeans, ScikitLearnBisectingKMeans
from conftest import blobs


@pytest.mark.parametrize("init", ["random", "k-means++"])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_split_is_a_fixed_point_of_lloyd(init: str, form: Any, weighted: bool) -> None:
    X = np.random.default_rng(0).normal(size=(400, 5))
    w = np.random.default_rng(1).uniform(0.2, 3, 400) if weighted else np.ones(400)
    model = BisectingKMeans(12, init=init, random_state=0).fit(form(X), sample_weight=w)
    tree = model.tree_
    assert tree.n_passes is not None
    assert (tree.n_passes[tree.splits] >= 1).all()
    below = [np.flatnonzero(_is_below(tree, node)) for node in range(len(tree.sizes))]
    rows_of = [np.isin(model.labels_, tree.clusters[some]) for some in below]
    for node in tree.splits:
        left, right = tree.children[node]
        means = [np.average(X[rows_of[child]], axis=0, weights=w[rows_of[child]])
                 for child in (left, right)]  # fmt: skip
        gaps = [((X[rows_of[node]] - mean) ** 2).sum(axis=1) for mean in means]
        np.testing.assert_array_equal(gaps[1] < gaps[0], rows_of[right][rows_of[node]])


def _is_below(tree: Any, node: int) -> Any:
    """Return which leaves are descendants of a node."""
    ancestors = np.arange(len(tree.parents))
    found = ancestors == node
    while (ancestors >= 0).any():
        found |= ancestors == node
        ancestors = np.where(ancestors >= 0, tree.parents[ancestors], -1)
    return found & (tree.clusters >= 0)


def test_splits_the_largest_cluster() -> None:
    # Ten close rows and two distant ones: the ten rows are split, although splitting the two gains more.
    X = np.r_[np.linspace(0, 1, 10), 100.0, 140.0][:, None]
    model = BisectingKMeans(3, init="k-means++", random_state=0).fit(X)
    assert model.cluster_sizes_[model.labels_[10]] == 2
    assert model.labels_[10] == model.labels_[11]
    X = np.random.default_rng(0).normal(size=(500, 3))
    tree = BisectingKMeans(30, random_state=0).fit(X).tree_
    leaves = {0}
    for node in tree.splits:
        assert tree.sizes[node] == max(tree.sizes[leaf] for leaf in leaves)
        leaves = leaves - {int(node)} | set(tree.children[node].tolist())


def test_is_as_good_as_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 6))
    means = [
        np.mean([method(40, random_state=seed, n_threads=1).fit(X).inertia_ for seed in range(8)])
        for method in (BisectingKMeans, ScikitLearnBisectingKMeans)
    ]
    assert means[0] == pytest.approx(means[1], rel=0.02)


def test_limits_of_a_split() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 6))
    no_limit = BisectingKMeans(20, max_iter=None, random_state=0).fit(X)
    two = BisectingKMeans(20, max_iter=2, random_state=0).fit(X)
    loose = BisectingKMeans(20, tol=0.005, random_state=0).fit(X)
    passes = [np.asarray(model.tree_.n_passes) for model in (no_limit, two, loose)]
    assert passes[0].max() > 2 == passes[1].max()
    assert 20 < passes[2].sum() < passes[0].sum()
    assert no_limit.inertia_ < loose.inertia_ < 1.05 * no_limit.inertia_
    assert (passes[0][no_limit.tree_.clusters >= 0] == 0).all()
    (record,) = no_limit.history_
    assert record.evaluations == 2 * int(passes[0] @ no_limit.tree_.sizes)
    assert (record.kind, record.inertia) == ("tree", no_limit.inertia_)


def test_rows_without_weight_belong_to_the_nearest_leaf() -> None:
    X, _ = blobs(80, 3, 4, spread=1.0)
    w = np.ones(80)
    w[5:45] = 0
    model = BisectingKMeans(20, random_state=0).fit(X, sample_weight=w)
    alone = BisectingKMeans(20, random_state=0).fit(X[w > 0])
    np.testing.assert_array_equal(model.labels_[w > 0], alone.labels_)
    np.testing.assert_array_equal(model.labels_[w == 0], model.predict(X[w == 0]))
    assert model.inertia_ == pytest.approx(alone.inertia_, rel=1e-12)
    assert not np.array_equal(alone.labels_, alone.predict(X[w > 0])), (
        "some leaves must differ from the nearest centre"
    )


def test_result_does_not_depend_on_threads_and_unit() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 7)).astype(np.float32)
    models = [BisectingKMeans(40, n_threads=n, random_state=0).fit(X) for n in (1, 3)]
    models.append(BisectingKMeans(40, random_state=0).fit(X * 1024))
    for model in models[1:]:
        np.testing.assert_array_equal(model.labels_, models[0].labels_)
    np.testing.assert_array_equal(models[1].cluster_centers_, models[0].cluster_centers_)
    np.testing.assert_array_equal(models[2].tree_.inertia, 2.0**20 * models[0].tree_.inertia)


def test_equal_rows_give_fewer_clusters_and_a_warning() -> None:
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    with pytest.warns(UserWarning, match="clusters \\(3\\) found smaller than n_clusters \\(6\\)"):
        model = BisectingKMeans(6, random_state=0).fit(X)
    assert model.cluster_sizes_.tolist() == [4, 4, 4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BisectingKMeans(3, random_state=0).fit(X)


def test_saved_model_predicts_without_its_tree(tmp_path: Path) -> None:
    X, _ = blobs(80, 3, 4, spread=1.0)
    model = BisectingKMeans(9, max_iter=None, random_state=0).fit(X)
    model.save(tmp_path / "model.st")
    again = load_model(tmp_path / "model.st")
    assert isinstance(again, BisectingKMeans)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert not hasattr(again, "tree_")
