"""The bisecting tree: its nodes, its cuts, the order of its splits, and its refinement."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.exceptions import ConvergenceWarning

import reference
from boostkmeans import BisectingBoostKMeans, ClusterTree
from conftest import blobs, run_python, same_partition


def fit(X: NDArray[Any], k: int, sample_weight: Any = None, **parameters: Any) -> BisectingBoostKMeans:
    model = BisectingBoostKMeans(k, **{"random_state": 0, "n_threads": 1, **parameters})
    return model.fit(X, sample_weight=sample_weight)


def rows_under(tree: ClusterTree, node: int) -> NDArray[np.bool_]:
    """Return a mask of the rows of a node."""
    if tree.clusters[node] >= 0:
        return np.asarray(tree.labels == tree.clusters[node])
    parts = [int(c) for c in tree.children[node] if c >= 0]
    return np.asarray(np.any([rows_under(tree, c) for c in parts], axis=0))


def check_nodes(tree: ClusterTree, X: NDArray[Any], w: NDArray[np.float64] | None = None) -> None:
    """Compare size, weight, centre and inertia of every node with those of its rows."""
    w = np.ones(len(X)) if w is None else w
    X = X.astype(np.float64)
    scale = float((w[:, None] * (X - X.mean(axis=0)) ** 2).sum())
    for node in range(len(tree.sizes)):
        inside = rows_under(tree, node) & (w > 0)
        assert tree.sizes[node] == inside.sum()
        assert tree.weights[node] == pytest.approx(w[inside].sum())
        mean = np.average(X[inside], axis=0, weights=w[inside])
        np.testing.assert_allclose(tree.centers[node], mean, rtol=1e-9, atol=1e-9 * np.abs(X).max())
        expected = reference.inertia(X[inside], np.zeros(inside.sum(), dtype=np.int32), w[inside])
        assert tree.inertia[node] == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)
        for child in tree.children[node]:
            assert child == -1 or tree.parents[child] == node


def check_order(tree: ClusterTree, priority: NDArray[Any]) -> None:
    """Check that every split was that of the leaf with the highest priority."""
    leaves = {0}
    for node in tree.splits.tolist():
        assert priority[node] >= max(priority[list(leaves)]) * (1 - 1e-6)
        leaves.remove(node)
        leaves |= {int(c) for c in tree.children[node] if c >= 0}


@pytest.mark.parametrize("init", ["random-partition", "random", "k-means++"])
@pytest.mark.parametrize("split", ["largest", "inertia"])
@pytest.mark.parametrize("n_sections", [2, 3, 5])
def test_nodes_match_their_rows(isa: str, init: str, split: str, n_sections: int) -> None:
    X = np.random.default_rng(0).normal(size=(300, 7))
    model = fit(X, 20, init=init, split=split, n_sections=n_sections)
    tree = model.tree_
    assert tree.n_leaves == 20
    check_nodes(tree, X)
    check_order(tree, tree.sizes if split == "largest" else tree.inertia)
    assert model.inertia_ == pytest.approx(tree.inertia[tree.clusters >= 0].sum())
    np.testing.assert_array_equal(tree.labels, model.labels_)


def test_nodes_match_their_rows_if_sets_are_sampled(isa: str, sift: NDArray[np.uint8]) -> None:
    for split in ("largest", "inertia"):
        tree = fit(sift, 12, split=split).tree_
        check_nodes(tree, sift)
        check_order(tree, tree.sizes if split == "largest" else tree.inertia)


def test_fits_weighted_rows() -> None:
    X = np.random.default_rng(0).normal(
        size=(6000, 128)
    )  # Too large for the cache: the first splits use samples.
    w = np.random.default_rng(1).integers(0, 4, 6000).astype(float)
    for n_sections in (2, 3):
        model = fit(X, 9, w, n_sections=n_sections, split="inertia")
        check_nodes(model.tree_, X, w)
        np.testing.assert_array_equal(fit(X, 9, 4 * w, n_sections=n_sections, split="inertia").labels_,
                                      model.labels_)  # fmt: skip
    check_order(fit(X, 9, w).tree_, fit(X, 9, w).tree_.weights)


def test_rows_without_weight_get_the_nearest_leaf() -> None:
    X, _ = blobs(200, 3, 4)
    w = np.r_[np.ones(150), np.zeros(50)]
    model = fit(X, 4, w)
    np.testing.assert_array_equal(model.labels_[150:], model.predict(X[150:]))


@pytest.mark.parametrize("split", ["largest", "inertia"])
def test_cut_equals_a_smaller_tree(split: str, sift: NDArray[np.uint8]) -> None:
    X = sift[:6000]
    model = fit(X, 200, split=split)
    for k in (1, 2, 3, 17, 64, 199, 200):
        early = fit(X, k, split=split)
        np.testing.assert_array_equal(model.cut(k), early.labels_)
        nodes = model.tree_.cut_nodes(k)
        np.testing.assert_allclose(model.tree_.centers[nodes], early.cluster_centers_, atol=1e-9)


def test_cuts_trees_with_more_sections() -> None:
    X = np.random.default_rng(0).normal(size=(400, 5))
    model = fit(X, 11, n_sections=4)  # Sizes 1, 4, 7 and 10, and a last split into two.
    for k in (1, 4, 7, 10):
        np.testing.assert_array_equal(model.cut(k), fit(X, k, n_sections=4).labels_)
    np.testing.assert_array_equal(model.cut(11), model.labels_)
    with pytest.raises(ValueError, match=r"can be cut into \[1, 4, 7, 10, 11\] clusters. Got 5"):
        model.cut(5)
    for k in (0, -1, 12):
        with pytest.raises(ValueError, match="can be cut"):
            model.cut(k)


@pytest.mark.parametrize("n", [3000, 20_000])
def test_tree_does_not_depend_on_threads(n: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, 33)).astype(np.float32)
    one = fit(X, 150, split="inertia")
    for n_threads in (2, 3):
        other = fit(X, 150, split="inertia", n_threads=n_threads)
        np.testing.assert_array_equal(one.labels_, other.labels_)
        np.testing.assert_array_equal(one.tree_.children, other.tree_.children)


def test_tree_does_not_depend_on_units_offset_dtype_or_layout(sift: NDArray[np.uint8]) -> None:
    plain = fit(sift[:5000], 50).labels_
    for other in (sift[:5000].astype(np.float32), sift[:5000].astype(np.float64) * 1e-20,
                  sift[:5000].astype(np.float64) + 2.0**30,
                  np.asfortranarray(sift[:5000].astype(np.float16))):  # fmt: skip
        np.testing.assert_array_equal(fit(other, 50).labels_, plain)


def test_finds_blobs_at_different_distances() -> None:
    X, planted = blobs(600, 5, 4)
    tight = np.r_[X, 1e9 + 1e-3 * X[:300]]  # Far away, and very tight in comparison.
    labels = fit(tight, 5, split="inertia").labels_
    assert same_partition(labels, np.r_[planted, np.full(300, 4)])
    inside = fit(tight, 8, split="largest").tree_
    check_nodes(inside, tight)
    pairs = 1.0 + 1e-13 * np.arange(4)[:, None].repeat(
        5, axis=0
    )  # Nearly equal: only float64 distinguishes them.
    assert same_partition(fit(pairs, 4).labels_, np.repeat(np.arange(4), 5))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(2, 4), st.integers(0, 2**20))
def test_fits_few_and_equal_rows(n: int, k: int, n_sections: int, seed: int) -> None:
    X = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)
    k = min(k, n)
    distinct = len(np.unique(X, axis=0))
    init = ("random-partition", "random", "k-means++")[seed % 3]
    model = BisectingBoostKMeans(k, n_sections=n_sections, init=init, random_state=seed)
    if n_sections == 2 and distinct < k:
        with pytest.warns(ConvergenceWarning, match=rf"\({distinct}\) found smaller than n_clusters"):
            model.fit(X)
        assert model.inertia_ == pytest.approx(0, abs=1e-20)
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            model.fit(X)
    check_nodes(model.tree_, X)
    assert model.tree_.sizes.min() > 0
    assert model.tree_.n_leaves <= k
    assert model.cluster_centers_.shape == (model.tree_.n_leaves, 2)


def test_stops_splitting_equal_rows() -> None:
    X = np.ones((30_000, 130))
    with pytest.warns(ConvergenceWarning, match=r"\(1\) found smaller than n_clusters \(7\)"):
        assert fit(X, 7).cluster_centers_.tolist() == [[1] * 130]
    X[[77, 5000, 29_999], :3] = [[2, 1, 1], [2, 1, 1], [5, 5, 5]]  # A sample hardly contains these rows.
    assert sorted(fit(X, 3).cluster_sizes_.tolist()) == [1, 2, 29_997]
    with pytest.warns(ConvergenceWarning, match=r"\(3\) found"):
        fit(X, 4)


@pytest.mark.parametrize("seed", range(4))
def test_separates_one_row_from_many_equal_ones(seed: int) -> None:
    X = np.zeros((20_000, 128), dtype=np.float32)
    X[19_999] = 1
    for n_sections in (2, 3, 5):  # Only two sections can differ.
        for n_threads in (1, 2):
            tree = fit(
                X, n_sections, n_sections=n_sections, random_state=seed, n_threads=n_threads
            ).tree_
            assert tree.sizes.min() > 0
            assert tree.sizes[0] == tree.sizes[1:].sum() == 20_000
            assert tree.inertia[1:].max() == 0


@pytest.mark.parametrize("init", ["random-partition", "random", "k-means++"])
def test_sections_are_never_empty(init: str) -> None:
    for seed in range(20):
        tree = fit(np.array([[0.0], [1], [1]]), 3, n_sections=3, init=init, random_state=seed).tree_
        assert tree.sizes.tolist() == [3, 1, 1, 1]
    X = np.random.default_rng(0).normal(size=(5000, 128)).astype(np.float32)
    assert fit(X, 400, n_sections=400, init=init).tree_.sizes.min() > 0


@pytest.mark.parametrize("moves", ["best", "first"])
def test_refines_fewer_leaves_than_requested(moves: str) -> None:
    with pytest.warns(ConvergenceWarning, match=r"\(1\) found"):
        model = fit(np.ones((10, 2)), 5, refine=True, moves=moves, n_candidates=2)
    assert model.predict(np.ones((3, 2)), tree=True).tolist() == [0, 0, 0]
    X = np.random.default_rng(0).integers(0, 3, size=(5000, 3)).astype(float)
    for n_candidates in ("auto", 26, 5):
        with pytest.warns(ConvergenceWarning, match=r"\(27\) found"):
            model = fit(X, 600, refine=True, moves=moves, n_candidates=n_candidates)
        assert model.inertia_ == pytest.approx(0, abs=1e-12)
        assert model.cut(27).max() == 26


def test_fits_memory_mapped_rows(tmp_path: Path, sift: NDArray[np.uint8]) -> None:
    np.save(tmp_path / "rows.npy", sift)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    np.testing.assert_array_equal(fit(mapped, 100).labels_, fit(sift, 100).labels_)


@pytest.mark.process
@pytest.mark.slow
def test_interrupt_stops_the_tree() -> None:
    result = run_python("""
import os, signal, threading
import numpy as np
from boostkmeans import BisectingBoostKMeans, _core
signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(0).normal(size=(300_000, 64)).astype(np.float32)
model = BisectingBoostKMeans(50_000)
split = _core.split
def split_and_interrupt(*given, **named):
    _core.split = split
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    return split(*given, **named)
_core.split = split_and_interrupt
try:
    model.fit(X)
except KeyboardInterrupt:
    print("interrupted", hasattr(model, "labels_"))
""")
    assert result.stdout.split() == ["interrupted", "False"], result.stderr


def test_one_cluster_per_row() -> None:
    X = np.random.default_rng(0).normal(size=(500, 2))
    model = fit(X, 500)
    assert model.inertia_ == pytest.approx(0, abs=1e-20)
    assert sorted(model.labels_) == list(range(500))
    assert fit(X, 1).labels_.tolist() == [0] * 500


def test_split_is_close_to_the_best(sift: NDArray[np.uint8]) -> None:
    X = sift[:2000].astype(np.float64)
    ours = min(fit(X, 2, random_state=s).inertia_ for s in range(3))
    lloyd = KMeans(2, n_init=10, random_state=0).fit(X).inertia_
    assert ours <= lloyd * 1.002


def test_is_as_good_as_bisecting_kmeans_of_scikit_learn(sift: NDArray[np.uint8]) -> None:
    theirs = BisectingKMeans(100, bisecting_strategy="largest_cluster", random_state=0).fit(
        sift.astype(np.float64)
    )
    assert fit(sift, 100).inertia_ < 1.01 * theirs.inertia_


class TestRefinement:
    X = np.random.default_rng(0).normal(size=(150, 4))

    def test_refines_to_a_certified_optimum(self) -> None:
        for n_candidates in (None, 3):
            model = fit(self.X, 8, refine=True, tol=0, n_candidates=n_candidates)
            assert (model.converged_, model.stop_reason_) == (True, "certified")
            assert reference.improving_move(self.X, model.labels_, 8) is None
            np.testing.assert_array_equal(model.predict(self.X), model.labels_)
            assert model.history_[0].kind == "tree"
            assert model.n_iter_ == len(model.history_)

    def test_refinement_lowers_the_inertia_and_keeps_the_tree(self) -> None:
        plain, refined = fit(self.X, 8), fit(self.X, 8, refine=True)
        assert refined.inertia_ < plain.inertia_
        assert refined.history_[0].inertia == pytest.approx(plain.inertia_)
        np.testing.assert_array_equal(refined.cut(8), plain.labels_)
        np.testing.assert_array_equal(refined.tree_.centers, plain.tree_.centers)

    def test_refine_limits_the_number_of_sweeps(self) -> None:
        model = fit(self.X, 8, refine=1, tol=0)
        assert (model.n_iter_, model.stop_reason_) == (2, "max_iter")
        assert fit(self.X, 8).n_iter_ == 1
        assert fit(self.X, 8).stop_reason_ == "tree"

    def test_refine_accepts_numpy_booleans(self) -> None:
        assert fit(self.X, 8, refine=np.False_).stop_reason_ == "tree"
        every = fit(self.X, 8, refine=np.True_, tol=0)
        assert every.converged_
        assert every.n_iter_ == fit(self.X, 8, refine=True, tol=0).n_iter_ > 2

    def test_refinement_stops_on_callback_and_time_limit(self) -> None:
        seen: list[Any] = []

        def enough(record: Any) -> bool:
            seen.append(record)
            return True

        assert fit(self.X, 8, refine=True, callback=enough).stop_reason_ == "callback"
        assert len(seen) == 1
        assert fit(self.X, 8, refine=True, max_time=1e-9).stop_reason_ == "max_time"


def test_keeps_the_best_of_several_trees() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    assert fit(X, 8, n_init=5).inertia_ <= fit(X, 8).inertia_


def test_fits_cosine() -> None:
    X = np.abs(np.random.default_rng(0).normal(size=(500, 6)))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = fit(X, 12, metric="cosine")
    check_nodes(model.tree_, unit)
    assert model.inertia_ == pytest.approx(reference.inertia(unit, model.labels_))


@pytest.mark.parametrize("n_sections", [2, 3])
def test_tree_prediction_follows_the_nearest_children(isa: str, n_sections: int) -> None:
    X = np.random.default_rng(0).normal(size=(400, 6))
    model = fit(X, 31, n_sections=n_sections)
    tree = model.tree_
    found = model.predict(X, tree=True)
    for i in range(0, 400, 7):
        node = 0
        while tree.children[node, 0] >= 0:
            parts = tree.children[node][tree.children[node] >= 0]
            node = int(parts[((tree.centers[parts] - X[i]) ** 2).sum(axis=1).argmin()])
        assert found[i] == tree.clusters[node]
    with pytest.raises(ValueError, match="not both"):
        model.predict(X, tree=True, n_candidates=3)


def test_tree_prediction_finds_blobs() -> None:
    X, _ = blobs(2000, 4, 16)
    model = fit(X, 16)
    np.testing.assert_array_equal(model.predict(X, tree=True), model.labels_)


@pytest.mark.parametrize("n_sections", [2, 4])
@pytest.mark.parametrize("split", ["largest", "inertia"])
def test_linkage_is_valid_for_scipy(n_sections: int, split: str) -> None:
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = fit(X, 30, n_sections=n_sections, split=split)
    Z = model.tree_.to_linkage()
    assert hierarchy.is_valid_linkage(Z)
    assert hierarchy.is_monotonic(Z)
    drawn = hierarchy.dendrogram(Z, no_plot=True)
    assert sorted(drawn["leaves"]) == list(range(30))
    assert Z[-1, 2] == pytest.approx(np.sqrt(model.tree_.inertia[0]))
    assert hierarchy.fcluster(Z, 1, criterion="maxclust").tolist() == [1] * 30
    if n_sections == 2:  # The first split is the last merge.
        halves = hierarchy.fcluster(Z, 2, criterion="maxclust")
        assert same_partition(halves[model.labels_], model.cut(2))


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_sections", 1), ("n_sections", 2.5), ("init", "auto"), ("split", "smallest"), ("refine", 0),
     ("refine", "yes"), ("n_candidates", 0), ("n_candidates", "all"), ("n_clusters", 0)],
)  # fmt: skip
def test_rejects_invalid_parameters(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of BisectingBoostKMeans must be"):
        fit(np.ones((5, 2)), **{"k": 2, name: value} if name != "n_clusters" else {"k": value})
