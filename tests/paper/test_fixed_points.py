"""Fixed points of Lloyd's algorithm: the prediction, the experiment and its page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import data
import experiment
import fixed_point_methods
import fixed_points_page
import lloyd_bias
import lloyd_fixed_points
import run_paper
from boostkmeans import metrics
from fixed_point_methods import METHODS
from lloyd_bias import Planted, random_labels

RULES = {"lloyd": lloyd_bias.lloyd, "single": lloyd_bias.single_moves}
PAGE = Path(__file__).parents[2] / "docs" / "paper" / "lloyd_fixed_points.md"

Json = dict[str, Any]


def planted(k: int = 6, size: int = 5, d: int = 3, noise: float = 2.0) -> Planted:
    return Planted(np.repeat(np.arange(k), size), d, noise, signal=1.5)


def direct_scores(rows: Any, labels: Any, single: bool) -> Any:
    """Return the cost of going minus the cost of staying, for one or several arrays of rows."""
    k = int(labels.max()) + 1
    sizes = np.bincount(labels)
    wide = rows.astype(np.float64)
    centres = np.stack([wide[..., labels == r, :].mean(axis=-2) for r in range(k)], axis=-2)
    distances = np.square(wide[..., :, None, :] - centres[..., None, :, :]).sum(axis=-1)
    stay = distances[..., np.arange(len(labels)), labels]
    if single:
        distances, stay = distances * (sizes / (sizes + 1)), stay * (sizes / (sizes - 1))[labels]
    return np.where(labels[:, None] == np.arange(k), np.inf, distances - stay[..., None])


@pytest.mark.parametrize("rule", RULES)
def test_moments_equal_a_simulation(rule: str) -> None:
    # The moments are exact in every dimension, also for clusters of unequal sizes.
    model = planted(k=3, size=4)
    labels = np.array([0, 1, 2, 2, 1, 1, 0, 2, 0, 2, 2, 1])
    rng = np.random.default_rng(0)
    n_draws = 4000
    rows = np.stack([model.draw(rng) for _ in range(n_draws)])
    scores = direct_scores(rows, labels, single=rule == "single")
    mean, variance = lloyd_bias.predicted_moments(model, labels, RULES[rule])
    other = labels[:, None] != np.arange(3)
    scores, mean, variance = scores[:, other], mean[other], variance[other]
    errors = np.abs(scores.mean(axis=0) - mean) / np.sqrt(variance / n_draws)
    assert errors.max() < 4.5, "standard errors"
    np.testing.assert_allclose(scores.var(axis=0), variance, rtol=0.25)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("d", "noise"), [(60, 6.0), (400, 3.0)])
def test_predicted_share_equals_a_simulation(rule: str, d: int, noise: float) -> None:
    model = Planted(np.repeat(np.arange(12), 8), d, noise)
    rng = np.random.default_rng(1)
    measured, predicted = [], []
    for _ in range(30):
        labels = random_labels(96, 12, rng)
        moving = lloyd_bias.moving_rows(lloyd_bias.gram(model.draw(rng)), labels, RULES[rule])
        stay = lloyd_bias.probabilities_to_stay(lloyd_bias.predicted_scores(model, labels, RULES[rule]))
        measured.append(moving.mean())
        predicted.append(1 - stay.mean())
    assert np.mean(measured) == pytest.approx(np.mean(predicted), abs=0.03)


def test_single_moves_have_no_bias() -> None:
    # Without signal, the expected scores of single moves are 0, and those of Lloyd's rule s^2 d 2/m.
    model = Planted(np.zeros(60, dtype=int), 50, noise=3.0, signal=0.0)
    labels = np.arange(60) % 6
    other = labels[:, None] != np.arange(6)
    single, _ = lloyd_bias.predicted_moments(model, labels, lloyd_bias.single_moves)
    lloyd, variance = lloyd_bias.predicted_moments(model, labels)
    np.testing.assert_allclose(single[other], 0, atol=1e-9)
    np.testing.assert_allclose(lloyd[other], 3.0 * 50 * 2 / 10)
    np.testing.assert_allclose(variance[other], 9.0 * 8 * 50 / 10)


@pytest.mark.parametrize("rule", RULES)
def test_moving_rows_equal_a_direct_computation(rule: str) -> None:
    model = planted(d=7)
    rng = np.random.default_rng(2)
    rows, labels = model.draw(rng), random_labels(30, 6, rng)
    expected = direct_scores(rows, labels, single=rule == "single").min(axis=1) < -1e-9
    moving = lloyd_bias.moving_rows(lloyd_bias.gram(rows, block=3), labels, RULES[rule])
    np.testing.assert_array_equal(moving, expected)
    assert moving.any()
    assert lloyd_bias.share_of_moves(rows, labels, RULES[rule], block=7) == expected.mean()


def test_score_of_single_moves_is_the_change_of_the_objective() -> None:
    model = planted()
    rng = np.random.default_rng(3)
    rows, labels = model.draw(rng), random_labels(30, 6, rng)
    moved = labels.copy()
    moved[4] = (labels[4] + 1) % 6
    change = metrics.i1(rows, labels) - metrics.i1(rows, moved)
    assert direct_scores(rows, labels, single=True)[4, moved[4]] == pytest.approx(change, rel=1e-5)


def test_effective_dimension() -> None:
    corners = np.array([[sign * (i == j) for j in range(5)] for i in range(3) for sign in (1.0, -1.0)])
    assert lloyd_bias.effective_dimension(corners) == pytest.approx(3)
    assert lloyd_bias.effective_dimension(np.tile(corners, (1, 3))) == pytest.approx(3)
    assert lloyd_bias.effective_dimension(corners * [2.0, 1, 1, 1, 1]) == pytest.approx(36 / 18)


def test_lloyd_cannot_correct_two_exchanged_rows() -> None:
    # The noise is above the page's bound (m - 1)^2 / m = 3.2.
    model = Planted(np.repeat(np.arange(6), 5), 8000, noise=5.0)
    rng = np.random.default_rng(4)
    products = lloyd_bias.gram(model.draw(rng))
    for labels, pair in lloyd_fixed_points.exchanged_rows(model.classes, rng, 5):
        assert (labels[pair] != model.classes[pair]).all()
        assert (labels != model.classes).sum() == 2
        assert not lloyd_bias.moving_rows(products, labels).any()
        moving = lloyd_bias.moving_rows(products, labels, lloyd_bias.single_moves)
        np.testing.assert_array_equal(np.flatnonzero(moving), np.sort(pair))


def test_single_moves_find_clusters_that_lloyd_misses() -> None:
    rows, classes, start = lloyd_fixed_points.planted_rows(60, 6, 3000, 9.0, 0)
    stuck = METHODS["Lloyd, random labels"](rows, 6, start, 0)
    np.testing.assert_array_equal(stuck, start)
    found = METHODS["boostkmeans"](rows, 6, start, 0)
    assert adjusted_rand_score(classes, found) == 1


@pytest.mark.parametrize("method", METHODS)
def test_methods_return_a_label_for_each_row(method: str) -> None:
    if method == "faiss":
        pytest.importorskip("faiss")
    rows, classes, start = lloyd_fixed_points.planted_rows(40, 4, 30, 0.01, 0)
    labels = METHODS[method](rows, 4, start, 0)
    assert labels.shape == (40,)
    assert set(labels) <= set(range(4))
    assert adjusted_rand_score(classes, labels) > 0.5


# The experiment


def miniature(plan: list[Json]) -> list[Json]:
    """Return a few small runs of each part, with all methods."""
    recovery = [run for run in plan if run["part"] == "recovery" and run["d"] == 1_000]
    small = {"n": 24, "k": 4, "d": 40, "seed": 0}
    return [
        *[{**run, **small, "n_partitions": 3} for run in plan if run["part"] == "partitions"][:1],
        *[{**run, **small} for run in recovery if run["noise"] == 4 and run["seed"] == 0],
        *[{**run, **small} for run in plan if run["part"] == "scale" and run["seed"] == 0],
        *[{**run, "n": 40, "k": 8} for run in plan if run["part"] == "real" and run["seed"] == 0][::3],
    ]


@pytest.fixture
def some_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Provide one of the three real data sets."""
    rows = np.random.default_rng(0).normal(size=(400, 6)).astype(np.float32)
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path))
    monkeypatch.setattr(data, "wordnet", lambda: ("Some words 400 x 6", rows))
    monkeypatch.setattr(data, "mnist", lambda: ("synthetic, blobs 400 x 6", rows))
    monkeypatch.setattr(lloyd_fixed_points, "IMAGES", tmp_path)
    lloyd_fixed_points.real_rows.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("some_data")
@pytest.mark.filterwarnings("ignore")
def test_miniature_experiment(tmp_path: Path) -> None:
    runs = [
        {"run": run, **lloyd_fixed_points.measure(run)}
        for run in miniature(lloyd_fixed_points.plan(False))
    ]
    result = json.loads(json.dumps({"size": "small", "runs": runs}, default=float))
    page = lloyd_fixed_points.page(result)
    for heading in ("## Random partitions", "## Recovery", "## Many small clusters", "## Real data"):
        assert heading in page
    for method in METHODS:
        assert f"| {method} |" in page
    assert "| Some words, d = 6 |" in page
    assert [run.get("missing") for run in runs if run["run"]["part"] == "real"] == [None, True, True]
    words = next(run for run in runs if run.get("data"))
    assert words["after_lloyd"] == 0
    assert words["continued"] <= 0
    lloyd_fixed_points.draw(result)
    assert (tmp_path / lloyd_fixed_points.PICTURE).exists()
    assert "## Random partitions" not in lloyd_fixed_points.page({"runs": []})


def test_missing_library_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> Any:
        raise ImportError("No module named 'faiss'", name="faiss")

    monkeypatch.setitem(METHODS, "faiss", missing)
    plan = [
        run for run in lloyd_fixed_points.plan(False) if run.get("method") in {"faiss", "boostkmeans"}
    ]
    small = [{**run, "n": 24, "k": 4, "d": 40} for run in plan[:2]]
    runs = [{"run": run, **lloyd_fixed_points.measure(run)} for run in small]
    assert runs[0]["failure"] == "faiss is not installed"
    columns, lines = fixed_points_page.by_method(runs, "d")
    assert columns == [40]
    assert lines[0] == ["faiss", "-"]
    assert lines[1][0] == "boostkmeans"
    assert fixed_points_page.recovered(runs, "faiss") == "0 of 0"


@pytest.mark.parametrize("full", [False, True])
def test_plan_has_distinct_runs(full: bool) -> None:
    plan = lloyd_fixed_points.plan(full)
    assert json.loads(json.dumps(plan)) == plan
    assert len({json.dumps(run, sort_keys=True) for run in plan}) == len(plan)
    assert {run["part"] for run in plan} == {"partitions", "recovery", "scale", "real"}
    assert lloyd_fixed_points in run_paper.RELATED


def test_page_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PAGES", "IMAGES"):
        monkeypatch.setattr(experiment, name, tmp_path)
    monkeypatch.setattr(lloyd_fixed_points, "draw", lambda _: None)
    experiment.write_page(lloyd_fixed_points)
    remedy = "run: python paper/lloyd_fixed_points.py --report-only"
    assert (tmp_path / PAGE.name).read_text() == PAGE.read_text(), remedy


def test_plain_moves_have_no_annealing() -> None:
    assert fixed_point_methods.PLAIN["annealing"] == 0
    rows, _, start = lloyd_fixed_points.planted_rows(60, 6, 50, 4.0, 0)
    labels = METHODS["single moves, random labels"](rows, 6, start, 0)
    assert lloyd_bias.share_of_moves(rows, labels, lloyd_bias.single_moves) == 0
