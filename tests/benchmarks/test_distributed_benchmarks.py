"""Benchmarks of distributed fits, with tiny sizes."""

import json
from pathlib import Path
from typing import Any

import pytest

import distributed_memory
import distributed_report
import result_files
from cluster_simulation import ASSUMPTIONS, SCENARIOS, Simulation, simulate, simulations

ENGINES = {"ordinary fit": {"seconds": 1.0, "time_ratio": 1.0, "inertia_ratio": 1.0, "rounds": 3,
                            "labels": "0123456789"}}  # fmt: skip


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make the benchmark of memory small, and return the folder of its results."""
    for module in (distributed_memory, result_files):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    small = {"N_SHARDS": 3, "ROWS_PER_SHARD": 20_000, "D": 4, "K": 5, "N_WORKERS": 1}
    for name, value in small.items():
        monkeypatch.setattr(distributed_memory, name, value)
    return tmp_path


@pytest.mark.slow
@pytest.mark.process
def test_memory_of_scheduler_and_driver(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    distributed_memory.distributed_memory()
    assert [one.name for one in small.iterdir()] == ["distributed_memory.json"]
    result = json.loads((small / "distributed_memory.json").read_text())
    assert list(result["peak_megabytes"]) == ["worker 0", "scheduler", "driver"]
    assert min(result["peak_megabytes"].values()) > 10
    lines = capsys.readouterr().out.splitlines()
    assert sum(not line.startswith("  start") for line in lines) == result["rounds"] > 0
    assert "| scheduler |" in distributed_report.memory_section(result)


def test_the_section_of_memory_shows_the_traffic_of_each_step() -> None:
    path = Path(distributed_memory.__file__).parent / "results" / "distributed_memory.json"
    result = json.loads(path.read_text())
    for known in (True, False):
        result["counts_all_results"] = known
        text = "left out centres and sums"
        assert (text in distributed_report.memory_section(result)) is not known
    result["bytes_sent_by_kind"] = {"sweep": {"steps": 4, "bytes": 10_000_000}}
    assert "| sweep | 4 | 2.5 MB |" in distributed_report.memory_section(result)


class TestSimulation:
    TASKS = dict.fromkeys(
        ["describe", "place", "sweep", "annealed sweep", "sums", "halves", "addition", "candidates",
         "sample", "snapshot copy"], 0.1,
    )  # fmt: skip

    @pytest.fixture(params=["low", "high"])
    def large(self, request: pytest.FixtureRequest) -> Simulation:
        """Return the larger scenario."""
        return Simulation(SCENARIOS[1], self.TASKS, ASSUMPTIONS[request.param])

    def test_a_sample_has_at_most_a_gigabyte(self, large: Simulation) -> None:
        assert large.sample_rows == 2**30 // (768 * 2)

    def test_sums_meet_four_at_a_time(self, large: Simulation) -> None:
        assert large.wave == 1600
        assert large.levels() == [400, 100, 25, 7, 2, 1]

    def test_labels_pass_through_the_driver(self, large: Simulation) -> None:
        link = 2 * 4e9 / 1.25e9  # 4 bytes per row, in both directions
        least = 4 * link  # every 8 of at least 36 rounds
        assert large.parts()["labels through the driver"] > least

    def test_assumptions_give_a_range(self) -> None:
        for one in SCENARIOS:
            found = simulate(one, self.TASKS)
            low, high = found["low"]["parts"], found["high"]["parts"]
            assert all(low[part] <= high[part] for part in low)
            assert found["low"]["bytes_per_round"] <= found["high"]["bytes_per_round"]

    def test_traffic_of_shared_memory_is_one_copy_per_machine(self) -> None:
        least = Simulation(SCENARIOS[1], self.TASKS, ASSUMPTIONS["low"])
        assert least.bytes_per_round() == 2 * 2 * 99 * 100_000 * 768 * 8
        alone = Simulation(SCENARIOS[0], self.TASKS, ASSUMPTIONS["high"])
        assert (alone.bytes_per_round(), alone.transfers()) == (0, 0)

    def test_the_page_states_the_assumptions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(distributed_report, "context", lambda result: "")
        section = distributed_report.simulation_section(simulations(self.TASKS))
        assert "*Low* is the least that is possible: 2 repairs, each followed by one round;" in section
        assert "*High* has 10 repairs" in section


class FakeClient:
    """A client whose workers have sent ten bytes."""

    def run(self, function: Any) -> dict[str, int]:
        return {"worker": 10}


class Record:
    kind, seconds, inertia = "sweep", 1.5, 3.0


def test_an_interrupted_fit_leaves_figures(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = distributed_memory.PeakMemory({})
    traffic = distributed_memory.Traffic(FakeClient())
    report = distributed_memory.after_round(traffic, memory)
    for _ in range(2):
        report(Record())
    found = json.loads(distributed_memory.partial_file().read_text())
    assert (found["rounds"], found["bytes_sent_per_round"], found["sizes"]["k"]) == (2, 5, 5)
    assert found["bytes_sent_by_kind"] == {"sweep": {"steps": 2, "bytes": 10}}
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    ("repeats", "words"),
    [
        (1, "Each fit ran once."),
        ({"large": 1, "small": 3}, "once (large), 3 times (small); the table has medians."),
    ],
)
def test_the_page_says_how_often_fits_ran(
    repeats: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributed_report, "context", lambda result: "")
    result = {"sets": {"large": ENGINES, "small": ENGINES}, "n_shards": 4, "repeats": repeats}
    section = distributed_report.fits_section(result)
    assert words in section
    assert "| time |" in section
