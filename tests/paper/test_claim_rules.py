"""Rules of the paper's claims: results made by hand on both sides of each threshold."""

from typing import Any

import numpy as np
import pytest
from miniature_results import (
    Json,
    bisecting_result,
    curve_run,
    objectives_result,
    priority_result,
    sections_result,
    seeded,
    seeds_result,
    stored,
)

import claims
from claim import AGREES, DIFFERS, IN_PART, UNKNOWN
from claims_variants import CONVERGING

JUDGES = {judge.name: judge for judge in claims.CLAIMS}


def verdict_of(name: str, result: Json) -> str:
    """Return the verdict of a claim."""
    return JUDGES[name]([result]).finding.verdict


# The algorithm


@pytest.mark.parametrize(
    ("ends", "expected"),
    [([1.0] * 10, AGREES), ([1.0] * 9 + [1.1], IN_PART), ([1.0] * 8 + [1.1, 1.2], DIFFERS)],
)
def test_reaches_optimum(ends: list[float], expected: str) -> None:
    result = stored([{"run": {"method": "starts"}, "distortions_boost": ends}])
    assert verdict_of("reaches_optimum", result) == expected


@pytest.mark.parametrize(
    ("small", "large", "expected"),
    [
        ([9.0, 8.0, 7.0], [9.0, 8.0, 7.0], AGREES),
        ([9.0, 8.0, 8.1], [9.0, 8.0, 7.0], IN_PART),
        ([9.0, 8.0, 7.0], [9.0, 9.1, 7.0], DIFFERS),
    ],
)
def test_objectives_decrease_together(small: list[float], large: list[float], expected: str) -> None:
    assert verdict_of("objectives_decrease_together", objectives_result(small, large)) == expected


# Curves


def curves(**runs: Json) -> Json:
    """Return a result with runs of BKM(non), BKM(rnd) and so on, by start."""
    return stored([{**run, "run": {"method": f"BKM({start})", "k": 8}} for start, run in runs.items()])


def timed(seconds: float) -> Json:
    """Return a run of 20 iterations that takes some seconds in total."""
    return {"curve": [[i + 1, seconds * (i + 1) / 20, 100 - i] for i in range(20)], "distortion": 80.0}


@pytest.mark.parametrize(
    ("rnd", "kpp", "expected"), [(110.1, 111, AGREES), (109.9, 111, IN_PART), (109.9, 90, DIFFERS)]
)
def test_assignment_is_costly(rnd: float, kpp: float, expected: str) -> None:
    result = curves(non=timed(100), rnd=timed(rnd), kpp=timed(kpp))
    assert verdict_of("assignment_is_costly", result) == expected


def test_assignment_at_the_papers_size_needs_separate_seconds() -> None:
    untimed = {"curve": [[i + 1, None, 100 - i] for i in range(20)], "distortion": 80.0}
    assert verdict_of("assignment_is_costly", curves(non=untimed, rnd=untimed, kpp=untimed)) == UNKNOWN
    measured = {
        start: {**untimed, "start_seconds": seconds, "seconds_of_iteration": 1.0}
        for start, seconds in (("non", 0.0), ("rnd", 2.1), ("kpp", 3.0))
    }
    assert verdict_of("assignment_is_costly", curves(**measured)) == AGREES


@pytest.mark.parametrize(
    ("later", "expected"),
    [(("non", "rnd", "kpp"), AGREES), (("non", "kpp"), IN_PART), (("kpp",), DIFFERS)],
)
def test_fast_needs_more_iterations(later: tuple[str, ...], expected: str) -> None:
    best = [100.0 - i for i in range(30)]
    runs = []
    for start in ("non", "rnd", "kpp"):
        fast = [value + 1 if start in later else value for value in best]
        runs += [curve_run(f"BKM({start})", best), curve_run(f"BKM({start})+Fast", fast)]
    assert verdict_of("fast_needs_more_iterations", stored(runs)) == expected
    assert verdict_of("fast_needs_more_iterations", stored(runs[:-1])) == UNKNOWN


@pytest.mark.parametrize(
    ("early", "late", "expected"),
    [(20.0, 0.4, AGREES), (20.0, 1.4, IN_PART), (20.0, 1.6, DIFFERS), (-1.0, -2.0, DIFFERS),
     (0.3, 0.4, DIFFERS)],
)  # fmt: skip
def test_advantage_fades_only_if_it_existed(early: float, late: float, expected: str) -> None:
    runs = [curve_run("BKM(non)", [100 + early] * 14 + [100 + late])]
    runs += [curve_run(f"BKM({start})", [100.0] * 15) for start in ("rnd", "kpp")]
    assert verdict_of("advantage_fades", stored(runs)) == expected


@pytest.mark.parametrize(("at_20", "expected"), [(100.4, AGREES), (100.9, IN_PART), (101.1, DIFFERS)])
def test_little_after_twenty_includes_all_three(at_20: float, expected: str) -> None:
    curve = [at_20] * 20 + [100.0]
    for late in ("k-means", "k-means++", "BKM(non)"):
        runs = [curve_run(one, curve if one == late else [100.0] * 21)
                for one in ("k-means", "k-means++", "BKM(non)")]  # fmt: skip
        assert verdict_of("little_after_twenty", stored(runs)) == expected


@pytest.mark.parametrize(
    ("plus", "expected"),
    [
        ([120.9, 110.0, 100.4], AGREES),
        ([120.0, 111.2, 100.4], IN_PART),
        ([122.0, 110.0, 100.4], IN_PART),
        ([120.0, 110.0, 100.6], DIFFERS),
        # A run that converged earlier keeps its last value.
        ([120.0, 100.4], IN_PART),
    ],
)
def test_similar_curves_compares_every_iteration(plus: list[float], expected: str) -> None:
    runs = [curve_run("k-means", [120.0, 110.0, 100.0]), curve_run("k-means++", plus)]
    assert verdict_of("similar_curves", stored(runs)) == expected


@pytest.mark.parametrize(
    ("iterations", "expected"),
    [
        ({"k-means": 121, "k-means++": 130, "BKM(non)": 121, "rest": 121}, AGREES),
        ({"k-means": 121, "k-means++": 130, "BKM(non)": 121, "rest": 50}, IN_PART),
        ({"k-means": 121, "k-means++": 120, "BKM(non)": 121, "rest": 121}, IN_PART),
        ({"k-means": 120, "k-means++": 120, "BKM(non)": 120, "rest": 130}, DIFFERS),
    ],
)
def test_more_than_120(iterations: dict[str, int], expected: str) -> None:
    runs = [
        {**curve_run(one, [1.0]), "iterations": iterations.get(one, iterations["rest"])}
        for one in CONVERGING
    ]
    assert verdict_of("more_than_120", stored(runs)) == expected
    assert verdict_of("more_than_120", stored(runs[:-1])) == UNKNOWN


@pytest.mark.parametrize(
    ("rising", "expected"), [((), AGREES), (("Mini-Batch",), IN_PART), (("k-means",), DIFFERS)]
)
def test_decreases_steadily(rising: tuple[str, ...], expected: str) -> None:
    methods = ("k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)")
    runs = [curve_run(one, [3.0, 2.0, 2.1 if one in rising else 1.9]) for one in methods]
    assert verdict_of("decreases_steadily", stored(runs)) == expected


@pytest.mark.parametrize(
    ("ends", "expected"),
    [((105.1, 106), AGREES), ((104, 106), IN_PART), ((104, 104), DIFFERS), ((106,), UNKNOWN)],
)
def test_mini_batch_far_above(ends: tuple[float, ...], expected: str) -> None:
    names = ("Mini-Batch", "Mini-Batch, 10 % in total")
    runs = [curve_run(one, [120.0, end]) for one, end in zip(names, ends, strict=False)]
    others = ("k-means", "k-means++", "LVQ", "BKM(non)")
    for highest in others:
        runs_of_others = [curve_run(one, [100.0 if one == highest else 90.0]) for one in others]
        assert verdict_of("mini_batch_far_above", stored([*runs_of_others, *runs])) == expected


@pytest.mark.parametrize(
    ("lvq_seconds", "boost", "expected"),
    [
        (9.0, [12, 11, 10, 9.0], AGREES),
        (2.0, [12, 11, 10, 9.0], IN_PART),
        (2.0, [20.0] * 6 + [10], DIFFERS),
        (9.0, [20.0, 19.0], DIFFERS),
    ],
)
def test_lvq_inefficient(lvq_seconds: float, boost: list[float], expected: str) -> None:
    lvq = curve_run("LVQ", [14, 13, 12, 11, 10.0])
    lvq["curve"][-1][1] = lvq_seconds
    assert verdict_of("lvq_inefficient", stored([lvq, curve_run("BKM(non)", boost)])) == expected


@pytest.mark.parametrize(
    ("plain", "plus", "expected"),
    [(91, 91, AGREES), (91, 89, IN_PART), (89, 91, IN_PART), (91, 79, DIFFERS), (91, 0, DIFFERS)],
)
def test_reaches_kmeans_and_its_better_seeding(plain: float, plus: float, expected: str) -> None:
    boost = curve_run("BKM(non)", [100.0 - i for i in range(30)])
    runs = [boost, curve_run("k-means", [plain]), curve_run("k-means++", [plus])]
    assert verdict_of("reaches_kmeans", stored(runs)) == expected


# Many runs


@pytest.mark.parametrize("name", ["boost_differs", "variations_minor", "no_difference_of_seeding"])
def test_all_runs_are_needed_at_the_papers_size(name: str) -> None:
    """A verdict about some of the 128 runs could change when the others are measured."""
    methods = ("k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)")
    runs = [{"run": {"method": one}, "distortion": [1.0 + i / 99 for i in range(40)]} for one in methods]
    result = stored(runs, "full")
    assert verdict_of(name, {**result, "complete": True}) != UNKNOWN
    assert verdict_of(name, {**result, "complete": False}) == UNKNOWN


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ((-0.1, -0.1, -0.1), AGREES),
        ((-0.1, 0.0, 0.0), IN_PART),
        ((-0.1, 0.0, 0.1), DIFFERS),
        ((0.0, 0.0, 0.0), DIFFERS),
    ],
)
def test_fast_ends_lower(gaps: tuple[float, ...], expected: str) -> None:
    result = seeds_result(dict(zip(("non", "rnd", "kpp"), gaps, strict=True)))
    assert verdict_of("fast_ends_lower", result) == expected


def test_fast_needs_ten_seeds() -> None:
    gaps = {"non": -0.1, "rnd": -0.1, "kpp": -0.1}
    assert verdict_of("fast_ends_lower", seeds_result(gaps, n_seeds=9)) == UNKNOWN
    assert verdict_of("fast_ends_lower", seeds_result(gaps, n_seeds=10)) == AGREES


@pytest.mark.parametrize(
    ("gap", "spread", "n_runs", "expected"),
    [
        (0.0, 0.2, 128, AGREES),
        # Too few runs to exclude a difference.
        (0.0, 1.0, 10, IN_PART),
        # Significant, but small.
        (0.15, 0.1, 128, IN_PART),
        (0.5, 0.1, 128, DIFFERS),
    ],
)
def test_no_difference_of_seeding(gap: float, spread: float, n_runs: int, expected: str) -> None:
    noise = np.random.default_rng(1).permuted(np.tile(np.linspace(-1, 1, n_runs), (2, 1)), axis=1)
    values = {"k-means": 100 + spread * noise[0], "k-means++": 100 + gap + spread * noise[1]}
    result = stored([{"run": {"method": one}, "distortion": list(some)} for one, some in values.items()])
    assert verdict_of("no_difference_of_seeding", result) == expected


@pytest.mark.parametrize(("loss", "expected"), [(100.4, AGREES), (100.6, DIFFERS)])
def test_candidates_may_lose_half_a_percent(loss: float, expected: str) -> None:
    runs = [{"run": {"n": 9, "k": 99, "k0": k0}, "distortion": end, "sweep_seconds": seconds}
            for k0, end, seconds in ((None, 100.0, 8.0), (64, loss, 1.0))]  # fmt: skip
    assert verdict_of("candidates_are_faster", stored(runs)) == expected


@pytest.mark.parametrize(("spread", "expected"), [(0.4, AGREES), (0.8, IN_PART), (1.5, DIFFERS)])
def test_variations_minor(spread: float, expected: str) -> None:
    values = [100 + spread * (-1) ** i for i in range(40)]
    methods = ("k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)")
    result = stored([{"run": {"method": one}, "distortion": values} for one in methods])
    assert verdict_of("variations_minor", result) == expected


# Trees


def changed(method: str, **figures: Any) -> Json:
    """Return the results of trees with other figures of one method."""
    result = bisecting_result()
    runs = [{**run, **(figures if run["run"]["method"] == method else {})} for run in result["runs"]]
    return {**result, "runs": runs}


@pytest.mark.parametrize(
    ("first", "expected"), [(111.5, AGREES), (111, IN_PART), (108.5, IN_PART), (108, DIFFERS)]
)
def test_trees_like_one_iteration(first: float, expected: str) -> None:
    assert verdict_of("trees_like_one_iteration", changed("k-means", after_one=first)) == expected


@pytest.mark.parametrize(("end", "expected"), [(112.9, AGREES), (113.5, IN_PART), (116, DIFFERS)])
def test_boosted_trees_are_compared_with_all_others(end: float, expected: str) -> None:
    before = seeded(changed("BsBKM(kpp)", distortion=end))
    assert verdict_of("boosted_trees_best", before) == expected
    after = seeded(changed("BsBKM(kpp)", refined=98 + end / 1000))
    assert verdict_of("refined_boosted_trees_best", after) == expected


@pytest.mark.parametrize(
    ("spread", "n_seeds", "expected", "tested"),
    [
        # The means are in the same order, but the seeds overlap.
        (0.1, 3, AGREES, True),
        (3.0, 3, IN_PART, True),
        (3.0, 10, IN_PART, True),
        # Two seeds cannot differ significantly.
        (3.0, 2, UNKNOWN, False),
        (3.0, 1, UNKNOWN, False),
    ],
)
@pytest.mark.parametrize(
    ("name", "figure"),
    [("boosted_trees_best", "distortion"), ("refined_boosted_trees_best", "refined")],
)
def test_better_trees_differ_significantly(
    name: str, figure: str, spread: float, n_seeds: int, expected: str, tested: bool
) -> None:
    deviations = spread * np.linspace(-1, 1, n_seeds) if n_seeds > 1 else [0.0]
    result = bisecting_result()
    result["runs"] = [
        {**run, figure: run["distortion"] + deviation, "run": {**run["run"], "seed": seed}}
        for run in result["runs"]
        for seed, deviation in enumerate(deviations)
    ]
    finding = JUDGES[name]([stored(result["runs"])]).finding
    assert finding.verdict == expected
    assert ("p = " in finding.measured) == tested
    assert ("fewer than 3 seeds" in finding.explanation) != tested


@pytest.mark.parametrize(("seconds", "expected"), [(40, AGREES), (10, IN_PART), (9.9, DIFFERS)])
def test_tree_against_iteration(seconds: float, expected: str) -> None:
    result = changed("k-means", seconds_of_iteration=seconds)
    assert verdict_of("tree_against_iteration", result) == expected


@pytest.mark.parametrize(("mean", "expected"), [(13.0, AGREES), (32.0, IN_PART), (33.0, DIFFERS)])
def test_splits_need_few_passes(mean: float, expected: str) -> None:
    result = changed("BsBKM(non)", passes={"mean": mean, "max": 99})
    assert verdict_of("splits_need_few_passes", result) == expected


def test_splits_need_few_passes_for_every_seed() -> None:
    result = changed("BsBKM(non)", passes={"mean": 13.0, "max": 99})
    tree = next(run for run in result["runs"] if run["run"]["method"] == "BsBKM(non)")
    result["runs"].append({**tree, "passes": {"mean": 14.0, "max": 99}})
    assert verdict_of("splits_need_few_passes", result) == IN_PART


@pytest.mark.parametrize(
    ("refined", "expected"),
    [(105.1, AGREES), (108.9, AGREES), (104.9, IN_PART), (109.1, IN_PART), (102.9, DIFFERS)],
)
def test_refined_trees_above_needs_every_tree(refined: float, expected: str) -> None:
    result = bisecting_result()
    for run in result["runs"][1:]:
        run["refined"] = refined if run["run"]["method"] == "BsKM++" else 107.0
    assert verdict_of("refined_trees_above", result) == expected


def test_trees_without_passes_are_not_measured() -> None:
    assert verdict_of("splits_need_few_passes", changed("BsBKM(non)", passes=None)) == UNKNOWN


@pytest.mark.parametrize(
    ("comparisons", "seconds", "expected"),
    [
        ([1.0, 2, 3, 4, 5], [1.0, 2, 3, 4, 5], AGREES),
        ([1.0, 2, 3, 4, 5], [3.0, 2, 3, 4, 5], IN_PART),
        ([3.0, 2, 3, 4, 5], [1.0, 2, 3, 4, 5], DIFFERS),
    ],
)
def test_two_sections_cheapest(comparisons: list[float], seconds: list[float], expected: str) -> None:
    assert verdict_of("two_sections_cheapest", sections_result(comparisons, seconds)) == expected


@pytest.mark.parametrize(("figure", "expected"), [("seconds", IN_PART), ("comparisons", DIFFERS)])
def test_two_sections_cheapest_for_every_seed(figure: str, expected: str) -> None:
    result = sections_result([1.0, 20, 30, 40, 50], [1.0, 20, 30, 40, 50])
    result["runs"] += [{**run, "run": {**run["run"], "seed": 1}} for run in result["runs"]]
    result["runs"][6][figure] = 0.9
    assert verdict_of("two_sections_cheapest", result) == expected
    assert verdict_of("two_sections_cheapest", {**result, "runs": result["runs"][:-1]}) == UNKNOWN


@pytest.mark.parametrize(
    ("deviations", "expected"),
    [
        ({"a": (1.0, 4.0), "b": (1.0, 4.0), "c": (1.1, 1.0)}, AGREES),
        ({"a": (1.0, 4.0), "b": (1.0, 1.1), "c": (1.0, 1.1)}, IN_PART),
        ({"a": (1.0, 1.1), "b": (1.0, 1.1), "c": (1.0, 1.1)}, IN_PART),
        ({"a": (1.0, 4.0), "b": (1.0, 4.0), "c": (4.0, 1.0)}, DIFFERS),
        ({"a": (1.0, 4.0), "b": (1.1, 1.0)}, DIFFERS),
    ],
)
def test_largest_more_stable(deviations: dict[str, tuple[float, float]], expected: str) -> None:
    assert verdict_of("largest_more_stable", priority_result(deviations)) == expected
