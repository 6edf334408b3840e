"""The paper's scalability experiment: plan, methods, seconds, limits and page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from miniature_results import scalability_result
from numpy.typing import NDArray

import experiment
import fig5_scalability
import machine_load
import run_files
import scalability_figures
import scalability_methods
import scalability_page
import scalability_seconds
import vlad
from boostkmeans import metrics
from isolated import Outcome
from scalability_methods import BISECTING, DIRECT, ITERATIONS, METHODS, SCIKIT_LEARN, Fitted

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No real vectors, no stored results, and images and states in a temporary folder."""
    monkeypatch.delenv(vlad.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(scalability_page, "IMAGES", tmp_path)
    monkeypatch.setattr(experiment, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(machine_load, "busy_seconds", lambda: 0.0)  # Tests need no quiet machine.


def run_of(method: str = "k-means", n: int = 200, k: int = 6, seed: int = 0) -> Json:
    """Return the settings of a run at the paper's size."""
    return {"n": n, "k": k, "method": method, "seed": seed, "timed": False}


# Plan


@pytest.mark.parametrize("full", [False, True])
def test_scikit_learn_tries_larger_sizes_later(full: bool) -> None:
    """A larger size is skipped after a failure, so it must not come first."""
    runs = sorted(fig5_scalability.plan(full), key=fig5_scalability.priority)
    for method in SCIKIT_LEARN:
        sizes = [(run["n"], run["k"]) for run in runs if run["method"] == method]
        for i, (n, k) in enumerate(sizes):
            assert not any(n >= m and k >= j for m, j in sizes[i + 1 :])


def test_no_cell_of_the_full_plan_is_missing() -> None:
    runs = fig5_scalability.plan(True)
    sizes = {(run["n"], run["k"]) for run in runs}
    assert sizes == {(10_000, 1024), (100_000, 1024), (10_000_000, 1024),
                     *[(1_000_000, k) for k in (1024, 2048, 4096, 8192)]}  # fmt: skip
    largest = (10_000_000, 1024)
    of_method = {name: {(run["n"], run["k"]) for run in runs if run["method"] == name}
                 for name in METHODS}  # fmt: skip
    for method in METHODS.keys() - SCIKIT_LEARN.keys():
        assert of_method[method] | {largest} == sizes
    assert {method for method in METHODS if largest in of_method[method]} == {
        "BsBKM(non)", "sampled tree", "RBK", "BKM(non)", "BKM(rnd)+Fast", "k-means", "boostkmeans"
    }  # fmt: skip
    for method in SCIKIT_LEARN:
        assert of_method[method] == {(10_000, 1024), (100_000, 1024), (1_000_000, 1024)}
    assert all(fig5_scalability.cost(run) > 0 for run in runs)


def test_claims_about_minutes_come_first() -> None:
    runs = sorted(fig5_scalability.plan(True), key=fig5_scalability.priority)
    assert {(run["method"], run["n"], run["k"]) for run in runs[:4]} == {
        (method, *size) for method in ("BsBKM(non)", "sampled tree")
        for size in ((1_000_000, 8192), (10_000_000, 1024))
    }  # fmt: skip
    assert all(scalability_seconds.is_timed(run) for run in runs[:4])


# Methods


@pytest.fixture(scope="module")
def few_rows() -> NDArray[np.float32]:
    return np.asarray(vlad.synthetic(200))


@pytest.mark.parametrize("method", METHODS)
def test_methods_run_for_a_few_iterations(method: str, few_rows: NDArray[np.float32]) -> None:
    fitted = scalability_methods.fit(method, few_rows, 6, 0, 3)
    assert 0 < fitted.seconds < 60
    assert fitted.times == sorted(fitted.times)
    assert len(fitted.times) <= 3 or method not in DIRECT
    total = metrics.average_distortion(few_rows, np.zeros(200, dtype=int))
    assert 0.5 * total < fitted.distortion < total


@pytest.mark.parametrize("method", ["k-means", "BKM(non)", "BKM(rnd)+Fast", "BsBKM(non)", "boostkmeans"])
@pytest.mark.parametrize("after", [1, 3])
def test_interrupted_run_continues(
    method: str, after: int, few_rows: NDArray[np.float32], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A run that is killed after some iterations ends as if it had not been."""
    whole = scalability_methods.fit(method, few_rows, 9, 0).distortion
    monkeypatch.setattr(scalability_methods, "SECONDS_PER_STEP", 0.0)
    count = 0

    class Killed(scalability_methods.Notes):
        def __call__(self, record: Any) -> bool:
            nonlocal count
            count += 1
            if count == after + 1:
                raise KeyboardInterrupt
            return super().__call__(record)

    with monkeypatch.context() as patch:
        patch.setattr(scalability_methods, "Notes", Killed)
        if method != "BsBKM(non)":  # A tree has no callback.
            with pytest.raises(KeyboardInterrupt):
                scalability_methods.fit_resumable(method, few_rows, 9, 0, tmp_path)
            assert list(tmp_path.iterdir())
    found = scalability_methods.fit_resumable(method, few_rows, 9, 0, tmp_path)
    assert found == pytest.approx(whole, rel=1e-12)


# Seconds


def test_seconds_of_few_iterations_by_hand() -> None:
    # The first iteration takes 10 s, each of the others 2 s.
    few = scalability_seconds.seconds_of_iterations(Fitted(1.0, 16.0, [10.0, 12.0, 14.0, 16.0]), 4)
    assert few == {"seconds_of_iteration": 2.0, "seconds": 10.0 + 19 * 2, "timed_iterations": 4}


def test_whole_times_check_the_estimate_by_hand() -> None:
    # Iterations of 3 s, except for four of 2 s at the beginning.
    times = [2.0, 4.0, 6.0, 8.0, *[8.0 + 3 * i for i in range(1, 17)]]
    whole = scalability_seconds.seconds_of_iterations(Fitted(1.0, times[-1], times), ITERATIONS)
    assert (whole["seconds"], whole["estimate"]) == (56.0, 40.0)


def test_converged_method_is_not_extrapolated() -> None:
    found = scalability_seconds.seconds_of_iterations(Fitted(1.0, 3.0, [1.0, 2.0, 3.0]), 4)
    assert found["seconds"] == 3.0
    assert found["timed_iterations"] == ITERATIONS


def test_large_direct_runs_are_timed_by_few_iterations() -> None:
    iterations = {
        (run["method"], run["n"], run["k"]): scalability_seconds.timed_iterations(run)
        for run in fig5_scalability.plan(True)
    }
    assert iterations["k-means", 1_000_000, 1024] == ITERATIONS
    assert iterations["k-means", 1_000_000, 2048] == scalability_seconds.FEW
    assert iterations["Mini-Batch", 1_000_000, 8192] == ITERATIONS


def in_this_process(function: Any, run: Json) -> Json:
    """Call a function that otherwise has its own process."""
    return {**function(run), "peak_megabytes": 7}


def test_seconds_and_distortions_are_stored_separately(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole runs store both; a direct run of few iterations has only seconds until it is measured."""
    monkeypatch.setattr(fig5_scalability, "in_process", in_this_process)
    monkeypatch.setattr(scalability_seconds, "WHOLE_UP_TO", 0)
    monkeypatch.setattr("provenance.version", lambda: "0.10.0")
    plan = [run_of("BKM(non)"), run_of("sampled tree"), run_of("sampled tree", seed=9)]
    monkeypatch.setattr(fig5_scalability, "plan", lambda full: plan)
    fig5_scalability.measure_seconds(None)
    assert [one["run"] for one in scalability_seconds.stored()] == plan[:2], "few seeds are timed"
    (tree,) = experiment.stored_runs("scalability", True)
    assert tree["run"] == plan[1]
    assert {"seconds", "distortion", "peak_megabytes", "version"} <= tree.keys()
    result = experiment.load_size("scalability", True, running=True)
    assert result is not None
    assert not result["complete"]
    direct = next(one for one in result["runs"] if one["run"] == plan[0])
    assert direct["timed_iterations"] == scalability_seconds.FEW
    assert "distortion" not in direct
    experiment.run_experiment(fig5_scalability, True)
    result = experiment.load_size("scalability", True)
    assert result is not None
    assert result["complete"]
    assert all("seconds" in one for one in result["runs"] if one["run"] in plan[:2])
    assert all("seconds" not in one for one in result["runs"] if one["run"] == plan[2])
    assert all("distortion" in one for one in result["runs"])


def test_disturbed_seconds_are_not_stored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that they neither count as measured nor are shown. Distortions do not depend on the load."""
    plan = [run_of("sampled tree")]
    monkeypatch.setattr(fig5_scalability, "plan", lambda full: plan)
    found: Json = {"data": "some", "seconds": 99.0, "distortion": 0.5, "others": 0.4}
    monkeypatch.setattr(fig5_scalability, "in_process", lambda function, run: found)
    fig5_scalability.measure_seconds(None)
    assert "NOT STORED: others used 0.40 cores" in capsys.readouterr().out
    assert not experiment.path_of("scalability_seconds", True).exists()
    assert fig5_scalability.estimate_seconds()[0] == 1
    (run,) = experiment.stored_runs("scalability", True)
    assert (run["distortion"], "seconds" in run) == (0.5, False)
    # An earlier version stored such seconds.
    scalability_seconds.keep("scalability_seconds", plan[0], found, plan)
    assert scalability_seconds.stored() == []
    (run,) = experiment.stored_runs("scalability", True)
    assert "seconds" not in run
    found["others"] = 0.0
    fig5_scalability.measure_seconds(None)
    (run,) = experiment.stored_runs("scalability", True)
    assert run["seconds"] == 99.0
    assert fig5_scalability.estimate_seconds() == (0, 0)


def test_estimate_counts_few_iterations_of_long_runs() -> None:
    large, small = (run_of("k-means", n=1_000_000, k=k) for k in (8192, 1024))
    tree = run_of("BsBKM(non)", n=1_000_000, k=8192)
    assert fig5_scalability.cost_of_timing(large) < 0.3 * fig5_scalability.cost(large)
    for run in (small, tree):
        assert fig5_scalability.cost_of_timing(run) == fig5_scalability.cost(run)


def test_seconds_stop_after_a_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig5_scalability, "in_process", in_this_process)
    monkeypatch.setattr(fig5_scalability, "plan", lambda full: [run_of(seed=i) for i in range(3)])
    fig5_scalability.measure_seconds(0.0)
    assert scalability_seconds.stored() == []


# Limits


@pytest.mark.process
@pytest.mark.slow
def test_method_is_stopped_at_its_limit() -> None:
    run = {**run_of("BsKM (scikit-learn)", n=8000, k=2000), "limit": 0.6}
    assert fig5_scalability.measure(run) == {"failure": "more than 0.005 minutes"}


def test_failed_method_is_not_tried_with_more_rows() -> None:
    run = run_of(n=4000, k=1024)
    stored = [{"run": run, "failure": "more than 40 s"}]
    skipped = fig5_scalability.skip_reason({**run, "n": 8000}, stored)
    assert skipped == {"failure": "not tried: it took too long with n=4,000, k=1,024"}
    assert fig5_scalability.skip_reason({**run, "n": 2000}, stored) == {}
    assert fig5_scalability.skip_reason({**run, "n": 8000, "method": "RBK"}, stored) == {}
    assert fig5_scalability.skip_reason({**run, "seed": 1}, stored) == {}


def test_killed_process_says_nothing_about_larger_sizes() -> None:
    run = run_of(n=4000, k=1024)
    for failure in (f"{run_files.RETRIED} -9", "MemoryError"):
        stored = [{"run": run, "failure": failure}]
        assert fig5_scalability.skip_reason({**run, "n": 8000}, stored) == {}


def test_killed_measurement_of_seconds_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distortion of the run stays, and its process is started again for the seconds alone."""
    run = run_of()
    monkeypatch.setattr(fig5_scalability, "plan", lambda full: [run])
    scalability_seconds.keep(fig5_scalability.NAME, run, {"distortion": 1.0}, [run])
    measured: list[Json] = [{"failure": f"{run_files.RETRIED} -9"}, {"seconds": 2.0, "others": 0.0}]
    outcomes = iter(measured)
    for n_missing in (1, 0):
        scalability_seconds.measure_missing(fig5_scalability.NAME, [run], lambda _: next(outcomes), None)
        assert len(scalability_seconds.missing_runs([run])) == n_missing
        (stored,) = experiment.stored_runs(fig5_scalability.NAME, True)
        assert run_files.is_finished(stored)
        assert stored["distortion"] == 1.0
    assert stored["seconds"] == 2.0


def test_failed_measurement_of_seconds_keeps_the_distortion() -> None:
    run = run_of()
    scalability_seconds.keep(fig5_scalability.NAME, run, {"distortion": 1.0}, [run])
    scalability_seconds.keep(scalability_seconds.NAME, run, {"failure": "MemoryError"}, [run])
    (stored,) = experiment.stored_runs(fig5_scalability.NAME, True)
    assert "failure" not in stored


def test_outcomes_of_processes_become_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value and an error, both without a process."""
    outcomes = iter([Outcome({"distortion": 1.0}, peak_megabytes=99.6), Outcome(failure="MemoryError")])
    monkeypatch.setattr(fig5_scalability, "isolated", lambda *_, **__: next(outcomes))
    assert fig5_scalability.measure(run_of()) == {"distortion": 1.0, "peak_megabytes": 100}
    assert fig5_scalability.measure(run_of()) == {"failure": "MemoryError"}


# Figures and page


def test_exponents() -> None:
    runs = scalability_result()["runs"]
    assert scalability_figures.exponent(runs, "BKM(non)", "k") == pytest.approx(1)
    assert scalability_figures.exponent(runs, "BsBKM(non)", "k") == pytest.approx(0)
    assert scalability_figures.exponent([], "k-means++", "k") is None


def test_means_are_over_the_runs_with_a_figure() -> None:
    size = {"n": 10, "k": 1024, "method": "RBK"}
    runs: list[Json] = [{"run": {**size, "seed": 0}, "seconds": 4.0, "distortion": 1.0},
                        {"run": {**size, "seed": 1}, "distortion": 2.0},
                        {"run": {**size, "seed": 2}, "seconds": 6.0}]  # fmt: skip
    assert scalability_figures.mean(runs, "RBK", 10, 1024, "seconds") == 5
    assert scalability_figures.mean(runs, "RBK", 10, 1024, "distortion") == 1.5
    assert scalability_figures.mean(runs, "RBK", 10, 1024, "peak_megabytes") is None
    assert scalability_figures.finished_runs(runs, "RBK", 10, 1024) == runs[:1]


def test_page_shows_failures_and_extrapolated_times() -> None:
    page = fig5_scalability.page(scalability_result())
    assert "more than 40 s" in page
    assert "extrapolated in proportion to n from n=100,000" in page
    assert "1.5 x (n=50,000, k=8,192)" in page
    assert "Each method has one seed" in page
    assert fig5_scalability.page({"size": "full", "runs": []}) == "Not measured yet."


def test_page_at_the_papers_size_shows_measured_minutes_and_seeds() -> None:
    result = {**scalability_result(full=True), "size": "full", "complete": False}
    result["runs"][0] |= {"timed_iterations": 20, "estimate": 1.1 * result["runs"][0]["seconds"]}
    page = fig5_scalability.page(result)
    assert page.count("minutes (measured)") == 4
    assert "10 for n=10,000, k=1,024" in page
    assert "differs from the true time by +10 to +10 %" in page
    assert "Some runs are missing" in page


def test_page_tells_synthetic_vectors() -> None:
    result = scalability_result()
    assert "The vectors are synthetic" in fig5_scalability.page(result)
    real = json.loads(json.dumps(result).replace("synthetic, some", "Flickr10M"))
    assert "The vectors are synthetic" not in fig5_scalability.page(real)


@pytest.mark.slow
def test_pictures_are_drawn(tmp_path: Path) -> None:
    fig5_scalability.draw(scalability_result())
    for names in (scalability_page.TIMES, scalability_page.DISTORTIONS):
        assert (tmp_path / names["small"]).stat().st_size > 1000


def test_times_are_drawn_with_empty_panels(tmp_path: Path) -> None:
    scalability_page.draw_times(scalability_result()["runs"][:1], "some.svg")
    assert (tmp_path / "some.svg").exists()


def test_trees_are_those_of_the_paper_and_our_defaults() -> None:
    assert [*BISECTING] == ["BsKM", "BsKM++", "BsBKM(non)", "RBK", "sampled tree", "sampled RBK"]
