"""Stored runs of the paper's experiments: versions, interruptions, repetitions and estimates."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from miniature_results import group_ends

import command_line
import estimates
import experiment
import provenance
import run_files
import run_state
from processes import PATIENCE, spawn, wait_until

Json = dict[str, Any]


class Counting:
    """An experiment that counts its measurements."""

    NAME = "counting"
    TITLE = "Counting"
    __file__ = "counting.py"

    def __init__(self) -> None:
        self.measured: list[str] = []
        self.failing = ""

    def plan(self, full: bool) -> list[Json]:
        return [{"method": method, "seed": 0} for method in ("a", "b", "c")]

    def measure(self, run: Json) -> Json:
        if run["method"] == self.failing:
            raise KeyboardInterrupt
        self.measured.append(run["method"])
        return {"value": len(self.measured)}

    def page(self, result: Json) -> str:
        return f"{len(result['runs'])} runs"


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counting:
    for name in ("RESULTS", "PAGES", "IMAGES"):
        monkeypatch.setattr(experiment, name, tmp_path / "paper" / name)
    monkeypatch.setattr(experiment, "HERE", tmp_path / "paper")
    monkeypatch.setattr(run_state, "state_folder", lambda: tmp_path / "state")
    return Counting()


def stored(full: bool = False) -> list[Json]:
    """Return the runs of the file as they are stored."""
    content: Json = json.loads(experiment.path_of("counting", full).read_text())
    return list(content["runs"])


def test_runs_are_stamped(counting: Counting) -> None:
    experiment.run_experiment(counting, full=False)
    for run in stored():
        assert run["version"] == provenance.version()
        assert {"commit", "date", "processor", "packages", "duration"} <= set(run)
    result = experiment.load_size("counting", full=False)
    assert result is not None
    assert result["complete"]
    assert f"boostkmeans {provenance.version()} (3 runs" in experiment.page_text(counting, result)


def test_seconds_are_estimated_before_they_are_measured(
    counting: Counting, capsys: pytest.CaptureFixture[str]
) -> None:
    printed: list[str] = []

    class Timed(Counting):
        def estimate_seconds(self) -> tuple[int, float]:
            return 7, 5 * 3600.0

        def measure_seconds(self, duration: float | None) -> None:
            printed.append(capsys.readouterr().out)

    command_line.measure_seconds([counting, Timed()], None)
    assert "| counting | 7 | 5.0 h |" in printed[0]
    assert "| total | 7 | 5.0 h |" in printed[0]


def test_completeness_is_that_of_the_current_plan(counting: Counting) -> None:
    """Check that the number of runs in the file, that of an earlier plan, does not count."""
    experiment.run_experiment(counting, full=False)
    path = experiment.path_of("counting", full=False)
    content = json.loads(path.read_text())
    runs = content["runs"]
    path.write_text(json.dumps({**content, "planned": 15}))
    (shown,) = experiment.shown_results(counting)
    assert shown["complete"]
    assert "still missing" not in experiment.page_text(counting, shown)
    other = {**runs[0], "run": {"method": "d", "seed": 0}}
    path.write_text(json.dumps({**content, "planned": 3, "runs": [other, *runs[1:]]}))
    (shown,) = experiment.shown_results(counting)
    assert not shown["complete"], "there are enough runs, but not those of the plan"


def test_completeness_ignores_time_limits_unless_a_run_failed() -> None:
    plan = [{"method": "a", "limit": 5.0}]
    finished: Json = {"run": {"method": "a", "limit": 1.0}, "value": 1}
    failed: Json = {"run": {"method": "a", "limit": 1.0}, "failure": "more than 1 s"}
    assert run_files.has_all([finished], plan)
    assert not run_files.has_all([failed], plan)
    for one in (finished, failed):
        assert run_files.has_all([one], plan) == run_files.matches(one, plan[0])


def test_interruption_keeps_finished_runs(counting: Counting) -> None:
    counting.failing = "c"
    with pytest.raises(KeyboardInterrupt):
        experiment.run_experiment(counting, full=False)
    result = experiment.load_size("counting", full=False)
    assert result is not None
    assert not result["complete"]
    assert "Some runs are still missing." in experiment.page_text(counting, result)
    counting.failing = ""
    experiment.run_experiment(counting, full=False)
    assert counting.measured == ["a", "b", "c"]


def test_runs_of_other_versions_stay(counting: Counting) -> None:
    experiment.run_experiment(counting, full=False)
    path = experiment.path_of("counting", full=False)
    content = json.loads(path.read_text())
    content["runs"][1] |= {"version": "0.8.0", "processor": "another"}
    del content["runs"][2]
    path.write_text(json.dumps(content))
    experiment.run_experiment(counting, full=False)
    assert counting.measured == ["a", "b", "c", "c"]
    assert [run["version"] for run in stored()].count("0.8.0") == 1
    result = experiment.load_size("counting", full=False)
    assert result is not None
    text = experiment.page_text(counting, result)
    assert "boostkmeans 0.8.0 (1 run" in text
    assert "another" in text


def test_files_without_stamps_are_read(counting: Counting) -> None:
    """Files of version 0.9 and earlier have one environment for all runs."""
    environment = {
        "packages": {"boostkmeans": "0.7.0", "numpy": "2.4.6"}, "python": "3.11.7",
        "processor": "some", "instruction_set": "avx", "n_threads": 2, "commit": "abc",
    }  # fmt: skip
    runs = [{"run": {"method": method, "seed": 0}, "value": 1} for method in ("a", "k-means", "gone")]
    path = experiment.path_of("counting", full=False)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"size": "small", "environment": environment, "runs": runs}))
    result = experiment.load_size("counting", full=False)
    assert result is not None
    assert [run["run"]["method"] for run in result["runs"]] == ["a", "k-means (scikit-learn)", "gone"]
    assert {run["version"] for run in result["runs"]} == {"0.7.0"}
    experiment.run_experiment(counting, full=False)
    content = json.loads(path.read_text())
    assert [run["version"] for run in content["runs"]] == ["0.7.0", *2 * [provenance.version()]]
    former = {run["run"]["method"]: run["version"] for run in content["former"]}
    assert former == {"k-means (scikit-learn)": "0.7.0", "gone": "0.7.0"}, "nothing is lost"


@pytest.mark.parametrize(
    ("again", "measured"), [(True, ["a", "b", "c"]), ({"b"}, ["b"]), (False, []), ({"z"}, [])]
)
def test_remeasuring(counting: Counting, again: Any, measured: list[str]) -> None:
    experiment.run_experiment(counting, full=False)
    counting.measured.clear()
    experiment.run_experiment(counting, full=False, remeasure=again)
    assert counting.measured == measured
    assert len(stored()) == 3


def test_interrupted_repetition_keeps_the_stored_run(counting: Counting) -> None:
    experiment.run_experiment(counting, full=False)
    counting.failing = "b"
    with pytest.raises(KeyboardInterrupt):
        experiment.run_experiment(counting, full=False, remeasure={"b"})
    values = {run["run"]["method"]: run["value"] for run in stored()}
    assert values == {"a": 1, "b": 2, "c": 3}


def test_a_run_is_measured_by_one_process_at_a_time(counting: Counting) -> None:
    with run_state.locked(run_state.run_folder("counting", counting.plan(False)[1])):
        experiment.run_experiment(counting, full=False)
    assert counting.measured == ["a", "c"]


def test_runs_of_other_processes_are_not_lost(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a run is measured, another process stores a run in the same file."""
    other = {"run": {"method": "b", "seed": 0}, "value": 77, **provenance.stamp()}
    measure = counting.measure

    def measure_slowly(run: Json) -> Json:
        path = experiment.path_of("counting", False)
        run_files.update(path, lambda content: run_files.with_run(content, other))
        return measure(run)

    monkeypatch.setattr(counting, "measure", measure_slowly)
    experiment.run_experiment(counting, full=False)
    assert counting.measured == ["a", "c"]
    assert {run["value"] for run in stored()} == {1, 2, 77}


def test_limits_matter_for_failures_only() -> None:
    short, long = {"method": "a", "limit": 1}, {"method": "a", "limit": 9}
    assert run_files.matches({"run": short, "value": 1}, long)
    assert run_files.matches({"run": short, "failure": "more than 1 s"}, short)
    assert not run_files.matches({"run": short, "failure": "more than 1 s"}, long)
    assert not run_files.is_finished({"run": short, "failure": "ended with exit code -9"})
    assert run_files.is_finished({"run": short, "failure": "more than 1 s"})


def test_priorities_come_first(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {"a": 7, "c": 1}
    monkeypatch.setattr(counting, "priority", lambda run: places.get(run["method"], 5), raising=False)
    experiment.run_experiment(counting, full=True)
    assert counting.measured == ["c", "b", "a"]


def test_estimates(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = counting.plan(False)
    assert estimates.cost_of(counting, plan[0], []) is None
    done = [{"run": plan[0], "duration": 100.0}, {"run": plan[1], "duration": 300.0}]
    assert estimates.cost_of(counting, plan[0], done) == 100
    assert estimates.cost_of(counting, plan[2], done) == 200, "the mean of the others"
    monkeypatch.setattr(counting, "cost", lambda run: 7200.0, raising=False)
    assert estimates.cost_of(counting, plan[2], done) == 7200
    text = estimates.estimate_text([(counting, plan, plan[2:], done)])
    assert "| counting | 2 of 3 | 1 | 2.0 h |" in text
    monkeypatch.setattr(counting, "cost", lambda run: None)
    assert "3 runs of unknown time" in estimates.estimate_text([(counting, plan, plan, [])])


def test_command_line_chooses_experiments_and_methods() -> None:
    parser = command_line.parser_of([Counting()])
    names = ["counting", "other"]

    def chosen(*arguments: str) -> Json:
        found = command_line.choices(parser, parser.parse_args(arguments), names)
        return {name: (sorted(one.methods), one.again) for name, one in found.items()}

    assert chosen() == {"counting": ([], False), "other": ([], False)}
    assert chosen("counting") == {"counting": ([], False)}
    assert chosen("counting/a", "counting/b") == {"counting": (["a", "b"], False)}
    assert chosen("--remeasure") == {"counting": ([], True), "other": ([], True)}
    assert chosen("counting", "--remeasure") == {"counting": ([], True)}
    assert chosen("--remeasure", "other") == {"other": ([], True)}
    assert chosen("--remeasure", "other/k-means", "other/RBK") == {"other": (["RBK", "k-means"], True)}
    with pytest.raises(SystemExit):
        chosen("unknown")


@pytest.mark.parametrize(
    ("arguments", "measured"),
    [([], ["a", "b", "c"]), (["counting/b"], ["b"]), (["--remeasure", "counting/c"], ["c"])],
)
def test_command_line_measures_what_is_chosen(
    counting: Counting, monkeypatch: pytest.MonkeyPatch, arguments: list[str], measured: list[str]
) -> None:
    if arguments[:1] == ["--remeasure"]:
        experiment.run_experiment(counting, full=False)
        counting.measured.clear()
    monkeypatch.setattr(sys, "argv", ["run", *arguments])
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    assert experiment.main(counting) == 0
    assert counting.measured == measured
    assert (experiment.PAGES / "counting.md").exists()


def test_estimate_measures_nothing(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["run", "--estimate", "--full"])
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    assert experiment.main(counting) == 0
    assert counting.measured == []
    assert not experiment.path_of("counting", full=True).exists()


SLOW = """
import sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
import experiment, run_state
from isolated import isolated

run_state.state_folder = lambda: Path({folder!r}) / "state"
experiment.RESULTS = Path({folder!r}) / "results"
experiment.PAGES = experiment.IMAGES = Path({folder!r})

def wait(path):
    Path(path).touch()
    time.sleep(3600)

class Slow:
    NAME = TITLE = "slow"
    __file__ = "slow.py"
    def plan(self, full): return [{{"method": one, "seed": 0}} for one in ("quick", "slow")]
    def measure(self, run):
        if run["method"] == "slow":
            isolated(wait, {folder!r} + "/began", limit=None)
        return {{"value": 1}}
    def page(self, result): return "page"

if __name__ == "__main__":
    sys.argv[1:] = []
    sys.exit(experiment.main(Slow()))
"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_finished_runs_and_no_process(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "slow_script.py"
    paths = [str(tmp_path), *[one for one in sys.path if one]]
    script.write_text(SLOW.format(paths=paths, folder=str(tmp_path)))
    process = spawn([sys.executable, script], start_new_session=True, text=True,
                    stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)  # fmt: skip
    assert wait_until((tmp_path / "began").exists)
    # Ctrl-C reaches all processes of the terminal, `kill` only one.
    os.killpg(process.pid, number) if number == signal.SIGINT else process.terminate()
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "The same command continues here." in errors
    content = json.loads((tmp_path / "results" / "slow.json").read_text())
    assert [run["run"]["method"] for run in content["runs"]] == ["quick"]
    assert group_ends(process.pid), "no process of the group is left"
