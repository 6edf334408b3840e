"""Rows that are larger than the memory: the same mathematics, part by part."""

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
from boostkmeans._data import memory, streamed_rows
from boostkmeans._data.memory import Need
from boostkmeans._data.row_source import ArraySource, StreamedRows
from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine import checkpoint
from boostkmeans._steps.partition import assigned
from boostkmeans.io import open_vectors, write_vectors
from conftest import blobs, run_python
from factories import blank_partition

X, PLANTED = blobs(3000, 5, 12, spread=3.0)
WEIGHTS = np.random.default_rng(1).integers(0, 4, size=len(X)).astype(np.float64)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit in which about 400 of the rows find room."""
    monkeypatch.setattr(memory, "PROCESS", 0)
    monkeypatch.setattr(memory, "FEWEST_ROWS", 16)
    monkeypatch.setattr(memory, "PER_CENTRE_VALUE", 8)
    monkeypatch.setattr(memory, "PER_CLUSTER", 0)
    monkeypatch.setattr(memory, "PER_WEIGHT", 0)
    return 3000 * memory.PER_ROW_ELSEWHERE + 140_000


def source(rows: NDArray[Any], limit: int) -> Any:
    return ArraySource(rows, limit)


@pytest.mark.usefixtures("little_memory")
class TestParts:
    @pytest.fixture
    def rows(self, little_memory: int) -> StreamedRows:
        rows = StreamedRows.of(source(X, little_memory), "euclidean", 12, 2)
        assert rows.n_parts > 5
        return rows

    def test_the_frame_is_that_of_all_rows(self, rows: StreamedRows) -> None:
        whole = Rows.in_own_frame(X, "euclidean", 2)
        assert np.array_equal(rows.frame.shift, whole.frame.shift)
        assert rows.frame.exponent == whole.frame.exponent

    def test_they_are_all_rows_in_order_or_shuffled(self, rows: StreamedRows) -> None:
        assert [part.number for part in rows.parts()] == list(range(rows.n_parts))
        found = np.concatenate([X[part.where] for part in rows.parts()])
        assert np.array_equal(found, X)
        order = rows.order(np.random.RandomState(0))
        shuffled = [part.where.start for part in rows.parts(order)]
        assert [part.number for part in rows.parts(order)] == order
        assert sorted(shuffled) == [part.where.start for part in rows.parts()] != shuffled

    def test_some_rows_can_be_picked(self, rows: StreamedRows) -> None:
        some = np.array([0, 1, 5, 700, 2999])
        whole = Rows.in_own_frame(X, "euclidean", 2)
        assert np.array_equal(rows.take(some), whole.take(some))
        assert np.array_equal(rows.sample(some).take(np.arange(5)), whole.take(some))

    @pytest.mark.parametrize("weights", [None, WEIGHTS / 4])
    def test_sums_and_inertia_are_those_of_all_rows(self, rows: StreamedRows, weights: Any) -> None:
        whole = Rows.in_own_frame(X, "euclidean", 2)
        expected, found = (blank_partition(PLANTED, 14, X.shape[1]) for _ in range(2))  # two are empty
        found.composites[12:] = expected.composites[12:] = 7.0  # their position
        by_cluster, of_parts = np.empty(14), np.empty(14)
        inertia, _ = expected.recompute(whole, weights, 2, inertias=by_cluster)
        inertia_of_parts, _ = found.recompute(rows, weights, 2, inertias=of_parts)
        assert inertia_of_parts == pytest.approx(inertia, rel=1e-9)
        assert np.allclose(by_cluster, of_parts, rtol=1e-9, atol=1e-12)
        assert np.allclose(expected.composites, found.composites, rtol=1e-12, atol=1e-12)
        assert np.array_equal(expected.counts, found.counts)
        assert np.allclose(expected.weights, found.weights)

    def test_nearest_centres_are_those_of_all_rows(self, rows: StreamedRows) -> None:
        whole, weights = Rows.in_own_frame(X, "euclidean", 2), RowWeights.of(WEIGHTS, len(X))
        centres = whole.take(np.arange(12))
        labels, total = assigned(whole, weights, centres, 2)
        labels_of_parts, total_of_parts = assigned(rows, weights, centres, 2)
        assert np.array_equal(labels, labels_of_parts)
        assert total == pytest.approx(total_of_parts, rel=1e-12)


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
def test_a_fit_is_consistent_and_as_good_as_one_in_memory(
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
    if isinstance(model.init, str):  # else both end where that start leads
        assert model.inertia_ <= in_memory.inertia_ * (1.25 if "tree" in name else 1.1)
    assert np.array_equal(np.bincount(model.labels_, minlength=model.n_clusters), model.cluster_sizes_)
    assert model.n_features_in_ == 5
    assert "parts" in model.history_[0].note or not isinstance(model.init, str)
    falling = [record.inertia for record in model.history_]
    assert falling == sorted(falling, reverse=True)


def test_a_certified_optimum_is_one(little_memory: int) -> None:
    model = BoostKMeans(12, tol=0, random_state=0).fit(source(X, little_memory))
    assert model.converged_
    assert reference.improving_move(X, model.labels_, 12) is None
    assert np.array_equal(model.predict(X), model.labels_)


def test_of_candidates_too(little_memory: int) -> None:
    rows = X[:1000]
    limit = little_memory - 90_000  # of which the labels need less
    model = BoostKMeans(24, n_candidates=6, tol=0, random_state=0).fit(source(rows, limit))
    assert model.converged_
    assert "parts" in model.history_[0].note
    assert reference.improving_move(rows, model.labels_, 24) is None


def test_the_number_of_threads_makes_no_difference(little_memory: int) -> None:
    results = [
        BoostKMeans(40, n_candidates=8, random_state=0, n_threads=n)
        .fit(source(X, little_memory))
        .labels_
        for n in (1, 2, 3)
    ]
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")  # of booleans there are few
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8, np.int32, np.bool_, ">f8"])
def test_types(dtype: Any, little_memory: int) -> None:
    rows = np.abs(X * 3).astype(dtype)
    limit = little_memory - 12 * 3000 * (8 - min(8, np.dtype(dtype).itemsize)) // 4
    model = BoostKMeans(6, random_state=0).fit(source(rows, limit))
    assert "parts" in model.history_[0].note
    assert np.array_equal(model.predict(np.asarray(rows, dtype=np.float64)), model.labels_)


def test_the_tree_is_that_of_all_rows(little_memory: int) -> None:
    model = BisectingBoostKMeans(12, random_state=0).fit(source(X, little_memory), sample_weight=WEIGHTS)
    tree = model.tree_
    assert np.array_equal(tree.labels, model.labels_)
    assert tree.weights[0] == WEIGHTS.sum()
    for node in range(len(tree.parents)):
        parts = tree.children[node][tree.children[node] >= 0]
        if len(parts):
            assert tree.weights[node] == pytest.approx(tree.weights[parts].sum())
    own = model.cut(1)
    assert (own == 0).all()
    mean = np.average(X, axis=0, weights=WEIGHTS)
    assert np.allclose(tree.centers[0], mean)
    assert tree.inertia[0] == pytest.approx((WEIGHTS @ ((X - mean) ** 2)).sum())


def test_the_inertia_of_narrow_clusters_is_no_difference_of_large_sums(little_memory: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((12, 5))[np.arange(3000) % 12] + 1e-8 * rng.normal(size=(3000, 5))
    model = BoostKMeans(12, random_state=0).fit(source(rows, little_memory))
    assert model.inertia_ == pytest.approx(BoostKMeans(12, random_state=0).fit(rows).inertia_, rel=1e-6)


def test_a_given_start_is_not_repaired(little_memory: int) -> None:
    model = BoostKMeans(12, init=X[:12], repair=True, annealing=0.1, random_state=0)
    assert not any(r.swaps for r in model.fit(source(X, little_memory)).history_)


@pytest.mark.parametrize("weights", [np.ones(3000), WEIGHTS + 1])
def test_rows_without_weight_are_only_sought_where_they_are(
    weights: NDArray[Any], little_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any) -> None:
        pytest.fail("there are none")

    for module in ("_clusterer", "_bisecting"):
        monkeypatch.setattr(f"boostkmeans.{module}.assign_zero_weight_rows", none)
    for model in (BoostKMeans(12, random_state=0), BisectingBoostKMeans(12, random_state=0)):
        model.fit(source(X, little_memory), sample_weight=weights)


class TestErrors:
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_a_value_that_is_not_finite_is_found_by_its_row(
        self, value: float, little_memory: int
    ) -> None:
        rows = X.copy()
        rows[2345, 3] = value
        with pytest.raises(ValueError, match="row 2345, column 3"):
            BoostKMeans(3).fit(source(rows, little_memory))

    def test_what_needs_all_rows_in_memory_says_so(self, little_memory: int) -> None:
        with pytest.raises(ValueError, match="Limits on sizes need all rows in memory"):
            BoostKMeans(3, max_size=1500).fit(source(X, little_memory))
        with pytest.raises(ValueError, match="callable init needs all rows in memory"):
            BoostKMeans(3, init=lambda X, k, r: X[:k]).fit(source(X, little_memory))

    def test_a_limit_that_is_too_low_says_what_is_needed(self, little_memory: int) -> None:
        with pytest.raises(MemoryError, match=r"take at least .* the limit is 0 MiB"):
            BoostKMeans(3).fit(source(X, 1000))
        need = Need(10**8, 512, 10_000, 128)
        with pytest.raises(MemoryError, match=r"take at least (\S+) GiB"):
            need.split(10**9)

    def test_few_wide_rows_are_no_more_than_they_are(self) -> None:
        need = Need(500, 8_000_000, 4, 1_000_000)
        assert need.fits(need.in_memory)
        with pytest.raises(MemoryError) as error:
            need.split(2**30)
        assert memory.format_bytes(need.in_memory) in str(error.value)

    def test_what_it_says_is_enough(self) -> None:
        need = Need(10**8, 512, 10_000, 128)
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


def test_interrupted_it_keeps_what_it_has(little_memory: int) -> None:
    def interrupt(record: Any) -> None:
        raise KeyboardInterrupt

    model = BoostKMeans(12, random_state=0, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(source(X, little_memory))
    assert (model.stop_reason_, len(model.labels_)) == ("interrupted", len(X))


@pytest.mark.parametrize("name", ["default", "candidates", "k-means++", "tree", "tree, refined"])
def test_checkpoints_of_every_stage(
    name: str, little_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MOST_SHARE", 1e12)
    path = tmp_path / "state"
    model = copy.deepcopy(FITS[name])
    expected = model.fit(source(X, little_memory)).labels_.copy()
    states: list[str] = []
    within_a_sweep: list[bool] = []
    write = checkpoint.Keeper._write

    def write_and_copy(self: checkpoint.Keeper, state: Any) -> None:
        write(self, state)
        shutil.copy(path, tmp_path / str(len(states)))
        states.append(state.get("stage", "end"))
        within_a_sweep.append(state.get("sweeps", {}).get("fit", {}).get("so_far") is not None)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Keeper, "_write", write_and_copy)
        model.set_params(checkpoint=path).fit(source(X, little_memory))
    stages = {"tree": {"growth", "end"}, "tree, refined": {"growth", "sweeps", "end"}}
    assert set(states) >= stages.get(name, {"sample", "sweeps", "end"})
    n_reads = []
    for number in range(0, len(states), max(1, len(states) // 12)):
        shutil.copy(tmp_path / str(number), path)
        counted = source(X, little_memory)
        counted.read = Mock(wraps=counted.read)
        assert np.array_equal(model.fit(counted).labels_, expected), states[number]
        n_reads.append(counted.read.call_count)
    assert n_reads[-1] < n_reads[0]  # the later, the less is left to do
    with pytest.raises(ValueError, match="parts"):
        model.fit(source(X, little_memory + 20_000))
    if name == "candidates":
        assert any(within_a_sweep)


def test_a_map_larger_than_half_of_the_machine_is_read_in_parts(
    little_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert "parts" not in BoostKMeans(12, random_state=0).fit(mapped).history_[0].note
    monkeypatch.setattr(streamed_rows, "default_memory_limit", lambda: little_memory)
    assert "parts" in BoostKMeans(12, random_state=0).fit(mapped).history_[0].note


class TestVectors:
    """The same from files."""

    @pytest.mark.parametrize("ending", ["npy", "fvecs", "fbin", "parquet"])
    def test_a_file_of_any_format_gives_the_same(
        self, ending: str, little_memory: int, tmp_path: Path
    ) -> None:
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
            assert "parts" in model.history_[0].note
            assert np.array_equal(model.predict(vectors), model.predict(rows))
            assert model.score(vectors) == pytest.approx(model.score(rows))
            assert np.array_equal(model.transform(vectors), model.transform(rows))
            tree = BisectingBoostKMeans(12, random_state=0).fit(vectors)
            assert np.array_equal(tree.predict(vectors, tree=True), tree.predict(rows, tree=True))
            assert np.array_equal(
                model.predict(vectors, n_candidates=4), model.predict(rows, n_candidates=4)
            )
        with open_vectors(path) as vectors:  # small enough for the machine: as from memory
            whole = BoostKMeans(12, random_state=0).fit(vectors)
            assert np.array_equal(whole.labels_, BoostKMeans(12, random_state=0).fit(rows).labels_)

    def test_labels_come_batch_by_batch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        np.save(tmp_path / "x.npy", X)
        model = BoostKMeans(12, random_state=0).fit(X)
        monkeypatch.setattr(streamed_rows, "BATCH_BYTES", 1000)
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

    def test_names_of_features_are_compared(self, tmp_path: Path) -> None:
        for name, header in (("a", "x,y"), ("b", "y,x")):
            lines = "\n".join(f"{a:.3f},{b:.3f}" for a, b in X[:50, :2])
            (tmp_path / f"{name}.csv").write_text(f"{header}\n{lines}\n")
        with open_vectors(tmp_path / "a.csv") as vectors:
            model = BoostKMeans(3, random_state=0).fit(vectors)
            assert model.feature_names_in_.tolist() == ["x", "y"]
            assert len(model.predict(vectors)) == 50
        with open_vectors(tmp_path / "b.csv") as vectors, pytest.raises(ValueError, match="column 1"):
            model.predict(vectors)


def test_a_file_larger_than_the_address_space_allows(tmp_path: Path) -> None:
    # 256 MB of rows in a process that may take 160 MB beside what it has after the imports.
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
BoostKMeans(3, n_threads=2).fit(np.zeros((50, 2)) + np.arange(50)[:, None])  # its threads are there
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
        MALLOC_ARENA_MAX="1",  # each of which takes 64 MB of addresses, whatever is in it
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("in parts") == 2
    assert "too large" in result.stdout
