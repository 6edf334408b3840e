"""Checkpoints: a fit that is stopped and resumed gives the result of an uninterrupted fit."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from boostkmeans import BisectingBoostKMeans, BoostKMeans, DataFormatError, SweepRecord
from boostkmeans._data import rows as rows_module
from boostkmeans._data.rows import Rows, array_checksum
from boostkmeans._engine import schedule
from boostkmeans._engine.candidate_strategy import MISSING_BEFORE_0_7
from boostkmeans._engine.checkpoints import checkpoint
from boostkmeans._engine.checkpoints.checkpoint import Checkpoint
from boostkmeans._engine.repair_rounds import RepairRounds
from boostkmeans._engine.run import Run
from boostkmeans._engine.sweep_step import perform_sweep
from boostkmeans._storage.state import join_arrays, split_arrays
from boostkmeans._storage.tensors import read_tensors, write_tensors
from boostkmeans.baselines import RBK
from conftest import blobs

X, _ = blobs(1200, 6, 30, spread=2.0)
WEIGHTS = np.random.default_rng(1).integers(0, 4, size=len(X)).astype(np.float64)
SPARSE = sparse.random(2000, 3000, density=0.004, format="csr", random_state=0)
TOPICS = np.random.default_rng(0).normal(size=(2500, 48)).astype(np.float32)[np.arange(15_000) % 2500]
TOPICS += 0.5 * np.random.default_rng(1).normal(size=TOPICS.shape).astype(np.float32)

# Settings that together use every kind of start and step, with their rows and weights.
FITS: dict[str, tuple[Any, Any, Any]] = {
    "default": (BoostKMeans(12, random_state=0), X, None),
    "annealed for long": (BoostKMeans(12, annealing=(0.1, 40), random_state=0), X, None),
    "three runs, weighted": (BoostKMeans(9, n_init=3, random_state=0), X, WEIGHTS),
    "a tree, candidates": (BoostKMeans(120, n_candidates=12, random_state=0), X, None),
    "probes": (BoostKMeans(2100, quality="fast", random_state=0), TOPICS, None),
    "certified": (BoostKMeans(40, n_candidates=8, tol=0, random_state=0), X, None),
    "limits": (BoostKMeans(20, min_size=40, max_size=80, random_state=0), X, None),
    "limits, candidates": (BoostKMeans(20, max_size=70, n_candidates=5, random_state=0), X, None),
    "first moves": (BoostKMeans(12, init="random", moves="first", random_state=0), X, None),
    "given centres": (BoostKMeans(12, init=X[:12], random_state=0), X, None),
    "cosine": (BoostKMeans(12, metric="cosine", random_state=0), X, None),
    "sparse": (BoostKMeans(6, random_state=0), SPARSE, None),
    "a sample first": (BoostKMeans(6, quality="fast", n_init=2, random_state=0), X, WEIGHTS),
    "duplicates": (BoostKMeans(28, random_state=0), np.repeat(X[:28], 5, axis=0), None),
    "projected": (BoostKMeans(12, dimensions=3, random_state=0), X, None),
    "projected, certified, weighted": (
        BoostKMeans(12, dimensions=2, n_init=2, tol=0, n_candidates=5, random_state=0), X, WEIGHTS,
    ),
    "projected, limits": (
        BoostKMeans(12, dimensions=3, min_size=80, max_size=120, random_state=0), X, None,
    ),
    "projected, given centres": (
        BoostKMeans(12, dimensions=3, init=X[:12], annealing=0.1, random_state=0), X, None,
    ),
    "projected, a sample first": (
        BoostKMeans(6, dimensions=2, quality="fast", random_state=0), X, WEIGHTS,
    ),
    "tree": (BisectingBoostKMeans(40, n_init=2, random_state=0), X, None),
    "tree, refined": (
        BisectingBoostKMeans(20, n_sections=3, split="inertia", refine=True, random_state=0), X, WEIGHTS,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _write_after_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "MAX_TIME_SHARE", 1e12)


def result_of(model: Any) -> tuple[Any, ...]:
    """Return everything that a resumed fit must reproduce exactly."""
    records = [(r.kind, r.moves, r.inertia, r.temperature, r.swaps, r.note) for r in model.history_]
    tree = getattr(model, "tree_", None)
    return (
        model.labels_.tobytes(), model.cluster_centers_.tobytes(), model.inertia_, model.stop_reason_,
        records, None if tree is None else tree.inertia.tobytes(),
    )  # fmt: skip


def copies_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list to which every checkpoint that is written from now on is added, as a copy."""
    copies: list[Path] = []
    write = Checkpoint._write

    def write_and_copy(self: Checkpoint, state: Any) -> None:
        write(self, state)
        copies.append(path.with_name(f"{len(copies)}.copy"))
        shutil.copy(path, copies[-1])

    monkeypatch.setattr(Checkpoint, "_write", write_and_copy)
    return copies


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_resumes_from_every_checkpoint(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, rows, weights = FITS[name]
    path = tmp_path / "state"
    expected = result_of(model.set_params(checkpoint=None).fit(rows, sample_weight=weights))
    with monkeypatch.context() as patch:
        copies = copies_of(path, patch)
        written = model.set_params(checkpoint=path).fit(rows, sample_weight=weights)
        assert result_of(written) == expected
    assert len(copies) >= 5
    model.set_params(checkpoint=None)
    n_sweeps = [count_sweeps(monkeypatch, lambda: model.fit(rows, sample_weight=weights))]
    model.set_params(checkpoint=path)
    some = sorted({*range(3), *range(0, len(copies), len(copies) // 5), *range(-3, 0)})
    for number in some:  # tests/crash.py resumes from random moments.
        shutil.copy(copies[number], path)
        n_sweeps.append(count_sweeps(monkeypatch, lambda: model.fit(rows, sample_weight=weights)))
        assert result_of(model) == expected, number
    assert n_sweeps[some.index(-1) + 1] == 0  # The last checkpoint is that of the completed fit.
    assert max(n_sweeps) == n_sweeps[0]
    late = n_sweeps[some.index(-3) + 1]
    # A tree has no sweeps, and the core makes those of small fits.
    assert late == 0 if n_sweeps[0] == 0 else late < n_sweeps[0]
    model.set_params(checkpoint=None)


def count_sweeps(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]) -> int:
    """Return the number of sweeps that a call makes."""
    counted = []

    def counting(run: Run, *args: Any, **options: Any) -> Any:
        counted.append(1)
        return perform_sweep(run, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(schedule, "perform_sweep", counting)
        call()
    return len(counted)


@pytest.mark.parametrize("max_time", [0.01, 0.02, 0.03, 0.05, 0.08])
def test_resumes_after_time_limits(max_time: float, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(6000, 8)).astype(np.float32)
    model = BoostKMeans(40, random_state=0)
    expected = result_of(model.fit(rows))
    model.set_params(checkpoint=tmp_path / "state", max_time=max_time)
    for _ in range(60):  # An interrupted sweep is repeated, so that the time limit has to grow.
        model.fit(rows)
        if model.stop_reason_ != "max_time":
            break
        max_time *= 1.3
        model.set_params(max_time=max_time)
    assert result_of(model.set_params(max_time=None).fit(rows)) == expected


def test_resumes_with_a_repair_that_was_skipped_for_lack_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = BoostKMeans(40, init="random-partition", random_state=0)
    expected = result_of(model.fit(X))
    assert any(record.swaps for record in model.history_)
    model.set_params(checkpoint=tmp_path / "state", max_time=1000.0)
    with monkeypatch.context() as patch:  # A repair round would pass the deadline.
        patch.setattr(RepairRounds, "last_seconds", property(lambda _: 1e9, lambda *_: None))
        assert model.fit(X).stop_reason_ == "max_time"
        assert not any(record.swaps for record in model.history_)
    assert result_of(model.fit(X)) == expected


@pytest.mark.parametrize("k", [12, 20])
def test_resumes_after_a_callback_stopped_at_every_record(k: int, tmp_path: Path) -> None:
    model = BoostKMeans(k, tol=0, random_state=0)
    expected = result_of(model.fit(X))
    history, seen = model.history_, list[str]()

    def stop(record: SweepRecord) -> bool:
        seen.append(record.kind)
        return True

    model.set_params(checkpoint=tmp_path / "state", callback=stop)
    for _ in history:
        model.fit(X)
    assert seen == [record.kind for record in history], "a resumed fit shows new records only"
    assert (seen[0] == "start") == (k > 16)
    assert result_of(model.set_params(callback=None).fit(X)) == expected


def test_fit_continues_if_its_checkpoint_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    expected = BoostKMeans(12, random_state=0).fit(X).labels_

    def remove(record: SweepRecord) -> None:
        shutil.rmtree(tmp_path / "folder", ignore_errors=True)

    model = BoostKMeans(12, random_state=0, checkpoint=tmp_path / "folder" / "state", callback=remove)
    with pytest.warns(RuntimeWarning, match="The fit continues without it") as warned:
        model.fit(X)
    assert len(warned) == 1
    assert np.array_equal(model.labels_, expected)
    model.save(tmp_path / "model")  # The model does not depend on the checkpoint.


def test_completed_fit_is_not_repeated(tmp_path: Path) -> None:
    calls: list[SweepRecord] = []
    model = BoostKMeans(12, random_state=0, checkpoint=tmp_path / "state", callback=calls.append)
    labels = model.fit(X).labels_.copy()
    n_calls = len(calls)
    assert np.array_equal(model.fit(X).labels_, labels)
    assert len(calls) == n_calls


def test_resumes_with_the_random_numbers_of_the_file_without_a_seed(tmp_path: Path) -> None:
    path = tmp_path / "state"
    stop_after = 4
    seen: list[SweepRecord] = []

    def stop(record: SweepRecord) -> bool:
        seen.append(record)
        return len(seen) == stop_after

    first = BoostKMeans(12, checkpoint=path, callback=stop).fit(X)
    assert first.stop_reason_ == "callback"
    again = BoostKMeans(12, checkpoint=path).fit(X)
    assert [r.inertia for r in again.history_[: stop_after - 1]] == [
        r.inertia for r in first.history_[: stop_after - 1]
    ]


@pytest.mark.parametrize("how", ["callback", "Ctrl-C", "an error"])
def test_resumes_after_a_stop_from_outside(how: str, tmp_path: Path) -> None:
    expected = result_of(BoostKMeans(12, random_state=0).fit(X))
    records: list[SweepRecord] = []

    def stop(record: SweepRecord) -> bool:
        records.append(record)
        if len(records) < 5:
            return False
        if how == "Ctrl-C":
            raise KeyboardInterrupt
        if how == "an error":
            raise RuntimeError("stop")
        return True

    model = BoostKMeans(12, random_state=0, checkpoint=tmp_path / "state", callback=stop)
    if how == "callback":
        assert model.fit(X).stop_reason_ == "callback"
    else:
        with pytest.raises((KeyboardInterrupt, RuntimeError)):
            model.fit(X)
    if how == "Ctrl-C":  # The model is the best partition so far, and can be saved.
        assert model.stop_reason_ == "interrupted"
        model.save(tmp_path / "model")
        assert np.array_equal(BoostKMeans.load(tmp_path / "model").labels_, model.labels_)
    assert result_of(model.set_params(callback=None).fit(X)) == expected


def test_resumed_history_continues_the_seconds(tmp_path: Path) -> None:
    path = tmp_path / "state"
    slow = BoostKMeans(12, random_state=0, checkpoint=path, callback=lambda _: time.sleep(0.05))
    slow.set_params(max_time=0.4).fit(X)
    fast = BoostKMeans(12, random_state=0, checkpoint=path).fit(X)
    seconds = [record.seconds for record in fast.history_]
    assert seconds == sorted(seconds)
    assert seconds[-1] > 0.3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, x: m.set_params(n_clusters=13), "its n_clusters is 12, but this fit has 13"),
        (lambda m, x: m.set_params(random_state=1), "its random_state is 0, but this fit has 1"),
        (lambda m, x: m.set_params(init=X[:12]), "its init is 'auto'"),
        (lambda m, x: x.__setitem__(0, 0.0), "its data is"),
        (
            lambda m, x: x.__setitem__(slice(1, 4), x[5:8]),
            "its checksum of X is",
        ),
    ],
)
def test_rejects_the_checkpoint_of_another_fit(
    change: Callable[[Any, Any], Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "state"
    model, rows = BoostKMeans(12, random_state=0, checkpoint=path), X.copy()
    model.fit(rows)
    before = path.read_bytes()
    change(model, rows)
    with pytest.raises(ValueError, match=message):
        model.fit(rows)
    assert path.read_bytes() == before


def test_rejects_other_weights(tmp_path: Path) -> None:
    model = BoostKMeans(12, random_state=0, checkpoint=tmp_path / "state").fit(X, sample_weight=WEIGHTS)
    for weights in (8 * WEIGHTS, WEIGHTS + 1, None, np.full(len(X), 2.0)):
        with pytest.raises(ValueError, match="sample_weight"):
            model.fit(X, sample_weight=weights)


def test_a_function_as_init_is_compared_by_its_name(tmp_path: Path) -> None:
    X, _ = blobs(100, 3, 4)

    def start(X: Any, n_clusters: int, rng: Any) -> Any:
        return "random"

    def other(X: Any, n_clusters: int, rng: Any) -> Any:
        return "random"

    def fit(init: Any) -> Any:
        return BoostKMeans(4, init=init, random_state=0, checkpoint=tmp_path / "state").fit(X).labels_

    labels = fit(start)
    with pytest.raises(ValueError, match="its init is 'function test_a"):
        fit(other)
    other.__qualname__ = start.__qualname__
    np.testing.assert_array_equal(fit(other), labels)  # docs/long_fits.md says so


def test_numpy_integers_equal_python_integers(tmp_path: Path) -> None:
    path = tmp_path / "state"
    number: Any = np.int64(12)
    labels = BoostKMeans(number, random_state=0, checkpoint=path).fit(X).labels_
    assert np.array_equal(BoostKMeans(12, random_state=0, checkpoint=path).fit(X).labels_, labels)


def test_sparse_rows_are_identified_without_dense_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = sparse.random(300, 40_000, density=1e-4, format="csr", random_state=0)
    monkeypatch.setattr("boostkmeans._data.rows.Rows.take", lambda *_: pytest.fail("made dense"))
    BoostKMeans(2, init=np.arange(300) % 2, checkpoint=tmp_path / "state").fit(wide)


def test_parameters_without_influence_may_change(tmp_path: Path) -> None:
    model = BoostKMeans(12, random_state=0, checkpoint=tmp_path / "state", n_threads=1).fit(X)
    labels = model.labels_.copy()
    model.set_params(n_threads=2, verbose=0, max_time=100.0, callback=lambda _: False).fit(X)
    assert np.array_equal(model.labels_, labels)


def test_writing_takes_a_limited_share_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MAX_TIME_SHARE", 1 / 20)
    copies = copies_of(tmp_path / "state", monkeypatch)
    model = BoostKMeans(12, random_state=0, checkpoint=tmp_path / "state").fit(X)
    assert 2 <= len(copies) < len(model.history_)  # The first, the last, and few in between.


def test_rejects_unusable_checkpoints_before_the_fit(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"folder .* does not exist"):
        BoostKMeans(3, checkpoint=tmp_path / "none" / "state").fit(X)
    with pytest.raises(ValueError, match="checkpoint"):
        BoostKMeans(3, checkpoint=3).fit(X)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not support checkpoint"):
        BoostKMeans(3, checkpoint=tmp_path / "state").partial_fit(X)
    assert RBK(3, random_state=0).fit(X).stop_reason_ == "tree"


def tampered(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a function that replaces a value of a state, or the first value of an array."""

    def change(state: dict[str, Any]) -> None:
        *places, last = name.split(".")
        for place in places:
            state = state[place]
        old = state[last]
        if isinstance(old, np.ndarray) and not isinstance(value, np.ndarray):
            state[last] = old.copy()
            state[last].flat[0] = value
        else:
            state[last] = value

    return change


LABELS = "sweeps.fit.partition.labels"
TAMPERED = {
    "label out of range": tampered(LABELS, 10**6),
    "label below 0": tampered(LABELS, -1),
    "too few labels": tampered(LABELS, np.zeros(3, dtype=np.int32)),
    "labels of another type": tampered(LABELS, np.zeros(len(X))),
    "composite that is NaN": tampered("sweeps.fit.partition.composites", np.nan),
    "count above the number of rows": tampered("sweeps.fit.partition.counts", len(X) + 1),
    "too many clusters": tampered("sweeps.fit.n_clusters", 10**9),
    "missing inertia": tampered("sweeps.fit.inertia", None),
    "unknown phase": tampered("sweeps.course.phase", "sleep"),
    "negative number of rounds": tampered("sweeps.course.repair_rounds", -1),
    "record that is a number": tampered("sweeps.fit.history", [3]),
    "runners-up out of range": tampered("sweeps.fit.candidates.runners_up", 10**6),
    "position of random numbers below 0": tampered("sweeps.rng.position", -5),
    "missing run": tampered("n_done", 1),
    "missing identity": tampered("identity", None),
    "missing stage": tampered("sweeps", None),
}


def read_states(copies: list[Path]) -> list[Any]:
    """Return the states in these checkpoints."""
    read = [read_tensors(copy, checkpoint.FORMAT, checkpoint.VERSION) for copy in copies]
    return [join_arrays(header, arrays) for _, header, arrays in read]


def test_a_scheduled_full_sweep_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, rows, _ = FITS["probes"]
    copies = copies_of(tmp_path / "state", monkeypatch)
    clone(model).set_params(checkpoint=tmp_path / "state").fit(rows)
    stored = [state["sweeps"]["fit"]["candidates"] for state in read_states(copies) if "sweeps" in state]
    assert any(one["everywhere"] and one["_rate"] > 0 for one in stored if one is not None)


def as_of_version_0_6(state: dict[str, Any]) -> None:
    """Turn a state into one of a version without probes: it had fewer fields, some in other places."""
    fit, course = state["sweeps"]["fit"], state["sweeps"]["course"]
    plan, candidates = fit["plan"], fit["candidates"]
    candidates["then_all"] = plan.pop("then_all")
    for name in ("moves", "n_candidates", "looks_around"):
        del plan[name]
    for name in (*MISSING_BEFORE_0_7, "looks_around"):
        del candidates[name]
    del fit["tree"]
    fit["stop_reason"], course["_imposed"] = course.pop("rest"), ""


def test_resumes_a_checkpoint_of_version_0_6(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state"
    model = BoostKMeans(120, n_candidates=12, random_state=0, checkpoint=path)
    with monkeypatch.context() as patch:
        copies = copies_of(path, patch)
        expected = result_of(model.fit(X))
    state = read_states(copies)[len(copies) // 2]
    as_of_version_0_6(state)
    write_tensors(path, checkpoint.FORMAT, checkpoint.VERSION, *split_arrays(state))
    assert count_sweeps(monkeypatch, lambda: model.fit(X)) > 0
    assert result_of(model) == expected


@pytest.mark.parametrize("name", TAMPERED)
def test_rejects_a_damaged_state(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state"
    model = BoostKMeans(120, n_candidates=12, random_state=0, checkpoint=path)
    with monkeypatch.context() as patch:
        copies = copies_of(path, patch)
        model.fit(X)
    state = read_states(copies)[-2]
    assert state["stage"] == "sweeps"
    TAMPERED[name](state)
    write_tensors(path, checkpoint.FORMAT, checkpoint.VERSION, *split_arrays(state))
    with pytest.raises(DataFormatError):
        model.fit(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("members", 10**7),
        ("members", -1),
        ("members", 1),
        ("ends", 10**7),
        ("ends", 700),
        ("begins", -1),
        ("begins", 3),
        ("first_child", 10**7),
        ("n_children", 30),
        ("priorities", np.nan),
    ],
)
def test_rejects_a_damaged_tree(
    name: str, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state"
    model = BisectingBoostKMeans(40, random_state=0, checkpoint=path)
    with monkeypatch.context() as patch:
        copies = copies_of(path, patch)
        model.fit(X)
    _, header, arrays = read_tensors(copies[2], checkpoint.FORMAT, checkpoint.VERSION)
    state = join_arrays(header, arrays)
    tampered(f"tree.{name}", value)(state)
    write_tensors(path, checkpoint.FORMAT, checkpoint.VERSION, *split_arrays(state))
    with pytest.raises(DataFormatError):
        model.fit(X)


@pytest.mark.slow
def test_rejects_every_truncation(tmp_path: Path) -> None:
    path = tmp_path / "state"
    model = BoostKMeans(3, random_state=0, checkpoint=path)
    rows = X[:40, :2]
    model.fit(rows)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(DataFormatError):
            model.fit(rows)


def test_splitting_and_joining_arrays_restores_a_state() -> None:
    state = {
        "a": 1, "b": {"c": np.arange(3), "d": {"e": np.ones((2, 2))}, "f": None}, "g": [1.5, "x"],
        "h": float("inf"),
    }  # fmt: skip
    plain, arrays = split_arrays(state)
    assert list(arrays) == ["b.c", "b.d.e"]
    assert plain["h"] == "inf"
    back = join_arrays(plain, arrays)
    labels: NDArray[Any] = back["b"]["c"]
    assert labels.tolist() == [0, 1, 2]
    assert (back["a"], back["b"]["f"], back["g"]) == (1, None, [1.5, "x"])
    with pytest.raises(ValueError, match="inside a field that is not an object"):
        join_arrays({"a": 1}, {"a.b": np.zeros(1)})


def test_rejects_rows_that_differ_in_the_last_bit_of_one_value(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    model = BoostKMeans(12, random_state=0, checkpoint=tmp_path / "state")
    model.fit(X)
    for row, column in zip(
        rng.integers(len(X), size=20), rng.integers(X.shape[1], size=20), strict=True
    ):
        other = X.copy()
        other[row, column] = np.nextafter(other[row, column], np.inf)
        with pytest.raises(ValueError, match=r"its (checksum of X|data) is"):
            model.fit(other)
    assert result_of(model.fit(np.asfortranarray(X))) == result_of(model.fit(X))


def test_old_checkpoints_identify_rows_by_their_sums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Rows, "checksum", lambda *_: 0)
        patch.setattr(checkpoint, "VALUES", "not compared")
        BoostKMeans(12, random_state=0, checkpoint=tmp_path / "state").fit(X)
    model = BoostKMeans(12, random_state=0, checkpoint=tmp_path / "state")
    other = X.copy()
    other[1:4] = other[5:8]
    with pytest.raises(ValueError, match="its cluster sums differ from those of the rows"):
        model.fit(other)
    model.fit(X)


class TestChecksum:
    """The checksum of all values."""

    def test_depends_on_the_values_only(self) -> None:
        small = X.astype(np.float32)
        expected = array_checksum(small, 1)
        assert array_checksum(small.astype(np.float64), 3) == expected
        assert array_checksum(np.asfortranarray(small), 2) == expected
        assert array_checksum(np.repeat(small, 2, axis=0)[::2], 1) == expected
        assert array_checksum(sparse.csr_array(small), 1) == expected

    def test_is_the_sum_over_blocks(self) -> None:
        parts = [array_checksum(X[a:b], 1, a) for a, b in ((0, 7), (7, 100), (100, len(X)))]
        assert sum(parts) % 2**64 == array_checksum(X, 2)

    def test_depends_on_the_order_of_rows_and_columns(self) -> None:
        found = {array_checksum(array, 1) for array in (X, X[::-1], X[:, ::-1], -X, X[:-1])}
        assert len(found) == 5

    def test_ignores_the_sign_of_zero_and_stored_zeros(self, monkeypatch: pytest.MonkeyPatch) -> None:
        zeros = np.zeros((3, 2))
        assert array_checksum(zeros, 1) == array_checksum(-zeros, 1)
        monkeypatch.setattr(rows_module, "MAX_EXPANDED_CELLS", 0)
        monkeypatch.setattr(rows_module, "MIN_EXPANDED_DENSITY", 2)
        matrix = sparse.csr_array(np.eye(4))
        stored = matrix.copy()
        stored.data[2] = 0
        removed = stored.copy()
        removed.eliminate_zeros()
        assert array_checksum(stored, 1) == array_checksum(removed, 1) != array_checksum(matrix, 1)
