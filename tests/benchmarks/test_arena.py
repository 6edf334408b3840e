"""Contestants, problems and measurements of the comparison with other libraries."""

import json
import math
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arena
import baseline
import estimate
import machine_load
import peers
import problems
import revisions
import small_fits
import worker
from environment import environment
from isolated import isolated
from problems import PROBLEMS, Problem, normal

Json = dict[str, Any]


@pytest.mark.process
def test_isolated_call_returns_value_and_peak_memory() -> None:
    outcome = isolated(math.factorial, 5, limit=60)
    assert (outcome.value, outcome.failure) == (120, "")
    assert outcome.unwrap() == 120
    assert outcome.peak_megabytes > 1


@pytest.mark.process
def test_isolated_call_is_killed_at_its_limit() -> None:
    began = time.perf_counter()
    assert isolated(time.sleep, 100, limit=0.5).failure == "more than 0.5 s"
    assert time.perf_counter() - began < 100


@pytest.mark.process
def test_isolated_call_reports_errors() -> None:
    outcome = isolated(math.factorial, -1, limit=60)
    assert outcome.failure.startswith("ValueError")
    with pytest.raises(RuntimeError, match="ValueError"):
        outcome.unwrap()


def test_problem_names_are_unique() -> None:
    names = [problem.name for problem in PROBLEMS]
    assert len(set(names)) == len(names)


def test_dense_problems_cover_small_and_large_k() -> None:
    ks = [problem.k for problem in PROBLEMS if problem.kind == "dense"]
    assert (min(ks), max(ks)) == (8, 100_000)


def test_embeddings_of_wordnet_have_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path))
    monkeypatch.setattr(problems, "embeddings", lambda n, d: ("synthetic", np.zeros((n, d), np.float32)))
    assert problems.wordnet()[1].shape == (81_000, 512)
    (tmp_path / "embeddings").mkdir()
    np.savez(tmp_path / "embeddings" / "wordnet_use512.npz", X=np.ones((3, 2), np.float16))
    assert problems.wordnet()[1].dtype == np.float32


def test_contestants_state_their_obstacles() -> None:
    assert peers.CONTESTANTS["faiss.Kmeans"].obstacle("sparse") == "takes no sparse rows"
    missing = peers.Contestant("x", peers.boost_default, "no_such_module", peers.DENSE)
    assert missing.obstacle("dense") == "not installed"


@pytest.mark.parametrize("name", ["boostkmeans", "scikit-learn KMeans", "faiss.Kmeans"])
def test_contestants_label_all_rows(name: str) -> None:
    if name == "faiss.Kmeans":
        pytest.importorskip("faiss")
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    fitted = peers.CONTESTANTS[name].fit(X, 5, 0)
    assert fitted.labels.shape == (300,)
    assert peers.figures_of(X, fitted)["inertia"] > 0


def test_only_short_successful_runs_are_repeated() -> None:
    assert arena.worth_repeating("faiss.Kmeans", {"seconds": 1.0})
    assert not arena.worth_repeating("faiss.Kmeans", {"seconds": 30.0})
    assert arena.worth_repeating("boostkmeans", {"seconds": 30.0})
    assert not arena.worth_repeating("boostkmeans", {"seconds": 100.0})
    assert not arena.worth_repeating("faiss.Kmeans", {"failure": "not installed"})


def small_problem(limit: float = 60.0) -> Problem:
    return Problem("normal 2,000 x 2, k=4", 4, partial(normal, 2000, 2), limit)


Fits = list[tuple[str, int]]


@pytest.fixture
def fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fits:
    """Return the contestants and seeds that are measured.

    superkmeans pretends to take 90 s, and the settings of faiss to exceed the limit or to be broken.
    """
    calls: Fits = []
    runs: dict[str, Json] = {
        "superkmeans": {"seconds": 90.0, "inertia": 1.0},
        "faiss.Kmeans": {"failure": "more than 60 s"},
        "faiss.SuperKmeans": {"failure": "an error"},
    }

    def fit(self: arena.Processes, contestant: peers.Contestant, seed: int) -> Json:
        calls.append((contestant.name, seed))
        return {"seed": seed, **runs.get(contestant.name, {"seconds": 1.0, "inertia": 1.0})}

    monkeypatch.setattr("problems.CACHE", tmp_path / "cache")
    monkeypatch.setattr(arena, "RESULT", tmp_path / "peers.json")
    monkeypatch.setattr(arena, "PROBLEMS", [small_problem()])
    monkeypatch.setattr(baseline, "prepare", lambda: None)
    monkeypatch.setattr(arena, "measure_small", lambda wanted, result, now: None)
    monkeypatch.setattr(arena.Processes, "fit", fit)
    some = {name: peers.CONTESTANTS[name] for name in ("boostkmeans", "scikit-learn KMeans", *runs)}
    monkeypatch.setattr(arena, "CONTESTANTS", some)
    monkeypatch.setattr("estimate.CONTESTANTS", some)
    return calls


# Short fits have three rounds. The second one is in reverse order.
ALL_FITS = [
    ("boostkmeans", 0), ("scikit-learn KMeans", 0), ("superkmeans", 0), ("faiss.Kmeans", 0),
    ("faiss.SuperKmeans", 0),
    ("scikit-learn KMeans", 1), ("boostkmeans", 1),
    ("boostkmeans", 2), ("scikit-learn KMeans", 2),
]  # fmt: skip
STOPPED, BROKEN = ("faiss.Kmeans", 0), ("faiss.SuperKmeans", 0)


def test_contestants_are_interleaved(fits: Fits) -> None:
    arena.measure([])
    assert fits == ALL_FITS


def test_existing_runs_are_reused_except_errors(fits: Fits) -> None:
    arena.measure([])
    fits.clear()
    arena.measure([])
    assert fits == [BROKEN]


def test_interrupted_measurement_continues(fits: Fits, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any) -> Json:
        if len(fits) == 6:
            raise KeyboardInterrupt
        return original(*arguments)

    original = arena.Processes.fit
    monkeypatch.setattr(arena.Processes, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        arena.measure([])
    assert fits == ALL_FITS[:6]
    monkeypatch.setattr(arena.Processes, "fit", original)
    arena.measure([])
    assert fits == [*ALL_FITS[:6], BROKEN, *ALL_FITS[6:]]


@pytest.mark.parametrize("what", ["sources", "library", "peer"])
def test_all_contestants_run_again_after_a_change(
    what: str, fits: Fits, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.measure([])
    fits.clear()
    now = environment()
    if what == "sources":
        monkeypatch.setattr(arena, "source", lambda: "another")
    else:
        now["packages"]["scikit-learn" if what == "library" else "faiss-cpu"] = "0.1"
        monkeypatch.setattr(arena, "environment", lambda: now)
    arena.measure([])
    # A peer that exceeded the limit would do so again, unless it is another version.
    assert fits == [one for one in ALL_FITS if what == "peer" or one != STOPPED]


def test_runs_of_a_changed_problem_are_repeated(fits: Fits, monkeypatch: pytest.MonkeyPatch) -> None:
    arena.measure([])
    monkeypatch.setattr(arena, "PROBLEMS", [small_problem(limit=90.0)])
    arena.measure([])
    assert fits == 2 * ALL_FITS


def test_other_problems_are_kept(fits: Fits, monkeypatch: pytest.MonkeyPatch) -> None:
    arena.measure([])
    other = Problem("normal 1,000 x 2, k=4", 4, partial(normal, 1000, 2))
    monkeypatch.setattr(arena, "PROBLEMS", [small_problem(), other])
    monkeypatch.setattr(arena, "source", lambda: "another")
    arena.measure(["1,000 x 2"])
    assert fits == 2 * ALL_FITS
    assert len(json.loads(arena.RESULT.read_text())["problems"]) == 2


def test_peer_without_a_chance_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Problem("few", 10, partial(normal, 100, 2), 30.0, family="normal")
    large = Problem("many", 100, partial(normal, 100, 2), 150.0, family="normal")
    larger_limit = Problem("many", 100, partial(normal, 100, 2), 151.0, family="normal")
    monkeypatch.setattr(arena, "PROBLEMS", [small, large])
    stopped = [{"failure": "more than 30 s"}]
    problems: Json = {
        "few": {
            "n": 100,
            "k": 10,
            "limit": 30.0,
            "runs": {"superkmeans": stopped, "boostkmeans": stopped},
        },
        "many": {"n": 100, "k": 100, "limit": 150.0, "runs": {}},
    }
    assert arena.hopeless(large, "superkmeans", problems) == "more than 30 s for 100 rows, k=10"
    assert arena.hopeless(larger_limit, "superkmeans", problems) == ""
    assert arena.hopeless(large, "faiss.Kmeans", problems) == ""
    assert arena.hopeless(large, "boostkmeans", problems) == ""
    assert arena.hopeless(small, "superkmeans", problems) == ""


def test_duration_is_estimated_from_earlier_runs() -> None:
    problem, contestant = small_problem(), peers.CONTESTANTS["superkmeans"]
    known = {"superkmeans": [{"seconds": 2.0}, {"seconds": 4.0}]}
    assert estimate.expected_seconds(problem, contestant, known) == 3.0
    assert estimate.expected_seconds(problem, contestant, {}) == 15.0
    stopped = {"superkmeans": [{"failure": "more than 60 s"}]}
    assert estimate.expected_seconds(problem, contestant, stopped) == 60.0
    release = peers.CONTESTANTS[baseline.NAME]
    assert estimate.expected_seconds(problem, release, {"boostkmeans": [{"seconds": 7.0}]}) == 7.0


def test_only_named_problems_are_measured(fits: Fits) -> None:
    arena.measure(["no such name"])
    assert fits == []


def test_fit_is_measured(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", normal(2000, 2)[1])
    run = worker.Requests().fit("boostkmeans", str(tmp_path / "rows.npy"), 4, 1)
    assert run["seed"] == 1
    assert 0 < run["curve"][-1][0] <= run["seconds"]
    assert run["curve"][-1][1] >= run["inertia"] * (1 - 1e-9)


@pytest.mark.slow
@pytest.mark.process
def test_worker_answers_and_reports_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "rows.npy", normal(500, 2)[1])
    monkeypatch.setattr("problems.CACHE", tmp_path)
    problem = Problem("normal 500 x 2, k=4", 4, partial(normal, 500, 2))
    processes = arena.Processes(problem)
    first = processes.fit(peers.CONTESTANTS["scikit-learn KMeans"], 0)
    second = processes.fit(peers.CONTESTANTS["scikit-learn KMeans"], 0)
    processes.close_all()
    assert first["inertia"] == pytest.approx(second["inertia"])
    process = worker.Worker()
    rows = str(tmp_path / "missing.npy")
    answer = process.ask("fit", 60.0, contestant="boostkmeans", rows=rows, k=4, seed=0)
    assert answer["failure"].startswith("FileNotFoundError")
    assert process.ask("fit", 60.0) == answer  # It has ended.


@pytest.mark.process
def test_worker_is_stopped_at_its_limit() -> None:
    process = worker.Worker()
    answer = process.ask(
        "small", 0.001, problem="iris 150 x 4, k=3", contestants=["boostkmeans"], seeds=[0]
    )
    assert answer == {"failure": "more than 0.001 s"}


def test_baseline_states_its_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contestant = peers.CONTESTANTS[baseline.NAME]
    monkeypatch.setenv(baseline.VARIABLE, str(tmp_path / "python"))
    assert contestant.python == tmp_path / "python"
    assert contestant.obstacle("dense") == "BOOSTKMEANS_BASELINE_PYTHON names no file"
    monkeypatch.delenv(baseline.VARIABLE)
    monkeypatch.setattr(baseline, "CACHE", tmp_path)
    monkeypatch.setattr(baseline, "CHECKOUT", tmp_path)  # As in an sdist: no git history.
    assert contestant.obstacle("dense") == "not installed: no commit ccbd2d7 here"
    baseline.prepare()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_baseline_must_have_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    import boostkmeans

    monkeypatch.setenv(baseline.VARIABLE, sys.executable)
    monkeypatch.setattr(baseline, "VERSION", "0.0.1")
    expected = f"BOOSTKMEANS_BASELINE_PYTHON has version {boostkmeans.__version__}, not 0.0.1"
    assert baseline.obstacle() == expected


def test_other_interpreter_does_not_see_modules_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    assert revisions.environment_of(Path(sys.executable))["PYTHONPATH"] == "src"
    assert "PYTHONPATH" not in revisions.environment_of(Path("other"))


def test_processor_time_of_other_processes_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {"busy_seconds": iter([10.0, 18.0, 0.0, 0.5]), "own_seconds": iter([1.0, 5.0, 0.0, 0.5])}
    for name, values in clocks.items():
        monkeypatch.setattr(machine_load, name, partial(next, values))
    times = iter([0.0, 8.0, 0.0, 1.0])
    monkeypatch.setattr(time, "perf_counter", partial(next, times))
    entry: Json = {}
    with machine_load.record_load(entry):
        pass
    assert entry["others"] == 0.5
    with machine_load.record_load(entry):
        pass
    assert entry["others"] == 0.5  # The highest value counts.


def test_own_processor_time_is_part_of_the_time_of_the_machine() -> None:
    before = machine_load.own_seconds()
    sum(range(1_000_000))
    assert machine_load.own_seconds() > before
    assert machine_load.busy_seconds() >= 0


def test_small_fits_are_measured() -> None:
    found = small_fits.measure_fits(
        "iris 150 x 4, k=3", [small_fits.OWN, small_fits.SCIKIT_LEARN], [0, 1]
    )
    assert [len(fits) for fits in found["fits"].values()] == [2, 2]
    summary = small_fits.summary(found["fits"][small_fits.OWN])
    assert (summary["n_fits"], round(summary["inertia"], 2)) == (2, 78.85)


def test_problems_of_small_fits_have_the_stated_shapes() -> None:
    for name, make in small_fits.PROBLEMS.items():
        X, k = make()
        assert f"{X.shape[0]:,} x {X.shape[1]}, k={k}" in name
