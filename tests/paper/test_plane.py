"""The paper's figures in the plane, and Lloyd's condition of trees."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fig1_iterations
import fig2_lloyd_condition
import plane_plots
import public_data
import reference

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _images_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for one in (fig1_iterations, fig2_lloyd_condition):
        monkeypatch.setattr(one, "IMAGES", tmp_path)


def measured(one: Any, runs: list[Json]) -> Json:
    """Return the result of some runs, after a round trip through JSON."""
    found = [{"run": run, **one.measure(run)} for run in runs]
    return dict(json.loads(json.dumps({"size": "small", "runs": found}, default=float)))


def test_sweep_equals_reference() -> None:
    rows, start = fig1_iterations.data(120, 3)
    labels, order = start.copy(), np.random.default_rng(0).permutation(120)
    moves = fig1_iterations.sweep(rows, labels, order)
    expected, n_moves = reference.sweep(
        rows, start.astype(np.int32), fig1_iterations.N_CLUSTERS, order.tolist(), block=1
    )
    np.testing.assert_array_equal(labels, expected)
    assert len(moves) == n_moves > 0


@pytest.fixture(scope="module")
def iterations() -> Json:
    runs: list[Json] = [{"method": one, "n": 60, "seed": 1} for one in ("boost", "lloyd", "library")]
    runs.append({"method": "starts", "n": 60, "seed": 1, "n_starts": 5})
    return measured(fig1_iterations, runs)


@pytest.mark.parametrize("method", ["boost", "lloyd"])
def test_iterations_never_raise_the_distortion(method: str, iterations: Json) -> None:
    run = next(run for run in iterations["runs"] if run["run"]["method"] == method)
    curve = [one["distortion"] for one in run["states"]]
    assert len(curve) > 3
    assert np.diff(curve).max() <= 1e-12
    assert curve[-1] < curve[0]


@pytest.mark.parametrize("method", ["boost", "lloyd"])
def test_iterations_end_at_lloyds_condition(method: str, iterations: Json) -> None:
    run = next(run for run in iterations["runs"] if run["run"]["method"] == method)
    assert run["states"][-1]["moved"] == []
    assert run["states"][-1]["elsewhere"] == 0
    assert all(one["empty"] == 0 for one in run["states"])


def test_frames_end_with_the_first_sweep(iterations: Json) -> None:
    run = iterations["runs"][0]
    frames = [
        (title, labels.copy(), centres.copy())
        for title, labels, centres, _ in plane_plots.frames(run)
        if title.startswith("first")
    ]
    after_first = run["states"][1]
    np.testing.assert_array_equal(frames[-1][1], after_first["labels"])
    np.testing.assert_allclose(frames[-1][2], after_first["centres"], atol=1e-5)
    assert frames[-1][0] == f"first sweep: {len(run['moves_of_first'])} moves"


def test_iterations_page_and_pictures(
    iterations: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = list(plane_plots.frames(iterations["runs"][0]))[:3]
    monkeypatch.setattr(plane_plots, "frames", lambda _: few)
    assert "5 random partitions" in fig1_iterations.page(iterations)
    fig1_iterations.draw(iterations)
    for name in (fig1_iterations.PICTURE, fig1_iterations.ANIMATION):
        assert (tmp_path / name).stat().st_size > 1000


def test_iterations_page_without_results(tmp_path: Path) -> None:
    assert fig1_iterations.page({"runs": []}) == "Not measured yet."
    fig1_iterations.draw({"runs": []})
    assert list(tmp_path.iterdir()) == []


def test_refinement_restores_lloyds_condition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
    monkeypatch.setattr(public_data, "sift", lambda n: (rows[:n], "some"))
    runs: list[Json] = [{"n": 400, "k": k, "seed": 0} for k in (2, 16)]
    result = measured(fig2_lloyd_condition, [{"n": 200, "k": 3, "seed": 0, "plane": True}, *runs])
    tree = result["runs"][-1]
    assert tree["share_before"] > 0.02
    assert tree["share_after"] == 0
    assert tree["distortion_after"] < tree["distortion_reassigned"] < tree["distortion_before"]
    page = fig2_lloyd_condition.page(result)
    assert "nearer to a centre" in page.replace("\n", " ")
    assert "Data: some" in page
    fig2_lloyd_condition.draw(result)
    assert (tmp_path / fig2_lloyd_condition.PLANE).exists()
    assert (tmp_path / fig2_lloyd_condition.SHARES).exists()


def test_condition_page_without_results() -> None:
    assert fig2_lloyd_condition.page({"runs": []}) == ""
