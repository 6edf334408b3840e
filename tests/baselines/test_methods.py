"""The methods by name, their groups, and the refinement of trees."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from boostkmeans import BisectingBoostKMeans, BoostKMeans, metrics
from boostkmeans.baselines import (
    DEFAULT,
    METHOD_GROUPS,
    METHODS,
    PAPER_METHODS,
    RBK,
    BisectingKMeans,
    Refined,
    compare,
    summarize_scores,
)
from boostkmeans.baselines._comparison import class_scores
from boostkmeans.documents import CriterionKMeans
from conftest import blobs

DISJOINT = ("boostkmeans", "k-way", "trees", "refined-trees", "criteria", "scikit-learn")
PLAIN = {"n_candidates": None, "repair": False, "annealing": 0}


def test_groups_contain_each_method_once() -> None:
    names = [name for group in DISJOINT for name in METHOD_GROUPS[group]]
    assert sorted(names) == sorted(METHODS)
    assert METHOD_GROUPS["all"] == tuple(METHODS)
    assert METHOD_GROUPS["paper"] == tuple(PAPER_METHODS)
    assert METHOD_GROUPS["default"] == DEFAULT
    assert all(set(group) <= set(METHODS) for group in METHOD_GROUPS.values())
    assert not set(METHOD_GROUPS) & set(METHODS), "a word must not mean a method and a group"


def test_every_tree_has_a_refinement() -> None:
    for name in METHOD_GROUPS["trees"]:
        tree, refined = METHODS[name](6, 9), METHODS[f"{name}, refined"](6, 9)
        assert isinstance(refined, Refined)
        assert refined.estimator.get_params() == tree.get_params()
        assert type(refined.estimator) is type(tree)


@pytest.mark.parametrize("start", ["non", "rnd", "kpp"])
def test_settings_of_table_1(start: str) -> None:
    init = {"non": "random-partition", "rnd": "random", "kpp": "k-means++"}[start]
    for end, moves in (("", "best"), ("+Fast", "first")):
        model = METHODS[f"BKM({start}){end}"](6, 9)
        assert isinstance(model, BoostKMeans)
        # The "k-means++" of `BoostKMeans` is greedy, and that of splits is not.
        direct = init.replace("k-means++", "plain-k-means++")
        assert {"init": direct, "moves": moves, **PLAIN}.items() <= model.get_params().items()
    tree = METHODS[f"BsBKM({start})"](6, 9)
    assert isinstance(tree, BisectingBoostKMeans)
    assert (tree.init, tree.sample, tree.max_passes) == (init, None, None), "the exact algorithm"
    assert METHODS["RBK"](6, 9).max_passes is METHODS["RBK"](6, 9).sample is None
    assert (
        METHODS["sampled tree"](6, 9).get_params()
        == BisectingBoostKMeans(6, random_state=9).get_params()
    )
    assert f"BsBKM({start})" in METHOD_GROUPS["table-1"]
    assert f"BKM({start})" in METHOD_GROUPS["table-1"]


def test_criteria_are_those_of_cluto() -> None:
    model = METHODS["rbr(h2)"](6, 9)
    assert isinstance(model, CriterionKMeans)
    assert (model.criterion, model.method, model.n_clusters) == ("h2", "refined", 6)
    assert len(METHOD_GROUPS["criteria"]) == 3 * 6


def test_run_with_the_best_objective_is_chosen_by_the_criterion() -> None:
    X = np.random.default_rng(0).exponential(size=(80, 6))
    classes = (np.arange(80) % 3).tolist()
    for name in ("direct(e1)", "direct(i2)"):
        runs = list(compare(X, 4, {name: METHODS[name]}, seeds=range(4), classes=classes))
        models = [METHODS[name](4, seed).fit(X) for seed in range(4)]
        values = [model.objective_ for model in models]
        best = int(np.argmin(values) if name == "direct(e1)" else np.argmax(values))
        assert len(set(values)) > 1
        assert runs[0].curve == []
        [summary] = summarize_scores(runs)
        assert summary.by_objective == class_scores(classes, models[best].labels_)


# ---- refinement


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_refined_is_boost_kmeans_from_the_labels_of_the_tree(form: Any, weighted: bool) -> None:
    X = np.abs(blobs(300, 4, 5, spread=5.0)[0])
    w = np.random.default_rng(0).uniform(0.5, 2, 300) if weighted else None
    for tree in (BisectingKMeans(9, random_state=0), RBK(9, random_state=0)):
        found = Refined(tree, random_state=3).fit(form(X), sample_weight=w)
        start = clone(tree).fit(form(X), sample_weight=w)
        metric = "cosine" if isinstance(tree, RBK) else "euclidean"
        expected = BoostKMeans(9, init=start.labels_, metric=metric, random_state=3, **PLAIN)  # type: ignore[arg-type]
        expected.fit(form(X), sample_weight=w)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        assert found.inertia_ == expected.inertia_ < start.inertia_
        np.testing.assert_array_equal(found.predict(form(X)), expected.predict(form(X)))
        assert found.history_[0].kind == "start"
        assert found.history_[0].inertia == start.inertia_
        assert len(found.history_) == found.n_iter_ + 1 == expected.n_iter_ + 1
        seconds = [record.seconds for record in found.history_]
        assert seconds == sorted(seconds)


@pytest.mark.parametrize("name", ["RBK, refined", "sampled RBK, refined"])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_by_cosine_are_refined_by_euclidean_distances(name: str, weighted: bool) -> None:
    """Check that Table 2 of the paper and `METHODS` refine RBK in the same way."""
    X = np.abs(blobs(300, 4, 5, spread=5.0)[0])
    w = np.random.default_rng(0).uniform(0.5, 2, 300) if weighted else None
    total = 300.0 if w is None else w.sum()
    found = METHODS[name](9, 3).fit(X, sample_weight=w)
    labels = METHODS[name.removesuffix(", refined")](9, 3).fit(X, sample_weight=w).labels_
    expected = BoostKMeans(9, init=labels, random_state=3, **PLAIN)  # type: ignore[arg-type]
    expected.fit(X, sample_weight=w)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.metric_ == "euclidean"
    assert found.inertia_ == expected.inertia_
    # The start is measured by the same metric, so that the history decreases from its first record.
    before = metrics.average_distortion(X, labels, sample_weight=w) * total
    assert found.history_[0].inertia == pytest.approx(before)
    [run] = compare(X, 9, {name: METHODS[name]}, seeds=[3])
    assert run.curve[0][1] > run.curve[-1][1] == pytest.approx(run.distortion)


def test_refined_rejects_other_metrics() -> None:
    with pytest.raises(ValueError, match=r"'metric' parameter of Refined .* Got 'cosine'"):
        Refined(BisectingKMeans(4), metric="cosine").fit(np.eye(5))


def test_refined_follows_the_conventions_of_estimators() -> None:
    X, _ = blobs(100, 3, 4)
    model = Refined(BisectingKMeans(4, random_state=0), n_threads=1)
    assert clone(model).get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert model.set_params(estimator__n_clusters=5).estimator.n_clusters == 5
    model.fit(X)
    assert not hasattr(model.estimator, "labels_"), "the estimator of the user must not be fitted"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"'estimator' parameter of Refined .* Got None"):
        Refined(None).fit(X)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_refined_accepts_trees_with_fewer_leaves() -> None:
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    model = Refined(BisectingBoostKMeans(6, random_state=0)).fit(X)
    assert len(model.cluster_centers_) == 3
    assert model.inertia_ == 0


# ---- scores against classes


def test_scores_leave_out_rows_of_unknown_class() -> None:
    scores = class_scores(["a", None, "b", "b", None], [0, 0, 1, 1, 1])
    assert scores == {"entropy": 0.0, "purity": 1.0, "nmi": 1.0, "ari": 1.0}
    with pytest.raises(ValueError, match="at least one known class"):
        class_scores([None, None], [0, 1])


def test_summary_of_scores() -> None:
    X, classes = blobs(120, 3, 6, spread=8.0)
    methods = {name: METHODS[name] for name in ("k-means", "BKM(non)")}
    runs = [
        run for k in (3, 5) for run in compare(X, k, methods, seeds=range(4), classes=classes.tolist())
    ]
    summaries = summarize_scores(runs)
    assert [(s.method, s.n_clusters) for s in summaries] == [
        ("k-means", 3), ("BKM(non)", 3), ("k-means", 5), ("BKM(non)", 5)
    ]  # fmt: skip
    for summary in summaries:
        labels = [METHODS[summary.method](summary.n_clusters, s).fit(X).labels_ for s in range(4)]
        entropies = [metrics.entropy(classes, one) for one in labels]
        objectives = [metrics.average_distortion(X, one) for one in labels]
        assert summary.mean["entropy"] == pytest.approx(np.mean(entropies))
        assert summary.deviation["entropy"] == pytest.approx(np.std(entropies, ddof=1))
        assert summary.by_entropy["entropy"] == min(entropies)
        assert summary.by_objective["entropy"] == entropies[int(np.argmin(objectives))]
        chosen = labels[int(np.argmin(objectives))]
        assert summary.by_objective["purity"] == metrics.purity(classes, chosen)


def test_summary_of_failed_runs() -> None:
    def fails(n_clusters: int, seed: int | None) -> Any:
        raise MemoryError("too much")

    methods = {"bad": fails, "k-means": METHODS["k-means"]}
    runs = list(compare(np.eye(9), 3, methods, classes=list("aaabbbccc")))
    bad, good = summarize_scores(runs)
    assert isinstance(bad.error, MemoryError)
    assert not bad.runs
    assert good.error is None
    assert good.deviation["nmi"] == 0
    with pytest.raises(ValueError, match="no scores"):
        _ = summarize_scores(compare(np.eye(9), 3, {"k": METHODS["k-means"]}))[0].mean
