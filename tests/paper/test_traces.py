"""Traces at the paper's size: stored after each iteration, resumed, shared, imported and timed."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from miniature_results import group_ends

import contenders
import experiment
import import_traces
import machine_load
import run_files
import run_state
import seconds
import seconds_runs
import trace_runs
import traces
from all_contenders import CONTENDERS
from isolated import Outcome
from processes import spawn, wait_until
from public_data import fingerprint, sift

Json = dict[str, Any]

N, K = 400, 6
# Tiny data sets cause warnings, for example about fewer clusters than requested.
pytestmark = pytest.mark.filterwarnings("ignore")


class KilledError(BaseException):
    """Stands for the end of a process."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the traces; rows are synthetic, and runs stay in this process."""
    monkeypatch.setenv("BOOSTKMEANS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path / "shared"))
    monkeypatch.setattr(experiment, "RESULTS", tmp_path / "results")
    for module in (run_state, trace_runs):
        monkeypatch.setattr(module, "state_folder", lambda: tmp_path / "state")
    for module in (trace_runs, seconds_runs):
        monkeypatch.setattr(module, "isolated", lambda function, *some, limit: called(function, *some))
    monkeypatch.setattr(trace_runs, "compute_in_process", trace_runs.compute_stored)
    monkeypatch.setattr(machine_load, "busy_seconds", lambda: 0.0)  # Tests need no quiet machine.
    return tmp_path / "results" / "full" / "traces"


def called(function: Any, *arguments: Any) -> Outcome:
    """Call a function in this process."""
    return Outcome(function(*arguments))


def run_of(method: str, seed: int = 0) -> Json:
    """Return the settings of a small trace."""
    return {"method": method, "n": N, "k": K, "seed": seed}


def computed(method: str, folder: Path) -> Json:
    """Return the stored trace of a method."""
    assert "failure" not in trace_runs.measure(run_of(method), "curve")
    found = traces.read_trace(folder / f"{traces.slug(method)}.json")
    assert found is not None
    return found


def kill_after(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the computation end after an iteration has been stored."""
    original = trace_runs.keep_points

    def keep_points(*arguments: Any) -> None:
        original(*arguments)
        if len(arguments[-1]) >= number:
            raise KilledError

    monkeypatch.setattr(trace_runs, "keep_points", keep_points)


@pytest.mark.parametrize(
    "method", ["k-means", "LVQ", "BKM(non)", "boostkmeans", "sampled tree, refined"]
)
def test_killed_trace_continues(method: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contenders, "ITERATIONS_PER_CALL", 2)
    whole = computed(method, folder)
    path = folder / f"{traces.slug(method)}.json"
    path.unlink()
    with monkeypatch.context() as patch:
        kill_after(4, patch)
        with pytest.raises(KilledError):
            trace_runs.measure(run_of(method), "curve")
    partial = traces.read_trace(path)
    assert partial is not None
    assert not partial["complete"]
    assert partial["iterations"] == whole["iterations"][:4]
    shown = traces.figures(path, "curve")
    assert shown is not None
    assert (shown["so_far"], shown["ended"]) == (partial["iterations"][-1][0], "so far")
    calls: list[int] = []
    original = trace_runs.keep_points

    def counted(*arguments: Any) -> None:
        calls.append(len(arguments[-1]))
        original(*arguments)

    monkeypatch.setattr(trace_runs, "keep_points", counted)
    again = computed(method, folder)
    assert again["complete"]
    assert again["iterations"] == whole["iterations"]
    assert again["distortion"] == whole["distortion"]
    assert min(calls) > 1, "the first iterations are not repeated"
    assert not any((run_state.state_folder() / "traces").iterdir()), "the state is removed"


def test_versions_of_a_continued_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        kill_after(2, patch)
        with pytest.raises(KilledError):
            trace_runs.measure(run_of("BKM(non)"), "curve")
    path = folder / "BKM_non.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "version": "0.8.0", "commit": "abc"}))
    trace = computed("BKM(non)", folder)
    assert trace["version"].startswith("0.8.0, ")
    assert trace["commit"].startswith("abc")


def test_complete_trace_is_shared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed("k-means", folder)
    monkeypatch.setattr(trace_runs, "compute_in_process", None)
    assert "distortion" in trace_runs.measure(run_of("k-means"), "curve")


def test_repetition_keeps_the_complete_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = computed("k-means", folder)
    run_state.request_again("k_means")
    with monkeypatch.context() as patch:
        kill_after(3, patch)
        with pytest.raises(KilledError):
            trace_runs.measure(run_of("k-means"), "curve")
    assert traces.read_trace(folder / "k_means.json") == before
    path = folder / "k_means.json"
    path.write_text(json.dumps({**before, "version": "0.1"}))
    after = computed("k-means", folder)
    assert after["version"] != "0.1"
    assert after["iterations"] == before["iterations"]
    assert not run_state.again_mark("k_means").exists()


def elsewhere(iterations: int, complete: bool = False, **more: Any) -> Json:
    """Return a trace in the format of another program, with seconds."""
    rows, _ = sift(N)
    environment = {
        "packages": {"boostkmeans": "0.9.0", "numpy": "2.4.6"}, "python": "3.11.7",
        "processor": "p", "instruction_set": "avx", "n_threads": 2, "commit": "abc",
    }  # fmt: skip
    points = [[i, 100.0 - i, 5, 11.5 * i] for i in range(1, iterations + 1)]
    return {"run": {**run_of("BKM(rnd)"), "data": "sift"}, "environment": environment,
            "sha256": fingerprint(rows), "iterations": points, "complete": complete, **more}  # fmt: skip


def imported(tmp_path: Path, content: Json) -> int:
    """Import a trace, and return the exit code."""
    import_traces.name_of.cache_clear()
    path = tmp_path / "other.json"
    path.write_text(json.dumps(content))
    return import_traces.main([str(path)])


def test_traces_are_imported(folder: Path, tmp_path: Path) -> None:
    assert imported(tmp_path, elsewhere(4)) == 0
    path = folder / "BKM_rnd.json"
    trace = traces.read_trace(path)
    assert trace is not None
    assert trace["iterations"][-1] == [4, 96.0, 5], "seconds under load are dropped"
    assert (trace["version"], trace["commit"], trace["computed_seconds"]) == ("0.9.0", "abc", 46.0)
    assert "skipped" in trace_runs.measure(run_of("BKM(rnd)"), "curve"), "it goes on elsewhere"
    assert imported(tmp_path, elsewhere(3)) == 0
    assert traces.read_trace(path) == trace, "a shorter trace does not replace a longer one"
    ended = {"distortion": 90.0, "stop_reason": "max_iter"}
    assert imported(tmp_path, elsewhere(6, complete=True, **ended)) == 0
    found = traces.figures(path, "curve")
    assert found is not None
    assert (found["distortion"], found["ended"], found["iterations"]) == (90.0, "iterations", 6)
    assert found["data"].startswith("synthetic")
    assert imported(tmp_path, elsewhere(7)) == 0
    assert traces.figures(path, "curve") == found


def test_traces_of_other_rows_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert imported(tmp_path, {**elsewhere(4), "sha256": "0"}) == 1
    assert "belongs to other rows" in capsys.readouterr().err


def test_views_of_a_refined_tree() -> None:
    points = [[0, 120.0, 0, 2.0], [1, 110.0, 9, 3.0], [2, 108.0, 4, 4.5]]
    trace = {"run": {}, "iterations": points, "complete": True, "distortion": 107.5,
             "stop_reason": "tol", "figures": {"passes": {"mean": 3.0}}}  # fmt: skip
    refinement = traces.seen(trace, "refinement")
    assert refinement == {
        "distortion": 120.0, "refined": 107.5, "refined_after": [110.0, *5 * [108.0]],
        "refinement_sweeps": 2, "ended": "tol", "seconds": 2.0, "refinement_seconds": 2.5,
        "passes": {"mean": 3.0},
    }  # fmt: skip
    tree = traces.seen(trace, "tree")
    assert tree is not None
    assert (tree["distortion"], tree["curve"]) == (120.0, [[1, 2.0, 120.0]])
    assert traces.seen({**trace, "iterations": points[1:]}, "tree") is None


def test_view_of_candidates_ends_at_the_tolerance() -> None:
    values = [130.0, 120.0, 110.0, 105.0, 104.995, 100.0]
    trace: Json = {"iterations": [[i, value, 1] for i, value in enumerate(values, start=1)],
                   "complete": False}  # fmt: skip
    found = traces.seen(trace, "candidates")
    assert found == {"start": 110.0, "distortion": 104.995, "sweeps": 2, "ended": "tol"}
    assert traces.seen({**trace, "iterations": trace["iterations"][:4]}, "candidates") is None


def test_long_curves_are_thinned_out() -> None:
    curve = [[float(i), 0.0, 0.0] for i in range(1, 201)]
    some = traces.thinned(curve)
    assert some[:20] == curve[:20]
    assert some[-1] == curve[-1]
    assert len(some) < 70
    assert traces.thinned(curve[:130]) == curve[:130]


def test_names_of_files_are_distinct() -> None:
    methods = [*CONTENDERS]
    assert len({traces.slug(method, seed) for method in methods for seed in range(3)}) == 3 * len(
        methods
    )
    assert traces.slug("BKM(rnd)+Fast") == "BKM_rnd_Fast"
    assert traces.slug("k-means++", 2) == "k_meanspp_seed2"


# Seconds


def timing(method: str, sampler: Any = seconds_runs.iterations, rounds: int = 2) -> Any:
    """Return a timing of few rows."""
    return seconds_runs.Timing(method, 2_500, K, sampler, rounds)


def test_seconds_are_measured_in_turns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    original = seconds_runs.add_sample

    def add_sample(one: Any, found: Json) -> None:
        order.append(one.method)
        original(one, found)

    monkeypatch.setattr(seconds_runs, "add_sample", add_sample)
    chosen = [timing("k-means"), timing("BKM(non)"), timing("sampled tree", seconds_runs.whole, 1)]
    seconds_runs.measure(chosen, duration=0)
    assert order == [], "the time is up"
    seconds_runs.measure(chosen)
    assert order == ["k-means", "BKM(non)", "sampled tree", "k-means", "BKM(non)"]
    seconds_runs.measure(chosen)
    assert len(order) == 5, "stored samples are not measured again"
    entries = {one["run"]["method"]: one["samples"] for one in seconds.entries(folder.parent)}
    assert [len(entries[method]) for method in ("k-means", "sampled tree")] == [2, 1]
    assert len(entries["k-means"][0]["iterations"]) == seconds_runs.FEW - 1
    assert entries["sampled tree"][0]["iterations"] == []
    assert {"others", "version", "date"} <= set(entries["k-means"][0])


def sampled(others: float) -> Any:
    """Return a function that stands for `seconds_runs.sample` on a machine with this load."""
    return lambda sampler, run: {"start": 1.0, "iterations": [2.0], "others": others}


def test_disturbed_samples_are_not_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [timing("k-means"), timing("BKM(non)")]
    monkeypatch.setattr(seconds_runs, "sample", sampled(others=0.5))
    seconds_runs.measure(chosen)
    printed = capsys.readouterr().out
    assert printed.count("NOT STORED: others used 0.50 cores") == 2, "each method is tried once"
    assert seconds.entries(folder.parent) == []
    assert seconds_runs.estimate(chosen)[0] == 4
    monkeypatch.setattr(seconds_runs, "sample", sampled(others=0.05))
    seconds_runs.measure(chosen)
    assert [one.count(folder.parent) for one in chosen] == [2, 2]
    assert seconds_runs.estimate(chosen) == (0, 0.0)


def test_disturbed_samples_in_a_file_do_not_count(folder: Path) -> None:
    """Check samples that an earlier version stored."""
    samples = [{"start": 90.0, "iterations": [80.0, 80.0], "others": 1.0},
               {"start": 1.0, "iterations": [2.0], "others": 0.01}]  # fmt: skip
    content = {"runs": [{"run": {"method": "k-means", "n": 2_500, "k": K}, "samples": samples}]}
    folder.mkdir(parents=True)
    (folder.parent / seconds.NAME).write_text(json.dumps(content))
    assert timing("k-means").missing(folder.parent) == 1
    assert seconds.summary(samples) == {"start_seconds": 1.0, "seconds_of_iteration": 2.0}
    assert seconds.summary(samples[:1]) == {}
    (folder.parent / "any.json").write_text(json.dumps({"runs": []}))
    (found,) = run_files.read_runs(folder.parent / "any.json")["seconds"]
    assert found["seconds_of_iteration"] == 2.0


@pytest.mark.parametrize(
    ("method", "sampler"),
    [("Mini-Batch", seconds_runs.batches), ("Mini-Batch, 10 % in total", seconds_runs.batches),
     ("LVQ", seconds_runs.one_iteration), ("boostkmeans", seconds_runs.whole)],
)  # fmt: skip
def test_seconds_of_other_methods(method: str, sampler: Any) -> None:
    found = sampler({"method": method, "n": 2_500, "k": K})
    assert found["start"] >= 0
    assert all(one > 0 for one in found["iterations"])
    assert found["start"] + sum(found["iterations"]) > 0


def test_traces_get_their_seconds(folder: Path) -> None:
    samples = [{"start": 1.0, "iterations": [2.0, 2.0, 9.0]}, {"start": 3.0, "iterations": [2.0]}]
    content = {"runs": [{"run": {"method": "k-means", "n": N, "k": K}, "samples": samples}]}
    folder.mkdir(parents=True)
    (folder.parent / seconds.NAME).write_text(json.dumps(content))
    found = trace_runs.measure(run_of("k-means"), "curve")
    assert (found["start_seconds"], found["seconds_of_iteration"]) == (2.0, 2.0)
    assert found["seconds"] == 2 + 2 * found["iterations"]
    assert found["curve"][0][:2] == [1, 4.0]


# Processes


SLOW = """
import sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
import contenders, experiment, run_state, trace_runs

for module in (run_state, trace_runs):
    module.state_folder = lambda: Path({folder!r}) / "state"
experiment.RESULTS = Path({folder!r}) / "results"
keep_points = trace_runs.keep_points

def keep_slowly(*arguments):
    keep_points(*arguments)
    time.sleep(0.5)

trace_runs.keep_points = keep_slowly
if __name__ == "__main__":
    trace_runs.measure({run!r}, "curve")
"""
KILLED: Json = {"method": "BKM(non)", "n": 2_000, "k": 40, "seed": 0}


@pytest.mark.process
@pytest.mark.slow
def test_trace_continues_after_its_process_was_killed(tmp_path: Path, folder: Path) -> None:
    """A process begins the trace, and this one continues it."""
    script = tmp_path / "slow_trace.py"
    paths = [one for one in sys.path if one]
    script.write_text(SLOW.format(paths=paths, folder=str(tmp_path), run=KILLED))
    path = folder / "BKM_non.json"
    process = spawn([sys.executable, script], start_new_session=True)
    wait_for_iterations(path, 3)
    os.kill(process.pid, signal.SIGKILL)  # Its own process notices this after an iteration, and ends.
    process.wait()
    assert group_ends(process.pid)
    partial = traces.read_trace(path)
    assert partial is not None
    assert not partial["complete"]
    trace_runs.measure(KILLED, "curve")
    whole = traces.read_trace(path)
    assert whole is not None
    assert whole["complete"]
    assert whole["iterations"][: len(partial["iterations"])] == partial["iterations"]


def wait_for_iterations(path: Path, number: int) -> Json:
    """Return a trace as soon as it has some iterations."""

    def has_iterations() -> bool:
        trace = traces.read_trace(path)
        return trace is not None and len(trace["iterations"]) >= number

    assert wait_until(has_iterations)
    return traces.read_trace(path) or {}
