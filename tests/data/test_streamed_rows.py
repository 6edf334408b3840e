"""Streamed rows: fits of rows that do not fit into memory, block by block."""

import copy
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

import reference
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans._data import memory, row_source
from boostkmeans._data.memory import MemoryEstimate
from boostkmeans._data.row_source import ArraySource
from boostkmeans._data.rows import Rows
from boostkmeans._data.streamed_rows import StreamedRows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.checkpoints import checkpoint
from boostkmeans._engine.checkpoints.checkpoint import Checkpoint
from boostkmeans._steps.nearest import assign_nearest
from boostkmeans.io import open_vectors, write_vectors
from conftest import blobs, run_python
from factories import blank_partition

X, PLANTED = blobs(3000, 5, 12, spread=3.0)
WEIGHTS = np.random.default_rng(1).integers(0, 4, size=len(X)).astype(np.float64)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return a memory limit into which about 400 of the rows fit."""
    monkeypatch.setattr(memory, "PROCESS", 0)
    monkeypatch.setattr(memory, "MIN_BLOCK_ROWS", 16)
    monkeypatch.setattr(memory, "PER_CENTRE_VALUE", 8)
    monkeypatch.setattr(memory, "PER_CLUSTER", 0)
    monkeypatch.setattr(memory, "PER_WEIGHT", 0)
    return 3000 * memory.PER_STREAMED_ROW + 140_000


def source(rows: NDArray[Any], limit: int) -> Any:
    return ArraySource(rows, limit)


@pytest.mark.usefixtures("little_memory")
class TestBlocks:
    @pytest.fixture
    def rows(self, little_memory: int) -> StreamedRows:
        rows = StreamedRows.within_memory(source(X, little_memory), "euclidean", 12, 2)
        assert rows.n_blocks > 5
        return rows

    def test_frame_is_that_of_rows_in_memory(self, rows: StreamedRows) -> None:
        whole = Rows.in_own_frame(X, "euclidean", 2)
        assert np.array_equal(rows.frame.shift, whole.frame.shift)
        assert rows.frame.exponent == whole.frame.exponent

    def test_blocks_contain_all_rows_in_any_order(self, rows: StreamedRows) -> None:
        assert [block.number for block in rows.blocks()] == list(range(rows.n_blocks))
        found = np.concatenate([X[block.where] for block in rows.blocks()])
        assert np.array_equal(found, X)
        order = rows.block_order(np.random.RandomState(0))
        shuffled = [block.where.start for block in rows.blocks(order)]
        assert [block.number for block in rows.blocks(order)] == order
        assert sorted(shuffled) == [block.where.start for block in rows.blocks()] != shuffled

    def test_picked_rows_are_those_of_rows_in_memory(self, rows: StreamedRows) -> None:
        some = np.array([0, 1, 5, 700, 2999])
        whole = Rows.in_own_frame(X, "euclidean", 2)
        assert np.array_equal(rows.take(some), whole.take(some))
        assert np.array_equal(rows.sample(some).take(np.arange(5)), whole.take(some))

    @pytest.mark.parametrize("weights", [None, WEIGHTS / 4])
    def test_sums_and_inertia_are_those_of_rows_in_memory(
        self, rows: StreamedRows, weights: Any
    ) -> None:
        whole = Rows.in_own_frame(X, "euclidean", 2)
        expected, found = (blank_partition(PLANTED, 14, X.shape[1]) for _ in range(2))  # Two are empty.
        found.composites[12:] = expected.composites[12:] = 7.0  # The position of empty clusters.
        by_cluster, of_blocks = np.empty(14), np.empty(14)
        inertia, _ = expected.recompute(whole, weights, 2, inertias=by_cluster)
        inertia_of_blocks, _ = found.recompute(rows, weights, 2, inertias=of_blocks)
        assert inertia_of_blocks == pytest.approx(inertia, rel=1e-9)
        assert np.allclose(by_cluster, of_blocks, rtol=1e-9, atol=1e-12)
        assert np.allclose(expected.composites, found.composites, rtol=1e-12, atol=1e-12)
        assert np.array_equal(expected.counts, found.counts)
        assert np.allclose(expected.weights, found.weights)

    def test_nearest_centres_are_those_of_rows_in_memory(self, rows: StreamedRows) -> None:
        whole, weights = Rows.in_own_frame(X, "euclidean", 2), RowWeights.of(WEIGHTS, len(X))
        centres = whole.take(np.arange(12))
        labels, total = assign_nearest(whole, weights, centres, 2)
        labels_of_blocks, total_of_blocks = assign_nearest(rows, weights, centres, 2)
        assert np.array_equal(labels, labels_of_blocks)
        assert total == pytest.approx(total_of_blocks, rel=1e-12)


FITS: dict[str, Any] = {
    "default": BoostKMeans(12, random_state=0),
    "candidates": BoostKMeans(40, n_candidates=8, random_state=0),
    "plain": BoostKMeans(12, init="random-partition", repair=False, annealing=0, random_state=0),
    "first moves": BoostKMeans(12, moves="first", random_state=0),
    "k-means++": BoostKMeans(12, init="k-means++", n_init=2, random_state=0),
    "cosine": BoostKMeans(12, metric="cosine", random_state=0),
    "centres": BoostKMeans(12, init=X[:12], random_state=0),
    "labels": BoostKMeans(12, init=np.arange(3000) % 12, random_state=0),
    "tree": BisectingBoostKMeans(12, random_state=0),
    "tree of three": BisectingBoostKMeans(13, n_sections=3, split="inertia", random_state=0),
    "tree, refined": BisectingBoostKMeans(12, refine=True, random_state=0),
}


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("name", FITS)
def test_streamed_fit_is_consistent_and_about_as_good_as_one_in_memory(
    name: str, weights: Any, little_memory: int
) -> None:
    model, in_memory = copy.deepcopy(FITS[name]), copy.deepcopy(FITS[name])
    model.fit(source(X, little_memory), sample_weight=weights)
    in_memory.fit(X, sample_weight=weights)
    rows = (
        X / np.linalg.norm(X, axis=1, keepdims=True) if model.get_params()["metric"] == "cosine" else X
    )
    own = np.ones(len(X)) if weights is None else weights
    gaps = rows - model.cluster_centers_[model.labels_]
    assert model.inertia_ == pytest.approx((own * (gaps**2).sum(axis=1)).sum(), rel=1e-8)
    if isinstance(model.init, str):  # Otherwise both end near the given start.
        assert model.inertia_ <= in_memory.inertia_ * (1.25 if "tree" in name else 1.1)
    assert np.array_equal(np.bincount(model.labels_, minlength=model.n_clusters), model.cluster_sizes_)
    assert model.n_features_in_ == 5
    assert ("in blocks" in model.history_[0].note) == isinstance(model.init, str)
    falling = [record.inertia for record in model.history_]
    assert falling == sorted(falling, reverse=True)


def test_certified_partition_is_a_local_optimum(little_memory: int) -> None:
    model = BoostKMeans(12, tol=0, random_state=0).fit(source(X, little_memory))
    assert model.converged_
    assert reference.improving_move(X, model.labels_, 12) is None
    assert np.array_equal(model.predict(X), model.labels_)


def test_partition_certified_after_candidates_is_a_local_optimum(little_memory: int) -> None:
    rows = X[:1000]
    limit = little_memory - 90_000  # Labels of fewer rows need less memory.
    model = BoostKMeans(24, n_candidates=6, tol=0, random_state=0).fit(source(rows, limit))
    assert model.converged_
    assert "in blocks" in model.history_[0].note
    assert reference.improving_move(rows, model.labels_, 24) is None


def test_labels_do_not_depend_on_the_number_of_threads(little_memory: int) -> None:
    results = [
        BoostKMeans(40, n_candidates=8, random_state=0, n_threads=n)
        .fit(source(X, little_memory))
        .labels_
        for n in (1, 2, 3)
    ]
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")  # Few distinct rows of booleans.
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8, np.int32, np.bool_, ">f8"])
def test_streams_all_types(dtype: Any, little_memory: int) -> None:
    rows = np.abs(X * 3).astype(dtype)
    limit = little_memory - 12 * 3000 * (8 - min(8, np.dtype(dtype).itemsize)) // 4
    model = BoostKMeans(6, random_state=0).fit(source(rows, limit))
    assert "in blocks" in model.history_[0].note
    assert np.array_equal(model.predict(np.asarray(rows, dtype=np.float64)), model.labels_)


def test_tree_describes_all_rows(little_memory: int) -> None:
    model = BisectingBoostKMeans(12, random_state=0).fit(source(X, little_memory), sample_weight=WEIGHTS)
    tree = model.tree_
    assert np.array_equal(tree.labels, model.labels_)
    assert tree.weights[0] == WEIGHTS.sum()
    for node in range(len(tree.parents)):
        children = tree.children[node][tree.children[node] >= 0]
        if len(children):
            assert tree.weights[node] == pytest.approx(tree.weights[children].sum())
    own = model.cut(1)
    assert (own == 0).all()
    mean = np.average(X, axis=0, weights=WEIGHTS)
    assert np.allclose(tree.centers[0], mean)
    assert tree.inertia[0] == pytest.approx((WEIGHTS @ ((X - mean) ** 2)).sum())


def test_inertia_of_narrow_clusters_is_accurate(little_memory: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((12, 5))[np.arange(3000) % 12] + 1e-8 * rng.normal(size=(3000, 5))
    model = BoostKMeans(12, random_state=0).fit(source(rows, little_memory))
    assert model.inertia_ == pytest.approx(BoostKMeans(12, random_state=0).fit(rows).inertia_, rel=1e-6)


def test_streamed_rows_are_not_repaired(little_memory: int) -> None:
    model = BoostKMeans(12, init=X[:12], repair=True, annealing=0.1, random_state=0)
    assert not any(r.swaps for r in model.fit(source(X, little_memory)).history_)


@pytest.mark.parametrize("weights", [np.ones(3000), WEIGHTS + 1])
def test_reads_no_block_for_zero_weights_if_all_weights_are_positive(
    weights: NDArray[Any], little_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        pytest.fail("all weights are positive")

    for module in ("_estimators.clusterer", "_engine.fit", "_steps.tree_builder"):
        monkeypatch.setattr(f"boostkmeans.{module}.assign_zero_weight_rows", fail)
    for model in (BoostKMeans(12, random_state=0), BisectingBoostKMeans(12, random_state=0)):
        model.fit(source(X, little_memory), sample_weight=weights)


class TestLimits:
    """Limits on the sizes of clusters, and the spread of clusters, of rows in blocks."""

    @pytest.mark.parametrize(
        "parameters", [{}, {"n_candidates": 4}, {"init": X[:12]}, {"tol": 0}], ids=str
    )
    def test_limits_hold(self, parameters: dict[str, Any], little_memory: int) -> None:
        limits: dict[str, Any] = {"min_size": 200, "max_size": 260}
        model = BoostKMeans(12, random_state=0, **limits, **parameters).fit(source(X, little_memory))
        assert model.cluster_sizes_.min() >= 200
        assert model.cluster_sizes_.max() <= 260
        in_memory = BoostKMeans(12, random_state=0, **limits, **parameters).fit(X)
        assert model.inertia_ < 1.3 * in_memory.inertia_

    def test_one_limit_per_cluster(self, little_memory: int) -> None:
        most = np.array([100, 900, 300, 500, 200, 200, 200, 200, 300, 300, 300, 300])
        model = BoostKMeans(12, max_size=most, random_state=0).fit(source(X, little_memory))
        assert (model.cluster_sizes_ <= most).all()

    def test_limits_of_a_tree(self, little_memory: int) -> None:
        model = BisectingBoostKMeans(12, max_size=270, random_state=0).fit(source(X, little_memory))
        assert model.cluster_sizes_.max() <= 270

    @pytest.mark.parametrize("parameters", [{}, {"n_candidates": 4}, {"max_size": 300}], ids=str)
    def test_spread(self, parameters: dict[str, Any], little_memory: int) -> None:
        model = BoostKMeans(12, random_state=0, **parameters).fit(source(X, little_memory))
        gaps = ((X - model.cluster_centers_[model.labels_]) ** 2).sum(axis=1)
        means = np.bincount(model.labels_, weights=gaps) / model.cluster_sizes_
        assert model.cluster_spread_ is not None
        np.testing.assert_allclose(model.cluster_spread_, np.sqrt(means), rtol=1e-9)


class TestErrors:
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_reports_the_row_of_a_value_that_is_not_finite(
        self, value: float, little_memory: int
    ) -> None:
        rows = X.copy()
        rows[2345, 3] = value
        with pytest.raises(ValueError, match="row 2345, column 3"):
            BoostKMeans(3).fit(source(rows, little_memory))

    def test_rejects_a_callable_that_needs_all_rows_in_memory(self, little_memory: int) -> None:
        with pytest.raises(ValueError, match="callable init needs all rows in memory"):
            BoostKMeans(3, init=lambda X, k, r: X[:k]).fit(source(X, little_memory))

    def test_reports_the_memory_that_is_needed(self, little_memory: int) -> None:
        with pytest.raises(MemoryError, match=r"needs at least .* The limit is 0 MiB"):
            BoostKMeans(3).fit(source(X, 1000))
        need = MemoryEstimate(10**8, 512, 10_000, 128)
        with pytest.raises(MemoryError, match=r"needs at least (\S+) GiB"):
            need.split(10**9)

    def test_needed_memory_is_at_most_that_of_all_rows_in_memory(self) -> None:
        need = MemoryEstimate(500, 8_000_000, 4, 1_000_000)
        assert need.fits(need.in_memory)
        with pytest.raises(MemoryError) as error:
            need.split(2**30)
        assert memory.format_bytes(need.in_memory) in str(error.value)

    def test_reported_memory_is_the_least_that_suffices(self) -> None:
        need = MemoryEstimate(10**8, 512, 10_000, 128)
        low, high = 0, 2**40
        while high - low > 1:
            middle = (low + high) // 2
            try:
                need.split(middle)
                high = middle
            except MemoryError:
                low = middle
        with pytest.raises(MemoryError) as error:
            need.split(low)
        assert memory.format_bytes(high) in str(error.value)


def test_interrupted_fit_leaves_a_model(little_memory: int) -> None:
    def interrupt(record: Any) -> None:
        raise KeyboardInterrupt

    model = BoostKMeans(12, random_state=0, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(source(X, little_memory))
    assert (model.stop_reason_, len(model.labels_)) == ("interrupted", len(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "candidates", "k-means++", "tree", "tree, refined"])
def test_resumes_from_every_stage(
    name: str, little_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MAX_TIME_SHARE", 1e12)
    path = tmp_path / "state"
    model = copy.deepcopy(FITS[name])
    expected = model.fit(source(X, little_memory)).labels_.copy()
    states: list[str] = []
    within_a_sweep: list[bool] = []
    write = Checkpoint._write

    def write_and_copy(self: Checkpoint, state: Any) -> None:
        write(self, state)
        shutil.copy(path, tmp_path / str(len(states)))
        states.append(state.get("stage", "end"))
        within_a_sweep.append(state.get("sweeps", {}).get("fit", {}).get("so_far") is not None)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_write", write_and_copy)
        model.set_params(checkpoint=path).fit(source(X, little_memory))
    trees = {"tree": {"sample/tree", "end"}, "tree, refined": {"sample/tree", "sweeps", "end"}}
    assert set(states) >= trees.get(name, {"sample/sweeps", "sweeps", "end"})
    n_reads = []
    for number in range(0, len(states), max(1, len(states) // 12)):
        shutil.copy(tmp_path / str(number), path)
        counted = source(X, little_memory)
        counted.read = Mock(wraps=counted.read)
        assert np.array_equal(model.fit(counted).labels_, expected), states[number]
        n_reads.append(counted.read.call_count)
    assert n_reads[-1] < n_reads[0]  # Later checkpoints leave less to do.
    with pytest.raises(ValueError, match="parts"):
        model.fit(source(X, little_memory + 20_000))
    if name == "candidates":
        assert any(within_a_sweep)


def test_large_memory_maps_are_streamed(
    little_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert "in blocks" not in BoostKMeans(12, random_state=0).fit(mapped).history_[0].note
    monkeypatch.setattr(row_source, "default_memory_limit", lambda: little_memory)
    assert "in blocks" in BoostKMeans(12, random_state=0).fit(mapped).history_[0].note


class TestVectors:
    """Fits of files, opened by `open_vectors`."""

    @pytest.mark.parametrize("ending", ["npy", "fvecs", "fbin", "parquet"])
    def test_file_gives_the_result_of_an_array(
        self, ending: str, little_memory: int, tmp_path: Path
    ) -> None:
        if ending == "parquet":
            pytest.importorskip("pyarrow")
        rows = X.astype(np.float32)
        path = tmp_path / f"x.{ending}"
        write_vectors(path, rows)
        limit = little_memory - 20_000
        with open_vectors(path, max_memory=limit) as vectors:
            in_memory = source(rows, limit)
            in_memory.held_bytes = vectors.held_bytes
            expected = BoostKMeans(12, random_state=0).fit(in_memory)
            model = BoostKMeans(12, random_state=0).fit(vectors)
            assert np.array_equal(model.labels_, expected.labels_)
            assert "in blocks" in model.history_[0].note
            assert np.array_equal(model.predict(vectors), model.predict(rows))
            assert model.score(vectors) == pytest.approx(model.score(rows))
            assert np.array_equal(model.transform(vectors), model.transform(rows))
            tree = BisectingBoostKMeans(12, random_state=0).fit(vectors)
            assert np.array_equal(tree.predict(vectors, tree=True), tree.predict(rows, tree=True))
            assert np.array_equal(
                model.predict(vectors, n_candidates=4), model.predict(rows, n_candidates=4)
            )
        with open_vectors(path) as vectors:  # Small enough to be read into memory.
            whole = BoostKMeans(12, random_state=0).fit(vectors)
            assert np.array_equal(whole.labels_, BoostKMeans(12, random_state=0).fit(rows).labels_)

    def test_predicts_in_batches(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        np.save(tmp_path / "x.npy", X)
        model = BoostKMeans(12, random_state=0).fit(X)
        monkeypatch.setattr(row_source, "BATCH_BYTES", 1000)
        with open_vectors(tmp_path / "x.npy") as vectors:
            assert np.array_equal(model.predict(vectors), model.predict(X))
        broken = X.copy()
        broken[1234, 0] = np.nan
        np.save(tmp_path / "x.npy", broken)
        with open_vectors(tmp_path / "x.npy") as vectors, pytest.raises(ValueError, match="row 1234"):
            model.predict(vectors)
        with open_vectors(tmp_path / "x.npy") as vectors, pytest.raises(NotFittedError):
            BoostKMeans(3).predict(vectors)
        np.save(tmp_path / "x.npy", X[:, :3])
        with open_vectors(tmp_path / "x.npy") as vectors, pytest.raises(ValueError, match="3 features"):
            model.predict(vectors)

    def test_rejects_other_feature_names(self, tmp_path: Path) -> None:
        for name, header in (("a", "x,y"), ("b", "y,x")):
            lines = "\n".join(f"{a:.3f},{b:.3f}" for a, b in X[:50, :2])
            (tmp_path / f"{name}.csv").write_text(f"{header}\n{lines}\n")
        with open_vectors(tmp_path / "a.csv") as vectors:
            model = BoostKMeans(3, random_state=0).fit(vectors)
            assert model.feature_names_in_.tolist() == ["x", "y"]
            assert len(model.predict(vectors)) == 50
        with open_vectors(tmp_path / "b.csv") as vectors, pytest.raises(ValueError, match="column 1"):
            model.predict(vectors)


@pytest.mark.process
@pytest.mark.slow
def test_fits_a_file_larger_than_the_address_space(tmp_path: Path) -> None:
    # 256 MB of rows, in a process that may allocate 160 MB after the imports.
    result = run_python(
        f"""
import pathlib, re, resource
import numpy as np
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans._data import memory
from boostkmeans.io import open_vectors
path = {str(tmp_path / "x.npy")!r}
out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(1_000_000, 64))
rng = np.random.default_rng(0)
for begin in range(0, 1_000_000, 50_000):
    out[begin:begin + 50_000] = rng.normal(size=(50_000, 64))
del out
BoostKMeans(3, n_threads=2).fit(np.zeros((50, 2)) + np.arange(50)[:, None])  # Start the threads.
status = pathlib.Path("/proc/self/status").read_text()
size = int(re.search(r"VmSize:\\s+(\\d+)", status)[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (size + 160 * 2**20,) * 2)
for estimator in (BoostKMeans, BisectingBoostKMeans):
    with open_vectors(path, max_memory=memory.PROCESS + 96 * 2**20) as vectors:
        model = estimator(64, max_iter=3, random_state=0, n_threads=2).fit(vectors)
        assert model.cluster_sizes_.sum() == 1_000_000
        assert len(model.predict(vectors)) == 1_000_000
    print(model.history_[0].note)
try:
    np.load(path)
except MemoryError:
    print("too large")
""",
        MALLOC_ARENA_MAX="1",  # Each arena would reserve 64 MB of addresses.
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("in blocks") == 2
    assert "too large" in result.stdout


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(("n", "d", "k"), [(60_000, 16, 20_000), (12_000, 128, 4000)])
def test_estimate_bounds_the_memory_of_many_clusters(n: int, d: int, k: int) -> None:
    result = run_python(
        f"""
import pathlib, re
import numpy as np
from boostkmeans import BoostKMeans
from boostkmeans._data.memory import PROCESS, MemoryEstimate

def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])

X = np.random.default_rng(0).normal(size=({n}, {d})).astype(np.float32)
BoostKMeans(600, n_threads=2, max_iter=30).fit(X[:2000])  # Load all modules, and start the threads.
pathlib.Path("/proc/self/clear_refs").write_text("5")  # Reset the peak.
before = kilobytes("VmRSS")
model = BoostKMeans({k}, n_threads=2, random_state=0, max_iter=25).fit(X)
assert {{record.kind for record in model.history_}} >= {{"start", "candidates", "repair"}}
limit = MemoryEstimate({n}, 4 * {d}, {k}, {d}).in_memory - PROCESS - X.nbytes
print((kilobytes("VmHWM") - before) * 1024 / limit)
"""
    )
    assert result.returncode == 0, result.stderr
    assert 0 < float(result.stdout) < 1


def test_leaf_size_counts_all_rows(little_memory: int) -> None:
    model = BoostKMeans(leaf_size=250, max_iter=1, random_state=0).fit(source(X, little_memory))
    assert model.n_clusters_ == 12


def test_centres_that_do_not_fit_are_an_error(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(5000, 64)).astype(np.float32)
    np.save(tmp_path / "x.npy", rows)
    limit = memory.PROCESS + 2**24
    with open_vectors(tmp_path / "x.npy", max_memory=limit) as vectors:
        BoostKMeans(8, max_iter=1).fit(vectors)
        with pytest.raises(MemoryError, match=r"64 features into 4,000 clusters needs at least"):
            BoostKMeans(4000, max_iter=1).fit(vectors)
