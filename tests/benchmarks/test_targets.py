"""The table of goals and measurements."""

from typing import Any

import pytest

import small_fits
import targets
from comparison import BASELINE, DEFAULTS
from problems import PROBLEMS

Json = dict[str, Any]


def make_run(seconds: float, inertia: float, **figures: Any) -> Json:
    """Return a run whose curve falls to 1.0001 of its inertia after a quarter of the time."""
    curve = [(seconds / 4, 1.0001 * inertia), (seconds, inertia)]
    return {"seconds": seconds, "inertia": inertia, "megabytes": 10.0, "curve": curve, **figures}


def make_problem(runs: dict[str, Json]) -> Json:
    return {
        "kind": "dense",
        "n": 2**18,
        "d": 100,
        "k": 3,
        "runs": {name: [run] for name, run in runs.items()},
    }


def rows(problems: dict[str, Json], small: Json | None = None) -> dict[str, list[str]]:
    """Return the cells of the table by figure."""
    lines = targets.targets_table({"small": small or {}}, problems).splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line]
    return {line[0]: line[1:] for line in cells}


def the_row(found: dict[str, list[str]], *texts: str) -> list[str]:
    (name,) = [one for one in found if all(text in one for text in texts)]
    return found[name]


def test_problems_of_goals_exist() -> None:
    names = {problem.name for problem in PROBLEMS}
    wanted = {targets.WORDNET, targets.MNIST, targets.SIFT, targets.LARGEST_SIFT}
    assert {*wanted, *targets.SYNTHETIC, *targets.FEW_CLUSTERS} <= names


def test_goals_without_measurements_are_open() -> None:
    found = rows({})
    assert {(cells[2], cells[3]) for cells in found.values()} == {("not measured", "-")}


def test_time_to_the_inertia_of_the_earlier_release() -> None:
    runs = {DEFAULTS: make_run(8.0, 100.0), BASELINE: make_run(10.0, 100.0)}
    assert the_row(rows({targets.WORDNET: make_problem(runs)}), targets.WORDNET, "0.02 %") == [
        "1", "0.35", "0.20", "yes",
    ]  # fmt: skip
    runs[BASELINE] = make_run(10.0, 99.0)
    found = rows({targets.MNIST: make_problem(runs)})
    assert the_row(found, targets.MNIST, "0.02 %") == ["1", "0.3", "never", "**no**"]


def test_synthetic_stand_ins_do_not_count() -> None:
    runs = {DEFAULTS: make_run(8.0, 100.0), BASELINE: make_run(10.0, 100.0)}
    stand_in = {**make_problem(runs), "data": "synthetic, embedding-like"}
    found = rows({targets.WORDNET: stand_in})
    assert the_row(found, targets.WORDNET, "0.02 %")[2:] == ["not measured", "-"]
    assert not targets.is_stand_in(targets.SYNTHETIC[0], stand_in)


def test_wordnet_against_superkmeans() -> None:
    runs = {
        DEFAULTS: make_run(8.0, 93.0),
        BASELINE: make_run(8.0, 94.0),
        "superkmeans": make_run(5.0, 100.0),
    }
    found = rows({targets.WORDNET: make_problem(runs)})
    assert the_row(found, targets.WORDNET, "time to the default inertia") == [
        "0.40",
        "0.5",
        "0.40",
        "yes",
    ]
    assert the_row(found, targets.WORDNET, "final inertia") == ["-6.00 %", "-6.6 %", "-7.00 %", "yes"]


def test_nearest_setting_decides() -> None:
    runs = {
        DEFAULTS: make_run(4.0, 100.0),
        'boostkmeans, quality="fast"': make_run(2.0, 100.0),
        BASELINE: make_run(40.0, 100.0),
        "superkmeans": make_run(3.0, 101.0),
        "superkmeans, sq8": make_run(2.0, 101.0),
        "faiss.Kmeans": make_run(0.1, 101.0),
    }
    synthetic, few = targets.SYNTHETIC[0], targets.FEW_CLUSTERS[1]
    found = rows({synthetic: make_problem(runs), few: make_problem(runs)})
    assert the_row(found, synthetic) == [
        "the defaults alone: 0.2 x", "2 x", "4 x (superkmeans, sq8); the defaults alone: 2 x", "yes",
    ]  # fmt: skip
    assert the_row(found, few) == [
        "the defaults alone: 0.01 x", "above 1 x", "0.2 x (faiss.Kmeans); the defaults alone: 0.1 x",
        "**no**",
    ]  # fmt: skip


def test_shares_and_never() -> None:
    problem = make_problem({
        DEFAULTS: make_run(4.0, 100.0), "superkmeans": make_run(3.0, 101.0),
        "fastkmeans": make_run(9.0, 90.0),
    })  # fmt: skip
    found = rows({"a problem": problem, "ignored": {**problem, "kind": "sparse"}})
    assert the_row(found, "defaults alone") == ["(75 %)", "92 %", "50 %", "**no**"]
    assert the_row(found, "never") == ["", "0", "1; 1 by the defaults", "**no**"]


def test_growth_with_k() -> None:
    small, large = (make_problem({DEFAULTS: make_run(seconds, 1.0)}) for seconds in (10.0, 19.0))
    found = rows({targets.SIFT: small, targets.LARGEST_SIFT: large})
    assert the_row(found, "k=100,000 relative") == ["(4)", "2", "1.90", "yes"]


def test_highest_serial_share_of_long_fits_counts() -> None:
    def with_share(seconds: float, share: float) -> Json:
        return make_problem({DEFAULTS: make_run(seconds, 1.0, serial_share=share, simulated={})})

    problems = {
        "short": with_share(0.5, 0.5),
        "long": with_share(2.0, 0.01),
        "longer": with_share(3.0, 0.04),
    }
    assert the_row(rows(problems), "serial_share_")[2:] == ["0.010 to 0.040 (longer)", "**no**"]


@pytest.mark.parametrize(("dimensions", "met"), [(20, "yes"), (5, "**no**"), (None, "yes")])
def test_memory_of_the_working_dimensions_is_allowed(dimensions: int | None, met: str) -> None:
    run = {**make_run(1.0, 1.0), "megabytes": 30.0}
    if dimensions is not None:
        run["dimensions"] = dimensions
    cells = the_row(
        rows({"p": make_problem({DEFAULTS: run, BASELINE: make_run(1.0, 1.0)})}), "peak memory"
    )
    # One dimension of 2**18 rows is 1 MB.
    assert cells[2:] == [f"+20 MB, {dimensions or 100} MB allowed (p)", met]


def test_small_fits_need_time_and_inertia() -> None:
    def fit(seconds: float, inertia: float) -> Json:
        return {"seconds": seconds, "mean_inertia": inertia}

    names = list(small_fits.PROBLEMS)
    other = fit(2.0, 100.0)
    small = {
        names[0]: {"runs": {small_fits.OWN: fit(1.0, 99.0), small_fits.SCIKIT_LEARN: other}},
        names[1]: {"runs": {small_fits.OWN: fit(3.0, 99.0), small_fits.SCIKIT_LEARN: other}},
        names[2]: {"runs": {small_fits.OWN: fit(1.0, 101.0), small_fits.SCIKIT_LEARN: other,
                            BASELINE: fit(4.0, 99.0)}},
    }  # fmt: skip
    found = rows({}, small)
    assert the_row(found, names[0]) == ["(2.4 to 3.2)", "at most 1", "0.50, inertia -1.00 %", "yes"]
    assert the_row(found, names[1])[2:] == ["1.50, inertia -1.00 %", "**no**"]
    assert the_row(found, names[2]) == ["2.00", "at most 1", "0.50, inertia +1.00 %", "**no**"]
    assert the_row(found, names[3])[2:] == ["not measured", "-"]
